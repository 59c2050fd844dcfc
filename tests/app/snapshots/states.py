"""Every pane in its states, made by hand of plain values: no process, no model, no chance."""

from __future__ import annotations

from dataclasses import replace

from decode_views import CANDIDATES, MODEL, position, step, trace, view
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QDialog, QWidget

from app.dialogs.gallery_dialog import GalleryDialog
from app.dialogs.replay_dialog import ReplayDialog
from app.graph.layout.methods import lay_out
from app.graph.match.counters import merge
from app.panes.automaton.pane import AutomatonPane
from app.panes.branches.pane import BranchesPane
from app.panes.breakpoints.pane import BreakpointsPane
from app.panes.editor.pane import EditorPane
from app.panes.forced.pane import ForcedPane
from app.panes.generation.pane import GenerationPane
from app.panes.parse_tree.pane import ParseTreePane
from app.panes.probabilities.pane import ProbabilitiesPane
from app.panes.problems.pane import ProblemsPane
from app.panes.sample.pane import SamplePane
from app.panes.test_strings.pane import StringTestsPane
from app.panes.timeline.pane import TimelinePane
from app.session import Notification
from app.window.banner import BannerStack
from app.window.tour import TourCard
from app.workers.requests.compile import CompileRequest
from app.workers.requests.decode import DecodeView
from app.workers.requests.judge import (
    JudgeAnswer,
    JudgeSample,
    ParsedText,
    SampleAnswer,
    SampleMode,
    SampleVerdict,
    SuggestAnswer,
    sample_texts,
)
from engine.automata.dfa.dfa import ByteDfa
from engine.compile import CompileOptions, compile_grammar
from engine.decoding.debugging.breakpoints import Breakpoint, BreakpointKind, ConditionBreakpoint, StopPoint
from engine.decoding.values import ArchivedBranch, Finish, StepOrigin, Trace, TraceNode
from engine.diagnosis.parse_trees.parser import TextParser
from engine.diagnosis.test_strings.coverage import coverage, uses_of
from engine.diagnosis.test_strings.matches import find_matches
from engine.diagnosis.test_strings.values import Suggestion, SuggestionKind
from engine.diagnosis.verdicts.replay import replay_text
from engine.document.content import ExpectedText
from engine.source import SourceText
from tests.app.snapshots import (
    automaton_states,
    dialog_states,
    editor_states,
    engine_states,
    forced_states,
    generation_states,
)
from tests.app.snapshots.making import BROKEN, GBNF, POLL_MS, REGEX, State, diagnostics_of, settled, shown, until

# --- editor ----------------------------------------------------------------------------------------------------------


def editor(text: str, notation: str = "gbnf") -> QWidget:
    pane = EditorPane()
    shown(pane, 520, 260)
    pane.set_notation(notation)
    pane.set_text(text)
    if text:
        pane.show_diagnostics(diagnostics_of(notation, text))
    return pane


# --- automaton -------------------------------------------------------------------------------------------------------


def drawing() -> ByteDfa:
    return compile_grammar("regex", REGEX).materialise(1_000)


def automaton(*, is_stale: bool = False, as_table: bool = False) -> QWidget:
    pane = AutomatonPane()
    shown(pane, 640, 420)
    pane.layout_wanted.connect(lambda request: pane.show_layout(lay_out(request)))
    dfa = drawing()
    pane.show_dfa(dfa, 1, None, SourceText(REGEX), merged=merge(dfa, None))
    QTest.qWait(POLL_MS)
    pane.set_live((drawing().run(b"AB"),), None, b"AB")
    if is_stale:
        pane.set_stale(True, "The grammar has an error")
    if as_table:
        pane.header.table_button.click()
    QTest.qWait(POLL_MS)
    return pane


# --- generation ------------------------------------------------------------------------------------------------------


def steps() -> tuple[TraceNode, ...]:
    taken = (
        step(b'{"'),
        step(b"name", forced=True),
        step(b'": "', p=0.002),
        step(b"Ada", p=0.9, by="user"),
        step(b"\xc3", p=0.3),
        replace(step(b"\n"), origin=StepOrigin.REPLAYED),
    )
    return tuple(TraceNode(i, i - 1 if i else None, one) for i, one in enumerate(taken))


def generation(shown_view: DecodeView | None, *, error: str = "", refusal: str = "") -> QWidget:
    pane = GenerationPane()
    shown(pane, 560, 640)
    if shown_view is not None:
        pane.show_view(shown_view)
        pane.set_refusal(refusal)
    if error:
        pane.show_banner("The model did not load", error, button="Try again", action=int)
    return pane


def typical_view() -> DecodeView:
    nodes = steps()
    path = tuple(node.id for node in nodes)
    other = TraceNode(len(nodes), 2, step(b"Bob", p=0.1))
    shown_trace = replace(trace(()), nodes=(*nodes, other), path=path, current=4, illegal=frozenset())
    return view(shown_trace, position(CANDIDATES, output=b'{"name": "Ada\xc3'))


def ended_view() -> DecodeView:
    at = position((), finish=Finish.STOP, accepting=True, allowed=0, output=b"ab!")
    return view(trace((b"a", b"b", b"!")), replace(at, index=3))


# --- probabilities and timeline --------------------------------------------------------------------------------------


def probabilities(*, is_empty: bool = False) -> QWidget:
    pane = ProbabilitiesPane()
    shown(pane, 520, 420)
    if not is_empty:
        pane.show_position(position())
        until(lambda: pane.plot is not None)
    return pane


def timeline(*, is_empty: bool = False, illegal: tuple[int, ...] = ()) -> QWidget:
    pane = TimelinePane()
    shown(pane, 900, 180)
    if not is_empty:
        zs = (0.9, 0.2, 0.001, 1.0, 0.5, 0.7)
        drawn = trace(tuple(bytes((97 + i,)) for i in range(len(zs))), current=4, forced=(3,), illegal=illegal)
        nodes = tuple(
            replace(node, step=replace(node.step, z=z, entropy=1.0 + node.id, mask_us=10.0 * node.id))
            for node, z in zip(drawn.nodes, zs, strict=True)
        )
        pane.show_trace(replace(drawn, nodes=nodes))
        pane.show_stacks((2, 3, 12, 5, 48, None))
        until(lambda: pane.plot is not None and len(pane.plot.tops) == len(pane.rows))
    return pane


# --- lists -----------------------------------------------------------------------------------------------------------


def problems(text: str) -> QWidget:
    pane = ProblemsPane()
    shown(pane, 900, 160)
    pane.show_diagnostics(diagnostics_of("gbnf", text) if text else (), SourceText(text))
    return pane


def string_tests(texts: tuple[ExpectedText, ...], *, stale: str = "") -> QWidget:
    pane = StringTestsPane()
    shown(pane, 1000, 220)
    pane.show_texts(texts)
    if texts:
        grammar = compile_grammar("gbnf", GBNF)
        automata = grammar.rule_automata()
        verdicts = tuple(replay_text(grammar, one.text.encode(), advise=False) for one in texts)
        uses = [uses_of(automata, one.text.encode()) for one in texts if one.accepts]
        answer = JudgeAnswer(1, tuple(one.text for one in texts), verdicts, coverage(automata, uses))
        pane.show_answer(answer, SourceText(GBNF))
    pane.set_stale(stale)
    return pane


def suggestions() -> QWidget:
    pane = string_tests(PASSING)
    kind = SuggestionKind.NEAR_MISS
    found = (
        Suggestion(kind, "2024-1", accepts=False, why="a digit is missing"),
        Suggestion(kind, "2024-20", accepts=False, why="another digit"),
        Suggestion(kind, "2024-12", accepts=True, why="uses what no test uses"),
    )
    pane.show_suggestions(SuggestAnswer(kind, found))
    return pane


PASSING = (ExpectedText("2024-01"), ExpectedText("2024", accepts=False))
FAILING = (*PASSING, ExpectedText("2024-13"), ExpectedText("x2024"))


def breakpoints(rows: tuple[StopPoint, ...]) -> QWidget:
    pane = BreakpointsPane()
    shown(pane, 700, 160)
    pane.show_breakpoints(rows)
    if rows:
        pane.show_hit(rows[0])
    return pane


BREAKPOINTS = (
    Breakpoint(BreakpointKind.RULE, "value", label="value", offset=12),
    Breakpoint(BreakpointKind.STATE, "number", state=1),
    Breakpoint(BreakpointKind.POSITION, offset=3, label="[a-z]", enabled=False),
    ConditionBreakpoint("allowed-mass", 0.01),
    ConditionBreakpoint("loop", 5, enabled=False),
)


KEPT = ArchivedBranch("A model", "hello", tuple(node.step for node in trace((b"{", b'"a"')).nodes), "The short one")


def branches(*archived: ArchivedBranch) -> QWidget:
    made = trace((b"{", b'"tags"', b":", b"[", b"]", b"}"), current=5)
    other = TraceNode(6, 0, replace(made.nodes[0].step, token=b'"name"', token_id=77, z=None, p_masked=None))
    pane = BranchesPane()
    pane.show_branches(replace(made, nodes=(*made.nodes, other)) if archived else Trace(), archived, "A model")
    shown(pane, 900, 220)
    until(lambda: not archived or pane.model.rowCount() > 0)
    return pane


# --- what opens over the window --------------------------------------------------------------------------------------


def banners() -> QWidget:
    stack = BannerStack()
    stack.resize(900, 140)
    stack.show()
    stack.show_notification(
        Notification("window", "The compile process stopped (signal 9, SIGKILL) and was restarted", "details")
    )
    stack.show_notification(Notification("window", "Autosave does not work (no space left).", severity="warning"))
    stack.show_notification(Notification("window", "Press Step.", severity="hint", button="Take the tour"))
    QTest.qWait(POLL_MS)
    return stack


SUMS = 'root ::= term ("+" term)*\nterm ::= number | "(" root ")"\nnumber ::= [0-9]+\n'
AMBIGUOUS_SUMS = 'root ::= root "+" root | number\nnumber ::= [0-9]+\n'


def sample(text: str, mode: SampleMode = SampleMode.LINES) -> QWidget:
    """Return the pane of a sample, judged by a grammar."""
    pane = SamplePane()
    pane.modes.setCurrentIndex(pane.modes.findData(mode))
    pane.show_text(text)
    request = JudgeSample(CompileRequest(0, "regex", "[A-Z]+: [a-z ]+", CompileOptions()), text, mode)
    grammar = compile_grammar(request.compiled.notation, request.compiled.text)
    verdicts = (SampleVerdict.of(replay_text(grammar, one.encode(), advise=False)) for one in sample_texts(text, mode))
    searches = mode is SampleMode.SEARCH
    found = find_matches(grammar, text.encode())
    answer = SampleAnswer(
        request, () if searches else tuple(verdicts), found.ranges if searches else (), found.searched
    )
    pane.show_answer(answer if text else SampleAnswer(request))
    return shown(pane, 640, 200)


def parse_tree(grammar: str, text: bytes, *, is_icicle: bool = False) -> QWidget:
    """Return the pane of the parse tree of a text."""
    pane = ParseTreePane()
    parse = TextParser(compile_grammar("gbnf", grammar)).parse(text)
    for panel in pane.panels:
        panel.show_form(is_icicle=is_icicle)
    pane.show_parse(ParsedText(1, 0, parse), text, SourceText(grammar))
    return shown(pane, 720, 300)


def tour_card() -> QWidget:
    ground = QDialog()
    shown(ground, 400, 220)
    card = TourCard(ground)
    card.show_stop("Ask why", "What the model wanted next, before the mask and after it.", 3, 5)
    card.adjustSize()
    card.move(30, 30)
    card.show()
    return ground


STATES: dict[str, State] = {
    "editor-empty": lambda: editor(""),
    "editor-typical": lambda: editor(GBNF),
    "editor-error": lambda: editor(BROKEN),
    "automaton-empty": lambda: shown(AutomatonPane(), 640, 420),
    "automaton-typical": automaton,
    "automaton-table": lambda: automaton(as_table=True),
    "automaton-error": lambda: automaton(is_stale=True),
    "generation-empty": lambda: generation(None),
    "generation-typical": lambda: generation(typical_view()),
    "generation-ended": lambda: generation(ended_view(), refusal="The output is complete: go back, or restart"),
    "generation-error": lambda: generation(
        DecodeView(MODEL), error="The file does not exist. Another is still in use.", refusal="The grammar has an error"
    ),
    "probabilities-empty": lambda: probabilities(is_empty=True),
    "probabilities-typical": probabilities,
    "timeline-empty": lambda: timeline(is_empty=True),
    "timeline-typical": timeline,
    "timeline-error": lambda: timeline(illegal=(4, 5)),
    "problems-empty": lambda: problems(""),
    "problems-error": lambda: problems(BROKEN),
    "tests-empty": lambda: string_tests(()),
    "tests-typical": lambda: string_tests(PASSING),
    "tests-error": lambda: string_tests(FAILING, stale="The grammar has an error"),
    "tests-suggestions": suggestions,
    "sample-empty": lambda: sample(""),
    "sample-typical": lambda: sample("HAMLET: to be\nOPHELIA: my Lord\n\nKING:\nGertrude: come"),
    "sample-search": lambda: sample("(HAMLET: to be, OPHELIA: my lord) KING", SampleMode.SEARCH),
    "parse-tree-empty": lambda: shown(ParseTreePane(), 720, 300),
    "parse-tree-typical": lambda: parse_tree(SUMS, b"(1+23"),
    "parse-tree-icicle": lambda: parse_tree(SUMS, b"(1+23)+4", is_icicle=True),
    "parse-tree-ambiguous": lambda: parse_tree(AMBIGUOUS_SUMS, b"1+2+3"),
    "parse-tree-error": lambda: parse_tree(SUMS, b"1+*2"),
    "breakpoints-empty": lambda: breakpoints(()),
    "breakpoints-typical": lambda: breakpoints(BREAKPOINTS),
    "branches-empty": branches,
    "branches-typical": lambda: branches(KEPT),
    "forced-empty": lambda: shown(ForcedPane(), 900, 220),
    "banners": banners,
    "tour": tour_card,
    "gallery": lambda: settled(GalleryDialog()),
    "check-empty": lambda: settled(ReplayDialog("A date")),
    **editor_states.STATES,
    **automaton_states.STATES,
    **generation_states.STATES,
    **forced_states.STATES,
    **engine_states.STATES,
    **dialog_states.STATES,
}
