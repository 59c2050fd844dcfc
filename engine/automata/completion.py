"""What is told of where a match stands: how far its end is, and which properties may come."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

Alphabet: TypeAlias = "frozenset[int] | None"
"""The bytes that there are, where a vocabulary lacks some; None for all of them."""


class LengthBound(NamedTuple):
    """What a match lacks.

    Attributes:
        at_least: so many bytes follow in every match, none exactly where the text may end; None where no bytes
            complete it, only tokens taken whole.
        exact: whether some match needs no more.
    """

    at_least: int | None
    exact: bool

    @classmethod
    def of(cls, *, accepting: bool, at_least: int | None, exact: bool) -> LengthBound:
        """Return what a match lacks, so that 0 means the same as `accepting`.

        Every runtime builds its answer here: searches take 0 for the end of the text, and a lower bound that ignores
        conditions may be 0 where the text may not end.

        Args:
            accepting: whether the text may end.
            at_least: a lower bound for where it may not; None where no bytes complete the match.
            exact: whether some match needs no more than `at_least`.
        """
        if accepting:
            return cls(0, exact=True)
        return cls(None, exact=True) if at_least is None else cls(max(1, at_least), exact and at_least > 0)


class NextProperties(NamedTuple):
    """The properties of a JSON object that may come next.

    Attributes:
        names: those that the schema names, those nearest first; where there are very many, not all.
        others: whether any other may come.
    """

    names: tuple[str, ...] = ()
    others: bool = False


@dataclass(frozen=True, slots=True)
class Completion:
    """How far the end of a match is, in bytes.

    Attributes:
        at_least: no match is nearer; None where no bytes that there are lead to one.
        at_most: some match is as near; None where none was found.
        text: bytes that complete the match, `at_most` of them; None where they were not found or are too many.
    """

    at_least: int | None
    at_most: int | None = None
    text: bytes | None = None

    @property
    def is_exact(self) -> bool:
        """Whether this is the distance itself."""
        return self.at_least == self.at_most

    @property
    def is_impossible(self) -> bool:
        """Whether no bytes complete the match."""
        return self.at_least is None
