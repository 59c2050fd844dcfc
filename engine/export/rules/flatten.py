"""A grammar without rules: each written where it is used.

Recursion has no end that way. Cut at a depth, a rule stands within itself so
many times at most, and what would go deeper is left out.
"""

from __future__ import annotations

from typing import Final

from engine.export.rules.expressions import mapped, size
from engine.export.rules.right_linear import Edge, components
from engine.grammar import NEVER, Grammar, Node, RuleReference
from engine.grammar.analysis import references
from engine.source import EngineError, LimitExceededError, Span

LONGEST: Final = 100_000
"""So many parts an expression may have."""


class RecursiveError(EngineError):
    """A grammar without recursion was asked for of one that has it.

    Attributes:
        span: the rule.
    """

    def __init__(self, name: str, span: Span) -> None:
        super().__init__(f"the rule `{name}` refers to itself")
        self.span = span


def flatten(grammar: Grammar, depth: int | None = None) -> Node:
    """The start rule with all others written out.

    Args:
        grammar: the rules.
        depth: how often a rule may stand within itself, itself included; None where it may not refer to itself.

    Raises:
        RecursiveError: a rule does, and there is no `depth`.
        LimitExceededError: the expression is too long.
    """
    cycles = _cycles(grammar)
    if cycles and depth is None:
        name = next(rule.name for rule in grammar.rules if rule.name in cycles)
        raise RecursiveError(name, next(rule.span for rule in grammar.rules if rule.name == name))
    return _Writer(grammar, cycles, depth or 1).expand(grammar.start, {})


def is_recursive(grammar: Grammar) -> bool:
    """Whether a rule that can be reached leads back to itself."""
    return bool(_cycles(grammar))


def _cycles(grammar: Grammar) -> dict[str, int]:
    """The rules that lead back to themselves, with the number of their cycle."""
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
        """A rule written out, where so many of each rule of its cycle are open."""
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
                    raise LimitExceededError("parts of an expression", given=written, limit=LONGEST)
                return whole

            node = mapped(self._nodes[name], leaf)
            self._known[key] = (node, size(node))
        return self._known[key][0]
