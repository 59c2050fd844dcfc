import numpy as np
import pytest
from brute_force import allowed

import engine
from engine import Matcher, compile_grammar
from engine.matching import Explanation, Reason
from engine.source import Span
from engine.vocabulary import Vocabulary


def matcher(pattern, vocabulary, text=b""):
    result = Matcher(compile_grammar("regex", pattern), vocabulary)
    assert not text or result.accept_bytes(text)
    return result


def ids_in(mask):
    return np.flatnonzero(np.unpackbits(mask.astype("<i4").view(np.uint8), bitorder="little")).tolist()


@pytest.fixture(scope="module")
def tiny():
    #                    0     1     2      3     4    5     6
    return Vocabulary([b"a", b"b", b"ab", b"a", None, b"", b"</s>"], eos_ids=[6], special={4: "<pad>"})


def test_a_token_is_allowed_where_its_bytes_keep_a_prefix(tiny, walk):
    start = matcher("ab|b", tiny)
    assert ids_in(start.bitmask()) == [0, 1, 2, 3]
    assert [start.is_allowed(i) for i in range(7)] == [True, True, True, True, False, False, False]


def test_an_end_is_allowed_exactly_where_the_grammar_accepts(tiny, walk):
    text = matcher("a*b", tiny)
    assert not text.accept(6)
    assert text.accept(2)
    assert text.is_accepting
    assert ids_in(text.bitmask()) == [6]
    assert text.accept(6)
    assert text.is_finished
    assert text.is_accepting
    assert ids_in(text.bitmask()) == []
    assert not any(text.accept(i) for i in range(7))
    assert not text.accept_bytes(b"a")
    assert text.forced_bytes() == b""


def test_what_is_not_allowed_changes_nothing(tiny):
    text = matcher("ab", tiny, b"a")
    configuration = text.configuration
    for token_id in (0, 2, 4, 5, 6, -1, 7, 10**9):
        assert not text.accept(token_id)
    assert not text.accept_bytes(b"a")
    assert text.configuration == configuration
    text.rollback(1)
    assert text.configuration == text.grammar.automaton.start


def test_all_ends_are_allowed_together():
    vocabulary = Vocabulary([b"a", None, None], eos_ids=[1, 2])
    assert ids_in(matcher("a?", vocabulary).bitmask()) == [0, 1, 2]


def test_without_an_end_nothing_finishes():
    text = matcher("a?", Vocabulary([b"a", b"b"], eos_ids=[]))
    assert text.accept(0)
    assert text.is_accepting
    assert not text.is_finished
    assert ids_in(text.bitmask()) == []


def test_an_empty_language_allows_nothing(tiny, walk):
    text = matcher("a(?!.*)", tiny)
    assert text.configuration == 0
    assert not text.is_accepting
    assert ids_in(text.bitmask()) == []
    assert not any(text.accept(i) for i in range(7))
    assert text.forced_bytes() == b""
    assert text.explain(b"a").reason is Reason.DEAD_BYTE


def test_rollback_counts_ends_and_bytes(tiny):
    text = matcher("(ab)+", tiny)
    seen = [text.configuration]
    assert text.accept(2)
    seen.append(text.configuration)
    assert text.accept_bytes(b"aba")
    seen.append(text.configuration)
    assert text.accept(1)
    assert text.accept(6)
    text.rollback(1)
    assert not text.is_finished
    assert 6 in ids_in(text.bitmask())
    for count, configuration in ((1, seen[2]), (1, seen[1]), (0, seen[1]), (1, seen[0])):
        text.rollback(count)
        assert text.configuration == configuration


@pytest.mark.parametrize("count", [-1, 2])
def test_rollback_further_than_the_start_is_refused(tiny, count):
    text = matcher("a*", tiny, b"a")
    with pytest.raises(ValueError, match=f"cannot undo {count} steps: 1 were taken"):
        text.rollback(count)


def test_empty_text_is_a_step(tiny):
    text = matcher("a", tiny)
    assert text.accept_bytes(b"")
    text.rollback(1)


def test_a_fork_goes_its_own_way(tiny):
    one = matcher("(a|b)(a|b)", tiny, b"a")
    other = one.fork()
    assert one.accept(0)
    assert other.configuration != one.configuration
    assert other.accept(1)
    other.rollback(2)
    assert other.configuration == other.grammar.automaton.start
    assert one.is_accepting


def test_numpy_ids_are_ids(tiny):
    text = matcher("ab", tiny)
    assert text.is_allowed(np.int64(0))
    assert text.accept(np.int32(0))
    assert text.explain(np.int64(1)).allowed
    with pytest.raises(TypeError):
        text.accept("1")


@pytest.mark.parametrize(
    ("pattern", "text", "forced"),
    [
        ("abc", b"", b"abc"),
        ("abc", b"a", b"bc"),
        ("ab?c", b"", b"a"),
        ("a(bc)?", b"", b"a"),
        ("a+", b"", b"a"),
        ("日本|日中", b"", "日".encode()),
        ("a{9000}", b"", b"a" * 4096),
        ("", b"", b""),
    ],
)
def test_forced_bytes(tiny, pattern, text, forced):
    assert matcher(pattern, tiny, text).forced_bytes() == forced


def test_forced_bytes_stop_at_a_limit(tiny):
    assert matcher("abc", tiny).forced_bytes(2) == b"ab"


# ---------------------------------------------------------------------- the mask as an array


def test_every_word_is_written_and_the_rest_is_clear(small, walk):
    out = np.full((small.size + 31) // 32, -1, np.int32)
    text = matcher("(?s).*", small)
    text.fill_bitmask(out)
    assert ids_in(out) == allowed(text.grammar, text)
    assert out[-1] >> (small.size % 32) == 0


def test_a_mask_fills_a_row_of_a_batch(small):
    batch = np.full((3, (small.size + 31) // 32), -1, np.int32)
    text = matcher("a", small)
    text.fill_bitmask(batch[1])
    assert batch[1].tolist() == text.bitmask().tolist()
    assert (batch[[0, 2]] == -1).all()


def test_a_new_mask_is_the_caller_s_own(small):
    text = matcher("a", small)
    text.bitmask()[:] = -1
    assert ids_in(text.bitmask()) == allowed(text.grammar, text)


@pytest.mark.parametrize(
    "out",
    [
        np.zeros(9, np.int32),
        np.zeros(11, np.int32),
        np.zeros((1, 10), np.int32),
        np.zeros(10, np.int64),
        np.zeros(10, np.float32),
        np.zeros(10, np.int32)[:, None],
        [0] * 10,
        np.frombuffer(bytes(40), np.int32),
    ],
)
def test_another_shape_or_type_is_refused(small, out):
    with pytest.raises(ValueError, match="int32 array of 10 words, writable"):
        matcher("a", small).fill_bitmask(out)


# ---------------------------------------------------------------------- why


def test_why_a_byte_is_dead(small):
    text = matcher("[0-9]+x[a-f]", small, b"1")
    found = text.explain(b"2xz")
    assert found.reason is Reason.DEAD_BYTE
    assert (found.token, found.offset, found.accepting) == (b"2xz", 2, False)
    assert found.expected == ((ord("a"), ord("f")),)
    assert found.spans == (Span(7, 12),)
    assert text.explain(small.tokens.index(b"ab")).offset == 0


def test_why_a_token_is_allowed(small):
    found = matcher("a|ab|cd", small).explain(small.tokens.index(b"ab"))
    assert found == Explanation(Reason.ALLOWED, b"ab", None, (), (), True)
    assert found.allowed


def test_why_an_end_is_not_allowed(small):
    (end,) = small.eos_ids
    text = matcher("ab", small, b"a")
    found = text.explain(end)
    assert (found.reason, found.expected, found.accepting) == (Reason.NOT_ACCEPTING, ((98, 98),), False)
    assert text.accept_bytes(b"b")
    assert text.explain(end).reason is Reason.ALLOWED
    assert text.accept(end)
    assert text.explain(end).reason is Reason.FINISHED
    assert text.explain(b"a") == Explanation(Reason.FINISHED, b"a", accepting=True)


def test_why_ids_without_text_are_not_allowed(small):
    text = matcher("a", small)
    (pad,) = set(small.special) - small.eos_ids
    assert text.explain(pad).reason is Reason.SPECIAL
    assert text.explain(pad + 1).reason is Reason.NO_BYTES
    assert text.explain(b"").reason is Reason.NO_BYTES
    assert text.explain(small.size).reason is Reason.UNKNOWN_ID
    assert text.explain(-1).reason is Reason.UNKNOWN_ID


def test_an_explanation_agrees_with_the_mask(small):
    text = matcher('"[^"]*(日本)?"', small, b'"x')
    reasons = [text.explain(i).allowed for i in range(small.size)]
    assert np.flatnonzero(reasons).tolist() == ids_in(text.bitmask())
    engine.clear_caches()
