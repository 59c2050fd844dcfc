"""The explanation of a pattern.

The nodes do not record captures, the name of a set, or that a condition was written `^`. These are taken from the text
under their spans, and used only if the node has exactly that meaning.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from itertools import product
from typing import Final

from engine.diagnosis.explanation_tree.nodes import ExplanationWriter, Precedence
from engine.diagnosis.explanation_tree.phrases import ExplanationEntry
from engine.grammar import Chars, CharSet, Node
from engine.matching.explanation_text import quoted
from engine.notations.regex.dialect import Anchor, Dialect, Flags, anchor_node, shorthand
from engine.notations.regex.parser import SourceDetails, parse_with_details
from engine.notations.regex.unicode_sets import CaseFold, loose_property, strict_property
from engine.source import Limits, SourceText, Span

_PROPERTY: Final = re.compile(r"\\([pP])(?:\{(.*)\}|(\w))", re.DOTALL)
_FLAGS: Final = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]*))?[:)]")
_NAME: Final = re.compile(r"\(\?P?<(.*)>", re.DOTALL)
_PLAIN: Final = re.compile(r"\(\?:")
_SHORTHANDS: Final = {
    "d": "a digit",
    "D": "anything but a digit",
    "w": "a letter, a digit or `_`",
    "W": "anything but a letter, a digit or `_`",
    "s": "white space",
    "S": "anything but white space",
}
_ANCHORS: Final = {
    (Anchor.CARET, False): "where the text begins",
    (Anchor.CARET, True): "where a line begins",
    (Anchor.DOLLAR, True): "where a line ends",
    (Anchor.TEXT_START, False): "where the text begins",
    (Anchor.TEXT_END, False): "where the text ends",
    (Anchor.WORD_BOUNDARY, False): "at the edge of a word",
    (Anchor.NOT_WORD_BOUNDARY, False): "not at the edge of a word",
}
_DOLLAR: Final = {
    Dialect.PYTHON: "where the text ends, or right before a line feed that ends it",
    Dialect.ECMA: "where the text ends",
}
_ON: Final = {
    "i": "letter case does not matter",
    "m": "`^` and `$` are about lines, too",
    "s": "`.` takes line ends, too",
    "x": "blanks and comments do not count",
    "a": "classes such as `\\w`, and letter case, know ASCII only",
    "u": "classes such as `\\w` know all of Unicode",
}
_OFF: Final = {
    "i": "letter case matters",
    "m": "`^` and `$` are about the whole text only",
    "s": "`.` takes no line end",
    "x": "blanks and `#` count",
}


def regex_entries(source: SourceText, dialect: Dialect, limits: Limits) -> Iterator[ExplanationEntry]:
    """Explain a pattern, from left to right.

    Args:
        source: the pattern.
        dialect: its dialect.
        limits: the limits for parsing.

    Raises:
        GrammarError: it is malformed.
        LimitExceededError: it is too long.
    """
    node, written = parse_with_details(source, dialect, limits)
    names = _Names(source.text, dialect)
    writer = ExplanationWriter(
        source.text,
        groups=names.groups(written),
        folds=_folds(source, written, dialect),
        has_lazy_quantifiers=True,
        named=names.named,
    )
    for span in written.flags:
        yield ExplanationEntry(f"from here on, {flag_words(source.excerpt(span))}", span)
    yield from writer.entries(node)


def _folds(source: SourceText, written: SourceDetails, dialect: Dialect) -> tuple[CaseFold, ...]:
    """Return the possible case foldings; none if no flag asks for one, since the case tables are slow to build."""
    openings = (*written.flags, *(group.opening.span for group in written.groups))
    if not any("i" in _switched_on(source.excerpt(span)) for span in openings):
        return ()
    return (CaseFold.PYTHON, CaseFold.ASCII) if dialect is Dialect.PYTHON else (CaseFold.SIMPLE,)


def flag_words(opening: str) -> str:
    """Describe a list of flags such as `(?i-s:`."""
    found = _FLAGS.match(opening)
    on, off = (found[1], found[2] or "") if found else ("", "")
    return "; ".join([*(_ON[letter] for letter in on), *(_OFF[letter] for letter in off)]) or "no flag changes"


def _switched_on(opening: str) -> str:
    found = _FLAGS.match(opening)
    return found[1] if found else ""


class _Names:
    """The names that a pattern's text gives to its parts."""

    def __init__(self, text: str, dialect: Dialect) -> None:
        self._text = text
        self._dialect = dialect

    def groups(self, written: SourceDetails) -> dict[int, list[Precedence]]:
        """Return what encloses each node."""
        found: defaultdict[int, list[Precedence]] = defaultdict(list)
        captures = sorted(group.opening.span.start for group in written.groups if self._captures(group.opening.span))
        numbers = {start: number for number, start in enumerate(captures, 1)}
        for group in written.groups:
            opening = self._text[group.opening.span.start : group.opening.span.end]
            name = _NAME.fullmatch(opening)
            if name:
                words = f"group {quoted(name[1])}"
            elif opening == "(":
                words = f"group {numbers[group.opening.span.start]:,}"
            elif group.opening.atomic:
                words = "where only the first way counts"
            else:
                words = "" if _PLAIN.fullmatch(opening) else f"where {flag_words(opening)}"
            found[id(group.node)].append(Precedence(words, group.span))
        return found

    def _captures(self, opening: Span) -> bool:
        excerpt = self._text[opening.start : opening.end]
        return excerpt == "(" or _NAME.fullmatch(excerpt) is not None

    def named(self, node: Node) -> str:
        """Return the name of a condition or set by its escape; empty if the node has another meaning."""
        excerpt = self._text[node.span.start : node.span.end]
        if isinstance(node, Chars):
            return self._set(excerpt, node.set)
        return self._anchor(excerpt, node) if len(excerpt) <= len(r"\b") else ""

    def _anchor(self, excerpt: str, node: Node) -> str:
        if excerpt not in set(Anchor):
            return ""
        anchor = Anchor(excerpt)
        for multiline, ascii_only, ignore_case in product((False, True), repeat=3):
            flags = Flags(ignore_case, multiline, ascii=ascii_only)
            if anchor_node(anchor, self._dialect, flags, node.span) == node:
                of_ascii = " of ASCII characters" if ascii_only else ""
                return _ANCHORS.get((anchor, multiline), _DOLLAR[self._dialect]) + of_ascii
        return ""

    def _set(self, excerpt: str, chosen: CharSet) -> str:
        letter = excerpt[1:]
        if excerpt.startswith("\\") and letter in _SHORTHANDS:
            of_ascii = shorthand(letter, Dialect.PYTHON, Flags(ascii=True))
            if chosen == of_ascii:
                return f"{_SHORTHANDS[letter]} (ASCII)"
            if chosen == shorthand(letter, Dialect.ECMA, Flags()):
                return f"{_SHORTHANDS[letter]} (ECMAScript)"
            if chosen == shorthand(letter, Dialect.PYTHON, Flags()):
                return f"{_SHORTHANDS[letter]} (Unicode)"
            return ""
        found = _PROPERTY.fullmatch(excerpt)
        return self._property(found, chosen) if found else ""

    def _property(self, found: re.Match[str], chosen: CharSet) -> str:
        name = found[2] or found[3]
        plain = loose_property(name, ignore_case=False) if self._is_python else strict_property(name)
        if plain is None:
            return ""
        has = "without" if found[1] == "P" else "with"
        aside = "" if chosen == (~plain if found[1] == "P" else plain) else ", letter case aside"
        return f"a character {has} the property {quoted(name)}{aside}"

    @property
    def _is_python(self) -> bool:
        return self._dialect is Dialect.PYTHON
