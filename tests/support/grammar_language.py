"""The language of a grammar, the slow and obvious way: ends of matches, iterated until nothing is new."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from hypothesis import strategies as st
from language import ALPHABET

from engine.grammar import Chars, CharSet, Choice, Empty, Grammar, Node, Repeat, Rule, RuleReference, Sequence

Known = dict[tuple[str, str], frozenset[int]]
"""How long a match of a rule at the beginning of a text may be."""


def matches(grammar: Grammar, text: str) -> bool:
    """Whether the whole text matches."""
    return text in language(grammar, [text])


def language(grammar: Grammar, texts: Iterable[str]) -> set[str]:
    """The texts that match. What a rule matches somewhere depends on the rest alone, which many texts share."""
    nodes = {rule.name: rule.node for rule in grammar.rules}
    known: Known = {}
    return {text for text in texts if _matches(grammar.start, text, nodes, known)}


def _matches(start: str, text: str, nodes: dict[str, Node], known: Known) -> bool:
    for at in range(len(text), -1, -1):
        rest = text[at:]
        if (start, rest) in known:
            continue
        known |= {(name, rest): frozenset() for name in nodes}
        grown = True
        while grown:
            grown = False
            for name, node in nodes.items():
                more = _ends(node, rest, 0, known)
                if not more <= known[name, rest]:
                    known[name, rest] |= more
                    grown = True
    return len(text) in known[start, text]


def _ends(node: Node, text: str, start: int, known: Known) -> frozenset[int]:
    match node:
        case Empty():
            return frozenset({start})
        case Chars():
            return frozenset({start + 1}) if start < len(text) and ord(text[start]) in node.set else frozenset()
        case RuleReference():
            return frozenset(start + length for length in known[node.name, text[start:]])
        case Sequence():
            reached = frozenset({start})
            for item in node.items:
                reached = frozenset().union(*(_ends(item, text, at, known) for at in reached))
            return reached
        case Choice():
            return frozenset().union(*(_ends(item, text, start, known) for item in node.alternatives))
        case Repeat():
            most = node.maximum if node.maximum is not None else node.minimum + len(text) + 1
            reached, result = frozenset({start}), frozenset[int]()
            for count in range(most + 1):
                if count >= node.minimum:
                    result |= reached
                reached = frozenset().union(*(_ends(node.node, text, at, known) for at in reached))
            return result
        case _:
            return frozenset()


NAMES = ("root", "x", "y")


def grammars() -> st.SearchStrategy[Grammar]:
    """Random grammars: recursive, ambiguous, nullable, with rules that match nothing."""
    chars = st.sampled_from(ALPHABET).map(lambda char: Chars(CharSet.chars(char)))
    references = st.sampled_from(NAMES).map(RuleReference)
    leaves = st.one_of(chars, references, references, st.just(Empty()))

    def extend(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
        return st.one_of(
            st.lists(inner, min_size=1, max_size=3).map(lambda items: Sequence(tuple(items))),
            st.lists(inner, min_size=2, max_size=3).map(lambda items: Choice(tuple(items))),
            st.builds(
                lambda node, low, more: Repeat(node, low, None if more is None else low + more),
                inner,
                st.integers(0, 2),
                st.one_of(st.none(), st.integers(0, 2)),
            ),
        )

    nodes = st.recursive(leaves, extend, max_leaves=6)
    return st.tuples(*(nodes for _ in NAMES)).map(
        lambda bodies: Grammar(tuple(Rule(name, node) for name, node in zip(NAMES, bodies, strict=True)), "root")
    )


def productive(grammar: Grammar) -> set[str]:
    """The rules that match some text: all are asked until nothing is new."""
    return _fixpoint(grammar, lambda node, known: _holds(node, known, of_chars=True))


def nullable(grammar: Grammar) -> set[str]:
    """The rules that match the empty text."""
    return _fixpoint(grammar, lambda node, known: _holds(node, known, of_chars=False))


def _fixpoint(grammar: Grammar, holds: Callable[[Node, set[str]], bool]) -> set[str]:
    known: set[str] = set()
    while more := {rule.name for rule in grammar.rules if holds(rule.node, known)} - known:
        known |= more
    return known


def _holds(node: Node, known: set[str], *, of_chars: bool) -> bool:
    match node:
        case Empty():
            return True
        case RuleReference():
            return node.name in known
        case Sequence():
            return all(_holds(item, known, of_chars=of_chars) for item in node.items)
        case Choice():
            return any(_holds(item, known, of_chars=of_chars) for item in node.alternatives)
        case Repeat():
            return node.minimum == 0 or _holds(node.node, known, of_chars=of_chars)
        case _:
            return of_chars and isinstance(node, Chars)
