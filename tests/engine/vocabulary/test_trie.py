import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.vocabulary.trie import build_trie

tokens_of_a_small_alphabet = st.lists(
    st.one_of(st.none(), st.binary(max_size=5), st.text("ab\0", max_size=6).map(str.encode))
)


def prefixes_of(trie):
    """Each node's prefix, followed from the arrays."""
    prefixes, path = [], b""
    for byte, depth in zip(trie.byte.tolist(), trie.depth.tolist(), strict=True):
        path = path[: depth - 1] + bytes((byte,))
        assert len(path) == depth
        prefixes.append(path)
    return prefixes


@given(tokens_of_a_small_alphabet)
def test_the_nodes_are_the_prefixes_in_order(tokens):
    expected = {token[:end] for token in tokens if token for end in range(1, len(token) + 1)}
    assert prefixes_of(build_trie(tokens)) == sorted(expected)


@given(tokens_of_a_small_alphabet)
def test_every_id_stands_at_the_node_of_its_bytes(tokens):
    trie = build_trie(tokens)
    prefixes = prefixes_of(trie)
    found = {
        index: prefix
        for prefix, begin, end in zip(prefixes, trie.token_start[:-1], trie.token_start[1:], strict=True)
        for index in trie.token_ids[begin:end].tolist()
    }
    assert found == {index: token for index, token in enumerate(tokens) if token}
    assert len(trie.token_ids) == len(found)


@given(tokens_of_a_small_alphabet)
def test_a_skip_jumps_over_the_subtree(tokens):
    trie = build_trie(tokens)
    prefixes = prefixes_of(trie)
    for node, end in enumerate(trie.skip.tolist()):
        assert all(prefix.startswith(prefixes[node]) for prefix in prefixes[node:end])
        assert end == len(prefixes) or not prefixes[end].startswith(prefixes[node])


@given(tokens_of_a_small_alphabet)
def test_the_top_and_the_sizes(tokens):
    trie = build_trie(tokens)
    prefixes = prefixes_of(trie)
    for byte, node in enumerate(trie.top.tolist()):
        single = bytes((byte,))
        assert node == (prefixes.index(single) if single in prefixes else -1)
    assert trie.height == max((len(token) for token in tokens if token), default=0)
    assert trie.size == len(tokens)
    assert trie.words == (len(tokens) + 31) // 32


def test_ids_that_share_bytes_are_neighbours():
    trie = build_trie([b"x", b"a", b"x", None, b"x"])
    assert trie.token_ids.tolist() == [1, 0, 2, 4]
    assert trie.token_start.tolist() == [0, 1, 4]


def test_trailing_zero_bytes_count():
    assert prefixes_of(build_trie([b"a\0\0", b"a"])) == [b"a", b"a\0", b"a\0\0"]


def test_a_real_vocabulary(tekken):
    trie = tekken.trie
    assert len(trie.byte) == 266_312
    assert len(trie.token_ids) == 130_072
    assert prefixes_of(trie) == sorted({t[:end] for t in tekken.tokens if t for end in range(1, len(t) + 1)})


@given(tokens_of_a_small_alphabet, st.sets(st.sampled_from([b"a", b"b", b"ab", b"ba", b"\0", b"aab"])))
def test_a_part_holds_the_tokens_below_some_nodes(tokens, roots):
    roots = {root for root in roots if not any(root != other and root.startswith(other) for other in roots)}
    trie = build_trie(tokens)
    nodes = [node for node, prefix in enumerate(prefixes_of(trie)) if prefix in roots]
    part = trie.below(np.array(nodes, np.int32))
    kept = [token if token and token.startswith(tuple(roots)) else None for token in tokens]
    expected = build_trie(kept)
    for array, other in zip((*part.arrays, part.top), (*expected.arrays, expected.top), strict=True):
        np.testing.assert_array_equal(array, other)


@given(tokens_of_a_small_alphabet, st.sets(st.binary(min_size=1, max_size=3)), st.booleans())
def test_a_walk_visits_the_nodes_whose_prefixes_can_be_read(tokens, refused, below_a_node):
    trie = build_trie(tokens)
    prefixes = prefixes_of(trie)
    root = len(prefixes) // 2 if below_a_node and prefixes else None

    def step(before, node):
        after = before + bytes((trie.byte[node],))
        return None if after in refused else after

    start = b"" if root is None else prefixes[root][:-1]
    expected = [
        prefix
        for node, prefix in enumerate(prefixes)
        if (root is None or root <= node < trie.skip[root])
        and not any(prefix[:end] in refused for end in range(len(start) + 1, len(prefix) + 1))
    ]
    assert [prefixes[node] for node, _ in trie.walk(start, step, root)] == expected
    assert [after for _, after in trie.walk(start, step, root)] == expected


@given(tokens_of_a_small_alphabet, st.text("ab\0", max_size=8).map(str.encode), st.integers(0, 8))
def test_the_tokens_in_a_text_and_the_tokens_that_begin_with_it(tokens, text, begin):
    trie = build_trie(tokens)
    found = {end: ids.tolist() for end, ids in trie.tokens_at(text, begin)}
    expected = {}
    for end in range(begin + 1, len(text) + 1):
        if ids := [index for index, token in enumerate(tokens) if token == text[begin:end]]:
            expected[end] = ids
    assert found == expected
    node = trie.find(text) if text else None
    below = [] if node is None else sorted(trie.ids_below(node).tolist())
    assert below == ([index for index, token in enumerate(tokens) if token and token.startswith(text)] if text else [])
