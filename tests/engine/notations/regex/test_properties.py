"""Unicode properties, against the package that the data comes from."""

from __future__ import annotations

import subprocess
import sys

import pytest
import regex

from engine.grammar import Chars, CharSet
from engine.notations.regex.parser import parse
from engine.notations.regex.unicode_sets import BINARY_PROPERTIES, GENERAL_CATEGORIES, strict_property
from engine.source import GrammarError, Limits, SourceText

EVERY = "".join(map(chr, range(0x110000)))


def characters(pattern: str) -> CharSet:
    node, _ = parse(SourceText(pattern), "python", Limits())
    assert isinstance(node, Chars)
    return node.set


@pytest.mark.parametrize(
    "pattern",
    [
        r"\p{L}",
        r"\P{L}",
        r"\pL",
        r"\p{^Lu}",
        r"\p{greek}",
        r"\p{Script=Greek}",
        r"[^\p{L}\p{N}_]",
        r"(?i)\p{Lu}",
        r"(?i)\P{Lu}",
    ],
)
def test_python_takes_what_regex_takes(pattern: str) -> None:
    runs = regex.finditer(f"{pattern}+", EVERY)  # every character stands at its own number
    assert characters(pattern) == CharSet.of((run.start(), run.end() - 1) for run in runs)


@pytest.mark.parametrize("name", sorted(GENERAL_CATEGORIES | BINARY_PROPERTIES))
def test_every_name_of_the_standard_is_known(name: str) -> None:
    assert strict_property(name)


@pytest.mark.parametrize(
    "name",
    [
        "Script=Greek",
        "sc=Grek",
        "scx=Old_Italic",
        "Script_Extensions=Zyyy",
        "gc=Lu",
        "General_Category=Letter",
        "sc=SignWriting",
    ],
)
def test_values_are_known(name: str) -> None:
    assert strict_property(name)


@pytest.mark.parametrize(
    "name",
    ["lu", "Script=greek", "sc=GREEK", "Greek", "gc=Alphabetic", "Alphabetic=Yes", "", "=", "Lu ", "Block=Greek"],
)
def test_ecma_is_strict(name: str) -> None:
    assert strict_property(name) is None


@pytest.mark.parametrize("name", ["", "}", "L}|\\p{N", "Lu)", "a" * 1000, "é"])
def test_a_name_cannot_smuggle_a_pattern(name: str) -> None:
    with pytest.raises(GrammarError):
        parse(SourceText(rf"\p{{{name}}}x)"), "python", Limits())


def test_the_package_is_imported_only_with_the_first_property() -> None:
    script = (
        "import sys; from engine.notations.regex.parser import parse; from engine.source import Limits, SourceText;"
        "parse(SourceText(r'(?i)\\w+[a-z]'), 'python', Limits()); assert 'regex' not in sys.modules;"
        "parse(SourceText(r'\\p{L}'), 'python', Limits()); assert 'regex' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", script], check=True)
