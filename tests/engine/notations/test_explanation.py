"""How a tree of phrases is made and written down."""

from __future__ import annotations

import pytest

from engine.notations.explanation import Description, ExplanationEntry, unfold
from engine.source import CancelledError, CancelToken, Span
from engine.source.catalogue import capitalised, catalogue_text
from tests.support.explanations import explain

PLACE = Span(0, 1)


def tree(*inner: ExplanationEntry, text: str = "one") -> ExplanationEntry:
    return ExplanationEntry(text, PLACE, lambda: inner)


def test_sizes_and_depths() -> None:
    entries = (
        tree(tree(ExplanationEntry("c", PLACE), text="b"), ExplanationEntry("d", PLACE), text="a"),
        ExplanationEntry("e", PLACE),
    )
    found = unfold(entries)
    assert [(one.text, one.depth, one.size) for one in found.phrases] == [
        ("A", 0, 3),
        ("B", 1, 1),
        ("C", 2, 0),
        ("D", 1, 0),
        ("E", 0, 0),
    ]
    assert found.is_whole
    assert list(found.lines()) == ["A", "  B", "    C", "  D", "E"]


def test_too_many_phrases_are_left_out_and_that_is_said() -> None:
    def endless() -> tuple[ExplanationEntry, ...]:
        return (ExplanationEntry("x", PLACE, endless),)

    found = unfold(endless(), most=5)
    assert [one.size for one in found.phrases] == [4, 3, 2, 1, 0]
    assert not found.is_whole
    assert list(found.lines())[-1] == capitalised(catalogue_text("explanation.cut", most=20_000))


def test_what_is_never_unfolded_is_never_made() -> None:
    def asked() -> tuple[ExplanationEntry, ...]:
        raise AssertionError

    assert len(unfold([ExplanationEntry("x", PLACE), ExplanationEntry("y", PLACE, asked)], most=1).phrases) == 1


def test_it_can_be_cancelled() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError), cancel.scope():
        explain("gbnf", 'root ::= "a"\n' + "".join(f'r{n} ::= "a" | "b"\n' for n in range(2_000)))


def test_no_phrases() -> None:
    assert list(Description(()).lines()) == []
