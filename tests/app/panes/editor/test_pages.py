"""The pages under the text, with a real pointer."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QLabel, QPlainTextEdit

from app.panes.editor.pages import Pages
from app.widgets.lazy import Lazy


@pytest.fixture
def pages(qtbot) -> Pages:
    pages = Pages(QPlainTextEdit())
    qtbot.addWidget(pages)
    pages.first, pages.made = QLabel("first"), []

    def make() -> QLabel:
        pages.made.append(QLabel("late"))
        return pages.made[-1]

    pages.late = Lazy(make)
    pages.add_page(pages.first, "First")
    pages.add_page(pages.late, "Lazy")
    pages.resize(400, 500)
    pages.show()
    qtbot.waitExposed(pages)
    return pages


def click(qtbot, pages: Pages, index: int) -> None:
    bar = pages.tabs.tabBar()
    qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(index).center())


def heights(pages: Pages) -> tuple[int, int]:
    text, tabs = pages.sizes()
    return text, tabs


def test_folded_at_first_and_nothing_is_built(pages) -> None:
    assert pages.current is None
    assert pages.made == []
    assert heights(pages)[1] == pages.tabs.tabBar().sizeHint().height()


def test_a_click_unfolds_another_changes_a_third_folds(pages, qtbot) -> None:
    with qtbot.waitSignal(pages.shown) as told:
        click(qtbot, pages, 0)
    assert told.args == [pages.first]
    assert pages.first.isVisible()
    assert heights(pages)[1] > 150
    with qtbot.waitSignal(pages.shown) as told:
        click(qtbot, pages, 1)
    assert told.args == [pages.made[0]]
    qtbot.waitUntil(pages.made[0].isVisible)
    with qtbot.waitSignal(pages.shown) as told:
        click(qtbot, pages, 1)
    assert told.args == [None]
    assert pages.current is None
    assert not pages.made[0].isVisible()
    click(qtbot, pages, 1)
    assert len(pages.made) == 1


def test_a_page_that_is_open_and_goes_folds(pages) -> None:
    pages.open(pages.late)
    pages.set_page_visible(pages.late, False)
    assert pages.current is None
    assert not pages.tabs.isTabVisible(1)
    pages.set_page_visible(pages.late, True)
    assert pages.tabs.isTabVisible(1)
    assert pages.current is None


def test_toggling(pages) -> None:
    pages.toggle(pages.first)
    assert pages.current is pages.first
    pages.toggle(pages.late)
    assert pages.current is pages.late.built
    pages.toggle(pages.late)
    assert pages.current is None


def test_the_height_that_the_user_drew_stays(pages, qtbot) -> None:
    pages.open(pages.first)
    handle = pages.handle(1)
    before = pages.tabs.height()
    qtbot.mousePress(handle, Qt.MouseButton.LeftButton, pos=QPoint(5, 0))
    qtbot.mouseMove(handle, QPoint(5, -60))
    qtbot.mouseRelease(handle, Qt.MouseButton.LeftButton, pos=QPoint(5, -60))
    drawn = pages.tabs.height()
    assert drawn > before
    pages.collapse()
    pages.open(pages.first)
    assert pages.tabs.height() == drawn
    pages.resize(400, 520)
    assert pages.tabs.height() == drawn


def test_what_was_open_is_opened_again(pages, qtbot) -> None:
    assert pages.save() == {"editor pages": b"\n0"}
    pages.open(pages.late)
    pages.moveSplitter(pages.height() - 200, 1)
    height = pages.tabs.height()
    saved = pages.save()
    pages.restore({"editor pages": b"\n0"})
    pages.collapse()
    pages.restore(saved)
    assert pages.current is pages.late.built
    assert saved["editor pages"].endswith(f"\n{height}".encode())
    assert pages.tabs.height() == height


@pytest.mark.parametrize(
    "saved", [{}, {"editor pages": b""}, {"editor pages": b"Gone\nx"}, {"editor pages": b"\xff\n-3"}]
)
def test_what_cannot_be_restored_leaves_the_pages_folded(pages, saved) -> None:
    pages.restore(saved)
    assert pages.current is None
