"""The result of a comparison of two languages; it loads nothing, since windows show it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Relation(StrEnum):
    """The relation of the texts of a first grammar to those of a second one."""

    EQUAL = "equal"
    NARROWER = "narrower"
    """Every text of the first is one of the second, which has others."""
    WIDER = "wider"
    """Every text of the second is one of the first, which has others."""
    DIFFERENT = "different"
    """Each has texts that the other has not."""
    UNEQUAL = "unequal"
    """One has texts that the other has not; a bounded search did not find out the reverse."""
    UNKNOWN = "unknown"
    """A bounded search found no difference."""


@dataclass(frozen=True, slots=True)
class LanguageComparison:
    """The comparison of two grammars.

    Attributes:
        only_first: a text of the first that the second has not; None if none was found.
        only_second: a text of the second that the first has not; None if none was found.
        is_exact: whether no text exists where none was found, and those that were found are shortest ones.
        n_visited: the number of pairs of states that were visited.
        length: if not exact, the largest number of bytes up to which all texts were compared; None if exact. A text
            that is longer by more than one byte may not be a shortest one.
    """

    only_first: bytes | None
    only_second: bytes | None
    is_exact: bool
    n_visited: int
    length: int | None

    @property
    def relation(self) -> Relation:
        """Return the relation of the first grammar to the second."""
        if self.only_first is not None and self.only_second is not None:
            return Relation.DIFFERENT
        found = self.only_first is not None or self.only_second is not None
        if not self.is_exact:
            return Relation.UNEQUAL if found else Relation.UNKNOWN
        if not found:
            return Relation.EQUAL
        return Relation.WIDER if self.only_first is not None else Relation.NARROWER
