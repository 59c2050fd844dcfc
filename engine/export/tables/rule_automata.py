"""The automata of a grammar's rules, each under the name of its rule.

The assembler treats a grammar of one rule as a node without a name, and inlines rules that do not nest. A second,
unused rule that refers to the start keeps the start a named rule.
"""

from __future__ import annotations

from engine.automata.nfa.program import assemble
from engine.automata.rtn.rule_automata import RuleAutomata, rule_automata
from engine.grammar import Grammar, Rule, RuleReference
from engine.grammar.simplify import simplify_grammar
from engine.source import CancelToken, Limits
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
    name = "unused"
    while any(rule.name == name for rule in grammar.rules):
        name += "-"
    both = Grammar((*grammar.rules, Rule(name, RuleReference(grammar.start))), grammar.start)
    with no_collection():
        program = assemble(simplify_grammar(both), limits)
        return RuleAutomata(()) if program is None else rule_automata(program, most_states, cancel)
