"""Notation in, automaton out."""

from engine.compile.compiled import CompiledGrammar
from engine.compile.compiler import compile_grammar
from engine.compile.options import NOTATIONS, CompileOptions

__all__ = ["NOTATIONS", "CompileOptions", "CompiledGrammar", "compile_grammar"]
