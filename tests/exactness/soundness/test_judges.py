"""The judges of regular expressions and GBNF on cases that are known."""

import re

import pytest

from tests.exactness.soundness.earley import Recogniser
from tests.exactness.soundness.patterns import Anchor, DirectMatcher, Flags, Group, Items, Look, Loop, One, write

PYTHON, ECMA = Flags("python"), Flags("ecma")


def is_character(wanted):
    return lambda character: character == wanted


A, B = is_character("a"), is_character("b")
HIDDEN_LEFT_RECURSION = {"root": [["nothing", "root", A], [B]], "nothing": [[], ["nothing", "nothing"]]}
PALINDROMES = {"root": [[], [A, "root", A], [B, "root", B]]}


@pytest.mark.parametrize(
    ("productions", "taken", "refused"),
    [
        (HIDDEN_LEFT_RECURSION, ["b", "ba", "baaa"], ["", "a", "bb", "ab"]),
        (PALINDROMES, ["", "aa", "abba", "baab"], ["a", "ab", "aab"]),
        ({"root": [["root", "root"], [A]]}, ["a", "aaaa"], ["", "b", "ab"]),
        ({"root": [["root"], ["other", B]], "other": [[], ["root"]]}, ["b", "bbb"], ["", "ab"]),
        ({"root": [["root", A]]}, [], ["", "a"]),
    ],
)
def test_the_recogniser_takes_the_language(productions, taken, refused):
    recogniser = Recogniser(productions, "root")
    assert all(map(recogniser.matches, taken))
    assert not any(map(recogniser.matches, refused))


def test_the_recogniser_says_how_far_a_text_is_legal():
    assert Recogniser(PALINDROMES, "root").prefixes("abaa") == (4, False)
    assert Recogniser({"root": [[A, "dead"], [B]], "dead": [["dead", A]]}, "root").prefixes("aa") == (0, False)
    assert Recogniser({"root": [["root", A]]}, "root").prefixes("a") == (-1, False)


@pytest.mark.parametrize(
    ("node", "taken", "refused"),
    [
        (Loop(Items((Look("(?!", Items((One("0"), Anchor("$")))), One("[ab0]"))), 0, None), ["", "0a"], ["0", "a0"]),
        (Items((Group("(?>", Loop(One("a"), 0, None)), One("a"))), [], ["a", "aa"]),
        (Items((Loop(One("a"), 0, None, "+"), One("b"))), ["b", "aab"], ["a", ""]),
        (Items((Loop(One("a"), 0, None, "?"), Anchor("$"))), ["", "aa"], ["a\n", "b"]),
        (Items((One(r"\w"), Anchor(r"\b"), One("-"))), ["é-", "٣-"], ["--"]),
    ],
)
def test_the_definition_of_a_pattern(node, taken, refused):
    matcher = DirectMatcher(node, PYTHON)
    for texts, expected in ((taken, True), (refused, False)):
        assert [matcher.fullmatch(text) for text in texts] == [expected] * len(texts)
        assert [bool(re.fullmatch(write(node), text)) for text in texts] == [expected] * len(texts)


def test_the_dialects_differ():
    assert DirectMatcher(One(r"\d"), PYTHON).fullmatch("٣")
    assert not DirectMatcher(One(r"\d"), ECMA).fullmatch("٣")
    assert DirectMatcher(Group("(?i:", One(r"\w")), ECMA).fullmatch("ſ")
    assert DirectMatcher(One(r"[^\s]"), PYTHON).fullmatch("\ufeff")
    assert not DirectMatcher(One(r"[^\s]"), ECMA).fullmatch("\ufeff")
