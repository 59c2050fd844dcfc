import sentencepiece
import transformers
from error_keys import raises_key

from engine.vocabulary import Vocabulary, VocabularyError
from tests.engine.vocabulary.readers.small_tokenizers import byte_fallback, byte_level, sentencepiece_model


def test_a_fast_tokenizer_says_its_own_end():
    backend = byte_level(" ab")
    backend.add_special_tokens(["<stop>"])
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=backend, eos_token="<stop>")
    vocabulary = Vocabulary.from_tokenizer(tokenizer)
    assert vocabulary.tokens == Vocabulary.from_tokenizer(backend).tokens
    assert [vocabulary.special[i] for i in vocabulary.eos_ids] == ["<stop>"]


def test_a_fast_tokenizer_without_an_end_falls_back_on_names():
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=byte_fallback())
    assert Vocabulary.from_tokenizer(tokenizer).eos_ids == {2}


def test_a_saved_fast_tokenizer_is_the_same(tmp_path):
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=byte_fallback(), eos_token="</s>")
    tokenizer.add_tokens(["<tool>"])
    tokenizer.save_pretrained(tmp_path)
    assert Vocabulary.from_tokenizer(tmp_path).fingerprint == Vocabulary.from_tokenizer(tokenizer).fingerprint


class ShiftedPieces:
    """A slow tokenizer of transformers over sentencepiece, with other ids than its model, as XLM-R's."""

    def __init__(self, path, *, end):
        self.sp_model = sentencepiece.SentencePieceProcessor(model_file=str(path))
        self.eos_token_id = end
        self.added_tokens_decoder = {
            0: transformers.AddedToken("<s>", special=True),
            1: transformers.AddedToken("</s>", special=True),
            2: transformers.AddedToken(" é", special=False),
        }

    def get_vocab(self):
        pieces = [self.sp_model.id_to_piece(i) for i in range(self.sp_model.vocab_size())]
        shifted = {piece: index + 3 for index, piece in enumerate(pieces)}
        return shifted | {token.content: index for index, token in self.added_tokens_decoder.items()}


def test_a_slow_tokenizer_with_shifted_ids(tmp_path):
    path = tmp_path / "spiece.model"
    path.write_bytes(sentencepiece_model())
    plain, shifted = Vocabulary.from_tokenizer(path), Vocabulary.from_tokenizer(ShiftedPieces(path, end=1))
    assert shifted.tokens[:3] == (None, None, " é".encode())
    assert shifted.tokens[7:] == plain.tokens[4:]
    assert shifted.special[6] == "[INST]"
    assert shifted.eos_ids == {1}


def test_a_mistral_tokenizer(tekken):
    from mistral_common.tokens.tokenizers.mistral import MistralTokenizer

    whole = MistralTokenizer.v3(is_tekken=True)
    for tokenizer in (whole, whole.instruct_tokenizer.tokenizer):
        assert Vocabulary.from_tokenizer(tokenizer).size == tekken.size


def test_anything_else_is_refused():
    with raises_key(VocabularyError, "errors.vocabulary.unknown_object", type="dict"):
        Vocabulary.from_tokenizer({})
