"""Left recursion taken out of rules, for engines that refuse it or get it wrong.

A rule that begins with itself, `a ::= a x | y`, matches what `a ::= y x*` does
(Aho, Lam, Sethi and Ullman, *Compilers*, 2nd edition, section 4.3.3, with a loop
in the place of the new rule). Where rules lead to each other, or something that
may be empty stands before, no such line is a rewrite that its author would
recognise: those stay as they are, and the target refuses them.

Rejected: the general algorithm of that section. It puts rules into one another,
and what it makes of ten lines fills pages.
"""

from __future__ import annotations

from engine.export.rules.expressions import choice, repeat, sequence
from engine.grammar import Choice, Grammar, Node, Rule, RuleReference, Sequence


def without_direct_left_recursion(grammar: Grammar) -> Grammar:
    """The same language, where no rule has an alternative that begins with the rule itself."""
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
