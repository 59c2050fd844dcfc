"""Explanations of character sets and of grammar nodes, for the two notations that consist of them.

A node determines what matches; its form (a group's name, a lazy quantifier) is added where the notation knows it. What
fits into one phrase becomes one: "once or more: one of `a` to `z`" instead of two lines.

The description of a set of characters is derived from the set itself, not from its source, so it cannot differ from
what matches. Only if a set has too many ranges to list, the source is quoted instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from engine.diagnosis.explanation_tree.phrases import ExplanationEntry, nothing
from engine.grammar import (
    Chars,
    CharSet,
    Choice,
    Empty,
    Lookaround,
    Node,
    Repeat,
    RuleReference,
    Sequence,
    TokenSet,
)
from engine.grammar.charset import EVERY_SCALAR, LAST_CODE_POINT
from engine.matching.explanation_text import LONGEST_EXCERPT, quoted
from engine.notations.regex.unicode_sets import CaseFold, close_under_case
from engine.source import Span
from engine.vocabulary.visible import visible

_MOST_RANGES: Final = 12
_LONGEST_TEXT: Final = 120
_NAMES: Final = {0x09: "a tab", 0x0A: "a line feed", 0x0D: "a carriage return", 0x20: "a space"}
_SHORTEST_RANGE: Final = 3


def character_name(code: int) -> str:
    """Return the name of a white-space character, the character itself if visible, else its code point."""
    if code in _NAMES:
        return _NAMES[code]
    char = chr(code)
    return quoted(visible(char.encode())) if char.isprintable() else f"U+{code:04X}"


def characters(chosen: CharSet) -> str | None:
    """Describe a set: "one of `A` to `Z` or `_`"; None if it has too many ranges."""
    if not chosen & EVERY_SCALAR:
        return "half of a surrogate pair, which no text holds" if chosen else "no character"
    rest = EVERY_SCALAR - chosen
    if not rest:
        return "any character"
    if len(rest.ranges) <= _MOST_RANGES and chosen.ranges[-1][1] == LAST_CODE_POINT:
        return f"any character but {_listed(rest, 'and')}"
    if len(chosen.ranges) > _MOST_RANGES:
        return None
    return character_name(chosen.ranges[0][0]) if len(chosen) == 1 else f"one of {_listed(chosen, 'or')}"


def text_words(text: str) -> str:
    """Describe a literal text: "the text `abc`"; a very long one by its beginning and its length."""
    shown = visible(text[:_LONGEST_TEXT].encode("utf-8", "surrogatepass"))
    if len(text) <= _LONGEST_TEXT:
        return f"the text {quoted(shown)}"
    return f"a text of {len(text):,} characters that begins with {quoted(shown)}"


def joined(items: Iterable[str], conjunction: str) -> str:
    """Join a list in words: "a, b and c"."""
    parts = list(items)
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {conjunction} {parts[-1]}"


def _listed(chosen: CharSet, conjunction: str) -> str:
    items: list[str] = []
    for first, last in chosen.ranges:
        if last - first + 1 < _SHORTEST_RANGE:
            items += (character_name(code) for code in range(first, last + 1))
        else:
            items.append(f"{character_name(first)} to {character_name(last)}")
    return joined(items, conjunction)


_MOST_IN_A_LINE: Final = 4  # the largest number of nodes in one phrase
_LARGEST_CASE: Final = 4  # the largest number of characters that differ only in case
_LOOKS: Final = {
    (True, False): "followed by",
    (True, True): "not followed by",
    (False, False): "preceded by",
    (False, True): "not preceded by",
}
_CASES: Final = {
    CaseFold.PYTHON: ", in any letter case",
    CaseFold.SIMPLE: ", in any letter case",
    CaseFold.ASCII: ", in any case of A to Z",
}


@dataclass(frozen=True, slots=True)
class Precedence:
    """Source around a node that has no node of its own: its description and its span."""

    words: str
    span: Span


def _no_words(_node: Node) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class ExplanationWriter:
    """Explains the nodes of one text.

    Attributes:
        text: the source.
        groups: what encloses a node, the inner one first, by the node's `id`.
        targets: the definition of each rule.
        folds: the case foldings that may have widened letters.
        has_lazy_quantifiers: whether a `?` after a quantifier makes it lazy.
        named: returns the name of a node by its form; empty if it has none.
        place: returns the span of a node, if it is more than `node.span`.
    """

    text: str
    groups: Mapping[int, list[Precedence]] = field(default_factory=dict)
    targets: Mapping[str, Span] = field(default_factory=dict)
    folds: tuple[CaseFold, ...] = ()
    has_lazy_quantifiers: bool = False
    named: Callable[[Node], str] = _no_words
    place: Callable[[Node], Span] = lambda node: node.span

    def entries(self, node: Node) -> Iterator[ExplanationEntry]:
        """Explain a body: the items of a sequence separately, anything else as one entry."""
        if isinstance(node, Sequence) and id(node) not in self.groups:
            yield from self._items(node)
        else:
            yield self.entry(node)

    def entry(self, node: Node, limit: int = _MOST_IN_A_LINE) -> ExplanationEntry:
        """Explain a node with what encloses it."""
        words, inner, target = self._core(node, limit)
        around = self.groups.get(id(node), ())
        names = [group.words for group in around if group.words]
        text = ": ".join([*reversed(names), words])
        span = around[-1].span if around else self.place(node)
        return ExplanationEntry(text, span, inner, target)

    def _core(self, node: Node, limit: int) -> tuple[str, Callable[[], Iterable[ExplanationEntry]], Span | None]:
        """Return a node's description, its inner entries, and the target of its reference."""
        name = self.named(node)
        if name:
            return name, nothing, None
        match node:
            case Sequence():
                return self._sequence(node)
            case Choice():
                return f"one of these {len(node.alternatives):,}", partial(self._each, node.alternatives), None
            case Repeat():
                return self._with(node.node, self._times(node), limit)
            case Lookaround():
                return self._with(node.node, _LOOKS[node.ahead, node.negated], limit)
            case RuleReference():
                return f"the rule {quoted(node.name)}", nothing, self.targets.get(node.name)
            case _:
                return self._leaf(node), nothing, None

    def _with(
        self, node: Node, before: str, limit: int
    ) -> tuple[str, Callable[[], Iterable[ExplanationEntry]], Span | None]:
        """Combine a prefix with a node's description, on the same line if `limit` permits."""
        if limit <= 1:
            return before, partial(self._each, (node,)), None
        entry = self.entry(node, limit - 1)
        return f"{before}: {entry.text}", entry.inner, entry.target

    def _each(self, nodes: Iterable[Node]) -> Iterator[ExplanationEntry]:
        return map(self.entry, nodes)

    def _leaf(self, node: Node) -> str:
        match node:
            case Chars():
                return self._chars(node)
            case Empty():
                excerpt = self.text[node.span.start : node.span.end]
                return "nothing, since it comes 0 times" if excerpt.endswith("}") else "nothing, the empty text"
            case TokenSet():
                return _tokens(node)
            case _:
                return "no text at all"

    # --- texts -------------------------------------------------------------------------------------------------------

    def _sequence(self, node: Sequence) -> tuple[str, Callable[[], Iterable[ExplanationEntry]], Span | None]:
        if all(isinstance(item, Chars) for item in node.items):
            items = list(self._items(node))
            if len(items) == 1:
                return items[0].text, items[0].inner, None
        return "in this order", partial(self._items, node), None

    def _items(self, node: Sequence) -> Iterator[ExplanationEntry]:
        """Explain the items of a sequence; adjacent characters form one text."""
        run: list[Chars] = []
        fold: CaseFold | None = None
        for item in node.items:
            if isinstance(item, Chars) and id(item) not in self.groups:
                if run and run[-1].span.end == item.span.start and self._fits(item.set, fold):
                    run.append(item)
                    continue
                found, fold = self._begins(item.set)
                if found:
                    yield from self._text(run)
                    run = [item]
                    continue
            yield from self._text(run)
            run = []
            is_inside = node.span.start <= item.span.start and item.span.end <= node.span.end
            yield self.entry(item) if is_inside else _placed(self.entry(item), node.span.start)
        yield from self._text(run)

    def _text(self, run: list[Chars]) -> Iterator[ExplanationEntry]:
        if run:
            yield ExplanationEntry(self._run(run), Span(self.place(run[0]).start, self.place(run[-1]).end))

    def _run(self, run: list[Chars]) -> str:
        text = "".join(chr(self._spelled(one)) for one in run)
        if all(len(one.set) == 1 for one in run):
            return text_words(text)
        fold = next(fold for fold in self.folds if all(self._fits(one.set, fold) for one in run))
        return text_words(text) + _CASES[fold]

    def _spelled(self, one: Chars) -> int:
        """Return a character as written; else the smallest with the same case folding."""
        excerpt = self.text[one.span.start : one.span.end]
        if len(excerpt) == 1 and ord(excerpt) in one.set:
            return ord(excerpt)
        return min(one.set, key=lambda code: (not chr(code).islower(), code))

    def _begins(self, chosen: CharSet) -> tuple[bool, CaseFold | None]:
        """Return whether a set can begin a text, and with which case folding."""
        if len(chosen) == 1:
            return not 0xD800 <= chosen.ranges[0][0] <= 0xDFFF, None
        if len(chosen) > _LARGEST_CASE:
            return False, None
        fold = next((fold for fold in self.folds if self._fits(chosen, fold)), None)
        return fold is not None, fold

    def _fits(self, chosen: CharSet, fold: CaseFold | None) -> bool:
        """Return whether a set is one character, or one in any case."""
        if fold is None:
            return self._begins(chosen) == (True, None)
        first = CharSet(((chosen.ranges[0][0],) * 2,))
        return len(chosen) <= _LARGEST_CASE and close_under_case(first, fold) == chosen

    # --- leaves and counts -------------------------------------------------------------------------------------------

    def _chars(self, node: Chars) -> str:
        begins, _ = self._begins(node.set)
        if begins:
            return self._run([node])
        description = characters(node.set)
        if description is not None:
            return description
        excerpt = self.text[node.span.start : node.span.end]
        cited = excerpt if len(excerpt) <= LONGEST_EXCERPT else excerpt[: LONGEST_EXCERPT - 1] + "…"
        return f"one of the characters of {quoted(cited)}"

    def _times(self, node: Repeat) -> str:
        """Describe the count, and whether it is lazy."""
        around = self.groups.get(id(node.node), ())
        begin = around[-1].span.end if around else node.node.span.end
        quantifier = self.text[begin : node.span.end].strip()
        is_lazy = self.has_lazy_quantifiers and len(quantifier) > 1 and quantifier.endswith("?")
        return times(node.minimum, node.maximum) + (", lazily" if is_lazy else "")


def _placed(entry: ExplanationEntry, start: int) -> ExplanationEntry:
    """Return an entry at one position of the source.

    A later alternative of an atomic group begins with the condition that the earlier ones do not match, whose source is
    theirs.
    """
    inner = nothing if entry.is_leaf else lambda: (_placed(one, start) for one in entry.inner())
    return ExplanationEntry(entry.text, Span(start, start), inner)


def times(minimum: int, maximum: int | None) -> str:
    """Describe a repetition count."""
    match minimum, maximum:
        case 0, None:
            return "any number of times"
        case 1, None:
            return "once or more"
        case 0, 1:
            return "optional"
        case 0, 0:
            return "not at all"
        case _ if maximum is None:
            return f"at least {minimum:,} times"
        case _ if minimum == maximum:
            return "exactly once" if minimum == 1 else f"exactly {minimum:,} times"
        case 0, _:
            return f"at most {maximum:,} times"
        case _:
            return f"{minimum:,} to {maximum:,} times"


def _tokens(node: TokenSet) -> str:
    named = [quoted(name) for name in node.names] + [f"number {token_id}" for token_id in node.ids]
    return f"{'any token but' if node.negated else 'the token'} {' or '.join(named)}, taken whole"
