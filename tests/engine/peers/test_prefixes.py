"""How many bytes of an output engines accept: this one, and doubles that refuse, break, hang and die."""

import pytest

from engine.peers import PEERS
from engine.peers.adapter import OWN, Peer
from engine.peers.prefixes import accepted_prefixes, installed_peers
from engine.peers.report import CaseOutcome
from engine.source import CancelledError, CancelToken
from tests.engine.peers.peer_doubles import BrokenAdapter, DoubleAdapter

pytestmark = pytest.mark.usefixtures("ready_peers")
OURS = PEERS[OWN]
DOUBLE = Peer("double", "pytest", DoubleAdapter)


@pytest.mark.parametrize(
    ("output", "accepted", "is_complete"),
    [(b"", 0, False), (b"aab", 3, True), (b"aac", 2, False), (b"aa\xffb", 2, False), ("aé".encode(), 1, False)],
)
def test_this_engine_accepts_the_legal_part(output, accepted, is_complete):
    (found,) = accepted_prefixes((OURS,), "regex", "a+b", output)
    assert (found.accepted, found.is_complete, found.outcome) == (accepted, is_complete, CaseOutcome.DONE)


@pytest.mark.parametrize(
    ("source", "outcome", "accepted"),
    [
        ("fine", CaseOutcome.DONE, 3),
        ("rejects", CaseOutcome.DONE, 0),
        ("refused", CaseOutcome.REFUSED, None),
        ("breaks", CaseOutcome.FAILED, None),
        ("dies", CaseOutcome.DIED, None),
        ("hangs", CaseOutcome.TIMED_OUT, None),
    ],
)
def test_what_goes_wrong_is_an_answer_and_the_next_engine_is_asked(source, outcome, accepted):
    double, ours = accepted_prefixes((DOUBLE, OURS), "regex", source, source[:3].encode(), limit_s=2)
    assert (double.outcome, double.accepted) == (outcome, accepted)
    assert bool(double.reason) is (accepted is None)
    assert (ours.engine, ours.accepted) == (OWN, 3)


def test_an_engine_that_cannot_be_used_has_a_reason():
    (found,) = accepted_prefixes((Peer("broken", "pytest", BrokenAdapter),), "regex", "a", b"a")
    assert (found.outcome, found.accepted) == (None, None)
    assert "a part of it is missing" in found.reason


def test_it_can_be_cancelled():
    cancel = CancelToken(lambda *_: cancel.cancel())
    with pytest.raises(CancelledError):
        accepted_prefixes((DOUBLE,), "regex", "hangs", b"a", cancel=cancel)


def test_the_installed_engines_of_a_notation_begin_with_this_one():
    for notation in ("regex", "gbnf", "json_schema"):
        found = installed_peers(notation)
        assert found[0] is OURS
        assert all(notation in peer.notations and peer.version for peer in found)
