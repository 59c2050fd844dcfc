"""Grammar nodes in words, for the two notations that are made of them.

A node says what matches; how it is written (a group's name, a lazy quantifier)
is told where the notation knows it. What one phrase can hold is told in one:
"once or more: one of `a` to `z`" instead of two lines.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from engine.diagnosis.explanation_tree.characters import characters, text_words
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
from engine.matching.explanation_text import LONGEST_EXCERPT, quoted
from engine.notations.regex.case import CaseFold, close
from engine.source import Span

_MOST_IN_A_LINE: Final = 4  # nodes that one phrase may tell of
_LARGEST_CASE: Final = 4  # characters that differ in case only
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
    """Something that is written around a node and leaves none: what it is called, and its place."""

    words: str
    span: Span


def _no_words(_node: Node) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class ExplanationWriter:
    """Tells of the nodes of one text.

    Attributes:
        text: the source.
        groups: what stands around a node, the inner one first, by the node's `id`.
        targets: where each rule is defined.
        folds: how letters may be widened to any case.
        knows_lazy: whether a `?` behind a quantifier makes it lazy.
        named: what a node is called where its form tells it; empty where nothing is known.
        place: where a node is written, if that is more than its span.
    """

    text: str
    groups: Mapping[int, list[Precedence]] = field(default_factory=dict)
    targets: Mapping[str, Span] = field(default_factory=dict)
    folds: tuple[CaseFold, ...] = ()
    knows_lazy: bool = False
    named: Callable[[Node], str] = _no_words
    place: Callable[[Node], Span] = lambda node: node.span

    def entries(self, node: Node) -> Iterator[ExplanationEntry]:
        """A whole body: the items of a sequence side by side, anything else by itself."""
        if isinstance(node, Sequence) and id(node) not in self.groups:
            yield from self._items(node)
        else:
            yield self.entry(node)

    def entry(self, node: Node, room: int = _MOST_IN_A_LINE) -> ExplanationEntry:
        """A node with what is written around it."""
        words, inner, target = self._core(node, room)
        around = self.groups.get(id(node), ())
        names = [group.words for group in around if group.words]
        text = ": ".join([*reversed(names), words])
        span = around[-1].span if around else self.place(node)
        return ExplanationEntry(text, span, inner, target)

    def _core(self, node: Node, room: int) -> tuple[str, Callable[[], Iterable[ExplanationEntry]], Span | None]:
        """A node's words, what it holds, and where it refers to."""
        name = self.named(node)
        if name:
            return name, nothing, None
        match node:
            case Sequence():
                return self._sequence(node)
            case Choice():
                return f"one of these {len(node.alternatives):,}", partial(self._each, node.alternatives), None
            case Repeat():
                return self._with(node.node, self._times(node), room)
            case Lookaround():
                return self._with(node.node, _LOOKS[node.ahead, node.negated], room)
            case RuleReference():
                return f"the rule {quoted(node.name)}", nothing, self.targets.get(node.name)
            case _:
                return self._leaf(node), nothing, None

    def _with(
        self, node: Node, before: str, room: int
    ) -> tuple[str, Callable[[], Iterable[ExplanationEntry]], Span | None]:
        """What is said before a node, and the node in the same line while there is room."""
        if room <= 1:
            return before, partial(self._each, (node,)), None
        told = self.entry(node, room - 1)
        return f"{before}: {told.text}", told.inner, told.target

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
        """The items of a sequence; characters side by side are one text."""
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
            yield self.entry(item)
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
        """A character as it is written, if it is; else the smallest of its case."""
        excerpt = self.text[one.span.start : one.span.end]
        if len(excerpt) == 1 and ord(excerpt) in one.set:
            return ord(excerpt)
        return min(one.set, key=lambda code: (not chr(code).islower(), code))

    def _begins(self, chosen: CharSet) -> tuple[bool, CaseFold | None]:
        """Whether a set can begin a text, and in which case."""
        if len(chosen) == 1:
            return not 0xD800 <= chosen.ranges[0][0] <= 0xDFFF, None
        if len(chosen) > _LARGEST_CASE:
            return False, None
        fold = next((fold for fold in self.folds if self._fits(chosen, fold)), None)
        return fold is not None, fold

    def _fits(self, chosen: CharSet, fold: CaseFold | None) -> bool:
        """Whether a set is one character, or one in any case."""
        if fold is None:
            return self._begins(chosen) == (True, None)
        first = CharSet(((chosen.ranges[0][0],) * 2,))
        return len(chosen) <= _LARGEST_CASE and close(first, fold) == chosen

    # --- leaves and counts -------------------------------------------------------------------------------------------

    def _chars(self, node: Chars) -> str:
        begins, _ = self._begins(node.set)
        if begins:
            return self._run([node])
        told = characters(node.set)
        if told is not None:
            return told
        excerpt = self.text[node.span.start : node.span.end]
        cited = excerpt if len(excerpt) <= LONGEST_EXCERPT else excerpt[: LONGEST_EXCERPT - 1] + "…"
        return f"one of the characters of {quoted(cited)}"

    def _times(self, node: Repeat) -> str:
        """How often; whether lazily, if the text says so."""
        around = self.groups.get(id(node.node), ())
        begin = around[-1].span.end if around else node.node.span.end
        quantifier = self.text[begin : node.span.end].strip()
        is_lazy = self.knows_lazy and len(quantifier) > 1 and quantifier.endswith("?")
        return times(node.minimum, node.maximum) + (", lazily" if is_lazy else "")


def times(minimum: int, maximum: int | None) -> str:
    """How often something comes."""
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
