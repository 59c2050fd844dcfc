"""GBNF that is printed here, read by llama.cpp's own code."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest

from tests.llama_cpp.__main__ import compare_hostile

TREE = os.environ.get("LLAMA_CPP", "")


@pytest.mark.skipif(
    not TREE,
    reason="no llama.cpp: set LLAMA_CPP to its source tree, such as vendor/llama.cpp in the sdist of llama-cpp-python",
)
def test_hostile_characters_are_read_alike(tmp_path: Path) -> None:
    counts: Counter[str] = Counter()
    assert compare_hostile(Path(TREE), tmp_path, 100, counts) == 0
    assert counts["hostile texts"] > 1_000
