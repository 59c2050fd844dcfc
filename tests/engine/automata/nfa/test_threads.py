"""Threads sorted by what they read step to what all of them step to, one after the other."""

from __future__ import annotations

import pytest

from engine import compile_grammar

PATTERNS = [
    "|".join(f"word{i}" for i in range(40)),
    r"(?:a|ab|é|[à-ü]x|[^a-c]y|.z){2,5}(?<!x)",
    r"(?=.*a.{3})(?!.*bb)(?:a|b|[a-c]|é|.){1,8}",
    r"\b(?:in|int|inner|[a-z]+)\b(?: |$)",
]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_it_does_not_matter_whether_threads_are_sorted(pattern: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for many in (0, 10**9):
        monkeypatch.setattr("engine.automata.nfa.threads.MANY_THREADS", many)
        found.append(compile_grammar("regex", pattern).materialise())
    assert found[0] == found[1]
