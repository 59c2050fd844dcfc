"""Patterns in words: every construct, and words that are read back to what was parsed."""

from __future__ import annotations

import corpora
import pytest
from fuzzing import any_text, fuzz, joined, mutated
from hypothesis import example, given
from hypothesis import strategies as st
from spoken import UnreadableError, read_back, same

from engine.grammar import Sequence
from engine.grammar.options import CompileOptions
from engine.notations.regex.parser import parse
from engine.source import GrammarError, LimitExceededError, Limits, SourceText
from tests.support.explanations import explain

ASCII_ONLY = r"classes such as `\w`, and letter case, are limited to ASCII"
CASES = [
    # pattern, words and the text that they are about, by depth
    ("abc", [(0, "The text `abc`", "abc")]),
    ("a b\n", [(0, "The text `a␣b↵`", "a b\n")]),
    (r"\x41\u00e9\n\.", [(0, "The text `Aé↵.`", r"\x41\u00e9\n\.")]),
    ("", [(0, "The empty text", "")]),
    ("[A-Z_]", [(0, "One of `A` to `Z` or `_`", "[A-Z_]")]),
    ("[ab]", [(0, "One of `a` or `b`", "[ab]")]),
    ("[^a]", [(0, "Any character except `a`", "[^a]")]),
    (r"[^\n\t ]", [(0, "Any character except a tab, a line feed and a space", r"[^\n\t ]")]),
    ("[`]", [(0, "The text `` ` ``", "[`]")]),
    (".", [(0, "Any character except a line feed", ".")]),
    ("(?s).", [(0, "From here on, `.` also matches line ends", "(?s)"), (0, "Any character", ".")]),
    (r"\d", [(0, "A digit (Unicode)", r"\d")]),
    (
        r"(?a)\d",
        [
            (0, f"From here on, {ASCII_ONLY}", "(?a)"),
            (0, "A digit (ASCII)", r"\d"),
        ],
    ),
    (
        r"(?u)\w",
        [
            (0, r"From here on, classes such as `\w` cover all of Unicode", "(?u)"),
            (0, "A letter, a digit or `_` (Unicode)", r"\w"),
        ],
    ),
    (r"\S", [(0, "Anything but white space (Unicode)", r"\S")]),
    (r"\p{Lu}", [(0, "A character with the property `Lu`", r"\p{Lu}")]),
    (r"\PL", [(0, "A character without the property `L`", r"\PL")]),
    (r"[\p{L}_]", [(0, r"One of the characters of `[\p{L}_]`", r"[\p{L}_]")]),
    ("a*", [(0, "Any number of times: the text `a`", "a*")]),
    ("a+?", [(0, "Once or more, lazily: the text `a`", "a+?")]),
    ("a?", [(0, "Optional: the text `a`", "a?")]),
    ("a??", [(0, "Optional, lazily: the text `a`", "a??")]),
    ("a{1}", [(0, "Exactly once: the text `a`", "a{1}")]),
    ("a{1000}", [(0, "Exactly 1,000 times: the text `a`", "a{1000}")]),
    ("a{2,}", [(0, "At least 2 times: the text `a`", "a{2,}")]),
    ("a{,3}", [(0, "At most 3 times: the text `a`", "a{,3}")]),
    ("a{2,3}", [(0, "2 to 3 times: the text `a`", "a{2,3}")]),
    ("a{0}", [(0, "Nothing, since it is repeated 0 times", "a{0}")]),
    ("ab|c", [(0, "One of these 2", "ab|c"), (1, "The text `ab`", "ab"), (1, "The text `c`", "c")]),
    ("a|", [(0, "One of these 2", "a|"), (1, "The text `a`", "a"), (1, "The empty text", "")]),
    ("(a)", [(0, "Group 1: the text `a`", "(a)")]),
    ("(?>a)", [(0, "Where only the first match counts: the text `a`", "(?>a)")]),
    (
        "(?P<y>a|b)",
        [(0, "Group `y`: one of these 2", "(?P<y>a|b)"), (1, "The text `a`", "a"), (1, "The text `b`", "b")],
    ),
    (
        "((a)b)",
        [(0, "Group 1: in this order", "((a)b)"), (1, "Group 2: the text `a`", "(a)"), (1, "The text `b`", "b")],
    ),
    ("(?:ab)+", [(0, "Once or more: the text `ab`", "(?:ab)+")]),
    ("(?:a*)?", [(0, "Optional: any number of times: the text `a`", "(?:a*)?")]),
    ("(?i:k)", [(0, "Where letter case is ignored: the text `k`, in any letter case", "(?i:k)")]),
    (
        "(?a)(?i)k1",
        [
            (0, f"From here on, {ASCII_ONLY}", "(?a)"),
            (0, "From here on, letter case is ignored", "(?i)"),
            (0, "The text `k1`, in any case of A to Z", "k1"),
        ],
    ),
    (
        "(?i)(?-i:a)",
        [
            (0, "From here on, letter case is ignored", "(?i)"),
            (0, "Where letter case matters: the text `a`", "(?-i:a)"),
        ],
    ),
    ("a(?=b)", [(0, "The text `a`", "a"), (0, "Followed by: the text `b`", "(?=b)")]),
    ("(?!b)a", [(0, "Not followed by: the text `b`", "(?!b)"), (0, "The text `a`", "a")]),
    ("(?<=b)a", [(0, "Preceded by: the text `b`", "(?<=b)"), (0, "The text `a`", "a")]),
    ("(?<!b)a", [(0, "Not preceded by: the text `b`", "(?<!b)"), (0, "The text `a`", "a")]),
    (
        "^a$",
        [
            (0, "At the beginning of the text", "^"),
            (0, "The text `a`", "a"),
            (0, "At the end of the text, or before a line feed that ends it", "$"),
        ],
    ),
    (
        r"\Aa\Z",
        [(0, "At the beginning of the text", r"\A"), (0, "The text `a`", "a"), (0, "At the end of the text", r"\Z")],
    ),
    (
        "(?m:^a$)",
        [
            (0, "Where `^` and `$` also match at line ends: in this order", "(?m:^a$)"),
            (1, "At the beginning of a line", "^"),
            (1, "The text `a`", "a"),
            (1, "At the end of a line", "$"),
        ],
    ),
    (
        r"\ba\B",
        [(0, "At a word boundary", r"\b"), (0, "The text `a`", "a"), (0, "Not at a word boundary", r"\B")],
    ),
    (
        r"(?a:\b)",
        [
            (0, rf"Where {ASCII_ONLY}: at a word boundary (ASCII)", r"(?a:\b)"),
        ],
    ),
    (
        "(?x) a # b\n c",
        [
            (0, "From here on, blanks and comments are ignored", "(?x)"),
            (0, "The text `a`", "a"),
            (0, "The text `c`", "c"),
        ],
    ),
    ("a(?#b)c", [(0, "The text `a`", "a"), (0, "The text `c`", "c")]),
]
ECMA_CASES = [
    ("^a$", [(0, "At the beginning of the text", "^"), (0, "The text `a`", "a"), (0, "At the end of the text", "$")]),
    ("(?<n>a)", [(0, "Group `n`: the text `a`", "(?<n>a)")]),
    (".", [(0, "Any character except a line feed, a carriage return, U+2028 and U+2029", ".")]),
    (r"\s", [(0, "White space (ECMAScript)", r"\s")]),
    ("[^]", [(0, "Any character", "[^]")]),
    ("[]", [(0, "No text at all", "[]")]),
    (
        r"(?i:\b\p{Lu})",
        [
            (0, "Where letter case is ignored: in this order", r"(?i:\b\p{Lu})"),
            (1, "At a word boundary", r"\b"),
            (1, "A character with the property `Lu`, in any letter case", r"\p{Lu}"),
        ],
    ),
]


def told(pattern: str, dialect: str = "python") -> list[tuple[int, str, str]]:
    found = explain("regex", pattern, CompileOptions(dialect=dialect))  # type: ignore[arg-type]
    return [(one.depth, one.text, pattern[one.span.start : one.span.end]) for one in found.phrases]


@pytest.mark.parametrize(("pattern", "words"), CASES)
def test_every_construct(pattern: str, words: list[tuple[int, str, str]]) -> None:
    assert told(pattern) == words


@pytest.mark.parametrize(("pattern", "words"), ECMA_CASES)
def test_what_ecmascript_has_otherwise(pattern: str, words: list[tuple[int, str, str]]) -> None:
    assert told(pattern, "ecma") == words


def test_a_long_text_is_cut() -> None:
    assert told("ab" * 200)[0][1] == f"A text of 400 characters that begins with `{'ab' * 60}`"


def test_a_broken_pattern_has_no_words() -> None:
    with pytest.raises(GrammarError):
        told("(a")


def test_nesting_takes_no_call_stack() -> None:
    pattern = "(" * 2_400 + "a" + ")" * 2_400
    assert told(pattern)[0][1].startswith("Group 1: group 2: group 3: ")
    assert told("(?:" * 2_400 + "a" + "?)+" * 2_400)[-1][1].endswith("the text `a`")
    assert len(told("(b" * 2_400 + ")" * 2_400)) > 4_000


def is_held(pattern: str, dialect: str) -> bool:
    """Hold the words against the parser; False where there is nothing to hold."""
    options = CompileOptions(dialect=dialect)  # type: ignore[arg-type]
    try:
        node, _ = parse(SourceText(pattern), dialect, Limits())  # type: ignore[arg-type]
        found = explain("regex", pattern, options)
    except (GrammarError, LimitExceededError):
        return False
    for one, following in zip(found.phrases, found.phrases[1:], strict=False):
        assert one.span.end <= len(pattern)
        if following.depth > one.depth:  # what holds another is around it
            assert one.span.start <= following.span.start <= following.span.end <= one.span.end
    try:
        nodes = read_back(found)
    except UnreadableError:
        return False
    whole = nodes[0] if len(nodes) == 1 else Sequence(tuple(nodes))  # type: ignore[arg-type]
    assert same(whole) == same(node)  # type: ignore[arg-type]
    return True


def test_words_of_the_corpora_mean_the_pattern() -> None:
    patterns = [c["source"] for name in ("regex", "xgrammar") for c in corpora.cases(name) if c["kind"] == "regex"]
    # An atomic group of alternatives is told by what it excludes, whose place is in an earlier alternative.
    patterns = [pattern for pattern in patterns if "(?>" not in pattern]
    assert sum(is_held(pattern, "python") for pattern in patterns) > len(patterns) / 2


WORDS = [
    *"ab1 .^$|()[]{}*+?-,_kS\n`é",
    *(r"\d", r"\W", r"\s", r"\b", r"\B", r"\A", r"\Z", r"\x41", r"\p{L}", r"\t", "(?:", "(?=", "(?!", "(?<=", "(?<!"),
    *("(?i)", "(?-i:", "(?x) # c\n", "(?m:^a$)", "(?s:.)", "(?P<n>", "{2}", "{,3}", "{2,}", "??", "[^", "[a-f]", "(|)"),
]
REAL = [
    r"(?>a+)b|(?:ab)*+a",
    r"(?P<y>\d{4})-(0[1-9]|1[0-2])(?!x)",
    r"(?i)\b(?:get|put) /[a-z/]*\Z",
    "[^\\s`]+|(a|b)*?c{2,3}$",
]


@fuzz(150)
@given(st.one_of(joined(WORDS), mutated(REAL, WORDS), any_text(20)))
@example("(?>(0)|)")
@example("(?>(a|bc)|d*)")
def test_words_of_any_pattern_mean_it(pattern: str) -> None:
    if not set(pattern) & set("␣↵␍⇥◌") and r"\\" not in pattern:  # these would stand for blanks, and begin an escape
        is_held(pattern, "python")
