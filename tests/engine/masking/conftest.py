import pytest
from real_vocabularies import mistral

import engine
from engine.masking import jit
from engine.masking import kernels as interpreted
from engine.vocabulary import Vocabulary


@pytest.fixture(scope="session")
def kernels():
    """The kernels, loaded for the rest of the run."""
    engine.warm(wait=True)
    return jit.loaded_kernels()


IMPLEMENTATIONS = {
    "kernels": jit.loaded_kernels,
    "interpreted": lambda: jit.Kernels(interpreted.walk, interpreted.scan_loop, interpreted.measure_loop),
    "reference": lambda: None,
}


@pytest.fixture(params=IMPLEMENTATIONS)
def walk(request, kernels, monkeypatch):
    """Run a test with each implementation of masks: compiled kernels, interpreted kernels, and the reference."""
    monkeypatch.setattr("engine.masking.token_automaton.loaded_kernels", IMPLEMENTATIONS[request.param])
    yield request.param
    engine.clear_caches()


@pytest.fixture(scope="session")
def small():
    """Every byte, a few words, ids that share bytes, holes, and an end: 300 ids, so that the last word is not full."""
    words = [
        b"ab",
        b"abc",
        b"a1",
        b" the",
        b'"',
        b'":',
        "é".encode(),
        "日本".encode(),
        "日".encode()[:2],
        b"\xa5x",
        b"foo",
    ]
    tokens = [*(bytes((byte,)) for byte in range(256)), *words, b"a", b"ab", None, b"", b"</s>"]
    tokens += [None] * (299 - len(tokens)) + [b"last"]
    return Vocabulary(tokens, eos_ids=[tokens.index(b"</s>")], special={tokens.index(None): "<pad>"})


@pytest.fixture(scope="session")
def tekken():
    """131,072 ids."""
    return mistral("tekken_240911.json")


@pytest.fixture(scope="session")
def mistral_pieces():
    """32,768 ids, of which a hundred share their bytes with a byte-fallback token."""
    return mistral("mistral_instruct_tokenizer_240323.model.v3")
