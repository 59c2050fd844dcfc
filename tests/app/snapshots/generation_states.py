"""What belongs to a generation: its pages, its popovers, its banners."""

from __future__ import annotations

from dataclasses import replace

from decode_views import CANDIDATES, MODEL, candidate, position, step, trace, view
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.panes.generation.pane import GenerationPane
from app.panes.generation.processors_dialog import ProcessorsDialog
from app.panes.generation.run_until_popover import RunUntilPopover
from app.panes.generation.sampler_popover import SamplerPopover
from app.workers.requests.decode import BaselineAnswer, DecodeView, LookupAnswer, ManyAnswer, Respelling, WhyAnswer
from engine.compile import compile_grammar
from engine.decoding.debugging.run_until import Goal
from engine.decoding.pipeline_settings import Afterwards, PipelineSettings, ZoneSettings
from engine.decoding.values import (
    ArchivedBranch,
    BaselineRun,
    Bounds,
    Chat,
    ContinuationMass,
    EosState,
    Finish,
    SampleOutcome,
    SamplerSettings,
    TextContinuation,
    TokenStage,
    TopToken,
)
from engine.matching import Matcher
from engine.vocabulary import Vocabulary
from tests.app.snapshots.making import POLL_MS, State, settled, shown

WORDS = (b"The", b" quick", b" brown", b" fox", b" jumps", b" over", b" the", b" lazy", b" dog", b".\n")
PIPELINE = PipelineSettings(
    zones=ZoneSettings("</think>", "", "\n", Afterwards.AGAIN, required=False), budget=True, suppress=("e", " x")
)


def pane(at: DecodeView | None = None, height: int = 640) -> GenerationPane:
    """The pane where a session stands."""
    made = GenerationPane()
    shown(made, 600, height)
    made.show_view(at if at is not None else view(trace((b"{", b'"')), position(output=b'{"')))
    made.set_refusal("")
    return made


def forced() -> QWidget:
    """A step at which the grammar leaves no choice."""
    only = (candidate(12, b'name"', 0.02, rank=31, z=0.02), candidate(10, b"Sure", 0.4, allowed=False))
    at = replace(position(only, forced=True, allowed=1, z=0.02, kl=3.9, output=b'{"'), wanted=only[1])
    return settled(pane(view(trace((b"{", b'"'), forced=(1,)), at)))


def illegal() -> QWidget:
    """A trace that an edit of the grammar cut short, and a banner that says so."""
    made = pane(view(trace(WORDS, current=3, illegal=(4, 5, 6, 7, 8, 9)), position(output=b"The quick brown fox")))
    made.show_stop("The grammar was edited: 4 tokens of the output are still legal")
    return settled(made)


def dead_end() -> QWidget:
    """No token may come next."""
    at = position((), finish=Finish.DEAD_END, allowed=0, output=b"ab", forced_bytes=b"\xf0\x9f")
    return settled(pane(view(trace((b"a", b"b")), replace(at, index=2))))


def loading() -> QWidget:
    """A model on its way."""
    made = pane()
    made.show_loading("Fetching SmolLM2", 41_000_000, 98_000_000)
    return settled(made)


def prompt(*, chat: bool, sees: bool = False) -> QWidget:
    """The prompt, unfolded."""
    said: str | Chat = "A character named Paul, aged 20, as JSON:"
    if chat:
        said = Chat((("system", "Answer in JSON."), ("user", "Who is Paul?")), '{"name')
    tokens = tuple(enumerate(("<|im_start|>", "user↵", "Who", "␣is", "␣Paul", "?", "<|im_end|>", "↵")))
    made = pane(replace(view(trace((b"{",)), position(output=b"{")), prompt=said, prompt_tokens=tokens))
    made.prompt.fold.setChecked(True)
    made.prompt.sees.setChecked(sees)
    QTest.qWait(POLL_MS)
    return settled(made)


def why(text: str, token: bytes) -> QWidget:
    """*Why not?* under the candidates."""
    made, grammar = pane(), compile_grammar("gbnf", text)
    explanation = Matcher(grammar, Vocabulary([token, b"true"], [])).explain(0)
    made.set_source(grammar.source.text)
    made.show_why(
        WhyAnswer(10, explanation, "`Sure` is not allowed here: it begins with `S`. Expected here: `tr` or a digit.")
    )
    return settled(made)


def stages_of_token() -> QWidget:
    """The numbers of an allowed token after each stage, and the stage that removes it."""
    made, grammar = pane(), compile_grammar("regex", "true|[0-9]+")
    explanation = Matcher(grammar, Vocabulary([b"t", b"true"], [])).explain(0)
    stages = (
        TokenStage("", 4.125, 0.3, 2),
        TokenStage("grammar", 4.125, 0.6, 1),
        TokenStage("repetition-penalty", 3.438, 0.43, 2),
        TokenStage("temperature", 4.911, 0.41, 2),
        TokenStage("top-k", 4.911, 0.41, 2),
        TokenStage("xtc", None, None, None, is_removed=True),
    )
    made.show_why(WhyAnswer(11, explanation, explanation.sentence, stages=stages))
    return settled(made)


def looked_up(typed: str, found: bool) -> QWidget:
    """A search among the whole vocabulary."""
    made = pane()
    QTest.keyClicks(made.candidates.search, typed)
    verdicts = ("is legal here", "dies at its 1st byte: `S`") if found else ()
    made.show_lookup(LookupAnswer(typed, (CANDIDATES[1], CANDIDATES[0]) if found else (), verdicts))
    return settled(made)


def respelled() -> QWidget:
    """Chips with a notch where the tokenizer would write other tokens."""
    made = pane(view(trace(WORDS, current=6), position(output=b"The quick brown fox jumps over the")), 420)
    made.output.show_respellings((Respelling(1, 3, (b" quick brown",), 0.125, is_exact=True),))
    return settled(made)


def continued() -> QWidget:
    """The probability of a typed text over its tokenisations."""
    made = pane()
    QTest.keyClicks(made.candidates.search, " no")
    alone = ContinuationMass(Bounds(0.00211, 0.00213), Bounds(0.0341, 0.0342))
    masked = ContinuationMass(Bounds(0.4512, 0.4512), Bounds(0.4512, 0.4512))
    made.candidates.continuation_button.setChecked(True)
    made.candidates.show_continuation(TextContinuation(b" no", alone, masked, 5, 7))
    return settled(made)


def coloured(by: str) -> QWidget:
    """The chips in other colours, branches and archived outputs under them."""
    steps = trace(WORDS, current=6, forced=(2, 3))
    made = pane(view(steps, position(output=b"The quick brown fox jumps over the")), 420)
    made.output.set_colours(by)
    made.show_archived((ArchivedBranch("Shakespeare", "Once", tuple(step(word) for word in WORDS[:4])),))
    return settled(made)


def character_model() -> QWidget:
    """A vocabulary without an end token."""
    letters = tuple(candidate(i, bytes((97 + i,)), 0.3 / (i + 1), rank=i + 1) for i in range(12))
    return settled(pane(view(trace((b"A",)), position(letters, eos=EosState.NO_EOS, size=65, output=b"A"))))


def many(answer: ManyAnswer | None, refusal: str = "") -> QWidget:
    """Many seeds in one go."""
    made = pane(height=560)
    made.pages.setCurrentWidget(made.many)
    made.set_refusal(refusal)
    if answer is not None:
        made.many.show_answer(answer)
    return settled(made)


OUTCOMES = (
    SampleOutcome(0, '{"name": "Ada"}', Finish.STOP, True, 8, 0.031, 3),
    SampleOutcome(1, '{"name": "Paul", "age": 20}', Finish.STOP, True, 13, 0.42, 9),
    SampleOutcome(2, '{"name": "Bartholomew the Third, of the House of', Finish.LENGTH, False, 32),
    SampleOutcome(3, '{"na', Finish.DEAD_END, False, 3),
)


def baseline(answer: BaselineAnswer | None, *, refusal: str = "", stale: bool = False) -> QWidget:
    """Return the page of the baseline."""
    made = pane(height=560)
    made.pages.setCurrentWidget(made.baseline)
    made.set_refusal(refusal)
    if answer is not None:
        made.baseline.show_baseline(answer)
    if stale:
        made.baseline.set_stale()
    return settled(made)


def differing_outputs() -> BaselineRun:
    """Return two outputs that differ from their fourth token."""
    mine = tuple(step(word) for word in (b"{", b'"name', b'": "', b"Ada", b'"}'))
    differs = replace(mine[3], top=(TopToken(83, b"Sure", "", 0.7, False),))
    free = (*mine[:3], *(step(word) for word in (b"Sure", b",", b" here", b" you", b" are")))
    return BaselineRun((*mine[:3], differs, mine[4]), free, 3, Finish.LENGTH)


def until(goal: Goal, *, rules: tuple[str, ...] = ("root", "value")) -> QWidget:
    """The goals of a run."""
    made = RunUntilPopover()
    made.show_rules(rules)
    made.choices[goal].setChecked(True)
    made.adjustSize()
    return settled(made)


def sampler(settings: SamplerSettings) -> QWidget:
    """How tokens are drawn."""
    made = SamplerPopover()
    made.show_settings(settings)
    made.adjustSize()
    return settled(made)


def processors(stage: str, at: DecodeView) -> QWidget:
    """A stage of the pipeline."""
    made = ProcessorsDialog()
    made.show_view(at)
    made.select(stage)
    return settled(made)


STATES: dict[str, State] = {
    "generation-forced": forced,
    "generation-illegal": illegal,
    "generation-dead-end": dead_end,
    "generation-loading": loading,
    "generation-letters": character_model,
    "generation-prompt": lambda: prompt(chat=False),
    "generation-chat": lambda: prompt(chat=True, sees=True),
    "generation-why": lambda: why('root ::= a | b | c\na ::= "true"\nb ::= "tra"\nc ::= [0-9]+\n', b"trx"),
    "generation-stages": stages_of_token,
    "generation-continuation": continued,
    "chips-respelled": respelled,
    "generation-search": lambda: looked_up("su", True),
    "generation-search-nothing": lambda: looked_up("zzz", False),
    "chips-choice": lambda: coloured("choice"),
    "chips-surprise": lambda: coloured("surprise"),
    "chips-time": lambda: coloured("time"),
    "seeds-empty": lambda: many(None),
    "seeds-typical": lambda: many(ManyAnswer(OUTCOMES, 4, done=True)),
    "seeds-error": lambda: many(None, "The grammar has an error"),
    "baseline-empty": lambda: baseline(None),
    "baseline-typical": lambda: baseline(BaselineAnswer(differing_outputs(), 20)),
    "baseline-stale": lambda: baseline(BaselineAnswer(differing_outputs(), 20), stale=True),
    "baseline-error": lambda: baseline(None, refusal="The grammar has an error"),
    "until-typical": lambda: until(Goal.RULE_EXIT),
    "until-error": lambda: until(Goal.STATE),
    "sampler-typical": lambda: sampler(SamplerSettings(1.1, 0.8, 40, 0.95, 0.05, 7)),
    "sampler-greedy": lambda: sampler(SamplerSettings(temperature=0)),
    "processors-typical": lambda: processors("grammar", replace(view(), pipeline=PIPELINE)),
    "processors-suppress": lambda: processors("suppress", replace(view(), pipeline=PIPELINE)),
    "processors-error": lambda: processors(
        "pattern",
        replace(DecodeView(MODEL), pipeline_error="The pattern has an error: there is no class `UPER`. Write `UPPER`."),
    ),
}
