"""The price of the shown output: in the generation pane, with links, and beside the rows of the schema map."""

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction

from app.document import DocumentFile, GrammarPart, ModelPart
from app.models.candidates import CandidateColumn
from app.models.schema_rows import NAME, PRICE
from app.panes.generation.headline import PriceLine
from engine.diagnosis.scores.price_texts import nats_text

SCHEMA = json.dumps(
    {
        "type": "object",
        "properties": {"kind": {"enum": ["queue", "quay"]}},
        "required": ["kind"],
        "additionalProperties": False,
    },
    indent=2,
)


@pytest.fixture
def priced(real_desk):
    desk = real_desk
    desk.session.start()
    grammar = GrammarPart("json_schema", SCHEMA)
    desk.document.replace(DocumentFile(grammar=grammar, model=ModelPart("records"), max_tokens=24))
    desk.wait(lambda: not desk.session.step_refusal)
    desk.session.decoding.run()
    desk.wait(lambda: desk.session.price.found is not None)
    return desk


def given_probabilities_are_a_column(desk):
    table = desk.panes.generation.candidates.table

    def switch():
        menu = table.menu_of(table.candidates.candidate(0))
        menu.findChild(QAction, "given-column").trigger()

    switch()
    desk.wait(lambda: any(column.found and column.found.shares for column in table.candidates.engines))
    assert not table.isColumnHidden(len(CandidateColumn))
    (column,) = table.candidates.engines
    first = table.candidates.candidate(table.candidates.first_allowed())
    assert 0 <= column.found.shares[first.token_id].low <= column.found.shares[first.token_id].high <= 1
    switch()
    desk.wait(lambda: not table.candidates.engines)


def test_the_price_of_an_output_has_links_and_is_beside_the_keywords(priced):
    line = priced.window.findChild(PriceLine, "price-line")
    found, decoding = priced.session.price.found, priced.session.decoding
    dearest = found.parts[0]
    assert line.isVisible()
    assert nats_text(found.nats) in line.accessibleName()
    # the schema map
    priced.window.commands["automaton.schema_map"].trigger()
    page = priced.panes.automaton.schema_page.get()
    assert not page.tree.isColumnHidden(PRICE)
    assert page.model.index(0, PRICE, page.model.index(-1, NAME)).data() == nats_text(found.nats)
    # the links, by keys
    line.setFocus()
    targets = set()
    for _ in range(2):
        priced.qtbot.keyClick(line, Qt.Key.Key_Tab)
        targets.add(line.selectedText())
    assert f"{dearest.worst.step + 1}" in targets
    line.linkActivated.emit("part")
    assert priced.panes.editor.edit.textCursor().selectedText() == SCHEMA[dearest.span.start : dearest.span.end]
    line.linkActivated.emit("step")
    priced.wait(lambda: len(decoding.view.trace.path) and decoding.view.position.index == dearest.worst.step)
    assert line.isVisible()  # the output is the same
    given_probabilities_are_a_column(priced)
    decoding.set_prompt("x")
    priced.wait(lambda: not decoding.view.trace.path)
    assert not line.isVisible()
    assert page.tree.isColumnHidden(PRICE)
