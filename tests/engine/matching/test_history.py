"""Forks and rollbacks against replays."""

from __future__ import annotations

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from engine import Matcher, Vocabulary, compile_grammar

GRAMMAR = compile_grammar("gbnf", 'root ::= "(" root ")" root | "a"?')
TOKENS = Vocabulary([b"(", b")", b"a", b"((", b"a)", b"))", None], eos_ids=[6])


class Histories(RuleBasedStateMachine):
    """Some matchers, each with the list of what it took: ids and byte strings."""

    @initialize()
    def begin(self):
        self.matchers = [(Matcher(GRAMMAR, TOKENS), [])]

    def pick(self, which):
        return self.matchers[which % len(self.matchers)]

    @rule(which=st.integers(0, 9), tokens=st.lists(st.integers(0, 7), max_size=6))
    def accept(self, which, tokens):
        matcher, taken = self.pick(which)
        for token in tokens:
            allowed = matcher.is_allowed(token)
            assert matcher.accept(token) == allowed
            if allowed:
                taken.append(token)

    @rule(which=st.integers(0, 9), data=st.sampled_from([b"", b"(", b"(a", b"))"]))
    def accept_bytes(self, which, data):
        matcher, taken = self.pick(which)
        if matcher.accept_bytes(data):
            taken.append(data)

    @rule(which=st.integers(0, 9), count=st.integers(-1, 12))
    def rollback(self, which, count):
        matcher, taken = self.pick(which)
        if 0 <= count <= len(taken):
            matcher.rollback(count)
            del taken[len(taken) - count :]
        else:
            with pytest.raises(ValueError, match=f"cannot undo {count} steps: {len(taken)} were taken"):
                matcher.rollback(count)

    @rule(which=st.integers(0, 9))
    def fork(self, which):
        if len(self.matchers) < 10:
            matcher, taken = self.pick(which)
            self.matchers.append((matcher.fork(), taken.copy()))

    @invariant()
    def each_stands_where_a_replay_does(self):
        for matcher, taken in getattr(self, "matchers", []):
            replay = Matcher(GRAMMAR, TOKENS)
            for step in taken:
                assert replay.accept_bytes(step) if isinstance(step, bytes) else replay.accept(step)
            assert matcher.configuration == replay.configuration
            assert matcher.is_finished == replay.is_finished
            assert matcher.bitmask().tolist() == replay.bitmask().tolist()


Histories.TestCase.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
TestHistories = Histories.TestCase


def test_a_fork_shares_a_long_past():
    matcher = Matcher(compile_grammar("regex", "[a(]*"), TOKENS)
    for _ in range(1_000):
        assert matcher.accept(2)
    forks = [matcher.fork() for _ in range(3)]
    chain = matcher
    for _ in range(1_000):
        chain = chain.fork()
        assert chain.accept(0)
    chain.rollback(2_000)
    assert chain.configuration == chain.grammar.automaton.start
    for fork in forks:
        fork.rollback(1_000)
        assert fork.accept(0)
        fork.rollback(1)
