"""The base package of the engine: source texts, spans, diagnostics, limits and cancellation."""

from engine.source.cancel import (
    CancelToken,
    check_cancelled,
    checkpoint,
    counted_cache,
    is_work_limited,
    limited_work,
    work_turns,
)
from engine.source.diagnostics import diagnostic
from engine.source.errors import CancelledError, EngineError, InvariantError, TimeUpError
from engine.source.limits import LimitExceededError, Limits
from engine.source.similar import similar_words
from engine.source.text import Diagnostic, GrammarError, Severity, SourceText, Span

__all__ = [
    "CancelToken",
    "CancelledError",
    "Diagnostic",
    "EngineError",
    "GrammarError",
    "InvariantError",
    "LimitExceededError",
    "Limits",
    "Severity",
    "SourceText",
    "Span",
    "TimeUpError",
    "check_cancelled",
    "checkpoint",
    "counted_cache",
    "diagnostic",
    "is_work_limited",
    "limited_work",
    "similar_words",
    "work_turns",
]
