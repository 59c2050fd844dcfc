"""An output that somebody pasted, held against the grammar with the tokens of the model that serves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.workers.compile_messages import CompileRequest
from app.workers.exporting import sentence
from engine.decoding.values import Finish
from engine.diagnosis.verdicts.verdict import Verdict
from engine.document.saved_traces import SavedTrace
from engine.source import CancelToken, EngineError, GrammarError

if TYPE_CHECKING:
    from engine.compile import CompiledGrammar
    from engine.decoding.session import DecodeSession


@dataclass(frozen=True, slots=True)
class ReplayQuestion:
    """An output that is asked about.

    Attributes:
        text: the output; does not count where there are ids or a saved trace.
        saved: the output as it was saved with its tokens.
        ids: the output as token ids of the model that serves; None where it is text.
        budget: how many tokens there were; None where that is not known.
        finish: one of `engine.diagnosis.verdicts.verdict.FINISHES`, or empty.
    """

    text: str = ""
    ids: tuple[int, ...] | None = None
    saved: SavedTrace | None = None
    budget: int | None = None
    finish: str = ""


@dataclass(frozen=True, slots=True)
class ReplayOutput:
    """Judge an output under the grammar as it stands in the editor, broken or not."""

    compiled: CompileRequest
    question: ReplayQuestion


@dataclass(frozen=True, slots=True)
class ReplayAnswer:
    """The verdict, and whose tokens it is told in; or one sentence that says why there is none."""

    question: ReplayQuestion
    verdict: Verdict | None = None
    tokens_of: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class OpenOutput:
    """Stand behind an output as if it had been generated: a trace that no model was asked for."""

    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AssessOutput:
    """Say how far the end is from where the session stands, and why it ended if it did."""


@dataclass(frozen=True, slots=True)
class AssessAnswer:
    """What became of the output so far, against the budget.

    Attributes:
        at: the step that the session stands behind; None at the start.
        count: how many steps were taken.
        verdict: on the output so far.
    """

    at: int | None
    count: int
    verdict: Verdict


def assess_output(session: DecodeSession, cancel: CancelToken) -> AssessAnswer | None:
    """The answer; None where there is no grammar to hold the output against."""
    from engine.diagnosis.verdicts.replay import TokenSource, replay_ids
    from engine.models.tokenizer_spelling import speller_of

    language = session.language
    if language is None or language.is_empty:
        return None
    ids = tuple(step.token_id for step in session.steps)
    whose = TokenSource(session.model.vocabulary, speller_of(session.model))
    finish = session.finish.value if session.finish in (Finish.LENGTH, Finish.CONTEXT) else ""
    found = replay_ids(language, ids, whose, budget=session.room, finish=finish, advise=False, cancel=cancel)
    return AssessAnswer(session.trace.current, len(ids), found)


def replay_output(
    request: ReplayOutput,
    session: DecodeSession | None,
    grammar: CompiledGrammar | None,
    revision: int,
    cancel: CancelToken,
) -> ReplayAnswer:
    """The answer. `grammar` is taken where its revision is the request's; else the text is compiled."""
    from engine.compile import compile_grammar
    from engine.diagnosis.verdicts.replay import TokenSource, replay_ids, replay_saved, replay_text, verdict_on_error
    from engine.models.tokenizer_spelling import speller_of

    compiled, question = request.compiled, request.question
    whose = None if session is None else TokenSource(session.model.vocabulary, speller_of(session.model))
    name = "" if session is None else session.model.name
    budget, finish = question.budget, question.finish
    try:
        if grammar is None or revision != compiled.revision:
            grammar = compile_grammar(compiled.notation, compiled.text, compiled.options, cancel=cancel)
        grammar = _with_zones(grammar, session)
        if question.saved is not None:
            found = replay_saved(grammar, question.saved, whose, budget=budget, finish=finish, cancel=cancel)
            return ReplayAnswer(question, found, name if whose and question.saved.is_of(whose.vocabulary) else "")
        if question.ids is None:
            data = question.text.encode("utf-8", "surrogatepass")
            found = replay_text(grammar, data, whose, budget=budget, finish=finish, cancel=cancel)
            return ReplayAnswer(question, found, name)
        if whose is None:
            return ReplayAnswer(question, error="Token ids need a model: choose one, or a tokenizer alone")
        found = replay_ids(grammar, question.ids, whose, budget=budget, finish=finish, cancel=cancel)
        return ReplayAnswer(question, found, name)
    except GrammarError as error:
        return ReplayAnswer(question, verdict_on_error(error, question.text.encode("utf-8", "surrogatepass")), name)
    except EngineError as error:
        if cancel.is_cancelled:
            raise
        return ReplayAnswer(question, error=sentence(error))


def _with_zones(grammar: CompiledGrammar, session: DecodeSession | None) -> CompiledGrammar:
    """What a whole output must match: the grammar, in the zones of the session where it has any."""
    from engine.decoding.constraints.zone_grammars import ZoneGrammars

    zones = None if session is None else session.pipeline.zones
    if session is None or zones is None:
        return grammar
    return ZoneGrammars(zones).around(grammar, session.model.vocabulary)
