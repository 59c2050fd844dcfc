import sentencepiece

from engine.vocabulary import Vocabulary, audit
from tests.engine.vocabulary.readers.small_tokenizers import sentencepiece_model


def test_a_model_file(tmp_path):
    file = tmp_path / "tokenizer.model"
    file.write_bytes(sentencepiece_model())
    processor = sentencepiece.SentencePieceProcessor(model_file=str(file))
    vocabulary = Vocabulary.from_tokenizer(file)
    assert vocabulary.tokens == Vocabulary.from_tokenizer(processor).tokens
    assert dict(vocabulary.special) == {0: "<unk>", 1: "<s>", 2: "</s>", 3: "[INST]"}
    assert vocabulary.eos_ids == {2}
    assert vocabulary.tokens[4] == b" <tool>"
    assert vocabulary.tokens[5:261] == tuple(bytes((b,)) for b in range(256))
    text = "hello wörld 日"
    assert b"".join(vocabulary.tokens[i] for i in processor.encode(text)) == b" " + text.encode()


def test_bytes_are_shared_with_characters(tmp_path):
    file = tmp_path / "any name"
    file.write_bytes(sentencepiece_model())
    vocabulary = Vocabulary.from_tokenizer(str(file))
    shared = {vocabulary.tokens[ids[0]] for ids in audit(vocabulary).duplicates}
    assert {b"h", b" "} <= shared


def test_a_real_model(mistral_pieces):
    assert mistral_pieces.size == 32_768
    assert mistral_pieces.eos_ids == {2}
    assert len(audit(mistral_pieces).duplicates) == 125
    assert audit(mistral_pieces).missing_bytes == b""
