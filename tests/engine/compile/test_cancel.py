"""A compile asks often whether it should stop, whatever is large about the grammar.

How often is counted in calls of functions, which is what time is made of; milliseconds are for
`tests/benchmarks/growth.py`.
"""

from __future__ import annotations

import sys
import threading
from types import FrameType
from typing import Any

import heavy_grammars
import pytest

from engine import CompileOptions, compile_grammar
from engine.source import CancelledError, CancelToken, GrammarError, Limits
from engine.source.cancel import checkpoint
from engine.source.catalogue import catalogue_text

MOST_CALLS = 30_000  # between two checks; some ten milliseconds


def cases(large: int, wide: int) -> dict[str, tuple[str, str]]:
    """Return grammars of every kind that takes long, by name, each with its notation."""
    return {
        **{name: (notation, make(large)) for name, (notation, make) in heavy_grammars.LARGE.items()},
        **{name: (notation, make(wide)) for name, (notation, make) in heavy_grammars.WIDE.items()},
        "schema, oneOf": ("json_schema", heavy_grammars.schema_one_of(wide // 10)),
        "regex, search": ("regex", r"(?=.*a.{8})(?!.*b{12})(?=.*[0-9]{3}).{5,20}(?<!x.{4})"),
        "schema, anyOf": ("json_schema", heavy_grammars.schema_any_of(6)),
        "schema, nested": ("json_schema", heavy_grammars.nested_schema(wide * 5 // 6)),
        "regex, nested": ("regex", heavy_grammars.nested_regex(large // 20)),
    }


CASES = cases(20_000, 600)
SMALLER = cases(4_000, 200)  # these are compiled again and again


class Counting(CancelToken):
    """Counts calls from one check to the next; cancels at the check of a number."""

    def __init__(self, cancel_at: int | None = None) -> None:
        super().__init__()
        self.checks = 0
        self.calls = 0
        self.most = 0
        self._cancel_at = cancel_at

    def check(self) -> None:
        self.checks += 1
        self.most, self.calls = max(self.most, self.calls), 0
        if self.checks == self._cancel_at:
            self.cancel()
        super().check()

    def count(self, _frame: FrameType, event: str, _argument: Any) -> None:
        if event == "call":
            self.calls += 1


def compile_with(grammar: tuple[str, str], token: CancelToken) -> None:
    notation, text = grammar
    try:
        compile_grammar(notation, text, cancel=token)
    except GrammarError as error:  # a limit
        assert "limit" in error.diagnostics[0].code  # noqa: PT017


@pytest.mark.parametrize("case", CASES)
def test_it_never_goes_long_without_asking(case: str) -> None:
    token = Counting()
    before = sys.getprofile()
    sys.setprofile(token.count)
    try:
        compile_with(CASES[case], token)
    finally:
        sys.setprofile(before)
    token.check()
    assert token.most <= MOST_CALLS


@pytest.mark.parametrize("case", CASES)
def test_it_stops_wherever_it_is_asked_to(case: str) -> None:
    grammar = SMALLER[case]
    compile_with(grammar, CancelToken())  # what a process caches, such as automata of characters, is checked once
    token = Counting()
    compile_with(grammar, token)
    total = token.checks
    for at in sorted({1, max(1, total // 3), max(1, 2 * total // 3), total}):
        token = Counting(at)
        with pytest.raises(CancelledError):
            compile_with(grammar, token)
        assert token.checks == at


def test_another_thread_can_cancel() -> None:
    began, stopped = threading.Event(), threading.Event()
    token = CancelToken(lambda *_: began.set())
    outcome: list[str] = []

    def work() -> None:
        try:
            while True:
                compile_grammar("regex", CASES["regex, groups"][1], cancel=token)
        except CancelledError:
            outcome.append("cancelled")
        stopped.set()

    thread = threading.Thread(target=work)
    thread.start()
    began.wait()
    token.cancel()
    thread.join()
    assert outcome == ["cancelled"]


def test_progress_tells_stages_and_how_far_each_is() -> None:
    heard: list[tuple[str, int]] = []
    compile_grammar(
        "gbnf", CASES["GBNF, rules"][1], cancel=CancelToken(lambda what, done, _: heard.append((what, done)))
    )
    stages = list(dict.fromkeys(what for what, _ in heard))
    assert stages == ["parsing", "assembling", catalogue_text("progress.matching")]
    for stage in stages:
        told = [done for what, done in heard if what == stage]
        assert told[0] == 0
        assert told == sorted(told)
    assert 3 < len(heard) < 200


def test_turns_belong_to_the_token_that_is_at_work_in_this_thread() -> None:
    outer, inner = CancelToken(), CancelToken()
    inner.cancel()
    with outer.scope():
        checkpoint(10_000)
        with pytest.raises(CancelledError), inner.scope():
            checkpoint(10_000)
        checkpoint(10_000)
    checkpoint(10_000)  # nobody's


def test_a_step_can_be_cancelled_as_well() -> None:
    grammar = compile_grammar("regex", r"(?:a|b)*a(?:a|b){300}", CompileOptions(limits=Limits(configurations=10**6)))
    token = CancelToken()
    token.cancel()
    with token.scope(), pytest.raises(CancelledError):
        grammar.automaton.run(grammar.automaton.start, b"a" * 2_000)
