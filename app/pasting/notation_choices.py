"""The notations of a grammar's text, with the options that change its meaning."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import msgspec

from app.document import GrammarPart


@dataclass(frozen=True, slots=True)
class NotationChoice:
    """A notation with some of its options.

    Attributes:
        name: the label in the window.
        tip: a few words of description.
        notation: the engine's name of the notation.
        options: fields of a `GrammarPart`, with their values.
    """

    name: str
    tip: str
    notation: str
    options: tuple[tuple[str, str], ...] = ()

    def of(self, grammar: GrammarPart) -> GrammarPart:
        """Return the grammar with this notation and these options."""
        return msgspec.structs.replace(grammar, notation=self.notation, **dict(self.options))

    def is_of(self, grammar: GrammarPart) -> bool:
        """Return whether the grammar already has this notation and these options."""
        return self.of(grammar) == grammar


READINGS: Final = (
    NotationChoice("Regex · Python", "As in Python's re module", "regex", (("dialect", "python"),)),
    NotationChoice(
        "Regex · ECMAScript",
        "As in ECMAScript with the u flag, which JSON Schema's pattern uses",
        "regex",
        (("dialect", "ecma"),),
    ),
    NotationChoice("GBNF", "Rules as llama.cpp reads them", "gbnf"),
    NotationChoice("JSON Schema", "Drafts 4 to 2020-12", "json_schema"),
)
WHITESPACE: Final[Mapping[str, tuple[str, str]]] = {
    "compact": ("Compact", "None at all"),
    "one-space": ("One space", "One behind each comma and colon, none elsewhere"),
    "flexible": ("Flexible", "At most one space, or a line break and up to 32 of indentation, where JSON allows it"),
    "any": ("Any", "As much as JSON allows: a model may go on with blanks for ever"),
}
ESCAPES: Final[Mapping[str, tuple[str, str]]] = {
    "shortest": (
        "Where JSON requires them",
        "Each string in its shortest spelling. A string without conditions may also have \\uXXXX above U+007F, and \\/",
    ),
    "any": ("Any", "All that JSON has: a model may spell a property as \\u0061\\u0067\\u0065"),
}
ADDITIONAL: Final[Mapping[str, tuple[str, str]]] = {
    "open": (
        "Allowed",
        "As the standard says: an object may have further properties where its schema does not forbid them",
    ),
    "closed": (
        "Only the declared ones",
        "Where a schema does not name additionalProperties, an object has its declared properties only",
    ),
}


def reading_of(grammar: GrammarPart) -> NotationChoice:
    """Return the choice that a grammar matches."""
    return next((reading for reading in READINGS if reading.is_of(grammar)), READINGS[0])
