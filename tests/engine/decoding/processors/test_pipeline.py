"""Stages one after the other: names, order, states, and the error where nothing is left."""

from __future__ import annotations

import numpy as np
from error_keys import raises_key
from hypothesis import given
from hypothesis import strategies as st
from random_model import LETTERS

from engine.compile import compile_grammar
from engine.decoding.errors import EmptyMaskError
from engine.decoding.processors import (
    Bias,
    Context,
    GrammarMask,
    MinP,
    Pipeline,
    RepetitionPenalty,
    StaticMask,
    Suppress,
    Temperature,
    TopK,
    TopP,
    compile_pattern,
)
from engine.decoding.sampler import sampler_shapes
from engine.decoding.values import SamplerSettings
from engine.matching import Matcher
from engine.source import InvariantError
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary

CHARACTERS = Vocabulary(LETTERS, [])
LINE = compile_grammar("regex", r"[A-Z]+: [a-z]+\n")


def rows(rng: np.random.Generator, batch: int = 3) -> np.ndarray:
    return rng.normal(0, 3, (batch, CHARACTERS.size))


def full_pipeline() -> Pipeline:
    return Pipeline(
        [
            ("grammar", GrammarMask(LINE, CHARACTERS)),
            ("suppress", Suppress(CHARACTERS, ["e", "AB"])),
            ("bias", Bias(CHARACTERS, {"x": 3.0})),
            ("repetition-penalty", RepetitionPenalty(1.3)),
            ("temperature", Temperature(0.7)),
            ("top-k", TopK(12)),
            ("top-p", TopP(0.9)),
            ("min-p", MinP(0.02)),
        ]
    )


def test_a_pipeline_is_its_stages_by_hand():
    rng, pipeline = np.random.default_rng(5), full_pipeline()
    state, histories = pipeline.init(3), [[1, 2], [1], []]
    by_hand = [processor.init(3) for _, processor in pipeline.stages]
    for _ in range(15):
        context, logits = Context.of(histories), rows(rng)
        expected = logits
        for at, (_, processor) in enumerate(pipeline.stages):
            expected, by_hand[at] = processor.process(by_hand[at], expected, context)
        left, _ = pipeline.outcomes(state, logits, context)
        made, state = pipeline.process(state, logits, context)
        np.testing.assert_array_equal(made, expected)
        np.testing.assert_array_equal(left[-1][1], expected)
        assert tuple(name for name, _ in left) == pipeline.names
        assert not np.isnan(made).any()
        for history, row in zip(histories, made, strict=True):
            history.append(int(np.argmax(row)))


def test_a_batch_is_its_rows_alone():
    rng, pipeline = np.random.default_rng(6), full_pipeline()
    together, alone = pipeline.init(2), [pipeline.init(1), pipeline.init(1)]
    histories = [[], []]
    for _ in range(10):
        logits = rows(rng, 2)
        made, together = pipeline.process(together, logits, Context.of(histories))
        for row in range(2):
            single, alone[row] = pipeline.process(alone[row], logits[row : row + 1], Context.of([histories[row]]))
            np.testing.assert_array_equal(single[0], made[row])
        for history, row in zip(histories, made, strict=True):
            history.append(int(np.argmax(row)))


def test_shaping_a_batch_is_shaping_each_row():
    settings = SamplerSettings(repetition_penalty=1.4, temperature=0.6, top_k=9, top_p=0.8, min_p=0.03)
    logits, histories = rows(np.random.default_rng(2)), [[3, 4], [], [5]]
    stages = [RepetitionPenalty(1.4), Temperature(0.6), TopK(9), TopP(0.8), MinP(0.03)]
    pipeline = Pipeline([(str(at), stage) for at, stage in enumerate(stages)])
    made, _ = pipeline.process(pipeline.init(3), logits, Context.of(histories))
    for row in range(3):
        shaped = logits[row]
        for shape in sampler_shapes(settings).values():
            shaped = shape(shaped, histories[row])
        np.testing.assert_allclose(made[row], shaped)


def test_going_back_is_using_an_older_state():
    rng, pipeline = np.random.default_rng(7), full_pipeline()
    logits, states, histories, made = rows(rng, 1), [pipeline.init(1)], [[]], []
    for _ in range(8):
        left, after = pipeline.process(states[-1], logits, Context.of([histories[-1]]))
        made.append(left)
        states.append(after)
        histories.append([*histories[-1], int(np.argmax(left))])
    for at in (5, 0, 3, 7):
        again, _ = pipeline.process(states[at], logits, Context.of([histories[at]]))
        np.testing.assert_array_equal(again, made[at])


def test_the_order_can_be_changed_and_means_something():
    letters = Vocabulary([b"a", b"b", b"C"], [])
    pipeline = Pipeline([("static", StaticMask(letters, ["UPPER"])), ("top-k", TopK(1))])
    logits = np.array([[5.0, 1.0, 0.0]])
    made, _ = pipeline.process(pipeline.init(1), logits, Context.of([[]]))
    assert np.flatnonzero(np.isfinite(made[0])).tolist() == [2]
    turned = pipeline.moved("top-k", 0)
    assert turned.names == ("top-k", "static")
    with raises_key(
        EmptyMaskError,
        "errors.decoding.empty_mask",
        where=catalogue_text("errors.decoding.fragment.stage", name="static"),
        row=" in row 0",
    ):
        turned.process(turned.init(1), logits, Context.of([[]]))
    assert turned.without("static").names == ("top-k",)
    assert pipeline.with_stage("bias", Bias(letters, {"a": 1.0}), 1).names == ("static", "bias", "top-k")


def test_names_are_told_apart():
    stage = TopK(3)
    with raises_key(InvariantError, "errors.decoding.stages.twice", name="'k'"):
        Pipeline([("k", stage), ("k", stage)])
    with raises_key(InvariantError, "errors.decoding.stages.unknown", name="'x'"):
        Pipeline([("k", stage)]).moved("x", 0)


def test_a_bias_that_removes_the_last_token_is_an_error_too():
    letters = Vocabulary([b"a", b"b"], [])
    pipeline = Pipeline([("static", StaticMask(letters, [b"a"])), ("bias", Bias(letters, {"a": -np.inf}))])
    with raises_key(
        EmptyMaskError,
        "errors.decoding.empty_mask",
        where=catalogue_text("errors.decoding.fragment.stage", name="bias"),
        row=" in row 0",
    ):
        pipeline.process(pipeline.init(1), np.zeros((1, 2)), Context.of([[]]))


def test_logits_that_no_processor_should_see_are_repaired_first():
    made, _ = Pipeline([("k", TopK(2))]).process((None,), np.array([[np.nan, np.inf, 1.0, 3.0]]), Context.of([[]]))
    assert made.tolist() == [[-np.inf, 0.0, -np.inf, -np.inf]]
    nothing, _ = Pipeline().process((), np.array([[np.nan, 1.0]]), Context.of([[]]))
    assert nothing.tolist() == [[-np.inf, 1.0]]


@given(st.integers(0, 10_000))
def test_a_grammars_rows_are_its_matchers(seed):
    rng = np.random.default_rng(seed)
    words = Vocabulary([b"a", b"b", b"ab", b"ba", b"c", None], [5])
    grammar = compile_grammar("regex", "(ab|c)*b?")
    mask, matchers, histories = GrammarMask(grammar, words), [Matcher(grammar, words) for _ in range(3)], [[], [], []]
    state = mask.init(3)
    for _ in range(7):
        masked, state = mask.process(state, np.zeros((3, words.size)), Context.of(histories))
        for row, matcher in enumerate(matchers):
            left = np.flatnonzero(np.isfinite(masked[row])).tolist()
            expected = [i for i in range(words.size) if matcher.is_allowed(i)]
            assert left == (expected or [5])  # a row that has ended is left with the end token
            histories[row].append(int(rng.choice(left)))
            matcher.accept(histories[row][-1])


def test_a_context_knows_the_last_token_of_every_row():
    context = Context.of([[4, 5], [], [6]])
    assert context.last.tolist() == [5, -1, 6]
    assert list(context.histories()) == [[4, 5], [], [6]]
    after = context.after([7, 8, 9])
    assert list(after.histories()) == [[4, 5, 7], [8], [6, 9]]
    assert after.last.tolist() == [7, 8, 9]


def test_a_pattern_and_a_grammar_together_allow_what_both_do():
    pipeline = Pipeline(
        [("grammar", GrammarMask(LINE, CHARACTERS)), ("pattern", compile_pattern(CHARACTERS, 'UPPER{2} ":" ANY*'))]
    )
    text, state, history = b"", pipeline.init(1), []
    for _ in range(9):
        made, state = pipeline.process(state, rows(np.random.default_rng(len(text)), 1), Context.of([history]))
        history.append(int(np.argmax(made[0])))
        text += LETTERS[history[-1]]
        if text.endswith(b"\n"):
            break
    assert text[2:4] == b": "
