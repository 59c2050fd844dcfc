"""Random patterns, compiled and matched beside Python's own `re`, texts of every kind."""

from __future__ import annotations

import re

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from engine import GrammarError, compile_grammar

OPENINGS = ["?=", "?!", "", "?P<n>", "?s:", "?i:", "?m:", "?-i:", "?a:", "?u:"]
TEXT_CHARACTERS = "aAbk1_ \né-ſK٣\u00a0\u0301"

atoms = st.sampled_from(
    ["a", "b", "A", "1", r"\d", r"\w", r"\s", r"\D", r"\W", r"\S", ".", "[ab]", "[^a]", r"[\w-]", r"[^\W_]", "é", r"\n"]
)
widths = st.lists(atoms, min_size=1, max_size=2).map("".join)
looks = st.one_of(
    st.sampled_from(["^", "$", r"\b", r"\B", r"\A", r"\Z"]),
    st.builds("({}{})".format, st.sampled_from(["?<=", "?<!"]), widths),
)


def _grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    quantifiers = st.sampled_from(["*", "+", "?", "{2}", "{1,3}", "{,2}", "{2,}", "*?", "+?", "{0,2}?"])
    return st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map("|".join).map("(?:{})".format),
        st.builds("(?:{}){}".format, inner, quantifiers),
        st.builds("({}{})".format, st.sampled_from(OPENINGS), inner),
    )


patterns = st.recursive(st.one_of(atoms, atoms, looks), _grow, max_leaves=7)
flags = st.sampled_from(["", "", "(?i)", "(?m)", "(?s)", "(?ims)", "(?a)", "(?ai)", "(?u)"])


@settings(max_examples=400, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
@given(flags, patterns, st.lists(st.text(TEXT_CHARACTERS, max_size=6), min_size=1, max_size=20))
def test_the_same_texts_match(flag: str, body: str, texts: list[str]) -> None:
    pattern = flag + body
    try:
        oracle = re.compile(pattern)
    except re.error:
        assume(False)
    try:
        grammar = compile_grammar("regex", pattern)
    except GrammarError as error:
        raise AssertionError(f"{pattern!r} is a pattern for `re`") from error
    for text in texts:
        if not text and r"\B" in pattern:
            continue  # before 3.14 `re` found no `\B` in an empty text
        assert grammar.fullmatch(text) == bool(oracle.fullmatch(text)), (pattern, text)
