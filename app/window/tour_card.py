"""The widgets of the tour: a frame around the target, and a card beside it with the explanation."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QPointF, QRect, QRectF, Qt, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent, QPen, QPolygonF
from PySide6.QtWidgets import QFrame, QHBoxLayout, QVBoxLayout, QWidget

from app import theme
from app.actions import set_tip
from app.theme import Role
from app.theme.buttons import push_button
from app.theme.labels import Label
from app.widgets.announce import announce

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
        theme.themes.changed.connect(self.update)
        self.hide()

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

    next_wanted = Signal()
    back_wanted = Signal()
    end_wanted = Signal()

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
        self.skip_button = push_button("Skip", role="flat")
        set_tip(self.skip_button, "End the tour, which stays in the Help menu", "tour.end")
        self.back_button = push_button("Back")
        self.next_button = push_button("Next", role="primary")
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
        self.next_button.clicked.connect(self.next_wanted)
        self.back_button.clicked.connect(self.back_wanted)
        self.skip_button.clicked.connect(self.end_wanted)
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
        self._count.setText(f"{number + 1} of {count}")
        self.next_button.setText("Done" if is_last else "Next")
        self.back_button.setVisible(number > 0)
        self.skip_button.setVisible(not is_last)
        announcement = f"Tour, {number + 1} of {count}. {title}. {text}"
        self.setAccessibleName(announcement)
        self.next_button.setAccessibleDescription(
            announcement
        )  # spoken by a screen reader when the button gets the focus
        announce(self, announcement)

    def take_keys(self) -> None:
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
