"""The vocabulary of a server beside that of a tokenizer."""

import pytest

from engine.diagnosis.server_probe.vocabulary_check import compare_vocabularies
from engine.vocabulary import Vocabulary

SERVER = Vocabulary([b"a", None, b"b", None], [1], {1: "</s>"})


@pytest.mark.parametrize(
    ("tokenizer", "token_id"),
    [
        (Vocabulary([b"a", None, b"b"], [1], {1: "</s>"}), None),  # the logits may be wider
        (Vocabulary([b"a", b"</s>", b"b"], [1]), None),  # a special token that the tokenizer has as a text
        (Vocabulary([b"a", None, b"c"], [1], {1: "</s>"}), 2),
        (Vocabulary([b"a", None, b"b"], [1], {1: "<end>"}), 1),
        (Vocabulary([b"a", None, b"b", b"d"], [1], {1: "</s>"}), 3),
    ],
)
def test_the_first_difference_is_named(tokenizer, token_id):
    found = compare_vocabularies(SERVER, tokenizer)
    assert (found.is_same, found.token_id) == (token_id is None, token_id)
    assert found.note


def test_without_one_of_them_nothing_is_said():
    assert compare_vocabularies(SERVER, None).is_same is None
    assert compare_vocabularies(None, SERVER).is_same is None
