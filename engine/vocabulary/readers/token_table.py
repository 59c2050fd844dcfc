"""The result of every reader: token bytes, names of special tokens, and EOS ids."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from engine.vocabulary.errors import VocabularyError
from engine.vocabulary.readers.document import encoded, highest_id

_MAX_BYTES: Final = 16 << 20
_MAX_BITS: Final = 100
COMMON_EOS_NAMES = (
    "</s>",
    "<eos>",
    "[EOS]",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<|eot_id|>",
    "<|im_end|>",
    "<|end|>",
    "<|return|>",
    "<end_of_turn>",
)

Columns = tuple[list[bytes | None], frozenset[int], dict[int, str]]


@dataclass(frozen=True, slots=True)
class TokenTable:
    """The tables of a tokenizer.

    Attributes:
        texts: id → bytes.
        special: id → name, of ids without bytes.
        eos_ids: the ids that end the output; empty if the tokenizer does not name them.
    """

    texts: Mapping[int, bytes]
    special: Mapping[int, str] = field(default_factory=dict)
    eos_ids: frozenset[int] = frozenset()

    def id_of(self, name: str | None) -> frozenset[int]:
        """Return the id of a token by its name, as a set, which is empty if there is none."""
        if not name:
            return frozenset()
        named = frozenset(index for index, text in self.special.items() if text == name)
        data = name.encode("utf-8", "surrogatepass")  # a name with a lone surrogate equals no token
        return named or frozenset(index for index, text in self.texts.items() if text == data)

    def with_eos_ids(self, eos_ids: Iterable[int]) -> TokenTable:
        """Return the table with other EOS ids."""
        return replace(self, eos_ids=frozenset(eos_ids))

    def with_common_eos_ids(self) -> TokenTable:
        """Return the table; if it has no EOS ids, with the special tokens that have a common name of an EOS."""
        if self.eos_ids:
            return self
        return self.with_eos_ids(index for index, name in self.special.items() if name in COMMON_EOS_NAMES)

    def columns(self, width: int | None, eos_ids: Iterable[int] | None) -> Columns:
        """Return the arguments of the constructor of `Vocabulary`.

        Args:
            width: the number of ids; None for the number of the tokenizer.
            eos_ids: the EOS ids, instead of those of the table.

        Raises:
            VocabularyError: tokens with text do not fit into `width`.
        """
        self.check()
        needed = max(self.texts, default=-1) + 1
        if width is None:
            width = max(needed, max(self.special, default=-1) + 1)
        if width < needed:
            raise VocabularyError("errors.vocabulary.narrow_logits", last=needed - 1, width=width)
        # An id beyond the logits never occurs. Models often lack the last special tokens of their tokenizer.
        special = {index: name for index, name in self.special.items() if index < width}
        ends = self.eos_ids if eos_ids is None else frozenset(eos_ids)
        tokens = [self.texts.get(index) for index in range(width)]
        return tokens, (frozenset(index for index in ends if 0 <= index < width) if eos_ids is None else ends), special

    def check(self) -> None:
        """Reject implausible tables before memory is allocated for them.

        Raises:
            VocabularyError: an id is not an integer or too high, a name is not a string, or the tokens are too long.
        """
        ids, count = (*self.texts, *self.special), len(self.texts) + len(self.special)
        for index in ids if set(map(type, ids)) - {int} else ():
            if type(index) is not int:
                raise VocabularyError("errors.vocabulary.id_type", type=type(index).__name__)
        for index, name in self.special.items():
            if not isinstance(name, str):
                raise VocabularyError("errors.vocabulary.name_type", id=index, type=type(name).__name__)
            encoded(name)
        if (lowest := min(ids, default=0)) < 0:
            raise VocabularyError("errors.vocabulary.negative_id", id=_digits(lowest))
        check_highest(max(ids, default=0), count)
        size = sum(map(len, self.texts.values()))
        if size > _MAX_BYTES:
            raise VocabularyError("errors.vocabulary.too_many_bytes", size=size, most=_MAX_BYTES)


def check_highest(highest: int, count: int) -> None:
    """Reject an id that is absurdly high for a table of `count` tokens.

    Raises:
        VocabularyError: the id is too high; the message has the numbers.
    """
    most = highest_id(count)
    if highest > most:
        raise VocabularyError("errors.vocabulary.high_id", id=_digits(highest), count=count, most=most)


def _digits(index: int) -> str:
    return f"{index:,}" if index.bit_length() < _MAX_BITS else f"about {index.bit_length() * 3 // 10} digits"
