"""A JSON Schema as an automaton for each rule, by way of its GBNF form.

A schema runs as a product of conditions over one JSON parse, which has far too
many configurations to be drawn. Its GBNF form has rules with the schema's own
names, so that is what a reader is shown.

Between any two tokens of a JSON text there may be white space. Drawn, that is
a state and an edge more at every comma and colon, and says nothing: a drawing
leaves it out, and follows a text without it. Rejected: taking the rule for
white space out of the GBNF form. Where spaces are fixed, they are written out.
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
    """A schema by its rules.

    Attributes:
        automata: those of the rules; each state and edge has the place of its rule in the schema, a call that of the
            rule it calls.
        notes: which texts of the schema they do not hold, a sentence each; none where they hold all.
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
    """The automata of a schema's rules, white space as it was compiled with.

    Raises:
        GrammarError: no grammar without a memory can say what it asks for, or only one that is too large.
        LimitExceededError: the rules take more than `limit` states.
        CancelledError: `cancel` was used.
    """
    cancel = cancel or CancelToken()
    with cancel.at_work():
        conversion = to_gbnf(compiled, spelling, cancel=cancel)
        automata = automata_of_rules(conversion.grammar, limit, compiled.options.limits, cancel)
    return SchemaAutomata(_placed(automata), conversion.notes)


def drawable_automata(compiled: CompiledGrammar, limit: int, *, cancel: CancelToken | None = None) -> SchemaAutomata:
    """The same to be drawn: in the plain spelling, and without white space; `without_white_space` is for its texts.

    Raises:
        GrammarError: as `schema_automata` does.
        LimitExceededError: the rules take more than `limit` states.
        CancelledError: `cancel` was used.
    """
    options = replace(compiled.options, whitespace="compact")
    compact = compile_grammar(compiled.notation, compiled.source, options, cancel=cancel)
    found = schema_automata(compact, limit, cancel=cancel)
    return found if compiled.options == options else replace(found, notes=(*found.notes, _COMPACT))


def without_white_space(text: bytes) -> bytes:
    """The beginning of a JSON text without the white space around its tokens."""
    return _STRING_OR_BLANK.sub(lambda found: found[1] or b"", text)


def _placed(automata: RuleAutomata) -> RuleAutomata:
    """All with its place: what a rule is made of was written by nobody, so it has that of the rule."""
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
