"""Announces changes outside of the focused widget: a step, why a run ended, an error in the grammar.

A user who steps with the keyboard stays on Step, and would hear nothing of its effect. A run is not read out token by
token, but its result is, once it ends.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QWidget

from app.catalogue import ui_text
from app.display_text import end_text, percent_between, token_text, unmarked
from app.session import Notification, Session
from app.widgets.accessibility import announce
from app.workers.requests.decode import DecodeView
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
            tokens, output = position.index, position.output.decode("utf-8", "replace")
            if position.finish is None:
                self._say(ui_text("window.screen_reader.finished", count=tokens, output=output))
            else:
                end = end_text(position)
                self._say(ui_text("window.screen_reader.finished_end", count=tokens, output=output, end=end))

    def _on_diagnosed(self, diagnostics: Sequence[Diagnostic], source: SourceText) -> None:
        """Announce that the grammar got its first error, or lost its last one; not each error at every key."""
        errors = [found for found in diagnostics if found.severity is Severity.ERROR]
        before, self._is_broken = self._is_broken, bool(errors)
        if errors and not before:
            line, column = source.line_column(errors[0].span.start)
            message = unmarked(errors[0].message)
            self._say(
                ui_text("window.screen_reader.errors", count=len(errors), line=line, column=column, message=message)
            )
        elif before and not errors:
            self._say(ui_text("window.screen_reader.no_error"))

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
    allowed, total = position.allowed, position.vocabulary_size
    if position.finish is not None:
        state = end_text(position)
    elif (z := position.z_range) is not None and view.has_model:
        mass = percent_between(*z)
        state = ui_text("window.screen_reader.allowed_mass", allowed=allowed, total=total, mass=mass)
    else:
        state = ui_text("window.status.allowed", allowed=allowed, total=total)
    if last is None:
        return ui_text("window.screen_reader.start", state=state)
    token = token_text(last.token, last.name, last.token_id)
    return ui_text("window.screen_reader.token", token=token, state=state)
