"""Factories of the worker processes' handlers, importable without their dependencies."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.workers.loop import Handler


def compile_handler() -> Handler:
    """Create the handler that compiles, lays out rules and exports."""
    from app.workers.compile import CompileHandler

    return CompileHandler()


def decode_handler() -> Handler:
    """Create the handler that has the model and steps it through the grammar."""
    from app.workers.decode import DecodeHandler

    return DecodeHandler()


def engines_handler() -> Handler:
    """Create the handler that asks other engines and servers."""
    from app.workers.engines import EnginesHandler

    return EnginesHandler()


def judge_handler() -> Handler:
    """Create the handler that judges test strings and converts grammars."""
    from app.workers.judge import StringTestHandler

    return StringTestHandler()


def layout_handler() -> Handler:
    """Create the handler that computes layouts."""
    from app.workers.layout import LayoutHandler

    return LayoutHandler()
