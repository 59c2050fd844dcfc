"""Sessions with a source that returns a part of its distribution: what it is asked for, and what it draws."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from partial_source import DrawingSource, PartialSource, PricingSource, WeighingSource
from random_model import LETTERS, GivenModel, RandomModel

from engine.compile import compile_grammar
from engine.decoding import PipelineSettings
from engine.decoding.errors import UnknownDrawError
from engine.decoding.generate import counted, generate, generate_fast_forward, sample_many
from engine.decoding.session import DecodeSession
from engine.decoding.values import SamplerSettings, StepOrigin
from engine.document.codec import decode, encode
from engine.document.content import DocumentFile
from engine.models import ModelError
from engine.models.source import DrawSettings, DrawsTokens, PricesTokens
from engine.vocabulary import Vocabulary
from tests.support.error_keys import raises_key

LINE = compile_grammar("regex", r"[A-Z]+: [a-z]+\n")
FEW = compile_grammar("regex", r"[XYZ]{3}")
GREEDY = SamplerSettings(temperature=0)


def token(text: str) -> int:
    return LETTERS.index(text.encode())


def full_of(grammar, **options) -> DecodeSession:
    return DecodeSession(grammar, RandomModel(), **options)


def test_few_allowed_tokens_are_priced_and_the_text_is_that_of_the_full_distribution():
    source = PricingSource(RandomModel(), listed=3)
    partial, full = generate(FEW, source), generate(FEW, RandomModel())
    assert partial.text == full.text
    for mine, other in zip(partial.steps, full.steps, strict=True):
        assert mine.origin is StepOrigin.SAMPLER
        assert mine.z == pytest.approx(other.z, rel=1e-5)
        assert mine.p_masked == pytest.approx(other.p_masked, rel=1e-5)
        assert mine.z_bounds is None
        assert mine.entropy is None


def test_back_and_branch_ask_the_source_nothing_again():
    source = PricingSource(RandomModel(), listed=3)
    session = DecodeSession(FEW, source)
    session.position()
    session.step()
    session.position()
    asked = list(source.asked)
    session.back()
    assert session.position().z is not None
    session.step()
    session.position()
    assert source.asked == asked


def test_more_allowed_tokens_than_can_be_priced_have_bounds_and_are_drawn_by_the_source():
    source = DrawingSource(RandomModel(), listed=3)
    session = DecodeSession(LINE, source, sampler=SamplerSettings(seed=4))
    position = session.position()
    assert position.z is None
    assert position.z_range == position.unknown.z
    low, high = position.unknown.z
    assert low <= full_of(LINE).position().z <= high
    assert not position.unknown.can_sample
    step = session.step()
    assert step.origin is StepOrigin.SOURCE
    assert step.z is None
    assert step.z_bounds == position.unknown.z
    assert step.p is not None  # it is listed, or was priced
    assert [one.token_id for one in step.top] == [row.token_id for row in position.candidates if row.p is not None]
    assert step.mask_us == position.mask_us
    assert [what for what, *_ in source.asked][:2] == ["list", "draw"]


def test_the_source_draws_the_same_token_again_and_another_at_another_seed():
    drawn = set()
    for seed in range(12):
        source = DrawingSource(RandomModel(spread=0.5), listed=3)
        session = DecodeSession(LINE, source, sampler=SamplerSettings(seed=seed))
        first = session.step().token_id
        session.back()
        assert session.step().token_id == first
        drawn.add(first)
    assert len(drawn) > 3


def test_a_kept_draw_is_not_asked_for_again():
    source = DrawingSource(RandomModel(), listed=3)
    session = DecodeSession(LINE, source)
    session.step()
    session.back()
    session.step()
    assert [what for what, *_ in source.asked].count("draw") == 1
    session.back()
    session.set_sampler(SamplerSettings(seed=1))
    session.step()
    assert [what for what, *_ in source.asked].count("draw") == 2


def test_the_settings_of_the_filters_go_to_the_source_that_draws():
    source = DrawingSource(RandomModel(), listed=1)
    DecodeSession(LINE, source, sampler=SamplerSettings(temperature=0.7, top_k=9, top_p=0.95, min_p=0.01)).step()
    (settings,) = (entry[1] for entry in source.asked if entry[0] == "draw")
    assert (settings.temperature, settings.top_k, settings.top_p, settings.min_p) == (0.7, 9, 0.95, 0.01)
    assert 0 <= settings.seed < 2**31


@pytest.mark.parametrize(
    ("options", "stage"),
    [
        ({}, ""),
        ({"sampler": SamplerSettings(top_p=0.9)}, "top-p"),
        ({"sampler": SamplerSettings(repetition_penalty=1.2)}, "repetition-penalty"),
    ],
)
def test_a_draw_that_depends_on_what_is_unknown_is_refused_and_a_token_can_be_chosen(options, stage):
    session = DecodeSession(LINE, PartialSource(RandomModel(), listed=1), **options)
    with raises_key(UnknownDrawError, f"errors.decoding.partial.{'stage' if stage else 'draw'}", stage=stage):
        session.step()
    step = session.take(token("Q"))
    assert (step.p, step.p_masked, step.z) == (None, None, None)


def test_a_penalty_is_not_applied_to_log_probabilities_even_if_all_are_known():
    class Normalised(PartialSource):
        gives_log_probabilities = True

    source = Normalised(RandomModel(), listed=len(LETTERS))
    plain = DecodeSession(LINE, source)
    assert plain.position().unknown is None
    assert plain.step().token_id == full_of(LINE).step().token_id
    session = DecodeSession(LINE, source, sampler=SamplerSettings(repetition_penalty=1.2))
    position = session.position()
    assert position.z == pytest.approx(full_of(LINE).position().z, rel=1e-5)
    assert all(row.p is not None and row.rank is not None for row in position.candidates)
    with raises_key(UnknownDrawError, "errors.decoding.partial.logits", stage="repetition-penalty"):
        session.step()


@pytest.mark.parametrize(
    "options",
    [
        {"sampler": SamplerSettings(repetition_penalty=1.2)},
        {"pipeline": PipelineSettings(bias=(("Q", 1.0),))},
        {"sampler": SamplerSettings(top_k=20), "pipeline": PipelineSettings(order=("top-k", "grammar"))},
    ],
)
def test_a_source_does_not_draw_where_it_cannot_apply_a_stage(options):
    source = DrawingSource(RandomModel(), listed=1)
    with raises_key(UnknownDrawError, "errors.decoding.partial.beyond"):
        DecodeSession(LINE, source, **options).step()
    assert "draw" not in [what for what, *_ in source.asked]


def test_a_token_that_the_mask_removes_is_never_taken_from_a_source():
    class Careless(DrawingSource):
        def draw(self, ids, allowed, settings):
            return token("q")

    with raises_key(ModelError, "errors.decoding.partial.drew_masked"):
        DecodeSession(LINE, Careless(RandomModel(), listed=1)).step()


def test_a_greedy_step_needs_no_draw_where_a_listed_token_is_the_best_allowed_one():
    source = PartialSource(RandomModel(), listed=45)
    assert generate(LINE, source, sampler=GREEDY, max_tokens=12).text == (
        generate(LINE, RandomModel(), sampler=GREEDY, max_tokens=12).text
    )


def test_a_search_asks_for_the_tokens_that_are_unknown():
    source = PricingSource(RandomModel(), listed=2)
    session = DecodeSession(LINE, source)
    hidden = next(row for row in session.position().candidates if row.p is None)
    text = LETTERS[hidden.token_id].decode()
    (found,) = session.lookup(f"={text}")
    (full,) = full_of(LINE).lookup(f"={text}")
    assert found.p == pytest.approx(full.p, rel=1e-5)
    assert found.rank is None
    assert any(row.token_id == hidden.token_id and row.p is not None for row in session.position().candidates)


def test_unknown_rows_come_last_and_cross_to_another_process():
    position = DecodeSession(LINE, PartialSource(RandomModel(), listed=4)).position()
    assert [row.rank for row in position.candidates[:4]] == [1, 2, 3, 4]
    assert all(row.p is None and row.rank is None for row in position.candidates[4:])
    assert pickle.loads(pickle.dumps(position)) == position


def test_a_document_keeps_unknown_numbers_unknown():
    session = DecodeSession(LINE, DrawingSource(RandomModel(), listed=3))
    session.position()
    session.step()
    read = decode(encode(DocumentFile(trace=session.trace)), "x")
    assert read.trace == session.trace
    assert read.trace.nodes[0].step.z is None


def test_a_remembered_position_has_the_bounds_of_its_step():
    session = DecodeSession(LINE, PartialSource(RandomModel(), listed=3), kept_logits=1)
    session.position()
    session.take(token("Q"))
    session.position()
    session.replace_grammar(LINE)  # positions are computed anew, and only the last answer is kept
    session.restart()
    remembered = session.remembered()
    assert remembered.z is None
    assert remembered.z_range == session.position().unknown.z
    assert len(remembered.candidates) == 3


def test_another_grammar_gives_old_steps_the_numbers_that_the_kept_answers_have():
    session = DecodeSession(FEW, PricingSource(RandomModel(), listed=3))
    session.step()
    assert session.steps[0].z is not None
    session.replace_grammar(compile_grammar("regex", r"[A-Z]{3}"))
    assert session.steps[0].z is None
    assert session.steps[0].z_bounds is not None


def test_the_masses_of_first_bytes_are_unknown_where_a_token_is():
    position = DecodeSession(LINE, PartialSource(RandomModel(), listed=4)).position()
    known = {LETTERS[row.token_id][0] for row in position.candidates if row.p is not None}
    for byte in b"AMZ":
        assert (position.first_bytes.masses[byte] is None) == (byte not in known)


def test_the_least_mass_of_an_output_is_unknown_if_one_is():
    (outcome,) = sample_many(LINE, DrawingSource(RandomModel(), listed=3), seeds=[0], max_tokens=4)
    assert outcome.least_z is None


def test_a_counted_source_prices_and_draws_as_the_source_does():
    pricing, drawing = (counted(kind(RandomModel(), listed=3)) for kind in (PricingSource, DrawingSource))
    assert isinstance(pricing, PricesTokens)
    assert not isinstance(pricing, DrawsTokens)
    assert isinstance(drawing, DrawsTokens)
    assert drawing.draw([0], np.ones(len(LETTERS), dtype=np.bool_), DrawSettings()) in range(len(LETTERS))
    pricing.price([0], [1])
    assert (pricing.calls, drawing.calls) == (1, 1)
    assert counted(RandomModel()).most_priced == 0


def test_the_most_probable_encoding_prices_the_tokens_of_the_run():
    grammar = compile_grammar("regex", r"(Red|Blue)!?")
    source = PricingSource(RandomModel(), listed=2)
    word = compile_grammar("regex", r"Hello")
    with raises_key(ModelError, "errors.decoding.partial.token"):
        generate_fast_forward(word, PartialSource(RandomModel(), listed=2), "probable", max_tokens=9)
    written = generate_fast_forward(grammar, source, "probable", max_tokens=9)
    assert written.generation.text == generate_fast_forward(grammar, RandomModel(), "probable").generation.text


@pytest.mark.parametrize(
    "sampler", [GREEDY, SamplerSettings(seed=3), SamplerSettings(temperature=0.7, top_p=0.6, seed=1)]
)
@pytest.mark.parametrize("grammar", [LINE, FEW, None])
def test_with_the_mass_of_masks_the_text_and_its_numbers_are_those_of_the_full_distribution(grammar, sampler):
    source = WeighingSource(RandomModel(spread=4.0), listed=6)
    partial = generate(grammar, source, sampler=sampler, max_tokens=20)
    full = generate(grammar, RandomModel(spread=4.0), sampler=sampler, max_tokens=20)
    assert partial.text == full.text
    for mine, other in zip(partial.steps, full.steps, strict=True):
        assert mine.origin is StepOrigin.SAMPLER
        assert (mine.z, mine.p, mine.p_masked) == pytest.approx((other.z, other.p, other.p_masked), rel=1e-4)
    if sampler.is_greedy:
        assert not any(what == "price" for what, *_ in source.asked)


@pytest.mark.parametrize("grammar", [None, compile_grammar("regex", "t[0-9]*[1-9]")])
def test_a_draw_is_decided_by_a_part_of_the_distribution_and_is_that_of_all_of_it(grammar):
    kinds = []
    vocabulary = Vocabulary([*(b"t%d" % number for number in range(3_000)), b"<end>"], [3_000])
    for seed in range(12):
        given = GivenModel(vocabulary, np.random.default_rng(seed).normal(0, 3, vocabulary.size))
        source, sampler = WeighingSource(given, listed=60), SamplerSettings(seed=seed)
        drawn = DecodeSession(grammar, source, sampler=sampler).step()
        assert drawn.token_id == DecodeSession(grammar, given, sampler=sampler).step().token_id
        assert drawn.p is not None
        kinds.append([what for what, *tokens in source.asked if len(tokens) < 2_000])
        assert [what for what, *tokens in source.asked if len(tokens) >= 2_000] in ([], ["price"])
    assert ["weigh", "price"] in [asked[-2:] for asked in kinds]


def test_the_mass_of_a_mask_is_asked_for_once():
    source = WeighingSource(RandomModel(), listed=3)
    session = DecodeSession(LINE, source, sampler=GREEDY)
    session.position()
    session.step()
    session.back()
    session.position()
    assert [what for what, *_ in source.asked] == ["list", "weigh"]
