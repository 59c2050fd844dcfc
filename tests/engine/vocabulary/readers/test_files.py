import json

import pytest
from error_keys import raises_key

from engine.vocabulary import Vocabulary, VocabularyError
from tests.engine.vocabulary.readers.small_tokenizers import byte_fallback, byte_level


def write(folder, **files):
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content)
        (folder / f"{name}.json").write_text(text, encoding="utf-8")


@pytest.fixture
def folder(tmp_path):
    tokenizer = byte_level("ab")
    tokenizer.add_special_tokens(["<|endoftext|>", "<|im_end|>"])  # ids 257, 258
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    return tmp_path


def test_a_folder_and_its_file_are_the_same(folder):
    whole, file = Vocabulary.from_tokenizer(folder), Vocabulary.from_tokenizer(str(folder / "tokenizer.json"))
    assert whole.fingerprint == file.fingerprint


@pytest.mark.parametrize(
    ("files", "ends"),
    [
        ({}, {257, 258}),  # by their names
        ({"tokenizer_config": {"eos_token": "<|im_end|>"}}, {258}),
        ({"tokenizer_config": {"eos_token": {"content": "<|im_end|>", "special": True}}}, {258}),
        ({"special_tokens_map": {"eos_token": {"content": "<|im_end|>"}}}, {258}),
        ({"generation_config": {"eos_token_id": 257}}, {257}),
        ({"generation_config": {"eos_token_id": [257, 258]}}, {257, 258}),
        ({"generation_config": {"eos_token_id": 257}, "tokenizer_config": {"eos_token": "<|im_end|>"}}, {257, 258}),
        ({"config": {"eos_token_id": 257}}, {257}),
        ({"config": {"text_config": {"eos_token_id": [258]}}}, {258}),
        ({"config": {"eos_token_id": 257}, "tokenizer_config": {"eos_token": "<|im_end|>"}}, {258}),
        ({"generation_config": {"eos_token_id": 99_999}, "config": "no JSON at all"}, set()),
        ({"tokenizer_config": {"eos_token": "<none>"}, "generation_config": {"eos_token_id": None}}, {257, 258}),
    ],
)
def test_which_ids_end_the_output(folder, files, ends):
    write(folder, **files)
    assert Vocabulary.from_tokenizer(folder).eos_ids == ends


def test_special_tokens_that_only_the_configuration_names(folder):
    added = {
        "97": {"content": "a", "special": True},
        "300": {"content": "<x>", "special": True},
        "301": {"content": "y"},
    }
    write(folder, tokenizer_config={"added_tokens_decoder": added})
    vocabulary = Vocabulary.from_tokenizer(folder)
    assert (vocabulary.special[97], vocabulary.special[300]) == ("a", "<x>")
    assert (vocabulary.tokens[97], vocabulary.tokens[300], vocabulary.tokens[301]) == (None, None, b"y")
    assert vocabulary.size == 302


def test_tokens_with_a_role_are_special(folder):
    write(folder, tokenizer_config={"pad_token": "ab"}, special_tokens_map={"mask_token": {"content": "a"}})
    vocabulary = Vocabulary.from_tokenizer(folder)
    assert {vocabulary.special[97], vocabulary.special[256]} == {"a", "ab"}
    assert vocabulary.tokens[98] == b"b"


def test_logits_narrower_than_the_special_tokens(folder):
    vocabulary = Vocabulary.from_tokenizer(folder, width=258)
    assert (vocabulary.size, set(vocabulary.eos_ids)) == (258, {257})


def test_a_bare_table_of_byte_level_pieces(tmp_path):
    tokenizer = byte_level(" ab")
    (tmp_path / "vocab.json").write_text(json.dumps(tokenizer.get_vocab()), encoding="utf-8")
    assert Vocabulary.from_tokenizer(tmp_path).tokens == Vocabulary.from_tokenizer(tokenizer).tokens


def test_a_bare_table_of_other_pieces_is_refused(tmp_path):
    (tmp_path / "vocab.json").write_text(json.dumps(byte_fallback().get_vocab()), encoding="utf-8")
    with raises_key(VocabularyError, "errors.vocabulary.bare_pieces"):
        Vocabulary.from_tokenizer(tmp_path)


@pytest.mark.parametrize(
    ("content", "key"),
    [
        (b"{ no json", "errors.vocabulary.file.no_json"),
        (b'{"a": "b"}', "errors.vocabulary.other_json"),
        (b"{}", "errors.vocabulary.other_json"),
        (b"GGUF\x03\0\0\0", "errors.vocabulary.gguf"),
        (b"\x80\x04\x95\x00 a pickle", "errors.vocabulary.unknown_file"),
        (b"", "errors.vocabulary.empty_file"),
    ],
)
def test_what_is_no_tokenizer_is_refused(tmp_path, content, key):
    file = tmp_path / "file"
    file.write_bytes(content)
    with raises_key(VocabularyError, key):
        Vocabulary.from_tokenizer(file)


def test_what_is_not_there_is_refused(tmp_path):
    with raises_key(VocabularyError, "errors.vocabulary.missing"):
        Vocabulary.from_tokenizer(tmp_path / "missing")
    with raises_key(VocabularyError, "errors.vocabulary.no_tokenizer"):
        Vocabulary.from_tokenizer(tmp_path)
