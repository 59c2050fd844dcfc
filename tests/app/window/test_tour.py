"""The tour, driven by keys and clicks."""

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.catalogue import ui_text
from app.window.tour import arrow_between, beside


@pytest.fixture
def tour(desk):
    desk.open("a+b")
    desk.activate()
    desk.window.commands["help.tour"].trigger()
    return desk.window.tour


def framed(desk, tour):
    place = tour.stops[tour.at].target
    if not place.isVisible():
        place = desk.window.toolbar  # which has no room for it in a narrow window
    return QRect(place.mapTo(desk.window, place.rect().topLeft()), place.size())


def test_five_stops_by_return_alone(desk, tour):
    seen = []
    while tour.card is not None:
        assert tour.card.next_button.hasFocus()
        seen.append(tour.at)
        assert tour.frame.target == framed(desk, tour)
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    assert seen == [0, 1, 2, 3, 4]
    assert tour.at == -1


def test_arrows_go_both_ways_and_escape_ends_it(desk, tour):
    QTest.keyClick(tour.card, Qt.Key.Key_Right)
    QTest.keyClick(tour.card, Qt.Key.Key_Right)
    assert tour.at == 2
    QTest.keyClick(tour.card, Qt.Key.Key_Left)
    assert tour.at == 1
    QTest.keyClick(tour.card.next_button, Qt.Key.Key_Escape)
    assert tour.card is None
    assert desk.window.focusWidget().isVisible()


def test_the_buttons_do_the_same(desk, tour):
    desk.qtbot.mouseClick(tour.card.next_button, Qt.MouseButton.LeftButton)
    assert tour.at == 1
    desk.qtbot.mouseClick(tour.card.back_button, Qt.MouseButton.LeftButton)
    assert tour.at == 0
    desk.qtbot.mouseClick(tour.card.skip_button, Qt.MouseButton.LeftButton)
    assert tour.card is None


def test_the_window_stays_what_it_is_meanwhile(desk, tour):
    assert not QApplication.activeModalWidget()
    tour.go_to(2)
    button = desk.window.toolbar.step_button
    place = button.mapTo(desk.window, button.rect().center())
    assert desk.window.childAt(place) is button  # the frame lets clicks through
    desk.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    desk.wait(lambda: bool(desk.output))
    assert tour.at == 2


@pytest.mark.parametrize("size", [(1600, 1000), (1280, 720), (960, 600)])
def test_every_stop_is_in_the_window_and_follows_it(desk, tour, size):
    desk.window.resize(*size)
    for number in range(len(tour.stops)):
        tour.go_to(number)
        desk.qtbot.turns()
        assert desk.window.rect().contains(tour.card.geometry())
        assert tour.frame.target == framed(desk, tour).intersected(desk.window.rect())
        assert tour.stops[number].target.isVisible() or size == (960, 600)


def test_it_follows_when_the_panes_are_arranged_anew(desk, tour):
    for size in ((1280, 720), (1600, 1000), (960, 600), (1600, 900)):
        for number in (0, 1):
            tour.go_to(number)
            desk.window.resize(*size)
            desk.qtbot.turns()
            tour.go_to(number)
            assert tour.frame.target == framed(desk, tour)


def test_it_is_told_to_a_screen_reader(desk, tour):
    told = QAccessible.queryAccessibleInterface(tour.card.next_button).text(QAccessible.Text.Description)
    assert told.startswith("Tour, 1 of 5. " + ui_text("window.tour.editor.title") + ".")


def test_it_is_offered_by_the_welcome_page_and_shows_the_panes(desk):
    desk.window.begin()
    desk.window.welcome.page.choices["help.tour"].click()
    assert desk.window.tour.at == 0
    desk.window.tour.go_to(3)
    assert desk.panes.generation.isVisible()
    assert desk.settings.preferences.welcomed


def test_starting_anew_begins_at_the_first_stop(desk, tour):
    tour.go_to(3)
    desk.window.commands["help.tour"].trigger()
    assert tour.at == 0


@pytest.mark.parametrize(
    "target",
    [QRect(0, 0, 300, 700), QRect(400, 0, 300, 700), QRect(900, 0, 380, 720), QRect(500, 10, 60, 30), QRect()],
)
def test_a_card_stands_beside_what_it_tells_of(target):
    room, card = QRect(0, 0, 1280, 720), QRect(0, 0, 340, 160)
    placed = beside(target, card, room)
    assert room.contains(placed)
    assert placed.size() == card.size()
    assert not placed.intersects(target)


def test_a_card_upon_its_place_has_no_arrow():
    room = QRect(0, 0, 1280, 720)
    placed = beside(room, QRect(0, 0, 340, 160), room)
    assert room.contains(placed)
    assert arrow_between(placed, room) is None
