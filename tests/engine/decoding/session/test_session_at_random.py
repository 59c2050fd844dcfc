"""A random user: whatever was done before, a session stands as a fresh one that took the same tokens."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from random_model import RandomModel

from engine.compile import compile_grammar
from engine.decoding.errors import NotAllowedError
from engine.decoding.fast_forward import FastForward
from engine.decoding.forced.strategies import STRATEGIES
from engine.decoding.session import DecodeSession
from engine.vocabulary import Vocabulary

TOKENS = Vocabulary([b"a", b"b", b"ab", b"ba", b"c", b"\n", None, b"a"], [6], {6: "<end>"})
PATTERNS = ["[ab]*c", "(ab|ba)+", "a.*", r"[^c]{2,6}\n?", "b", "abcab(c|ab)\n"]
GRAMMARS = [compile_grammar("regex", pattern) for pattern in PATTERNS]


class RandomUser(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.model = RandomModel(TOKENS)
        self.session = DecodeSession(GRAMMARS[0], self.model, prompt="a", max_tokens=12)

    @precondition(lambda self: self.session.finish is None)
    @rule()
    def step(self) -> None:
        self.session.step()

    @precondition(lambda self: self.session.finish is None)
    @rule(pick=st.integers(0, 7))
    def take(self, pick: int) -> None:
        allowed = [row.token_id for row in self.session.position().candidates if row.allowed]
        self.session.take(allowed[pick % len(allowed)])

    @rule(strategy=st.sampled_from(STRATEGIES.names), most=st.sampled_from([None, 1, 2]))
    def take_run(self, strategy: str, most: int | None) -> None:
        before, stood = self.session.output, self.session.steps
        taken = FastForward(self.model, strategy, encode=None).extend(self.session, most)
        assert self.session.output.startswith(before)
        assert self.session.steps == stood if not taken else not self.session.steps[-1].was_queried

    @rule()
    def back(self) -> None:
        self.session.back()

    @rule()
    def restart(self) -> None:
        self.session.restart()

    @rule(pick=st.integers(0, 30))
    def go_to(self, pick: int) -> None:
        nodes = self.session.trace.nodes
        if nodes:
            before = self.session.text
            try:
                self.session.go_to(pick % len(nodes))
            except NotAllowedError:
                assert self.session.trace.illegal
                assert self.session.text == before

    @rule(grammar=st.sampled_from(GRAMMARS))
    def edit(self, grammar) -> None:
        self.session.replace_grammar(grammar)

    @invariant()
    def stands_as_a_fresh_one(self) -> None:
        fresh = DecodeSession(self.session.grammar, RandomModel(TOKENS), prompt="a", max_tokens=12)
        for step in self.session.steps:
            fresh.take(step.token_id)
        ours, theirs = self.session.position(), fresh.position()
        assert (ours.output, ours.index, ours.finish) == (theirs.output, theirs.index, theirs.finish)
        assert (ours.configuration, ours.z, ours.candidates) == (theirs.configuration, theirs.z, theirs.candidates)

    @invariant()
    def the_trace_is_sound(self) -> None:
        trace = self.session.trace
        parents = [None, *trace.path]
        assert all(trace.nodes[node].parent == parents[at] for at, node in enumerate(trace.path))
        taken = trace.path[: trace.path.index(trace.current) + 1] if trace.current is not None else ()
        assert not trace.illegal & set(taken)
        assert len(taken) == len(self.session.steps)


RandomUser.TestCase.settings = settings(max_examples=40, stateful_step_count=25, deadline=None)
TestRandomUser = RandomUser.TestCase
