"""Plain rules: a grammar as llama.cpp stores it, each rule one flat list of elements.

llama.cpp (`llama_grammar_parser` in `src/llama-grammar.cpp`) has neither groups nor repetitions when it matches: its
parser turns them into rules, named after the enclosing rule and numbered, `name_N`. With `S` for the operand of a
quantifier:

    ( … )   S'                       where  S' ::= …
    S*      S'                       where  S' ::= S S' |
    S+      S S'                     where  S' ::= S S' |
    S?      S'                       where  S' ::= S |
    S{m,}   S … S S'  (m times S)    where  S' ::= S S' |
    S{m,n}  S … S S'(n-m)            where  S'(k) ::= S S'(k-1) |  and  S'(1) ::= S |

The result consists of elements: END, ALT between alternatives, RULE_REF; CHAR or CHAR_NOT for the first member of a
class, CHAR_ALT for each further one, CHAR_RNG_UPPER after one that begins a range; CHAR_ANY; TOKEN and TOKEN_NOT.

Three things differ here. Names are `name-N`, numbered within their rule, since llama.cpp's parser does not accept the
`_` of its own names. A group around a single item gets no rule. A class is written in code point order, and negated if
that is shorter, since the grammar's nodes keep only the set.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from engine.grammar import (
    Chars,
    Choice,
    Empty,
    Grammar,
    Lookaround,
    Never,
    Node,
    Repeat,
    Rule,
    RuleReference,
    TokenSet,
)
from engine.grammar import Sequence as Items
from engine.grammar.charset import ANY
from engine.grammar.print_gbnf import members, print_gbnf
from engine.source import InvariantError, LimitExceededError, Span

MOST_ELEMENTS: Final = 200_000

Leaf: TypeAlias = Chars | RuleReference | TokenSet | Never


class ElementType(StrEnum):
    """The types of llama.cpp's elements."""

    END = "END"
    ALT = "ALT"
    RULE_REF = "RULE_REF"
    CHAR = "CHAR"
    CHAR_NOT = "CHAR_NOT"
    CHAR_RNG_UPPER = "CHAR_RNG_UPPER"
    CHAR_ALT = "CHAR_ALT"
    CHAR_ANY = "CHAR_ANY"
    TOKEN = "TOKEN"  # noqa: S105 - no password
    TOKEN_NOT = "TOKEN_NOT"  # noqa: S105 - no password


@dataclass(frozen=True, slots=True)
class Element:
    """One element of a rule.

    Attributes:
        value: a code point, the name of a rule, a token's id or its text; None if the type needs no value.
        span: its source; for END and ALT, the rule's.
    """

    type: ElementType
    value: int | str | None
    span: Span


@dataclass(frozen=True, slots=True)
class PlainRule:
    """A rule without groups and repetitions.

    Attributes:
        origin: the source rule that it comes from; its own name for a source rule.
        alternatives: each a sequence of items; an empty one is the empty text.
        span: the defined name of a source rule; else the group or repetition that it was made from.
    """

    name: str
    origin: str
    alternatives: tuple[tuple[Leaf, ...], ...]
    span: Span

    @property
    def elements(self) -> tuple[Element, ...]:
        """The rule as llama.cpp stores it."""
        found: list[Element] = []
        for number, alternative in enumerate(self.alternatives):
            if number:
                found.append(Element(ElementType.ALT, None, self.span))
            for leaf in alternative:
                found += _elements(leaf)
        return (*found, Element(ElementType.END, None, self.span))


def plain_rules(grammar: Grammar) -> tuple[PlainRule, ...]:
    """Expand groups and repetitions to rules, each after the rule that it was made for.

    Raises:
        LimitExceededError: the repetition counts make more than `MOST_ELEMENTS` items.
    """
    taken = {rule.name for rule in grammar.rules}
    rules: list[PlainRule] = []
    size = 0
    for rule in grammar.rules:
        for plain in _Writer(rule, taken, MOST_ELEMENTS - size).rules():
            size += sum(map(len, plain.alternatives))
            rules.append(plain)
    return tuple(rules)


def grammar_of(rules: Sequence[PlainRule], start: str) -> Grammar:
    """Build a grammar of plain rules, which has the language of the original."""

    def node(rule: PlainRule) -> Node:
        alternatives = [Items(items, rule.span) if items else Empty(rule.span) for items in rule.alternatives]
        return alternatives[0] if len(alternatives) == 1 else Choice(tuple(alternatives), rule.span)

    return Grammar(tuple(Rule(rule.name, node(rule), rule.span) for rule in rules), start)


def text_of(rules: Sequence[PlainRule], start: str) -> str:
    """Print plain rules as GBNF with the same language."""
    return print_gbnf(grammar_of(rules, start))


class _Writer:
    """Expands one rule; the contents of groups wait on a list, so nesting uses no Python call stack."""

    def __init__(self, rule: Rule, taken: set[str], budget: int) -> None:
        self._rule = rule
        self._taken = taken
        self._budget = budget
        self._count = 0
        self._generated: list[str] = []
        self._made: dict[str, PlainRule] = {}
        self._waiting: list[tuple[str, Node, Span]] = []

    def rules(self) -> list[PlainRule]:
        """Return the rule, and those made of its groups and repetitions."""
        self._waiting.append((self._rule.name, self._rule.node, self._rule.span))
        while self._waiting:
            name, node, span = self._waiting.pop(0)
            alternatives = node.alternatives if isinstance(node, Choice) else (node,)
            self._add(name, [self._sequence(alternative) for alternative in alternatives], span)
        return [self._made[name] for name in (self._rule.name, *self._generated)]

    def _add(self, name: str, alternatives: list[list[Leaf]], span: Span) -> None:
        self._spend(sum(map(len, alternatives)))
        self._made[name] = PlainRule(name, self._rule.name, tuple(map(tuple, alternatives)), span)

    def _spend(self, items: int) -> None:
        self._budget -= items
        if self._budget < 0:
            raise LimitExceededError(
                "errors.limit.plain_elements", given=MOST_ELEMENTS - self._budget, limit=MOST_ELEMENTS
            )

    def _name(self) -> str:
        while True:
            self._count += 1
            name = f"{self._rule.name}-{self._count}"
            if name not in self._taken:
                self._taken.add(name)
                self._generated.append(name)
                return name

    def _sequence(self, node: Node) -> list[Leaf]:
        items = node.items if isinstance(node, Items) else (node,)
        return [leaf for item in items for leaf in self._item(item)]

    def _item(self, node: Node) -> list[Leaf]:
        repeats: list[Repeat] = []
        while isinstance(node, Repeat):
            repeats.append(node)
            node = node.node
        leaves = self._without_repeat(node)
        for repeat in reversed(repeats):
            leaves = self._repeated(leaves, repeat)
        return leaves

    def _without_repeat(self, node: Node) -> list[Leaf]:
        match node:
            case Chars() | RuleReference() | TokenSet() | Never():
                return [node]
            case Empty():
                return []
            case Items(items) if all(isinstance(item, Chars) for item in items):
                return [item for item in items if isinstance(item, Chars)]  # a literal is repeated without a rule
            case Lookaround():
                raise InvariantError("errors.invariant.gbnf_condition")
        name = self._name()
        self._waiting.append((name, node, node.span))
        return [RuleReference(name, node.span)]

    def _repeated(self, leaves: list[Leaf], repeat: Repeat) -> list[Leaf]:
        minimum, maximum, span = repeat.minimum, repeat.maximum, repeat.span
        if not leaves or maximum == 0:
            return []
        self._spend(len(leaves) * minimum)
        required = leaves * minimum
        if maximum is None:
            name = self._name()
            self._add(name, [[*leaves, RuleReference(name, span)], []], span)
            return [*required, RuleReference(name, span)]
        rest: list[Leaf] = []
        for _ in range(maximum - minimum):
            name = self._name()
            self._add(name, [[*leaves, *rest], []], span)
            rest = [RuleReference(name, span)]
        return [*required, *rest]


def _elements(leaf: Leaf) -> Iterator[Element]:
    match leaf:
        case RuleReference(name, span):
            yield Element(ElementType.RULE_REF, name, span)
        case TokenSet():
            values: list[int | str] = [*leaf.names, *leaf.ids]
            for value in values:
                yield Element(ElementType.TOKEN_NOT if leaf.negated else ElementType.TOKEN, value, leaf.span)
        case Never(span):  # a reversed range contains nothing
            yield Element(ElementType.CHAR, ord("b"), span)
            yield Element(ElementType.CHAR_RNG_UPPER, ord("a"), span)
        case Chars(characters, span) if characters == ANY:
            yield Element(ElementType.CHAR_ANY, None, span)
        case Chars(characters, span):
            negated, ranges = members(characters)
            kind = ElementType.CHAR_NOT if negated else ElementType.CHAR
            for first, last in ranges:
                yield Element(kind, first, span)
                if last > first:
                    yield Element(ElementType.CHAR_RNG_UPPER, last, span)
                kind = ElementType.CHAR_ALT
