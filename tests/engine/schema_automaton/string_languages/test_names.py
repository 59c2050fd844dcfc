"""States of tries, and the steps between them, against the spellings written out."""

import itertools
import json

from hypothesis import given
from hypothesis import strategies as st

from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.string_languages.names import NameTrie, is_between, node_of, partial_of, within

MODES = st.sampled_from([Escapes.SHORTEST, Escapes.ANY])
NAMES = st.lists(st.text(alphabet='ab"é\\😀', max_size=3), min_size=1, max_size=5)


@given(st.integers(0, (1 << 32) - 1), st.binary(min_size=1, max_size=11))
def test_a_state_is_a_node_and_some_bytes(node, partial):
    state = within(node, partial)
    assert (node_of(state), partial_of(state), is_between(state)) == (node, partial, False)
    assert (node_of(node), partial_of(node), is_between(node)) == (node, b"", True)


def spellings(text, escapes):
    """The ways to spell a string with each character raw, in short or as escapes, in bytes."""
    if escapes is Escapes.SHORTEST:
        return [json.dumps(text, ensure_ascii=False)[1:-1].encode()]
    ways = []
    for character in text:
        units = character.encode("utf-16-be")
        escaped = "".join(f"\\u{units[i]:02x}{units[i + 1]:02X}" for i in range(0, len(units), 2))
        ways.append({json.dumps(character, ensure_ascii=False)[1:-1], escaped})
    return ["".join(each).encode() for each in itertools.product(*ways)]


@given(NAMES, st.integers(0, 31), MODES)
def test_every_spelling_of_a_name_that_may_come_is_read(names, allowed, escapes):
    trie = NameTrie(names, escapes)
    for number, name in enumerate(trie.names):
        for spelled in spellings(name, escapes):
            state = trie.start
            for byte in spelled:
                state = None if state is None else trie.step(state, byte, allowed)
            may_come = bool(allowed >> number & 1)
            assert (state is not None and trie.end(state, allowed) == number) == may_come


@given(NAMES)
def test_in_the_shortest_spelling_no_other_one_is_read(names):
    trie = NameTrie(names, Escapes.SHORTEST)
    for name in trie.names:
        for spelled in spellings(name, Escapes.ANY):
            state = trie.start
            for byte in spelled:
                state = None if state is None else trie.step(state, byte, -1)
            assert (state is not None) is (spelled == json.dumps(name, ensure_ascii=False)[1:-1].encode())


@given(NAMES, st.integers(0, 31), MODES)
def test_a_step_tells_which_names_lie_that_way(names, allowed, escapes):
    trie = NameTrie(names, escapes)
    todo, seen = [(trie.start, b"")], set()
    while todo:
        state, read = todo.pop()
        if state in seen:
            continue
        seen.add(state)
        for byte, following, below in trie.steps(state):
            text = read + bytes((byte,))
            ahead = {
                n for n, name in enumerate(trie.names) if any(s.startswith(text) for s in spellings(name, escapes))
            }
            if all(part in b'ab"' for part in text):  # spelled in one way so far
                assert {n for n in range(len(trie.names)) if below >> n & 1} >= ahead
            todo.append((following, text))


@given(
    st.lists(st.text(alphabet="ab/~", max_size=3), min_size=1, max_size=5), st.sampled_from([b"\\", b"\\u", b"\\u0"])
)
def test_what_all_escapes_begin_with_is_known_beforehand(names, partial):
    trie = NameTrie(names, Escapes.ANY)
    for node in range(len(trie.edges)):
        assert set(trie.steps(within(node, partial))) == set(trie.all_steps(node, partial))


@given(NAMES)
def test_the_tail_of_a_name_leads_to_its_end(names):
    trie = NameTrie(names, Escapes.ANY)
    for number, name in enumerate(trie.names):
        node = trie.start
        for code in map(ord, name):
            tail = trie.tail(node, number)
            if tail is not None:
                nodes, letters = tail
                steps = [trie.edges[at][byte] for at, byte in zip([node, *nodes], letters, strict=False)]
                assert steps == list(nodes)
                assert trie.ends[nodes[-1]] == number
            node = trie.edges[node][code]
        assert trie.ends[node] == number
