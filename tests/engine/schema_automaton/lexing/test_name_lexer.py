"""Readers of names, held against the trie that they read and against what JSON says a spelling is."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.automata.byte_automaton import DEAD
from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.lexing.lexer import QUOTE_BYTE, LexerTable, common, ending
from engine.schema_automaton.lexing.name_lexer import NameLexer, Names
from engine.schema_automaton.lexing.whitespace import Whitespace
from engine.schema_automaton.string_languages.names import NameTrie
from engine.source import Limits

NAMES = st.lists(st.text(alphabet="ab/é", max_size=4), min_size=1, max_size=5)
PIECES = st.sampled_from(["a", "b", "/", "é", "c", "\\/", "\\u0061", "\\u006", "\\u00e9", "\\u", "\\", "\\n"])
SPELLINGS = st.lists(PIECES, max_size=5).map("".join)
MODES = st.sampled_from([Escapes.SHORTEST, Escapes.ANY])
SHARED = {mode: common(Whitespace.FLEXIBLE, mode) for mode in (Escapes.SHORTEST, Escapes.ANY)}


def new_table(mode):
    return LexerTable(Limits(), SHARED[mode].table)


def read(table, reader, data):
    """The entry after some bytes: a state, or `DEAD`."""
    state = reader.begin(table)
    for byte in data:
        state = table.entry(state, byte) if state > DEAD else DEAD
    return state


def decoded(spelled):
    try:
        return json.loads(f'"{spelled}"')
    except json.JSONDecodeError:
        return None


@given(NAMES, st.integers(0, 31), st.lists(SPELLINGS, max_size=8), MODES)
def test_names_are_read_as_the_trie_steps(names, allowed, texts, mode):
    trie = NameTrie(names, mode)
    table, reader = new_table(mode), Names(trie, allowed, trie.names)
    for text in [*texts, *trie.names]:
        state, entry = trie.start, reader.begin(table)
        for byte in text.encode():
            state = None if state is None else trie.step(state, byte, allowed)
            entry = table.entry(entry, byte)
            assert (entry > DEAD) == (state is not None)
            if state is None:
                break
        else:
            name = trie.end(state, allowed)
            assert table.entry(entry, QUOTE_BYTE) == (DEAD if name < 0 else ending(name))


@given(NAMES, st.lists(SPELLINGS, max_size=8), MODES, st.booleans())
def test_marked_strings_are_any_strings_with_some_told_apart(names, texts, mode, free):
    trie, shared = NameTrie(names, mode), SHARED[mode]
    home, language = (
        (shared.free_string_state, shared.free_string) if free else (shared.any_string_state, shared.any_string)
    )
    table, reader = new_table(mode), NameLexer(trie, lambda name: "" if name is None else f"={name}", home)
    for text in [*texts, *trie.names]:
        entry = read(table, reader, text.encode())
        end = table.entry(entry, QUOTE_BYTE) if entry > DEAD else DEAD
        key, state = decoded(text), language.start
        for byte in text.encode():
            state = state and language.step(state, byte)
        if key is None:
            assert end == DEAD or end > DEAD  # within an escape a quote is a letter, or nothing
        elif not (state and language.accepts(state)):
            assert end == DEAD
        else:
            is_marked = key in trie.numbers and (
                mode is Escapes.ANY or text == json.dumps(key, ensure_ascii=False)[1:-1]
            )
            assert reader.labels[-2 - end] == (f"={key}" if is_marked else "")


@pytest.mark.parametrize("count", [5_000, 40_000])
def test_a_table_that_grows_keeps_what_was_written(count):
    trie = NameTrie(["ab", "ac"], Escapes.ANY)
    table, reader = new_table(Escapes.ANY), Names(trie, 3, trie.names)
    state = read(table, reader, b"a")
    row = table.rows[state].copy()
    first = table.run(reader, [("more", number) for number in range(count)], 7)
    assert (table.rows[state] == row).all()
    assert (table.rows[[first, first + count - 1]] == 7).all()
