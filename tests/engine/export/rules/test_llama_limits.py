"""Counts, written as llama.cpp takes them."""

from __future__ import annotations

import pytest

from engine.compile import compile_grammar
from engine.export.rules.expressions import literal, optional, sequence
from engine.export.rules.llama_limits import within_llama_limits
from engine.grammar import Grammar, Repeat, Rule
from engine.grammar.print_gbnf import print_gbnf


@pytest.mark.parametrize(
    ("minimum", "maximum"),
    [(0, 1999), (0, 2000), (2, 2500), (3000, 3000), (2001, None), (1999, 4001), (0, 2_100_000), (5, None)],
)
@pytest.mark.parametrize("part", [literal("a"), sequence(literal("a"), optional(literal("b")))])
def test_counts_are_those_that_llama_cpp_takes(minimum, maximum, part):
    text = print_gbnf(within_llama_limits(Grammar((Rule("root", Repeat(part, minimum, maximum)),), "root")))
    compiled = compile_grammar("gbnf", text)
    assert not any("compat" in found.code for found in compiled.diagnostics)
    if maximum is not None and maximum > 10_000:
        return
    edges = {minimum - 1, minimum, minimum + 1, 1000, 1999, 2000, 2001, 2999, 3000, 3999}
    edges |= {maximum, maximum + 1, maximum - 1} if maximum is not None else {5000}
    for count in sorted(edge for edge in edges if edge >= 0):
        fits = minimum <= count and (maximum is None or count <= maximum)
        assert compiled.fullmatch("a" * count) == fits, count
