"""The engine of Turnstile: compiles grammars to automata, and automata to token masks. It does not depend on Qt.

The names exported here are the stable API. They are imported on first use, so that
`import engine` is fast and loads neither torch nor numba.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.analysis import dead_ends
    from engine.compile import NOTATIONS, CompiledGrammar, CompileOptions, compile_grammar
    from engine.masking import clear_caches
    from engine.matching import Explanation, Matcher, warm
    from engine.source import (
        CancelledError,
        CancelToken,
        Diagnostic,
        EngineError,
        GrammarError,
        LimitExceededError,
        Limits,
        Severity,
        SourceText,
        Span,
    )
    from engine.vocabulary import Vocabulary

_MODULES = {
    "engine.compile": ("NOTATIONS", "CompileOptions", "CompiledGrammar", "compile_grammar"),
    "engine.analysis": ("dead_ends",),
    "engine.masking": ("clear_caches",),
    "engine.matching": ("Explanation", "Matcher", "warm"),
    "engine.source": (
        "CancelToken",
        "CancelledError",
        "Diagnostic",
        "EngineError",
        "GrammarError",
        "LimitExceededError",
        "Limits",
        "Severity",
        "SourceText",
        "Span",
    ),
    "engine.vocabulary": ("Vocabulary",),
}
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}

__all__ = [
    "NOTATIONS",
    "CancelToken",
    "CancelledError",
    "CompileOptions",
    "CompiledGrammar",
    "Diagnostic",
    "EngineError",
    "Explanation",
    "GrammarError",
    "LimitExceededError",
    "Limits",
    "Matcher",
    "Severity",
    "SourceText",
    "Span",
    "Vocabulary",
    "clear_caches",
    "compile_grammar",
    "dead_ends",
    "warm",
]


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'engine' has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value
