"""Inlining of rules: a grammar as one expression.

Recursive rules would never end. Cut at a depth, a rule is nested in itself at most that many times, and deeper texts
are left out.
"""

from __future__ import annotations

from typing import Final

from engine.export.rules.expressions import mapped, size
from engine.export.rules.right_linear import Edge, components
from engine.grammar import NEVER, Grammar, Node, RuleReference
from engine.grammar.analysis import references
from engine.source import EngineError, LimitExceededError, Span

LONGEST: Final = 100_000
"""The largest number of parts of an expression."""


class RecursiveError(EngineError):
    """A grammar without recursion was requested for one that has it.

    Attributes:
        name, span: of the rule.
    """

    def __init__(self, name: str, span: Span) -> None:
        super().__init__("errors.export.recursive", name=name)
        self.name, self.span = name, span


def flatten(grammar: Grammar, depth: int | None = None) -> Node:
    """Return the start rule with all others inlined.

    Args:
        grammar: the rules.
        depth: how often a rule may be nested in itself, itself included; None to refuse recursion.

    Raises:
        RecursiveError: a rule is recursive, and there is no `depth`.
        LimitExceededError: the expression is too long.
    """
    cycles = _cycles(grammar)
    if cycles and depth is None:
        name = next(rule.name for rule in grammar.rules if rule.name in cycles)
        raise RecursiveError(name, next(rule.span for rule in grammar.rules if rule.name == name))
    return _Writer(grammar, cycles, depth or 1).expand(grammar.start, {})


def is_recursive(grammar: Grammar) -> bool:
    """Return whether a reachable rule is recursive."""
    return bool(_cycles(grammar))


def _cycles(grammar: Grammar) -> dict[str, int]:
    """Return the recursive rules, with the number of their cycle."""
    names = [rule.name for rule in grammar.rules]
    index = {name: i for i, name in enumerate(names)}
    edges: list[list[Edge]] = [[(r, index[r.name]) for r in references(rule.node)] for rule in grammar.rules]
    found: dict[str, int] = {}
    for number, component in enumerate(components(edges, index[grammar.start])):
        first = component[0]
        if len(component) > 1 or any(target == first for _, target in edges[first]):
            found.update((names[state], number) for state in component)
    return found


class _Writer:
    def __init__(self, grammar: Grammar, cycles: dict[str, int], depth: int) -> None:
        self._nodes = {rule.name: rule.node for rule in grammar.rules}
        self._cycles = cycles
        self._depth = depth
        self._known: dict[tuple[str, frozenset[tuple[str, int]]], tuple[Node, int]] = {}

    def expand(self, name: str, open_rules: dict[str, int]) -> Node:
        """Return a rule inlined, given how often each rule of its cycle is open."""
        cycle = self._cycles.get(name)
        inside = {other: n for other, n in open_rules.items() if self._cycles[other] == cycle}
        if inside.get(name, 0) >= self._depth:
            return NEVER
        key = (name, frozenset(inside.items()))
        if key not in self._known:
            if cycle is not None:
                inside[name] = inside.get(name, 0) + 1
            written = 0

            def leaf(node: Node) -> Node:
                nonlocal written
                if not isinstance(node, RuleReference):
                    return node
                whole = self.expand(node.name, inside)
                written += size(whole)
                if written > LONGEST:
                    raise LimitExceededError("errors.limit.expression_parts", given=written, limit=LONGEST)
                return whole

            node = mapped(self._nodes[name], leaf)
            self._known[key] = (node, size(node))
        return self._known[key][0]
