"""A session with stages: what each removes, their order, replay, saved traces, and the Shakespeare run."""

from __future__ import annotations

import json
import pickle
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import numpy as np
import pytest
import torch
from error_keys import raises_key
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from random_model import GivenModel, RandomModel

from engine.compile import compile_grammar
from engine.decoding.errors import EmptyMaskError, NotAllowedError, RemovedError
from engine.decoding.generate import generate, sample_many
from engine.decoding.pipeline_settings import (
    Afterwards,
    OtherZone,
    PipelineSettings,
    TableSettings,
    ZoneSettings,
)
from engine.decoding.processors import FiniteStateGuide
from engine.decoding.session import DecodeSession
from engine.decoding.stages import STAGES
from engine.decoding.values import Finish, SamplerSettings, StepOrigin, StopRule
from engine.export.tables.token_index import build_token_index
from engine.models import LogitSource, load_model
from engine.models.source import Logits
from engine.source import InvariantError
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary, VocabularyError

LINE = compile_grammar("regex", r"[A-Z]+: [a-z]+\n")
WORDS = Vocabulary([b"a", b"b", b"ab", b"ba", b"c", b"\n", None, b"a"], [6], {6: "<end>"})


class Remembering:
    """A model that is asked once for each text: those who say the same in other ways ask for the same."""

    def __init__(self, model: LogitSource) -> None:
        self._model = model
        self._known: dict[tuple[int, ...], Logits] = {}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._model, name)

    def logits(self, ids: Sequence[int]) -> Logits:
        key = tuple(ids)
        if key not in self._known:
            self._known[key] = self._model.logits(ids)
        return self._known[key]


@pytest.fixture(scope="module")
def shakespeare() -> Iterator[LogitSource]:
    model = load_model("shakespeare")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield Remembering(model)
    torch.set_num_threads(threads)


# The Shakespeare run.

WAYS = {
    r"[a-z]{5}\n": [PipelineSettings(static="LOWER{5} NEWLINE"), PipelineSettings(pattern="LOWER{5} NEWLINE")],
    r"[A-Z]+: [a-z]+\n": [PipelineSettings(pattern='UPPER+ ":" " " LOWER+ NEWLINE')],
}


def table_of(source: str, vocabulary: Vocabulary) -> PipelineSettings:
    """A regex as the list of a DFA's transitions, its states from 1."""

    index = build_token_index(compile_grammar("regex", source), vocabulary)
    pairs = (
        (s, zip(t.tolist(), n.tolist(), strict=True))
        for s, (t, n) in enumerate(zip(index.tokens, index.targets, strict=True))
    )
    transitions = tuple((state + 1, token, after + 1) for state, row in pairs for token, after in row)
    return PipelineSettings(table=TableSettings(transitions, index.dfa.start + 1))


def by_hand(vocabulary: Vocabulary) -> PipelineSettings:
    """Five lower-case letters and a new line."""
    guide = FiniteStateGuide(vocabulary, start=5)
    for left in range(5, 0, -1):
        guide.add_transition(left, "LOWER", left - 1)
    guide.add_transition(0, "NEWLINE", "end")
    return PipelineSettings(table=TableSettings(guide.transitions()))


@pytest.mark.parametrize("source", list(WAYS))
def test_every_way_to_say_it_writes_the_same(shakespeare, source):
    ways = [*WAYS[source], table_of(source, shakespeare.vocabulary)]
    if source == r"[a-z]{5}\n":
        ways.append(by_hand(shakespeare.vocabulary))
    by_regex = list(sample_many(compile_grammar("regex", source), shakespeare, seeds=range(25), max_tokens=60))
    assert len({outcome.text for outcome in by_regex}) > 15
    assert all(outcome.matches and outcome.finish is Finish.STOP for outcome in by_regex)
    for pipeline in ways:
        assert list(sample_many(None, shakespeare, seeds=range(25), max_tokens=60, pipeline=pipeline)) == by_regex


def test_the_least_allowed_mass_of_many_outputs_is_that_of_their_steps(shakespeare):
    grammar = compile_grammar("regex", "[a-z]{5}\n")
    (outcome,) = sample_many(grammar, shakespeare, seeds=(3,))
    steps = generate(grammar, shakespeare, sampler=SamplerSettings(seed=3)).steps
    assert outcome.least_z == min(step.z for step in steps) == steps[outcome.least_z_step].z
    (unmasked,) = sample_many(None, shakespeare, seeds=(3,), max_tokens=5)
    assert unmasked.least_z == 1.0


def test_they_go_together_with_the_grammar_itself(shakespeare):
    source = r"[a-z]{5}\n"
    grammar = compile_grammar("regex", source)
    alone = generate(grammar, shakespeare, sampler=SamplerSettings(seed=3)).text
    for pipeline in (*WAYS[source], table_of(source, shakespeare.vocabulary)):
        assert generate(grammar, shakespeare, sampler=SamplerSettings(seed=3), pipeline=pipeline).text == alone


def test_a_line_without_the_letter_e(shakespeare):
    pipeline = PipelineSettings(suppress=("e",), bias=(("t", 2.0),))
    for outcome in sample_many(LINE, shakespeare, seeds=range(15), pipeline=pipeline):
        assert outcome.matches
        assert "e" not in outcome.text


# Function calls, from GBNF.

CALLS = r"""
root ::= "[" call (", " call)* "]"
call ::= "get_user_info(" argument (", " argument)* ")"
argument ::= "user_id=" [1-9] [0-9]{0,5} | "special='" [a-z ]{1,12} "'" | "verbose=" ("True" | "False")
"""
_WORDS = [b"get_", b"user", b"_info(", b"user_id=", b"78", b"90", b"special='", b"black", b"')]", b", ", b"='", b"[get"]
PYTHON = Vocabulary([*(bytes((byte,)) for byte in range(128)), *_WORDS, b"e", None], [141])


def test_function_calls_are_written_whole():
    grammar = compile_grammar("gbnf", CALLS)
    assert grammar.fullmatch("[get_user_info(user_id=7890, special='black')]")
    for seed in range(25):
        made = generate(
            grammar,
            RandomModel(PYTHON),
            sampler=SamplerSettings(seed=seed),
            max_tokens=30,
            pipeline=PipelineSettings(budget=True),
        )
        assert made.finish is Finish.STOP
        assert grammar.fullmatch(made.output), made.text


def test_the_call_of_the_example_can_be_taken_token_by_token():
    session = DecodeSession(compile_grammar("gbnf", CALLS), RandomModel(PYTHON), max_tokens=20)
    for token in (b"[get", b"_", b"user", b"_info(", b"user_id=", b"78", b"90", b", ", b"special='", b"black", b"')]"):
        session.take(PYTHON.tokens.index(token))
    assert session.text == "[get_user_info(user_id=7890, special='black')]"
    assert session.position().forced
    assert session.step().token_id == 141


# What a session tells of its stages.


def test_the_stages_stand_in_their_order_each_with_what_it_removed():
    pipeline = PipelineSettings(suppress=("ab",), bias=(("c", 1.0),))
    sampler = SamplerSettings(top_k=2, temperature=0.5)
    session = DecodeSession(compile_grammar("regex", "[abc]+"), RandomModel(WORDS), pipeline=pipeline, sampler=sampler)
    effects = session.position().stages
    assert [effect.name for effect in effects] == ["grammar", "suppress", "bias", "temperature", "top-k"]
    assert [effect.removed for effect in effects[:2]] == [2, 1]
    assert effects[-1].left == 2
    turned = PipelineSettings(order=("top-k", "grammar"), suppress=("ab",))
    session.set_pipeline(turned)
    assert [effect.name for effect in session.position().stages] == ["top-k", "grammar", "suppress", "temperature"]


def test_a_filter_before_the_mask_may_leave_nothing_and_says_so():
    model = GivenModel(WORDS, [9, 8, 7, 0, 0, 0, 0, 0])
    pipeline = PipelineSettings(order=("top-k", "grammar"))
    session = DecodeSession(compile_grammar("regex", "c+"), model, pipeline=pipeline, sampler=SamplerSettings(top_k=2))
    at = session.position()
    assert (at.finish, at.emptied_by, at.entropy_masked) == (None, "grammar", None)
    assert {one.p_masked for one in at.candidates} == {one.p_sampled for one in at.candidates} == {0.0}
    with raises_key(
        EmptyMaskError,
        "errors.decoding.empty_mask",
        where=catalogue_text("errors.decoding.fragment.stage", name="grammar"),
    ):
        session.step()
    assert session.take(4).token == b"c"
    session.back()
    session.set_pipeline(PipelineSettings())
    assert session.position().emptied_by == ""
    assert session.step().token == b"c"


def test_tokens_that_the_model_rules_out_are_equals_in_any_order():
    infinity = float("inf")
    model = GivenModel(WORDS, [0, -infinity, 0, 0, -infinity, 0, 0, 0])
    for order in (STAGES.names, ("top-k", "grammar")):
        session = DecodeSession(
            compile_grammar("regex", "[bc]"),
            model,
            pipeline=PipelineSettings(order=order),
            sampler=SamplerSettings(top_k=2),
        )
        assert [row.p_sampled for row in session.position().candidates if row.allowed] == [0.5, 0.5]


def test_a_stage_says_why_it_takes_a_token_away():
    session = DecodeSession(
        compile_grammar("regex", "[abc]+"), RandomModel(WORDS), pipeline=PipelineSettings(suppress=("ab",))
    )
    assert session.removed_by(2) == ("suppress", "it contains `ab`")
    with raises_key(
        RemovedError,
        "errors.decoding.removed",
        stage="suppress",
        why=catalogue_text("decoding.suppressed.contains", text="ab"),
    ) as refusal:
        session.take(2)
    assert pickle.loads(pickle.dumps(refusal.value)).why == refusal.value.why
    with pytest.raises(NotAllowedError):
        session.take(5)
    assert session.removed_by(5) is None
    session.take(0)
    assert session.removed_by(1) == ("suppress", catalogue_text("decoding.suppressed.completes", text="ab"))


def test_a_dead_end_names_the_stage_and_what_it_expects():
    session = DecodeSession(
        compile_grammar("regex", "b+"), RandomModel(WORDS), pipeline=PipelineSettings(suppress=("b",))
    )
    assert session.finish is Finish.DEAD_END
    with raises_key(
        EmptyMaskError,
        "errors.decoding.empty_mask",
        where=catalogue_text("errors.decoding.fragment.stage", name="suppress"),
    ) as error:
        session.step()
    assert pickle.loads(pickle.dumps(error.value)).stage == "suppress"
    made = generate(compile_grammar("regex", "b+"), RandomModel(WORDS), pipeline=PipelineSettings(suppress=("b",)))
    assert (made.finish, made.problem) == (Finish.DEAD_END, str(error.value))


def test_without_a_grammar_a_machine_decides_where_it_ends():
    session = DecodeSession(None, RandomModel(WORDS), pipeline=PipelineSettings(static='"a" "b"'))
    assert session.position().configuration == 0
    session.step()
    session.step()
    assert session.position().forced
    assert session.step().token_id == 6
    assert session.finish is Finish.STOP
    first = DecodeSession(None, RandomModel(), stop_at=StopRule.FIRST, pipeline=PipelineSettings(pattern="LOWER+"))
    first.step()
    assert first.finish is Finish.STOP


def test_another_pipeline_keeps_the_longest_legal_prefix():
    session = DecodeSession(compile_grammar("regex", "[abc]+"), RandomModel(WORDS), max_tokens=9)
    for token_id in (0, 4, 2, 4):
        session.take(token_id)
    replay = session.set_pipeline(PipelineSettings(suppress=("ab",)))
    assert (replay.kept, session.output) == (2, b"ac")
    assert session.set_pipeline(PipelineSettings()).kept == 4
    assert session.output == b"acabc"


@pytest.mark.parametrize(
    ("pipeline", "error", "key"),
    [
        (PipelineSettings(pattern="DIGIT+"), InvariantError, "errors.decoding.token_set.empty"),
        (PipelineSettings(static="LOWER+"), InvariantError, "errors.decoding.pattern.variable"),
        (PipelineSettings(table=TableSettings(((1, 99, 1),))), InvariantError, "errors.decoding.table.token"),
        (PipelineSettings(suppress_ids=(99,)), InvariantError, "errors.decoding.no_token_id"),
        (PipelineSettings(zones=ZoneSettings(after_token="<no>")), VocabularyError, "errors.decoding.zones.no_token"),
    ],
)
def test_settings_that_do_not_fit_change_nothing(pipeline, error, key):
    session = DecodeSession(compile_grammar("regex", "[abc]+"), RandomModel(WORDS), max_tokens=9)
    session.take(0)
    before = session.position()
    with raises_key(error, key):
        session.set_pipeline(pipeline)
    assert session.position() == before
    assert session.pipeline == PipelineSettings()
    with raises_key(error, key):
        DecodeSession(compile_grammar("regex", "[abc]+"), RandomModel(WORDS), pipeline=pipeline)


def test_forcing_a_token_that_a_stage_removes_leaves_all_stages():
    session = DecodeSession(
        compile_grammar("regex", "[abc]+"), RandomModel(WORDS), pipeline=PipelineSettings(suppress=("b",))
    )
    session.take(0)
    assert session.force(1).origin is StepOrigin.FORCED_BY_USER
    position = session.position()
    assert (position.accepting, position.broken_at, position.allowed) == (False, 1, WORDS.size)
    session.step()
    session.back()
    session.back()
    assert session.position().broken_at is None
    assert session.removed_by(1) is not None


# Settings are values.


def test_settings_pickle_and_refuse_nonsense():
    full = PipelineSettings(
        order=("budget", "grammar"),
        zones=ZoneSettings("</think>", then=Afterwards.AGAIN),
        budget=True,
        table=TableSettings(((1, 2, 1),), 1),
        bias=(("#3", -1.0),),
    )
    assert pickle.loads(pickle.dumps(full)) == full
    for settings_ in (full, PipelineSettings()):  # as a document keeps it
        assert msgspec.json.decode(msgspec.json.encode(settings_), type=PipelineSettings) == settings_
    assert full.stages[:2] == ("budget", "grammar")
    assert sorted(full.stages) == sorted(STAGES.names)
    for nonsense in (
        {"order": ("nothing",)},
        {"order": ("bias", "bias")},
        {"suppress": ("",)},
        {"bias": (("a", float("nan")),)},
        {"bias": (("a", float("-inf")),)},
        {"bias": (("", 1.0),)},
    ):
        with pytest.raises(InvariantError):
            PipelineSettings(**nonsense)


# A random user, with stages.

PIPELINES = [
    PipelineSettings(),
    PipelineSettings(budget=True, suppress=("ba",)),
    PipelineSettings(zones=ZoneSettings("c", then=Afterwards.AGAIN, required=False)),
    PipelineSettings(pattern='ANY{0,6} "c"'),
    PipelineSettings(
        zones=ZoneSettings("c", until="b", then=Afterwards.AGAIN, others=(OtherZone("regex", "a+b?", "b"),))
    ),
    PipelineSettings(zones=ZoneSettings("ab"), budget=True, bias=(("a", 1.0),)),
]
GRAMMARS = [compile_grammar("regex", pattern) for pattern in ("[ab]*c", "(ab|ba)+", "a.*")]


class RandomUser(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.session = DecodeSession(GRAMMARS[0], RandomModel(WORDS), prompt="a", max_tokens=10)

    @precondition(lambda self: self.session.finish is None)
    @rule(pick=st.integers(0, 7))
    def take(self, pick: int) -> None:
        allowed = [row.token_id for row in self.session.position().candidates if row.allowed]
        self.session.take(allowed[pick % len(allowed)])

    @rule()
    def back(self) -> None:
        self.session.back()

    @rule(pick=st.integers(0, 30))
    def go_to(self, pick: int) -> None:
        nodes = self.session.trace.nodes
        if nodes:
            try:
                self.session.go_to(pick % len(nodes))
            except NotAllowedError:
                assert self.session.trace.illegal

    @rule(pipeline=st.sampled_from(PIPELINES))
    def rebuild(self, pipeline: PipelineSettings) -> None:
        self.session.set_pipeline(pipeline)

    @rule(grammar=st.sampled_from(GRAMMARS))
    def edit(self, grammar) -> None:
        self.session.replace_grammar(grammar)

    @rule(tokens=st.integers(6, 12))
    def budget(self, tokens: int) -> None:
        self.session.set_max_tokens(tokens)

    @invariant()
    def stands_as_a_fresh_one(self) -> None:
        mine = self.session
        fresh = DecodeSession(
            mine.grammar, RandomModel(WORDS), prompt="a", max_tokens=mine.max_tokens, pipeline=mine.pipeline
        )
        fresh.restore(mine.trace)
        ours, theirs = mine.position(), fresh.position()
        assert (ours.output, ours.index, ours.finish) == (theirs.output, theirs.index, theirs.finish)
        assert (ours.z, ours.parts) == (theirs.z, theirs.parts)
        assert ours.candidates == theirs.candidates
        assert ours.budget == theirs.budget
        assert not any(np.isnan(row.p_sampled) for row in ours.candidates)


RandomUser.TestCase.settings = settings(max_examples=30, stateful_step_count=20, deadline=None)
TestRandomUser = RandomUser.TestCase


# With a real tokenizer.


@pytest.fixture(scope="module")
def records() -> Iterator[LogitSource]:
    model = load_model("records")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield model
    torch.set_num_threads(threads)


def test_think_then_json_on_a_model_with_word_pieces(records):
    schema = {"properties": {"age": {"type": "integer"}}, "required": ["age"], "additionalProperties": False}
    grammar = compile_grammar("json_schema", json.dumps({"type": "object", **schema}))
    pipeline = PipelineSettings(zones=ZoneSettings(after="</think>"), budget=True)
    session = DecodeSession(
        grammar, records, prompt="A character named Paul, as JSON:", max_tokens=40, pipeline=pipeline
    )
    for seed in range(4):
        session.restart()
        session.set_sampler(SamplerSettings(seed=seed))
        while session.finish is None:
            budget = session.position().budget
            assert budget.left == 40 - len(session.steps)
            assert budget.at_most is not None
            assert budget.at_most <= budget.left
            session.step()
        assert session.finish is Finish.STOP
        thought, trigger, answer = session.output.partition(b"</think>")
        assert trigger
        assert grammar.fullmatch(answer), (thought, answer)
