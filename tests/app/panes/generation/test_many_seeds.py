"""The outputs of many seeds: a row opens as a trace from its menu."""

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu

from app.catalogue import ui_text
from app.panes.generation.many_seeds import ManySeedsPage
from app.workers.requests.decode import ManyAnswer
from engine.decoding.values import Finish, SampleOutcome


@pytest.fixture
def page(qtbot):
    page = ManySeedsPage()
    qtbot.addWidget(page)
    page.resize(700, 300)
    page.show()
    outcomes = tuple(SampleOutcome(seed, "abc", Finish.STOP, matches=True, tokens=3) for seed in (7, 8))
    page.show_answer(ManyAnswer(outcomes, 2, done=True))
    return page


def opened_menu(page):
    """Open the menu of the current row by its key."""
    place = page.table.visualRect(page.table.currentIndex()).center()
    reason = QContextMenuEvent.Reason.Keyboard
    event = QContextMenuEvent(reason, place, page.table.viewport().mapToGlobal(place))
    QApplication.sendEvent(page.table.viewport(), event)
    return page.findChild(QMenu)


def test_the_menu_opens_a_row_as_a_trace_unless_it_cannot_be_made_again(qtbot, page):
    page.table.selectRow(1)
    menu = opened_menu(page)
    with qtbot.waitSignal(page.opened) as opened:
        menu.actions()[0].trigger()
    menu.close()
    assert opened.args == [page.model.outcome(1)]
    qtbot.waitUntil(lambda: page.findChild(QMenu) is None)
    page.show_settings(("other", "settings"))
    menu = opened_menu(page)
    assert not menu.actions()[0].isEnabled()
    menu.close()


def test_a_double_click_opens_a_row(qtbot, page):
    place = page.table.visualRect(page.model.index(0, 1)).center()
    qtbot.mouseClick(page.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    with qtbot.waitSignal(page.opened) as opened:
        qtbot.mouseDClick(page.table.viewport(), Qt.MouseButton.LeftButton, pos=place)
    assert opened.args == [page.model.outcome(0)]


def test_kept_outputs_are_compared_with_those_of_another_setting(page):
    page.table.selectRow(0)
    menu = opened_menu(page)
    menu.actions()[-1].trigger()
    menu.close()
    assert page.comparison.isVisible()
    others = [SampleOutcome(seed, "ab", Finish.LENGTH, matches=False, tokens=2 + seed % 2) for seed in range(30)]
    page.show_answer(ManyAnswer(tuple(others), 30, done=True))
    finished, matching, tokens = page.comparison.text().split("\n")
    differs = ui_text("generation.many.verdict.fragment.differs")
    assert matching.endswith(differs)
    assert finished.endswith(differs)
    assert tokens.endswith(differs)
    page.show_answer(
        ManyAnswer(tuple(replace(one, seed=one.seed + 2) for one in page.model.outcomes[:1]), 1, done=True)
    )
    assert differs not in page.comparison.text().split("\n")[2]
