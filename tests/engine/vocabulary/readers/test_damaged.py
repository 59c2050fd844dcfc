"""Damaged tokenizer files are clear errors, whatever is wrong with them, and take no memory for what is not there."""

from __future__ import annotations

import base64
import json
import tracemalloc
from contextlib import suppress
from random import Random

import pytest
from damaged_files import EXAMPLES, damaged_json
from tokenizers_of_our_own import byte_fallback, byte_level, metaspace, parts

from engine.vocabulary import Vocabulary, VocabularyError
from engine.vocabulary.readers.document import HIGHEST_ID

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


def tried(path) -> None:
    with suppress(VocabularyError):
        assert Vocabulary.from_tokenizer(path).size <= HIGHEST_ID + 1


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


def test_damaged_ranks_are_read_or_refused(tmp_path):
    lines = [base64.b64encode(bytes((byte,))) + b" %d" % byte for byte in range(64)]
    file = tmp_path / "a.tiktoken"
    for seed in range(EXAMPLES):
        rng = Random(seed)
        damaged = list(lines)
        for _ in range(rng.randint(1, 3)):
            wrong = (
                b"YQ== -1",
                b"YQ==",
                b"YQ== 2147483648",
                b"YQ== " + b"9" * 5_000,
                b"? 3",
                b"YQ== 1_0",
                b"",
                b"\xff 1",
            )
            damaged[rng.randrange(len(damaged))] = rng.choice(wrong)
        file.write_bytes(b"\n".join(damaged))
        tried(file)


@pytest.mark.parametrize("highest", [HIGHEST_ID + 1, 2_147_483_648, 10**400])
def test_one_absurd_id_takes_no_memory(tmp_path, highest):
    document = parts(byte_level("ab"))
    document["model"]["vocab"]["far"] = highest
    (tmp_path / "tokenizer.json").write_text(json.dumps(document))
    tracemalloc.start()
    try:
        with pytest.raises(VocabularyError, match=f"allow ids up to {HIGHEST_ID:,}"):
            Vocabulary.from_tokenizer(tmp_path)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 20_000_000


def test_ids_may_have_holes(tmp_path):
    document = parts(byte_level("ab"))
    document["model"]["vocab"]["ba"] = 100_000
    (tmp_path / "tokenizer.json").write_text(json.dumps(document))
    assert Vocabulary.from_tokenizer(tmp_path).size == 100_001


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"added_tokens": [{"id": "5", "content": "x"}]}, "/added_tokens/0/id should be a whole number"),
        ({"added_tokens": [{"id": 5, "content": ["x"]}]}, "/added_tokens/0/content should be a string"),
        ({"added_tokens": {"a": 1}}, "/added_tokens should be a list"),
        ({"model": {"vocab": {"a": 0, "b/c": "1"}}}, "/model/vocab/b~1c should be a whole number"),
        ({"model": {"vocab": {"a": True}}}, "/model/vocab/a should be a whole number"),
        ({"decoder": [], "pre_tokenizer": None}, "/decoder should be an object"),
    ],
)
def test_an_error_names_file_and_place(tmp_path, change, place):
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps(parts(byte_level("ab")) | change))
    with pytest.raises(VocabularyError) as caught:
        Vocabulary.from_tokenizer(file)
    assert str(file) in str(caught.value)
    assert place in str(caught.value)
