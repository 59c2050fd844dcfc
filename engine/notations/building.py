"""Builds the automaton of a grammar that consists of rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.automata.nfa.lazy_automaton import LazyAutomaton
from engine.automata.nfa.program import assemble
from engine.automata.nfa.recursion import nests_without_bound
from engine.grammar import Grammar
from engine.grammar.simplify import simplify_grammar
from engine.notations.notation import Built
from engine.source import CancelToken, Diagnostic, Limits, limited_work

READING: Final = "work of reading the grammar"
SEARCHING: Final = "work of the search for a match"
READING_SHARE: Final = 4
"""The factor by which reading a text may exceed the limit of work: its passes are many, short and linear."""


def build_rules(
    parse: Callable[[], tuple[Grammar, tuple[Diagnostic, ...]]], limits: Limits, cancel: CancelToken
) -> Built:
    """Parse a text to rules and build their automaton.

    Args:
        parse: returns the rules, and warnings and hints in source order.
        limits: the limits of the compile.
        cancel: checked regularly; receives the progress.

    Raises:
        GrammarError, LimitExceededError, CancelledError: as `Notation.build`.
    """
    with limited_work(READING, READING_SHARE * limits.work):
        cancel.begin("parsing")
        grammar, diagnostics = parse()
        cancel.begin("assembling")
        program = assemble(simplify_grammar(grammar), limits)
    with limited_work(SEARCHING, limits.work):
        is_regular = program is None or not nests_without_bound(program)
        cancel.begin("looking for a match")
        automaton = LazyAutomaton(program, limits, cancel)
    return Built(automaton, diagnostics, is_regular, grammar, program)
