"""Damaged tokenizer files are clear errors, whatever is wrong with them, and take no memory for what is not there."""

from __future__ import annotations

import base64
import json
import os
import tracemalloc
from contextlib import suppress
from random import Random

import pytest
import sentencepiece
import tiktoken
import tokenizers
from damaged_files import EXAMPLES, damaged_bytes, damaged_json
from error_keys import raises_key

from engine.vocabulary import Vocabulary, VocabularyError
from engine.vocabulary.readers.document import HIGHEST_ID
from tests.engine.vocabulary.readers.small_tokenizers import byte_fallback, byte_level, metaspace, parts

TEKKEN = {
    "config": {"default_num_special_tokens": 2, "default_vocab_size": 5},
    "special_tokens": [{"rank": 0, "token_str": "<unk>"}, {"rank": 1, "token_str": "</s>"}],
    "vocab": [{"rank": i, "token_bytes": base64.b64encode(t).decode()} for i, t in enumerate([b"a", b"b", b"\xff"])],
}
FILES = {
    "byte level": ("tokenizer.json", parts(byte_level("ab"))),
    "byte fallback": ("tokenizer.json", parts(byte_fallback())),
    "metaspace": ("tokenizer.json", parts(metaspace())),
    "tekken": ("tekken.json", TEKKEN),
    "bare table": ("vocab.json", byte_level("ab").get_vocab()),
}
BESIDE = {
    "tokenizer_config": {
        "eos_token": {"content": "ab", "special": True},
        "pad_token": "a",
        "added_tokens_decoder": {"300": {"content": "<x>", "special": True}, "301": {"content": "y"}},
    },
    "special_tokens_map": {"eos_token": "ab", "unk_token": {"content": "a"}},
    "generation_config": {"eos_token_id": [1, 2]},
    "config": {"eos_token_id": 1, "text_config": {"eos_token_id": [2]}},
}


WRONG_RANKS = (
    *(b"YQ== -1", b"YQ==", b"YQ== 2147483648", b"YQ== " + b"9" * 5_000),
    *(b"? 3", b"YQ== 1_0", b"", b"\xff 1"),
)


MOST_MEMORY = 60_000_000  # bytes; two million ids take 16 MB for each table


def tried(path) -> None:
    tracemalloc.start()
    try:
        with suppress(VocabularyError):
            assert Vocabulary.from_tokenizer(path).size <= HIGHEST_ID + 1
        assert tracemalloc.get_traced_memory()[1] < MOST_MEMORY
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("kind", FILES)
def test_a_damaged_tokenizer_is_read_or_refused(tmp_path, kind):
    name, document = FILES[kind]
    for seed in range(EXAMPLES // 3):
        (tmp_path / name).write_text(damaged_json(document, Random(seed)))
        tried(tmp_path)


@pytest.mark.parametrize("name", BESIDE)
def test_a_damaged_file_beside_a_tokenizer_is_read_or_refused(tmp_path, name):
    byte_level("ab").save(str(tmp_path / "tokenizer.json"))
    for seed in range(EXAMPLES // 3):
        (tmp_path / f"{name}.json").write_text(damaged_json(BESIDE[name], Random(seed)))
        tried(tmp_path)


@pytest.mark.parametrize("kind", FILES)
def test_damaged_bytes_of_a_tokenizer_are_read_or_refused(tmp_path, kind):
    name, document = FILES[kind]
    data = json.dumps(document).encode()
    for seed in range(EXAMPLES // 3):
        (tmp_path / name).write_bytes(damaged_bytes(data, Random(seed), len(data)))
        tried(tmp_path)


def test_a_damaged_sentencepiece_model_is_read_or_refused(tmp_path):
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(["abc abd acd bcd"] * 20),
        model_prefix=str(tmp_path / "good"),
        vocab_size=16,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    data, file = (tmp_path / "good.model").read_bytes(), tmp_path / "tokenizer.model"
    file.write_bytes(data)
    assert Vocabulary.from_tokenizer(file).size > 4
    for seed in range(EXAMPLES // 3):
        file.write_bytes(damaged_bytes(data, Random(seed), len(data)))
        tried(file)


def test_damaged_ranks_are_read_or_refused(tmp_path):
    lines = [base64.b64encode(bytes((byte,))) + b" %d" % byte for byte in range(64)]
    file = tmp_path / "a.tiktoken"
    for seed in range(EXAMPLES):
        rng = Random(seed)
        damaged = list(lines)
        for _ in range(rng.randint(1, 3)):
            damaged[rng.randrange(len(damaged))] = rng.choice(WRONG_RANKS)
        file.write_bytes(b"\n".join(damaged))
        tried(file)


@pytest.mark.parametrize("highest", [HIGHEST_ID + 1, 2_147_483_648, 10**400])
def test_one_absurd_id_takes_no_memory(tmp_path, highest):
    document = parts(byte_level("ab"))
    document["model"]["vocab"]["far"] = highest
    (tmp_path / "tokenizer.json").write_text(json.dumps(document))
    tracemalloc.start()
    try:
        with raises_key(VocabularyError, "errors.vocabulary.file.wrong_type", where="/model/vocab/far"):
            Vocabulary.from_tokenizer(tmp_path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000


WRONG_TYPE = "errors.vocabulary.file.wrong_type"


def test_ids_may_have_holes(tmp_path):
    document = parts(byte_level("ab"))
    document["model"]["vocab"]["ba"] = 100_000
    (tmp_path / "tokenizer.json").write_text(json.dumps(document))
    assert Vocabulary.from_tokenizer(tmp_path).size == 100_001


@pytest.mark.parametrize(
    ("change", "place", "expected"),
    [
        ({"added_tokens": [{"id": "5", "content": "x"}]}, "/added_tokens/0/id", "a whole"),
        ({"added_tokens": [{"id": 5, "content": ["x"]}]}, "/added_tokens/0/content", "a string"),
        ({"added_tokens": {"a": 1}}, "/added_tokens", "a list"),
        ({"model": {"vocab": {"a": 0, "b/c": "1"}}}, "/model/vocab/b~1c", "a whole"),
        ({"model": {"vocab": {"a": True}}}, "/model/vocab/a", "a whole"),
        ({"decoder": [], "pre_tokenizer": None}, "/decoder", "an object"),
        ({"model": {"vocab": {"a": 0, "b": 1, "c": 0}}}, "/model/vocab/c", "another id"),
        ({"model": {"vocab": {"a": 0, "b": float("nan")}}}, "/model/vocab/b", "a whole"),
        ({"model": {"vocab": {"a": 0, "b": -5}}}, "/model/vocab/b", "a whole"),
        ({"model": {"vocab": {"a": 0}, "unk_token": []}}, "/model/unk_token", "a string"),
        ({"model": 5}, "/model", "an object with"),
        ({"model": {}}, "/model", "an object with"),
        ({"added_tokens": [{"id": 9, "content": "x", "special": "no"}]}, "/added_tokens/0/special", "true or"),
        ({"added_tokens": [{"id": 9, "content": c} for c in "xy"]}, "/added_tokens/1/id", "another id"),
        ({"added_tokens": [{"id": 2147483648, "content": "x"}]}, "/added_tokens/0/id", "at most 2,097,152"),
    ],
)
def test_an_error_names_file_and_place(tmp_path, change, place, expected):
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps(parts(byte_level("ab")) | change))
    with raises_key(VocabularyError, WRONG_TYPE, file=str(file), where=place) as caught:
        Vocabulary.from_tokenizer(file)
    assert caught.value.fields["expected"].startswith(expected)


def test_a_tokenizer_without_tokens_is_refused(tmp_path):
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps(parts(byte_level("ab")) | {"model": {"vocab": {}}}))
    with raises_key(VocabularyError, "errors.vocabulary.no_tokens", file=str(file)):
        Vocabulary.from_tokenizer(file)


@pytest.mark.parametrize(
    ("name", "content", "place", "expected"),
    [
        ("tokenizer_config.json", b"[]", "the whole file", "an object"),
        ("tokenizer_config.json", b'{"eos_token": 5}', "/eos_token", "the name"),
        ("tokenizer_config.json", b'{"eos_token": {"content": 5}}', "/eos_token/content", "a string"),
        ("tokenizer_config.json", b'{"added_tokens_decoder": {"-1": "x"}}', "/added_tokens_decoder/-1", "under"),
        (
            "tokenizer_config.json",
            b'{"added_tokens_decoder": {"2147483648": "x"}}',
            "/added_tokens_decoder/2147483648",
            "",
        ),
        ("generation_config.json", b'{"eos_token_id": "2"}', "/eos_token_id", "an id"),
        ("generation_config.json", b'{"eos_token_id": [2, NaN]}', "/eos_token_id/1", "an id"),
        ("config.json", b'{"text_config": 5}', "/text_config", "an object"),
        ("config.json", b'{"text_config": {"eos_token_id": 1.5}}', "/text_config/eos_token_id", "an id"),
    ],
)
def test_an_error_in_a_file_beside_a_tokenizer_names_file_and_place(tmp_path, name, content, place, expected):
    byte_level("ab").save(str(tmp_path / "tokenizer.json"))
    (tmp_path / name).write_bytes(content)
    with raises_key(VocabularyError, WRONG_TYPE, file=str(tmp_path / name), where=place) as caught:
        Vocabulary.from_tokenizer(tmp_path)
    assert caught.value.fields["expected"].startswith(expected)


@pytest.mark.parametrize(
    ("name", "content", "key"),
    [
        ("tokenizer_config.json", b"", "errors.vocabulary.file.no_json"),
        ("special_tokens_map.json", b"\xff\xfe{", "errors.vocabulary.file.no_json"),
        ("special_tokens_map.json", b"[" * 100_000, "errors.vocabulary.file.nested"),
    ],
)
def test_a_file_beside_a_tokenizer_that_is_no_json_is_named(tmp_path, name, content, key):
    byte_level("ab").save(str(tmp_path / "tokenizer.json"))
    (tmp_path / name).write_bytes(content)
    with raises_key(VocabularyError, key, file=str(tmp_path / name)):
        Vocabulary.from_tokenizer(tmp_path)


def test_two_ranks_of_one_number_are_refused(tmp_path):
    file = tmp_path / "a.tiktoken"
    file.write_bytes(b"YQ== 0\nYg== 1\nYw== 1\n")
    with raises_key(VocabularyError, "errors.vocabulary.rank_twice", line=3, rank=1):
        Vocabulary.from_tokenizer(file)


def test_a_file_of_absurd_size_is_refused_unread(tmp_path):
    file = tmp_path / "tokenizer.json"
    with file.open("wb") as opened:
        opened.truncate(1 << 40)  # of holes
    with raises_key(VocabularyError, "errors.vocabulary.too_large"):
        Vocabulary.from_tokenizer(file)


def test_a_device_is_refused_unread():
    with raises_key(VocabularyError, "errors.vocabulary.not_regular"):
        Vocabulary.from_tokenizer(os.devnull)


def test_an_object_with_an_absurd_id_is_refused():
    document = parts(byte_level("ab"))
    document["model"]["vocab"]["far"] = 2_147_483_648
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(document))
    with raises_key(VocabularyError, "errors.vocabulary.high_id", id="2,147,483,648"):
        Vocabulary.from_tokenizer(tokenizer)


def test_an_encoding_with_an_absurd_id_is_refused():
    encoding = tiktoken.Encoding(
        "far",
        pat_str=".",
        mergeable_ranks={bytes([byte]): byte for byte in range(256)},
        special_tokens={"<end>": 2_147_483_648},
    )
    with raises_key(VocabularyError, "errors.vocabulary.high_id", id="2,147,483,648"):
        Vocabulary.from_tokenizer(encoding)
