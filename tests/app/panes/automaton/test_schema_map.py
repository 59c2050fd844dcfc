"""The map of a schema by itself: where the match is, what is open around it, and the cost of each row."""

from __future__ import annotations

import json

import pytest
from pytestqt.qtbot import QtBot

from app.models.schema_rows import NAME, STATES
from app.panes.automaton.schema_map import SchemaMapPage
from app.workers.grammar_position import PositionReader
from engine.compile import compile_grammar
from engine.grammar.options import CompileOptions
from engine.notations import NOTATIONS
from engine.source import CancelToken, Span

TEXT = json.dumps(
    {
        "type": "object",
        "properties": {"tags": {"type": "array", "items": {"$ref": "#/$defs/tag"}}, "long": {"maxLength": 900}},
        "required": ["tags"],
        "additionalProperties": False,
        "$defs": {
            "tag": {
                "type": "object",
                "properties": {"name": {"type": "string"}},
                "required": ["name"],
                "additionalProperties": False,
            }
        },
    }
)


@pytest.fixture
def page(qtbot: QtBot) -> SchemaMapPage:
    page = SchemaMapPage()
    qtbot.addWidget(page)
    page.show_map(NOTATIONS["json_schema"].schema_map(TEXT, CompileOptions()))
    return page


def text_of(page: SchemaMapPage, name: str, column: int) -> str:
    assert page.model.map is not None
    index = page.model.index_of(page.model.map.names.index(name))
    return str(index.siblingAtColumn(column).data())


def test_open_objects_and_arrays_are_marked_through_references_and_their_path_is_said(page: SchemaMapPage) -> None:
    reader = PositionReader(compile_grammar("json_schema", TEXT))
    for output, path in ((b'{"tags": [{"name": "a"}, {"name": "b', ("tags", 1, "name")), (b'{"tags": [', ("tags", 0))):
        position = reader.position(output, CancelToken())
        assert position.path == path
        automaton = reader.grammar.automaton
        page.set_live(automaton.spans(automaton.run(automaton.start, output)), position)
    assert "tags[0]" in page.where.text()
    position = reader.position(b'{"tags": [{"name": "a"}, {"name": "b', CancelToken())
    automaton = reader.grammar.automaton
    page.set_live(automaton.spans(automaton.run(automaton.start, position.output)), position)
    assert "tags[1].name" in page.where.text()
    assert text_of(page, "tags", NAME).startswith("○")
    assert text_of(page, "name", NAME).startswith("●")
    assert not text_of(page, "long", NAME).startswith(("○", "●"))


def test_a_row_has_its_states_and_their_share_of_the_whole(page: SchemaMapPage) -> None:
    assert text_of(page, "long", STATES).endswith("%")
    assert not text_of(page, "#", STATES).endswith("%")


def test_a_match_that_moved_while_the_map_had_no_size_is_in_sight_once_it_is_shown(qtbot: QtBot) -> None:
    page = SchemaMapPage()
    qtbot.addWidget(page)
    text = json.dumps({"type": "object", "properties": {f"key{number}": {} for number in range(40)}})
    page.show_map(NOTATIONS["json_schema"].schema_map(text, CompileOptions()))
    page.resize(500, 2_000)
    page.set_live((Span(text.index('"key29"') + 9, text.index('"key29"') + 9),))
    assert page.model.live
    page.resize(500, 300)
    page.show()
    area = page.tree.viewport().rect()
    index = page.model.index_of(min(page.model.live))
    assert area.contains(page.tree.visualRect(index).center())
    page.resize(500, 200)
    qtbot.turns()
    assert page.tree.viewport().rect().contains(page.tree.visualRect(index).center())
