"""The dialog of a command, of which there is one at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from PySide6.QtCore import QPoint, QRect
from PySide6.QtWidgets import QDialog, QWidget

D = TypeVar("D", bound=QDialog)


class OneDialog(Generic[D]):
    """A dialog that is made when it is needed and deleted when it is closed.

    Args:
        make: makes the dialog and connects it.
        on_closed: called with the dialog before it is deleted.

    Attributes:
        current: the dialog; None while there is none.
    """

    def __init__(self, make: Callable[[], D], on_closed: Callable[[D], object] = lambda _dialog: None) -> None:
        self._make, self._on_closed = make, on_closed
        self.current: D | None = None

    def get(self) -> D:
        """Return the dialog; make it if there is none."""
        dialog = self.current
        if dialog is None:
            dialog = self.current = self._make()
            dialog.finished.connect(self._on_finished)
        return dialog

    def show(self) -> D:
        """Show the dialog, or bring the open one to the front."""
        dialog = self.get()
        dialog.show()
        dialog.activateWindow()
        return dialog

    def uncover(self, window: QWidget) -> None:
        """Move the dialog beside what has the focus in a window, and make it narrower where there is less room.

        Args:
            window: the window, in which something was just shown.
        """
        dialog, shown = self.current, window.focusWidget()
        if dialog is None or shown is None:
            return
        covered = QRect(shown.mapToGlobal(QPoint()), shown.size())
        if not covered.intersects(dialog.frameGeometry()):
            return
        area = dialog.screen().availableGeometry().united(window.frameGeometry())
        is_right = area.right() - covered.right() >= covered.left() - area.left()
        room = area.right() - covered.right() if is_right else covered.left() - area.left()
        dialog.resize(min(dialog.width(), max(room, dialog.minimumSizeHint().width())), dialog.height())
        x = area.right() + 1 - dialog.frameGeometry().width() if is_right else area.left()
        dialog.move(x, dialog.frameGeometry().top())

    def close(self) -> None:
        """Close the dialog if there is one."""
        if self.current is not None:
            self.current.reject()

    def _on_finished(self) -> None:
        dialog, self.current = self.current, None
        if dialog is not None:
            self._on_closed(dialog)
            dialog.deleteLater()
