"""Notations: one package for each, behind one `Notation` object; from text to automaton and diagnostics, and editing.

Modules that build automata are imported by the methods that need them: an editor and the command line's help need
neither parsers nor solvers.
"""

from engine.notations.gbnf import Gbnf
from engine.notations.json_schema import JsonSchema
from engine.notations.notation import NotationRegistry
from engine.notations.regex import Regex

__all__ = ["NOTATIONS"]

NOTATIONS = NotationRegistry(Regex(), Gbnf(), JsonSchema())
"""The notations by id."""
