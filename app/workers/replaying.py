"""Replays of pasted outputs against the grammar, with the tokens of the loaded model."""

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
    """An output to judge.

    Attributes:
        text: the output; ignored if there are ids or a saved trace.
        saved: the output as it was saved with its tokens.
        ids: the output as token ids of the loaded model; None if it is text.
        budget: the number of tokens; None if unknown.
        finish: one of `engine.diagnosis.verdicts.verdict.FINISHES`, or empty.
    """

    text: str = ""
    ids: tuple[int, ...] | None = None
    saved: SavedTrace | None = None
    budget: int | None = None
    finish: str = ""


@dataclass(frozen=True, slots=True)
class ReplayOutput:
    """Judge an output under the current grammar of the editor, even if that has errors."""

    compiled: CompileRequest
    question: ReplayQuestion


@dataclass(frozen=True, slots=True)
class ReplayAnswer:
    """The verdict, and the name of the model whose tokens it uses; or one sentence that says why there is none."""

    question: ReplayQuestion
    verdict: Verdict | None = None
    tokens_of: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class OpenOutput:
    """Make an output the current trace as if it had been generated; the model is not called."""

    ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class AssessOutput:
    """Compute the distance from the session's position to the end, and why it ended if it did."""


@dataclass(frozen=True, slots=True)
class AssessAnswer:
    """The verdict on the output so far, against the budget.

    Attributes:
        at: the current step of the session; None at the start.
        count: the number of steps.
        verdict: on the output so far.
    """

    at: int | None
    count: int
    verdict: Verdict


def assess_output(session: DecodeSession, cancel: CancelToken) -> AssessAnswer | None:
    """Return the assessment of a session; None without a grammar."""
    from engine.diagnosis.verdicts.replay import TokenSource, replay_ids
    from engine.models.tokenizer_spelling import speller_of

    language = session.language
    if language is None or language.is_empty:
        return None
    ids = tuple(step.token_id for step in session.steps)
    token_source = TokenSource(session.model.vocabulary, speller_of(session.model))
    finish = session.finish.value if session.finish in (Finish.LENGTH, Finish.CONTEXT) else ""
    found = replay_ids(language, ids, token_source, budget=session.room, finish=finish, advise=False, cancel=cancel)
    return AssessAnswer(session.trace.current, len(ids), found)


def replay_output(
    request: ReplayOutput,
    session: DecodeSession | None,
    grammar: CompiledGrammar | None,
    revision: int,
    cancel: CancelToken,
) -> ReplayAnswer:
    """Judge a pasted output.

    Args:
        request: the output and the grammar's text.
        session: its model tokenises the output; None without a model.
        grammar: used if its revision is the request's; otherwise the text is compiled.
        revision: the revision of `grammar`.
        cancel: checked regularly.
    """
    from engine.compile import compile_grammar
    from engine.diagnosis.verdicts.replay import TokenSource, replay_ids, replay_saved, replay_text, verdict_on_error
    from engine.models.tokenizer_spelling import speller_of

    compiled, question = request.compiled, request.question
    token_source = None if session is None else TokenSource(session.model.vocabulary, speller_of(session.model))
    name = "" if session is None else session.model.name
    budget, finish = question.budget, question.finish
    try:
        if grammar is None or revision != compiled.revision:
            grammar = compile_grammar(compiled.notation, compiled.text, compiled.options, cancel=cancel)
        grammar = _with_zones(grammar, session)
        if question.saved is not None:
            found = replay_saved(grammar, question.saved, token_source, budget=budget, finish=finish, cancel=cancel)
            return ReplayAnswer(
                question, found, name if token_source and question.saved.is_of(token_source.vocabulary) else ""
            )
        if question.ids is None:
            data = question.text.encode("utf-8", "surrogatepass")
            found = replay_text(grammar, data, token_source, budget=budget, finish=finish, cancel=cancel)
            return ReplayAnswer(question, found, name)
        if token_source is None:
            return ReplayAnswer(question, error="Token ids need a model: choose one, or a tokenizer alone")
        found = replay_ids(grammar, question.ids, token_source, budget=budget, finish=finish, cancel=cancel)
        return ReplayAnswer(question, found, name)
    except GrammarError as error:
        return ReplayAnswer(question, verdict_on_error(error, question.text.encode("utf-8", "surrogatepass")), name)
    except EngineError as error:
        if cancel.is_cancelled:
            raise
        return ReplayAnswer(question, error=sentence(error))


def _with_zones(grammar: CompiledGrammar, session: DecodeSession | None) -> CompiledGrammar:
    """Return what a complete output must match: the grammar, or the session's zones with it."""
    from engine.decoding.constraints.zones import ZoneGrammars

    zones = None if session is None else session.pipeline.zones
    if session is None or zones is None:
        return grammar
    return ZoneGrammars(zones).around(grammar, session.model.vocabulary)
