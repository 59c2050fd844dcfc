"""Names that a grammar defines and uses: where they are."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from engine.source import Span


@dataclass(frozen=True, slots=True)
class Name:
    """A name with all of its occurrences.

    Attributes:
        text: the name.
        kind: what it names, such as `rule` or `definition`.
        definitions: where it is defined; empty for an undefined name.
        uses: where it is used.
        fixed: why it cannot be renamed; empty if it can.
    """

    text: str
    kind: str
    definitions: tuple[Span, ...]
    uses: tuple[Span, ...]
    fixed: str = ""

    @property
    def occurrences(self) -> tuple[Span, ...]:
        """All occurrences, in source order."""
        return tuple(sorted({*self.definitions, *self.uses}))


def name_at(names: Iterable[Name], offset: int) -> Name | None:
    """Return the name at an offset or right before it, or None.

    Args:
        names: the names of a text.
        offset: the offset, in code points.
    """
    known = tuple(names)
    for at in (offset, offset - 1):
        for name in known:
            if any(at in span for span in name.uses) or any(at in span for span in name.definitions):
                return name
    return None
