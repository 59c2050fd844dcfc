"""The bundled character model under a grammar."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from error_keys import raises_key

from engine.compile import compile_grammar
from engine.decoding.generate import generate, sample_many
from engine.decoding.session import DecodeSession
from engine.decoding.values import EosState, Finish, SamplerSettings
from engine.models import LogitSource, ModelError, load_model

LINE = compile_grammar("regex", r"[A-Z]+: [a-z]+\n")


@pytest.fixture(scope="module")
def shakespeare() -> Iterator[LogitSource]:
    model = load_model("shakespeare")
    # Tests run beside each other, and threads that wait for each other cost a small model more than they bring.
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield model
    torch.set_num_threads(threads)


def test_a_hundred_seeds_give_a_hundred_matches(shakespeare):
    outcomes = list(sample_many(LINE, shakespeare, seeds=range(100)))
    assert len(outcomes) == 100
    assert [outcome.seed for outcome in outcomes if outcome.finish is not Finish.STOP or not outcome.matches] == []
    assert len({outcome.text for outcome in outcomes}) > 50


def test_the_same_seed_gives_the_same_text_whatever_came_before(shakespeare):
    sampler = SamplerSettings(seed=11)
    alone = generate(LINE, shakespeare, sampler=sampler)
    (among_others,) = [o for o in sample_many(LINE, shakespeare, seeds=range(8, 14)) if o.seed == 11]
    assert alone.text == among_others.text
    session = DecodeSession(LINE, shakespeare, sampler=sampler)
    for _ in range(3):
        session.step()
    session.back()
    session.back()
    while session.finish is None:
        session.step()
    assert session.text == alone.text


def test_it_has_no_eos_and_65_characters(shakespeare):
    position = DecodeSession(LINE, shakespeare).position()
    assert position.eos is EosState.NO_EOS
    assert (position.vocabulary_size, position.allowed) == (65, 26)
    assert position.z > 0.5  # from a new line, it wants a speaker


def test_masking_leaves_ratios_as_the_model_had_them(shakespeare):
    rows = [row for row in DecodeSession(LINE, shakespeare).position().candidates if row.allowed]
    for one in rows:
        for other in rows:
            assert one.p_masked / other.p_masked == pytest.approx(one.p / other.p)


def test_a_prompt_outside_its_characters_is_a_sentence(shakespeare):
    with raises_key(ModelError, "errors.models.prompt.alphabet", count=65):
        DecodeSession(LINE, shakespeare, prompt="façade")
