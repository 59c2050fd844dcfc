"""Going about in the automaton by mouse and keys: regions, stubs, finding, walking, back and forward, layouts."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from app.catalogue import ui_text
from app.graph.layout.methods import lay_out
from app.graph.layout.types import LayoutRequest
from app.graph.match.folding import fold_characters
from app.graph.match.regions import regions_of
from app.panes.automaton.pane import AutomatonPane
from app.panes.automaton.view_state import ViewState
from engine.compile import compile_grammar
from engine.source import Span

COUNTER = r"[A-Z]+: [0-9]{0,200}\n"
LEFT = Qt.MouseButton.LeftButton


class Shown:
    """A pane that shows a pattern, laid out at once; a text moves the match."""

    def __init__(self, pane: AutomatonPane, pattern: str) -> None:
        self.pane = pane
        self.asked: list[LayoutRequest] = []
        pane.layout_wanted.connect(self.answer_layout)
        self.show(pattern, 1)

    def show(self, pattern: str, revision: int) -> None:
        grammar = compile_grammar("regex", pattern)
        self.dfa = grammar.materialise()
        folded = fold_characters(self.dfa)
        assert grammar.grammar is not None
        self.regions = regions_of(self.dfa, folded, grammar.grammar.rules[0].node, grammar.source)
        self.pane.show_dfa(self.dfa, revision, None, grammar.source, folded, None, self.regions)
        self.write("")

    def write(self, text: str) -> None:
        state = self.dfa.run(text.encode())
        self.pane.set_live([] if state is None else [state], None, text.encode())

    def answer_layout(self, request: LayoutRequest) -> None:
        self.asked.append(request)
        self.pane.show_layout(lay_out(request))

    @property
    def names(self) -> list[str]:
        """What is written in the states that are drawn, its first line."""
        picture = self.pane.scene.diagram
        assert picture is not None
        return [picture.names.get(state, str(state)).split("\n")[0] for state in picture.excerpt.states]

    @property
    def drawn(self) -> set[int]:
        picture = self.pane.scene.diagram
        return set() if picture is None else set(picture.excerpt.states)

    def place(self, node: int) -> QPoint:
        box = self.pane.scene.box(node)
        assert box is not None
        self.pane.view.ensureVisible(box)
        return self.pane.view.mapFromScene(box.center())

    def double_click(self, qtbot: QtBot, node: int) -> None:
        port, place = self.pane.view.viewport(), self.place(node)
        qtbot.mouseClick(port, LEFT, pos=place)
        qtbot.mouseDClick(port, LEFT, pos=place)


@pytest.fixture
def pane(qtbot: QtBot) -> AutomatonPane:
    pane = AutomatonPane()
    pane.begin(ViewState(merges=False))
    qtbot.addWidget(pane)
    pane.resize(800, 700)
    pane.show()
    qtbot.waitExposed(pane)
    return pane


def test_many_states_open_on_regions_with_the_live_path_lit(pane: AutomatonPane) -> None:
    shown = Shown(pane, COUNTER)
    assert shown.names == ["[A-Z]+", ":␣", "[0-9]{0,200}", "\\n", "end"]
    assert pane.header.counts.text() == "5 regions of 205 states · 5 edges"
    assert pane.header.all_button.text() == ui_text("automaton.header.all.fragment.label", total=205)
    assert pane.scene.diagram is not None
    assert pane.scene.diagram.folded == {0, 2}
    shown.write("AB: 12")
    assert pane.scene.highlights.live == {2}
    assert pane.scene.highlights.path == {(0, 1), (1, 2)}
    assert pane.scene.highlights.next_edges == {(2, 4)}  # within the counter is no step on the map
    assert pane.footer.details.text().startswith("Region [0-9]{0,200}  ·  ● here  ·  200 states")
    assert len(shown.asked) == 1


def test_a_double_click_opens_a_region_and_backspace_leaves_it(pane: AutomatonPane, qtbot: QtBot) -> None:
    shown = Shown(pane, COUNTER)
    shown.double_click(qtbot, 0)
    assert pane.level_bar.rule_box.currentText() == "[A-Z]+"
    assert shown.drawn == {0, 1}
    assert pane.header.counts.text() == "2 of 205 states · 405 edges"
    shown.write("A: ")  # the match goes on; what is open stays
    assert shown.drawn == {0, 1}
    qtbot.keyClick(pane.view, Qt.Key.Key_Backspace)
    assert shown.names[0] == "[A-Z]+"
    assert pane.scene.highlights.live == {2}


def test_a_large_region_is_drawn_around_where_the_match_stands_in_it(pane: AutomatonPane) -> None:
    shown = Shown(pane, COUNTER)
    shown.write("A: " + "1" * 150)
    pane.level_bar.rule_box.activated.emit(3)
    assert len(shown.drawn) == 60
    assert shown.dfa.run(b"A: " + b"1" * 150) in shown.drawn
    assert shown.regions is not None
    assert shown.drawn <= shown.regions.states(2)


def test_back_and_forward_lead_through_what_was_seen(pane: AutomatonPane, qtbot: QtBot) -> None:
    shown = Shown(pane, COUNTER)
    assert not pane.level_bar.back_button.isEnabled()
    shown.double_click(qtbot, 0)
    qtbot.mouseClick(pane.level_bar.live_button, LEFT)
    around = shown.drawn
    assert pane.level_bar.note.text() == ui_text("automaton.location.live")
    qtbot.mouseClick(pane.level_bar.back_button, LEFT)
    assert shown.drawn == {0, 1}
    assert pane.level_bar.note.text() == ""
    qtbot.keyClick(pane.view, Qt.Key.Key_Left, Qt.KeyboardModifier.AltModifier)
    assert shown.names[0] == "[A-Z]+"
    assert not pane.level_bar.back_button.isEnabled()
    for _ in range(2):
        qtbot.keyClick(pane.view, Qt.Key.Key_Right, Qt.KeyboardModifier.AltModifier)
    assert shown.drawn == around
    assert not pane.level_bar.forward_button.isEnabled()


def test_a_click_on_a_stub_draws_what_is_behind_it_and_collapse_takes_it_back(
    pane: AutomatonPane, qtbot: QtBot
) -> None:
    shown = Shown(pane, "a{100}")
    pane.header.graph_button.setFocus()
    qtbot.mouseClick(pane.level_bar.live_button, LEFT)
    assert shown.drawn == {0, 1, 2}
    qtbot.mouseClick(pane.view.viewport(), LEFT, pos=shown.place(-1 - 2))
    assert shown.drawn == {0, 1, 2, 3}
    qtbot.mouseClick(pane.view.viewport(), LEFT, pos=shown.place(-1 - 3))
    assert shown.drawn == {0, 1, 2, 3, 4}
    pane.navigation.collapse()
    assert shown.drawn == {0, 1, 2}


def test_all_are_drawn_on_demand_and_the_bar_says_so(pane: AutomatonPane, qtbot: QtBot) -> None:
    shown = Shown(pane, COUNTER)
    qtbot.mouseClick(pane.header.all_button, LEFT)
    assert len(shown.drawn) == 205
    assert pane.level_bar.note.text() == ui_text("automaton.location.whole")
    assert pane.footer.map_button.isChecked()
    assert pane.minimap.isVisible()
    qtbot.mouseClick(pane.header.all_button, LEFT)
    assert len(shown.drawn) == 5
    assert not pane.minimap.isVisible()


def test_an_edit_forgets_what_numbers_meant_and_keeps_what_is_open(pane: AutomatonPane, qtbot: QtBot) -> None:
    shown = Shown(pane, COUNTER)
    shown.double_click(qtbot, 2)
    assert pane.level_bar.rule_box.currentText() == "[0-9]{0,200}"
    pane.navigation.open_stub(min(shown.drawn))
    shown.show(COUNTER.replace("A-Z", "A-Y"), 2)
    assert pane.level_bar.rule_box.currentText() == "[0-9]{0,200}"
    assert pane.navigation.view.opened == ()
    assert not pane.level_bar.back_button.isEnabled()
    shown.show(COUNTER.replace("200", "300"), 3)
    assert pane.level_bar.rule_box.currentText() == "All 5 regions"


# --- finding and walking ------------------------------------------------------------------------------------------


def search(pane: AutomatonPane, qtbot: QtBot, text: str) -> str:
    qtbot.keyClick(pane.view, Qt.Key.Key_Slash)
    pane.find_bar.field.clear()
    qtbot.keyClicks(pane.find_bar.field, text)
    qtbot.keyClick(pane.find_bar.field, Qt.Key.Key_Return)
    return pane.find_bar.result_label.text()


def test_a_state_is_found_by_its_number_and_drawn(pane: AutomatonPane, qtbot: QtBot) -> None:
    shown = Shown(pane, COUNTER)
    assert search(pane, qtbot, "100") == "state 100 · 1 of 1"
    assert 100 in shown.drawn
    assert pane.scene.highlights.selected == 100
    assert pane.level_bar.note.text() == ui_text("automaton.location.centre.long", state=100)
    shown.write("AB")  # a step elsewhere does not take it away
    assert 100 in shown.drawn
    qtbot.keyClick(pane.view, Qt.Key.Key_Backspace)
    assert len(shown.drawn) == 5


def test_a_region_is_found_by_its_name(pane: AutomatonPane, qtbot: QtBot) -> None:
    shown = Shown(pane, COUNTER)
    assert search(pane, qtbot, "a-z").startswith("region [A-Z]+ · 1 of")
    assert shown.drawn == {0, 1}


def test_a_byte_is_found_where_it_is_read_and_return_goes_on(pane: AutomatonPane, qtbot: QtBot) -> None:
    shown = Shown(pane, "axz|bcxy")
    reading = [state.id for state in shown.dfa.states if shown.dfa.step(state.id, ord("x")) is not None]
    assert len(reading) == 2
    assert search(pane, qtbot, "x") == f"state {reading[0]} reads it · 1 of 2"
    assert pane.scene.highlights.highlighted >= {reading[1]}
    qtbot.keyClick(pane.find_bar.field, Qt.Key.Key_Return)
    assert pane.scene.highlights.selected == reading[1]
    qtbot.keyClick(pane.find_bar.field, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert pane.scene.highlights.selected == reading[0]


def test_a_text_is_found_by_where_it_leads(pane: AutomatonPane, qtbot: QtBot) -> None:
    shown = Shown(pane, COUNTER)
    assert search(pane, qtbot, '"AB: 7"').startswith("“AB: 7” leads to state")
    assert pane.scene.highlights.selected == shown.dfa.run(b"AB: 7")


DATES = "(January|February|March|April|May|June) [0-9]{1,2}, (19|20)[0-9]{2} in [a-zé]+"


def visible(pane: AutomatonPane, state: int) -> bool:
    """Return whether all of a state's box is in view."""
    box = pane.scene.box(state)
    assert box is not None
    return pane.view.viewport().rect().contains(pane.view.mapFromScene(box).boundingRect())


def test_a_text_is_found_where_it_does_not_begin_at_the_start(pane: AutomatonPane, qtbot: QtBot) -> None:
    shown = Shown(pane, r"[0-9]{1,2} (May|April) [0-9]{4}")
    assert search(pane, qtbot, "April").endswith("1 of 1")
    selected = pane.scene.highlights.selected
    assert selected == shown.dfa.run(b"1 ")
    assert "reads “April”" in pane.find_bar.result_label.text()
    assert search(pane, qtbot, '"April 20"').endswith("1 of 1")
    assert search(pane, qtbot, "Juno") == ui_text("common.find.nothing")


@pytest.mark.parametrize("text", ["0-9", "[0-9]", "[2-4]"])
def test_a_class_is_found_where_all_of_it_is_read(pane: AutomatonPane, qtbot: QtBot, text: str) -> None:
    shown = Shown(pane, "x[0-9]|y[0-8]z[0-9a]")
    search(pane, qtbot, text)
    inner = text.strip("[]")
    first, last = ord(inner[0]), ord(inner[2])
    reading = {edge.source for edge in shown.dfa.edges if any(a <= first and last <= b for a, b in edge.ranges)}
    assert {hit.state for hit in pane.search.hits} == reading
    assert len(reading) == (2 if inner == "0-9" else 3)


def test_a_class_beyond_ascii_and_one_of_several_parts_are_found(pane: AutomatonPane) -> None:
    shown = Shown(pane, "x[а-яёa-f]+|y[a-f]")
    pane.search.open()
    pane.find_bar.field.setText("а-я")
    letters = shown.dfa.run(b"x")
    assert letters in {hit.state for hit in pane.search.hits}
    assert shown.dfa.run(b"y") not in {hit.state for hit in pane.search.hits}
    pane.find_bar.field.setText("[a-cё]")
    assert letters in {hit.state for hit in pane.search.hits}
    assert shown.dfa.run(b"y") not in {hit.state for hit in pane.search.hits}


def test_what_is_found_while_typing_comes_into_view(pane: AutomatonPane, qtbot: QtBot) -> None:
    shown = Shown(pane, DATES + " at " + DATES)
    qtbot.mouseClick(pane.header.all_button, LEFT)
    last = shown.dfa.run(b"May 1, 1999 in a at May 1, 1999 ")
    assert last is not None
    assert not visible(pane, last)
    qtbot.keyClick(pane.view, Qt.Key.Key_Slash)
    qtbot.keyClicks(pane.find_bar.field, str(last))
    assert visible(pane, last)


def test_what_is_found_elsewhere_is_selected_and_in_view_once_it_is_drawn(pane: AutomatonPane, qtbot: QtBot) -> None:
    """The layout comes from another process: later than the key that asked for it."""
    shown = Shown(pane, DATES + " at " + DATES)
    pane.layout_wanted.disconnect(shown.answer_layout)
    waiting: list[LayoutRequest] = []
    pane.layout_wanted.connect(waiting.append)
    last = shown.dfa.run(b"May 1, 1999 in a at May 1, 1999 ")
    assert last is not None
    search(pane, qtbot, str(last))
    for request in waiting:
        shown.answer_layout(request)
    assert pane.scene.highlights.selected == last
    assert visible(pane, last)


@pytest.mark.parametrize("where", ["field", "next_button", "close_button"])
def test_esc_closes_the_find_bar_wherever_the_focus_is_in_it(pane: AutomatonPane, qtbot: QtBot, where: str) -> None:
    Shown(pane, "abc")
    qtbot.keyClick(pane.view, Qt.Key.Key_Slash)
    qtbot.keyClicks(pane.find_bar.field, "1")
    widget = getattr(pane.find_bar, where)
    widget.setFocus()
    qtbot.keyClick(widget, Qt.Key.Key_Escape)
    assert pane.find_bar.isHidden()
    assert QApplication.focusWidget() is pane.view


def test_what_is_not_there_is_told_and_esc_closes(pane: AutomatonPane, qtbot: QtBot) -> None:
    Shown(pane, "abc")
    assert search(pane, qtbot, "99") == ui_text("common.find.nothing")
    qtbot.keyClick(pane.find_bar.field, Qt.Key.Key_Escape)
    assert pane.find_bar.isHidden()
    assert QApplication.focusWidget() is pane.view


def test_arrows_walk_from_state_to_state(pane: AutomatonPane, qtbot: QtBot) -> None:
    shown = Shown(pane, "a(b|c)[d-f]x")
    shown.write("a")
    pane.view.setFocus()
    walked = []
    for key in (Qt.Key.Key_Right, Qt.Key.Key_Right, Qt.Key.Key_Left, Qt.Key.Key_Left, Qt.Key.Key_Left):
        qtbot.keyClick(pane.view, key)
        walked.append(pane.scene.highlights.selected)
    assert walked == [1, 2, 1, 0, 0]
    assert pane.footer.details.text().startswith("State 0")
    spoken = QAccessible.queryAccessibleInterface(pane.footer.details)
    assert spoken.text(QAccessible.Text.Name) == pane.footer.details.text()


# --- the way taken, the way ahead, pictures -----------------------------------------------------------------------


def test_the_way_that_was_taken_is_lit(pane: AutomatonPane) -> None:
    shown = Shown(pane, "(ab|cd)*e")
    assert pane.scene.highlights.path == set()
    shown.write("ab")
    first = pane.scene.highlights.path
    assert len(first) == 2
    assert not pane.scene.highlight_layer.path.path().isEmpty()
    shown.write("abcde")
    assert first < pane.scene.highlights.path
    shown.write("")
    assert pane.scene.highlights.path == set()


def test_what_a_token_would_take_is_outlined_as_far_as_it_goes(pane: AutomatonPane) -> None:
    shown = Shown(pane, "(ab|cd)*e")
    pane.show_candidate_path(b"abe")
    assert len(pane.scene.highlights.candidate_path) == 3
    assert pane.scene.highlights.candidate_states == {shown.dfa.run(b"abe")}
    pane.show_candidate_path(b"abx")
    assert len(pane.scene.highlights.candidate_path) == 2
    assert pane.scene.highlights.candidate_states == set()
    pane.show_candidate_path(b"ab")
    shown.write("ab")  # a step: what was pointed at is gone
    assert pane.scene.highlights.candidate_path == set()
    pane.show_candidate_path(b"ab")
    pane.show_candidate_path(None)
    assert pane.scene.highlights.candidate_path == set()


def test_on_the_map_a_token_goes_from_region_to_region(pane: AutomatonPane) -> None:
    Shown(pane, COUNTER)
    pane.show_candidate_path(b"A: 1")
    assert pane.scene.highlights.candidate_path == {(0, 1), (1, 2)}
    assert pane.scene.highlights.candidate_states == {2}


def test_a_layout_is_chosen_and_turned(pane: AutomatonPane) -> None:
    shown = Shown(pane, "abcdef")
    pane.navigation.choose_layout("layered")
    assert shown.asked[-1].method == "layered"
    pane.navigation.turn()
    assert (shown.asked[-1].method, shown.asked[-1].downwards) == ("layered", True)
    top, bottom = pane.scene.box(0), pane.scene.box(6)
    assert top is not None
    assert bottom is not None
    assert top.bottom() < bottom.top()
    assert abs(top.center().x() - bottom.center().x()) < 1
    shown.show("abcdefg", 2)
    assert shown.asked[-1].downwards  # an edit keeps it
    assert not pane.level_bar.back_button.isEnabled()


def test_what_is_drawn_goes_to_the_clipboard(pane: AutomatonPane) -> None:
    Shown(pane, COUNTER)
    pane.copy_dot()
    text = QApplication.clipboard().text()
    assert text.startswith("digraph automaton {")
    assert 's2 [label="[0-9]{0,200}\\n200 states", shape=box, peripheries=1];' in text


def test_the_map_leads_where_it_is_clicked(pane: AutomatonPane, qtbot: QtBot) -> None:
    shown = Shown(pane, "a{100}")
    qtbot.mouseClick(pane.header.all_button, LEFT)
    assert len(shown.drawn) == 101
    before = pane.view.mapToScene(pane.view.viewport().rect().center())
    pane.minimap.grab()
    qtbot.mouseClick(pane.minimap, LEFT, pos=QPoint(pane.minimap.width() - 12, pane.minimap.height() // 2))
    after = pane.view.mapToScene(pane.view.viewport().rect().center())
    assert after.x() > before.x() + 1000
    assert not pane.view.is_at_home


def test_pointing_at_a_region_tells_its_place(pane: AutomatonPane, qtbot: QtBot) -> None:
    shown = Shown(pane, COUNTER)
    told: list[tuple[Span, ...]] = []
    pane.spans_hovered.connect(told.append)
    qtbot.mouseMove(pane.view.viewport(), shown.place(2))
    assert told == [(Span(8, 20),)]


def test_states_stay_where_they_are_over_an_edit(pane: AutomatonPane) -> None:
    shown = Shown(pane, "ab(e|f)")
    before = {state: pane.view.position_of(state) for state in range(3)}
    shown.show("ab(e|f)g", 2)
    assert shown.drawn == set(range(5))
    for state, place in before.items():
        after = pane.view.position_of(state)
        assert place is not None
        assert after is not None
        assert (after - place).manhattanLength() <= 3
    assert not pane.view.horizontalScrollBar().isVisible()
    shown.show("x" * 50, 3)  # where it no longer fits, it is shown anew
    box = pane.scene.box(0)
    assert box is not None
    assert pane.view.visible_rect.contains(box)


# --- another grammar -----------------------------------------------------------------------------------------------


def test_another_grammar_is_fitted_and_not_drawn_whole(pane: AutomatonPane, qtbot: QtBot) -> None:
    shown = Shown(pane, COUNTER)
    qtbot.mouseClick(pane.header.all_button, LEFT)
    pane.view.fit()
    assert pane.view.zoom < 0.5
    seen = []
    pane.view_changed.connect(seen.append)
    pane.expect_new_grammar()
    shown.show(COUNTER.replace("A-Z", "0-9").replace("a-z", "xyz"), 2)
    assert len(shown.drawn) == 5
    assert not pane.header.all_button.isChecked()
    assert pane.view.is_at_home
    assert pane.view.is_readable
    assert not seen[0].draws_all  # the document remembers it
    fresh = AutomatonPane()
    qtbot.addWidget(fresh)
    fresh.resize(pane.size())
    fresh.show()
    qtbot.waitExposed(fresh)
    Shown(fresh, COUNTER.replace("A-Z", "0-9").replace("a-z", "xyz"))
    assert fresh.view.zoom == pytest.approx(pane.view.zoom)


def test_a_smaller_grammar_is_not_left_as_small_as_the_larger_one(pane: AutomatonPane, qtbot: QtBot) -> None:
    shown = Shown(pane, "[a-c]{12}")
    large = pane.view.zoom
    pane.expect_new_grammar()
    shown.show("xy", 2)
    assert pane.view.zoom > large


def test_an_edit_keeps_zoom_and_what_is_drawn(pane: AutomatonPane, qtbot: QtBot) -> None:
    shown = Shown(pane, COUNTER)
    qtbot.mouseClick(pane.header.all_button, LEFT)
    pane.view.fit()
    zoom = pane.view.zoom
    shown.show(COUNTER.replace("A-Z", "A-Y"), 2)
    assert pane.view.zoom == pytest.approx(zoom)
    assert len(shown.drawn) == 205
    pane.expect_new_grammar()
    shown.show(COUNTER, 3)
    pane.view.zoom_out()
    zoom = pane.view.zoom
    shown.show(COUNTER.replace("A-Z", "A-Y"), 4)
    assert pane.view.zoom == pytest.approx(zoom), "only the next one is another grammar"
