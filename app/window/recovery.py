"""Recovery of work after a crash: shown or offered, and kept or discarded, with a banner in the window.

Without a file on the command line, the work is shown at once. With one, that file is opened, and the work is offered
beside it, unless it is work on the same file: then it is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from app.display_text import count
from app.document import Leftover, Saved
from app.session import Notification, Session
from app.storage import exists

if TYPE_CHECKING:
    from app.window.files import Files

_CRASHED = "Turnstile closed unexpectedly."
_SESSION_ENDED = "Turnstile was closed with the desktop session."
_SIGNALLED = "Turnstile was closed by the signal {}."
SESSION = "session"


class Recovery(QObject):
    """Shows, offers, saves and discards recovered work."""

    def __init__(self, session: Session, files: Files) -> None:
        super().__init__(files)
        self._session = session
        self._document = session.document
        self._files = files
        self._notification: Notification | None = None  # about recovered work, until it is saved
        self._document.title_changed.connect(self._check)
        self._document.replaced.connect(self._withdraw)

    def begin(self, path: Path | None) -> bool:
        """Look for recovered work at the start; return whether a document is shown now.

        Args:
            path: the requested file; None without one.
        """
        leftover = self._document.autosave.find()
        if leftover is None:
            return False
        if path is None or _is_work_on(leftover.saved, path):
            self._show(leftover)
            return True
        if not self._files.open(path):
            self._show(leftover)
            return True
        self._offer(leftover)
        return True

    def _show(self, leftover: Leftover) -> None:
        self._document.recover(leftover)
        saved = leftover.saved
        self._notify(
            Notification(
                "window",
                f"{_cause(saved)} Recovered {_described(saved, self._document.title)}.",
                severity="warning",
                button="Save",
                action=self._save,
                other_button="Discard",
                other_action=lambda: self._discard(saved),
            )
        )

    def _offer(self, leftover: Leftover) -> None:
        saved = leftover.saved
        title = Path(saved.path).stem if saved.path else saved.document.title or "Untitled"
        text = f"{_cause(saved)} Recovered work is available: {_described(saved, title)}."
        self._session.alarmed.emit(
            Notification(
                "window",
                text,
                severity="warning",
                button="Show",
                action=lambda: self._show_offered(leftover),
                other_button="Discard",
                other_action=lambda: self._drop(leftover),
            )
        )

    def _show_offered(self, leftover: Leftover) -> None:
        if self._files.may_leave():
            self._show(leftover)
        else:
            self._offer(leftover)

    def _save(self) -> None:
        alarm = self._notification
        if not self._files.save() and alarm is not None:
            self._notify(alarm)  # the button has closed it

    def _discard(self, saved: Saved) -> None:
        """Show the document without the recovered work."""
        path = Path(saved.path) if saved.path else None
        content, shown_path = self._document.content, self._document.path
        if path is None or not exists(path) or not self._files.open(path):
            self._files.show_last()
        self._offer_undo(lambda: self._document.replace(content, shown_path, modified=True))
        self._offer_next()

    def _drop(self, leftover: Leftover) -> None:
        """Delete work that was offered."""
        self._document.autosave.drop(leftover)

        def undo() -> None:
            self._document.autosave.put_back(leftover)
            self._offer(leftover)

        self._offer_undo(undo)
        self._offer_next()

    def _offer_undo(self, undo: Callable[[], object]) -> None:
        text = "The recovered work was discarded."
        self._session.alarmed.emit(Notification("window", text, severity="hint", button="Undo", action=undo))

    def _offer_next(self) -> None:
        if (leftover := self._document.autosave.find()) is not None:
            self._offer(leftover)

    def _notify(self, alarm: Notification) -> None:
        self._withdraw()
        self._notification = alarm
        self._session.alarmed.emit(alarm)

    def _check(self) -> None:
        """Close the banner once the work is saved, and offer other work, if there is any."""
        if self._notification is not None and not self._document.is_modified:
            self._withdraw()
            self._offer_next()

    def _withdraw(self) -> None:
        if self._notification is not None:
            alarm, self._notification = self._notification, None
            self._session.alarm_withdrawn.emit(alarm)


def _is_work_on(saved: Saved, path: Path) -> bool:
    """Return whether recovered work belongs to a file and is later than it."""
    if not saved.path:
        return False
    try:
        is_same = Path(saved.path).resolve() == path.resolve()
        return is_same and (not path.exists() or path.stat().st_mtime <= saved.saved_at)
    except (OSError, ValueError, RuntimeError):  # a path of a damaged file, or a loop of links
        return False


def _cause(saved: Saved) -> str:
    if saved.ended_by == SESSION:
        return _SESSION_ENDED
    return _SIGNALLED.format(saved.ended_by) if saved.ended_by else _CRASHED


def _described(saved: Saved, title: str) -> str:
    """Return the name of recovered work, its length and its time."""
    tokens = len(saved.document.trace.path)
    length = f" with {count(tokens, 'token')}" if tokens else ""
    return f"“{title}”{length}, from {_clock(saved.saved_at)}"


def _clock(seconds: float) -> str:
    then, now = datetime.fromtimestamp(seconds).astimezone(), datetime.now().astimezone()
    return then.strftime("%H:%M" if then.date() == now.date() else "%Y-%m-%d %H:%M")
