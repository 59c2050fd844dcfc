"""A tree of token prefixes that is shared by all strategies, so that a model is asked once for each prefix.

A prefix has its state in the grammar from the start; the model's answer follows when a strategy needs it. Of an answer,
the tree keeps the allowed tokens with their shares of the allowed mass Z, and `ln Z`: shares do not underflow where all
allowed tokens are improbable. `Inquiry` is the access of one run. It counts the prefixes that this run has asked about,
so that the cost of a strategy does not depend on what others asked before.

Rejected: the tree of `DecodeSession`, which has one current position with history, stages and a record of each step.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

import numpy as np
from numpy.typing import NDArray

from engine.compile import CompiledGrammar
from engine.decoding.answer import Answer, priced
from engine.decoding.processors.logits import log_sum_exp, sanitise
from engine.decoding.values import DEFAULT_MAX_TOKENS, Chat, StopRule
from engine.masking.bitmask import unpack_mask
from engine.matching import Matcher
from engine.models import LogitSource, ModelError
from engine.models.source import AnswersTogether, cancelled_by
from engine.source import CancelToken

_MEMORY: Final = 512 * 2**20  # bytes of kept answers
_BATCH: Final = 32  # prefixes that the model is asked about at once


class PrefixState(Enum):
    """The state of a prefix: open, complete or dead."""

    OPEN = "open"
    COMPLETE = "complete"
    DEAD = "dead"


@dataclass(frozen=True, slots=True, eq=False)
class AllowedTokens:
    """The model's distribution after a prefix, as far as the grammar allows it.

    Attributes:
        ids: int64[k], the allowed tokens, ascending.
        shares: float64[k], their probabilities under the mask; they sum to 1 unless k is 0.
        log_z: the logarithm of their mass before the mask.
        row: float32[W], the model's logits, if the tree keeps them.
    """

    ids: NDArray[np.int64]
    shares: NDArray[np.float64]
    log_z: float
    row: NDArray[np.float32] | None

    @property
    def z(self) -> float:
        """The allowed mass."""
        return float(np.exp(self.log_z))

    @property
    def size(self) -> int:
        """The number of bytes that it takes."""
        return self.ids.nbytes + self.shares.nbytes + (0 if self.row is None else self.row.nbytes)


class TokenPrefix:
    """A prefix of tokens after the prompt.

    Attributes:
        parent: the prefix without its last token; None of the empty one.
        token_id: the last token.
        depth: the number of tokens, an EOS included.
        matcher: the grammar's state; not to be changed.
        state: what may follow.
        log_p: the logarithm of the model's probability of all its tokens.
        log_z: the logarithm of the allowed mass after it; 0 before the model was asked.
    """

    __slots__ = ("children", "depth", "log_p", "log_z", "matcher", "parent", "state", "token_id")

    def __init__(self, parent: TokenPrefix | None, token_id: int, matcher: Matcher, log_p: float) -> None:
        self.parent, self.token_id, self.matcher, self.log_p = parent, token_id, matcher, log_p
        self.depth: int = 0 if parent is None else parent.depth + 1
        self.state = PrefixState.OPEN
        self.log_z = 0.0
        self.children: dict[int, TokenPrefix] = {}

    @property
    def is_open(self) -> bool:
        """Return whether another token may follow."""
        return self.state is PrefixState.OPEN

    @property
    def is_complete(self) -> bool:
        """Return whether it is a text of the language."""
        return self.state is PrefixState.COMPLETE

    @property
    def path(self) -> list[TokenPrefix]:
        """The prefixes from the empty one to this one."""
        path, prefix = [self], self.parent
        while prefix is not None:
            path.append(prefix)
            prefix = prefix.parent
        return path[::-1]

    @property
    def ids(self) -> list[int]:
        """The tokens, without the prompt."""
        return [prefix.token_id for prefix in self.path[1:]]

    @property
    def data(self) -> bytes:
        """The bytes of the text."""
        vocabulary = self.matcher.vocabulary
        ends = vocabulary.eos_ids
        return b"".join(vocabulary.tokens[one] or b"" for one in self.ids if one not in ends)


class PrefixTree:
    """The prefixes of a grammar's texts, and the model's answers after them. Not thread-safe.

    Args:
        grammar: the grammar.
        model: the logit source, which returns full distributions, or prices the tokens that it leaves out.
        prompt: text, a chat for a model with a template, or token ids. The grammar starts after it.
        after: tokens that follow the prompt, which the grammar allows: the root is the prefix of these.
        max_tokens: the limit of a text, its EOS included; the model's context may be a lower one.
        stop_at: where a text ends if the vocabulary has no EOS.
        keeps_rows: whether the full distributions are kept, which some strategies need.

    Attributes:
        model, keeps_rows: the arguments.
        calls: the number of prefixes that the model was asked about.
        seconds: how long that took.
        root: the empty prefix.

    Raises:
        ModelError: the prompt cannot be encoded.
    """

    def __init__(
        self,
        grammar: CompiledGrammar,
        model: LogitSource,
        *,
        prompt: str | Chat | Sequence[int] = "",
        after: Sequence[int] = (),
        max_tokens: int = DEFAULT_MAX_TOKENS,
        stop_at: StopRule | str = StopRule.MAXIMAL,
        keeps_rows: bool = False,
    ) -> None:
        self.model, self.keeps_rows = model, keeps_rows
        self._vocabulary, self._stop_at = model.vocabulary, StopRule(stop_at)
        if isinstance(prompt, Chat):
            self._prompt_ids = tuple(model.encode_chat(prompt.messages, prompt.assistant_prefix))
        else:
            self._prompt_ids = tuple(model.encode(prompt) if isinstance(prompt, str) else prompt)
        self._prompt_ids += tuple(after)
        context = model.context_length
        self._most_tokens = max_tokens - len(after)
        if context is not None:
            self._most_tokens = min(self._most_tokens, context - len(self._prompt_ids) + 1)
        self._answers: OrderedDict[TokenPrefix, AllowedTokens] = OrderedDict()
        self._bytes = 0
        self.calls, self.seconds = 0, 0.0
        matcher = Matcher(grammar, self._vocabulary)
        for token_id in after:
            accepted = matcher.accept(token_id)
            assert accepted
        self.root = TokenPrefix(None, -1, matcher, 0.0)
        self._set_state(self.root)

    @property
    def ends_early(self) -> bool:
        """Return whether a text ends wherever the grammar accepts it, since the vocabulary has no EOS."""
        return not self._vocabulary.eos_ids and self._stop_at is StopRule.FIRST

    def child(self, prefix: TokenPrefix, token_id: int, log_p: float) -> TokenPrefix:
        """Return a prefix with one more token, which is allowed.

        Args:
            prefix: the prefix before it.
            token_id: the token.
            log_p: the logarithm of the model's probability of the token.
        """
        found = prefix.children.get(token_id)
        if found is None:
            matcher = prefix.matcher.fork()
            accepted = matcher.accept(token_id)
            assert accepted
            found = prefix.children[token_id] = TokenPrefix(prefix, token_id, matcher, prefix.log_p + log_p)
            self._set_state(found)
        return found

    def _set_state(self, prefix: TokenPrefix) -> None:
        matcher = prefix.matcher
        if self._is_complete(matcher):
            prefix.state = PrefixState.COMPLETE
        elif prefix.depth >= self._most_tokens or not self._allowed(matcher).any():
            prefix.state = PrefixState.DEAD

    def _is_complete(self, matcher: Matcher) -> bool:
        if self._vocabulary.eos_ids:
            return matcher.is_finished
        return matcher.is_accepting and (self.ends_early or not self._allowed(matcher).any())

    def _allowed(self, matcher: Matcher) -> NDArray[np.bool_]:
        return unpack_mask(matcher.bitmask(), self._vocabulary.size)

    def ask(self, prefixes: Sequence[TokenPrefix]) -> list[AllowedTokens]:
        """Return the answers after open prefixes, which the model computes together where it can.

        Raises:
            ModelError: the model failed, or returns a part of its distribution that does not suffice.
            CancelledError: the work was cancelled.
        """
        found: dict[TokenPrefix, AllowedTokens] = {}
        missing = []
        for prefix in dict.fromkeys(prefixes):
            answer = self._answers.get(prefix)
            if answer is None:
                missing.append(prefix)
            else:
                self._answers.move_to_end(prefix)
                found[prefix] = answer
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            found.update(zip(batch, self._asked(batch), strict=True))
        return [found[prefix] for prefix in prefixes]

    def _asked(self, batch: Sequence[TokenPrefix]) -> list[AllowedTokens]:
        started = time.perf_counter()
        histories = [[*self._prompt_ids, *prefix.ids] for prefix in batch]
        if len(batch) > 1 and isinstance(self.model, AnswersTogether):
            rows = self.model.logits_of_all(histories)
        else:
            rows = [self.model.logits(history) for history in histories]
        self.calls += len(batch)
        self.seconds += time.perf_counter() - started
        answers = []
        for prefix, history, row in zip(batch, histories, rows, strict=True):
            answer = self._answers[prefix] = self._under_mask(prefix, history, Answer.of(row))
            answers.append(answer)
            prefix.log_z = answer.log_z
            self._bytes += answer.size
        while self._bytes > _MEMORY and len(self._answers) > len(batch):
            self._bytes -= self._answers.popitem(last=False)[1].size
        return answers

    def _under_mask(self, prefix: TokenPrefix, history: Sequence[int], answer: Answer) -> AllowedTokens:
        width = answer.logits.shape[0]
        ids = np.flatnonzero(self._allowed(prefix.matcher)).astype(np.int64)
        ids = ids[ids < width]
        answer = priced(answer, self.model, history, np.arange(width) if self.keeps_rows else ids)
        needed = answer.logits if self.keeps_rows else answer.logits[ids]
        if answer.most is not None and np.isnan(needed).any():
            known = int(np.count_nonzero(~np.isnan(answer.logits)))
            raise ModelError("errors.decoding.partial.full", known=known, size=width)
        # Where a part is known, it is in natural log-probabilities.
        logits = sanitise(answer.logits, width) if answer.most is None else answer.logits.astype(np.float64)
        total = log_sum_exp(logits) if answer.most is None else 0.0
        row = answer.logits.astype(np.float32) if self.keeps_rows else None
        allowed = logits[ids]
        log_sum = log_sum_exp(allowed)
        if log_sum == -np.inf:  # the model rules out every allowed token
            return AllowedTokens(ids[:0], np.zeros(0), -np.inf, row)
        shares = np.exp(allowed - log_sum)
        return AllowedTokens(ids, shares / shares.sum(), min(log_sum - total, 0.0), row)


@dataclass(frozen=True, slots=True, eq=False)
class ParticleGeneration:
    """The particles of a run after one more token.

    Attributes:
        prefixes: their prefixes.
        shares: their shares of all weights; all are 0 if no particle is left.
        copied: where the particles were then drawn anew: for each of the next ones, which of these it continues; empty
            if each continues itself.
    """

    prefixes: tuple[TokenPrefix, ...]
    shares: tuple[float, ...]
    copied: tuple[int, ...] = ()


class CallLimitError(Exception):
    """A run has asked about as many prefixes as it may."""


class Inquiry:
    """The access of one run to a tree: it counts, stops at a limit, and reports progress.

    Args:
        tree: the tree.
        most_calls: how many prefixes the run may ask about; None for no limit.
        cancel: cancels the run, and receives its progress.

    Attributes:
        tree: the tree.
        asked: the prefixes that the run has asked about, in order.
        checks: how many tokens the grammar was asked about one by one; 0 for strategies that compute masks.
        generations: the particles after each token, of a strategy that has them and not too many.
    """

    def __init__(self, tree: PrefixTree, most_calls: int | None = None, cancel: CancelToken | None = None) -> None:
        self.tree, self.checks = tree, 0
        self.asked: dict[TokenPrefix, None] = {}
        self.generations: list[ParticleGeneration] = []
        self._most_calls, self._cancel = most_calls, cancel

    @property
    def calls(self) -> int:
        """The number of model calls that the run would have made alone."""
        return len(self.asked)

    def allowed(self, prefix: TokenPrefix) -> AllowedTokens:
        """Return the allowed tokens after an open prefix; see `allowed_of_all`."""
        return self.allowed_of_all((prefix,))[0]

    def allowed_of_all(self, prefixes: Sequence[TokenPrefix]) -> list[AllowedTokens]:
        """Return the allowed tokens after open prefixes.

        Raises:
            CallLimitError: the limit would be exceeded.
            ModelError, CancelledError: as `PrefixTree.ask`.
        """
        new = [prefix for prefix in dict.fromkeys(prefixes) if prefix not in self.asked]
        if self._most_calls is not None and self.calls + len(new) > self._most_calls:
            raise CallLimitError
        if self._cancel is not None:
            self._cancel.check()
        with cancelled_by(self.tree.model, self._cancel):
            found = self.tree.ask(prefixes)
        self.asked.update(dict.fromkeys(new))
        if new and self._cancel is not None:
            self._cancel.report("progress.strategies", self.calls, self._most_calls)
        return found

    def take(self, prefix: TokenPrefix, allowed: AllowedTokens, index: int) -> TokenPrefix:
        """Return a prefix with one more of its allowed tokens.

        Args:
            prefix: the prefix.
            allowed: its allowed tokens.
            index: which of them, 0 to k - 1.
        """
        found = prefix.children.get(int(allowed.ids[index]))
        if found is not None:
            return found
        with np.errstate(divide="ignore"):
            log_p = float(np.log(allowed.shares[index])) + allowed.log_z
        return self.tree.child(prefix, int(allowed.ids[index]), log_p)


def drawn_index(weights: NDArray[np.float64], point: float) -> int:
    """Return the index at which a point from 0 to 1 falls among weights, which have a positive sum."""
    ends = np.cumsum(weights)
    index = int(np.searchsorted(ends, point * ends[-1], side="right"))
    if index < weights.shape[0] and weights[index] > 0:
        return index
    return int(np.flatnonzero(weights)[-1])  # rounding put it at the very end
