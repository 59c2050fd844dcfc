"""The table of reading states: it grows in portions, and loses nothing."""

from random import Random

import numpy as np
import pytest

from engine.automata.byte_automaton import MISS
from engine.schema_automaton.lexing import lexer
from engine.schema_automaton.lexing.lexer import JsonLexer, LexerTable
from engine.source import LimitExceededError, Limits


class Numbers(JsonLexer):
    start = 0

    def fill(self, table, number, state, byte):
        raise AssertionError


@pytest.fixture
def small_rooms(monkeypatch):
    monkeypatch.setattr(lexer, "CAPACITY", 64)
    monkeypatch.setattr(lexer, "GROWTH", 3)


@pytest.mark.usefixtures("small_rooms")
def test_a_table_that_grows_holds_what_was_written_at_any_time():
    random = Random(5)
    table, reader, expected = LexerTable(Limits()), Numbers(), {}
    rooms = set()
    while len(table) < 2_000:
        if random.random() < 0.2:
            states = list(range(len(table), len(table) + random.randrange(1, 90)))
            first = table.run(reader, states, 7)
            expected.update((first + i, 7) for i in range(len(states)))
        else:
            expected[table.state(reader, len(table))] = MISS
        for number in random.sample(sorted(expected), min(3, len(expected))):
            expected[number] = random.randrange(100)
            table.rows[number] = expected[number]
        rooms.add(len(table.rows))
    assert len(rooms) > 3
    numbers = np.array(sorted(expected))
    assert (table.rows[numbers] == np.array([expected[number] for number in numbers.tolist()])[:, np.newaxis]).all()


@pytest.mark.usefixtures("small_rooms")
def test_a_table_ends_at_its_limit():
    table, reader = LexerTable(Limits(configurations=500)), Numbers()
    for state in range(500):
        table.state(reader, state)
    with pytest.raises(LimitExceededError, match="lexer states"):
        table.state(reader, 500)
