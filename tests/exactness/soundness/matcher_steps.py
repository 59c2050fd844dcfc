"""Random operations on matchers of all notations, against the texts that they stand for.

A matcher is a text that has been read, and whether an end was taken. After each operation its mask is what running
every token byte by byte through an automaton of its own says, an end is allowed exactly where `fullmatch` takes the
text, and undoing, forking and drafts lead to the same masks as reading the text anew.
"""

from __future__ import annotations

import random

import numpy as np

from engine import CompiledGrammar, Matcher, Vocabulary
from engine.automata.byte_automaton import DEAD
from tests.exactness.soundness.completions import Case, make_case, make_vocabulary
from tests.exactness.soundness.tally import Tally

OPERATIONS = 30
"""The number of operations on each grammar."""


def check(rng: random.Random, tally: Tally) -> None:
    """Make one grammar and a vocabulary, and carry out some operations."""
    case = make_case(rng)
    compiled = case.compile_twice(tally)
    if compiled is None:
        return
    grammar, fresh = compiled
    vocabulary = make_vocabulary(rng, case.letters)
    run = _Run(rng, grammar, fresh, vocabulary)
    for _ in range(OPERATIONS):
        done = run.operate()
        problem = "the step is wrong" if done.endswith("WRONG") else run.problem()
        if problem:
            _report(tally, case, vocabulary, run, f"{problem}, after {done}")
            return
        tally.agree()


def _report(tally: Tally, case: Case, vocabulary: Vocabulary, run: _Run, problem: str) -> None:
    about = f"{case.detail}; tokens={vocabulary.tokens}, end={sorted(vocabulary.eos_ids)}"
    tally.differ("matcher", case.notation, case.source, run.text, f"{problem}; {about}")


class _Run:
    """A matcher, and the texts before each of its steps."""

    def __init__(
        self, rng: random.Random, grammar: CompiledGrammar, fresh: CompiledGrammar, vocabulary: Vocabulary
    ) -> None:
        self._rng, self._fresh, self._vocabulary = rng, fresh, vocabulary
        self._matcher = Matcher(grammar, vocabulary)
        self._states: list[tuple[bytes, bool]] = [(b"", False)]  # the text, and whether an end was taken
        self._left: list[tuple[Matcher, list[tuple[bytes, bool]]]] = []  # matchers that were forked and stay behind

    @property
    def text(self) -> bytes:
        """What was read."""
        return self._states[-1][0]

    @property
    def _is_finished(self) -> bool:
        return self._states[-1][1]

    def _configuration(self) -> int:
        automaton = self._fresh.automaton
        return automaton.run(automaton.start, self.text)

    def _allowed(self, token_id: int) -> bool:
        if self._is_finished:
            return False
        if token_id in self._vocabulary.eos_ids:
            return self._fresh.fullmatch(self.text)
        token = self._vocabulary.tokens[token_id]
        return bool(token) and self._fresh.automaton.run(self._configuration(), token or b"") != DEAD

    def operate(self) -> str:
        """Carry out one operation at random and return what it was."""
        chance = self._rng.random()
        if chance < 0.6:
            return self._accept()
        if chance < 0.7:
            return self._accept_bytes()
        if chance < 0.85:
            count = self._rng.randint(0, len(self._states) - 1)
            self._matcher.rollback(count)
            del self._states[len(self._states) - count :]
            return f"rollback({count})"
        if self._left and chance < 0.92:
            other = self._left.pop(self._rng.randrange(len(self._left)))
            self._left.append((self._matcher, self._states))
            self._matcher, self._states = other
            return "going back to a fork"
        self._left.append((self._matcher, self._states))
        self._matcher, self._states = self._matcher.fork(), list(self._states)
        return "fork()"

    def _accept(self) -> str:
        allowed = [token_id for token_id in range(self._vocabulary.size) if self._allowed(token_id)]
        anything = self._rng.random() < 0.2 or not allowed
        token_id = self._rng.randrange(self._vocabulary.size) if anything else self._rng.choice(allowed)
        taken = self._matcher.accept(token_id)
        if taken != (token_id in allowed):
            return f"accept({token_id}) = {taken}: WRONG"
        if taken:
            ends = token_id in self._vocabulary.eos_ids
            self._states.append((self.text + (b"" if ends else self._vocabulary.tokens[token_id] or b""), ends))
        return f"accept({token_id}) = {taken}"

    def _accept_bytes(self) -> str:
        pool = b"".join(token for token in self._vocabulary.tokens if token)
        data = bytes(self._rng.choices(pool, k=self._rng.randint(1, 3)))
        expected = not self._is_finished and self._fresh.automaton.run(self._configuration(), data) != DEAD
        taken = self._matcher.accept_bytes(data)
        if taken != expected:
            return f"accept_bytes({data!r}) = {taken}: WRONG"
        if taken:
            self._states.append((self.text + data, False))
        return f"accept_bytes({data!r}) = {taken}"

    def problem(self) -> str:
        """Return what is wrong with the matcher now; empty where nothing is."""
        matcher, size = self._matcher, self._vocabulary.size
        mask = _bits(matcher.bitmask(), size)
        expected = [self._allowed(token_id) for token_id in range(size)]
        if mask != expected:
            wrong = [token_id for token_id in range(size) if mask[token_id] != expected[token_id]]
            return f"the mask is wrong about the tokens {wrong}"
        if [matcher.is_allowed(token_id) for token_id in range(size)] != expected:
            return "is_allowed is not what the mask says"
        if [matcher.explain(token_id).allowed for token_id in range(size)] != expected:
            return "explain is not what the mask says"
        accepting = self._fresh.fullmatch(self.text)
        if (matcher.is_accepting, matcher.is_finished) != (accepting, self._is_finished):
            return "is_accepting or is_finished is wrong"
        return self._problem_of_drafts() or self._problem_of_forced_bytes()

    def _problem_of_drafts(self) -> str:
        drafts = [self._rng.randrange(self._vocabulary.size) for _ in range(3)]
        out = np.full((4, -(-self._vocabulary.size // 32)), -1, np.int32)
        count = self._matcher.fill_draft_bitmasks(out, drafts)
        follower = self._matcher.fork()
        for row, draft in enumerate([*drafts, None]):
            if not np.array_equal(out[row], follower.bitmask()):
                return f"row {row} of the masks of the drafts {drafts} is wrong"
            if draft is None or not follower.accept(draft):
                legal = row
                break
        if count != legal or out[legal + 1 :].any():
            return f"{count} of the drafts {drafts} are said to be allowed"
        return ""

    def _problem_of_forced_bytes(self) -> str:
        forced = self._matcher.forced_bytes(20)
        automaton, configuration = self._fresh.automaton, self._configuration()
        if self._is_finished or configuration == DEAD:
            return "bytes are forced behind an end" if forced else ""
        for at in range(len(forced) + 1):
            following = [byte for byte in range(256) if automaton.run(configuration, bytes((byte,))) != DEAD]
            is_forced = len(following) == 1 and not automaton.accepts(configuration)
            if is_forced != (at < len(forced)) and at < 20:
                return f"{forced!r} are said to be forced"
            if at < len(forced):
                configuration = automaton.run(configuration, forced[at : at + 1])
        return ""


def _bits(mask: np.ndarray, size: int) -> list[bool]:
    return [bool(mask[token_id >> 5] >> (token_id & 31) & 1) for token_id in range(size)]
