"""`tokenizer.json` in each of its kinds; what text the tokenizer encodes, its tokens' bytes must spell again."""

import pytest
import tokenizers
from error_keys import raises_key
from tokenizers import decoders, models

from engine.vocabulary import Vocabulary, VocabularyError, audit
from engine.vocabulary.readers.tokenizer_json import read_tokenizer_json
from tests.engine.vocabulary.readers.small_tokenizers import TEXT, byte_fallback, byte_level, metaspace, parts


def spelled(vocabulary, tokenizer, text):
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    return b"".join(vocabulary.tokens[index] or b"?" for index in ids)


def test_byte_level_spells_every_byte():
    tokenizer = byte_level(" wörld", "日本")
    vocabulary = Vocabulary.from_tokenizer(tokenizer)
    assert vocabulary.tokens[:256] == tuple(bytes((b,)) for b in range(256))
    assert vocabulary.tokens[-1] == "日本".encode()
    assert b" w\xc3" in vocabulary.tokens  # a token ends in the middle of a character
    assert spelled(vocabulary, tokenizer, TEXT) == TEXT.encode()


def test_byte_fallback_shares_bytes_and_keeps_blanks():
    tokenizer = byte_fallback()
    vocabulary = Vocabulary.from_tokenizer(tokenizer)
    assert b" He" in vocabulary.tokens
    assert {vocabulary.tokens[g[0]] for g in audit(vocabulary).duplicates} == {
        b" ",
        b"\n",
        *(c.encode() for c in "Helowrdxn"),
    }
    # The normaliser puts a blank before the text; the tokens say so, only decoding takes it off again.
    assert spelled(vocabulary, tokenizer, TEXT) == b" " + TEXT.encode()


def test_special_tokens_and_ends():
    vocabulary = Vocabulary.from_tokenizer(byte_fallback())
    assert dict(vocabulary.special) == {0: "<unk>", 1: "<s>", 2: "</s>"}
    assert vocabulary.eos_ids == {2}
    assert vocabulary.tokens[:3] == (None, None, None)


def test_metaspace_keeps_leading_blanks_and_unknown_is_no_text():
    tokenizer = metaspace()
    vocabulary = Vocabulary.from_tokenizer(tokenizer)
    assert vocabulary.tokens[1:3] == (b" ", b" He")
    assert dict(vocabulary.special) == {0: "<unk>"}
    assert spelled(vocabulary, tokenizer, "Hello wörd") == " Hello wörd".encode()


def test_added_tokens():
    tokenizer = byte_level("ab")
    tokenizer.add_tokens(["<tool>", "né", "  "])
    tokenizer.add_special_tokens(["<|im_end|>", "<|pad|>"])
    vocabulary = Vocabulary.from_tokenizer(tokenizer)
    added = vocabulary.tokens[257:]
    # An added "é" is that letter, although the byte-level alphabet writes byte 0xE9 so.
    assert added == (b"<tool>", "né".encode(), b"  ", None, None)
    assert dict(vocabulary.special) == {260: "<|im_end|>", 261: "<|pad|>"}
    assert vocabulary.eos_ids == {260}


def test_holes_between_ids():
    vocab = {"a": 0, "b": 5}
    tokenizer = tokenizers.Tokenizer(models.BPE(vocab=vocab, merges=[]))
    tokenizer.decoder = decoders.Fuse()
    assert Vocabulary.from_tokenizer(tokenizer).tokens == (b"a", None, None, None, None, b"b")


def test_a_character_model():
    tokenizer = tokenizers.Tokenizer(models.WordLevel({char: i for i, char in enumerate("\n abc")}, unk_token="?"))
    tokenizer.decoder = decoders.Fuse()
    vocabulary = Vocabulary.from_tokenizer(tokenizer)
    assert vocabulary.tokens == (b"\n", b" ", b"a", b"b", b"c")
    assert vocabulary.eos_ids == set()


def test_a_strip_before_the_tokens_are_joined_is_each_token_s_own():
    tokenizer = tokenizers.Tokenizer(models.BPE(vocab={"__a_": 0}, merges=[]))
    tokenizer.decoder = decoders.Sequence([decoders.Strip("_", 1, 3), decoders.Fuse()])
    assert Vocabulary.from_tokenizer(tokenizer).tokens == (b"_a",)


@pytest.mark.parametrize(
    ("decoder", "why"),
    [
        (decoders.WordPiece(), "WordPiece"),
        (decoders.BPEDecoder(), "BPEDecoder"),
        (decoders.CTC(), "CTC"),
        (None, "no decoder"),
    ],
)
def test_what_has_no_bytes_per_token_is_refused(decoder, why):
    tokenizer = tokenizers.Tokenizer(models.WordPiece({"[UNK]": 0, "a": 1, "##b": 2}, unk_token="[UNK]"))
    if decoder is not None:
        tokenizer.decoder = decoder
    with raises_key(VocabularyError, "errors.vocabulary.tokenizer_json.unusable"):
        Vocabulary.from_tokenizer(tokenizer)


def test_a_malformed_file_is_refused():
    document = parts(byte_level())
    del document["added_tokens"]
    document["model"]["vocab"] = {"a": None}
    with raises_key(VocabularyError, "errors.vocabulary.file.wrong_type"):
        read_tokenizer_json(document | {"added_tokens": [{"content": "x"}]})
