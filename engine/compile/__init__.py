"""Notation in, automaton out.

What needs numpy is loaded with its first use: the window names options, and compiles nothing itself.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from engine.grammar.options import NOTATIONS, CompileOptions

if TYPE_CHECKING:
    from engine.compile.compiled import CompiledGrammar
    from engine.compile.compiler import compile_grammar

_HOME_OF = {"CompiledGrammar": "engine.compile.compiled", "compile_grammar": "engine.compile.compiler"}

__all__ = ["NOTATIONS", "CompileOptions", "CompiledGrammar", "compile_grammar"]


def __getattr__(name: str) -> object:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value
