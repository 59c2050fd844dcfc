"""Announces changes outside of the focused widget: a step, why a run ended, an error in the grammar.

A user who steps with the keyboard stays on Step, and would hear nothing of its effect. A run is not read out token by
token, but its result is, once it ends.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.display_text import count, end_text, percent, token_text, unmarked
from app.session import Notification, Session
from app.widgets.accessibility import announce
from app.workers.decode_messages import DecodeView
from engine.source import Diagnostic, Severity, SourceText


class ScreenReader(QObject):
    """Announces the changes of a session in its window."""

    def __init__(self, session: Session, window: QWidget) -> None:
        super().__init__(window)
        self._session, self._window = session, window
        self._announced: tuple[int | None, int] = (None, 0)
        self._is_broken = False
        session.decoding.view_changed.connect(self._on_view)
        session.decoding.running_changed.connect(lambda is_running: None if is_running else self._say_output())
        session.decoding.run_ended.connect(self._say)
        session.notification_raised.connect(self._on_notification)
        session.compiling.diagnosed.connect(self._on_diagnosed)

    def _on_view(self, view: DecodeView) -> None:
        at = view.trace.current, len(view.trace.nodes)
        moved, self._announced = at != self._announced, at
        if moved and not self._session.decoding.is_running:
            self._say(announcement(view))

    def _say_output(self) -> None:
        position = self._session.decoding.view.position
        if position is not None and position.output:
            ended = f". {end_text(position)}" if position.finish is not None else ""
            self._say(f"{count(position.index, 'token')}: {position.output.decode('utf-8', 'replace')}{ended}")

    def _on_diagnosed(self, diagnostics: Sequence[Diagnostic], source: SourceText) -> None:
        """Announce that the grammar got its first error, or lost its last one; not each error at every key."""
        errors = [found for found in diagnostics if found.severity is Severity.ERROR]
        before, self._is_broken = self._is_broken, bool(errors)
        if errors and not before:
            line, column = source.line_column(errors[0].span.start)
            self._say(f"{count(len(errors), 'error')}. Line {line}, column {column}: {unmarked(errors[0].message)}")
        elif before and not errors:
            self._say("No error any more")

    def _on_notification(self, notification: Notification) -> None:
        self._say(notification.text, is_urgent=notification.severity == "error")

    def _say(self, text: str, *, is_urgent: bool = False) -> None:
        if text:
            announce(self._window, text, is_urgent=is_urgent)


def announcement(view: DecodeView) -> str:
    """Describe the position of a session in one or two sentences: the last token, and what may follow."""
    position, steps = view.position, {node.id: node.step for node in view.trace.nodes}
    if position is None:
        return ""
    last = steps.get(view.trace.current) if view.trace.current is not None else None
    taken = f"{token_text(last.token, last.name, last.token_id)}. " if last is not None else "At the start. "
    if position.finish is not None:
        return f"{taken}{end_text(position)}"
    mass = f", with {percent(position.z)}" if position.z is not None and view.has_model else ""
    return f"{taken}{position.allowed:,} of {position.vocabulary_size:,} allowed{mass}"
