"""What the makers of pictures share: texts, and how a widget comes to be seen."""

from __future__ import annotations

from collections.abc import Callable

from event_loop import turns
from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLabel, QWidget

from engine.compile import compile_grammar
from engine.source import Diagnostic, GrammarError

REGEX = r"[A-Z]+: [a-z]+\n"
GBNF = 'root ::= year "-" month\nyear ::= [0-9]{4}\nmonth ::= "0" [1-9] | "1" [0-2]\n'
BROKEN = 'root ::= year "-" moth\nyear ::= [0-9]{4\n'
SCHEMA = """{
  "type": "object",
  "properties": {
    "name": {"type": "string", "maxLength": 12},
    "tags": {"type": "array", "items": {"enum": ["a", "b"]}}
  },
  "required": ["name"],
  "additionalProperties": false
}"""
POLL_MS = 20
_PATIENCE_MS = 60_000

State = Callable[[], QWidget]


def shown(widget: QWidget, width: int, height: int) -> QWidget:
    """The widget, on the screen at a size."""
    widget.resize(width, height)
    widget.show()
    return widget


def settled(widget: QWidget) -> QWidget:
    """The widget, once what waits for the event loop is done."""
    widget.show()
    QTest.qWait(POLL_MS)
    turns()
    return widget


def pictured(widget: QWidget, owner: QWidget | None = None) -> QWidget:
    """A picture of what opens over something else, and goes with it: a menu, a list of completions."""
    label = QLabel()
    label.setPixmap(widget.grab())
    label.resize(label.pixmap().size())
    for gone in (widget, owner):
        if gone is not None:
            gone.close()
    (owner or widget).deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
    label.show()
    return label


def until(condition: Callable[[], bool]) -> None:
    """Let the event loop run until the condition holds, and a little longer."""
    for _ in range(_PATIENCE_MS // POLL_MS):
        if condition():
            QTest.qWait(POLL_MS)
            turns()
            return
        QTest.qWait(POLL_MS)
    raise TimeoutError("a pane did not come to its state")


def diagnostics_of(notation: str, text: str) -> tuple[Diagnostic, ...]:
    """What there is to say of a text, broken or not."""
    try:
        return compile_grammar(notation, text).diagnostics
    except GrammarError as error:
        return error.diagnostics
