"""The masks of engines and servers beside the candidates, with real processes and a real llama-server."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from llama_server import connect
from PySide6.QtCore import Qt

from app.models.candidates import CandidateColumn
from app.workers.requests.engine_masks import MaskCell
from engine.servers import RefusedRequestError
from tests.support.server_double import DoubleReply, served

FIRST = len(CandidateColumn)


@contextmanager
def without_key(server):
    """Yield the address of a server that asks the other one, with its key."""

    def answers(request):
        with connect(server) as client:
            try:
                return client.get(request.path) if request.body is None else client.post(request.path, request.body)
            except RefusedRequestError as error:
                return DoubleReply({"error": {"message": error.message}}, error.status)

    with served(answers) as double:
        yield double


@pytest.fixture
def address(llama_server):
    with without_key(llama_server) as double:
        yield double.address


def compare(desk, *engines):
    """Choose engines in the popover as a user does, and wait for their masks."""
    generation = desk.panes.generation
    desk.qtbot.mouseClick(generation.candidates.compare, Qt.MouseButton.LeftButton)
    popover = generation.compare
    desk.wait(popover.isVisible)
    for engine in engines:
        popover.address.setFocus()
        desk.qtbot.keyClicks(popover.address, engine)
        desk.qtbot.keyClick(popover.address, Qt.Key.Key_Return)
    desk.qtbot.keyClick(popover, Qt.Key.Key_Escape)
    desk.wait(lambda: len(desk.session.compared_masks.masks) == len(engines))


def table(desk):
    return desk.panes.generation.candidates.table


def cells(desk) -> dict[int, MaskCell]:
    """Return the cells of the first engine by token."""
    (engine, *_) = table(desk).candidates.engines
    rows = range(table(desk).candidates.rowCount())
    candidates = [table(desk).candidates.candidate(row) for row in rows]
    return {one.token_id: engine.mask.cell(one.token_id) for one in candidates}


def test_a_server_has_a_column_and_what_it_alone_allows_has_rows(desk, address):
    desk.open("root ::= [^x]+", "tiny", notation="gbnf")
    compare(desk, address)
    model = table(desk).candidates
    assert model.headerData(FIRST, Qt.Orientation.Horizontal) == "llama-server"
    assert not table(desk).isColumnHidden(FIRST)
    desk.wait(lambda: model.row_of(2) >= 0)
    assert cells(desk)[2] is MaskCell.ALLOWED
    assert model.engines[0].differs(model.candidate(model.row_of(2)))
