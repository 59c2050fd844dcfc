from __future__ import annotations

from pathlib import Path

from error_keys import raises_key
from tiny_models import ALPHABET

from engine.models import ModelError, load_model


def test_every_token_is_as_likely_as_any_other(tiny: Path) -> None:
    source = load_model(f"uniform:{tiny / 'tokenizer.json'}")
    assert source.width == source.vocabulary.size == len(ALPHABET)
    assert not source.logits([]).any()
    assert source.context_length is None


def test_a_prompt_is_spelled_by_the_longest_tokens(tiny: Path) -> None:
    source = load_model(f"uniform:{tiny}")
    assert b"".join(source.vocabulary.tokens[i] or b"" for i in source.encode("Abc.")) == b"Abc."
    assert source.encode("") == [0]
    with raises_key(ModelError, "errors.models.prompt.uniform", character="é", position=2):
        source.encode("Aé")


def test_it_holds_no_conversation(tiny: Path) -> None:
    source = load_model(f"uniform:{tiny}")
    assert not source.chat_template
    with raises_key(ModelError, "errors.models.template.uniform"):
        source.encode_chat([("user", "a")])


def test_what_is_no_tokenizer_is_a_sentence(tmp_path: Path) -> None:
    with raises_key(ModelError, "errors.models.no_tokenizer"):
        load_model(f"uniform:{tmp_path / 'missing'}")
    (tmp_path / "tokenizer.json").write_text("{}")
    with raises_key(ModelError, "errors.vocabulary.other_json"):
        load_model(f"uniform:{tmp_path}")
