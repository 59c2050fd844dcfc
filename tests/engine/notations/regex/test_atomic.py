"""Atomic groups and possessive quantifiers, against `re`, which has them since 3.11."""

from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st
from language import matches

from engine import compile_grammar
from engine.notations.regex.parser import parse
from engine.source import GrammarError, Limits, SourceText

ATOMS = ["a", "b", "ab", "[ab]", "a|ab", "ab|a", "", "(?=a)", "(?!b)", r"\b", "(?<=a)"]
TEXTS = ["".join(letters) for count in range(6) for letters in product("ab", repeat=count)]


def patterns() -> st.SearchStrategy[str]:
    quantifiers = st.sampled_from(["*", "+", "?", "*?", "+?", "??", "{1,2}", "{2}", "{2,3}?", "{2,}"])
    possessive = st.sampled_from(["*+", "++", "?+", "{1,2}+", "{2}+", "{2,}+", "{,2}+"])

    def extend(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
        return st.one_of(
            st.lists(inner, min_size=2, max_size=3).map("".join),
            st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"(?:{'|'.join(parts)})"),
            inner.map(lambda body: f"(?>{body})"),
            st.tuples(inner, quantifiers).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
            st.tuples(inner, possessive).map(lambda pair: f"(?:{pair[0]}){pair[1]}"),
        )

    return st.recursive(st.sampled_from(ATOMS), extend, max_leaves=6)


@given(patterns())
@example("(?>a|ab)b?")
@example("(?>a*?)a")
@example("(?:a|ab){0,2}+b")
@example("(?>(?>a+)b|a)a*")
@example("(?:(?=a)[ab])*+b")
@example("(?>(?:a|ab)+?)b*")
def test_a_pattern_matches_what_re_matches(pattern: str) -> None:
    assume("(?>" in pattern or re.search(r"[*+?}]\+", pattern))
    try:
        node, _ = parse(SourceText(pattern), "python", Limits())
    except GrammarError as error:
        assert {finding.code for finding in error.diagnostics} <= {"regex-atomic", "regex-possessive"}  # noqa: PT017
        return
    oracle = re.compile(pattern)
    for text in TEXTS:
        assert matches(node, text) == bool(oracle.fullmatch(text)), text


TAKEN = {
    "a++b": (["ab", "aaab"], ["b", "aabb"]),
    "a*+ab": ([], ["ab", "aab"]),
    "(?>a+)b": (["ab", "aab"], ["a"]),
    "(?>a|ab)c": (["ac"], ["abc"]),
    '"(?>[^"\\\\]+|\\\\.)*+"': (['"a\\"b"', '""'], ['"a"b"', '"\\"']),
    "(?>foo|foobar)baz": (["foobaz"], ["foobarbaz"]),
    "[0-9]?+[0-9]": (["12"], ["1"]),
    "(?:ab){1,2}+ab": (["ababab"], ["abab", "ab"]),
}


@pytest.mark.parametrize("pattern", sorted(TAKEN))
def test_the_usual_ones_compile(pattern: str) -> None:
    grammar = compile_grammar("regex", pattern)
    right, wrong = TAKEN[pattern]
    for text in (*right, *wrong):
        assert grammar.fullmatch(text) == (text in right) == bool(re.fullmatch(pattern, text))


REFUSED = {
    "(?>a*[ab])": "regex-atomic",  # where `a*` ends depends on what it runs into
    "(?:a?)*+": "regex-possessive",
    "(?:a|ab){2,}+": "regex-possessive",
    "(?>(?:a*b?){2})": "regex-atomic",
    "(?>" + "(?:a|" * 150 + "b*" + ")" * 150 + ")": "regex-atomic",  # nested too deeply to look into
}


@pytest.mark.parametrize("pattern", sorted(REFUSED))
def test_others_are_refused(pattern: str) -> None:
    with pytest.raises(GrammarError) as caught:
        parse(SourceText(pattern), "python", Limits())
    assert [finding.code for finding in caught.value.diagnostics] == [REFUSED[pattern]]


def test_ecmascript_has_neither() -> None:
    for pattern in ("(?>a)", "a++"):
        with pytest.raises(GrammarError):
            parse(SourceText(pattern), "ecma", Limits())
