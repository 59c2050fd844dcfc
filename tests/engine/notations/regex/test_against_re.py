"""Patterns made at random: the node must match what `re` matches, and be refused where `re` refuses."""

from __future__ import annotations

import re
import sys
import warnings

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from language import matches

from engine.notations.regex.parser import parse
from engine.source import GrammarError, Limits, Severity, SourceText

TEXTS = st.text("abAK_1 \né\u212aſ-٣\u00a0\x1c", max_size=5)
# What `re` takes and we refuse on purpose.
UNSUPPORTED = {"regex-atomic", "regex-possessive", "regex-backreference", "regex-conditional", "regex-recursion"}
# `\B` does not match the empty text before 3.14, against its own description.
BOUNDARY_OF_NOTHING_IS_RIGHT = sys.version_info >= (3, 14)


def atoms() -> st.SearchStrategy[str]:
    literals = st.sampled_from(
        ["a", "b", "K", "k", "s", "é", "1", "_", r"\.", r"\-", r"\n", r"\x61", r"\141", "{", "}"]
    )
    classes = st.sampled_from(
        [
            "[ab]",
            "[^a]",
            "[a-z]",
            "[^A-Z]",
            "[]a]",
            "[^]a]",
            "[a-]",
            "[-a]",
            r"[\w-]",
            r"[^\d\n]",
            r"[\b\]]",
            "[kß]",
            "[^k]",
        ]
    )
    sets = st.sampled_from([".", r"\d", r"\w", r"\s", r"\D", r"\W", r"\S"])
    anchors = st.sampled_from(["^", "$", r"\A", r"\Z", r"\b", r"\B"])
    return st.one_of(literals, literals, classes, sets, anchors)


def patterns() -> st.SearchStrategy[str]:
    quantifiers = st.sampled_from(
        ["*", "+", "?", "*?", "+?", "??", "{2}", "{1,2}", "{,2}", "{1,}", "{,}", "{0}", "{1,2}?"]
    )
    openings = st.sampled_from(
        ["(", "(?:", "(?=", "(?!", "(?<=", "(?<!", "(?i:", "(?-i:", "(?s:", "(?m:", "(?a:", "(?u:"]
    )

    def extend(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.one_of(
            st.lists(inner, min_size=1, max_size=3).map("".join),
            st.lists(inner, min_size=2, max_size=3).map("|".join),
            st.tuples(openings, inner).map(lambda pair: f"{pair[0]}{pair[1]})"),
            st.tuples(inner, quantifiers).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
        )

    return st.recursive(atoms(), extend, max_leaves=6)


def compiled(pattern: str) -> re.Pattern[str] | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return re.compile(pattern)
        except (re.error, OverflowError, ValueError, RecursionError):
            return None


@given(st.sampled_from(["", "(?i)", "(?a)", "(?u)", "(?ai)", "(?ui)", "(?am)", "(?us)", "(?aim)"]), patterns(), TEXTS)
@example("(?u)", r"\b", "")
@example("(?ui)", "[^k]", "\u212a")
@example("(?ai)", "[^k]", "\u212a")
@example("(?a)", "(?:a|(?=b))*b", "ab")
def test_a_pattern_matches_what_re_matches(prefix: str, body: str, text: str) -> None:
    pattern = prefix + body
    oracle = compiled(pattern)
    assume(oracle is not None)
    assert oracle is not None
    assume(BOUNDARY_OF_NOTHING_IS_RIGHT or text or r"\B" not in body)
    node, _ = parse(SourceText(pattern), "python", Limits())
    assert matches(node, text) == bool(oracle.fullmatch(text))


@given(
    st.lists(
        st.one_of(
            st.sampled_from(list("ab]^$.|*+?{}()[-,:=!<>P#i1\\ \n&~")),
            st.sampled_from(
                [
                    "(?",
                    "(?:",
                    "(?P<n>",
                    "(?P=n)",
                    "(?i",
                    "(?<=",
                    "(?#",
                    r"\x4",
                    r"\u00",
                    r"\1",
                    r"\08",
                    "{1,",
                    "[a-",
                    "(?x)",
                ]
            ),
        ),
        max_size=8,
    ).map("".join)
)
@example("(?x) (?i)a")
@example("(?x)a * *")
@example("(?x)#\\")
@example("(?#\\)")
@example("(?i)*")
@example("a|(?i)b")
@example("(?i-)")
@example("(?i-i:a)")
@example("[a-\\d]")
@example("[]")
@example("[^]")
@example("x{2,1}")
@example("x{,}")
@example("{,2}")
@example("(?P<1>a)")
@example("(?P<n>a)(?P<n>b)")
@example(r"\400")
@example(r"[\8]")
@example(r"\U00110000")
@example(r"\N{EM DASH}\N{nothing}")
@example("(?au:x)")
@example("(?-a:x)")
@example("(?a)(?u)x")
@example(r"(?<n>a)")
def test_it_is_refused_where_re_refuses(pattern: str) -> None:
    errors = error_codes(pattern)
    if compiled(pattern) is not None:
        assert not errors or errors & UNSUPPORTED
    else:
        # A width that varies in a lookbehind is `re`'s own limit, and our properties are `re`'s bad escapes.
        assert errors or r"\p" in pattern or is_width_complaint(pattern)


def error_codes(pattern: str) -> set[str]:
    try:
        parse(SourceText(pattern), "python", Limits())
    except GrammarError as error:
        return {finding.code for finding in error.diagnostics if finding.severity is Severity.ERROR}
    return set()


def is_width_complaint(pattern: str) -> bool:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            re.compile(pattern)
        except re.error as error:
            return "fixed-width" in error.msg
    return False


@pytest.mark.parametrize("pattern", [r"(?<=a+)b", r"(?<!a|bc)d", r"(?<=^|x)y"])
def test_lookbehind_of_any_width_is_taken(pattern: str) -> None:
    assert compiled(pattern) is None
    parse(SourceText(pattern), "python", Limits())
