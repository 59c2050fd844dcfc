"""The output of a log as steps of a trace: every token with its id in a vocabulary, and the listed ones that are known.

A token without an id is one only if its bytes are those of one token, or if the tokenizer divides the whole output as
the server did. Otherwise the output cannot be opened with its tokens: a guess would be another output.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.compile import CompiledGrammar
from engine.decoding.session.recorded import RecordedStep
from engine.decoding.values import RecordedProbability
from engine.diagnosis.case import FailureCase, ScoredToken
from engine.diagnosis.scores.recorded_tokens import recorded_tokens, starts_in
from engine.diagnosis.scores.response_scores import score_by_response
from engine.diagnosis.scores.token_scores import JudgedGrammar
from engine.diagnosis.verdicts.tokenisation import tokenizer_ids
from engine.models.text_encoder import TextEncoder
from engine.source import EngineError
from engine.vocabulary import Vocabulary
from engine.vocabulary.visible import visible


@dataclass(frozen=True, slots=True)
class RecordedOutput:
    """The tokens of a log.

    Attributes:
        steps: the tokens of the output, with its end.
        before: the number of tokens before the output, such as those of thoughts, which are left out.
        is_encoded: whether the tokenizer gave some of the ids.
    """

    steps: tuple[RecordedStep, ...]
    before: int = 0
    is_encoded: bool = False


def recorded_output(
    case: FailureCase,
    vocabulary: Vocabulary,
    encode: TextEncoder | None = None,
    grammar: CompiledGrammar | None = None,
) -> RecordedOutput:
    """Return the tokens of a log.

    Args:
        case: the request and its response.
        vocabulary: the vocabulary of the tokens.
        encode: its tokenizer; None if it is unknown.
        grammar: the grammar of the request, by which some servers' probabilities are known to be from before the mask.

    Raises:
        EngineError: the response has no tokens, those of another vocabulary, or some whose id is not certain.
    """
    tokens = recorded_tokens(case, vocabulary)
    if not tokens:
        raise EngineError("errors.diagnosis.no_tokens")
    judged = None if grammar is None else JudgedGrammar(grammar)
    is_masked = score_by_response(case, tokens, judged)[1]
    starts = starts_in(tokens, case.output) if case.output is not None else [0] * len(tokens)
    before = next((index for index, start in enumerate(starts) if start is not None), 0)
    tokens = tokens[before:]
    is_encoded = any(one.token_id is None for one in tokens)
    if is_encoded:
        tokens = _encoded(tokens, case.output or b"", vocabulary, encode)
    return RecordedOutput(tuple(_step(one, is_masked=is_masked) for one in tokens), before, is_encoded)


def _encoded(
    tokens: Sequence[ScoredToken], text: bytes, vocabulary: Vocabulary, encode: TextEncoder | None
) -> tuple[ScoredToken, ...]:
    """Return tokens with the ids of the tokenizer, if it divides the output into the same tokens.

    Raises:
        EngineError: it does not, or an end token has no id.
    """
    own = tokenizer_ids(text, vocabulary, encode) or ()
    pieces = [vocabulary.token_bytes(one) for one in own]
    if pieces and pieces == [one.data for one in tokens[: len(own)]]:
        named = tuple(replace(one, token_id=own[index]) for index, one in enumerate(tokens[: len(own)]))
        tokens = (*named, *tokens[len(own) :])
    unknown = [index for index, one in enumerate(tokens) if one.token_id is None]
    if unknown and unknown[0] == len(own) and pieces:
        return tuple(tokens[: len(own)])  # what follows the output ended it, and is no part of it
    if unknown:
        token = visible(tokens[unknown[0]].data)
        raise EngineError(
            "errors.diagnosis.unknown_tokens",
            count=len(unknown),
            total=len(tokens),
            position=unknown[0] + 1,
            token=token,
        )
    return tuple(tokens)


def _step(token: ScoredToken, *, is_masked: bool) -> RecordedStep:
    p = None if token.logprob is None else math.exp(token.logprob)
    best = sorted(token.alternatives, key=lambda one: -one.logprob)
    known = [(one.token_id, math.exp(one.logprob)) for one in best if one.token_id is not None]
    listed = dict.fromkeys(known)
    assert token.token_id is not None
    if p is not None and token.token_id not in {one for one, _ in listed}:
        listed[token.token_id, p] = None
    ordered = sorted(listed, key=lambda pair: -pair[1])
    recorded = None if p is None else RecordedProbability(p, is_masked)
    return RecordedStep(token.token_id, recorded, tuple(ordered))
