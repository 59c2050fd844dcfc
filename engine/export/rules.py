"""A grammar whose rules nest, or a JSON Schema: an automaton for each rule, as Graphviz text and as JSON.

The JSON file, version 1:

    format, version   "turnstile-rule-automata", 1
    notation, source  the grammar, as written
    notes             which of its texts the rules do not hold, a sentence each; of a JSON Schema only
    rules             the start rule first; of each
        name          its name, by which others call it
        states        how many; they are numbered from 0, which is the start
        accepting     the states where the rule may be over, so where it returns to its caller
        edges         [{"source", "target", "bytes": [[first, last]]}]
        calls         [{"source", "target", "rule"}]: from one state to the other by whatever that rule matches
        tokens        [{"source", "target", "names", "ids", "negated"}]: by one token taken whole

A text matches where a run through the first rule reads it to the end. No tokenizer is
part of it: which tokens may come depends on the stack of callers, for which there is no table.
"""

from __future__ import annotations

import json
from typing import Final

from engine.automata.labels import call_label, label, token_label
from engine.automata.rules import RuleAutomata, RuleAutomaton
from engine.compile import CompiledGrammar
from engine.compile.compiled import DRAWABLE_STATES
from engine.export.dot import MOST_STATES, quoted, title, to_dot
from engine.export.json_characters import Spelling
from engine.export.schema_automata import drawable_automata, schema_automata
from engine.source import CancelToken, SourceText

FORMAT = "turnstile-rule-automata"
VERSION = 1

_SCHEMA: Final = "json_schema"


def is_exported_by_rules(grammar: CompiledGrammar) -> bool:
    """Whether a grammar is written as an automaton for each rule, since one alone does not suffice."""
    return grammar.notation == _SCHEMA or (grammar.has_rules and not grammar.is_regular)


def graph_of(grammar: CompiledGrammar, *, cancel: CancelToken | None = None) -> str:
    """What a grammar compiles to as Graphviz text: its automaton, or that of each rule.

    A JSON Schema is drawn in the plain spelling and without white space; the heading says so.

    Raises:
        GrammarError: it is a schema that rules cannot say.
        LimitExceededError: it is too large to be drawn.
        CancelledError: it was cancelled.
    """
    if grammar.notation == _SCHEMA:
        found = drawable_automata(grammar, MOST_STATES, cancel=cancel)
        return rules_to_dot(found.automata, grammar.source, found.notes)
    if is_exported_by_rules(grammar):
        return rules_to_dot(grammar.rule_automata(MOST_STATES, cancel=cancel), grammar.source)
    return to_dot(grammar.materialise(MOST_STATES, cancel=cancel), grammar.source)


def rules_to_dot(automata: RuleAutomata, source: SourceText, notes: tuple[str, ...] = ()) -> str:
    """A digraph with a cluster for each rule, under the grammar's text and the notes.

    Double circles: the rule may be over; dashed edges: a call, in angle quotes; bold ones: a token taken whole.
    """
    lines = [
        "digraph grammar {",
        "  rankdir=LR;",
        f"  label={quoted(chr(10).join((title(source), *notes)))};",
        "  labelloc=t;",
        "  node [shape=circle];",
        "  edge [arrowsize=0.7];",
    ]
    for number, rule in enumerate(automata.rules):
        lines += [f"  subgraph cluster_{number} {{", *_cluster(rule, f"r{number}"), "  }"]
    return "\n".join([*lines, "}", ""])


def _cluster(rule: RuleAutomaton, name: str) -> list[str]:
    def edge(source: int, target: int, text: str, style: str = "") -> str:
        return f"    {name}s{source} -> {name}s{target} [label={quoted(text)}{style}];"

    lines = [
        f"    label={quoted(rule.name)};",
        "    labeljust=l;",
        f'    {name} [shape=point, label=""];',
        f"    {name} -> {name}s0;",
    ]
    for state in rule.dfa.states:
        shape = ", shape=doublecircle" if state.accepting else ""
        lines.append(f'    {name}s{state.id} [label="{state.id}"{shape}];')
    lines += [edge(e.source, e.target, label(e.ranges)) for e in rule.dfa.edges]
    lines += [edge(call.source, call.target, call_label(call.rule), ", style=dashed") for call in rule.calls]
    lines += [edge(taken.source, taken.target, token_label(taken.tokens), ", style=bold") for taken in rule.tokens]
    return lines


def rules_to_json(
    grammar: CompiledGrammar, spelling: Spelling = Spelling.PLAIN, *, cancel: CancelToken | None = None
) -> str:
    """The file's text; the same grammar always gives the same text.

    Args:
        grammar: one that `is_exported_by_rules`.
        spelling: of a schema: how strings and numbers are spelled.
        cancel: stops the work.

    Raises:
        GrammarError: it is a schema that rules cannot say.
        NoFiniteAutomatonError: the grammar is not made of rules.
        LimitExceededError: the automata are too large.
        CancelledError: it was cancelled.
    """
    notes: tuple[str, ...] = ()
    if grammar.notation == _SCHEMA:
        found = schema_automata(grammar, DRAWABLE_STATES, spelling, cancel=cancel)
        automata, notes = found.automata, found.notes
    else:
        automata = grammar.rule_automata(cancel=cancel)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "notation": grammar.notation,
        "source": grammar.source.text,
        "notes": notes,
        "rules": [_rule(rule) for rule in automata.rules],
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")) + "\n"


def _rule(rule: RuleAutomaton) -> dict[str, object]:
    return {
        "name": rule.name,
        "states": len(rule.dfa.states),
        "accepting": [state.id for state in rule.dfa.states if state.accepting],
        "edges": [
            {"source": edge.source, "target": edge.target, "bytes": [list(pair) for pair in edge.ranges]}
            for edge in rule.dfa.edges
        ],
        "calls": [{"source": call.source, "target": call.target, "rule": call.rule} for call in rule.calls],
        "tokens": [
            {
                "source": edge.source,
                "target": edge.target,
                "names": list(edge.tokens.names),
                "ids": list(edge.tokens.ids),
                "negated": edge.tokens.negated,
            }
            for edge in rule.tokens
        ],
    }
