"""Rewriting of a grammar to fit llama.cpp's limits on repetitions.

llama.cpp expands a repetition and refuses one of 2,000 symbols or more (`handle_repetitions` in
`src/llama-grammar.cpp`). So a long operand gets its own rule, and a large count is written in blocks: `x{0,5000}` is
`x-block{0,4} x{0,1000}` with `x-block ::= x{1000}`.

It also refuses unbounded repetition of an operand with an empty alternative: `("a" | "")+` is written as `"a"*`.
"""

from __future__ import annotations

from typing import Final

from engine.export.rules.expressions import repeat, sequence
from engine.grammar import EMPTY, Chars, Choice, Grammar, Node, Repeat, Rule, RuleReference, Sequence
from engine.grammar.print_gbnf import prints_as_empty

_LIMIT: Final = 2_000
_BLOCK: Final = 1_000
_FEW: Final = 6
"""The largest number of symbols of a rule that is inlined where it must lose its empty alternative."""


def within_llama_limits(grammar: Grammar) -> Grammar:
    """Return the same language, with only repetitions that llama.cpp accepts."""
    writer = _Writer({rule.name: rule.node for rule in grammar.rules})
    rules: list[Rule] = []
    for rule in grammar.rules:
        node = writer.write(rule.node, rule)
        rules += [Rule(rule.name, node, rule.span), *writer.made]
        writer.made.clear()
    return Grammar(tuple(rules), grammar.start)


class _Writer:
    def __init__(self, nodes: dict[str, Node]) -> None:
        self._nodes = nodes
        self._names = set(nodes)
        self._filled: dict[str, Node] = {}
        self._blocks: dict[Node, RuleReference] = {}
        self.made: list[Rule] = []

    def write(self, node: Node, rule: Rule) -> Node:
        match node:
            case Sequence():
                return Sequence(tuple(self.write(item, rule) for item in node.items), node.span)
            case Choice():
                return Choice(tuple(self.write(item, rule) for item in node.alternatives), node.span)
            case Repeat(node=inner, minimum=minimum, maximum=None):
                filled = self._without_empty_alternative(inner, rule)
                if filled is inner:
                    return self._repeat(self.write(inner, rule), minimum, None, rule)
                return EMPTY if prints_as_empty(filled) else self._repeat(self.write(filled, rule), 0, None, rule)
            case Repeat():
                return self._repeat(self.write(node.node, rule), node.minimum, node.maximum, rule)
            case _:
                return node

    def _without_empty_alternative(self, node: Node, rule: Rule) -> Node:
        """Return the operand of an unbounded repetition without empty alternatives; the node itself if it has none."""
        if isinstance(node, RuleReference):
            target = self._nodes[node.name]
            filled = self._without_empty_alternative(target, rule) if not isinstance(target, RuleReference) else target
            if filled is target:
                return node
            if node.name not in self._filled:
                small = prints_as_empty(filled) or _symbols(filled) <= _FEW
                self._filled[node.name] = filled if small else self._rule(self.write(filled, rule), "part", rule)
            return self._filled[node.name]
        if prints_as_empty(node):
            return EMPTY
        if not isinstance(node, Choice) or not any(map(prints_as_empty, node.alternatives)):
            return node
        kept = tuple(one for one in node.alternatives if not prints_as_empty(one))
        return kept[0] if len(kept) == 1 else Choice(kept, node.span)

    def _repeat(self, inner: Node, minimum: int, maximum: int | None, rule: Rule) -> Node:
        count = max(minimum, maximum or 0, 1)
        if _symbols(inner) * count < _LIMIT:
            return Repeat(inner, minimum, maximum)
        if _symbols(inner) > 1:
            inner = self._rule(inner, "part", rule)
        needed = self._times(inner, minimum, rule)
        if maximum is None:
            return sequence(needed, Repeat(inner, 0, None))
        return sequence(needed, self._up_to(inner, maximum - minimum, rule))

    def _times(self, inner: Node, count: int, rule: Rule) -> Node:
        if count < _LIMIT:
            return repeat(inner, count, count)
        blocks, rest = divmod(count, _BLOCK)
        return sequence(self._times(self._block(inner, rule), blocks, rule), repeat(inner, rest, rest))

    def _up_to(self, inner: Node, count: int, rule: Rule) -> Node:
        if count < _LIMIT:
            return repeat(inner, 0, count)
        blocks, rest = divmod(count, _BLOCK)
        # The last block is counted one by one, so that each count is possible.
        return sequence(self._up_to(self._block(inner, rule), blocks - 1, rule), repeat(inner, 0, _BLOCK + rest))

    def _block(self, inner: Node, rule: Rule) -> Node:
        if inner not in self._blocks:
            self._blocks[inner] = self._rule(repeat(inner, _BLOCK, _BLOCK), "block", rule)
        return self._blocks[inner]

    def _rule(self, node: Node, short: str, rule: Rule) -> RuleReference:
        name, number = f"{rule.name}-{short}", 1
        while name in self._names:
            number += 1
            name = f"{rule.name}-{short}-{number}"
        self._names.add(name)
        self.made.append(Rule(name, node, rule.span))
        return RuleReference(name)


def _symbols(node: Node) -> int:
    """Return an upper bound of the symbols that llama.cpp makes of a node."""
    match node:
        case Sequence():
            return 1 + sum(_symbols(item) for item in node.items)
        case Choice():
            return 1 + sum(_symbols(item) for item in node.alternatives)
        case Repeat():
            most = max(node.minimum, node.maximum or 0, 1)
            return most * _symbols(node.node) + most
        case Chars() | _:
            return 1
