"""Random grammars over characters that grammar notations treat specially, with texts to try on them.

They are drawn with `random`, not Hypothesis, so that the program that runs llama.cpp's code can use them too.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from engine.grammar import Chars, CharSet, Choice, Empty, Grammar, Node, Repeat, Rule, RuleReference, Sequence

CHARACTERS = (
    "-^]\\[\"'/&~#|<>(){}*+?.,: !@=%aAbfFxuUnr019_é"
    "\x01\x07\t\n\r\x0b\x1a\x1f\x7f\x80\x85\x9f\xa0\xad"
    "\u0300\u0378\u061c\u0fff\u1000\u2028\u2029\ud7ff\ue000\ufeff\ufffd\uffff\U00010000\U0001f600\U000e0001\U0010ffff"
)
"""Without NUL, which llama.cpp never allows in a text."""

_EDGES = [ord(character) for character in CHARACTERS] + [0, 0xD7FE, 0xD800, 0xDFFF, 0xE001, 0x10FFFE]


def cases(seed: int) -> Iterator[tuple[Grammar, list[str]]]:
    """Grammars without recursion whose start rule is one reference, each with texts; without end."""
    chance = random.Random(seed)
    while True:
        names = [f"{name}{number}" for number in range(chance.randrange(3)) for name in ("fooBar", "foo-bar", "1x")]
        rules: list[Rule] = []
        for index, name in enumerate(["start", *names]):
            rules.append(Rule(name, _node(chance, names[index:], 3)))
        grammar = Grammar((Rule("root", RuleReference("start")), *rules), "root")
        nodes = {rule.name: rule.node for rule in grammar.rules}
        texts = {_text(chance, grammar.rules[0].node, nodes)[:30] for _ in range(4)}
        texts |= {_changed(chance, text) for text in list(texts)}
        yield grammar, sorted(texts | {chance.choice(CHARACTERS)})


def _characters(chance: random.Random) -> CharSet:
    if chance.random() < 0.3:
        return CharSet.chars(chance.choice(CHARACTERS))
    pairs = []
    for _ in range(chance.randint(1, 4)):
        first = chance.choice(_EDGES)
        last = first + chance.randint(0, 3) if chance.random() < 0.6 else chance.choice(_EDGES)
        pairs.append((min(first, last), min(max(first, last), 0x10FFFF)))
    found = CharSet.of(pairs)
    found = ~found if chance.random() < 0.4 else found
    scalars = found - CharSet(((0xD800, 0xDFFF),))
    return scalars or CharSet.chars("a")


def _node(chance: random.Random, names: list[str], depth: int) -> Node:
    kind = chance.random()
    if depth == 0 or kind < 0.45:
        return Chars(_characters(chance))
    if kind < 0.5:
        return Empty()
    if kind < 0.6 and names:
        return RuleReference(chance.choice(names))
    parts = tuple(_node(chance, names, depth - 1) for _ in range(chance.randint(2, 4)))
    if kind < 0.8:
        return Sequence(parts)
    if kind < 0.9:
        return Choice(parts)
    least = chance.randint(0, 2)
    return Repeat(parts[0], least, chance.choice([None, max(1, least), least + 2]))


def _text(chance: random.Random, node: Node, nodes: dict[str, Node]) -> str:
    match node:
        case Chars():
            inside = [character for character in CHARACTERS if ord(character) in node.set]
            edges = [chr(code) for pair in node.set.ranges for code in pair if code]
            return chance.choice(inside + edges or ["a"])
        case RuleReference():
            return _text(chance, nodes[node.name], nodes)
        case Sequence():
            return "".join(_text(chance, item, nodes) for item in node.items)
        case Choice():
            return _text(chance, chance.choice(node.alternatives), nodes)
        case Repeat():
            most = node.minimum + 2 if node.maximum is None else node.maximum
            return "".join(_text(chance, node.node, nodes) for _ in range(chance.randint(node.minimum, most)))
        case _:
            return ""


def _changed(chance: random.Random, text: str) -> str:
    """The text with a character replaced, inserted or removed."""
    at = chance.randint(0, len(text))
    kept = at + chance.randint(0, 1)
    return text[:at] + chance.choice(["", *CHARACTERS]) + text[kept:]
