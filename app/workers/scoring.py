"""The probabilities of a pasted output, in the decode group, which has the model."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.catalogue import ui_text
from app.workers.decode_state import model_token_text
from app.workers.diagnosing import diagnosed_case
from app.workers.loop import Job, handles
from app.workers.protocol import Progress, sentence
from app.workers.requests.scoring import AttributePrompt, AttributionAnswer, ScoreAnswer, ScoreOutput, ScoreRow
from engine.decoding.values import Chat
from engine.diagnosis.case import Message
from engine.diagnosis.verdicts.replay import TokenSource
from engine.models.text_encoder import text_encoder_of
from engine.source import CancelledError, EngineError
from engine.vocabulary.visible import visible

if TYPE_CHECKING:
    from app.workers.decode_state import DecodeState
    from app.workers.requests.decode import ReplayQuestion
    from engine.decoding.session import DecodeSession
    from engine.diagnosis.case import FailureCase
    from engine.diagnosis.scores.output_scores import ScoredOutput
    from engine.vocabulary import Vocabulary


class ScoreHandler:
    """Scores outputs under the model of the session, or by their responses.

    Args:
        state: the state of the decode group.
    """

    def __init__(self, state: DecodeState) -> None:
        self._state = state

    @handles(AttributePrompt)
    def _attributed(self, request: AttributePrompt, job: Job) -> AttributionAnswer:
        from engine.decoding.attribution import attribute  # start-up time: numpy

        session = self._state.need_session()
        output = [step.token_id for step in session.steps]
        answer = AttributionAnswer(model_token_text(session, request.token_id), len(output), ())
        for words in attribute(session.model, session.prompt, output, request.token_id, job.cancel):
            answer = replace(answer, words=words)
            known = sum(word.change is not None for word in words)
            job.emit(Progress(ui_text("session.activity.attribution"), known, len(words)))
            job.emit(answer)
        return replace(answer, done=True)

    @handles(ScoreOutput)
    def _score(self, request: ScoreOutput, job: Job) -> ScoreAnswer:
        from engine.diagnosis.scores.output_scores import score_output  # start-up time

        session, question = self._state.session, request.question
        if session is None and not request.by_response:
            return ScoreAnswer(request, error=ui_text("workers.decode.no_model"))
        vocabulary = None if session is None else session.model.vocabulary
        model = None if session is None or request.by_response else session.model
        token_source = (
            None if session is None else TokenSource(session.model.vocabulary, text_encoder_of(session.model))
        )
        zones = None if session is None else session.pipeline.zones
        output = _output(question, vocabulary)
        try:
            case, found = diagnosed_case(question, request.compiled, output, token_source, zones, job.cancel)
            case = _with_prompt(case, session)
            scored = score_output(case, found, model, prompt=request.prompt, vocabulary=vocabulary, cancel=job.cancel)
        except CancelledError:
            raise
        except EngineError as error:
            return ScoreAnswer(request, error=ui_text("workers.scores.not_scored", reason=sentence(error).rstrip(".")))
        if scored is None or not scored.scores:
            return ScoreAnswer(request, error=ui_text("workers.scores.nothing"))
        return _answer(request, scored, "" if model is None else model.name)


def _output(question: ReplayQuestion, vocabulary: Vocabulary | None) -> bytes | None:
    """Return the bytes of the output of a question."""
    if question.saved is not None:
        return question.saved.text
    if question.ids is not None:
        tokens = () if vocabulary is None else (vocabulary.token_bytes(one) for one in question.ids)
        return b"".join(token or b"" for token in tokens)
    return question.text.encode("utf-8", "surrogatepass") or None


def _with_prompt(case: FailureCase, session: DecodeSession | None) -> FailureCase:
    """Return a case with the prompt of the session, if its request has none."""
    if session is None or case.prompt or case.messages or case.prefill:
        return case
    prompt = session.prompt
    if not isinstance(prompt, Chat):
        return replace(case, prompt=prompt)
    messages = tuple(Message(role, content) for role, content in prompt.messages)
    return replace(case, messages=messages, prefill=prompt.assistant_prefix)


def _answer(request: ScoreOutput, scored: ScoredOutput, model: str) -> ScoreAnswer:
    from engine.diagnosis.scores.score_texts import (  # start-up time
        mass_text,
        place_text,
        score_notes,
        wanted_text,
    )
    from engine.diagnosis.scores.token_scores import worst_steps  # start-up time

    text, worst = scored.text, worst_steps(scored.scores, 1)
    rows = tuple(
        ScoreRow(
            one.start,
            one.start + len(one.data),
            place_text(text, one.start),
            visible(one.data),
            one.p,
            mass_text(one),
            one.rank,
            wanted_text(one),
            one.is_allowed,
        )
        for one in scored.scores
    )
    index = worst[0].index if worst else None
    return ScoreAnswer(request, text, rows, index, tuple(score_notes(scored)), scored.left_out, model)
