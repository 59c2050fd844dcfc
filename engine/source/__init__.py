"""The base package of the engine: source texts, spans, diagnostics, limits and cancellation."""

from engine.source.cancel import CancelToken, check_cancelled, checkpoint, is_work_limited, limited_work, work_turns
from engine.source.diagnostic import Diagnostic, Severity
from engine.source.errors import (
    CancelledError,
    EngineError,
    GrammarError,
    InvariantError,
    LimitExceededError,
)
from engine.source.limits import Limits
from engine.source.similar import similar_words
from engine.source.text import SourceText, Span

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
    "check_cancelled",
    "checkpoint",
    "is_work_limited",
    "limited_work",
    "similar_words",
    "work_turns",
]
