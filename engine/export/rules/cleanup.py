"""Cleanup of rules for all text-based engines: no dead parts, no unused rules, no surrogates, valid names.

Engines differ in their treatment of a part that matches nothing: one refuses it, another allows a prefix that can never
be completed. So such parts are removed first. Classes are restricted to what UTF-8 can encode.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.export.rules.expressions import mapped
from engine.grammar import Chars, Grammar, Never, Node, Rule, RuleReference
from engine.grammar.analysis import productive_rules, reachable_rules
from engine.grammar.charset import EVERY_SCALAR
from engine.grammar.nodes import parts
from engine.grammar.simplify import simplify_grammar


def trimmed(grammar: Grammar) -> Grammar:
    """Return the same language without dead parts, unreachable rules, and surrogates in classes."""

    def leaf(node: Node) -> Node:
        return Chars(node.set & EVERY_SCALAR, node.span) if isinstance(node, Chars) else node

    scalar = Grammar(tuple(Rule(r.name, mapped(r.node, leaf), r.span) for r in grammar.rules), grammar.start)
    return without_dead_parts(scalar)


def without_dead_parts(grammar: Grammar) -> Grammar:
    """Return the same language without parts that match nothing and unreachable rules."""
    simple = simplify_grammar(grammar)
    kept = reachable_rules(simple)
    return Grammar(tuple(rule for rule in simple.rules if rule.name in kept), simple.start)


def has_dead_parts(grammar: Grammar) -> bool:
    """Return whether a part of a reachable rule matches nothing, so that entering it is a dead end."""
    kept, live = reachable_rules(grammar), productive_rules(grammar)
    return any(
        (isinstance(part, RuleReference) and part.name not in live)
        or isinstance(part, Never)
        or (isinstance(part, Chars) and not (part.set & EVERY_SCALAR).ranges)
        for rule in grammar.rules
        if rule.name in kept
        for part in parts(rule.node)
    )


def renamed(grammar: Grammar, rename: Callable[[str], str]) -> Grammar:
    """Return the same rules under other names; of equal new names, the later one gets a number.

    Args:
        grammar: the rules.
        rename: maps a name to its new name.
    """
    names: dict[str, str] = {}
    taken: set[str] = set()
    for rule in sorted(grammar.rules, key=lambda rule: rule.name != grammar.start):
        wanted = rename(rule.name)
        name, number = wanted, 1
        while name in taken:
            number += 1
            name = f"{wanted}_{number}"
        names[rule.name] = name
        taken.add(name)

    def leaf(node: Node) -> Node:
        return RuleReference(names[node.name], node.span) if isinstance(node, RuleReference) else node

    rules = tuple(Rule(names[rule.name], mapped(rule.node, leaf), rule.span) for rule in grammar.rules)
    return Grammar(rules, names[grammar.start])
