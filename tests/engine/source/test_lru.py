import pytest

from engine.source.lru import LruCache


def test_the_least_recently_used_entry_is_dropped():
    cache, made = LruCache(2), []

    def get(key):
        return cache.get(key, lambda: made.append(key) or key * 2)

    assert [get(key) for key in (1, 2, 1, 3, 1, 2)] == [2, 4, 2, 6, 2, 4]
    assert made == [1, 2, 3, 2]
    assert (1 in cache, 2 in cache, 3 in cache) == (True, True, False)


def test_looking_at_an_entry_does_not_count_as_use():
    cache = LruCache(2)
    cache.get(1, str)
    cache.get(2, str)
    assert (cache.peek(1), cache.peek(5)) == ("", None)
    cache.get(3, str)
    assert 1 not in cache


def test_a_value_of_none_is_kept():
    cache = LruCache(1)
    cache.get(1, lambda: None)
    assert cache.get(1, lambda: pytest.fail("made twice")) is None


def test_nothing_is_kept_if_making_fails():
    cache = LruCache(1)
    with pytest.raises(ZeroDivisionError) as raised:
        cache.get(1, lambda: 1 // 0)
    assert raised.value.__context__ is None
    assert 1 not in cache


def test_entries_can_be_dropped():
    cache = LruCache(3)
    for key in range(3):
        cache.get(key, int)
    cache.discard(1)
    cache.discard(7)
    assert [key in cache for key in range(3)] == [True, False, True]
    cache.clear()
    assert not any(key in cache for key in range(3))
