"""The probability of each token of an output, by a model that reads it or by the log-probabilities of its response.

For each token there are p, its probability before any mask; Z, the probability of all tokens that the grammar allows
there; and its rank among all tokens. A small p where Z is large is the model's own choice or the sampler's. A small Z
says that the model wanted to leave the grammar there: from then on, its output is not the most probable legal one (Park
et al., *Grammar-Aligned Decoding*, arXiv:2405.21047, section 3). The rank is that of GLTR (Gehrmann, Strobelt and Rush,
arXiv:1906.04043).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, NamedTuple

import numpy as np

from engine.compile import CompiledGrammar
from engine.decoding.answer import Answer, priced
from engine.decoding.candidates import rows
from engine.decoding.partial import decide_answer
from engine.decoding.processors.logits import Allowed, log_sum_exp, padded, sanitise
from engine.decoding.values import Bounds, SamplerSettings
from engine.diagnosis.case import FailureCase, JudgedOutput
from engine.diagnosis.verdicts.tokenisation import given_ids, tokenise, tokenizer_ids
from engine.masking.bitmask import unpack_mask
from engine.matching import Matcher
from engine.models.source import LogitSource
from engine.models.text_encoder import text_encoder_of
from engine.source import CancelToken, EngineError

_BLANKS: Final = b" \t\n\r"


class ScoreOrigin(StrEnum):
    """The origin of scores."""

    MODEL = "model"
    RESPONSE = "response"


@dataclass(frozen=True, slots=True)
class TokenScore:
    """The score of one token of an output.

    Attributes:
        index: its number, from 0.
        token_id: its id; None if unknown.
        data: its bytes; empty for a special token.
        start: the byte of the output at which it begins.
        logprob: its natural log-probability before any mask, unless its response has those behind it; None if unknown.
        rank: 1 for the most probable token; None if unknown.
        z: the allowed mass, or a lower bound of it; None where no grammar is in force, or after an illegal token.
        z_most: the allowed mass, or an upper bound of it.
        is_allowed: whether the grammar allows it; None where `z` is None.
        wanted: the most probable token.
        wanted_logprob: its log-probability; None if unknown.
    """

    index: int
    token_id: int | None
    data: bytes
    start: int
    logprob: float | None = None
    rank: int | None = None
    z: float | None = None
    z_most: float | None = None
    is_allowed: bool | None = None
    wanted: bytes = b""
    wanted_logprob: float | None = None

    @property
    def p(self) -> float | None:
        """Return its probability."""
        return None if self.logprob is None else math.exp(self.logprob)

    @property
    def wanted_p(self) -> float | None:
        """Return the probability of the most probable token."""
        return None if self.wanted_logprob is None else math.exp(self.wanted_logprob)

    def without_mass(self) -> TokenScore:
        """Return it without the allowed mass, which cannot be known from behind the mask."""
        return replace(self, z=None, z_most=None)


@dataclass(frozen=True, slots=True)
class JudgedGrammar:
    """A grammar and where in an output it begins.

    Attributes:
        grammar: the grammar.
        start: the byte of the output at which it begins.
        lead: what precedes the output within the grammar, such as an assistant prefill.
    """

    grammar: CompiledGrammar
    start: int = 0
    lead: bytes = b""


def judged_grammar(grammar: CompiledGrammar, part: JudgedOutput, output: bytes) -> JudgedGrammar:
    """Return where in an output a grammar begins.

    Args:
        grammar: the grammar.
        part: the part of the output that was judged; it may begin with a prefill.
        output: the output.
    """
    lead = len(part.data) - len(output[part.start :])
    return JudgedGrammar(grammar, part.start, part.data[:lead] if lead > 0 else b"")


def scored_text(case: FailureCase, part: JudgedOutput | None) -> bytes:
    """Return the text whose tokens are scored: the output, or the arguments of a tool call."""
    if part is not None and part.zone == "arguments":
        return part.data
    return case.output or b""


def prompt_ids(case: FailureCase, source: LogitSource, prompt: str = "") -> list[int]:
    """Return the ids that precede an output.

    Args:
        case: the request.
        source: the model.
        prompt: the prompt; by default that of the request.

    Raises:
        ModelError: the model cannot encode the prompt, or its chat template refuses the messages.
    """
    given = prompt or case.prompt
    if given or not case.messages:
        return source.encode(given + case.prefill)
    messages = [(one.role, one.content) for one in case.messages]
    if source.chat_template:
        return source.encode_chat(messages, case.prefill)
    return source.encode("\n".join([*(content for _, content in messages), case.prefill]))


def output_ids(
    text: bytes, ids: Sequence[int], source: LogitSource, grammar: CompiledGrammar | None
) -> tuple[tuple[int, ...], tuple[bytes, ...]]:
    """Return the token ids of an output and their bytes: those of the case if they fit, else the tokenizer's.

    Args:
        text: the output.
        ids: the ids of the case; empty if unknown.
        source: the model.
        grammar: its grammar, by which a vocabulary without a tokenizer divides the text.

    Raises:
        EngineError: the vocabulary cannot encode the output.
    """
    if ids and max(ids) < source.vocabulary.size:
        given = given_ids(ids, source.vocabulary)
        if given.data == text:
            return tuple(ids), given.pieces
    encode = text_encoder_of(source)
    own = tokenizer_ids(text, source.vocabulary, encode)
    if own is None and grammar is not None:
        made = tokenise(text, source.vocabulary, grammar.automaton)
        own = None if made is None else tuple(one for one in made.ids if one is not None)
    if own is None:
        raise EngineError("errors.diagnosis.not_encodable", model=source.name)
    return own, tuple(source.vocabulary.token_bytes(one) or b"" for one in own)


def score_by_model(
    ids: Sequence[int],
    pieces: Sequence[bytes],
    source: LogitSource,
    before: Sequence[int],
    judged: JudgedGrammar | None,
    cancel: CancelToken | None = None,
) -> tuple[TokenScore, ...]:
    """Return the scores of an output under a model, at most as many as its context has room for.

    Args:
        ids: the tokens of the output.
        pieces: their bytes.
        source: the model.
        before: the ids of the prompt.
        judged: the grammar and where it begins; None if there is none.
        cancel: checked before each token; receives the number of tokens as progress.

    Raises:
        ModelError: the prompt is longer than the model's context.
        CancelledError: `cancel` was used.
    """
    cancel = cancel or CancelToken()
    masks = None if judged is None else _Masks(judged, source)
    room = len(ids) if source.context_length is None else source.context_length - len(before) + 1
    given, start, scores = list(before), 0, []
    for index, (token_id, piece) in enumerate(zip(ids[: max(room, 1)], pieces, strict=False)):
        cancel.report("progress.scored_tokens", index, len(ids))
        cancel.check()
        allowed = None if masks is None else masks.before(start)
        answer = priced(Answer.of(source.logits(given)), source, given, np.array([token_id]))
        model = (_known_numbers if answer.most is None else _partial_numbers)(answer, token_id, allowed, source)
        wanted = model.wanted
        z, z_most = (None, None) if model.z is None else model.z
        scores.append(
            TokenScore(
                index,
                token_id,
                piece,
                start,
                model.logprob,
                model.rank,
                z,
                z_most,
                None if allowed is None else bool(allowed[token_id]),
                source.vocabulary.token_bytes(wanted) or source.vocabulary.special.get(wanted, "").encode(),
                model.wanted_logprob,
            )
        )
        if masks is not None:
            masks.accept(token_id, piece, start)
        given.append(token_id)
        start += len(piece)
    return tuple(scores)


class _Numbers(NamedTuple):
    """The numbers of a model at a token; `z` are bounds of the allowed mass, None without a mask."""

    logprob: float | None
    rank: int | None
    z: Bounds | None
    wanted: int
    wanted_logprob: float


def _known_numbers(answer: Answer, token_id: int, allowed: Allowed | None, source: LogitSource) -> _Numbers:
    logits = sanitise(answer.logits, source.vocabulary.size)
    total = log_sum_exp(logits)
    z = None
    if allowed is not None:
        left = log_sum_exp(np.where(padded(allowed, logits.shape[0]), logits, -np.inf))
        z = min(1.0, math.exp(min(0.0, left - total)))
    wanted = int(np.argmax(logits))
    rank = int(np.count_nonzero(logits > logits[token_id])) + 1
    bounds = None if z is None else Bounds(z, z)
    return _Numbers(float(logits[token_id]) - total, rank, bounds, wanted, float(logits[wanted]) - total)


def _partial_numbers(answer: Answer, token_id: int, allowed: Allowed | None, source: LogitSource) -> _Numbers:
    mask = np.ones(source.vocabulary.size, dtype=np.bool_) if allowed is None else allowed
    decision = decide_answer(answer, mask, (), SamplerSettings())
    assert decision.unknown is not None
    (row,) = rows(decision, np.array([token_id]), source.vocabulary)
    wanted, logprob = decision.wanted_id, float(decision.logits[token_id])
    return _Numbers(
        None if math.isnan(logprob) else logprob,
        row.rank,
        None if allowed is None else decision.unknown.z,
        wanted,
        float(decision.logits[wanted]),
    )


class _Masks:
    """The masks of a grammar along an output; None before the grammar begins and after an illegal token."""

    def __init__(self, judged: JudgedGrammar, source: LogitSource) -> None:
        self._matcher = Matcher(judged.grammar, source.vocabulary)
        self._start = judged.start
        self._size = source.vocabulary.size
        self._is_legal = not judged.lead or self._matcher.accept_bytes(judged.lead)

    def before(self, start: int) -> Allowed | None:
        """Return the allowed tokens, bool[V], for a token that begins at a byte of the output."""
        if not self._is_legal or start < self._start:
            return None
        return unpack_mask(self._matcher.bitmask(), self._size)

    def accept(self, token_id: int, piece: bytes, start: int) -> None:
        """Advance by a token, of which a part may precede the grammar."""
        inside = piece[max(0, self._start - start) :]
        if not self._is_legal or start + len(piece) < self._start or (start < self._start and not inside):
            return
        if start < self._start:
            self._is_legal = self._matcher.accept_bytes(inside)
        else:
            self._is_legal = self._matcher.accept(token_id)


@dataclass(frozen=True, slots=True)
class BlanksWritten:
    """White space that was written where the model wanted a token that the grammar forbids.

    Attributes:
        score: the first token of the run.
        n_tokens: the number of its tokens.
    """

    score: TokenScore
    n_tokens: int


def blank_runs(scores: Sequence[TokenScore]) -> tuple[BlanksWritten, ...]:
    """Return where white space was the way out: the most probable token was forbidden, and blanks were written.

    A token is forbidden for certain where it is more probable than all allowed tokens together can be.

    Args:
        scores: the scores.
    """
    runs: list[BlanksWritten] = []
    is_open = False
    for score in scores:
        is_blank = bool(score.data) and not score.data.strip(_BLANKS) and score.is_allowed is True
        if is_blank and is_open:
            runs[-1] = BlanksWritten(runs[-1].score, runs[-1].n_tokens + 1)
        elif is_blank and score.z_most is not None and (score.wanted_p or 0.0) > score.z_most:
            runs.append(BlanksWritten(score, 1))
            is_open = True
        else:
            is_open = False
    return tuple(runs)


def worst_steps(scores: Sequence[TokenScore], most: int = 5) -> tuple[TokenScore, ...]:
    """Return the tokens with the smallest probabilities, the smallest first.

    Args:
        scores: the scores.
        most: the largest number of tokens.
    """
    known = [one for one in scores if one.logprob is not None]
    return tuple(sorted(known, key=lambda one: (one.logprob, one.index))[:most])
