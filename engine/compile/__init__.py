"""Compilation of a grammar in any notation to an automaton.

Modules that need numpy are imported on first use: the window names options but compiles nothing itself.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from engine.grammar.options import CompileOptions
from engine.notations import NOTATIONS

if TYPE_CHECKING:
    from engine.compile.compiled import CompiledGrammar
    from engine.compile.compiler import compile_grammar

_MODULE_OF = {"CompiledGrammar": "engine.compile.compiled", "compile_grammar": "engine.compile.compiler"}

__all__ = ["NOTATIONS", "CompileOptions", "CompiledGrammar", "compile_grammar"]


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value
