"""The probability of each token of an output, by the log-probabilities of its response.

A response has log-probabilities of a few tokens alone. Z is then between two bounds: the sum of the listed tokens that
are allowed, and 1 less the sum of those that are not.

Servers differ in whether they report probabilities before or after the mask. After it, Z cannot be known. vLLM and
SGLang report them after it, as far as a mask was in force: a listed token that the grammar forbids shows that none was.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Final

from engine.automata.byte_automaton import DEAD, ByteAutomaton
from engine.diagnosis.case import FailureCase, ListedToken, ScoredToken
from engine.diagnosis.scores.recorded_tokens import starts_in
from engine.diagnosis.scores.token_scores import JudgedGrammar, TokenScore

_END_NAME: Final = re.compile(rb"<\|[^|>]*\|>|</s>|<eos>|<end_of_turn>")
"""How responses name the end tokens of common tokenizers."""
_AFTER_MASK: Final = frozenset(("vllm", "sglang"))
"""The servers whose log-probabilities are from behind the mask."""


def score_by_response(
    case: FailureCase, tokens: Sequence[ScoredToken], judged: JudgedGrammar | None
) -> tuple[tuple[TokenScore, ...], bool]:
    """Return the scores that the log-probabilities of a response give, and whether these are from behind the mask.

    Args:
        case: the request and its response.
        tokens: its tokens with their log-probabilities.
        judged: the grammar and where it begins; None if there is none.
    """
    text = case.output or b""
    starts = starts_in(tokens, text)
    reached, scores = 0, []
    follower = None if judged is None else _Follower(judged, text)
    is_unmasked = False
    for index, (token, start) in enumerate(zip(tokens, starts, strict=True)):
        reached = reached if start is None else start
        listed = _listed(token)
        z = z_most = is_allowed = None
        if follower is not None and start is not None and (at := follower.state_at(start)) != DEAD:
            z, z_most = _bounds(follower.automaton, at, listed)
            is_allowed = _may_come(follower.automaton, at, token.data)
            is_unmasked = is_unmasked or z_most < 1.0
        wanted = max(listed, key=lambda one: one.logprob, default=None)
        scores.append(
            TokenScore(
                index,
                token.token_id,
                token.data,
                reached,
                token.logprob,
                _rank(token),
                z,
                z_most,
                is_allowed,
                b"" if wanted is None else wanted.data,
                None if wanted is None else wanted.logprob,
            )
        )
    is_masked = case.are_sampled or (case.server in _AFTER_MASK and judged is not None and not is_unmasked)
    return tuple(one.without_mass() for one in scores) if is_masked else tuple(scores), is_masked


class _Follower:
    """The state of a grammar along an output; offsets may only grow."""

    def __init__(self, judged: JudgedGrammar, text: bytes) -> None:
        self.automaton = judged.grammar.automaton
        self._text, self._start, self._at = text, judged.start, judged.start
        self._state = self.automaton.run(self.automaton.start, judged.lead)

    def state_at(self, offset: int) -> int:
        """Return the state before a byte of the output; DEAD before the grammar begins, and after an illegal byte."""
        if offset < self._start:
            return DEAD
        if self._state != DEAD:
            self._state = self.automaton.run(self._state, self._text[self._at : offset])
        self._at = offset
        return self._state


def _listed(token: ScoredToken) -> tuple[ListedToken, ...]:
    """Return the tokens whose probabilities are known: the listed ones, and the token itself."""
    if token.logprob is None or any(token.is_same(one) for one in token.alternatives):
        return token.alternatives
    return (*token.alternatives, ListedToken(token.data, token.logprob, token.token_id))


def _bounds(automaton: ByteAutomaton, at: int, listed: Sequence[ListedToken]) -> tuple[float, float]:
    """Return a lower and an upper bound of the allowed mass."""
    masses = {True: 0.0, False: 0.0, None: 0.0}
    for one in listed:
        masses[_may_come(automaton, at, one.data)] += math.exp(one.logprob)
    least = min(1.0, masses[True])
    return least, max(least, 1.0 - masses[False])


def _may_come(automaton: ByteAutomaton, at: int, data: bytes) -> bool | None:
    """Return whether a token may come next; None if it is not known what its bytes are."""
    if not data:
        return None
    if _END_NAME.fullmatch(data) and automaton.accepts(at):
        return True
    return automaton.run(at, data) != DEAD


def _rank(token: ScoredToken) -> int | None:
    """Return the rank among the listed tokens; None for a token below all of them, whose rank is not known."""
    if token.logprob is None or not token.alternatives:
        return None
    others = [one for one in token.alternatives if not token.is_same(one)]
    above = [one for one in others if one.logprob > token.logprob]
    return len(above) + 1 if len(others) < len(token.alternatives) or len(above) < len(others) else None
