"""What of a trace counts for the coverage; the rest is told through a whole window in `test_verdicts`."""

from decode_views import step

from app.session.test_runs import outputs_of
from engine.decoding.values import Trace, TraceNode


def nodes(*parents_and_tokens):
    return tuple(TraceNode(index, parent, step(token)) for index, (parent, token) in enumerate(parents_and_tokens))


def texts_of(trace, *aside):
    return tuple(one.data for one in outputs_of(trace, *aside))


def test_every_branch_is_an_output_as_far_as_it_is_legal():
    tree = nodes((None, b"a"), (0, b"b"), (0, b"c"), (2, b"d"), (3, b"e"))
    assert texts_of(Trace(tree, (0, 1), 1)) == (b"acde", b"ab")
    assert texts_of(Trace(tree, (0, 1), 1, frozenset({3}))) == (b"ac", b"ab")
    assert texts_of(Trace()) == ()


def test_steps_before_a_restart_count_again_once_they_are_taken_again():
    tree = nodes((None, b"a"), (0, b"b"), (0, b"c"))
    assert texts_of(Trace(tree, (0, 1), None), frozenset({0, 1, 2})) == ()
    assert texts_of(Trace(tree, (0, 1), 0), frozenset({1, 2})) == (b"a",)
