"""Case closures and shorthand sets against `re`, over all of Unicode where that is quick."""

from __future__ import annotations

import re

import pytest

from engine.grammar import Chars, CharSet
from engine.notations.regex.parser import parse
from engine.notations.regex.unicode_sets import CaseFold, close_under_case, literal
from engine.source import Limits, SourceText

ALL = "".join(map(chr, range(0x110000)))
EVERY = ALL[:0x20000]
TRICKY = "iısſkKµμßẞςσΣǅΐΐﬅﬆᲀвÅåÅⅷȺḁꙋ𐐨"


def characters(pattern: str) -> CharSet:
    node, _ = parse(SourceText(pattern), "python", Limits())
    assert isinstance(node, Chars)
    return node.set


def as_in_re(pattern: str) -> CharSet:
    """The set of all code points that the running interpreter's `re` matches, from the runs that it finds."""
    return CharSet.of((found.start(), found.end() - 1) for found in re.finditer(pattern + "+", ALL))


@pytest.mark.parametrize("character", TRICKY)
def test_python_folds_a_character_as_re_does(character: str) -> None:
    expected = CharSet.chars("".join(re.findall(character, EVERY, re.IGNORECASE)))
    assert close_under_case(literal(ord(character)), CaseFold.PYTHON) == expected


@pytest.mark.parametrize("pattern", ["[a-z]", "[^a-z]", "[à-ÿ]", "[^sK]", "[Ͱ-Ͽ]", r"[k\d]"])
@pytest.mark.parametrize("flags", ["(?ai)", "(?ui)"])
def test_python_folds_a_class_as_re_does(pattern: str, flags: str) -> None:
    expected = CharSet.chars("".join(re.findall(flags + pattern, EVERY)))
    assert characters(flags + pattern) & CharSet(((0, len(EVERY) - 1),)) == expected


def test_a_range_beyond_the_basic_plane_folds_too() -> None:
    assert characters("(?i)[𐐀-𐐧]") == characters("[𐐀-𐑏]")
    # `re` forgets the `a` here.
    assert characters("(?ai)[𐐀-𐐧]") == characters("[𐐀-𐐧]")


@pytest.mark.parametrize("letter", "dDwWsS")
@pytest.mark.parametrize("form", [r"\{}", r"(?a)\{}", r"(?u)\{}", r"(?i)[\{}]", r"(?i)[^\{}]", r"(?a)[^\{}]"])
def test_a_shorthand_is_the_set_of_re_over_all_code_points(letter: str, form: str) -> None:
    pattern = form.format(letter)
    assert characters(pattern) == as_in_re(pattern)


@pytest.mark.parametrize(
    "pattern",
    [r"[\d_]", r"[^\W_]", r"[\w-]", r"[^\s\d]", r"(?a:[\d_é])", r"(?a)(?u:\w)", r"(?u)(?a:\S)", r"(?i)[^\Wk]"],
)
def test_a_class_with_shorthands_is_the_set_of_re_over_all_code_points(pattern: str) -> None:
    assert characters(pattern) == as_in_re(pattern)


@pytest.mark.parametrize(
    ("character", "group"),
    [("k", "kK\u212a"), ("s", "sSſ"), ("ß", "ßẞ"), ("ﬅ", "ﬅﬆ"), ("ᾳ", "ᾳᾼ"), ("İ", "İ"), ("ı", "ı")],
)
def test_ecma_folds_simply(character: str, group: str) -> None:
    assert close_under_case(literal(ord(character)), CaseFold.SIMPLE) == CharSet.chars(group)
