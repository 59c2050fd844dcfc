from engine.vocabulary import Vocabulary, audit


def test_what_an_audit_finds():
    tokens = [b"a", b"\xc3", None, b"a", b"abc", None, None, *(bytes((b,)) for b in range(128))]
    found = audit(Vocabulary(tokens, eos_ids=[5], special={2: "<pad>"}))
    assert found.n_with_bytes == 132
    assert found.duplicates == ((0, 3, 7 + ord("a")),)
    assert found.holes == (6,)
    assert found.missing_bytes == bytes(b for b in range(128, 256) if b != 0xC3)
    assert found.invalid_utf8 == (1,)
    assert found.longest == 4


def test_a_vocabulary_without_text():
    found = audit(Vocabulary([None], []))
    assert (found.n_with_bytes, found.longest, found.holes) == (0, None, (0,))
