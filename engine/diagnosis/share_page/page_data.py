"""The data of a share page: steps, branches, and the reasons for masked tokens.

Numbers stay numbers, and the page formats them; the grammar's explanations are made here, as the sentences of
`engine.matching.explanation_text`: a matcher walks the tree of steps forth and back, and at each node explains the
model's masked top tokens. A sentence that many steps share is stored once.

The available vocabulary decides what can be said about tokens without text. With it, everything. Without it, ids that
the trace does not name are unknown; but if the grammar names no tokens, an allowed token without text can only be an
EOS, so texts are explained, and nothing is claimed about the rest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from engine.automata.byte_automaton import DEAD
from engine.compile import CompiledGrammar
from engine.decoding.constraints.constraint import Constraint, GrammarConstraint
from engine.decoding.forced.strategies import STRATEGIES
from engine.decoding.pipeline_settings import PipelineSettings, applied_fields
from engine.decoding.stages import STAGES, pipeline_stages
from engine.decoding.values import ArchivedBranch, Chat, SamplerSettings, Step, StepOrigin, Trace, masked_share
from engine.diagnosis.verdicts.replay import TokenSource, replay_ids, replay_text
from engine.document.content import DocumentFile
from engine.matching.explanation import Reason
from engine.notations import NOTATIONS
from engine.notations.lexing import runs
from engine.source import CancelToken, LimitExceededError
from engine.source.catalogue import area_texts, catalogue_text
from engine.source.text import quoted
from engine.vocabulary import Vocabulary
from engine.vocabulary.visible import visible

FORMAT: Final = "turnstile-shared-trace"
VERSION: Final = 1

_MOST_JUDGED: Final = 20
"""The largest number of branches that get a verdict."""
_MOST_IDS: Final = 1 << 22


def build_page_data(
    work: DocumentFile,
    language: CompiledGrammar | None,
    vocabulary: Vocabulary | None,
    cancel: CancelToken | None = None,
) -> dict[str, Any]:
    """Build everything that a page shows, as JSON data.

    Args:
        work: the document to share.
        language: what the complete output must match, with the zones of its pipeline; None if unknown: then nothing is
            explained or judged.
        vocabulary: the vocabulary of the trace; None if it is not available.
        cancel: receives progress at each step.

    Raises:
        LimitExceededError: a step exceeded a limit of the grammar.
        CancelledError: `cancel` was used.
    """
    cancel = cancel or CancelToken()
    with cancel.scope():
        builder = _PageBuilder(work, language, vocabulary, cancel)
        branches = builder.branches()
        return {
            "format": FORMAT,
            "version": VERSION,
            "generator": catalogue_text("share.generator", program=_generator()),
            "texts": _script_texts(),
            "title": work.title or catalogue_text("share.title"),
            "notation": work.grammar.notation,
            "grammar": work.grammar.text,
            "colours": _colours(work.grammar.notation, work.grammar.text),
            "facts": list(_facts(work)),
            "prompt": [list(pair) for pair in _prompt_parts(work.prompt)],
            "vocabulary": vocabulary.size if vocabulary is not None else None,
            "reasons": list(builder.reasons),
            "steps": builder.steps,
            "branches": branches,
        }


def _script_texts() -> dict[str, str | dict[str, str]]:
    """Return the texts that the script shows, by name; a text that depends on a number has two forms."""
    prefix = "page.fragment.script."
    texts = ((key.removeprefix(prefix), text) for key, text in area_texts("share").items() if key.startswith(prefix))
    return {name: text.other if text.one is None else {"one": text.one, "other": text.other} for name, text in texts}


def _colours(notation: str, text: str) -> list[list[str | int]]:
    """Return the parts of a grammar's text: the kind of their tokens, and their length in UTF-16 code units."""
    found = runs(text, NOTATIONS[notation].lex_line)
    return [[kind.value, len(part.encode("utf-16-le", "surrogatepass")) // 2] for kind, part in found]


class _PageBuilder:
    def __init__(
        self, work: DocumentFile, language: CompiledGrammar | None, vocabulary: Vocabulary | None, cancel: CancelToken
    ) -> None:
        self._work = work
        self._trace: Trace = work.trace
        self._cancel = cancel
        self._language = language
        self._given = vocabulary
        self._vocabulary = vocabulary
        if vocabulary is None and language is not None and not language.automaton.token_elements:
            self._vocabulary = _vocabulary_of(work.trace)
        self.reasons: dict[str, int] = {}
        self.steps: list[dict[str, Any]] = []
        self._number = {node.id: number for number, node in enumerate(self._trace.nodes)}
        self._build_steps()

    # --- steps --------------------------------------------------------------------------------------------------------

    def _build_steps(self) -> None:
        """Build each step from its parent's state: down the tree and back up."""
        nodes = {node.id: node.step for node in self._trace.nodes}
        children: dict[int | None, list[int]] = {}
        for node in self._trace.nodes:
            children.setdefault(node.parent, []).append(node.id)
        constraint = None
        if self._language is not None and self._vocabulary is not None:
            constraint = GrammarConstraint(self._language, self._vocabulary)
        found: dict[int, dict[str, Any]] = {}
        lost = 0  # the number of steps since the first one that the constraint could not take
        todo = [(node_id, True) for node_id in reversed(children.get(None, []))]
        while todo:
            node_id, is_entered = todo.pop()
            if not is_entered and lost:
                lost -= 1
                continue
            if not is_entered:
                if constraint is not None:
                    constraint.rollback(1)
                continue
            step = nodes[node_id]
            self._cancel.report(catalogue_text("share.progress"), len(found), len(nodes))
            here = constraint if not lost and constraint is not None and constraint.configuration != DEAD else None
            found[node_id] = self._step_data(step, here, is_illegal=node_id in self._trace.illegal)
            if lost or (constraint is not None and not self._taken(constraint, step)):
                lost += 1
            todo.append((node_id, False))
            todo += [(child, True) for child in reversed(children.get(node_id, []))]
        self.steps = [found[node_id] for node_id in nodes]

    def _taken(self, constraint: Constraint, step: Step) -> bool:
        return self._is_known(step.token_id, step.token) and (
            constraint.accept(step.token_id) or constraint.force(step.token_id)
        )

    def _is_known(self, token_id: int, token: bytes | None) -> bool:
        """Return whether an id has the same token here as in the trace."""
        vocabulary = self._vocabulary
        if vocabulary is None or not 0 <= token_id < vocabulary.size:
            return False
        return (vocabulary.token_bytes(token_id) or b"") == (token or b"")

    def _step_data(self, step: Step, here: Constraint | None, *, is_illegal: bool) -> dict[str, Any]:
        queried = step.was_queried
        is_illegal = is_illegal or step.origin == StepOrigin.FORCED_BY_USER
        wanted = next((one for one in step.top if one.token_id == step.wanted_id), None)
        return {
            "token": _shown(step.token, step.name, step.token_id),
            "p": _rounded(step.p) if queried else None,
            "masked": _rounded(step.p_masked) if queried else None,
            "z": _rounded(step.z) if queried else None,
            "bounds": None if step.z_bounds is None else [_rounded(bound) for bound in step.z_bounds],
            "entropy": _rounded(step.entropy) if queried and step.entropy is not None else None,
            "mask": _rounded(step.mask_us) if step.mask_us is not None else None,
            "model": _rounded(step.logits_ms or 0.0),
            "allowed": step.allowed,
            "forced": step.forced and not is_illegal,
            "illegal": is_illegal,
            "by": catalogue_text(f"share.fragment.origin.{StepOrigin(step.origin).name.lower()}"),
            "wanted": (
                [_shown(wanted.token, wanted.name, wanted.token_id), wanted.allowed] if wanted and queried else None
            ),
            "why": self._why(step.token_id, step.token, here) if is_illegal else None,
            "candidates": list(self._candidates(step, here)) if queried else [],
        }

    def _candidates(self, step: Step, here: Constraint | None) -> Iterator[dict[str, Any]]:
        """Yield the model's top tokens, and the taken token if it is not among them."""
        for rank, one in enumerate(step.top, 1):
            is_taken = one.token_id == step.token_id
            masked = step.p_masked if is_taken else masked_share(one.p, step.z) if one.allowed else 0.0
            yield {
                "rank": rank,
                "token": _shown(one.token, one.name, one.token_id),
                "p": _rounded(one.p),
                "masked": _rounded(masked),
                "allowed": one.allowed,
                "taken": is_taken,
                "why": None if one.allowed or is_taken else self._why(one.token_id, one.token, here),
            }
        if all(one.token_id != step.token_id for one in step.top):
            yield {
                "rank": None,
                "token": _shown(step.token, step.name, step.token_id),
                "p": _rounded(step.p),
                "masked": _rounded(step.p_masked),
                "allowed": step.origin != StepOrigin.FORCED_BY_USER,
                "taken": True,
                "why": None,
            }

    def _why(self, token_id: int, token: bytes | None, here: Constraint | None) -> int | None:
        """Return the index of the sentence that explains a masked token; None if unknown."""
        if here is None:
            return None
        is_known = self._is_known(token_id, token)
        if not token and not (is_known and self._is_known_end(token_id)):
            return None
        found = here.explain(token_id if is_known or not token else token)
        is_removed = found.reason is Reason.ALLOWED
        sentence = found.sentence
        if is_removed:
            sentence = catalogue_text("share.removed", token=quoted(_shown(token, "", token_id)))
        return self.reasons.setdefault(sentence, len(self.reasons))

    def _is_known_end(self, token_id: int) -> bool:
        """Return whether an id without text is known to be an EOS, or known not to be."""
        return self._given is not None or (self._vocabulary is not None and token_id in self._vocabulary.eos_ids)

    # --- branches -----------------------------------------------------------------------------------------------------

    def branches(self) -> list[dict[str, Any]]:
        """Return the shown path first, then all others, then those of other prompts and models."""
        trace = self._trace
        parents = {node.id: node.parent for node in trace.nodes}
        used = set(parents.values())
        leaves = [node.id for node in reversed(trace.nodes) if node.id not in used and node.id not in trace.path]
        shown_length = trace.path.index(trace.current) + 1 if trace.current is not None else 0
        found = [self._branch(catalogue_text("share.branch.shown"), trace.path, shown_length, is_judged=True)]
        for number, leaf in enumerate(leaves):
            path: list[int] = []
            at: int | None = leaf
            while at is not None:
                path.append(at)
                at = parents[at]
            path.reverse()
            shared = next((n for n, (one, other) in enumerate(zip(path, trace.path, strict=False)) if one != other), 0)
            own = self._text([self._step(one) for one in path[shared:]])
            if shared:
                name = catalogue_text("share.branch.after", step=shared, text=_short(own))
            else:
                name = catalogue_text("share.branch.from_start", text=_short(own))
            found.append(self._branch(name, tuple(path), len(path), is_judged=number < _MOST_JUDGED))
        return [*found, *map(self._archived_branch, self._work.archived)]

    def _branch(self, name: str, path: tuple[int, ...], at: int, *, is_judged: bool) -> dict[str, Any]:
        steps = [self._step(node_id) for node_id in path]
        verdict, outcome = self._verdict(steps) if is_judged and steps else ("", "")
        return {
            "name": name,
            "steps": [self._number[node_id] for node_id in path],
            "at": at,
            "verdict": verdict,
            "outcome": outcome,
            "text": self._text(steps),
        }

    def _archived_branch(self, archived: ArchivedBranch) -> dict[str, Any]:
        first = len(self.steps)
        self.steps += [self._step_data(step, None, is_illegal=False) for step in archived.steps]
        prompt = _short(" ".join(text for _, text in _prompt_parts(archived.prompt)))
        name = catalogue_text("share.archived.fragment.no_prompt", model=archived.model)
        if prompt:
            name = catalogue_text("share.archived.fragment.prompt", model=archived.model, prompt=prompt)
        return {
            "name": name,
            "steps": list(range(first, len(self.steps))),
            "at": len(archived.steps),
            "verdict": "",
            "outcome": "",
            "text": self._text(list(archived.steps)),
        }

    def _step(self, node_id: int) -> Step:
        return self._trace.nodes[self._number[node_id]].step

    def _verdict(self, steps: list[Step]) -> tuple[str, str]:
        """Return the verdict on an output, and whether it is `good` or `bad`; both empty if there is none."""
        language = self._language
        if language is None:
            return "", ""
        try:
            if self._given is not None and all(self._is_known(step.token_id, step.token) for step in steps):
                whose, ids = TokenSource(self._given), [step.token_id for step in steps]
                # else the output may continue
                budget = self._work.max_tokens if len(steps) == self._work.max_tokens else None
                found = replay_ids(language, ids, whose, budget=budget, advise=False, cancel=self._cancel)
            elif language.automaton.token_elements:
                return "", ""
            else:
                data = b"".join(step.token or b"" for step in steps if not step.name)
                found = replay_text(language, data, advise=False, cancel=self._cancel)
        except LimitExceededError:
            return "", ""
        return found.sentence, "good" if found.is_complete else "bad" if not found.is_prefix else ""

    @staticmethod
    def _text(steps: list[Step]) -> str:
        return b"".join(step.token or b"" for step in steps if not step.name).decode("utf-8", "replace")


def _vocabulary_of(trace: Trace) -> Vocabulary | None:
    """Return the tokens that a trace names, by id; an allowed token without text is an EOS.

    None if there are no ids, or one larger than those of any tokenizer.
    """
    tokens: dict[int, bytes | None] = {}
    names: dict[int, str] = {}
    ends: set[int] = set()
    for node in trace.nodes:
        step = node.step
        queried = step.top if step.was_queried else ()
        named = [
            (
                step.token_id,
                step.token,
                step.name,
                step.origin != StepOrigin.FORCED_BY_USER and node.id not in trace.illegal,
            )
        ]
        named += [(one.token_id, one.token, one.name, one.allowed) for one in queried]
        for token_id, token, name, is_allowed in named:
            if token_id < 0:
                continue
            tokens[token_id] = token
            if name:
                names[token_id] = name
            if (name or not token) and is_allowed:
                ends.add(token_id)
    size = max(tokens, default=-1) + 1
    if not 0 < size <= _MOST_IDS:
        return None
    return Vocabulary([tokens.get(token_id) for token_id in range(size)], sorted(ends), names)


_NAME_LENGTH: Final = 40
_DIGITS: Final = 9


def _shown(token: bytes | None, name: str, token_id: int) -> str:
    """Return a token for display: its name, its bytes made visible, or its id."""
    return name or (visible(token) if token else f"#{token_id}")


def _facts(work: DocumentFile) -> Iterator[str]:
    """Yield the grammar's options, the model, the sampler and the processors, a few words each."""
    grammar = work.grammar
    kind = NOTATIONS[grammar.notation]
    notation = kind.title
    if kind.is_expression and grammar.dialect != "python":
        yield catalogue_text("share.fragment.dialect", notation=notation, dialect=grammar.dialect)
    elif kind.describes_json:
        escapes = "_escapes" if grammar.escapes == "any" else ""
        closed = "_closed" if grammar.additional == "closed" else ""
        yield catalogue_text(
            f"share.fragment.white_space{escapes}{closed}", notation=notation, whitespace=grammar.whitespace
        )
    else:
        yield notation
    if work.model.name or work.model.spec:
        yield catalogue_text("share.fragment.model", name=work.model.name or work.model.spec)
    yield _sampler(work.sampler)
    yield catalogue_text("share.fragment.most", count=work.max_tokens)
    if names := _processors(work.pipeline):
        yield catalogue_text("share.fragment.processors", names="; ".join(names))


def _processors(pipeline: PipelineSettings) -> list[str]:
    """Return the enabled logits processors other than the grammar and the sampler."""
    changed = [stage for stage in pipeline_stages() if pipeline.is_on(stage.name)]
    titles = [catalogue_text(f"generation.field.{field.name}") for stage in changed for field in stage.fields]
    names = [title[:1].lower() + title[1:] for title in titles]
    if pipeline.stages != STAGES.names:
        names.append(catalogue_text("share.fragment.processor.order"))
    strategy = STRATEGIES[pipeline.forced]
    if strategy.takes_runs:
        names.append(catalogue_text("share.fragment.processor.forced", strategy=strategy.title))
    return names


def _sampler(sampler: SamplerSettings) -> str:
    """Return the settings that differ from the defaults, and the seed."""
    if sampler.is_greedy:
        return catalogue_text("share.fragment.greedy")
    changed = applied_fields(sampler)
    names = "temperature", *(name for name in changed if name != "temperature"), "seed"
    return ", ".join(catalogue_text(f"share.fragment.{name}", value=getattr(sampler, name)) for name in names)


def _prompt_parts(prompt: str | Chat) -> list[tuple[str, str]]:
    """Return pairs of a role and its text; the role of a text prompt is empty."""
    if isinstance(prompt, str):
        return [("", prompt)] if prompt else []
    parts = list(prompt.messages)
    if prompt.assistant_prefix:
        parts.append((catalogue_text("share.fragment.assistant"), prompt.assistant_prefix))
    return parts


def _short(text: str) -> str:
    """Return the beginning of a text in one line."""
    line = visible(text.encode("utf-8", "replace")).replace("␣", " ")
    return line if len(line) <= _NAME_LENGTH else f"{line[: _NAME_LENGTH - 1]}…"


def _rounded(number: float | None) -> float | None:
    """Round a number to the displayed digits; infinities and NaN become 0, and None, which is unknown, stays."""
    if number is None:
        return None
    return float(f"{number:.{_DIGITS}g}") if math.isfinite(number) else 0.0


def _generator() -> str:
    """Return this program's name and version."""
    try:
        return f"Turnstile {version('token-turnstile')}"
    except PackageNotFoundError:
        return "Turnstile (unreleased)"
