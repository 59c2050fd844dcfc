"""Parts of pages in Markdown that several writers of the manual make."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence


def code(text: str) -> str:
    """Return a text as a code span that may be in a table: its backticks are kept, and its bars escaped."""
    fence = "`"
    while fence in text:
        fence += "`"
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text.replace('|', chr(92) + '|')}{space}{fence}"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yield the lines of a table.

    Args:
        heads: the titles of the columns.
        rows: the cells, in Markdown, a sequence for each row.
    """
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(row)} |"
