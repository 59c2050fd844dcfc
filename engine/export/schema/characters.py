r"""Encodings of characters in JSON strings, for grammars over the text.

With `Escapes.ANY` these are all encodings that JSON has: `n` is also `\u006e`. With `Escapes.SHORTEST` it is one: the
character itself, or else a backslash and a letter, or else four lower-case digits, as Python's `json.dumps(…,
ensure_ascii=False)` writes it. Then a name in the schema appears unchanged in the grammar.
"""

from __future__ import annotations

from typing import Final

from engine.automata.utf8 import FINAL
from engine.export.rules.expressions import choice, literal, one_of, sequence
from engine.export.rules.right_linear import System, solve
from engine.grammar import NEVER, Chars, CharSet, Node
from engine.grammar.charset import EVERY_SCALAR
from engine.schema_automaton.json_encoding.class_encoder import json_automaton
from engine.schema_automaton.json_encoding.encoder import RAW, SHORT, Escapes
from engine.source import Limits

_SURROGATES: Final = CharSet(((0xD800, 0xDFFF),))
_BACKSLASH: Final = "\\"


def raw(characters: CharSet) -> Node:
    """Return the characters of a set that may be unescaped in a JSON string."""
    these = characters & RAW
    before, behind = _SURROGATES.ranges[0]
    if before - 1 in these and behind + 1 in these:
        these |= _SURROGATES  # no text contains a surrogate: without the gap the class is easier to read
    return Chars(these) if these else NEVER


def escaped(characters: CharSet, escapes: Escapes, limits: Limits) -> Node:
    """Return the escaped encodings of a set of characters."""
    characters &= EVERY_SCALAR
    if escapes is Escapes.SHORTEST:
        return _shortest(characters - RAW)
    return _every_way(characters, escapes, limits)


def _shortest(characters: CharSet) -> Node:
    """Return the shortest escapes of characters that must be escaped."""
    letters = "".join(chr(SHORT[code][0]) for code in characters if code in SHORT)
    digits: dict[str, list[str]] = {}
    for code in characters:
        if code not in SHORT:
            pair = f"{code:02x}"
            digits.setdefault(pair[0], []).append(pair[1])
    short = sequence(literal(_BACKSLASH), one_of(letters)) if letters else NEVER
    pairs = choice(*(sequence(literal(first), one_of("".join(rest))) for first, rest in digits.items()))
    return choice(short, sequence(literal(f"{_BACKSLASH}u00"), pairs))


def _every_way(characters: CharSet, escapes: Escapes, limits: Limits) -> Node:
    """Return all escapes of a set of characters: the automaton of JSON's encodings after the backslash."""
    automaton = json_automaton(characters, escapes)
    system = System()
    number: dict[int, int] = {}

    def state(node: int) -> int:
        if node not in number:
            number[node] = system.add(accepting=node == FINAL)
            if node != FINAL:
                targets: dict[int, list[tuple[int, int]]] = {}
                for first, last, target in automaton.nodes[node]:
                    targets.setdefault(target, []).append((first, last))
                for target, pairs in targets.items():
                    system.connect(number[node], Chars(CharSet.of(pairs)), state(target))
        return number[node]

    behind = automaton.step(0, ord(_BACKSLASH))
    if behind is None:
        return NEVER
    # All encodings are short, so nothing becomes a rule.
    return sequence(literal(_BACKSLASH), solve(system, state(behind), _no_rules, limits, loops_as_rules=False))


def _no_rules(_: int, node: Node | None) -> Node:
    assert node is not None
    return node
