"""Stepping, going back, branching, stopping, with a random model."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest
from model_doubles import letters
from random_model import LETTERS, GivenModel, RandomModel

from engine.compile import compile_grammar
from engine.decoding.errors import DeadEndError, FinishedError, NotAllowedError
from engine.decoding.pipeline_settings import Afterwards, OtherZone, PipelineSettings, ZoneSettings
from engine.decoding.session import DecodeSession
from engine.decoding.values import Candidate, Chat, ContextState, EosState, Finish, SamplerSettings
from engine.matching.explanation import Reason
from engine.source import InvariantError
from engine.vocabulary import Vocabulary

LINE = compile_grammar("regex", r"[A-Z]+: [a-z]+\n")
WORDS = Vocabulary([b"a", b"b", b"ab", b"c", None, b"\xc3", b"\xa9"], [4], {4: "<end>"})


def session(pattern: str | None = None, model: RandomModel | None = None, **options) -> DecodeSession:
    grammar = LINE if pattern is None else compile_grammar("regex", pattern)
    return DecodeSession(grammar, model or RandomModel(), **options)


def to_end(steps: DecodeSession) -> str:
    while steps.finish is None:
        steps.step()
    return steps.text


def token(text: str) -> int:
    return LETTERS.index(text.encode())


# What a position tells.


def test_a_position_tells_what_the_mask_does():
    position = session().position()
    assert position.allowed == 26
    assert position.vocabulary_size == len(LETTERS)
    assert position.index == 0
    assert 0 < position.z < 1
    assert position.eos is EosState.NO_EOS
    assert position.finish is None
    assert not position.forced
    assert position.wanted == position.candidates[0]
    assert [row.rank for row in position.candidates] == list(range(1, len(LETTERS) + 1))
    assert sum(row.p for row in position.candidates) == pytest.approx(1)
    assert sum(row.p for row in position.candidates if row.allowed) == pytest.approx(position.z)
    assert sum(row.p_masked for row in position.candidates) == pytest.approx(1)


def test_a_position_crosses_to_another_process_whole():
    for position in (session().position(), session("").position()):
        crossed = pickle.loads(pickle.dumps(position))
        assert crossed == position
        assert all(isinstance(row, Candidate) for row in crossed.candidates)


def test_forced_tokens_and_bytes_are_told():
    position = session("ab*c").position()
    assert position.forced
    assert position.forced_bytes == b"a"


def test_a_step_tells_what_the_position_told():
    steps = session()
    position = steps.position()
    step = steps.step()
    row = next(row for row in position.candidates if row.token_id == step.token_id)
    assert (step.p, step.p_masked, step.z, step.allowed) == (row.p, row.p_masked, position.z, position.allowed)
    assert step.wanted_id == position.wanted.token_id
    assert step.origin == "sampler"


def test_looking_twice_asks_the_model_once():
    model = RandomModel()
    steps = session(model=model)
    assert steps.position().logits_ms > 0
    steps.position()
    steps.step()
    assert len(model.asked) == 1


# Stepping.


def test_the_same_seed_gives_the_same_text_and_another_another():
    texts = [to_end(session(sampler=SamplerSettings(seed=seed), max_tokens=12)) for seed in (1, 1, 2)]
    assert texts[0] == texts[1] != texts[2]


def test_back_and_step_repeats():
    steps = session(max_tokens=40)
    first = [steps.step().token_id for _ in range(6)]
    for _ in range(4):
        assert steps.back()
    assert [steps.step().token_id for _ in range(4)] == first[2:]
    assert len(steps.trace.nodes) == 6
    for _ in range(6):
        steps.back()
    assert not steps.back()


def test_going_back_asks_the_model_nothing():
    model = RandomModel()
    steps = session(model=model)
    for _ in range(5):
        steps.step()
    asked = len(model.asked)
    steps.restart()
    steps.position()
    for _ in range(5):
        steps.step()
    assert len(model.asked) == asked


def test_only_the_last_answers_are_kept():
    model = RandomModel()
    steps = session("[A-Z]*", model=model, max_tokens=100, kept_logits=10)
    for _ in range(20):
        steps.step()
    asked = len(model.asked)
    steps.restart()
    steps.step()
    assert len(model.asked) == asked + 1


def test_any_allowed_token_can_be_taken_and_makes_a_branch():
    steps = session()
    first, second = steps.step(), steps.step()
    steps.back()
    other = next(row.token_id for row in steps.position().candidates if row.allowed and row.token_id != second.token_id)
    taken = steps.take(other)
    assert taken.origin == "user"
    trace = steps.trace
    assert [node.parent for node in trace.nodes] == [None, 0, 0]
    assert trace.path == (0, 2)
    steps.go_to(1)
    assert [step.token_id for step in steps.steps] == [first.token_id, second.token_id]
    assert steps.position().index == 2


def test_a_token_that_is_not_allowed_is_refused_with_the_reason():
    steps = session()
    with pytest.raises(NotAllowedError) as refusal:
        steps.take(token("a"))
    assert refusal.value.explanation.reason is Reason.DEAD_BYTE
    with pytest.raises(NotAllowedError) as refusal:
        steps.take(10_000)
    assert refusal.value.explanation.reason is Reason.UNKNOWN_ID
    assert steps.trace.nodes == ()
    assert steps.explain(b"AB").allowed


def test_going_between_far_branches_keeps_matcher_and_text_together():
    steps = session(max_tokens=30)
    for _ in range(4):
        steps.step()
    steps.go_to(1)
    for text in ":", " ", "x":
        steps.take(token(text))
    left, right = steps.trace.path, (0, 1, 2, 3)
    for line in (right, left, right[:1], left[:3], right):
        steps.go_to(line[-1])
        fresh = session(max_tokens=30)
        for step in steps.steps:
            fresh.take(step.token_id)
        assert fresh.text == steps.text
        assert fresh.position().candidates == steps.position().candidates


def test_a_step_that_is_not_there_cannot_be_gone_to():
    with pytest.raises(InvariantError):
        session().go_to(0)


def test_the_sampler_can_change_without_the_model():
    model = RandomModel()
    steps = session(model=model)
    before = steps.position()
    steps.set_sampler(SamplerSettings(temperature=0))
    after = steps.position()
    assert len(model.asked) == 1
    assert after.z == before.z
    assert max(row.p_sampled for row in after.candidates) == 1
    assert steps.step().token_id == next(row.token_id for row in after.candidates if row.allowed)


# The end.


def test_without_eos_it_stops_where_nothing_may_follow():
    steps = session("ab?")
    steps.step()
    assert steps.position().accepting
    assert steps.finish is None
    steps.take(token("b"))
    assert steps.finish is Finish.STOP
    position = steps.position()
    assert (position.candidates, position.wanted, position.z) == ((), None, None)
    assert (position.kl, position.entropy, position.entropy_masked) == (None, None, None)
    with pytest.raises(FinishedError):
        steps.step()
    with pytest.raises(FinishedError):
        steps.take(token("b"))
    steps.back()
    assert steps.finish is None


def test_without_eos_it_can_stop_at_the_first_match():
    steps = session("ab?", stop_at="first")
    steps.step()
    assert steps.finish is Finish.STOP
    assert session("a*", stop_at="first").finish is Finish.STOP


def test_an_endless_grammar_ends_with_the_budget():
    steps = session("[a-z]*", max_tokens=5)
    assert len(to_end(steps)) == 5
    assert steps.finish is Finish.LENGTH
    assert steps.position().candidates
    with pytest.raises(FinishedError):
        steps.step()
    steps.set_max_tokens(6)
    steps.step()
    assert len(steps.text) == 6


def test_a_full_context_ends_it_too():
    model = RandomModel(context_length=4)
    steps = session("[a-z]*", model=model, prompt="AB")
    assert steps.position().context == ContextState(4, 3)
    to_end(steps)
    assert steps.finish is Finish.CONTEXT
    assert steps.position().context == ContextState(4, 0)
    assert max(len(ids) for ids in model.asked) == 4
    at_end = steps.position()
    assert at_end.wanted is None
    assert all(row.allowed and row.p is None and row.rank is None for row in at_end.candidates if not row.is_eos)
    assert sum(row.allowed for row in at_end.candidates) == at_end.allowed


def test_eos_is_allowed_where_the_grammar_accepts_and_ends_the_text():
    steps = session("(ab)+", RandomModel(WORDS))
    position = steps.position()
    assert position.eos is EosState.NOT_YET
    assert [row.name for row in position.candidates if row.is_eos] == ["<end>"]
    with pytest.raises(NotAllowedError) as refusal:
        steps.take(4)
    assert refusal.value.explanation.reason is Reason.NOT_ACCEPTING
    steps.take(2)
    assert steps.position().eos is EosState.ALLOWED
    assert steps.finish is None
    assert steps.take(4).name == "<end>"
    assert steps.finish is Finish.STOP
    assert steps.output == b"ab"
    steps.back()
    assert steps.finish is None


def test_with_eos_a_text_that_cannot_go_on_forces_it():
    steps = session("c", RandomModel(WORDS))
    steps.take(3)
    assert steps.position().forced
    assert steps.step().token_id == 4


def test_what_the_vocabulary_cannot_spell_is_a_dead_end():
    steps = session("Aé", max_tokens=9)
    steps.step()
    position = steps.position()
    assert position.finish is Finish.DEAD_END
    assert position.allowed == 0
    assert position.candidates
    assert not any(row.allowed for row in position.candidates)
    with pytest.raises(DeadEndError):
        steps.step()
    with pytest.raises(DeadEndError):
        steps.take(0)
    assert steps.back()


def test_an_empty_language_is_a_dead_end_from_the_start():
    assert session(r"a\bb").finish is Finish.DEAD_END


def test_characters_may_be_spelled_by_halves():
    steps = session("é", RandomModel(WORDS))
    steps.step()
    assert steps.text == "\ufffd"
    steps.step()
    assert steps.text == "é"


def test_tokens_that_the_model_rules_out_are_still_drawn():
    infinity = float("inf")
    steps = session("[bc]", GivenModel(WORDS, [0, -infinity, 0, -infinity, 0, 0, 0]))
    position = steps.position()
    assert (position.z, position.kl) == (0, infinity)
    assert steps.step().token in {b"b", b"c"}


# Prompts, free generation, search.


def test_the_model_reads_the_prompt_first_and_the_grammar_starts_after_it():
    model = RandomModel()
    steps = session(model=model, prompt="xy")
    steps.step()
    steps.position()
    assert model.asked[0] == (token("x"), token("y"))
    assert model.asked[1][:2] == model.asked[0]
    assert len(steps.text) == 1


def test_another_prompt_starts_over_and_gives_the_old_trace():
    steps = session(prompt="x")
    steps.step()
    old = steps.set_prompt(Chat((("user", "hi"),), "A"))
    assert len(old.nodes) == 1
    assert steps.trace.nodes == ()
    assert steps.prompt_ids == tuple(token(char) for char in "hiA")
    assert steps.position().allowed == 26


def test_without_a_grammar_all_is_allowed_until_eos():
    model = RandomModel(WORDS)
    free = DecodeSession(None, model)
    position = free.position()
    assert (position.z, position.kl, position.allowed) == (1.0, 0.0, WORDS.size)
    free.take(0)
    free.take(4)
    assert free.finish is Finish.STOP
    assert free.text == "a"
    assert free.explain(0).reason is Reason.FINISHED
    free.back()
    assert free.explain(0).allowed
    assert free.explain(99).reason is Reason.UNKNOWN_ID


def test_any_token_can_be_looked_up_with_its_numbers():
    steps = session()
    row = steps.lookup("a")[0]
    assert (row.token, row.allowed, row.p_masked) == (b"a", False, 0)
    assert row.p > 0
    assert steps.lookup(f"#{token('A')}")[0].allowed
    done = session("a", stop_at="first")
    done.step()
    assert done.lookup("a")[0].p == 0


# Undoing without a trace.


def test_a_step_that_is_undone_to_a_save_point_was_never_taken():
    steps = session(sampler=SamplerSettings(seed=3))
    steps.step()
    steps.step()
    steps.back()
    before, position = steps.trace, steps.position()
    saved = steps.save_point()
    steps.take(token("Z"))
    steps.position()
    steps.step()
    steps.undo_to(saved)
    assert (steps.trace, steps.position(), steps.text) == (before, position, before.nodes[0].step.token.decode())
    assert to_end(steps) == to_end(session(sampler=SamplerSettings(seed=3)))


def test_nodes_that_follow_an_undone_step_are_not_taken_for_it():
    steps = session()
    saved = steps.save_point()
    steps.take(token("A"))
    first = steps.position()
    steps.undo_to(saved)
    steps.take(token("B"))  # has the number that the undone step had
    assert steps.position() != first
    assert steps.text == "B"
    assert [node.id for node in steps.trace.nodes] == [0]


def test_a_save_point_before_a_forced_token_brings_the_grammar_back():
    steps = session()
    saved = steps.save_point()
    steps.force(token("a"))
    assert steps.broken_at == 0
    steps.undo_to(saved)
    assert (steps.broken_at, steps.trace.illegal, steps.position().allowed) == (None, frozenset(), 26)


def test_a_step_has_the_zone_that_it_begins_in_and_gets_it_when_a_trace_is_restored():
    free = OtherZone("", after="[[", until="]]")
    zones = ZoneSettings(after="<<", until=">>", then=Afterwards.AGAIN, others=(free,))
    session = DecodeSession(compile_grammar("regex", "[a-z]{3}"), letters(), pipeline=PipelineSettings(zones=zones))
    for letter in "a[[b]]<<abc>>!":
        session.take(ord(letter) - 0x20)
    expected = [*[-1] * 3, *[1] * 3, *[-1] * 2, *[0] * 5, -1]
    assert [step.zone for step in session.steps] == expected
    trace = session.trace
    bare = tuple(replace(node, step=replace(node.step, zone=None)) for node in trace.nodes)
    session.restore(replace(trace, nodes=bare))
    assert [step.zone for step in session.steps] == expected
    session = DecodeSession(compile_grammar("regex", "[a-z]{3}"), letters())
    assert session.step().zone is None
