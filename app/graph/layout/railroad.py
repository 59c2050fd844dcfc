"""The layout of a railroad diagram: a track in, boxes and lines out.

The line runs from left to right. Alternatives are below one another, what may be left out has a bypass above it, and a
repetition a line back below it. A sequence that is wider than the pane continues in a new row. Large choices, and what
is nested deeper than anybody reads, are folded into a box that opens them; a call opens in place, too.

After Grammkit and Tab Atkins' railroad-diagrams. Rejected: the centred choices of Regexper, where the baseline of each
row depends on what follows, so that an opened box moves what is before it.

All widths are of a fixed-width font, so that the layout needs no fonts: a wide character has two cells.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from unicodedata import east_asian_width

from app.catalogue import ui_text
from app.graph.layout.types import Point, Rect
from engine.notations.railroad import Railroad, RailroadRule, Track, TrackKind
from engine.source import Span, checkpoint

MOST_BOXES = 1_500
"""The largest number of boxes in a diagram; what is beyond is folded."""

OPEN_CELLS = 2
"""The width of the sign at the right of a box that can be opened, in characters."""

_MOST_ALTERNATIVES, _SHOWN_ALTERNATIVES = 14, 10
_DEEPEST = 24
_GAP, _TURN = 14.0, 10.0  # between boxes, and the width of a turn
_PAD, _HIGH = 8.0, 3.0  # around a text
_ROWS = 12.0  # between alternatives and between rows
_LEAST_WIDTH = 160.0
_ENDS = 18.0  # the line before the first box and after the last


@dataclass(frozen=True, slots=True)
class RailroadStyle:
    """The sizes of a drawing, in pixels.

    Attributes:
        width: of the pane; sequences are wrapped to it.
        character: of a character of the font.
        line: the height of a line of text.
    """

    width: float
    character: float
    line: float


@dataclass(frozen=True, slots=True)
class RailroadBox:
    """A box of a diagram.

    Attributes:
        rect: left, top, width and height.
        kind: the form of its part; None for a box that folds and opens others.
        label: its text.
        words: a description; quotations are in backticks.
        span: its source.
        key: identifies it within the diagram, to open it.
        target: where the rule that it calls begins; None if it calls none.
        is_frame: whether it encloses other boxes; the label is then at its top.
        is_caption: whether it has no border: the label of a line.
        can_open: whether it can be opened, or folded again.
    """

    rect: Rect
    kind: TrackKind | None
    label: str
    words: str
    span: Span
    key: str
    target: Span | None = None
    is_frame: bool = False
    is_caption: bool = False
    can_open: bool = False


@dataclass(frozen=True, slots=True)
class RailroadDrawing:
    """A diagram, ready to paint.

    Attributes:
        name: the rule's.
        span: the rule's source.
        boxes: all boxes, frames before what they enclose.
        lines: polylines of horizontal and vertical pieces.
        heads: the tips of arrows that point to the left, on lines that run back.
        ends: where the line begins and ends.
    """

    name: str
    span: Span
    width: float
    height: float
    boxes: tuple[RailroadBox, ...]
    lines: tuple[tuple[Point, ...], ...]
    heads: tuple[Point, ...]
    ends: tuple[Point, Point]


def lay_out_railroad(
    railroad: Railroad, rule: RailroadRule, track: Track, opened: Collection[str], style: RailroadStyle
) -> RailroadDrawing:
    """Lay a diagram out.

    Args:
        railroad: all rules, for calls that are opened.
        rule: the rule that is drawn.
        track: its track, or a part of it.
        opened: the keys of the boxes that are open.
        style: the sizes.
    """
    measure = _Measure(railroad, frozenset(opened), style)
    block = measure.block(track, "", max(style.width - 2 * _ENDS, _LEAST_WIDTH), 0)
    place = _Placed()
    margin = style.line / 2
    left, top = _ENDS, block.up + margin
    place.add(block, left, top)
    start, end = (_ENDS / 2, top), (left + block.width + _ENDS / 2, top + block.drop)
    place.lines += [(start, (left, top)), ((left + block.width, end[1]), end)]
    width, height = left + block.width + _ENDS, block.up + block.down + 2 * margin
    boxes = tuple(sorted(place.boxes, key=lambda box: not box.is_frame))
    return RailroadDrawing(
        rule.name, rule.span, width, height, boxes, tuple(place.lines), tuple(place.heads), (start, end)
    )


def cells(text: str) -> int:
    """Return the width of a text in characters of a fixed-width font."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


@dataclass(slots=True)
class _Block:
    """A measured part, relative to the point where the line enters it.

    Attributes:
        up, down: the extent above and below the entry.
        drop: how far below the entry the line leaves, at the right border.
    """

    width: float
    up: float
    down: float
    drop: float = 0.0
    parts: list[tuple[float, float, _Block]] = field(default_factory=list)
    boxes: list[RailroadBox] = field(default_factory=list)
    lines: list[tuple[Point, ...]] = field(default_factory=list)
    heads: list[Point] = field(default_factory=list)

    def put(self, block: _Block, x: float, y: float) -> None:
        """Add a part at a point."""
        self.parts.append((x, y, block))


class _Placed:
    """Collects the boxes and lines of blocks at their final positions."""

    def __init__(self) -> None:
        self.boxes: list[RailroadBox] = []
        self.lines: list[tuple[Point, ...]] = []
        self.heads: list[Point] = []

    def add(self, block: _Block, x: float, y: float) -> None:
        """Add a block whose line enters at a point."""
        todo = [(block, x, y)]
        while todo:
            one, dx, dy = todo.pop()
            for box in one.boxes:
                left, top, width, height = box.rect
                self.boxes.append(replace(box, rect=(left + dx, top + dy, width, height)))
            self.lines += [tuple((px + dx, py + dy) for px, py in line) for line in one.lines]
            self.heads += [(px + dx, py + dy) for px, py in one.heads]
            todo += [(part, px + dx, py + dy) for px, py, part in reversed(one.parts)]


class _Measure:
    """Measures tracks, and folds what is too large."""

    def __init__(self, railroad: Railroad, opened: frozenset[str], style: RailroadStyle) -> None:
        self._railroad, self._opened, self._style = railroad, opened, style
        self._count = 0

    def block(self, track: Track, key: str, width: float, depth: int) -> _Block:
        """Measure a track.

        Args:
            track: the track.
            key: its key.
            width: the width that it may have, if it can be wrapped.
            depth: the number of tracks around it.
        """
        checkpoint()
        is_leaf = track.kind in {TrackKind.TEXT, TrackKind.SET, TrackKind.EMPTY}
        if not is_leaf and (self._count >= MOST_BOXES or (depth and depth % _DEEPEST == 0)) and key not in self._opened:
            return self._fold(track.span, key, ui_text("railroad.fragment.deep"))
        match track.kind:
            case TrackKind.EMPTY:
                return _Block(_GAP, 0, 0, lines=[((0, 0), (_GAP, 0))])
            case TrackKind.SEQUENCE:
                return self._sequence(track, key, width, depth)
            case TrackKind.CHOICE:
                return self._choice(track, key, width, depth)
            case TrackKind.REPEAT:
                return self._repeat(track, key, width, depth)
            case TrackKind.GROUP:
                return self._frame(track, track.inner(), key, width, depth)
            case TrackKind.CALL:
                return self._call(track, key, width, depth)
            case TrackKind.CONDITION if inner := track.inner():
                return self._frame(track, inner, key, width, depth)
            case _:
                return self._leaf(track, key)

    # --- boxes -------------------------------------------------------------------------------------------------------

    def _width(self, text: str) -> float:
        return max(cells(text), 1) * self._style.character + 2 * _PAD

    def _target(self, track: Track) -> Span | None:
        rule = self._railroad.named(track.target) if track.target else None
        return None if rule is None else Span(rule.span.start, rule.span.start)

    def _box(self, track: Track, key: str, **fields: bool) -> _Block:
        self._count += 1
        width, height = self._width(track.label), self._style.line + 2 * _HIGH
        if fields.get("can_open"):
            width += OPEN_CELLS * self._style.character
        rect = 0.0, -height / 2, width, height
        box = RailroadBox(rect, track.kind, track.label, track.words, track.span, key, self._target(track), **fields)
        return _Block(width, height / 2, height / 2, boxes=[box])

    def _leaf(self, track: Track, key: str) -> _Block:
        return self._box(track, key)

    def _fold(self, span: Span, key: str, text: str) -> _Block:
        block = self._box(Track(TrackKind.EMPTY, span, text, text), key)
        block.boxes = [replace(block.boxes[0], kind=None, can_open=True)]
        return block

    def _call(self, track: Track, key: str, width: float, depth: int) -> _Block:
        rule = self._railroad.named(track.target) if track.target else None
        if rule is None or key not in self._opened:
            return self._box(track, key, can_open=rule is not None)
        return self._frame(track, (rule.track(),), key, width, depth)

    def _frame(self, track: Track, inner: Sequence[Track], key: str, width: float, depth: int) -> _Block:
        """Measure a frame with a title around its part."""
        self._count += 1
        part = self.block(inner[0], f"{key}.0", max(width - 2 * _GAP, _LEAST_WIDTH), depth + 1)
        title = self._style.line + _HIGH
        wide = max(part.width + 2 * _GAP, self._width(track.label) + OPEN_CELLS * self._style.character)
        up, down = part.up + title + _HIGH, part.down + _HIGH + _PAD / 2
        rect = 0.0, -up, wide, up + down
        box = RailroadBox(
            rect,
            track.kind,
            track.label,
            track.words,
            track.span,
            key,
            self._target(track),
            is_frame=True,
            can_open=track.kind is TrackKind.CALL,
        )
        block = _Block(wide, up, down, part.drop, boxes=[box])
        block.put(part, _GAP, 0)
        block.lines = [((0, 0), (_GAP, 0)), ((_GAP + part.width, part.drop), (wide, part.drop))]
        return block

    # --- sequences ---------------------------------------------------------------------------------------------------

    def _sequence(self, track: Track, key: str, width: float, depth: int) -> _Block:
        rows: list[list[_Block]] = [[]]
        used = 0.0
        available = max(width - 2 * _TURN, _LEAST_WIDTH)
        for inner_key, item in self._items(track, key):
            block = self.block(item, inner_key, available, depth + 1)
            if rows[-1] and used + _GAP + block.width > available:
                rows.append([])
                used = 0.0
            used += block.width + (_GAP if rows[-1] else 0.0)
            rows[-1].append(block)
        return self._rows([_row(row) for row in rows]) if len(rows) > 1 else _row(rows[0])

    def _items(self, track: Track, key: str) -> Iterable[tuple[str, Track]]:
        """Yield the items of a sequence with their keys; a sequence in it has no form of its own."""
        for number, item in enumerate(track.inner()):
            if item.kind is TrackKind.SEQUENCE:
                yield from self._items(item, f"{key}.{number}")
            else:
                yield f"{key}.{number}", item

    def _rows(self, rows: list[_Block]) -> _Block:
        """Stack the rows of a sequence; the line runs back between them."""
        wide = max(row.width for row in rows) + 2 * _TURN
        block = _Block(wide, rows[0].up, 0.0)
        block.lines.append(((0, 0), (_TURN, 0)))
        y = 0.0
        for number, row in enumerate(rows):
            block.put(row, _TURN, y)
            out = y + row.drop
            if number + 1 == len(rows):
                block.lines.append(((_TURN + row.width, out), (wide, out)))
                block.down, block.drop = y + row.down, out
                break
            back = y + row.down + _ROWS / 2
            following = back + _ROWS / 2 + rows[number + 1].up
            right = _TURN + row.width
            block.lines.append(
                (
                    (right, out),
                    (right + _TURN, out),
                    (right + _TURN, back),
                    (0, back),
                    (0, following),
                    (_TURN, following),
                )
            )
            block.heads.append((_TURN + row.width / 2, back))
            y = following
        return block

    # --- choices -----------------------------------------------------------------------------------------------------

    def _choice(self, track: Track, key: str, width: float, depth: int) -> _Block:
        inner = list(enumerate(track.inner()))
        rest = len(inner) - _SHOWN_ALTERNATIVES
        fold_key = f"{key}.more"
        is_folded = len(inner) > _MOST_ALTERNATIVES
        if is_folded and fold_key not in self._opened:
            inner = inner[:_SHOWN_ALTERNATIVES]
        available = max(width - 4 * _TURN, _LEAST_WIDTH)
        blocks: list[_Block] = []
        hidden = 0
        for number, one in inner:
            if self._count >= MOST_BOXES:
                hidden += 1
            else:
                blocks.append(self.block(one, f"{key}.{number}", available, depth + 1))
        if is_folded:
            is_open = fold_key in self._opened
            name = "fewer" if is_open and not hidden else "more"
            blocks.append(self._fold(track.span, fold_key, ui_text(f"railroad.fragment.{name}", count=hidden or rest)))
        return _alternatives(blocks)

    # --- repetitions -------------------------------------------------------------------------------------------------

    def _repeat(self, track: Track, key: str, width: float, depth: int) -> _Block:
        part = self.block(track.inner()[0], f"{key}.0", max(width - 2 * _TURN - _GAP, _LEAST_WIDTH), depth + 1)
        loops = track.maximum is None or track.maximum > 1 or track.maximum == 0
        has_caption = loops and (track.maximum is not None or track.minimum > 1)
        caption = self._box(track, key, is_caption=True) if has_caption else None
        inner = max(part.width, caption.width if caption is not None else 0.0)
        wide = inner + 2 * _TURN + _GAP
        at = _TURN + _GAP / 2
        block = _Block(wide, part.up, part.down, part.drop)
        block.put(part, at, 0)
        block.lines = [((0, 0), (at, 0)), ((at + part.width, part.drop), (wide, part.drop))]
        if loops:
            low = part.down + _ROWS / 2 + (caption.up if caption is not None else 0.0)
            right = wide - _GAP / 4
            line = (right - _TURN, part.drop), (right, part.drop), (right, low), (_GAP / 4, low), (_GAP / 4, 0)
            block.lines.append((*line, (_GAP / 4 + _TURN, 0)))
            if caption is None:
                block.heads.append((wide / 2, low))
                block.down = low
            else:
                left = (wide - caption.width) / 2
                block.put(caption, left, low)
                block.heads.append((left - _GAP / 4, low))
                block.down = low + caption.down
        if track.minimum == 0:
            high = -(part.up + _ROWS / 2)
            right = wide - _TURN / 2
            bypass = (_TURN / 2, 0.0), (_TURN / 2, high), (right, high), (right, part.drop)
            block.lines.append(((0, 0), *bypass, (wide, part.drop)))
            block.up = -high
        return block


def _row(blocks: Sequence[_Block]) -> _Block:
    """Place blocks beside one another."""
    row = _Block(0.0, 0.0, 0.0)
    for number, block in enumerate(blocks):
        if number:
            row.lines.append(((row.width, row.drop), (row.width + _GAP, row.drop)))
            row.width += _GAP
        row.put(block, row.width, row.drop)
        row.up = max(row.up, block.up - row.drop)
        row.down = max(row.down, block.down + row.drop)
        row.width += block.width
        row.drop += block.drop
    return row


def _alternatives(blocks: Sequence[_Block]) -> _Block:
    """Place blocks below one another, the first one on the line."""
    first = blocks[0]
    inner = max(block.width for block in blocks)
    wide = inner + 4 * _TURN
    choice = _Block(wide, first.up, first.down, first.drop)
    left, right = 2 * _TURN, wide - 2 * _TURN
    y = 0.0
    for number, block in enumerate(blocks):
        if number:
            y += blocks[number - 1].down + _ROWS / 2 + block.up
            out = y + block.drop
            choice.lines.append(((0, 0), (_TURN, 0), (_TURN, y), (left, y)))
            choice.lines.append(
                ((left + block.width, out), (right + _TURN, out), (right + _TURN, first.drop), (wide, first.drop))
            )
        else:
            choice.lines.append(((0, 0), (left, 0)))
            choice.lines.append(((left + block.width, block.drop), (wide, block.drop)))
        choice.put(block, left, y)
        choice.down = y + block.down
    return choice
