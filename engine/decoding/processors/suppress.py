"""Suppression of tokens and texts, and logit biases.

A text can be inside one token, or start in one and end in another: `é` may be written as two tokens of a byte each. So
the state is what the last tokens have started: the rest of each forbidden text that would complete it. A token is
removed if it contains a forbidden text or starts with such a rest.

    >>> from engine.vocabulary import Vocabulary
    >>> words = Vocabulary([b"the", b"cat", b"e"], eos_ids=[])
    >>> without_e = Suppress(words, ["e"])
    >>> without_e.allowed(without_e.start()).tolist()
    [False, True, False]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeAlias

import numpy as np

from engine.decoding.processors.logits import Allowed, Logits
from engine.decoding.processors.mask_processor import MaskProcessor
from engine.decoding.processors.partial_logits import PartialLogits
from engine.decoding.processors.processor import Context
from engine.source import InvariantError
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary, visible

Rests: TypeAlias = frozenset[bytes]
"""The suffixes that would complete a forbidden text whose beginning ends the output."""

_MASKS_KEPT = 1_000


class Suppress(MaskProcessor[Rests]):
    """Removes tokens and texts; everything else is allowed, and the output may end anywhere.

    Args:
        vocabulary: the vocabulary of the mask.
        texts: texts that are never written; the prompt does not count.
        token_ids: tokens that are never taken.
        pad_id: as in `RowMachine`.

    Raises:
        InvariantError: a text is empty, or an id outside the vocabulary.
    """

    stops_itself = False

    def __init__(
        self,
        vocabulary: Vocabulary,
        texts: Iterable[str | bytes] = (),
        token_ids: Iterable[int] = (),
        pad_id: int | None = None,
    ) -> None:
        super().__init__(vocabulary, pad_id)
        self._texts = tuple(dict.fromkeys(_bytes(text) for text in texts))
        base = ~tokens_containing(vocabulary, self._texts)
        for token_id in token_ids:
            base[_known(vocabulary, token_id)] = False
        base.setflags(write=False)
        self._masks: dict[Rests, Allowed] = {frozenset(): base}

    @property
    def never(self) -> Allowed:
        """The tokens that are not allowed anywhere, bool[V]."""
        return ~self._masks[frozenset()]

    def start(self) -> Rests:
        """Return the state in which no forbidden text has started."""
        return frozenset()

    def advance(self, state: Rests, token_id: int) -> Rests | None:
        """Return the rests of forbidden texts that the token continues or starts; None if it is not allowed."""
        if not self.allowed(state)[token_id]:
            return None
        token = self.vocabulary.tokens[token_id] or b""
        rests = {rest[len(token) :] for rest in state if rest.startswith(token)}
        for text in self._texts:
            for length in range(1, min(len(text) - 1, len(token)) + 1):
                if token.endswith(text[:length]):
                    rests.add(text[length:])
        return frozenset(rests)

    def allowed(self, state: Rests) -> Allowed:
        """Return the tokens that neither contain a forbidden text nor complete one."""
        mask = self._masks.get(state)
        if mask is None:
            mask, trie = self._masks[frozenset()].copy(), self.vocabulary.trie
            for rest in state:
                if (node := trie.find(rest)) is not None:
                    mask[trie.ids_below(node)] = False
            mask.setflags(write=False)
            if len(self._masks) >= _MASKS_KEPT:
                self._masks = {frozenset(): self._masks[frozenset()]}
            self._masks[state] = mask
        return mask

    def is_accepting(self, state: Rests) -> bool:
        """Return True: the output may end anywhere."""
        return True

    def expected(self, state: Rests) -> str:
        """Describe the allowed text by what is forbidden, which is shorter."""
        texts = ", ".join(f"`{visible(text)}`" for text in self._texts)
        if not texts:
            return catalogue_text("decoding.expected.other_tokens")
        return catalogue_text("decoding.expected.without", texts=texts)

    def why_not(self, state: Rests, token_id: int) -> str:
        """Describe which text the token would write."""
        token = self.vocabulary.tokens[token_id] or b""
        for text in self._texts:
            if text in token:
                return catalogue_text("decoding.suppressed.contains", text=visible(text))
            if any(text.endswith(rest) and token.startswith(rest) for rest in state):
                return catalogue_text("decoding.suppressed.completes", text=visible(text))
        return catalogue_text("decoding.suppressed.token")


class Bias:
    """Adds a bias to the logits of tokens.

    Args:
        vocabulary: the vocabulary of the logits.
        biases: the number to add, by token id, or by a text: then to every token that contains it. Several biases of a
            token add up. `-inf` removes it.

    Raises:
        InvariantError: a bias is NaN or `+inf`, a text is empty, or an id outside the vocabulary.

        >>> words = Vocabulary([b"the", b"cat"], eos_ids=[])
        >>> Bias(words, {"a": 2.0}).process(None, np.zeros((1, 2)), Context.of([[]]))[0].tolist()
        [[0.0, 2.0]]
    """

    def __init__(self, vocabulary: Vocabulary, biases: Mapping[int | str | bytes, float]) -> None:
        self.added = np.zeros(vocabulary.size)
        for what, value in biases.items():
            if not value < np.inf:
                raise InvariantError("errors.decoding.setting.added", value=value)
            if isinstance(what, int):
                self.added[_known(vocabulary, what)] += value
            else:
                self.added[tokens_containing(vocabulary, [_bytes(what)])] += value

    def init(self, rows: int) -> None:
        """Return no state."""

    def process(self, state: None, logits: Logits, context: Context) -> tuple[Logits, None]:
        """Add the biases to every row.

        Args:
            state: None.
            logits: float64[B, W].
            context: the tokens so far, which do not matter.
        """
        return self(logits, ()), None

    def __call__(self, logits: Logits, _history: Sequence[int]) -> Logits:
        """Return the logits, float64[..., W], with the biases added."""
        biased = logits.copy()
        biased[..., : self.added.shape[0]] += self.added
        return biased

    def on_partial(self, given: PartialLogits) -> PartialLogits:
        """See `PartialShape`."""
        added = np.zeros(given.logits.shape[0])
        added[: self.added.shape[0]] = self.added
        return given.plus(added)


def tokens_containing(vocabulary: Vocabulary, texts: Iterable[bytes]) -> Allowed:
    """Return the tokens that contain one of some texts, bool[V]."""
    texts = tuple(texts)
    found = (token is not None and any(text in token for text in texts) for token in vocabulary.tokens)
    return np.fromiter(found, np.bool_, vocabulary.size)


def _bytes(text: str | bytes) -> bytes:
    data = text.encode() if isinstance(text, str) else text
    if not data:
        raise InvariantError("errors.decoding.empty_text")
    return data


def _known(vocabulary: Vocabulary, token_id: int) -> int:
    if not 0 <= token_id < vocabulary.size:
        raise InvariantError("errors.decoding.no_token_id", id=token_id, last=vocabulary.size - 1)
    return token_id
