"""The bundled model of records, with its own tokenizer."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from engine.compile import compile_grammar
from engine.decoding import Finish, SamplerSettings
from engine.decoding.forced.encodings import compare, query_after
from engine.decoding.forced.lattice import Lattice
from engine.decoding.forced.tokenizer_encoding import encode_with_tokenizer
from engine.decoding.generate import generate_fast_forward
from engine.matching import Matcher
from engine.models import LogitSource, load_model
from engine.models.text_encoder import text_encoder_of

PEOPLE = compile_grammar("regex", r'\{"name":"(John|Paul)","age":(20|30)\}')
PROMPT = "A person, as JSON:\n"


@pytest.fixture(scope="module")
def records() -> Iterator[LogitSource]:
    model = load_model("records")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield model
    torch.set_num_threads(threads)


@pytest.mark.parametrize("seed", range(8))
def test_the_tokenizers_own_spelling_is_written_whatever_was_drawn(records, seed):
    made = generate_fast_forward(PEOPLE, records, "own", prompt=PROMPT, sampler=SamplerSettings(seed=seed))
    data = made.generation.output
    ids = tuple(step.token_id for step in made.generation.steps)
    assert PEOPLE.fullmatch(data)
    assert made.generation.finish is Finish.STOP
    assert ids[:-1] == encode_with_tokenizer(data, records.vocabulary, text_encoder_of(records))
    assert made.calls == 2  # John or Paul, 20 or 30


def test_the_spelling_changes_what_comes_next(records):
    vocabulary = records.vocabulary
    run = b'{"name":"'
    own = encode_with_tokenizer(run, vocabulary, text_encoder_of(records))
    paths = list(Lattice.of(run, vocabulary).paths())
    assert own in paths
    outlooks = compare(Matcher(PEOPLE, vocabulary), paths, query_after(records, records.encode(PROMPT)), own)
    assert sum(one.is_own for one in outlooks) == 1
    assert max(outlooks, key=lambda one: one.log_p).is_own  # the model was trained on it
    of_paul = [next(said.p for said in one.following if said.data.startswith(b"P")) for one in outlooks]
    assert max(of_paul) - min(of_paul) > 0.1
