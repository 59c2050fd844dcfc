"""The automata of a grammar's rules, each under the name of its rule.

The assembler takes a grammar of one rule for a node and keeps no name for it, and
puts rules that do not nest into the one that needs them. A second rule that
refers to the start and that nothing refers to makes the start a rule among rules.
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
    """An automaton for each rule, the start first; none where no text matches.

    Raises:
        LimitExceededError: they have more than `most_states` states together.
        CancelledError: `cancel` was used.
    """
    name = "unused"
    while any(rule.name == name for rule in grammar.rules):
        name += "-"
    both = Grammar((*grammar.rules, Rule(name, RuleReference(grammar.start))), grammar.start)
    with no_collection():
        program = assemble(simplify_grammar(both), limits)
        return RuleAutomata(()) if program is None else rule_automata(program, most_states, cancel)
