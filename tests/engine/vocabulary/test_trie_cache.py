import numpy as np
import pytest

from engine.vocabulary import trie as tries
from engine.vocabulary.trie import build_trie

TOKENS = [*(b"%d" % number for number in range(12_000)), None, b"", b"x" * 40]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tries, "trie_folder", lambda: tmp_path)
    return tmp_path


def assert_equal(trie, expected):
    assert (trie.height, trie.size) == (expected.height, expected.size)
    for array, other in zip((*trie.arrays, trie.top), (*expected.arrays, expected.top), strict=True):
        assert array.dtype == other.dtype
        np.testing.assert_array_equal(array, other)


def never(tokens):
    raise AssertionError(len(tokens))


def test_the_second_trie_is_read(folder, monkeypatch):
    expected = build_trie(TOKENS)
    assert_equal(tries.cached_trie(TOKENS), expected)
    monkeypatch.setattr(tries, "build_trie", never)
    again = tries.cached_trie(TOKENS)
    assert_equal(again, expected)
    assert not any(array.flags.writeable for array in (*again.arrays, again.top))


@pytest.mark.parametrize("size", [0, 10, 200, -1, -1000])
def test_what_is_damaged_is_built_anew(folder, size):
    tries.cached_trie(TOKENS)
    (path,) = folder.iterdir()
    whole = path.read_bytes()
    path.write_bytes(whole[:size] if size >= 0 else whole[:size] + b"\x01" * -size)
    assert_equal(tries.cached_trie(TOKENS), build_trie(TOKENS))
    assert path.read_bytes() == whole


def test_other_tokens_have_another_file(folder):
    tries.cached_trie(TOKENS)
    other = [*TOKENS[:-1], b"x" * 39, b"x"]
    assert_equal(tries.cached_trie(other), build_trie(other))
    assert len(list(folder.iterdir())) == 2


def test_neighbours_cannot_trade_bytes(folder):
    one, other = [*TOKENS, b"ab", b"c"], [*TOKENS, b"a", b"bc"]
    tries.cached_trie(one)
    assert_equal(tries.cached_trie(other), build_trie(other))


def test_a_folder_that_cannot_be_written_does_no_harm(folder, monkeypatch):
    def full(**_):
        raise OSError(28, "no space left on device")

    monkeypatch.setattr(tries.tempfile, "mkstemp", full)
    assert_equal(tries.cached_trie(TOKENS), build_trie(TOKENS))
    assert not list(folder.iterdir())


def test_the_oldest_files_go(folder, monkeypatch):
    monkeypatch.setattr(tries, "MAX_FILES", 2)
    for number in range(4):
        tries.cached_trie([*TOKENS, b"%d!" % number])
    assert len(list(folder.iterdir())) == 2


def test_a_small_vocabulary_is_not_cached(folder):
    tries.cached_trie(TOKENS[:100])
    assert not list(folder.iterdir())
