"""Size: what is too long, too deep or too repetitive is said with its numbers, and nothing runs out of stack."""

from __future__ import annotations

import pytest

from engine.grammar import Choice, Repeat, Sequence
from engine.notations.regex.dialect import Dialect
from engine.notations.regex.parser import parse
from engine.source import GrammarError, LimitExceededError, Limits, SourceText


def codes(pattern: str, limits: Limits) -> list[str]:
    with pytest.raises(GrammarError) as caught:
        parse(SourceText(pattern), "python", limits)
    return [finding.code for finding in caught.value.diagnostics]


def test_a_pattern_can_be_too_long() -> None:
    with pytest.raises(LimitExceededError) as caught:
        parse(SourceText("a" * 11), "python", Limits(source_length=10))
    assert (caught.value.given, caught.value.limit) == (11, 10)


@pytest.mark.parametrize("dialect", Dialect)
@pytest.mark.parametrize("opening", ["(", "(?:", "(?=", "(?<!", "(?:a|"])
def test_nesting_works_to_its_limit(opening: str, dialect: Dialect) -> None:
    parse(SourceText(opening * 5_000 + "a" + ")" * 5_000), dialect, Limits(nesting=5_000))


def test_nesting_beyond_the_limit_is_one_finding() -> None:
    assert codes("(" * 100_000, Limits(nesting=1_000)) == ["regex-nesting-limit"]


@pytest.mark.parametrize(
    "pattern", ["a{11}", "a{,11}", "a{11,}", "(a{3}){4}", "((a{3}b)+c|d){4}", "(?=a{11})", "a{" + "9" * 10_000 + "}"]
)
def test_counts_multiply_up_to_a_limit(pattern: str) -> None:
    assert codes(pattern, Limits(repetition=10)) == ["regex-repetition-limit"]


@pytest.mark.parametrize("pattern", ["a{10}", "(a{5}){2}", "a{10}b{10}", "(a{10})*", "(?:a|b{2}){5}", "((a{0}){9})"])
def test_counts_within_the_limit_are_fine(pattern: str) -> None:
    parse(SourceText(pattern), "python", Limits(repetition=10))


def test_the_default_limits_take_what_they_should() -> None:
    node, _ = parse(SourceText(r"(a|a)*b|\p{L}{1,500}|(?=.*[0-9])(?=.*[a-z]).{8,64}"), "python", Limits())
    assert isinstance(node, Choice)
    assert codes("(x{1000}){1000}", Limits()) == ["regex-repetition-limit"]


def test_a_long_pattern_is_read_in_one_pass() -> None:
    node, _ = parse(SourceText("[ab]c*" * 20_000), "python", Limits())
    assert isinstance(node, Sequence)
    assert len(node.items) == 40_000
    assert isinstance(node.items[-1], Repeat)
