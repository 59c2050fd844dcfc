"""Case closures and shorthand sets against `re`, over all of Unicode where that is quick."""

from __future__ import annotations

import re

import pytest

from engine.grammar import Chars, CharSet
from engine.notations.regex import parse
from engine.notations.regex.case import Fold, close
from engine.notations.regex.codepoints import literal
from engine.source import Limits, SourceText

EVERY = "".join(map(chr, range(0x20000)))
TRICKY = "iısſkKµμßẞςσΣǅΐΐﬅﬆᲀвÅåÅⅷȺḁꙋ𐐨"


def characters(pattern: str) -> CharSet:
    node, _ = parse(SourceText(pattern), "python", Limits())
    assert isinstance(node, Chars)
    return node.set


@pytest.mark.parametrize("character", TRICKY)
def test_python_folds_a_character_as_re_does(character: str) -> None:
    expected = CharSet.chars("".join(re.findall(character, EVERY, re.IGNORECASE)))
    assert close(literal(ord(character)), Fold.PYTHON) == expected


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
@pytest.mark.parametrize("flag", ["a", "u"])
def test_a_shorthand_is_the_set_of_re(letter: str, flag: str) -> None:
    expected = CharSet.chars("".join(re.findall(rf"(?{flag})\{letter}", EVERY)))
    assert characters(rf"(?{flag})\{letter}") & CharSet(((0, len(EVERY) - 1),)) == expected


def test_ignoring_case_leaves_a_shorthand_ascii() -> None:
    assert characters(r"(?i)[\w]") == characters(r"\w")


@pytest.mark.parametrize(
    ("character", "group"),
    [("k", "kK\u212a"), ("s", "sSſ"), ("ß", "ßẞ"), ("ﬅ", "ﬅﬆ"), ("ᾳ", "ᾳᾼ"), ("İ", "İ"), ("ı", "ı")],
)
def test_ecma_folds_simply(character: str, group: str) -> None:
    assert close(literal(ord(character)), Fold.SIMPLE) == CharSet.chars(group)
