"""Explanations of rules, of grammar nodes and of character sets, for the notations that consist of them.

A node determines what matches; its form (a group's name, a lazy quantifier) is added where the notation knows it. What
fits into one phrase becomes one: "once or more: one of `a` to `z`" instead of two lines.

The description of a set of characters is derived from the set itself, not from its source, so it cannot differ from
what matches. Only if a set has too many ranges to list, the source is quoted instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final, Literal

from engine.grammar import (
    Chars,
    CharSet,
    Choice,
    Empty,
    Grammar,
    Lookaround,
    Node,
    Repeat,
    Rule,
    RuleReference,
    Sequence,
    TokenSet,
)
from engine.grammar.charset import EVERY_SCALAR, LAST_CODE_POINT
from engine.notations.explanation import ExplanationEntry, nothing
from engine.source import Span
from engine.source.catalogue import catalogue_text
from engine.source.text import quoted, shortened
from engine.vocabulary.visible import visible

_MOST_RANGES: Final = 12
_LONGEST_TEXT: Final = 120
_NAMES: Final = {0x09: "tab", 0x0A: "line_feed", 0x0D: "carriage_return", 0x20: "space"}
_SHORTEST_RANGE: Final = 3


def character_name(code: int) -> str:
    """Return the name of a white-space character, the character itself if visible, else its code point."""
    if code in _NAMES:
        return catalogue_text(f"explanation.character.{_NAMES[code]}")
    char = chr(code)
    return quoted(visible(char.encode())) if char.isprintable() else f"U+{code:04X}"


def characters(chosen: CharSet) -> str | None:
    """Describe a set, such as "one of `A` to `Z` or `_`"; return None if it has too many ranges."""
    if not chosen & EVERY_SCALAR:
        return catalogue_text("explanation.characters.surrogate" if chosen else "explanation.characters.none")
    rest = EVERY_SCALAR - chosen
    if not rest:
        return catalogue_text("explanation.characters.any")
    if len(rest.ranges) <= _MOST_RANGES and chosen.ranges[-1][1] == LAST_CODE_POINT:
        return catalogue_text("explanation.characters.except", characters=_listed(rest, "and"))
    if len(chosen.ranges) > _MOST_RANGES:
        return None
    if len(chosen) == 1:
        return character_name(chosen.ranges[0][0])
    return catalogue_text("explanation.characters.one_of", characters=_listed(chosen, "or"))


def text_words(text: str) -> str:
    """Describe a literal text; a very long one by its beginning and its length."""
    shown = visible(text[:_LONGEST_TEXT].encode("utf-8", "surrogatepass"))
    if len(text) <= _LONGEST_TEXT:
        return catalogue_text("explanation.text.whole", text=quoted(shown))
    return catalogue_text("explanation.text.long", length=len(text), text=quoted(shown))


def joined(items: Iterable[str], conjunction: Literal["and", "or"]) -> str:
    """Join a list in words: "a, b and c"."""
    *parts, last = items
    return catalogue_text(f"explanation.list.{conjunction}", items=", ".join(parts), last=last) if parts else last


def _listed(chosen: CharSet, conjunction: Literal["and", "or"]) -> str:
    items: list[str] = []
    for first, last in chosen.ranges:
        if last - first + 1 < _SHORTEST_RANGE:
            items += (character_name(code) for code in range(first, last + 1))
        else:
            ends = {"first": character_name(first), "last": character_name(last)}
            items.append(catalogue_text("explanation.characters.range", **ends))
    return joined(items, conjunction)


_MOST_IN_A_LINE: Final = 4  # the largest number of nodes in one phrase
_LARGEST_CASE: Final = 4  # the largest number of characters that differ only in case
_LOOKS: Final = {
    (True, False): "ahead",
    (True, True): "not_ahead",
    (False, False): "behind",
    (False, True): "not_behind",
}


@dataclass(frozen=True, slots=True)
class CaseFolding:
    """A case folding that a notation has.

    Attributes:
        key: the name of its phrase in the catalogue (`explanation.text`).
        close: adds the characters to a set that differ from its own only in case.
    """

    key: str
    close: Callable[[CharSet], CharSet]


@dataclass(frozen=True, slots=True)
class Precedence:
    """Source around a node that has no node of its own: its description and its span."""

    words: str
    span: Span


def _no_words(_node: Node) -> str:
    return ""


def node_span(node: Node) -> Span:
    """Return the span of a node."""
    return node.span


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
    folds: tuple[CaseFolding, ...] = ()
    has_lazy_quantifiers: bool = False
    named: Callable[[Node], str] = _no_words
    place: Callable[[Node], Span] = node_span

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
                words = catalogue_text("explanation.node.choice", count=len(node.alternatives))
                return words, partial(self._each, node.alternatives), None
            case Repeat():
                return self._with(node.node, self.count_words(node), limit)
            case Lookaround():
                return self._with(node.node, look_words(node), limit)
            case RuleReference():
                words = catalogue_text("explanation.node.rule", name=quoted(node.name))
                return words, nothing, self.targets.get(node.name)
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
                is_repeated = excerpt.endswith("}")
                return catalogue_text("explanation.text.zero_times" if is_repeated else "explanation.text.empty")
            case TokenSet():
                return _tokens(node)
            case _:
                return catalogue_text("explanation.text.never")

    # --- texts -------------------------------------------------------------------------------------------------------

    def _sequence(self, node: Sequence) -> tuple[str, Callable[[], Iterable[ExplanationEntry]], Span | None]:
        if all(isinstance(item, Chars) for item in node.items):
            items = list(self._items(node))
            if len(items) == 1:
                return items[0].text, items[0].inner, None
        return catalogue_text("explanation.node.sequence"), partial(self._items, node), None

    def _items(self, node: Sequence) -> Iterator[ExplanationEntry]:
        """Explain the items of a sequence; adjacent characters form one text."""
        for item in self.runs(node):
            if isinstance(item, tuple):
                yield ExplanationEntry(self.run_words(item), self.run_span(item))
            else:
                is_inside = node.span.start <= item.span.start and item.span.end <= node.span.end
                yield self.entry(item) if is_inside else _placed(self.entry(item), node.span.start)

    def runs(self, node: Sequence) -> Iterator[tuple[Chars, ...] | Node]:
        """Yield the items of a sequence; adjacent characters that form one text are a tuple."""
        run: list[Chars] = []
        fold: CaseFolding | None = None
        for item in node.items:
            if isinstance(item, Chars) and id(item) not in self.groups:
                if run and run[-1].span.end == item.span.start and self._fits(item.set, fold):
                    run.append(item)
                    continue
                found, fold = self._begins(item.set)
                if found:
                    if run:
                        yield tuple(run)
                    run = [item]
                    continue
            if run:
                yield tuple(run)
            run = []
            yield item
        if run:
            yield tuple(run)

    def is_text(self, node: Node) -> bool:
        """Return whether a node is one character, or one in any case, without a name."""
        return isinstance(node, Chars) and not self.named(node) and self._begins(node.set)[0]

    def run_span(self, run: tuple[Chars, ...]) -> Span:
        """Return the span of a text."""
        return Span(self.place(run[0]).start, self.place(run[-1]).end)

    def run_text(self, run: tuple[Chars, ...]) -> str:
        """Return the characters of a text, as written where letter case is ignored."""
        return "".join(chr(self._spelled(one)) for one in run)

    def run_words(self, run: tuple[Chars, ...]) -> str:
        """Describe a text."""
        text = self.run_text(run)
        if all(len(one.set) == 1 for one in run):
            return text_words(text)
        fold = next(fold for fold in self.folds if all(self._fits(one.set, fold) for one in run))
        return catalogue_text(f"explanation.text.{fold.key}", text=text_words(text))

    def _spelled(self, one: Chars) -> int:
        """Return a character as written; else the smallest with the same case folding."""
        excerpt = self.text[one.span.start : one.span.end]
        if len(excerpt) == 1 and ord(excerpt) in one.set:
            return ord(excerpt)
        return min(one.set, key=lambda code: (not chr(code).islower(), code))

    def _begins(self, chosen: CharSet) -> tuple[bool, CaseFolding | None]:
        """Return whether a set can begin a text, and with which case folding."""
        if len(chosen) == 1:
            return not 0xD800 <= chosen.ranges[0][0] <= 0xDFFF, None
        if len(chosen) > _LARGEST_CASE:
            return False, None
        fold = next((fold for fold in self.folds if self._fits(chosen, fold)), None)
        return fold is not None, fold

    def _fits(self, chosen: CharSet, fold: CaseFolding | None) -> bool:
        """Return whether a set is one character, or one in any case."""
        if fold is None:
            return self._begins(chosen) == (True, None)
        first = CharSet(((chosen.ranges[0][0],) * 2,))
        return len(chosen) <= _LARGEST_CASE and fold.close(first) == chosen

    # --- leaves and counts -------------------------------------------------------------------------------------------

    def _chars(self, node: Chars) -> str:
        begins, _ = self._begins(node.set)
        if begins:
            return self.run_words((node,))
        description = characters(node.set)
        if description is not None:
            return description
        excerpt = self.text[node.span.start : node.span.end]
        return catalogue_text("explanation.characters.quoted", excerpt=quoted(shortened(excerpt)))

    def count_words(self, node: Repeat) -> str:
        """Describe the count, and whether it is lazy."""
        around = self.groups.get(id(node.node), ())
        begin = around[-1].span.end if around else node.node.span.end
        quantifier = self.text[begin : node.span.end].strip()
        is_lazy = self.has_lazy_quantifiers and len(quantifier) > 1 and quantifier.endswith("?")
        words = times(node.minimum, node.maximum)
        return catalogue_text("explanation.times.lazily", times=words) if is_lazy else words


def _placed(entry: ExplanationEntry, start: int) -> ExplanationEntry:
    """Return an entry at one position of the source.

    A later alternative of an atomic group begins with the condition that the earlier ones do not match, whose source is
    theirs.
    """
    inner = nothing if entry.is_leaf else lambda: (_placed(one, start) for one in entry.inner())
    return ExplanationEntry(entry.text, Span(start, start), inner)


def look_words(node: Lookaround) -> str:
    """Describe a condition on the text around a position, without the text itself."""
    return catalogue_text(f"explanation.lookaround.{_LOOKS[node.ahead, node.negated]}")


def times(minimum: int, maximum: int | None) -> str:
    """Describe a repetition count."""
    match minimum, maximum:
        case 0, None:
            return catalogue_text("explanation.times.any")
        case 1, None:
            return catalogue_text("explanation.times.once_or_more")
        case 0, 1:
            return catalogue_text("explanation.times.optional")
        case 0, 0:
            return catalogue_text("explanation.times.never")
        case _ if maximum is None:
            return catalogue_text("explanation.times.at_least", minimum=minimum)
        case _ if minimum == maximum:
            return catalogue_text("explanation.times.exactly", count=minimum)
        case 0, _:
            return catalogue_text("explanation.times.at_most", maximum=maximum)
        case _:
            return catalogue_text("explanation.times.between", minimum=minimum, maximum=maximum)


def _tokens(node: TokenSet) -> str:
    numbers = (catalogue_text("explanation.token.number", number=token_id) for token_id in node.ids)
    names = joined([*map(quoted, node.names), *numbers], "or")
    return catalogue_text("explanation.token.not" if node.negated else "explanation.token.one", names=names)


def explain_rules(text: str, grammar: Grammar, place: Callable[[Node], Span] = node_span) -> Iterator[ExplanationEntry]:
    """Explain each rule of a grammar, in source order.

    Args:
        text: the grammar's text.
        grammar: its rules.
        place: returns the span of a node, if it is more than `node.span`.
    """
    targets = {rule.name: rule.span for rule in grammar.rules}
    writer = ExplanationWriter(text, targets=targets, place=place)
    return (_rule(rule, grammar, writer) for rule in sorted(grammar.rules, key=lambda rule: rule.span))


def _rule(rule: Rule, grammar: Grammar, writer: ExplanationWriter) -> ExplanationEntry:
    body = writer.entry(rule.node)
    is_start = rule.name == grammar.start
    words = catalogue_text(
        f"explanation.rule.{'start' if is_start else 'other'}", name=quoted(rule.name), body=body.text
    )
    span = Span(rule.span.start, max(body.span.end, rule.span.end))
    return ExplanationEntry(words, span, body.inner, body.target)
