"""Removal of left recursion, for engines that refuse it or mishandle it.

A rule that begins with itself, `a ::= a x | y`, matches the same as `a ::= y x*` (Aho, Lam, Sethi and Ullman,
*Compilers*, 2nd edition, section 4.3.3, with a loop instead of the new rule). With indirect recursion, or after
something that may be empty, no rewriting is short enough for its author to recognise: such rules stay as they are, and
the target refuses them.

Rejected: the general algorithm of that section. It inlines rules, and turns ten lines into pages.
"""

from __future__ import annotations

from engine.export.rules.expressions import choice, repeat, sequence
from engine.grammar import Choice, Grammar, Node, Rule, RuleReference, Sequence


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
