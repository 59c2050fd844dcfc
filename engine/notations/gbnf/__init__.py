"""GBNF, the grammar notation of llama.cpp: from text to rules and findings."""

from engine.notations.gbnf.parser import parse

__all__ = ["parse"]
