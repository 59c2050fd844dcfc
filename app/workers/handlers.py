"""What makes the handlers of the worker processes: where the window names them without importing them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.workers.loop import Handler


def compile_handler() -> Handler:
    """Compiles, draws up and exports."""
    from app.workers.compile import CompileHandler

    return CompileHandler()


def decode_handler() -> Handler:
    """Has the model, and steps it through the grammar."""
    from app.workers.decode import DecodeHandler

    return DecodeHandler()


def judge_handler() -> Handler:
    """Judges the test strings, and converts grammars."""
    from app.workers.test_runner import StringTestHandler

    return StringTestHandler()


def layout_handler() -> Handler:
    """Lays automata out."""
    from app.workers.layout import LayoutHandler

    return LayoutHandler()
