"""The allowed tokens by their first byte, against a loop over them, and in the positions of sessions."""

from __future__ import annotations

import random
from collections import Counter

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.compile import compile_grammar
from engine.decoding.first_bytes import count_first_bytes
from engine.decoding.pipeline_settings import PipelineSettings, ZoneSettings
from engine.decoding.session import DecodeSession
from engine.decoding.values import Finish
from engine.matching import Matcher
from engine.models.uniform import UniformSource
from engine.vocabulary import Vocabulary

TOKENS = (b"a", b"ab", b"abc", b"b", b"ba", b"(", b"()", b"#", b"#a", b" ", b"1", b"", b"\xc3", b"<end>", None)
END = len(TOKENS) - 2
VOCABULARY = Vocabulary(TOKENS, [END], {END: "<end>"})


class Skewed(UniformSource):
    """Prefers high ids; its logits are wider than the tokenizer."""

    def __init__(self) -> None:
        super().__init__("skewed", VOCABULARY)
        self.queries = 0

    def logits(self, ids: object) -> NDArray[np.float32]:
        self.queries += 1
        return np.linspace(0, 2, len(TOKENS) + 3, dtype=np.float32)


def expected(allowed: list[int], p: NDArray[np.floating] | None) -> tuple[Counter[int], dict[int, float]]:
    counts, masses = Counter[int](), dict[int, float]()
    for token_id in allowed:
        token = TOKENS[token_id]
        if token and token_id != END:
            counts[token[0]] += 1
            masses[token[0]] = masses.get(token[0], 0.0) + (0.0 if p is None else float(p[token_id]))
    return counts, masses


@pytest.mark.parametrize("seed", range(5))
def test_counts_and_masses_are_those_of_a_loop_over_the_tokens(seed: int) -> None:
    chance = random.Random(seed)
    allowed = np.array([chance.random() < seed / 4 for _ in TOKENS])
    p = np.array([chance.random() for _ in range(len(TOKENS) + 3)])
    counts, masses = expected(np.flatnonzero(allowed).tolist(), p)
    found = count_first_bytes(allowed, VOCABULARY, p)
    assert {byte: count for byte, count in enumerate(found.counts) if count} == counts
    assert {byte: mass for byte, mass in enumerate(found.masses) if mass} == pytest.approx(masses)
    assert count_first_bytes(allowed, VOCABULARY).masses == ()


GRAMMARS = [
    ("regex", "[ab]*1?"),
    ("gbnf", 'root ::= "(" root ")" | [ab]+ | "()"'),
    ("json_schema", '{"type": "integer"}'),
]


@pytest.mark.parametrize(("notation", "text"), GRAMMARS)
def test_a_position_has_those_of_a_matcher_that_reads_the_output_from_the_start(notation: str, text: str) -> None:
    grammar, model, chance = compile_grammar(notation, text), Skewed(), random.Random(3)
    session = DecodeSession(grammar, model)
    for _ in range(40):
        found = session.position().first_bytes
        matcher = Matcher(grammar, VOCABULARY)
        assert all(matcher.accept(step.token_id) for step in session.steps)
        counts, masses = expected(
            [one for one in range(len(TOKENS)) if matcher.is_allowed(one)], session.probabilities()
        )
        assert found is not None
        assert {byte: count for byte, count in enumerate(found.counts) if count} == counts
        if session.finish is not Finish.STOP:
            assert {byte: mass for byte, mass in enumerate(found.masses) if mass} == pytest.approx(masses)
        if session.finish is None and chance.random() < 0.7:
            session.step()
        else:
            session.go_to(chance.choice([None, *(node.id for node in session.trace.nodes)]))


def test_a_stage_beside_the_grammar_does_not_count() -> None:
    session = DecodeSession(compile_grammar("regex", "[ab]+"), Skewed(), pipeline=PipelineSettings(suppress_ids=(0,)))
    found = session.position().first_bytes
    assert session.position().allowed == 4 - 1
    assert found is not None
    assert found.counts[ord("a")] == 2


def test_within_a_zone_the_tokens_are_those_of_the_grammar_in_it() -> None:
    zones = PipelineSettings(zones=ZoneSettings(after="#"))
    session = DecodeSession(compile_grammar("regex", "[ab]+"), Skewed(), pipeline=zones)
    assert session.position().first_bytes is None
    session.take(TOKENS.index(b"#a"))
    found = session.position().first_bytes
    assert found is not None
    assert {chr(byte): count for byte, count in enumerate(found.counts) if count} == {"a": 2, "b": 2}


def test_after_a_token_against_the_grammar_there_are_none() -> None:
    session = DecodeSession(compile_grammar("regex", "[ab]+"), Skewed())
    session.force(TOKENS.index(b"("))
    assert session.position().first_bytes is None
    session.back()
    assert session.position().first_bytes is not None
    assert DecodeSession(None, Skewed()).position().first_bytes is None


def test_what_a_step_stored_is_shown_without_another_query_of_the_model() -> None:
    model = Skewed()
    session = DecodeSession(compile_grammar("regex", "[ab]{9}"), model, kept_logits=1)
    for _ in range(3):
        session.position()
        session.step()
    session.set_sampler(session.sampler.__class__(seed=9))  # forgets the positions
    session.go_to(0)
    queries, found = model.queries, session.remembered()
    assert found is not None
    assert found.first_bytes is not None
    assert found.first_bytes.counts[ord("a")] == 2
    assert found.first_bytes.masses == ()
    assert model.queries == queries
