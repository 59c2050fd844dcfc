"""The pane of railroad diagrams: the drawing, and a bar with the rule's name and what is drawn."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app import theme
from app.catalogue import ui_text
from app.graph.layout.railroad import RailroadDrawing
from app.panes.railroad.view import RailroadView
from app.theme.buttons import icon_button, tool_button
from app.widgets.elided_label import ElidedLabel
from app.widgets.keyboard import delegate_focus


class RailroadPane(QWidget):
    """Shows the diagram of one rule.

    Attributes:
        view: the drawing.
        opened: the keys of the boxes that the user opened.

    Signals:
        drawing_wanted(): the width, an opened box or a button asks for another drawing.
        picture_wanted(): write the diagram to a file.
    """

    drawing_wanted = Signal()
    picture_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("roomy", True)
        self.opened: frozenset[str] = frozenset()
        self.view = RailroadView()
        self.title = ElidedLabel(fills=True)
        self.follow_button, self.part_button = (
            tool_button(
                ui_text(f"railroad.pane.{name}.label"),
                ui_text(f"railroad.pane.{name}.tip"),
                checkable=True,
                clicked=self._want_drawing,
            )
            for name in ("follow", "part")
        )
        self.follow_button.setObjectName("railroad-follow")
        self.part_button.setObjectName("railroad-part")
        self.save_button = icon_button("ph.floppy-disk", ui_text("railroad.pane.save"), clicked=self._want_picture)
        self.save_button.setObjectName("railroad-save")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        bar = QHBoxLayout()
        layout.addLayout(bar)
        bar.setContentsMargins(theme.SPACE_M, 0, theme.SPACE_XS, 0)
        bar.setSpacing(theme.SPACE_XS)
        bar.addWidget(self.title, 1)
        for button in (self.follow_button, self.part_button, self.save_button):
            bar.addWidget(button)
        layout.addWidget(self.view, 1)
        delegate_focus(self, self.view)
        self.view.toggled.connect(self._toggle)
        self.view.resized.connect(self.drawing_wanted)
        self.show_drawing(None)

    @property
    def follows_match(self) -> bool:
        """Return whether the rule is that of the match, instead of the one at the cursor."""
        return self.follow_button.isChecked()

    @property
    def draws_part(self) -> bool:
        """Return whether only the part around the position is drawn."""
        return self.part_button.isChecked()

    def show_drawing(self, drawing: RailroadDrawing | None) -> bool:
        """Show another diagram; return False if boxes are open that belong to another rule: ask again."""
        before = self.view.drawing
        if drawing is not None and before is not None and before.name != drawing.name and self.opened:
            self.opened = frozenset()
            return False
        self.view.show_drawing(drawing)
        for button in (self.follow_button, self.part_button, self.save_button):
            button.setEnabled(drawing is not None)
        self._show_title()
        return True

    def set_stale(self, reason: str) -> None:
        """Set why the diagram belongs to an older text; empty if it is current."""
        self._reason = reason
        self.view.set_stale(bool(reason))
        self._show_title()

    _reason = ""

    def _show_title(self) -> None:
        drawing = self.view.drawing
        name = "" if drawing is None else drawing.name or ui_text("railroad.pane.whole")
        if name and self._reason:
            name = ui_text("railroad.pane.stale", name=name, reason=self._reason)
        self.title.set_text(name)

    def _want_drawing(self) -> None:
        self.drawing_wanted.emit()

    def _want_picture(self) -> None:
        self.picture_wanted.emit()

    def showEvent(self, event: QShowEvent) -> None:
        """Ask for a drawing: a hidden pane has none."""
        super().showEvent(event)
        self.drawing_wanted.emit()

    def _toggle(self, key: str) -> None:
        self.opened = self.opened ^ {key}
        self.drawing_wanted.emit()
