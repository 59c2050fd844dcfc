"""A trace in pieces: whole again on the other side, and made anew only where it changed."""

import pickle

import decode_views as views
import pytest

from app.workers.traces import pack, unpack
from engine.decoding.values import Trace

TOKENS = tuple(bytes([97 + i % 26]) for i in range(100))


@pytest.mark.parametrize("shown", [Trace(), views.trace(TOKENS, current=40, illegal=(50, 51))], ids=["empty", "long"])
def test_a_trace_is_whole_again(shown):
    assert unpack(pickle.loads(pickle.dumps(pack(shown)))) == shown


def test_what_did_not_change_is_not_made_again():
    before, after = (unpack(pickle.loads(pickle.dumps(pack(views.trace(TOKENS[:n]))))) for n in (99, 100))
    assert [old is new for old, new in zip(before.nodes, after.nodes, strict=False)].count(True) >= 96


def test_a_view_travels_so():
    view = views.view(views.trace(TOKENS))
    first, second = (pickle.loads(pickle.dumps(view)) for _ in range(2))
    assert first == view
    assert first.trace.nodes[0] is second.trace.nodes[0]
