"""`score_output`: the scores of the output of a diagnosed request."""

from __future__ import annotations

from dataclasses import dataclass

from engine.compile import CompiledGrammar, compile_grammar
from engine.diagnosis.case import FailureCase, ScoredToken
from engine.diagnosis.failures.diagnose import LIMITS
from engine.diagnosis.failures.diagnosis import Diagnosis
from engine.diagnosis.failures.examination import lenient_options
from engine.diagnosis.scores.key_choices import KeyChoice, LostKey, key_choices, lost_keys
from engine.diagnosis.scores.recorded_tokens import OtherVocabularyError, recorded_tokens
from engine.diagnosis.scores.response_scores import score_by_response
from engine.diagnosis.scores.token_scores import (
    JudgedGrammar,
    ScoreOrigin,
    TokenScore,
    judged_grammar,
    output_ids,
    prompt_ids,
    score_by_model,
    scored_text,
)
from engine.models.source import LogitSource
from engine.source import CancelToken, GrammarError
from engine.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True)
class ScoredOutput:
    """The scores of an output.

    Attributes:
        origin: where they come from.
        text: the output, or the arguments of a tool call.
        scores: the tokens.
        choices: the keys where the model wanted another; empty without a model.
        lost: the optional keys that the objects of the output lack.
        left_out: the number of tokens beyond the model's context.
        is_masked: whether the probabilities are from behind the mask, so that the allowed mass is not known.
    """

    origin: ScoreOrigin
    text: bytes
    scores: tuple[TokenScore, ...]
    choices: tuple[KeyChoice, ...] = ()
    lost: tuple[LostKey, ...] = ()
    left_out: int = 0
    is_masked: bool = False


def score_output(
    case: FailureCase,
    found: Diagnosis,
    source: LogitSource | None = None,
    *,
    prompt: str = "",
    vocabulary: Vocabulary | None = None,
    cancel: CancelToken | None = None,
) -> ScoredOutput | None:
    """Score an output under a model, or by the log-probabilities of its response.

    As in a diagnosis, the grammar is read with any white space, escapes and forms of numbers.

    Args:
        case: the failed request.
        found: its diagnosis, which says which grammar judges which part of the output.
        source: the model; None for the log-probabilities of the response.
        prompt: what the model reads first; by default the prompt or the messages of the request.
        vocabulary: that of the ids of a response which gives ids alone; None if it is not known.
        cancel: cancels the scoring, and receives the number of tokens as progress.

    Returns:
        The scores; None if there is no output, or no model and no log-probabilities.

    Raises:
        EngineError: the model cannot encode the prompt or the output, or the prompt is longer than its context.
        CancelledError: `cancel` was used.
    """
    text = scored_text(case, found.part)
    grammar = _grammar(found, cancel)
    judged = None
    if grammar is not None and found.part is not None and not found.part.is_waiting:
        judged = JudgedGrammar(grammar) if found.zone == "arguments" else judged_grammar(grammar, found.part, text)
    lost = lost_keys(text, judged) if judged is not None else ()
    if source is None:
        if not case.scores or found.zone == "arguments":
            return None
        scores, is_masked = score_by_response(case, _tokens(case, vocabulary), judged)
        return ScoredOutput(ScoreOrigin.RESPONSE, text, scores, (), lost, is_masked=is_masked)
    if not text:
        return None
    ids, pieces = output_ids(text, case.ids if text == case.output else (), source, grammar)
    before = prompt_ids(case, source, prompt)
    scores = score_by_model(ids, pieces, source, before, judged, cancel)
    choices = key_choices(scores, source, before, judged, cancel)
    return ScoredOutput(ScoreOrigin.MODEL, text, scores, choices, lost, len(ids) - len(scores))


def _tokens(case: FailureCase, vocabulary: Vocabulary | None) -> tuple[ScoredToken, ...]:
    """Return the tokens of a response; without the vocabulary if it is that of another model."""
    try:
        return recorded_tokens(case, vocabulary)
    except OtherVocabularyError:
        return recorded_tokens(case)


def _grammar(found: Diagnosis, cancel: CancelToken | None) -> CompiledGrammar | None:
    """Return the grammar that the output was judged by; None if there is none, or it does not compile."""
    if found.constraint is None or found.part is None:
        return None
    options = lenient_options(found.constraint.options, LIMITS)
    try:
        grammar = compile_grammar(found.constraint.notation, found.constraint.text, options, cancel=cancel)
    except GrammarError:
        return None
    return None if grammar.is_empty else grammar
