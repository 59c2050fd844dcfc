"""Quantifiers: `*`, `+`, `?`, `{m,n}`, each greedy or lazy.

Greedy and lazy quantifiers match the same strings in a different order, so the distinction matters only inside an
atomic group. Possessive ones match fewer strings, see `atomic`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from engine.notations.regex.dialect import Dialect
from engine.notations.regex.reader import RegexReader
from engine.source import Span

_COUNTS: Final = re.compile(r"\{([0-9]*)(,?)([0-9]*)\}")
_SIMPLE: Final[dict[str, tuple[int, int | None]]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
# More digits than any limit has; `int` itself refuses thousands of them.
_MOST_DIGITS: Final = 18


@dataclass(frozen=True, slots=True)
class Quantifier:
    """A quantifier.

    Attributes:
        minimum, maximum: the counts; None for any number.
        text: its source text.
        span: its span.
        lazy: whether the fewest are tried first.
        plain: for a possessive one, its text without the `+`; otherwise empty.
    """

    minimum: int
    maximum: int | None
    text: str
    span: Span
    lazy: bool = False
    plain: str = ""


def read_quantifier(reader: RegexReader) -> Quantifier | None:
    """Read a quantifier where one of `* + ? {` comes next.

    Returns:
        `None`, with nothing read, if a `{` opens no quantifier and is a character (reported as a warning in
        ECMAScript).
    """
    start = reader.position
    if reader.peek() == "{":
        counts = _read_counts(reader)
        if counts is None:
            return None
        minimum, maximum = counts
    else:
        minimum, maximum = _SIMPLE[reader.take()]
    if maximum is not None and maximum < minimum:
        reader.report(
            "regex-repeat-reversed",
            start,
            quantifier=reader.text_since(start),
            minimum=f"{minimum:,}",
            maximum=f"{maximum:,}",
        )
        maximum = minimum
    plain, lazy = "", reader.accept("?")
    if not lazy and reader.dialect is Dialect.PYTHON and reader.peek() == "+":
        plain = reader.text_since(start)
        reader.take()
    return Quantifier(minimum, maximum, reader.text_since(start), reader.since(start), lazy, plain)


def _read_counts(reader: RegexReader) -> tuple[int, int | None] | None:
    match = _COUNTS.match(reader.text, reader.position)
    is_ecma = reader.dialect is Dialect.ECMA
    if match is None or match[0] == "{}" or (is_ecma and not match[1]):
        if is_ecma:
            _warn_of_literal(reader, match)
        return None
    low, comma, high = match.groups()
    reader.position = match.end()
    minimum = _count(low) if low else 0
    if not comma:
        return minimum, minimum
    return minimum, _count(high) if high else None


def _warn_of_literal(reader: RegexReader, match: re.Match[str] | None) -> None:
    if match and match[2]:
        reader.findings.add("regex-repeat-literal", Span(*match.span()), quantifier=match[0], maximum=match[3])
    else:
        brace = Span(reader.position, reader.position + 1)
        reader.findings.add("regex-lone-bracket", brace, character="{")


def _count(digits: str) -> int:
    significant = digits.lstrip("0") or "0"
    return int(significant) if len(significant) <= _MOST_DIGITS else 10**_MOST_DIGITS
