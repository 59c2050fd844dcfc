"""GBNF, the grammar notation of llama.cpp: text in, rules and findings out."""

from engine.notations.gbnf.parser import parse

__all__ = ["parse"]
