"""A JSON Schema as an automaton for each rule, from its GBNF form.

A schema runs as a product of conditions over one JSON parse, which has far too many configurations to draw. Its GBNF
form has rules with the schema's own names, so a reader is shown that.

White space is permitted between any two tokens of a JSON text. In a drawing it would add a state and an edge at every
comma and colon without information: a drawing omits it, and follows a text without it. Rejected: removing the rule for
white space from the GBNF form. Where spaces are fixed, they are literals there.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from engine.automata.dfa.dfa import ByteDfa
from engine.automata.rtn.rule_automata import RuleAutomata, RuleAutomaton
from engine.compile import CompiledGrammar, compile_grammar
from engine.export.schema.settings import NumberSpelling
from engine.export.tables.rule_automata import automata_of_rules
from engine.export.text.conversion import to_gbnf
from engine.source import CancelToken, Span

_COMPACT: Final = "white space is left out"
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
    cancel: CancelToken | None = None,
) -> SchemaAutomata:
    """Return the automata of a schema's rules, with white space as compiled.

    Args:
        compiled: the schema.
        limit: the largest number of states.
        spelling: the encodings of strings and numbers.
        cancel: cancels the work.

    Raises:
        GrammarError: no grammar without a memory can express the schema, or only one that is too large.
        LimitExceededError: the rules take more than `limit` states.
        CancelledError: `cancel` was used.
    """
    cancel = cancel or CancelToken()
    with cancel.scope():
        conversion = to_gbnf(compiled, spelling, cancel=cancel)
        automata = automata_of_rules(conversion.grammar, limit, compiled.options.limits, cancel)
    return SchemaAutomata(_placed(automata), conversion.notes)


def drawable_automata(compiled: CompiledGrammar, limit: int, *, cancel: CancelToken | None = None) -> SchemaAutomata:
    """Return the automata for drawing: plain spelling, no white space; see `without_white_space` for their texts.

    Raises:
        GrammarError: as `schema_automata`.
        LimitExceededError: the rules take more than `limit` states.
        CancelledError: `cancel` was used.
    """
    options = replace(compiled.options, whitespace="compact")
    compact = compile_grammar(compiled.notation, compiled.source, options, cancel=cancel)
    found = schema_automata(compact, limit, cancel=cancel)
    return found if compiled.options == options else replace(found, notes=(*found.notes, _COMPACT))


def without_white_space(text: bytes) -> bytes:
    """Remove the white space around the tokens of a JSON text, which may be incomplete."""
    return _STRING_OR_BLANK.sub(lambda found: found[1] or b"", text)


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
