"""Exports, as the two groups that make them share it.

The file is written where it is made: an index can take megabytes, of which the
window shows the beginning.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from app.workers.messages import ExportAnswer, ExportRequest
from engine.source import CancelledError, EngineError

PREVIEW_LENGTH = 12_000  # characters


def export(request: ExportRequest, make: Callable[[], str]) -> ExportAnswer:
    """Make an export and write it where it was asked for."""
    try:
        text = make()
        data = text.encode()
        if request.path:
            Path(request.path).write_bytes(data)
    except CancelledError:
        raise
    except EngineError as error:
        return ExportAnswer(request.target, request.path, error=f"Nothing to export: {error}")
    except OSError as error:
        name = Path(request.path).name
        return ExportAnswer(request.target, request.path, error=f"{name} cannot be written: {error.strerror or error}")
    return ExportAnswer(request.target, request.path, text[:PREVIEW_LENGTH], len(data))


def sentence(error: EngineError) -> str:
    """An error's text as a sentence that begins with a capital letter."""
    text = str(error) or type(error).__name__
    return text[0].upper() + text[1:]
