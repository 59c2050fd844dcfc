"""The explanation as a Qt tree, and its words in runs."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QModelIndex

from app.models.phrases import PhrasesModel
from engine.notations.explanation import Description
from tests.support.explanations import explain

TEXT = 'root ::= "[" (item | "x")* "]"\nitem ::= [a-z]\n'


@pytest.fixture
def model(qapp) -> PhrasesModel:
    model = PhrasesModel()
    model.show(explain("gbnf", TEXT))
    return model


def rows(model: PhrasesModel, holder: QModelIndex | None = None) -> list[object]:
    """The whole tree as lists."""
    held = holder or QModelIndex()
    indices = [model.index(row, 0, held) for row in range(model.rowCount(held))]
    return [[index.data(), *rows(model, index)] if model.hasChildren(index) else index.data() for index in indices]


@pytest.mark.usefixtures("qapp")
def test_qt_finds_no_fault(qtmodeltester) -> None:
    model = PhrasesModel()
    qtmodeltester.check(model)
    model.show(explain("gbnf", TEXT))
    qtmodeltester.check(model)


def test_the_tree(model) -> None:
    assert rows(model) == [
        [
            "Rule “root”, with which every match begins: in this order",
            "The text “[”",
            ["Any number of times: one of these 2", "The rule “item”", "The text “x”"],
            "The text “]”",
        ],
        "Rule “item”: one of “a” to “z”",
    ]


def test_numbers_and_rows(model) -> None:
    for number in range(model.count):
        fresh = PhrasesModel()
        fresh.show(explain("gbnf", TEXT))
        index = fresh.index_of(number)  # without anything unfolded before
        assert fresh.number(index) == number
        assert fresh.index(index.row(), 0, index.parent()) == index


def test_the_innermost_phrase_of_a_place(model) -> None:
    def at(offset: int) -> str | None:
        number = model.innermost(offset)
        return None if number is None else model.index_of(number).data()

    assert at(TEXT.index("[")) == "The text “[”"
    assert at(TEXT.index('"[')) == "The text “[”"
    assert at(TEXT.index("item")) == "The rule “item”"
    assert at(TEXT.index("|")) == "Any number of times: one of these 2"
    assert at(0) == "Rule “root”, with which every match begins: in this order"
    assert at(TEXT.index("\n")) is None


def test_what_is_found(model) -> None:
    assert [model.index_of(number).data() for number in model.find("ITEM")] == [
        "The rule “item”",
        "Rule “item”: one of “a” to “z”",
    ]
    assert model.find("") == []


def test_nothing_is_shown_of_nothing(model) -> None:
    model.show(Description(()))
    assert (model.rowCount(), model.hasChildren(), model.innermost(0)) == (0, False, None)


def test_rows_are_made_when_they_are_asked_for(qapp) -> None:
    text = "root ::= " + " | ".join('("a" "b" "c")' for _ in range(2_000))
    reads = []

    class CountedPhrases(tuple):
        __slots__ = ()

        def __getitem__(self, at):
            reads.append(at)
            return super().__getitem__(at)

    model = PhrasesModel()
    model.show(Description(CountedPhrases(explain("gbnf", text).phrases)))
    assert model.count > 7_000
    top = model.index(0, 0)
    assert model.hasChildren(top)
    assert set(reads) == {0}
    assert model.rowCount(top) == 2_000
    assert len(set(reads)) == 2_001
