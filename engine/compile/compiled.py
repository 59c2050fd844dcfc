"""The result of a compile: a grammar with its diagnostics and its automaton."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

from engine.automata.byte_automaton import DEAD, ByteAutomaton
from engine.automata.dfa.dfa import ByteDfa
from engine.automata.dfa.materialise import minimal_dfa, neighbourhood
from engine.automata.nfa.program import Program
from engine.automata.rtn.rule_automata import RuleAutomata, rule_automata
from engine.automata.rtn.rule_nfas import RuleNfas, rule_nfas
from engine.grammar import Grammar
from engine.grammar.options import CompileOptions
from engine.notations import NOTATIONS
from engine.source import CancelToken, Diagnostic, EngineError, SourceText
from engine.source.arguments import require, require_count

DRAWABLE_STATES = 20_000
"""The default limit of configurations that `materialise` explores."""


class NoFiniteAutomatonError(EngineError):
    """The grammar has no finite automaton, but one was requested."""

    def __init__(self, notation: str) -> None:
        super().__init__(f"errors.compile.stack.{'schema' if NOTATIONS[notation].describes_json else 'rules'}")
        self.notation = notation


class CompiledGrammar:
    """A compiled grammar, as `compile_grammar` returns it.

    Attributes:
        notation: the id of its notation, a key of `NOTATIONS`.
        source: the text that was compiled.
        options: the options of the compile.
        automaton: the lazy automaton, shared by every matcher of this grammar. It grows with use; only one thread at a
            time may use it.
        is_regular: whether the language is regular, so that a finite automaton exists.
        grammar: the rules as written; None for a JSON Schema.
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
        """Return warnings and hints in source order; their messages are built on first use."""
        return self._diagnostics() if callable(self._diagnostics) else self._diagnostics

    @property
    def describes_json(self) -> bool:
        """Return whether its texts are JSON values; see `Notation`."""
        return NOTATIONS[self.notation].describes_json

    @property
    def has_named_rules(self) -> bool:
        """Return whether its text consists of named rules; see `Notation`."""
        return NOTATIONS[self.notation].has_named_rules

    @property
    def is_expression(self) -> bool:
        """Return whether its text is one regular expression; see `Notation`."""
        return NOTATIONS[self.notation].is_expression

    @property
    def is_empty(self) -> bool:
        """Return whether no string matches."""
        return self.automaton.start == DEAD

    def fullmatch(self, data: bytes | str) -> bool:
        """Return whether all of `data` matches; a `str` is encoded in UTF-8, and a lone surrogate matches nothing."""
        require("data", data, (bytes, str), "bytes or a string")
        if isinstance(data, str):
            data = data.encode("utf-8", "surrogatepass")
        return self.automaton.accepts(self.automaton.run(self.automaton.start, data))

    def materialise(self, limit: int = DRAWABLE_STATES, *, cancel: CancelToken | None = None) -> ByteDfa:
        """Return the minimal DFA, for diagrams and exports.

        Raises:
            NoFiniteAutomatonError: the grammar is not regular.
            LimitExceededError: more than `limit` configurations are reachable.
            CancelledError: `cancel` was used.
        """
        require_count("limit", limit)
        if not self.is_regular:
            raise NoFiniteAutomatonError(self.notation)
        return minimal_dfa(self.automaton, limit, cancel)

    @property
    def has_rules(self) -> bool:
        """Return whether the grammar consists of rules, so that `rule_automata` is available."""
        return self._program is not None and bool(self._program.rules)

    def rule_automata(self, limit: int = DRAWABLE_STATES, *, cancel: CancelToken | None = None) -> RuleAutomata:
        """Return the minimal automaton of every rule, with call transitions, even if rules nest without bound.

        Raises:
            NoFiniteAutomatonError: the grammar has no rules; see `has_rules`.
            LimitExceededError: the rules need more than `limit` states before minimisation.
            CancelledError: `cancel` was used.
        """
        if self._program is None or not self._program.rules:
            raise NoFiniteAutomatonError(self.notation)
        return rule_automata(self._program, limit, cancel)

    def rule_nfas(self, limit: int = DRAWABLE_STATES, *, cancel: CancelToken | None = None) -> RuleNfas:
        """Return the nondeterministic automaton of every rule, or that of the whole grammar if it has no rules.

        Raises:
            NoFiniteAutomatonError: the grammar is a schema, or no text matches.
            LimitExceededError: they have more than `limit` states.
            CancelledError: `cancel` was used.
        """
        if self._program is None:
            raise NoFiniteAutomatonError(self.notation)
        return rule_nfas(self._program, limit, cancel)

    def neighbourhood(self, data: bytes, *, radius: int = 2, limit: int = 60) -> ByteDfa:
        """Return the part of the automaton around the configuration after `data`, to draw if the whole is too large.

        Args:
            data: the text so far.
            radius: the largest distance from that configuration, in transitions.
            limit: the largest number of states.

        Returns:
            An automaton whose start state is that configuration; an empty one if `data` is not a prefix of a match.
        """
        configuration = self.automaton.run(self.automaton.start, data)
        if configuration == DEAD:
            return ByteDfa(None, (), ())
        return neighbourhood(self.automaton, configuration, radius, limit)
