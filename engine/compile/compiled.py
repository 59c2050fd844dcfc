"""A grammar that compiled."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from engine.automata.byte_automaton import DEAD, ByteAutomaton
from engine.automata.dfa.dfa import ByteDfa
from engine.automata.dfa.materialise import minimal_dfa, neighbourhood
from engine.automata.nfa.program import Program
from engine.automata.rtn.rule_automata import RuleAutomata, rule_automata
from engine.grammar import Grammar
from engine.grammar.options import CompileOptions
from engine.source import CancelToken, Diagnostic, EngineError, SourceText
from engine.source.arguments import require, require_count

DRAWABLE_STATES = 20_000
"""How many configurations `materialise` explores unless told otherwise."""


class NoFiniteAutomatonError(EngineError):
    """A whole automaton was asked for of a grammar that has none."""

    def __init__(self, notation: str) -> None:
        kind = "a JSON Schema" if notation == "json_schema" else "a grammar whose rules nest without bound"
        super().__init__(f"{kind} runs on a stack, and has no finite automaton to write down")
        self.notation = notation

    def __reduce__(self) -> tuple[object, ...]:
        return NoFiniteAutomatonError, (self.notation,)


class CompiledGrammar:
    """What `compile_grammar` returns: the source, the findings, and the automaton that runs.

    Attributes:
        notation: one of `NOTATIONS`.
        source: the text that was compiled.
        options: what the compile was told.
        automaton: the runtime, shared by every matcher of this grammar. It grows as it is used, in one thread.
        is_regular: whether a finite automaton suffices.
        grammar: the rules as they are written; None for a JSON Schema.
    """

    def __init__(
        self,
        notation: str,
        source: SourceText,
        options: CompileOptions,
        diagnostics: tuple[Diagnostic, ...] | Callable[[], tuple[Diagnostic, ...]],
        automaton: ByteAutomaton,
        *,
        is_regular: bool,
        grammar: Grammar | None = None,
        program: Program | None = None,
    ) -> None:
        self.notation = notation
        self.source = source
        self.options = options
        self._diagnostics = diagnostics
        self.automaton = automaton
        self.is_regular = is_regular
        self.grammar = grammar
        self._program = program

    @cached_property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Warnings and hints, in source order; they are put into words when they are first read."""
        return self._diagnostics() if callable(self._diagnostics) else self._diagnostics

    @property
    def is_empty(self) -> bool:
        """Whether no string matches."""
        return self.automaton.start == DEAD

    def fullmatch(self, data: bytes | str) -> bool:
        """Whether the whole of `data` matches; a `str` is taken as UTF-8, and a lone surrogate matches nothing."""
        require("data", data, (bytes, str), "bytes or a string")
        if isinstance(data, str):
            data = data.encode("utf-8", "surrogatepass")
        return self.automaton.accepts(self.automaton.run(self.automaton.start, data))

    def materialise(self, limit: int = DRAWABLE_STATES, *, cancel: CancelToken | None = None) -> ByteDfa:
        """The minimal automaton, to draw and to export.

        Raises:
            NoFiniteAutomatonError: the grammar is not regular.
            LimitExceededError: more than `limit` configurations can be reached.
            CancelledError: `cancel` was used.
        """
        require_count("limit", limit)
        if not self.is_regular:
            raise NoFiniteAutomatonError(self.notation)
        return minimal_dfa(self.automaton, limit, cancel)

    @property
    def has_rules(self) -> bool:
        """Whether the text is made of rules, so that `rule_automata` can tell them apart."""
        return self._program is not None and bool(self._program.rules)

    def rule_automata(self, limit: int = DRAWABLE_STATES, *, cancel: CancelToken | None = None) -> RuleAutomata:
        """The minimal automaton of every rule, with call edges; also where rules nest without bound.

        Raises:
            NoFiniteAutomatonError: the grammar is not made of rules; ask `has_rules`.
            LimitExceededError: the rules take more than `limit` states before minimisation.
            CancelledError: `cancel` was used.
        """
        if self._program is None or not self._program.rules:
            raise NoFiniteAutomatonError(self.notation)
        return rule_automata(self._program, limit, cancel)

    def neighbourhood(self, data: bytes, *, radius: int = 2, limit: int = 60) -> ByteDfa:
        """A part of the automaton around where `data` leads, for one that is too large to draw whole.

        The place itself is the start of the result. It is empty where `data` is no prefix of a match.
        """
        configuration = self.automaton.run(self.automaton.start, data)
        if configuration == DEAD:
            return ByteDfa(None, (), ())
        return neighbourhood(self.automaton, configuration, radius, limit)
