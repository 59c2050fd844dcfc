"""The State menu in a whole window: by right click, by the menu key, and from the palette's commands."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu, QToolTip

from app.catalogue import ui_text

PATTERN = "x(a|b)(c|[d-f]y)z?"
RULES = 'root ::= "<" item ("," item)* ">"\nitem ::= [0-9]{2} | "(" item ")"'


def right_click(desk, widget, point: QPoint) -> QMenu:
    """Right-click as a mouse does: a press, then the request for a menu."""
    desk.qtbot.mouseMove(widget, point)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, point, widget.mapToGlobal(point))
    QApplication.sendEvent(widget, event)
    return popup(desk)


def popup(desk) -> QMenu:
    desk.wait(lambda: isinstance(QApplication.activePopupWidget(), QMenu))
    return QApplication.activePopupWidget()


def choose(desk, menu: QMenu, command_id: str) -> None:
    """Click an entry of a menu."""
    action = desk.window.commands[command_id]
    assert action in menu.actions()
    desk.qtbot.mouseClick(menu, Qt.MouseButton.LeftButton, pos=menu.actionGeometry(action).center())
    desk.wait(lambda: QApplication.activePopupWidget() is None)


def place(pane, state: int) -> QPoint:
    return pane.view.mapFromScene(pane.scene.box(state).center())


def show_states(desk, text: str, notation: str = "regex"):
    desk.open(text, notation=notation)
    pane = desk.panes.automaton
    desk.wait(lambda: pane.scene.diagram is not None and pane.navigation.wanted is None)
    return pane


def test_a_state_and_an_edge_have_menus_and_so_has_the_background(desk):
    pane = show_states(desk, PATTERN)
    desk.window.commands["automaton.merge"].trigger()  # draws each state
    desk.wait(lambda: pane.navigation.wanted is None)
    dfa = pane.navigation.automaton.dfa
    middle = dfa.run(b"xa")
    port, commands = pane.view.viewport(), desk.window.commands
    assert not commands["state.source"].isEnabled()
    menu = right_click(desk, port, place(pane, middle))
    assert pane.navigation.selected == middle
    for command_id in ("run.breakpoint", "automaton.tokens", "state.incoming"):
        assert commands[command_id] in menu.actions()
    choose(desk, menu, "state.copy_text")
    assert QApplication.clipboard().text() == "xa"
    choose(desk, right_click(desk, port, place(pane, middle)), "state.add_test")
    assert [one.text for one in desk.document.content.test_strings] == ["xac"]
    # The menu key opens the menu of the selected state.
    pane.view.setFocus()
    event = QContextMenuEvent(QContextMenuEvent.Reason.Keyboard, QPoint(), QPoint())
    QApplication.sendEvent(pane.view.viewport(), event)
    choose(desk, popup(desk), "state.source")
    edit = desk.panes.editor.edit
    desk.wait(lambda: edit.textCursor().selectedText() != "")
    assert edit.textCursor().selectedText() in PATTERN
    # An edge.
    key = dfa.run(b"x"), middle
    label = pane.scene.labels.labels[key].rect.center()
    menu = right_click(desk, port, pane.view.mapFromScene(label))
    assert pane.navigation.selected_edge == key
    assert pane.scene.highlights.chosen == {key}
    choose(desk, menu, "state.copy_label")
    assert QApplication.clipboard().text() == pane.navigation.drawn.label(key) != ""
    commands["state.before"].trigger()
    assert pane.navigation.selected == key[0]
    menu = right_click(desk, port, QPoint(3, 3))
    assert commands["automaton.fit"] in menu.actions()
    choose(desk, menu, "automaton.copy_dot")
    assert QApplication.clipboard().text().startswith("digraph")


def test_a_run_stops_at_the_state_and_lists_lead_there_by_keys(desk):
    pane = show_states(desk, PATTERN)
    desk.window.commands["automaton.merge"].trigger()
    desk.wait(lambda: pane.navigation.wanted is None)
    dfa, commands = pane.navigation.automaton.dfa, desk.window.commands
    middle, end = dfa.run(b"xa"), dfa.run(b"xac")
    pane.selection.select(middle)
    commands["state.run_here"].trigger()
    desk.wait(lambda: pane.navigation.live == {middle} and not desk.session.decoding.is_running)
    pane.selection.select(end)
    commands["state.incoming"].trigger()
    assert len(pane.lists.texts) == 2
    assert pane.lists.list.hasFocus()
    assert pane.scene.highlights.chosen == {(middle, end)}
    desk.qtbot.keyClick(pane.lists.list, Qt.Key.Key_Return)
    assert pane.navigation.selected == middle
    commands["state.paths_from"].trigger()
    pane.selection.select(end)
    commands["state.paths_to"].trigger()
    assert [text.split("  ·  ")[0] for text in pane.lists.texts] == ["“c”", "“dy”"]
    inner = dfa.run(b"xad")
    assert pane.scene.highlights.chosen == {(middle, end), (middle, inner), (inner, end)}
    desk.qtbot.keyClick(pane.lists.list, Qt.Key.Key_Down)
    desk.qtbot.keyClick(pane.lists.list, Qt.Key.Key_Down)
    assert pane.scene.highlights.chosen == {(middle, inner), (inner, end)}
    desk.qtbot.mouseClick(pane.lists.buttons[0], Qt.MouseButton.LeftButton)
    assert QApplication.clipboard().text() == "dy"
    desk.qtbot.keyClick(pane.lists.list, Qt.Key.Key_Escape)
    assert not pane.lists.isVisible()
    assert not pane.scene.highlights.chosen


def test_texts_of_rules_are_texts_of_the_grammar(desk):
    pane = show_states(desk, RULES, "gbnf")
    pane.navigation.show_rule("item")
    desk.wait(lambda: pane.navigation.wanted is None and pane.navigation.is_current)
    commands = desk.window.commands
    dfa = pane.navigation.automaton.dfa
    pane.selection.select(dfa.run(b"("))
    commands["state.copy_text"].trigger()
    assert QApplication.clipboard().text() == "<("
    commands["state.add_test"].trigger()
    assert [one.text for one in desk.document.content.test_strings] == ["<(00)>"]
    (end,) = [state.id for state in dfa.states if state.accepting]
    pane.selection.select(end)
    commands["state.paths_to"].trigger()
    assert sorted(text.split("  ·  ")[0] for text in pane.lists.texts) == ["“(00)”", "“00”"]
    desk.window.commands["automaton.map"].trigger()
    desk.wait(lambda: pane.navigation.wanted is None)
    assert not pane.navigation.chosen
    pane.selection.select(0)
    if pane.navigation.selected_state == ("root", -1):
        assert commands["state.run_here"].toolTip() == ui_text("automaton.refusal.rule")


def test_results_of_a_search_are_a_list_and_cards_describe_states_and_edges(desk):
    pane = show_states(desk, "(March|April|May) [0-9]{1,2}")
    pane.search.open()
    desk.qtbot.keyClicks(pane.find_bar.field, "r")
    assert len(pane.lists.texts) == len(pane.search.hits) > 1
    desk.qtbot.keyClick(pane.find_bar.field, Qt.Key.Key_Down)
    assert pane.lists.list.hasFocus()
    desk.qtbot.keyClick(pane.lists.list, Qt.Key.Key_Down)
    desk.wait(lambda: pane.navigation.selected is not None)
    assert pane.lists.list.hasFocus()
    pane.find_bar.field.setFocus()
    desk.qtbot.keyClick(pane.find_bar.field, Qt.Key.Key_Escape)
    assert not pane.find_bar.isVisible()
    assert not pane.lists.isVisible()
    for text in ("pril", "0-9"):
        pane.search.open()
        pane.find_bar.field.setText(text)
        assert pane.search.hits, text
    desk.wait(lambda: len(pane.navigation.live) == 1)
    (live,) = pane.navigation.live
    pane.selection.select(live)
    card = pane.view.state_tip(live)
    assert ui_text("automaton.states.mark.here") in card
    assert ui_text("automaton.card.allowed", tokens=pane.token_watch.allowed_text()) in card
    desk.window.commands["state.card"].trigger()
    desk.wait(lambda: QToolTip.text() != "")
    key = next(key for key in pane.scene.positioned.curves if key[0] == live)
    assert ui_text("automaton.card.target", state=pane.navigation.automaton.name(key[1])) in pane.view.edge_tip(key)
