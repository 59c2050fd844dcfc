"""The explanation of a pattern.

The nodes do not record captures, the name of a set, or that a condition was written `^`. These are taken from the text
under their spans, and used only if the node has exactly that meaning.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Final

from engine.grammar import Chars, CharSet, Node
from engine.notations.explanation import ExplanationEntry
from engine.notations.node_explanation import CaseFolding, ExplanationWriter, Precedence
from engine.notations.notation import GroupLabel
from engine.notations.railroad import NodeTracks, Railroad, RailroadRule
from engine.notations.regex.dialect import Anchor, Dialect, Flags, anchor_node, shorthand
from engine.notations.regex.parser import SourceDetails, parse_with_details
from engine.notations.regex.unicode_sets import CaseFold, close_under_case, loose_property, strict_property
from engine.source import Limits, SourceText, Span
from engine.source.catalogue import catalogue_text
from engine.source.text import quoted

_PROPERTY: Final = re.compile(r"\\([pP])(?:\{(.*)\}|(\w))", re.DOTALL)
_FLAGS: Final = re.compile(r"\(\?([a-zA-Z]*)(?:-([a-zA-Z]*))?[:)]")
_NAME: Final = re.compile(r"\(\?P?<(.*)>", re.DOTALL)
_PLAIN: Final = re.compile(r"\(\?:")
_SHORTHANDS: Final = "dDwWsS"
_SHORTHAND_KINDS: Final = (
    ("ascii", Dialect.PYTHON, Flags(ascii=True)),
    ("ecma", Dialect.ECMA, Flags()),
    ("unicode", Dialect.PYTHON, Flags()),
)
_ANCHORS: Final = {
    (Anchor.CARET, False): "text_begins",
    (Anchor.CARET, True): "line_begins",
    (Anchor.DOLLAR, True): "line_ends",
    (Anchor.TEXT_START, False): "text_begins",
    (Anchor.TEXT_END, False): "text_ends",
    (Anchor.WORD_BOUNDARY, False): "word",
    (Anchor.NOT_WORD_BOUNDARY, False): "not_word",
}
_CASES: Final = {CaseFold.ASCII: "any_case_ascii"}
_DOLLAR: Final = {
    Dialect.PYTHON: "text_ends_or_line_feed",
    Dialect.ECMA: "text_ends",
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
    for span in written.flags:
        yield ExplanationEntry(catalogue_text("explanation.flags.here", flags=flag_words(source.excerpt(span))), span)
    yield from _writer(source, written, dialect).entries(node)


def regex_railroad(source: SourceText, dialect: Dialect, limits: Limits) -> Railroad:
    """Return the railroad diagram of a pattern; see `regex_entries`."""
    node, written = parse_with_details(source, dialect, limits)
    tracks = NodeTracks(_writer(source, written, dialect))
    return Railroad((RailroadRule("", Span(0, len(source.text)), partial(tracks.track, node)),))


def capture_groups(source: SourceText, dialect: Dialect, limits: Limits) -> tuple[Node, dict[int, list[GroupLabel]]]:
    """Return the node of a pattern, and by the identity of a node the capture groups around it, the innermost first.

    Args:
        source: the pattern.
        dialect: its dialect.
        limits: the limits for parsing.
    """
    node, written = parse_with_details(source, dialect, limits)
    names = _Names(source.text, dialect).captures(written)
    found: defaultdict[int, list[GroupLabel]] = defaultdict(list)
    for group in written.groups:
        if (name := names.get(group.opening.span.start)) is not None:
            found[id(group.node)].append(GroupLabel(str(name), group.span))
    return node, found


def _writer(source: SourceText, written: SourceDetails, dialect: Dialect) -> ExplanationWriter:
    names = _Names(source.text, dialect)
    return ExplanationWriter(
        source.text,
        groups=names.groups(written),
        folds=_folds(source, written, dialect),
        has_lazy_quantifiers=True,
        named=names.named,
    )


def _folds(source: SourceText, written: SourceDetails, dialect: Dialect) -> tuple[CaseFolding, ...]:
    """Return the possible case foldings; none if no flag asks for one, since the case tables are slow to build."""
    openings = (*written.flags, *(group.opening.span for group in written.groups))
    if not any("i" in _switched_on(source.excerpt(span)) for span in openings):
        return ()
    folds = (CaseFold.PYTHON, CaseFold.ASCII) if dialect is Dialect.PYTHON else (CaseFold.SIMPLE,)
    return tuple(CaseFolding(_CASES.get(fold, "any_case"), partial(close_under_case, fold=fold)) for fold in folds)


def flag_words(opening: str) -> str:
    """Describe a list of flags such as `(?i-s:`."""
    found = _FLAGS.match(opening)
    on, off = (found[1], found[2] or "") if found else ("", "")
    words = [catalogue_text(f"explanation.flags.on.{letter}") for letter in on]
    words += [catalogue_text(f"explanation.flags.off.{letter}") for letter in off]
    return "; ".join(words) or catalogue_text("explanation.flags.none")


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
        captures = self.captures(written)
        for group in written.groups:
            opening = self._text[group.opening.span.start : group.opening.span.end]
            name = captures.get(group.opening.span.start)
            if isinstance(name, str):
                words = catalogue_text("explanation.group.named", name=quoted(name))
            elif name is not None:
                words = catalogue_text("explanation.group.numbered", number=name)
            elif group.opening.atomic:
                words = catalogue_text("explanation.group.atomic")
            elif _PLAIN.fullmatch(opening):
                words = ""
            else:
                words = catalogue_text("explanation.group.flags", flags=flag_words(opening))
            found[id(group.node)].append(Precedence(words, group.span))
        return found

    def captures(self, written: SourceDetails) -> dict[int, str | int]:
        """Return the names of named capture groups and the numbers of the others, by where they begin."""
        found: dict[int, str | int] = {}
        for opening in sorted(group.opening.span for group in written.groups):
            excerpt = self._text[opening.start : opening.end]
            name = _NAME.fullmatch(excerpt)
            if name is not None or excerpt == "(":
                found[opening.start] = len(found) + 1 if name is None else name[1]
        return found

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
                name = _ANCHORS.get((anchor, multiline), _DOLLAR[self._dialect])
                words = catalogue_text(f"explanation.anchor.{name}")
                return catalogue_text("explanation.anchor.ascii", anchor=words) if ascii_only else words
        return ""

    def _set(self, excerpt: str, chosen: CharSet) -> str:
        letter = excerpt[1:]
        if excerpt.startswith("\\") and len(letter) == 1 and letter in _SHORTHANDS:
            for kind, dialect, flags in _SHORTHAND_KINDS:
                if chosen == shorthand(letter, dialect, flags):
                    words = catalogue_text(f"explanation.shorthand.{letter}")
                    return catalogue_text(f"explanation.shorthand.{kind}", characters=words)
            return ""
        found = _PROPERTY.fullmatch(excerpt)
        return self._property(found, chosen) if found else ""

    def _property(self, found: re.Match[str], chosen: CharSet) -> str:
        name = found[2] or found[3]
        plain = loose_property(name, ignore_case=False) if self._is_python else strict_property(name)
        if plain is None:
            return ""
        is_negated = found[1] == "P"
        words = catalogue_text(f"explanation.property.{'without' if is_negated else 'with'}", name=quoted(name))
        if chosen == (~plain if is_negated else plain):
            return words
        return catalogue_text("explanation.text.any_case", text=words)

    @property
    def _is_python(self) -> bool:
        return self._dialect is Dialect.PYTHON
