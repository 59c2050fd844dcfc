from __future__ import annotations

from pathlib import Path

import pytest
from error_keys import raises_key
from tiny_models import save_tiny

from engine.models import LogitSource, ModelError, load_model


@pytest.fixture(scope="module")
def plain(tiny: Path) -> LogitSource:
    return load_model(str(tiny))


@pytest.fixture(scope="module")
def chat(tiny_chat: Path) -> LogitSource:
    return load_model(str(tiny_chat))


def spelled(source: LogitSource, ids: list[int]) -> str:
    table = source.vocabulary
    return "".join(table.special.get(i) or (table.tokens[i] or b"").decode() for i in ids)


def test_a_prompt_is_spelled_as_it_stands(plain: LogitSource) -> None:
    assert spelled(plain, plain.encode("Abc, d.\n")) == "Abc, d.\n"


def test_a_character_outside_the_alphabet_is_named_with_its_position(plain: LogitSource) -> None:
    with raises_key(ModelError, "errors.models.prompt.alphabet", character="“é”", position=4):
        plain.encode("Abcé")
    with raises_key(ModelError, "errors.models.prompt.alphabet", character="U+0009", position=1):
        plain.encode("\tA")


def test_an_empty_prompt_starts_from_a_new_line_where_nothing_begins_a_text(plain: LogitSource) -> None:
    assert spelled(plain, plain.encode("")) == "\n"


def test_an_empty_prompt_is_bos_where_there_is_one(chat: LogitSource) -> None:
    assert spelled(chat, chat.encode("")) == "<s>"


@pytest.mark.parametrize("prompt", ["abc", "<s>abc"])
def test_bos_stands_once(chat: LogitSource, prompt: str) -> None:
    assert spelled(chat, chat.encode(prompt)) == "<s>abc"


def test_an_end_that_the_tokenizer_adds_is_taken_off(tmp_path: Path) -> None:
    folder = save_tiny(tmp_path / "ends", special=True)
    file = folder / "tokenizer.json"
    from tokenizers import Tokenizer, processors

    raw = Tokenizer.from_file(str(file))
    raw.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)])
    raw.save(str(file))
    source = load_model(str(folder))
    assert spelled(source, source.encode("abc")) == "<s>abc"
    assert spelled(source, source.encode("abc</s>")) == "<s>abc</s>"  # the user's own stays, once


def test_a_conversation_goes_through_the_template(chat: LogitSource) -> None:
    assert chat.chat_template
    ids = chat.encode_chat([("user", "abc")], "Ab")
    assert spelled(chat, ids) == "<s>user: abc</s>a: Ab"


def test_without_a_template_there_is_no_conversation(plain: LogitSource) -> None:
    assert not plain.chat_template
    with raises_key(ModelError, "errors.models.template.none"):
        plain.encode_chat([("user", "abc")])


def test_what_a_template_refuses_is_a_sentence(chat: LogitSource) -> None:
    with raises_key(ModelError, "errors.models.template.refused", message="no tools here"):
        chat.encode_chat([("tool", "abc")])
