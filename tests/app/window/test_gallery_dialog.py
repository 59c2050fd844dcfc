"""The gallery, driven as a person does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QPoint, Qt

from app import theme
from app.catalogue import ui_text
from app.dialogs.gallery_dialog import COUNT, GalleryDialog
from app.document.gallery import CATEGORIES, examples

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def gallery(qtbot, qapp) -> Iterator[GalleryDialog]:
    theme.apply(qapp, "light")
    dialog = GalleryDialog()
    dialog.show()
    qtbot.waitExposed(dialog)
    dialog.activateWindow()
    qtbot.waitUntil(dialog.field.hasFocus)
    yield dialog
    dialog.close()
    dialog.deleteLater()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)


def click(qtbot, view, row: int) -> None:
    qtbot.mouseClick(view.viewport(), LEFT, pos=view.visualItemRect(view.item(row)).center())


def titles(gallery: GalleryDialog) -> list[str]:
    return [gallery.list.item(row).text() for row in range(gallery.list.count())]


def test_it_opens_with_all_of_them_and_the_first_one_seen(gallery):
    assert titles(gallery) == [example.title for example in examples()]
    assert gallery.preview.source.toPlainText() == examples()[0].source
    assert gallery.field.hasFocus()
    assert gallery.categories.item(0).data(COUNT) == str(len(examples()))


def test_a_category_shows_its_own(gallery, qtbot):
    click(qtbot, gallery.categories, 1 + CATEGORIES.index("sql"))
    assert titles(gallery) == [example.title for example in examples() if example.category == "sql"]
    click(qtbot, gallery.list, 1)
    example = gallery.chosen
    assert example.title == titles(gallery)[1]
    assert gallery.preview.title.text() == example.title
    assert gallery.preview.description.text() == example.description
    assert gallery.preview.source.toPlainText() == example.source.rstrip("\n")
    assert gallery.preview.tests.count() == len(example.test_strings)


def test_typing_filters_and_return_opens(gallery, qtbot):
    opened = []
    gallery.opened.connect(opened.append)
    qtbot.keyClicks(gallery.field, "tool calls gbnf")
    assert {example.title for example in examples() if example.rank("tool calls gbnf")} == set(titles(gallery))
    qtbot.keyClick(gallery.field, Qt.Key.Key_Down)
    wanted = titles(gallery)[1]
    qtbot.keyClick(gallery.field, Qt.Key.Key_Return)
    assert [example.title for example in opened] == [wanted]
    assert not gallery.isVisible()


def test_the_selected_one_stays_while_it_is_there(gallery, qtbot):
    row = titles(gallery).index("A semantic version")
    gallery.list.setCurrentRow(row)
    qtbot.keyClicks(gallery.field, "version")
    assert len(titles(gallery)) > 1
    assert gallery.chosen.title == "A semantic version"


@pytest.mark.parametrize(
    ("typed", "first"),
    [("character", "A character sheet"), ("dates", "A date in ISO 8601"), ("semantic", "A semantic version")],
)
def test_the_one_that_is_meant_is_first_and_selected(gallery, qtbot, typed, first):
    qtbot.keyClicks(gallery.field, typed)
    assert titles(gallery)[0] == first
    assert gallery.chosen.title == first


def test_every_test_has_a_tick_and_says_whether_its_text_is_accepted(gallery):
    tests = gallery.preview.tests
    expected = [one.accepts for one in gallery.chosen.document().test_strings]
    assert len(set(expected)) == 2
    for row, accepts in enumerate(expected):
        assert not tests.item(row).icon().isNull()
        word = ui_text(f"test_strings.table.fragment.{'accepted' if accepts else 'refused'}")
        assert tests.item(row).text().startswith(f"{word} ")


def test_what_a_category_lacks_is_looked_for_in_all(gallery, qtbot):
    click(qtbot, gallery.categories, 1 + CATEGORIES.index("chess"))
    qtbot.keyClicks(gallery.field, "crontab")
    assert titles(gallery) == ["A line of a crontab"]
    assert gallery.categories.currentRow() == 0


def test_nothing_found_says_so_and_offers_a_way_back(gallery, qtbot):
    qtbot.keyClicks(gallery.field, "zebra")
    assert gallery.chosen is None
    assert gallery.nothing.isVisible()
    assert "zebra" in gallery.nothing.text()
    assert not gallery.open_button.isEnabled()
    qtbot.keyClick(gallery.field, Qt.Key.Key_Return)
    assert gallery.isVisible()
    qtbot.mouseClick(gallery.clear_button, LEFT)
    assert len(titles(gallery)) == len(examples())
    assert gallery.field.hasFocus()


def test_a_double_click_opens_and_escape_does_not(gallery, qtbot):
    opened = []
    gallery.opened.connect(opened.append)
    at: QPoint = gallery.list.visualItemRect(gallery.list.item(2)).center()
    qtbot.mouseClick(gallery.list.viewport(), LEFT, pos=at)
    qtbot.mouseDClick(gallery.list.viewport(), LEFT, pos=at)
    assert opened == [examples()[2]]
    gallery.show()
    qtbot.keyClick(gallery.field, Qt.Key.Key_Escape)
    assert not gallery.isVisible()
    assert len(opened) == 1


def test_it_says_itself_to_a_screen_reader(gallery):
    role = Qt.ItemDataRole.AccessibleTextRole
    assert gallery.categories.item(1).data(role) == ui_text(
        "dialogs.gallery.category_name", category=ui_text("dialogs.gallery.category.first_steps"), count=4
    )
    first = examples()[0]
    assert gallery.list.item(0).data(role) == f"{first.title}, Regex: {first.description}"
    assert gallery.preview.tests.item(0).data(role).startswith("accepted ")


def test_the_window_opens_an_example_with_its_tests(desk):
    desk.open("a+b")
    dialog = desk.window.files.open_gallery()
    desk.qtbot.keyClicks(dialog.field, "semantic version")
    desk.qtbot.mouseClick(dialog.open_button, LEFT)
    assert desk.document.title == "A semantic version"
    assert desk.panes.editor.text() == desk.document.content.grammar.text
    assert not desk.document.is_modified
    desk.wait(lambda: desk.panes.view("tests").model.rowCount() and desk.panes.view("tests").model.passes(0) is True)


def test_an_example_is_opened_in_a_tab_beside_work(desk):
    desk.open("a+b")
    desk.panes.editor.edit.insertPlainText("c")
    dialog = desk.window.files.open_gallery()
    desk.qtbot.mouseClick(dialog.open_button, LEFT)
    assert [one.content.grammar.text for one in desk.document.documents] == ["ca+b", desk.panes.editor.text()]


def test_a_text_to_refuse_does_not_look_like_a_failure(gallery):
    tests = gallery.preview.tests
    refused = [item for item in map(tests.item, range(tests.count())) if item.text().startswith("refuse")]
    assert refused
    assert not any("✗" in item.text() for item in refused)
    failing = theme.colour(theme.Role.ERROR), theme.colour(theme.Role.FORBIDDEN)
    assert not any(item.foreground().color() in failing for item in refused)
