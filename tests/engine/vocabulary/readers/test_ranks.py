import base64
import json

import tiktoken
from error_keys import raises_key

from engine.vocabulary import Vocabulary, VocabularyError
from engine.vocabulary.readers.ranks import read_tekken


def test_an_encoding_with_holes():
    encoding = tiktoken.Encoding(
        "small",
        pat_str=r".",
        mergeable_ranks={**{bytes((b,)): b for b in range(256)}, b" a": 256},
        special_tokens={"<|endoftext|>": 259, "<|pad|>": 262},
    )
    vocabulary = Vocabulary.from_tokenizer(encoding)
    assert vocabulary.tokens[255:] == (b"\xff", b" a", None, None, None, None, None, None)
    assert dict(vocabulary.special) == {259: "<|endoftext|>", 262: "<|pad|>"}
    assert vocabulary.eos_ids == {259}


def test_ranks(tmp_path):
    lines = [base64.b64encode(token) + b" %d" % rank for rank, token in enumerate([b"a", b"\0", b" \xff"])]
    file = tmp_path / "tokenizer.model"  # the name under which Llama 3 ships its ranks
    file.write_bytes(b"\r\n".join(lines) + b"\n\n")
    vocabulary = Vocabulary.from_tokenizer(tmp_path)
    assert vocabulary.tokens == (b"a", b"\0", b" \xff")
    assert vocabulary.eos_ids == set()


def test_broken_ranks(tmp_path):
    file = tmp_path / "broken.tiktoken"
    file.write_bytes(b"YQ== 0\nYg==\n")
    with raises_key(VocabularyError, "errors.vocabulary.rank_line", line=2):
        Vocabulary.from_tokenizer(file)


def small_tekken(**more):
    entry = [
        {"rank": i, "token_bytes": base64.b64encode(t).decode()} for i, t in enumerate([b"a", b" b", b"\xff", b"cut"])
    ]
    return {"config": {"default_num_special_tokens": 4, "default_vocab_size": 7}, "vocab": entry, **more}


def test_tekken_puts_special_tokens_first_and_cuts_the_rest():
    table = read_tekken(small_tekken())
    assert table.texts == {4: b"a", 5: b" b", 6: b"\xff"}
    assert table.special == {0: "<unk>", 1: "<s>", 2: "</s>", 3: "[INST]"}
    assert table.eos_ids == {2}


def test_tekken_with_named_special_tokens():
    table = read_tekken(small_tekken(special_tokens=[{"rank": 1, "token_str": "</s>", "is_control": True}]))
    assert table.special == {0: "<SPECIAL_0>", 1: "</s>", 2: "<SPECIAL_2>", 3: "<SPECIAL_3>"}
    assert table.eos_ids == {1}


def test_broken_tekken(tmp_path):
    document = small_tekken()
    del document["vocab"][0]["rank"]
    file = tmp_path / "tekken.json"
    file.write_text(json.dumps(document))
    with raises_key(VocabularyError, "errors.vocabulary.file.wrong_type"):
        Vocabulary.from_tokenizer(file)


def test_the_real_tekken(tekken):
    assert tekken.size == 131_072
    assert len(tekken.special) == 1_000
    assert tekken.eos_ids == {2}
    assert tekken.tokens[1_000:1_256] == tuple(bytes((b,)) for b in range(256))
