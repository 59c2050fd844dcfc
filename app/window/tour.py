"""The tour: five steps through the window, each beside the widget that it explains.

It is offered, never forced: by a button in the banner of the first run, and by the Help menu afterwards. It does not
block the window: the user can type and step meanwhile, and Escape ends it. A widget behind a tab is brought to the
front.

Rejected: a dialog with pictures, which users close before they can compare it with the window; and a darkened window
with a hole in it, which cannot be used.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QEvent, QObject, QPointF, QRect, QRectF, Qt, QTimer
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app import theme
from app.catalogue import ui_text
from app.commands import Commands, command, keys_of, local_key, set_tip
from app.theme import Role
from app.theme.buttons import push_button
from app.theme.labels import Label
from app.widgets.accessibility import announce
from app.window.dock_layout import DockLayout
from app.window.panes import Panes
from app.window.toolbar import Toolbar

_WIDTH = 340
_RING, _GLOW, _RADIUS = 2.0, 6.0, 8.0
_ARROW = 9.0  # from the card's edge to the arrow's tip


class TourFrame(QWidget):
    """An overlay of the window that frames the target, and ignores the mouse."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setAttribute(Qt.WidgetAttribute.WA_NoSystemBackground)
        self._target, self._card = QRect(), QRect()
        self.hide()

    @property
    def target(self) -> QRect:
        """Return the framed rectangle of the window; empty for none."""
        return self._target

    def point_at(self, target: QRect, card: QRect) -> None:
        """Frame a target, and point at it from a card; an empty target for none."""
        self._target, self._card = target, card
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the frame and the arrow."""
        if self._target.isEmpty():
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = QRectF(self._target).adjusted(_GLOW / 2, _GLOW / 2, -_GLOW / 2, -_GLOW / 2)
        glow = theme.colour(Role.ACCENT)
        glow.setAlphaF(0.25)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for colour, width in ((glow, _GLOW), (theme.colour(Role.ACCENT), _RING)):
            painter.setPen(QPen(colour, width))
            painter.drawRoundedRect(box, _RADIUS, _RADIUS)
        arrow = arrow_between(QRectF(self._card), box)
        if arrow is not None:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.colour(Role.ACCENT))
            painter.drawPolygon(arrow)


def arrow_between(card: QRectF, target: QRectF) -> QPolygonF | None:
    """Return a triangle at the card's edge that points at the target; None if the card overlaps it."""
    if card.intersects(target):
        return None
    x = min(max(target.center().x(), card.left() + 24), card.right() - 24)
    y = min(max(target.center().y(), card.top() + 24), card.bottom() - 24)
    if card.left() >= target.right():
        tip, along = QPointF(card.left() - _ARROW, y), QPointF(0, _ARROW)
        base = QPointF(card.left() + 1, y)
    elif card.right() <= target.left():
        tip, along = QPointF(card.right() + _ARROW, y), QPointF(0, _ARROW)
        base = QPointF(card.right() - 1, y)
    elif card.top() >= target.bottom():
        tip, along = QPointF(x, card.top() - _ARROW), QPointF(_ARROW, 0)
        base = QPointF(x, card.top() + 1)
    else:
        tip, along = QPointF(x, card.bottom() + _ARROW), QPointF(_ARROW, 0)
        base = QPointF(x, card.bottom() - 1)
    return QPolygonF([tip, base + along, base - along])


class TourCard(QFrame):
    """Explains one stop, with buttons to continue.

    Signals:
        next_wanted(), back_wanted(), end_wanted(): the buttons; also Return and the arrow keys, and Escape.
    """

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setProperty("role", "tour")
        self.setFixedWidth(_WIDTH)
        self.setAutoFillBackground(True)
        self._title = Label()
        self._title.setProperty("role", "heading")
        self._count = Label()
        self._count.setProperty("role", "muted")
        self._text = Label(wraps=True)
        self.skip_button = push_button(ui_text("window.tour.skip"), role="flat")
        set_tip(self.skip_button, ui_text("window.tour.skip_tip"), local_key("tour.end", "Esc"))
        self.back_button = push_button(ui_text("window.tour.back"))
        self.next_button = push_button(ui_text("window.tour.next"), role="primary")
        head = QHBoxLayout()
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_S)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_M, theme.SPACE_M, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_S)
        layout.addLayout(head)
        head.addWidget(self._title, 1)
        head.addWidget(self._count)
        layout.addWidget(self._text)
        layout.addSpacing(theme.SPACE_XS)
        layout.addLayout(row)
        row.addWidget(self.skip_button)
        row.addStretch(1)
        row.addWidget(self.back_button)
        row.addWidget(self.next_button)
        self.next_wanted, self.back_wanted = self.next_button.clicked, self.back_button.clicked
        self.end_wanted = self.skip_button.clicked
        self.hide()

    def show_stop(self, title: str, text: str, number: int, count: int) -> None:
        """Show a stop.

        Args:
            title: its subject.
            text: the explanation.
            number: its number, from 0.
            count: the number of stops.
        """
        is_last = number == count - 1
        self._title.setText(title)
        self._text.setText(text)
        self._count.setText(ui_text("window.tour.count", number=number + 1, total=count))
        self.next_button.setText(ui_text("window.tour.done" if is_last else "window.tour.next"))
        self.back_button.setVisible(number > 0)
        self.skip_button.setVisible(not is_last)
        announcement = ui_text("window.tour.announcement", number=number + 1, total=count, title=title, text=text)
        self.setAccessibleName(announcement)
        self.next_button.setAccessibleDescription(
            announcement
        )  # spoken by a screen reader when the button gets the focus
        announce(self, announcement)

    def take_focus(self) -> None:
        """Give the focus to the button that continues."""
        self.next_button.setFocus(Qt.FocusReason.OtherFocusReason)

    def event(self, event: QEvent) -> bool:
        """Handle Escape before the window's own command does."""
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.key() == Qt.Key.Key_Escape
        ):
            event.accept()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle Escape, Return and the arrow keys."""
        match event.key():
            case Qt.Key.Key_Escape:
                self.end_wanted.emit()
            case Qt.Key.Key_Right | Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self.next_wanted.emit()
            case Qt.Key.Key_Left:
                self.back_wanted.emit()
            case _:
                super().keyPressEvent(event)


@dataclass(frozen=True, slots=True)
class Stop:
    """One step of the tour.

    Attributes:
        name: its name in the catalogue.
        text: the explanation, in two or three sentences.
        target: the widget that it points at.
        pane: the pane to bring to the front; None if the widget is always visible.
    """

    name: str
    text: str
    target: QWidget
    pane: QWidget | None = None

    @property
    def title(self) -> str:
        """Return its subject."""
        return ui_text(f"window.tour.{self.name}.title")


class Tour(QObject):
    """Shows the stops one after another."""

    def __init__(
        self, commands: Commands, panes: Panes, toolbar: Toolbar, dock_layout: DockLayout, window: QWidget
    ) -> None:
        super().__init__(window)
        self._commands, self._window = commands, window
        self._panes, self._toolbar, self._dock_layout = panes, toolbar, dock_layout
        self._stops: tuple[Stop, ...] = ()
        self._at = -1
        self._watched: list[QWidget] = []
        self.card: TourCard | None = None
        self.frame: TourFrame | None = None

    @property
    def at(self) -> int:
        """Return the number of the current stop, from 0; -1 without a tour."""
        return self._at

    @property
    def stops(self) -> tuple[Stop, ...]:
        """Return the stops of the current tour."""
        return self._stops

    @command("help.tour", "Shift+F1", place=(1, 2), icon="ph.compass")
    def start(self) -> None:
        """Start, or restart, at the first stop."""
        self.end()
        self._stops = self._all_stops()
        self.frame = TourFrame(self._window)
        self.card = TourCard(self._window)
        self.card.next_wanted.connect(lambda: self.go_to(self._at + 1))
        self.card.back_wanted.connect(lambda: self.go_to(self._at - 1))
        self.card.end_wanted.connect(self.end)
        self.go_to(0)

    def go_to(self, number: int) -> None:
        """Show a stop; beyond the last one, the tour ends."""
        if self.card is None or self.frame is None or number < 0:
            return
        if number >= len(self._stops):
            self.end()
            return
        self._at = number
        stop = self._stops[number]
        if stop.pane is not None:
            self._dock_layout.reveal(stop.pane)
        self.card.show_stop(stop.title, stop.text, number, len(self._stops))
        self._watch(stop.target)
        self._update_positions()
        self.frame.show()
        self.card.show()
        self.card.take_focus()

    def end(self) -> None:
        """End the tour; the focus returns to the first stop's pane."""
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
            Stop("editor", ui_text("window.tour.editor.text", fix=fix), panes.editor, panes.editor),
            Stop("automaton", ui_text("window.tour.automaton.text"), panes.automaton, panes.automaton),
            Stop("step", ui_text("window.tour.step.text", step=step), toolbar.step_button),
            Stop("why", ui_text("window.tour.why.text"), panes.generation.candidates, panes.generation),
            Stop("check", ui_text("window.tour.check.text", check=check, palette=palette), toolbar.check_button),
        )

    def _keys_of(self, command_id: str) -> str:
        return keys_of(command_id)

    # --- placement ---------------------------------------------------------------------------------------------------

    def _watch(self, place: QWidget | None) -> None:
        """Follow a widget wherever it moves: with its own moves, and with those of its parents."""
        for widget in self._watched:
            widget.removeEventFilter(self)
        self._watched = []
        while place is not None:
            place.installEventFilter(self)
            self._watched.append(place)
            place = place.parentWidget() if place is not self._window else None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow moves, resizes, and visibility changes of the watched widgets."""
        if event.type() in (QEvent.Type.Move, QEvent.Type.Resize, QEvent.Type.Show, QEvent.Type.Hide):
            self._update_positions()
            if watched is self._window:
                QTimer.singleShot(0, self, self._follow)  # the panes may be rearranged, and have other positions then
        return False

    def _follow(self) -> None:
        if self.card is not None:
            self._watch(self._stops[self._at].target)
            self._update_positions()

    def _update_positions(self) -> None:
        if self.card is None or self.frame is None:
            return
        target: QWidget | None = self._stops[self._at].target
        while target is not None and not (self._window.isAncestorOf(target) and target.isVisibleTo(self._window)):
            target = target.parentWidget()  # a button that does not fit the toolbar is in its menu
        room, highlighted = self._window.rect(), QRect()
        if target is not None:  # otherwise it is being moved to another parent
            highlighted = QRect(target.mapTo(self._window, target.rect().topLeft()), target.size()).intersected(room)
        self.frame.setGeometry(room)
        self.frame.raise_()
        self.card.raise_()
        self.card.adjustSize()
        self.card.move(beside(highlighted, self.card.rect(), room).topLeft())
        self.frame.point_at(highlighted, self.card.geometry())


_GAP = 18


def beside(target: QRect, card: QRect, room: QRect) -> QRect:
    """Return the position of a card that does not cover its target, if possible.

    Args:
        target: in the window; empty for none.
        card: has the size.
        room: the window.

    Returns:
        The card beside the target (right of it, left, below, above: the first that fits; for a low target below and
        above come first), otherwise in its lower right corner; always within the window.
    """
    if target.isEmpty():
        placed = QRect(card)
        placed.moveCenter(room.center())
        return placed
    top, left = target.top() + 24, target.left()
    beside_target = [(target.right() + _GAP, top), (target.left() - _GAP - card.width(), top)]
    above_and_below = [(left, target.bottom() + _GAP), (left, target.top() - _GAP - card.height())]
    is_low = target.height() < card.height()  # a card beside a button would cover the ones next to it
    for x, y in above_and_below + beside_target if is_low else beside_target + above_and_below:
        placed = _moved_into(QRect(x, y, card.width(), card.height()), room)
        if not placed.intersects(target):
            return placed
    corner = QRect(0, 0, card.width(), card.height())
    corner.moveBottomRight(target.bottomRight())
    return _moved_into(corner.translated(-_GAP, -_GAP), room)


def _moved_into(box: QRect, room: QRect) -> QRect:
    box.moveLeft(max(room.left() + 8, min(box.left(), room.right() - 8 - box.width())))
    box.moveTop(max(room.top() + 8, min(box.top(), room.bottom() - 8 - box.height())))
    return box
