"""The railroad diagrams of a grammar: each rule as tracks, which the layout turns into a drawing.

A track is a part of the text with its form: one after another, one of several, repeated. It is built from the same
nodes as the explanation, so that box and phrase say the same, and its inner tracks are computed on demand, since a
drawing folds what is large or deep.

A diagram shows one rule: of GBNF a rule, of a pattern all of it, of a schema one schema, in which schemas that consist
of others are calls. What restricts a text but is no part of it (a lookahead, a keyword beside a type) is a condition,
so that no diagram claims more than the grammar.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum, auto
from functools import partial

from engine.grammar import (
    Chars,
    Choice,
    Empty,
    Grammar,
    Lookaround,
    Node,
    Repeat,
    RuleReference,
    Sequence,
    TokenSet,
)
from engine.notations.node_explanation import ExplanationWriter, look_words, node_span
from engine.source import Span
from engine.source.text import shortened
from engine.vocabulary.visible import visible

_LONGEST_LABEL = 48


class TrackKind(Enum):
    """The form of a track."""

    TEXT = auto()
    """A text, as it is."""
    SET = auto()
    """One of many texts, such as a character of a class."""
    CALL = auto()
    """Another rule."""
    CONDITION = auto()
    """A condition, which consumes nothing; its inner track, if any, is what must match, or must not."""
    EMPTY = auto()
    SEQUENCE = auto()
    CHOICE = auto()
    REPEAT = auto()
    GROUP = auto()
    """A part with a name."""


def no_tracks() -> tuple[Track, ...]:
    """Return no inner tracks."""
    return ()


@dataclass(frozen=True, slots=True)
class Track:
    """A part of a rule.

    Attributes:
        kind: its form.
        span: its source.
        label: what is written in its box, on its loop or above its frame.
        words: its description, as in the explanation; quotations are in backticks.
        inner: returns its parts.
        minimum, maximum: how often its part is repeated; None for no maximum.
        target: the name of the rule that it calls; empty if there is none.
    """

    kind: TrackKind
    span: Span
    label: str = ""
    words: str = ""
    inner: Callable[[], tuple[Track, ...]] = no_tracks
    minimum: int = 1
    maximum: int | None = 1
    target: str = ""


def box_label(text: str) -> str:
    """Return a text for a box: in one line, and not too long."""
    return shortened(" ".join(text.split()), _LONGEST_LABEL)


def plain_words(words: str) -> str:
    """Return a description for a box: its quotations without their backticks."""
    return box_label(words.replace("`", ""))


@dataclass(frozen=True, slots=True)
class RailroadRule:
    """A rule that has a diagram.

    Attributes:
        name: its name, which is unique.
        span: its source: the definition.
        track: returns its track.
    """

    name: str
    span: Span
    track: Callable[[], Track]


@dataclass(frozen=True, slots=True)
class Railroad:
    """The rules of a text in source order; a schema precedes those in it."""

    rules: tuple[RailroadRule, ...]

    def rule_at(self, offset: int) -> RailroadRule | None:
        """Return the smallest rule around an offset; outside all of them, the last one before it."""
        around = [rule for rule in self.rules if rule.span.start <= offset <= rule.span.end]
        if around:
            return min(around, key=lambda rule: (rule.span.end - rule.span.start, -rule.span.start))
        before = [rule for rule in self.rules if rule.span.start <= offset]
        return before[-1] if before else next(iter(self.rules), None)

    def named(self, name: str) -> RailroadRule | None:
        """Return a rule by name."""
        return next((rule for rule in self.rules if rule.name == name), None)


def group_at(track: Track, offset: int) -> Track:
    """Return the smallest repetition, choice or named part around an offset; the track itself if there is none."""
    found = track
    parts = iter((track,))
    while (part := next((one for one in parts if one.span.start <= offset <= one.span.end), None)) is not None:
        if part.kind in {TrackKind.CHOICE, TrackKind.REPEAT, TrackKind.GROUP}:
            found = part
        parts = iter(part.inner())
    return found


def rule_tracks(text: str, grammar: Grammar, place: Callable[[Node], Span] = node_span) -> Railroad:
    """Return the diagrams of a grammar's rules.

    Args:
        text: the grammar's text.
        grammar: its rules.
        place: returns the span of a node, if it is more than `node.span`.
    """
    writer = NodeTracks(ExplanationWriter(text, place=place))
    rules = sorted(grammar.rules, key=lambda rule: rule.span)
    ends = [rule.span.start for rule in rules[1:]] + [len(text)]
    spans = (Span(rule.span.start, _end(text, rule.span.start, end)) for rule, end in zip(rules, ends, strict=True))
    return Railroad(
        tuple(
            RailroadRule(rule.name, span, partial(writer.track, rule.node))
            for rule, span in zip(rules, spans, strict=True)
        )
    )


def _end(text: str, start: int, end: int) -> int:
    """Return the end of a definition without the white space after it."""
    return start + len(text[start:end].rstrip())


@dataclass(frozen=True, slots=True)
class NodeTracks:
    """Makes tracks of nodes.

    Attributes:
        writer: describes them.
    """

    writer: ExplanationWriter

    def track(self, node: Node) -> Track:
        """Return the track of a node, in frames for the groups around it that have a name."""
        track = self._core(node)
        for group in self.writer.groups.get(id(node), ()):
            if group.words:
                inner = partial(_one, track)
                track = Track(TrackKind.GROUP, group.span, plain_words(group.words), group.words, inner)
        return track

    def _core(self, node: Node) -> Track:
        span, name = self.writer.place(node), self.writer.named(node)
        match node:
            case Lookaround() if not name:
                words = look_words(node)
                return Track(TrackKind.CONDITION, span, words, words, partial(self._each, (node.node,)))
            case Sequence() if not name:
                return Track(TrackKind.SEQUENCE, span, inner=partial(self._items, node))
            case Choice() if not name:
                return Track(TrackKind.CHOICE, span, inner=partial(self._each, node.alternatives))
            case Repeat():
                words = self.writer.count_words(node)
                inner = partial(self._each, (node.node,))
                return Track(TrackKind.REPEAT, span, words, words, inner, node.minimum, node.maximum)
            case RuleReference():
                return Track(TrackKind.CALL, span, node.name, self._words(node), target=node.name)
            case Empty():
                return Track(TrackKind.EMPTY, span, words=self._words(node))
            case Chars() if self.writer.is_text(node):
                return self._text((node,))
            case Chars() | TokenSet():
                return Track(TrackKind.SET, span, box_label(self.writer.text[span.start : span.end]), self._words(node))
            case _:
                words = name or self._words(node)
                return Track(TrackKind.CONDITION, span, plain_words(words), words)

    def _words(self, node: Node) -> str:
        return self.writer.entry(node, 1).text

    def _each(self, nodes: tuple[Node, ...]) -> tuple[Track, ...]:
        return tuple(map(self.track, nodes))

    def _items(self, node: Sequence) -> tuple[Track, ...]:
        return tuple(self._runs(node))

    def _runs(self, node: Sequence) -> Iterator[Track]:
        for item in self.writer.runs(node):
            yield self._text(item) if isinstance(item, tuple) else self.track(item)

    def _text(self, run: tuple[Chars, ...]) -> Track:
        text = visible(self.writer.run_text(run).encode("utf-8", "surrogatepass"))
        words = self.writer.run_words(run)
        is_exact = all(len(one.set) == 1 for one in run)
        name = box_label(text) if is_exact else plain_words(words)
        return Track(TrackKind.TEXT, self.writer.run_span(run), name, words)


def _one(track: Track) -> tuple[Track, ...]:
    return (track,)
