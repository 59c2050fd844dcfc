"""Writes the formats' automata as tables: `python -m resources.formats.write_tables [name…]`.

Each format's own node is run over character classes, every state is looked at, and the
smallest automaton of the same language is written beside this script. Most take
seconds, `idn-hostname` and `idn-email` minutes. Run it anew where a format changes; `test_tables` tells when.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from engine.grammar.simplify import simplify
from engine.notations.json_schema.formats import NAMES, format_node
from engine.schema_automaton.json_encoding.character_classes import CharacterClasses, char_classes_from
from engine.schema_automaton.json_encoding.class_encoder import class_encoding_of
from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.string_languages.conditions import ConditionAutomaton, text_program
from engine.schema_automaton.string_languages.tables import shortest, width_of, write
from engine.source import Limits

FOLDER: Final = Path(__file__).parent
LIMITS: Final = Limits(configurations=10_000_000, search=1_000_000)

Ints = npt.NDArray[np.int64]


def main() -> None:
    """Write the tables of all formats, or of those that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="formats; all of them if none is named")
    for name in parser.parse_args().names or sorted(NAMES):
        data = table(name)
        (FOLDER / f"{name}.table").write_bytes(data)
        print(f"{name}: {len(data):,} bytes")


def table(name: str) -> bytes:
    """The file of a format's table."""
    char_classes, rows, accepting = explore(name)
    rows, accepting = smallest(rows, accepting)
    char_classes, rows = coarsest(char_classes, rows)
    lacks = shortest(rows, accepting, class_encoding_of(char_classes).costs(None)[0])
    characters = shortest(rows, accepting, np.ones(char_classes.size))
    lacks[0] = characters[0] = 0  # nobody asks
    width = width_of(len(rows))
    narrow = rows.astype(width), lacks.astype(width), characters.astype(width)
    return write(*narrow, char_classes=char_classes, digest=digest(name))


def digest(name: str) -> str:
    """What a format's node comes to, in short."""
    node = format_node(name)
    assert node is not None
    return hashlib.sha256(repr(simplify(node)).encode()).hexdigest()


def explore(name: str) -> tuple[CharacterClasses, Ints, npt.NDArray[np.bool_]]:
    """All states of a format's automaton: its character classes, the rows over them, and which states accept."""
    node = format_node(name)
    assert node is not None
    program = text_program(node, LIMITS, Escapes.ANY, by_characters=True)
    assert program is not None
    automaton = ConditionAutomaton(*program)
    char_classes = automaton.char_classes
    assert char_classes is not None
    state = automaton.start
    while state < automaton.size:
        automaton.complete(state)
        state += 1
    rows = automaton.rows[: automaton.size].astype(np.int64)
    return (
        char_classes,
        rows[:, list(automaton.classes.of_byte[: char_classes.size])],
        automaton.accepting[: len(rows)] > 0,
    )


def smallest(rows: Ints, accepting: npt.NDArray[np.bool_]) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """The smallest automaton, by refinement (Moore 1956); numbered as a search from the start finds it.

    Rows are told apart by a sum of random numbers, and whether it told them all is looked at in the end.

    Args:
        rows: int64[states, classes]; state 0 is dead, the match begins in 1.
        accepting: bool[states].
    """
    part, count = accepting.astype(np.int64), 0
    part[0] = 2
    random = np.random.default_rng(0)
    columns = np.ascontiguousarray(rows.T)
    odd = random.integers(1 << 63, size=len(columns), dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    while part.max() + 1 != count:
        count = part.max() + 1
        of_part = random.integers(1 << 63, size=count, dtype=np.uint64)
        sums = of_part[part]
        for column, factor in zip(columns, odd, strict=True):
            sums += of_part[part[column]] * factor
        part = np.unique(sums, return_inverse=True)[1].ravel()
    member = np.zeros(count, np.int64)
    member[part] = np.arange(len(part))
    same = member[part]
    if not (np.array_equal(accepting, accepting[same]) and np.array_equal(part[rows], part[rows[same]])):
        raise ArithmeticError("two different rows have the same sum")
    found = {int(part[0]): 0, int(part[1]): 1}
    order = list(found)
    for one in itertools.islice(order, 1, None):  # which grows
        for following in part[rows[member[one]]].tolist():
            if following not in found:
                found[following] = len(found)
                order.append(following)
    number = np.zeros(count, np.int64)
    number[order] = np.arange(len(order))
    return number[part[rows[member[order]]]], accepting[member[order]]


def coarsest(char_classes: CharacterClasses, rows: Ints) -> tuple[CharacterClasses, Ints]:
    """The automaton over the character classes that it tells apart."""
    columns: dict[bytes, int] = {}
    new = [columns.setdefault(column.tobytes(), len(columns)) for column in np.ascontiguousarray(rows.T)]
    segments: list[tuple[int, int, int]] = []
    for first, last, char_class in char_classes.segments:
        if segments and segments[-1][2] == new[char_class] and segments[-1][1] + 1 == first:
            segments[-1] = (segments[-1][0], last, new[char_class])
        else:
            segments.append((first, last, new[char_class]))
    return char_classes_from(tuple(segments), char_classes.escapes), rows[
        :, [new.index(number) for number in range(len(columns))]
    ]


if __name__ == "__main__":
    main()
