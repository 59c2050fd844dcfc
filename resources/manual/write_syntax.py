"""The manual's page of the syntax of all notations.

The entries are those of the window's quick reference, whose examples are compiled by tests.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engine.compile import NOTATIONS, CompileOptions
from resources.manual.markdown import code, table

_OPENING: Final = """# Syntax of the notations

What each notation has, with an example and a text that it accepts. The window shows the same entries
(*View › Reference*, Ctrl+Shift+K). What exactly each means is in [Regular expressions](regex.md), [GBNF](gbnf.md) and
[JSON Schema](json-schema.md).

Written by `python -m resources.manual syntax` from the quick reference; not edited by hand.
"""


def syntax_page() -> str:
    """Return the page, in Markdown."""
    return "\n".join([_OPENING, *(line for name in NOTATIONS for line in _section(name))])


def _section(name: str) -> Iterator[str]:
    notation = NOTATIONS[name]
    yield f"## {notation.title}"
    yield ""
    for group in notation.reference("", CompileOptions()):
        yield f"### {group.title}"
        yield ""
        yield from table(
            ("syntax", "meaning", "example", "accepts"),
            (
                (code(entry.form), entry.meaning.replace("|", r"\|"), _line(entry.example), _line(entry.takes))
                for entry in group.entries
            ),
        )
        yield ""


def _line(text: str) -> str:
    """Return a text as code in one line: control characters are shown by their pictures, as `␊`."""
    shown = "".join(chr(0x2400 + ord(character)) if character < " " else character for character in text)
    return code(shown) if shown else "(the empty text)"
