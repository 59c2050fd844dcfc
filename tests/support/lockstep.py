"""Two compiled grammars side by side: at every place of random walks, what each of them allows.

Neither ever stands at a dead end, so two languages are the same only where both allow the same bytes everywhere; a
walk tells far more than a text that is merely accepted by both.
"""

from __future__ import annotations

import random

from engine.automata.byte_automaton import DEAD
from engine.compile import CompiledGrammar

_OFTEN = dict.fromkeys(b'"{}[],: \n\\u0123456789', 6) | dict.fromkeys(b'}]"', 25)


def difference(one: CompiledGrammar, other: CompiledGrammar, *, walks: int = 5, steps: int = 40, seed: int = 0) -> str:
    """Where they differ, in words; empty where no walk finds it."""
    chance = random.Random(seed)
    for _ in range(walks):
        found = _walk(one, other, chance, steps, subset=False)
        if found:
            return found
    return ""


def excess(part: CompiledGrammar, whole: CompiledGrammar, *, walks: int = 5, steps: int = 40, seed: int = 0) -> str:
    """Where the first allows what the second does not; empty where no walk finds it."""
    chance = random.Random(seed)
    for _ in range(walks):
        found = _walk(part, whole, chance, steps, subset=True)
        if found:
            return found
    return ""


def texts(grammar: CompiledGrammar, *, count: int, steps: int = 60, seed: int = 0) -> list[bytes]:
    """Texts that match, as far as random walks end."""
    chance = random.Random(seed)
    found: list[bytes] = []
    for _ in range(count):
        at, text = grammar.automaton.start, bytearray()
        for _ in range(steps):
            if at != DEAD and grammar.automaton.accepts(at):
                found.append(bytes(text))
            allowed = _allowed(grammar, at)
            if not allowed:
                break
            byte = _pick(allowed, chance)
            text.append(byte)
            at = allowed[byte]
    return found


def _walk(one: CompiledGrammar, other: CompiledGrammar, chance: random.Random, steps: int, *, subset: bool) -> str:
    mine, theirs, text = one.automaton.start, other.automaton.start, bytearray()
    for _ in range(steps):
        first, second = _allowed(one, mine), _allowed(other, theirs)
        more, fewer = bytes(sorted(first.keys() - second.keys())), bytes(sorted(second.keys() - first.keys()))
        if more or (fewer and not subset):
            return f"after {bytes(text)!r} the first alone allows {more!r}, the second alone {fewer!r}"
        ends = mine != DEAD and one.automaton.accepts(mine), theirs != DEAD and other.automaton.accepts(theirs)
        if ends[0] > ends[1] or (ends[0] < ends[1] and not subset):
            return f"{bytes(text)!r} matches {ends[0]} and {ends[1]}"
        if not first:
            return ""
        byte = _pick(first, chance)
        text.append(byte)
        mine, theirs = first[byte], second[byte]
    return ""


def _allowed(grammar: CompiledGrammar, configuration: int) -> dict[int, int]:
    if configuration == DEAD:
        return {}
    automaton = grammar.automaton
    found: dict[int, int] = {}
    for number in range(automaton.n_classes):
        following = automaton.step(configuration, number)
        if following != DEAD:
            found.update((byte, following) for a, b in automaton.classes.ranges[number] for byte in range(a, b + 1))
    return found


def _pick(allowed: dict[int, int], chance: random.Random) -> int:
    return chance.choices(list(allowed), [_OFTEN.get(byte, 1) for byte in allowed])[0]
