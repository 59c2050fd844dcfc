"""Builds automata from rules; and the result of `Notation.build`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from engine.automata.byte_automaton import ByteAutomaton
from engine.automata.nfa.lazy_automaton import LazyAutomaton
from engine.automata.nfa.program import Program, assemble
from engine.automata.nfa.recursion import nests_without_bound
from engine.grammar import Grammar
from engine.grammar.simplify import simplify_grammar
from engine.source import CancelToken, Diagnostic, Limits, limited_work

READING: Final = "errors.limit.reading_work"
SEARCHING: Final = "errors.limit.searching_work"
READING_SHARE: Final = 4
"""The factor by which reading a text may exceed the limit of work: its passes are many, short and linear."""


@dataclass(frozen=True, slots=True)
class Built:
    """The result of `Notation.build`; `CompiledGrammar` describes the fields.

    Attributes:
        automaton: the automaton.
        diagnostics: warnings and hints in source order, or a function that builds them.
        is_regular: whether the language is regular.
        grammar: the rules as written; None for a notation that describes JSON values.
        program: the instructions that the automaton runs; None if there are none.
    """

    automaton: ByteAutomaton
    diagnostics: tuple[Diagnostic, ...] | Callable[[], tuple[Diagnostic, ...]]
    is_regular: bool
    grammar: Grammar | None = None
    program: Program | None = None


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
        cancel.begin("progress.parsing")
        grammar, diagnostics = parse()
        cancel.begin("progress.assembling")
        program = assemble(simplify_grammar(grammar), limits)
    with limited_work(SEARCHING, limits.work):
        is_regular = program is None or not nests_without_bound(program)
        cancel.begin("progress.matching")
        automaton = LazyAutomaton(program, limits, cancel)
    return Built(automaton, diagnostics, is_regular, grammar, program)
