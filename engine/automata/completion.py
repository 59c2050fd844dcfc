"""Results about what follows a configuration: the distance to the end of a match, and the next properties."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

Alphabet: TypeAlias = "frozenset[int] | None"
"""The bytes that a text may contain, if a vocabulary lacks some; None for all."""


class LengthBound(NamedTuple):
    """Bounds of the bytes that complete a match.

    Attributes:
        at_least: the fewest bytes that every completion has, 0 exactly if the text may end; None if no bytes complete
            it, only tokens taken as units.
        exact: whether some completion is no longer.
    """

    at_least: int | None
    exact: bool

    @classmethod
    def of(cls, *, accepting: bool, at_least: int | None, exact: bool) -> LengthBound:
        """Return the bounds of a match, so that 0 means the same as `accepting`.

        Every automaton builds its answer here: searches take 0 for the end of the text, and a lower bound that ignores
        conditions may be 0 where the text may not end.

        Args:
            accepting: whether the text may end.
            at_least: a lower bound if it may not; None if no bytes complete the match.
            exact: whether some completion is no longer than `at_least`.
        """
        if accepting:
            return cls(0, exact=True)
        return cls(None, exact=True) if at_least is None else cls(max(1, at_least), exact and at_least > 0)


class NextProperties(NamedTuple):
    """The properties of a JSON object that may come next.

    Attributes:
        names: those that the schema names, nearest first; if there are very many, not all of them.
        others: whether any other name may come.
    """

    names: tuple[str, ...] = ()
    others: bool = False


@dataclass(frozen=True, slots=True)
class Completion:
    """The distance to the end of a match, in bytes.

    Attributes:
        at_least: no completion is shorter; None if no bytes that are allowed lead to one.
        at_most: some completion is no longer; None if none was found.
        text: bytes that complete the match, `at_most` of them; None if they were not found or are too many.
    """

    at_least: int | None
    at_most: int | None = None
    text: bytes | None = None

    @property
    def is_exact(self) -> bool:
        """Return whether this is the exact distance."""
        return self.at_least == self.at_most

    @property
    def is_impossible(self) -> bool:
        """Return whether no bytes complete the match."""
        return self.at_least is None
