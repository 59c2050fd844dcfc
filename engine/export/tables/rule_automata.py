"""The automata of a grammar's rules, each under the name of its rule; of a JSON Schema, those of its GBNF form.

A schema runs as a product of conditions over one JSON parse, which has far too many configurations to draw. Its GBNF
form has rules with the schema's own names, so a reader is shown that.

White space is permitted between any two tokens of a JSON text. In a drawing it would add a state and an edge at every
comma and colon without information: a drawing omits it, and follows a text without it. Rejected: removing the rule for
white space from the GBNF form. Where spaces are fixed, they are literals there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Final
from weakref import WeakKeyDictionary

from engine.automata.dfa.dfa import ByteDfa
from engine.automata.nfa.program import Program, assemble
from engine.automata.rtn.rule_automata import RuleAutomata, RuleAutomaton, explore_rules, rule_automata
from engine.automata.rtn.rule_nfas import rule_nfas
from engine.compile import CompiledGrammar, compile_grammar
from engine.export.schema.names import shown_names
from engine.export.schema.settings import NumberSpelling
from engine.export.text.conversion import rules_of
from engine.grammar import Grammar, Rule, RuleReference
from engine.grammar.simplify import simplify_grammar
from engine.schema_automaton.pushdown.automaton import JsonAutomaton
from engine.source import CancelToken, Limits, SourceText, Span
from engine.source.catalogue import catalogue_text
from engine.source.collection import no_collection


def automata_of_rules(
    grammar: Grammar, most_states: int, limits: Limits, cancel: CancelToken | None = None
) -> RuleAutomata:
    """Return an automaton for each rule, the start first; none if no text matches.

    Args:
        grammar: the rules.
        most_states: the largest number of states in total.
        limits: the limits of the assembly.
        cancel: cancels the work.

    Raises:
        LimitExceededError: they have more than `most_states` states in total.
        CancelledError: `cancel` was used.
    """
    with no_collection():
        program = _program(grammar, limits)
        return RuleAutomata(()) if program is None else rule_automata(program, most_states, cancel)


def count_states(grammar: Grammar, most_states: int, limits: Limits, cancel: CancelToken | None = None) -> None:
    """Check that `automata_of_rules` stays within its number of states, without minimising.

    Args:
        grammar: the rules.
        most_states: the largest number of states.
        limits: the limits of the grammar.
        cancel: cancels the work.

    Raises:
        LimitExceededError, CancelledError: as `automata_of_rules`.
    """
    with no_collection():
        if (program := _program(grammar, limits)) is not None:
            explore_rules(program, most_states, cancel)


def _program(grammar: Grammar, limits: Limits) -> Program | None:
    """Return the instructions of a grammar, which keep the names of its rules.

    The assembler treats a grammar of one rule as a node without a name, and inlines rules that do not nest. A second,
    unused rule that refers to the start keeps the start a named rule.
    """
    name = "unused"
    while any(rule.name == name for rule in grammar.rules):
        name += "-"
    both = Grammar((*grammar.rules, Rule(name, RuleReference(grammar.start))), grammar.start)
    return assemble(simplify_grammar(both), limits)


# ---------------------------------------------------------------------- schemas

_WITHOUT_BLANKS: Final[WeakKeyDictionary[CompiledGrammar, CompiledGrammar]] = WeakKeyDictionary()
_STRING_OR_BLANK: Final = re.compile(rb'("(?:[^"\\]|\\.)*"?)|[ \t\n\r]+', re.DOTALL)


@dataclass(frozen=True, slots=True)
class SchemaAutomata:
    """The automata of a schema's rules.

    Attributes:
        automata: the rules; each state and edge has the source position of its rule in the schema, a call that of the
            called rule.
        notes: which texts of the schema they lack, a sentence each; empty if none.
    """

    automata: RuleAutomata
    notes: tuple[str, ...]


def schema_automata(
    compiled: CompiledGrammar,
    limit: int,
    spelling: NumberSpelling = NumberSpelling.PLAIN,
    *,
    is_named: bool = True,
    cancel: CancelToken | None = None,
) -> SchemaAutomata:
    """Return the automata of a schema's rules, with white space as compiled.

    Args:
        compiled: the schema.
        limit: the largest number of states.
        spelling: the encodings of strings and numbers.
        is_named: whether names and source positions are for people; without, a schema with many copies is faster.
        cancel: cancels the work.

    Raises:
        GrammarError: no grammar without a memory can express the schema, or only one that is too large.
        LimitExceededError: the rules take more than `limit` states.
        CancelledError: `cancel` was used.
    """
    cancel = cancel or CancelToken()
    with cancel.scope():
        automaton = compiled.automaton
        assert isinstance(automaton, JsonAutomaton)
        if is_named and len(automaton.solver.arena.definitions) > limit:
            # Probably there are too many states. If copies are merged first, they are counted in half the time.
            merged = rules_of(compiled, spelling, cancel, merges_copies=True)
            count_states(merged.grammar, limit, compiled.options.limits, cancel)
        rules = rules_of(compiled, spelling, cancel, merges_copies=not is_named)
        automata = automata_of_rules(rules.grammar, limit, compiled.options.limits, cancel)
    return SchemaAutomata(_placed(automata), rules.notes)


def drawable_automata(compiled: CompiledGrammar, limit: int, *, cancel: CancelToken | None = None) -> SchemaAutomata:
    """Return the automata for drawing: plain spelling, no white space; see `without_white_space` for their texts.

    Rules that the GBNF form tells apart by a number alone have the names of their paths.

    Args:
        compiled: the schema.
        limit: the largest number of states.
        cancel: cancels the work.

    Raises:
        GrammarError: as `schema_automata`.
        LimitExceededError: the rules take more than `limit` states.
        CancelledError: `cancel` was used.
    """
    compact = without_blanks(compiled, cancel)
    found = schema_automata(compact, limit, cancel=cancel)
    found = replace(found, automata=_with_shown_names(found.automata, compiled.source))
    return found if compact is compiled else _without_blanks_noted(found)


def drawable_nfas(compiled: CompiledGrammar, limit: int, *, cancel: CancelToken | None = None) -> SchemaAutomata:
    """Return the nondeterministic automata of what `drawable_automata` draws.

    Args:
        compiled: the schema.
        limit: the largest number of states.
        cancel: cancels the work.

    Raises:
        GrammarError, LimitExceededError, CancelledError: as `drawable_automata`.
    """
    cancel = cancel or CancelToken()
    compact = without_blanks(compiled, cancel)
    with cancel.scope(), no_collection():
        rules = rules_of(compact, NumberSpelling.PLAIN, cancel)
        program = _program(rules.grammar, compiled.options.limits)
        automata = RuleAutomata(()) if program is None else rule_nfas(program, limit, cancel).automata
    found = SchemaAutomata(_with_shown_names(_placed(automata), compiled.source), rules.notes)
    return found if compact is compiled else _without_blanks_noted(found)


def _without_blanks_noted(found: SchemaAutomata) -> SchemaAutomata:
    return replace(found, notes=(*found.notes, catalogue_text("export.note.fragment.compact")))


def without_blanks(compiled: CompiledGrammar, cancel: CancelToken | None = None) -> CompiledGrammar:
    """Return the schema compiled without white space between tokens; cached as long as the grammar exists."""
    options = replace(compiled.options, whitespace="compact")
    if compiled.options == options:
        return compiled
    if compiled not in _WITHOUT_BLANKS:
        _WITHOUT_BLANKS[compiled] = compile_grammar(compiled.notation, compiled.source, options, cancel=cancel)
    return _WITHOUT_BLANKS[compiled]


def without_white_space(text: bytes) -> bytes:
    """Remove the white space around the tokens of a JSON text, which may be incomplete."""
    return _STRING_OR_BLANK.sub(lambda found: found[1] or b"", text)


def offsets_without_white_space(text: bytes, offsets: Iterable[int]) -> dict[int, int]:
    """Return where offsets of a JSON text are in what `without_white_space` leaves of it; within a blank, its start."""
    blanks = [found.span() for found in _STRING_OR_BLANK.finditer(text) if found[1] is None]
    found, removed, at = dict[int, int](), 0, 0
    for offset in sorted(offsets):
        while at < len(blanks) and blanks[at][1] <= offset:
            removed, at = removed + blanks[at][1] - blanks[at][0], at + 1
        inside = max(0, offset - blanks[at][0]) if at < len(blanks) else 0
        found[offset] = offset - removed - inside
    return found


def _with_shown_names(automata: RuleAutomata, source: SourceText) -> RuleAutomata:
    """Return the automata of a schema with the names that are shown of its rules."""
    shown = shown_names({rule.name: rule.span for rule in automata.rules}, source)
    if not shown:
        return automata
    return RuleAutomata(
        tuple(
            replace(
                rule,
                name=shown.get(rule.name, rule.name),
                calls=tuple(replace(call, rule=shown.get(call.rule, call.rule)) for call in rule.calls),
            )
            for rule in automata.rules
        )
    )


def _placed(automata: RuleAutomata) -> RuleAutomata:
    """Add source positions: the parts of a rule have no source of their own, so they get the rule's."""
    spans: dict[str, tuple[Span, ...]] = {rule.name: (rule.span,) if rule.span.end else () for rule in automata.rules}
    return RuleAutomata(tuple(_placed_rule(rule, spans) for rule in automata.rules))


def _placed_rule(rule: RuleAutomaton, spans: dict[str, tuple[Span, ...]]) -> RuleAutomaton:
    own = spans[rule.name]
    return replace(
        rule,
        dfa=ByteDfa(
            rule.dfa.start,
            tuple(replace(state, spans=own) for state in rule.dfa.states),
            tuple(replace(edge, spans=own) for edge in rule.dfa.edges),
        ),
        calls=tuple(replace(call, spans=spans[call.rule] or own) for call in rule.calls),
    )
