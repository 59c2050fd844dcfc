"""Cleanup of rules for text-based engines: no dead parts, unused rules or surrogates, valid names, no left recursion.

Engines differ in their treatment of a part that matches nothing: one refuses it, another allows a prefix that can never
be completed. So such parts are removed first. Classes are restricted to what UTF-8 can encode.

A rule that begins with itself, `a ::= a x | y`, matches the same as `a ::= y x*` (Aho, Lam, Sethi and Ullman,
*Compilers*, 2nd edition, section 4.3.3, with a loop instead of the new rule). With indirect recursion, or after
something that may be empty, no rewriting is short enough for its author to recognise: such rules stay as they are, and
the target refuses them.

Rejected: the general algorithm of that section. It inlines rules, and turns ten lines into pages.
"""

from __future__ import annotations

from collections.abc import Callable

from engine.export.rules.expressions import choice, mapped, repeat, sequence
from engine.grammar import Chars, Choice, Grammar, Never, Node, Rule, RuleReference, Sequence
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


def without_direct_left_recursion(grammar: Grammar) -> Grammar:
    """Return the same language, where no rule has an alternative that begins with the rule itself."""
    return Grammar(tuple(Rule(rule.name, _rewritten(rule), rule.span) for rule in grammar.rules), grammar.start)


def _rewritten(rule: Rule) -> Node:
    begins, goes_on = [], []
    for alternative in _alternatives(rule.node):
        items = alternative.items if isinstance(alternative, Sequence) else (alternative,)
        if items and isinstance(items[0], RuleReference) and items[0].name == rule.name:
            goes_on.append(sequence(*items[1:]))
        else:
            begins.append(alternative)
    return sequence(choice(*begins), repeat(choice(*goes_on), 0, None)) if goes_on else rule.node


def _alternatives(node: Node) -> list[Node]:
    if not isinstance(node, Choice):
        return [node]
    return [part for alternative in node.alternatives for part in _alternatives(alternative)]
