import pickle

import pytest
from error_keys import raises_key

from engine.vocabulary import Vocabulary, VocabularyError


def test_it_holds_what_it_was_given():
    vocabulary = Vocabulary([b"a", None, b"", b"ab"], eos_ids=[1], special={1: "</s>"})
    assert vocabulary.tokens == (b"a", None, None, b"ab")
    assert vocabulary.size == 4
    assert vocabulary.eos_ids == {1}
    assert dict(vocabulary.special) == {1: "</s>"}
    assert [vocabulary.token_bytes(i) for i in range(4)] == [b"a", None, None, b"ab"]


def test_an_end_is_no_text_but_keeps_its_name():
    vocabulary = Vocabulary([b"a", b"</s>", b"<pad>"], eos_ids=[1], special={2: "pad"})
    assert vocabulary.tokens == (b"a", None, None)
    assert dict(vocabulary.special) == {1: "</s>", 2: "pad"}


def test_special_names_cannot_be_changed():
    with pytest.raises(TypeError):
        Vocabulary([b"a"], eos_ids=[]).special[0] = "x"


@pytest.mark.parametrize(
    ("tokens", "eos_ids", "special", "key", "values"),
    [
        ([], [], {}, "errors.vocabulary.empty", {}),
        (["a"], [], {}, "errors.vocabulary.token_type", {"id": 0, "type": "str"}),
        ([b"a", None, 0], [], {}, "errors.vocabulary.token_type", {"id": 2, "type": "int"}),
        ([b"a"], [1], {}, "errors.vocabulary.outside", {"id": 1}),
        ([b"a"], [-1], {}, "errors.vocabulary.outside", {"id": -1}),
        ([b"a"], [], {7: "x"}, "errors.vocabulary.outside", {"id": 7}),
    ],
)
def test_nonsense_is_refused(tokens, eos_ids, special, key, values):
    with raises_key(VocabularyError, key, **values):
        Vocabulary(tokens, eos_ids, special)


@pytest.mark.parametrize("token_id", [-1, 1])
def test_an_id_outside_has_no_bytes(token_id):
    with raises_key(VocabularyError, "errors.vocabulary.outside"):
        Vocabulary([b"a"], []).token_bytes(token_id)


def test_the_fingerprint_tells_vocabularies_apart():
    base = Vocabulary([b"a", b"bc", None], [2], {2: "x"})
    others = [
        Vocabulary([b"ab", b"c", None], [2], {2: "x"}),
        Vocabulary([b"a", b"bc", None], [], {2: "x"}),
        Vocabulary([b"a", b"bc", None], [2], {2: "y"}),
        Vocabulary([b"a", b"bc", None, None], [2], {2: "x"}),
        Vocabulary([b"a", None, b"bc"], [1], {1: "x"}),
    ]
    fingerprints = {v.fingerprint for v in (base, *others)}
    assert len(fingerprints) == 6
    assert Vocabulary((b"a", b"bc", b""), {2}, {2: "x"}).fingerprint == base.fingerprint


def test_the_fingerprint_never_changes():
    # Documents name a vocabulary by it.
    expected = "6bc88a0d438cb48ec278dd41c011484fcd0b62df9b08fbbf4e8d0432094edbbe"
    assert Vocabulary([b"a", None], [1], {1: "</s>"}).fingerprint == expected


def test_it_survives_pickling():
    vocabulary = Vocabulary([b"a", None], [1], {1: "</s>"})
    copy = pickle.loads(pickle.dumps(vocabulary))
    assert copy.fingerprint == vocabulary.fingerprint


def test_a_width_adds_holes(tmp_path):
    ranks = tmp_path / "small.tiktoken"
    ranks.write_bytes(b"YQ== 0\nYg== 2\n")
    vocabulary = Vocabulary.from_tokenizer(ranks, width=5, eos_ids=[4])
    assert vocabulary.tokens == (b"a", None, b"b", None, None)
    assert vocabulary.eos_ids == {4}


def test_a_width_too_small_for_the_text_is_refused(tmp_path):
    ranks = tmp_path / "small.tiktoken"
    ranks.write_bytes(b"YQ== 0\nYg== 2\n")
    with raises_key(VocabularyError, "errors.vocabulary.narrow_logits", last=2, width=2):
        Vocabulary.from_tokenizer(ranks, width=2)
