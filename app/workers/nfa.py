"""Find what the automaton pane shows of a grammar's nondeterministic automaton, and where an output is in it.

Each state of the minimal automaton corresponds to one or more sets of NFA states, as in the subset construction: the
states in which the texts that lead to it end. To find the sets, one text is followed for each pair of a minimal state
and a configuration of the grammar, which has one set.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.catalogue import ui_text
from app.graph.match.rules import rule_charts
from app.workers.bounded_work import TooMuchWorkError, bounded_work
from app.workers.grammar_position import tracked_positions
from app.workers.requests.compile import NfaDrawing, NfaStates
from engine.automata.byte_automaton import DEAD
from engine.automata.nfa.lazy_automaton import LazyAutomaton
from engine.automata.rtn.rule_automata import RuleAutomata
from engine.automata.rtn.rule_nfas import RuleNfas
from engine.automata.rtn.rule_positions import RulePositions
from engine.automata.rtn.rule_tracker import RuleTracker
from engine.export import drawable_nfas
from engine.source import CancelToken, GrammarError, LimitExceededError

if TYPE_CHECKING:
    from engine.automata.dfa.dfa import ByteDfa
    from engine.compile import CompiledGrammar

NFA_STATES = 2_000  # beyond, there is no drawing: the pane draws at most so many states of any automaton
_NFA_WORK = 1_000_000
_MOST_PAIRS = 1_000


class NfaReader:
    """Finds the nondeterministic automaton of one grammar, and outputs in it.

    Args:
        grammar: the grammar.
        cancel: checked regularly.
    """

    def __init__(self, grammar: CompiledGrammar, cancel: CancelToken) -> None:
        self.grammar = grammar
        self._why_not = ""
        self._notes: tuple[str, ...] = ()
        self._nfas: RuleNfas | None = None  # of a grammar that runs as a program
        try:
            with bounded_work(_NFA_WORK):
                self._automata = self._read(cancel)
        except GrammarError as error:
            self._automata, self._why_not = RuleAutomata(()), error.diagnostics[0].message
        except LimitExceededError:
            self._automata, self._why_not = RuleAutomata(()), ui_text("workers.compile.nfa_states", limit=NFA_STATES)
        except TooMuchWorkError:
            self._automata, self._why_not = RuleAutomata(()), ui_text("workers.compile.nfa_work")
        self._tracker = RuleTracker(self._automata)

    def _read(self, cancel: CancelToken) -> RuleAutomata:
        if self.grammar.describes_json:
            found = drawable_nfas(self.grammar, NFA_STATES, cancel=cancel)
            self._notes = found.notes
            return found.automata
        if self.grammar.is_empty:
            return RuleAutomata(())
        self._nfas = self.grammar.rule_nfas(NFA_STATES, cancel=cancel)
        return self._nfas.automata

    def drawing(self, dfa: ByteDfa | None, cancel: CancelToken) -> NfaDrawing:
        """Return the drawing.

        Args:
            dfa: the minimal automaton, if the window draws it whole.
            cancel: checked regularly.
        """
        if not self._automata.rules:
            return NfaDrawing(None, self._why_not or ui_text("automaton.page.no_text"))
        is_schema = self.grammar.describes_json
        source = self.grammar.source
        charts = rule_charts(self._automata, self._notes, folds_texts=is_schema, source=source, merges=False)
        return NfaDrawing(charts, members=() if dfa is None else self._members(dfa, cancel))

    def positions(self, output: bytes, cancel: CancelToken) -> RulePositions | None:
        """Return the states after an output; None if they are not known."""
        if not self._automata.rules or self.grammar.automaton.token_elements:
            return None
        if self._nfas is not None and self._nfas.has_conditions:
            automaton = self.grammar.automaton
            return self._after_conditions(self._nfas, automaton.run(automaton.start, output))
        return tracked_positions(self.grammar, self._tracker, output, cancel)

    def _after_conditions(self, nfas: RuleNfas, configuration: int) -> RulePositions:
        """Return the states that read or end: which ε edges were taken depends on lookarounds."""
        automaton = self.grammar.automaton
        assert isinstance(automaton, LazyAutomaton)
        if configuration == DEAD:
            return RulePositions()
        found = (nfas.states.get(state) for state in automaton.rule_states(configuration))
        reading = frozenset(state for state in found if state is not None)
        return RulePositions(reading, accepting=automaton.accepts(configuration))

    def _members(self, dfa: ByteDfa, cancel: CancelToken) -> tuple[tuple[NfaStates, ...], ...]:
        """Return the sets of NFA states for each state of the minimal automaton; none if there are too many."""
        automaton = self.grammar.automaton
        if dfa.start is None or self.grammar.describes_json:
            return ()
        found: list[dict[NfaStates, None]] = [{} for _ in dfa.states]
        seen: set[tuple[int | None, int]] = {(dfa.start, automaton.start)}
        pending = [(dfa.start, automaton.start, b"")]
        while pending:
            cancel.check()
            state, configuration, text = pending.pop()
            positions = self.positions(text, cancel)
            if positions is None or len(seen) > _MOST_PAIRS:
                return ()
            found[state][positions.reading] = None
            for byte in automaton.classes.representatives:
                target = dfa.step(state, byte)
                pair = target, automaton.run(configuration, bytes((byte,)))
                if target is not None and pair not in seen:
                    seen.add(pair)
                    pending.append((target, pair[1], text + bytes((byte,))))
        return tuple(tuple(sets) for sets in found)
