"""The formats' tables against what they were made from."""

import json
from random import Random

import numpy as np
import pytest

from engine.automata.byte_automaton import DEAD
from engine.compile import CompileOptions, compile_grammar
from engine.grammar import CharSet
from engine.notations.json_schema.formats import NAMES, format_node
from engine.schema_automaton.json_encoding.character_classes import char_classes_of
from engine.schema_automaton.json_encoding.class_encoder import class_encoding_of
from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.string_languages.conditions import ConditionAutomaton, text_program
from engine.schema_automaton.string_languages.tables import BLOCK, TableAutomaton, pack, table_of, unpack, write
from engine.source import Limits
from resources.formats.write_tables import coarsest, digest, smallest

TABLES = sorted(NAMES)
FEW_STATES = 1_000


def worked_out(name):
    return ConditionAutomaton(*text_program(format_node(name), Limits(), Escapes.ANY, by_characters=True))


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_as_new_as_its_format(name):
    assert table_of(("format", name), Escapes.ANY).digest == digest(name), "python -m resources.formats.write_tables"


@pytest.mark.parametrize("name", [name for name in TABLES if table_of(("format", name), Escapes.ANY).size < FEW_STATES])
def test_a_small_table_is_its_format(name):
    table, twin = table_of(("format", name), Escapes.ANY), worked_out(name)
    pairs = letters_of_both(table, twin)
    todo, seen = [(table.start, twin.start)], {(table.start, twin.start)}
    while todo:
        mine, theirs = todo.pop()
        new = set(check_place(table, twin, pairs, mine, theirs)) - seen
        seen |= new
        todo += new
    assert {mine for mine, _ in seen} == set(range(1, table.size))


@pytest.mark.parametrize(
    "name", [name for name in TABLES if table_of(("format", name), Escapes.ANY).size >= FEW_STATES]
)
def test_a_large_table_is_its_format_along_many_ways(name):
    table, twin, random = table_of(("format", name), Escapes.ANY), worked_out(name), Random(name)
    pairs = letters_of_both(table, twin)
    for _ in range(4):
        mine, theirs = table.start, twin.start
        for _ in range(400):
            following = check_place(table, twin, pairs, mine, theirs)
            if not following:
                break
            mine, theirs = random.choice(following)


def letters_of_both(table, twin):
    """The letter of the table and the class of the twin that each character has; most share theirs with many."""
    segments = twin.char_classes.segments
    return sorted({(table.char_classes.of(first), twin.classes.of_byte[letter]) for first, _, letter in segments})


def check_place(table, twin, pairs, mine, theirs):
    """Where a table and its twin lead, which is to the same places; and what it says of the way to the end."""
    assert table.accepts(mine) == twin.accepts(theirs)
    assert not table.is_free(mine)
    lengths = [0] if table.accepts(mine) else []
    lacking = [0] if table.accepts(mine) else []
    costs = class_encoding_of(table.char_classes).costs(None)[0]
    following = set()
    row, others = table.row(mine), twin.row(theirs)
    assert [table.step(mine, letter) for letter in range(table.char_classes.size)] == row
    for letter, kind in pairs:
        target, other = row[letter], others[kind]
        assert (target == DEAD) is (other == DEAD)
        if target != DEAD:
            following.add((target, other))
            lengths.append(1 + table.characters(target))
            lacking.append(costs[letter] + table.min_remaining(target).at_least)
    assert table.characters(mine) == min(lengths) <= table.reach
    assert table.min_remaining(mine) == (min(lacking), True)
    return sorted(following)


def test_what_is_lacking_depends_on_the_bytes_that_there_are():
    table = table_of(("format", "date"), Escapes.ANY)
    assert table.min_remaining(DEAD).at_least is None
    assert table.min_remaining(table.start, frozenset(b"0123456789-")) == (10, True)
    assert table.min_remaining(table.start, frozenset(b"01-")) == (10, True)
    assert table.min_remaining(table.start, frozenset(b"0-")).at_least is None
    # A dash as an escape takes six bytes.
    assert table.min_remaining(table.start, frozenset(b"01\\u2dD")) == (20, True)


def test_blocks_are_unpacked_as_they_were():
    random = np.random.default_rng(7)
    rows = random.integers(0, 65_536, (BLOCK + 3, 5), np.uint16)
    lacks, characters = random.integers(0, 300, (2, BLOCK + 3), np.uint16)
    for mine, theirs in zip(unpack(pack(rows, lacks, characters), 5), (rows, lacks, characters), strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_the_smallest_automaton_over_the_coarsest_letters():
    # a or b, any number of times, then c: states 1 and 2 are alike, and so are a and b.
    letters = char_classes_of([CharSet.chars(c) for c in "abc"], Escapes.ANY)
    a, b, c = (letters.of(ord(each)) for each in "abc")
    rows = np.zeros((4, letters.size), np.int64)
    rows[1, [a, b, c]], rows[2, [a, b, c]] = (2, 1, 3), (1, 2, 3)
    least, accepting = smallest(rows, np.array([False, False, False, True]))
    fewer, narrow = coarsest(letters, least)
    assert (len(least), fewer.size) == (3, 3)
    assert fewer.of(ord("a")) == fewer.of(ord("b")) != fewer.of(ord("c"))
    lacks = np.array([0, 1, 0], np.uint16)
    data = write(narrow.astype(np.uint16), lacks, lacks, char_classes=fewer, digest="x")
    table = TableAutomaton(data, Escapes.ANY)
    for text, holds in (("c", True), ("abbac", True), ("ab", False), ("cc", False), ("d", False)):
        state = table.start
        for character in text:
            state = table.step(state, table.char_classes.of(ord(character))) if state else DEAD
        assert table.accepts(state) is holds
    assert accepting.tolist() == [False, False, True]


def test_grammars_share_a_format():
    schema = json.dumps({"items": {"type": "string", "format": "email", "maxLength": 10}})
    for escapes in ("shortest", "any", "shortest"):
        grammar = compile_grammar("json_schema", schema, CompileOptions(escapes=escapes))
        assert grammar.fullmatch('["a@b.example"]') is False
        assert grammar.fullmatch('["a@b.exampl"]') is True
        assert grammar.fullmatch('["\\u0061@b.c"]') is (escapes == "any")


@pytest.mark.parametrize("name", TABLES)
def test_every_format_has_more_than_a_million_strings(name):
    table = table_of(("format", name), Escapes.ANY)
    widths = np.zeros(table.char_classes.size)
    for first, last, letter in table.char_classes.segments:
        widths[letter] += last - first + 1
    ways, found = {table.start: 1.0}, 0.0
    for _ in range(40):
        following = {}
        for state, count in ways.items():
            found += count if table.accepts(state) else 0
            for letter, target in enumerate(table.row(state)):
                if target != DEAD:
                    following[target] = following.get(target, 0) + count * widths[letter]
        ways = following
        if found > 1_000_000:
            return
    raise AssertionError(found)
