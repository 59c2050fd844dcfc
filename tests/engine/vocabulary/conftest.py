import pytest
from real_vocabularies import mistral


@pytest.fixture(scope="session")
def tekken():
    """131,072 ids."""
    return mistral("tekken_240911.json")


@pytest.fixture(scope="session")
def mistral_pieces():
    """32,768 ids, of which a hundred share their bytes with a byte-fallback token."""
    return mistral("mistral_instruct_tokenizer_240323.model.v3")
