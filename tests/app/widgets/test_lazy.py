"""Pages that are built when somebody looks, or asks."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel

from app.widgets.lazy import Lazy, LazyTabs


class Maker:
    def __init__(self):
        self.made = []

    def __call__(self):
        self.made.append(QLabel("late"))
        return self.made[-1]


@pytest.fixture
def maker():
    return Maker()


@pytest.fixture
def tabs(qtbot, maker):
    tabs = LazyTabs()
    qtbot.addWidget(tabs)
    tabs.late = Lazy(maker)
    tabs.addTab(QLabel("early"), "Early")
    tabs.add_lazy(tabs.late, "Lazy")
    tabs.addTab(QLabel("last"), "Last")
    tabs.show()
    return tabs


def titles(tabs):
    return [tabs.tabText(index) for index in range(tabs.count())]


def test_nothing_is_built_that_nobody_looks_at(tabs, maker):
    tabs.setCurrentIndex(2)
    assert maker.made == []
    assert titles(tabs) == ["Early", "Lazy", "Last"]


def test_a_click_on_the_tab_builds_its_page_once(qtbot, tabs, maker):
    for index in (1, 0, 1):
        qtbot.mouseClick(tabs.tabBar(), Qt.MouseButton.LeftButton, pos=tabs.tabBar().tabRect(index).center())
    assert len(maker.made) == 1
    assert tabs.currentWidget() is maker.made[0]
    assert maker.made[0].isVisible()
    assert titles(tabs) == ["Early", "Lazy", "Last"]


def test_who_asks_for_it_builds_it_behind_the_page_that_is_shown(tabs, maker):
    assert tabs.late.get() is maker.made[0]
    assert tabs.currentIndex() == 0
    assert tabs.indexOf(maker.made[0]) == 1
    assert not maker.made[0].isVisible()


def test_a_title_that_changed_meanwhile_stays(tabs):
    tabs.setTabText(1, "Late (3)")
    tabs.late.get()
    assert titles(tabs) == ["Early", "Late (3)", "Last"]


def test_a_page_that_is_there_already_is_just_a_page(qtbot, maker):
    tabs, page = LazyTabs(), Lazy(maker)
    qtbot.addWidget(tabs)
    page.get()
    tabs.add_lazy(page, "Lazy")
    assert tabs.widget(0) is maker.made[0]


def test_the_first_page_is_seen_at_once(qtbot, maker):
    tabs = LazyTabs()
    qtbot.addWidget(tabs)
    tabs.add_lazy(Lazy(maker), "Lazy")
    assert tabs.widget(0) is maker.made[0]


def test_who_waits_for_it_is_handed_it(maker):
    page, taken = Lazy(maker), []
    page.when_built(taken.append)
    assert taken == []
    page.get()
    page.when_built(taken.append)
    assert taken == maker.made * 2
