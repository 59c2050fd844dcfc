"""The masks of engines and servers beside the candidates, with real processes and a real llama-server."""

from __future__ import annotations

from contextlib import contextmanager

import pytest
from llama_server import connect
from PySide6.QtCore import Qt
from tiny_gguf import token_bytes

from app.models.candidates import CandidateColumn
from app.workers.requests.engine_masks import EngineChoice, MaskCell
from engine.peers import PEERS
from engine.servers import RefusedRequestError
from tests.support.server_double import DoubleReply, served

FIRST = len(CandidateColumn)
TOKENS = token_bytes()


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


def test_states_and_steps_are_marked_where_the_masks_part(desk, address):
    desk.open('root ::= item ("," item)* "."\nitem ::= [^x]+', "tiny", notation="gbnf")
    desk.session.decoding.choose(TOKENS.index(b"a"))
    desk.wait(lambda: desk.output == b"a")
    compare(desk, address)
    automaton = desk.panes.automaton
    here = min(automaton.navigation.live)
    assert here in automaton.scene.highlights.parted
    assert "<|im_start|>" in automaton.model.parted_text(here)
    desk.window.reveal(desk.panes.view("timeline"))
    assert "<|im_start|>" in desk.panes.view("timeline").tip_of(0)


def test_another_step_has_other_masks_and_does_not_wait_for_them(desk, address):
    desk.open('root ::= "ab" [^x]', "tiny", notation="gbnf")
    compare(desk, address)
    assert not desk.session.compared_masks.parted
    desk.session.decoding.choose(TOKENS.index(b"a"))
    desk.wait(lambda: desk.output == b"a")
    assert desk.session.compared_masks.masks == ()
    desk.session.decoding.choose(TOKENS.index(b"b"))
    desk.wait(lambda: desk.output == b"ab")
    desk.wait(lambda: bool(desk.session.compared_masks.parted))
    assert list(desk.session.compared_masks.parted) == [2]


def test_a_server_that_is_not_there_says_so_and_others_are_compared(desk, address):
    desk.open("root ::= [a-c]+", "tiny", notation="gbnf")
    compare(desk, "http://127.0.0.1:9", address)
    silent, answering = table(desk).candidates.engines
    assert "127.0.0.1:9" in silent.mask.reason
    assert silent.mask.cell(0) is MaskCell.UNKNOWN
    assert answering.mask.reason == ""


def test_an_address_that_is_none_is_refused_in_the_popover(desk):
    desk.open("[ab]{2}")
    generation = desk.panes.generation
    desk.qtbot.mouseClick(generation.candidates.compare, Qt.MouseButton.LeftButton)
    popover = generation.compare
    desk.wait(popover.isVisible)
    desk.qtbot.keyClicks(popover.address, "localhost:8080")
    desk.qtbot.mouseClick(popover.add, Qt.MouseButton.LeftButton)
    assert popover.message.isVisible()
    assert popover.engines == ()
    popover.hide()


def test_an_installed_engine_has_a_column_by_a_click_and_none_after_another(desk):
    if PEERS["llguidance"].version is None:
        pytest.skip("needs llguidance: pip install 'token-turnstile[engines]'")
    desk.open("[ab]{2}", "tiny")
    generation, compared = desk.panes.generation, desk.session.compared_masks
    desk.qtbot.mouseClick(generation.candidates.compare, Qt.MouseButton.LeftButton)
    choice = EngineChoice("llguidance")
    desk.wait(lambda: choice in generation.compare.boxes)
    desk.qtbot.keyClick(generation.compare.boxes[choice], Qt.Key.Key_Space)
    desk.wait(lambda: len(compared.masks) == 1)
    assert cells(desk)[TOKENS.index(b"a")] is MaskCell.ALLOWED
    assert cells(desk)[TOKENS.index(b"c")] is MaskCell.MASKED
    desk.qtbot.keyClick(generation.compare.boxes[choice], Qt.Key.Key_Space)
    assert table(desk).candidates.columnCount() == FIRST
    generation.compare.hide()
