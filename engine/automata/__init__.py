"""Byte automata: NFA programs and their lazy determinisation, DFA tables, recursive transition networks."""

from typing import Final

AUTOMATON_SUFFIXES: Final = (".jff", ".dot", ".gv")
"""The names of files of automata that other programs wrote; see `engine.export.automaton_files`."""
