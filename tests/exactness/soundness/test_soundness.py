"""A sample of the soundness fuzzer; `python -m tests.exactness --soundness` runs it for longer."""

import pytest

from engine import LimitExceededError
from tests.exactness.__main__ import main
from tests.exactness.soundness.registry import GENERATORS
from tests.exactness.soundness.runner import Effort, run

SAMPLE_CASES = 40
"""The number of grammars of a generator that `make test` tries."""

FEWER_CASES = {"completions": 10, "matcher": 16}
"""The numbers for generators that take a tenth of a second for each grammar."""


@pytest.mark.parametrize("name", GENERATORS)
def test_a_sample_of_a_generator_has_no_unexplained_difference(name):
    cases = FEWER_CASES.get(name, SAMPLE_CASES)
    tally = run(name, Effort(seed=1, cases=cases))
    assert tally.differences == []
    assert tally.texts > cases


@pytest.mark.parametrize("name", GENERATORS)
def test_the_same_seed_gives_the_same_cases(name):
    first, second = (run(name, Effort(seed=3, cases=4)) for _ in range(2))
    assert (first.texts, first.skipped, first.known) == (second.texts, second.skipped, second.known)


# ---------------------------------------------------------------------- the command


OVER_A_LIMIT = LimitExceededError("errors.limit.frames", given=2, limit=1)


def _fake(rng, tally):
    number = rng.randrange(1000)
    tally.agree(2)
    tally.skip("odd", number % 2)
    if tally.case == 3:
        tally.differ("false accept", "regex", "a", f"text {number}", "detail")
    if tally.case == 4:
        tally.oracles_differ("regex", "b", "c", "detail")
    if tally.case == 5:
        raise OVER_A_LIMIT
    if tally.case == 6:
        raise KeyError("inside")


@pytest.fixture
def fake(monkeypatch):
    monkeypatch.setitem(GENERATORS, "fake", _fake)


def test_results_are_counted_by_kind(fake):
    tally = run("fake", Effort(seed=7, cases=7))
    assert (tally.inputs, tally.texts) == (7, 14)
    assert [(found.kind, found.case) for found in tally.differences] == [("false accept", 3), ("exception", 6)]
    assert [found.case for found in tally.oracle_differences] == [4]
    assert tally.skipped[f"limit exceeded: {OVER_A_LIMIT.what}"] == 1


def test_one_case_can_be_tried_again(fake):
    whole, alone = run("fake", Effort(seed=7, cases=7)), run("fake", Effort(seed=7, cases=1, first=3))
    assert alone.differences == whole.differences[:1]


def test_a_case_that_does_not_end_is_a_difference(monkeypatch):
    def endless(rng, tally):
        while True:
            pass

    monkeypatch.setitem(GENERATORS, "endless", endless)
    tally = run("endless", Effort(cases=1, case_limit=0.05))
    assert [found.kind for found in tally.differences] == ["out of time"]


def test_the_command_prints_each_difference_and_fails(fake, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", "exactness --soundness --generators fake --cases 4 --seed 7".split())
    assert main() == 1
    printed = capsys.readouterr().out
    assert "DIFFERENCE (false accept): detail" in printed
    assert "--soundness --generators fake --seed 7 --case 3" in printed


def test_the_command_succeeds_without_a_difference(fake, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", "exactness --soundness --generators fake --cases 3 --seed 7".split())
    assert main() == 0
    assert "fake" in capsys.readouterr().out


def test_several_processes_share_the_cases():
    name = "schema-keywords"
    alone, shared = run(name, Effort(cases=12)), run(name, Effort(cases=12), workers=2)
    assert (alone.inputs, alone.texts, alone.skipped) == (shared.inputs, shared.texts, shared.skipped)
