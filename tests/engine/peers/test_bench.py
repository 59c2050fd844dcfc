"""The bench, with this engine and with doubles that refuse, break, hang and die."""

import subprocess

import psutil
import pytest
from error_keys import raises_key

from engine import CompileOptions
from engine.peers import PEERS, BenchCase, LabelledText, UnknownPeerError, compare, find_peers, run_bench
from engine.peers.adapter import OWN, Peer
from engine.peers.report import CaseMeasurement, CaseOutcome, EngineMeasurements
from engine.source import CancelledError, CancelToken
from engine.source.processes import start_python
from engine.vocabulary import Vocabulary
from tests.engine.peers.peer_doubles import BrokenAdapter, DoubleAdapter, DyingAdapter

BYTES = Vocabulary([*(bytes((byte,)) for byte in range(256)), b"ab", None], eos_ids=[257])
OURS = PEERS[OWN]


def double(adapter=DoubleAdapter):
    return Peer("double", "pytest", adapter)  # whose version there is


def case(source, *texts, notation="regex", name=""):
    return BenchCase(name or source, notation, source, tuple(LabelledText(*text) for text in texts))


def test_this_engine_is_measured():
    cases = [case("a+b", ("aab", True), ("ba", False), ("aa",)), case("(", ("x",)), case('{"const": 1}', ("1", True))]
    cases[2] = BenchCase("schema", "json_schema", cases[2].source, cases[2].texts)
    (measured,) = run_bench([OURS], BYTES, cases, walks=2)
    assert measured.absent is None
    assert measured.prepare_ms > 0
    done, refused, schema = measured.cases
    assert done.ending == CaseOutcome.DONE
    assert done.verdicts == (True, False, False)
    assert len(done.step_us) == 2 * (2 + 1 + 2)  # a, ab; b, which is not allowed; a, a
    assert 0 < done.compile_us <= done.first_mask_us
    assert refused.ending == CaseOutcome.REFUSED
    assert "never closed" in refused.reason or "(" in refused.reason
    assert schema.verdicts == (True,)


def test_this_engine_compiles_with_the_options_that_are_given():
    cases = [case('{"const": "a"}', (r'"\u0061"',), notation="json_schema")]
    (measured,) = run_bench([OURS], BYTES, cases, options=CompileOptions(escapes="any"))
    assert measured.cases[0].verdicts == (True,)


def test_what_goes_wrong_with_one_case_does_not_end_the_others():
    names = ["fine", "refused", "hangs", "breaks", "dies", "rejects"]
    cases = [case(name, ("a", True)) for name in names] + [case("x", ("a",), notation="gbnf")]
    (measured,) = run_bench([double()], BYTES, cases, limit_s=1.0)
    assert [(one.name, one.ending) for one in measured.cases] == [
        ("fine", CaseOutcome.DONE),
        ("refused", CaseOutcome.REFUSED),
        ("hangs", CaseOutcome.TIMED_OUT),
        ("breaks", CaseOutcome.FAILED),
        ("dies", CaseOutcome.DIED),
        ("rejects", CaseOutcome.DONE),
        ("x", CaseOutcome.REFUSED),
    ]
    reasons = {one.name: one.reason for one in measured.cases}
    assert reasons["refused"] == "ValueError: not this one"
    assert reasons["hangs"] == "no answer within 1 s"
    assert reasons["breaks"] == "RuntimeError: it broke in two lines"
    assert reasons["dies"] == "its process died"
    assert reasons["x"] == "UnsupportedNotationError: it does not read gbnf"


@pytest.mark.parametrize(
    ("peer", "why"),
    [
        (Peer("gone", "no-such-distribution", BrokenAdapter), "not installed: pip install no-such-distribution"),
        (double(BrokenAdapter), "it cannot be used: ImportError: a part of it is missing"),
        (double(DyingAdapter), "it died while it was loaded"),
    ],
)
def test_an_engine_that_cannot_run_is_named(peer, why):
    (measured,) = run_bench([peer], BYTES, [case("fine", ("a",))])
    assert measured.absent.startswith(why)
    assert measured.cases == ()


def test_a_vocabulary_without_an_end_gets_one():
    (measured,) = run_bench([double()], Vocabulary([b"a"], eos_ids=[]), [case("fine", ("aa",))])
    assert measured.cases[0].verdicts == (True,)


def test_a_text_that_the_vocabulary_cannot_spell_is_told():
    (measured,) = run_bench([double()], Vocabulary([b"a"], eos_ids=[]), [case("fine", ("ab",))])
    assert (measured.cases[0].ending, measured.cases[0].reason) == (
        CaseOutcome.REFUSED,
        "the vocabulary cannot spell a text",
    )


def test_it_can_be_cancelled():
    cancel = CancelToken(lambda *_: cancel.cancel())
    with pytest.raises(CancelledError):
        run_bench([double()], BYTES, [case("hangs", ("a",))], cancel=cancel)


def test_engines_are_found_by_name():
    assert [peer.name for peer in find_peers(["xgrammar"])] == [OWN, "xgrammar"]
    assert find_peers() == tuple(PEERS)
    with raises_key(UnknownPeerError, "errors.peers.unknown", name="llama"):
        find_peers(["llama"])


# ---------------------------------------------------------------------- the comparison


def measured(name, *cases):
    return EngineMeasurements(name, "1", cases=cases)


def done(name, first_mask_us, steps, *verdicts):
    return CaseMeasurement(name, CaseOutcome.DONE, "", first_mask_us / 2, first_mask_us, steps, verdicts)


def test_ratios_are_over_what_both_did():
    cases = [case("one", ("a", True), ("b", False)), case("two", ("c",))]
    ours = measured(OWN, done("one", 1000, (1.0, 3.0), True, True), done("two", 9000, (50.0,), True))
    theirs = measured(
        "other", done("one", 3000, (4.0, 4.0), False, True), CaseMeasurement("two", CaseOutcome.REFUSED, "no")
    )
    own, other = compare([ours, theirs], cases)
    assert own.ratios is None
    assert own.times.first_mask_p50_ms == 5.0
    assert (own.false_rejects, own.false_accepts, own.labelled) == (0, 1, 2)
    assert other.common == 1
    assert other.ratios.first_mask_p50_ms == 3.0
    assert other.ratios.step_mean_us == 2.0
    assert (other.agreed, other.judged) == (1, 2)
    assert (other.false_rejects, other.false_accepts, other.labelled) == (1, 1, 2)
    assert other.endings[CaseOutcome.REFUSED] == 1


def test_nothing_in_common_has_no_ratios():
    refused = CaseMeasurement("one", CaseOutcome.REFUSED, "no")
    own, other = compare(
        [measured(OWN, refused), measured("other", done("one", 1, (1.0,), True))], [case("one", ("a",))]
    )
    assert own.times.first_mask_p50_ms is None
    assert (other.ratios, other.common, other.judged) == (None, 0, 0)


PARENT = """
import multiprocessing, os
from engine.peers.adapter import BYTES, Peer
from engine.peers.bench import PeerProcess
from engine.peers.bench_cases import BenchCase
from engine.source import CancelToken
from tests.engine.peers.peer_doubles import DoubleAdapter

class Killed(CancelToken):
    checks = 0
    def check(self):
        self.checks += 1
        if is_hanging and self.checks > 3:
            print(multiprocessing.active_children()[0].pid, flush=True)
            os._exit(0)

if __name__ == "__main__":
    is_hanging, killed = False, Killed()
    process = PeerProcess(Peer("double", "pytest", DoubleAdapter), BYTES, cancel=killed)
    process.measure(BenchCase("a", "regex", "a", ()))
    is_hanging, killed.checks = True, 0
    process.measure(BenchCase("hangs", "regex", "hangs", ()))
"""


def test_an_engine_that_hangs_ends_with_the_process_that_started_it(tmp_path):
    script = tmp_path / "parent.py"
    script.write_text(PARENT, "utf-8")
    parent = start_python([str(script)], stdout=subprocess.PIPE)
    output, _ = parent.communicate()
    _, alive = psutil.wait_procs(processes(int(output)), timeout=20)
    assert [one for one in alive if one.status() != psutil.STATUS_ZOMBIE] == []


def processes(pid):
    """The process of this id, unless it has ended."""
    try:
        return [psutil.Process(pid)]
    except psutil.NoSuchProcess:
        return []
