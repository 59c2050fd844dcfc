"""A trace in pieces: whole again on the other side, made anew only where it changed, and sent once."""

import pickle
import random
from dataclasses import replace

import decode_views as views
import pytest

from app.workers.trace_codec import Receiver, Sender
from engine.decoding.values import Trace

TOKENS = tuple(bytes([97 + i % 26]) for i in range(100))


@pytest.fixture(params=[True, False], ids=["once", "whole"])
def sender(request):
    sender = Sender()
    sender.sends_once = request.param
    return sender


def crossed(sender, trace):
    return pickle.loads(pickle.dumps(sender.pack(trace)))


@pytest.mark.parametrize("shown", [Trace(), views.trace(TOKENS, current=40, illegal=(50, 51))], ids=["empty", "long"])
def test_a_trace_is_whole_again(sender, shown):
    receiver = Receiver()
    assert [receiver.unpack(crossed(sender, shown)) for _ in range(2)] == [shown, shown]


def test_what_did_not_change_is_not_made_again(sender):
    receiver = Receiver()
    before, after = (receiver.unpack(crossed(sender, views.trace(TOKENS[:n]))) for n in (99, 100))
    assert [old is new for old, new in zip(before.nodes, after.nodes, strict=False)].count(True) >= 96


def test_what_the_view_before_had_is_not_sent_again():
    sender = Sender()
    sender.sends_once = True
    shown = views.trace(TOKENS)
    first, second = len(pickle.dumps(sender.pack(shown))), len(pickle.dumps(sender.pack(shown)))
    assert second < first / 10


def test_a_step_costs_what_it_adds():
    sender, receiver = Sender(), Receiver()
    sender.sends_once = True
    shown = [views.trace(TOKENS[:n]) for n in range(1, 100)]
    # The same nodes, as a session has them, and not only equal ones.
    shown = [Trace(shown[-1].nodes[: len(one.nodes)], one.path, one.current) for one in shown]
    for one in shown:
        packed = crossed(sender, one)
        assert sum(isinstance(content, bytes) for _, content in packed.pieces) == 1
        assert len(packed.pieces) <= 2
        assert receiver.unpack(packed) == one


def test_a_step_that_is_taken_again_costs_itself():
    sender, receiver = Sender(), Receiver()
    sender.sends_once = True
    shown = views.trace(TOKENS)
    for n in range(1, 101):
        receiver.unpack(crossed(sender, Trace(shown.nodes[:n], shown.path[:n])))
    for again in range(100):
        nodes = list(shown.nodes)
        nodes[again] = replace(nodes[again], step=replace(nodes[again].step, logits_ms=again + 1.0))
        shown = replace(shown, nodes=tuple(nodes))
        packed = crossed(sender, shown)
        assert sum(isinstance(content, bytes) for _, content in packed.pieces) == 1
        assert len(packed.pieces) <= 4
        assert receiver.unpack(packed) == shown


def test_traces_that_change_at_random_are_whole(sender):
    receiver, drawn = Receiver(), random.Random(3)
    for _ in range(200):
        shown = views.trace(TOKENS[: drawn.randrange(100)] if drawn.random() < 0.7 else TOKENS[: drawn.randrange(3)])
        assert receiver.unpack(crossed(sender, shown)) == shown


def test_two_senders_are_kept_apart():
    senders, receiver = (Sender(), Sender()), Receiver()
    for sender in senders:
        sender.sends_once = True
    for n in (50, 60, 70):
        for sender, tokens in zip(senders, (TOKENS[:n], TOKENS[10 : n + 10]), strict=True):
            assert receiver.unpack(crossed(sender, views.trace(tokens))) == views.trace(tokens)


def test_a_view_travels_so():
    view = views.view(views.trace(TOKENS))
    first, second = (pickle.loads(pickle.dumps(view)) for _ in range(2))
    assert first == view
    assert first.trace.nodes[0] is second.trace.nodes[0]
