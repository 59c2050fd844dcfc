"""The tour: five steps through the window, each at the place that it tells of.

It is offered, never forced: by a button in the line of the first run, and by the Help
menu from then on. It stands in nobody's way, for the window stays what it is: one can
type and step meanwhile, and Escape ends it. Where a place is behind a tab, it is
brought to the front.

Rejected: a dialog with pictures, which one clicks away before there is anything to
compare it with; and a darkened window with a hole in it, which cannot be used.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QRect, QTimer
from PySide6.QtWidgets import QWidget

from app.actions import Actions, keys_of
from app.presenters.panes import Panes
from app.window.dock_layout import DockLayout
from app.window.toolbar import Toolbar
from app.window.tour_card import TourCard, TourFrame


@dataclass(frozen=True, slots=True)
class Stop:
    """One step of the tour.

    Attributes:
        title: what it is about.
        text: what there is to know, in two or three sentences.
        place: the widget that it points at.
        pane: what must be brought to the front for that; None where it is always seen.
    """

    title: str
    text: str
    place: QWidget
    pane: QWidget | None = None


class Tour(QObject):
    """Goes from one stop to the next."""

    def __init__(
        self, commands: Actions, panes: Panes, toolbar: Toolbar, arrangement: DockLayout, window: QWidget
    ) -> None:
        super().__init__(window)
        self._commands, self._window = commands, window
        self._panes, self._toolbar, self._arrangement = panes, toolbar, arrangement
        self._stops: tuple[Stop, ...] = ()
        self._at = -1
        self._watched: list[QWidget] = []
        self.card: TourCard | None = None
        self.frame: TourFrame | None = None

    @property
    def at(self) -> int:
        """The number of the stop that is shown, from 0; -1 while there is no tour."""
        return self._at

    @property
    def stops(self) -> tuple[Stop, ...]:
        """The stops of the tour under way."""
        return self._stops

    def start(self) -> None:
        """Begin at the first stop, or begin anew."""
        self.end()
        self._stops = self._all_stops()
        self.frame = TourFrame(self._window)
        self.card = TourCard(self._window)
        self.card.next_wanted.connect(lambda: self.go_to(self._at + 1))
        self.card.back_wanted.connect(lambda: self.go_to(self._at - 1))
        self.card.end_wanted.connect(self.end)
        self.go_to(0)

    def go_to(self, number: int) -> None:
        """Show a stop; beyond the last one, the tour is over."""
        if self.card is None or self.frame is None or number < 0:
            return
        if number >= len(self._stops):
            self.end()
            return
        self._at = number
        stop = self._stops[number]
        if stop.pane is not None:
            self._arrangement.reveal(stop.pane)
        self.card.show_stop(stop.title, stop.text, number, len(self._stops))
        self._watch(stop.place)
        self._place()
        self.frame.show()
        self.card.show()
        self.card.take_keys()

    def end(self) -> None:
        """Go away; the keys go back to the first stop's pane."""
        if self.card is None or self.frame is None:
            return
        self._watch(None)
        had_keys = self.card.isAncestorOf(self._window.focusWidget() or self._window)
        for part in (self.card, self.frame):
            part.hide()
            part.deleteLater()
        self.card = self.frame = None
        self._at = -1
        if had_keys:
            self._toolbar.step_button.setFocus()
            if not self._toolbar.step_button.hasFocus():
                self._panes.editor.edit.setFocus()

    def _all_stops(self) -> tuple[Stop, ...]:
        panes, toolbar = self._panes, self._toolbar
        step, fix, check, palette = (
            self._keys_of(name) for name in ("run.step", "edit.fix", "tests.check", "edit.palette")
        )
        return (
            Stop(
                "Write a grammar",
                "A regular expression, GBNF or a JSON Schema. It compiles as you type; what is wrong is underlined, "
                f"and {fix} repairs most of it.",
                panes.editor,
                panes.editor,
            ),
            Stop(
                "See what it means",
                "These are the states that it compiles to; the lit one is where the output stands. Point at a state "
                "to see its piece of the grammar.",
                panes.automaton,
                panes.automaton,
            ),
            Stop(
                "Step the model through it",
                f"{step} takes one token. Back takes it back, and it stays as a branch. Run goes on to the end.",
                toolbar.step_button,
            ),
            Stop(
                "Ask why",
                "What the model wanted next, before the mask and after it. A click takes a token; a click on a "
                "struck-through one tells at which byte it fails, and what was expected there.",
                panes.generation.candidates,
                panes.generation,
            ),
            Stop(
                "Check an output",
                f"Paste what went wrong elsewhere ({check}) and read in one sentence why. No model is needed. "
                f"{palette} finds every command.",
                toolbar.check_button,
            ),
        )

    def _keys_of(self, command_id: str) -> str:
        return keys_of(command_id)

    # --- where it stands ---------------------------------------------------------------------------------------------

    def _watch(self, place: QWidget | None) -> None:
        """Follow a place wherever it moves: with its own moves, and with those of all that it stands in."""
        for widget in self._watched:
            widget.removeEventFilter(self)
        self._watched = []
        while place is not None:
            place.installEventFilter(self)
            self._watched.append(place)
            place = place.parentWidget() if place is not self._window else None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Something moved."""
        if event.type() in (QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Show, QEvent.Type.Hide):
            self._place()
            if watched is self._window:
                QTimer.singleShot(0, self, self._follow)  # the panes may be arranged anew, and stand elsewhere then
        return False

    def _follow(self) -> None:
        if self.card is not None:
            self._watch(self._stops[self._at].place)
            self._place()

    def _place(self) -> None:
        if self.card is None or self.frame is None:
            return
        target: QWidget | None = self._stops[self._at].place
        while target is not None and not (self._window.isAncestorOf(target) and target.isVisibleTo(self._window)):
            target = target.parentWidget()  # a button that the toolbar has no room for is behind its arrow
        room, lit = self._window.rect(), QRect()
        if target is not None:  # else it is on its way to another place
            lit = QRect(target.mapTo(self._window, target.rect().topLeft()), target.size()).intersected(room)
        self.frame.setGeometry(room)
        self.frame.raise_()
        self.card.raise_()
        self.card.adjustSize()
        self.card.move(beside(lit, self.card.rect(), room).topLeft())
        self.frame.point_at(lit, self.card.geometry())


_GAP = 18


def beside(target: QRect, card: QRect, room: QRect) -> QRect:
    """Where a card stands so that it does not cover what it tells of, if that can be.

    Args:
        target: what it tells of, in the window; empty for nothing.
        card: of its size.
        room: the window.

    Returns:
        The card beside the target (right of it, left, under, above: the first that fits; for a low target under and
        above come first), else in its lower right corner; always within the room.
    """
    if target.isEmpty():
        placed = QRect(card)
        placed.moveCenter(room.center())
        return placed
    top, left = target.top() + 24, target.left()
    at_sides = [(target.right() + _GAP, top), (target.left() - _GAP - card.width(), top)]
    over_and_under = [(left, target.bottom() + _GAP), (left, target.top() - _GAP - card.height())]
    is_low = target.height() < card.height()  # a card beside a button would hang over the ones next to it
    for x, y in over_and_under + at_sides if is_low else at_sides + over_and_under:
        placed = _within(QRect(x, y, card.width(), card.height()), room)
        if not placed.intersects(target):
            return placed
    corner = QRect(0, 0, card.width(), card.height())
    corner.moveBottomRight(target.bottomRight())
    return _within(corner.translated(-_GAP, -_GAP), room)


def _within(box: QRect, room: QRect) -> QRect:
    box.moveLeft(max(room.left() + 8, min(box.left(), room.right() - 8 - box.width())))
    box.moveTop(max(room.top() + 8, min(box.top(), room.bottom() - 8 - box.height())))
    return box
