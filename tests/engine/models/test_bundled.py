"""The models that Turnstile carries, as they lie in the repository."""

from __future__ import annotations

import json

import numpy as np
import pytest
from error_keys import raises_key

from engine.models import LogitSource, ModelError, load_model
from engine.models.sources.bundled import bundled_folder

PROMPT = "A character named Paul, aged 20, as JSON:"
CHARACTERS = "\n !$&',-.3:;?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
BYTES_EACH = 8_000_000


@pytest.fixture(scope="module")
def shakespeare() -> LogitSource:
    return load_model("shakespeare")


@pytest.fixture(scope="module")
def records() -> LogitSource:
    return load_model("records")


def greedy(source: LogitSource, prompt: str, count: int) -> str:
    ids = source.encode(prompt)
    start = len(ids)
    for _ in range(count):
        best = int(source.logits(ids).argmax())
        if best in source.vocabulary.eos_ids:
            break
        ids.append(best)
    return b"".join(source.vocabulary.tokens[i] or b"" for i in ids[start:]).decode()


@pytest.mark.parametrize("name", ["shakespeare", "records"])
def test_a_model_is_small_and_has_a_card(name: str) -> None:
    folder = bundled_folder(name)
    assert sum(file.stat().st_size for file in folder.iterdir()) < BYTES_EACH
    card = (folder / "README.md").read_text(encoding="utf-8")
    measured = json.loads((folder / "measured.json").read_text(encoding="utf-8"))
    assert "license: apache-2.0" in card
    assert f"{measured['valid_loss']:.3f} nats" in card
    assert f"{measured['parameters']:,} parameters" in card


def test_a_bundled_model_that_is_missing_says_so() -> None:
    with raises_key(ModelError, "errors.models.not_bundled", name="sonnets"):
        bundled_folder("sonnets")


def test_the_character_model_has_the_65_characters_and_no_end(shakespeare: LogitSource) -> None:
    table = shakespeare.vocabulary
    assert [token.decode() for token in table.tokens if token] == list(CHARACTERS)
    assert (table.size, shakespeare.width) == (65, 65)
    assert not table.eos_ids
    assert not table.special
    assert not shakespeare.chat_template


def test_the_character_model_starts_from_a_new_line(shakespeare: LogitSource) -> None:
    assert shakespeare.encode("") == shakespeare.encode("\n") == [0]
    with raises_key(ModelError, "errors.models.prompt.alphabet", count=65):
        shakespeare.encode("Jaméson")


def test_the_character_model_has_read_the_plays(shakespeare: LogitSource) -> None:
    assert greedy(shakespeare, "\n\nROM", 5) == "EO:\nI"


def test_the_record_model_begins_with_its_end(records: LogitSource) -> None:
    assert records.vocabulary.eos_ids == {0}
    assert records.encode("") == [0]
    assert records.encode(PROMPT)[0] == 0
    assert records.encode(PROMPT).count(0) == 1


def test_the_record_model_spells_any_text(records: LogitSource) -> None:
    text = "é 日本 \x00\t"
    assert b"".join(records.vocabulary.tokens[i] or b"" for i in records.encode(text)) == text.encode()


def test_the_record_model_writes_the_record_that_it_is_asked_for(records: LogitSource) -> None:
    record, _ = json.JSONDecoder().raw_decode(greedy(records, PROMPT, 100).lstrip())
    assert (record["name"], record["age"]) == ("Paul", 20)


def test_unconstrained_at_least_four_of_five_seeds_begin_with_an_object(records: LogitSource) -> None:
    """With a session's own draws, one token at a time; `resources.models.evaluate` measures the card's figure."""
    good, start = 0, records.encode(PROMPT)
    for seed in range(20):
        rng, ids = np.random.default_rng(seed), list(start)
        while len(ids) < 140:  # more than any record takes
            logits = records.logits(ids).astype(np.float64)
            shares = np.exp(logits - logits.max())
            ids.append(int(rng.choice(records.width, p=shares / shares.sum())))
            if ids[-1] in records.vocabulary.eos_ids:
                break
        text = b"".join(records.vocabulary.tokens[i] or b"" for i in ids[len(start) :]).decode(errors="replace")
        good += _begins_with_object(text)
    assert good >= 16


def _begins_with_object(text: str) -> bool:
    try:
        value, _ = json.JSONDecoder().raw_decode(text.lstrip())
    except json.JSONDecodeError:
        return False
    return isinstance(value, dict)
