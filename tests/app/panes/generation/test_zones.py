"""The zones of an output as fields, driven by mouse and keys."""

import pytest
from catalogue_texts import text_pattern
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest

from app.catalogue import ui_text
from app.panes.generation.processors_fields import ZoneFields
from app.panes.generation.processors_format import UnreadableError
from engine.decoding.pipeline_settings import Afterwards, OtherZone, ZoneSettings
from engine.notations import NOTATIONS

ALL = ZoneSettings(
    "n=",
    until=";",
    then=Afterwards.AGAIN,
    required=False,
    others=(
        OtherZone("gbnf", 'root ::= "a"\n', "<call>", "<tool>", "</call>"),
        OtherZone(after="/*", until="*/"),
        OtherZone("json_schema", "{}", after_token="<json>"),
    ),
)


@pytest.fixture
def fields(qtbot):
    fields = ZoneFields()
    qtbot.addWidget(fields)
    fields.resize(400, 400)
    fields.show()
    qtbot.waitExposed(fields)
    return fields


def tick(box):
    QTest.mouseClick(box, Qt.MouseButton.LeftButton, pos=QPoint(8, box.height() // 2))


def click(button):
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)


def after(trigger):
    return ui_text("generation.zone.fragment.after", text=trigger)


def names(fields):
    return [fields.chosen.itemText(place) for place in range(fields.chosen.count())]


def test_settings_go_through_the_fields_unchanged(qtbot, fields):
    with qtbot.assertNotEmitted(fields.edited):
        fields.show_zones(ALL)
    assert fields.zones() == ALL
    assert names(fields) == [
        ui_text("generation.zone.own", trigger=after("n=")),
        f"2 · GBNF, {after('<call> or <tool>')}",
        f"3 · {ui_text('generation.zone.free')}, {after('/*')}",
        f"4 · JSON Schema, {after('<json>')}",
    ]
    fields.show_zones(ZoneSettings("x"))
    assert fields.zones() == ZoneSettings("x")
    fields.show_zones(None)
    assert fields.zones() is None
    assert not fields.after.isEnabled()
    tick(fields.is_partial)
    assert fields.zones() == ZoneSettings("x")
    fields.clear()
    assert fields.zones() is None


def test_a_zone_is_added_and_typed(qtbot, fields):
    tick(fields.is_partial)
    QTest.keyClicks(fields.after, "n=")
    with qtbot.waitSignal(fields.edited):
        click(fields.add)
    (other,) = fields.others
    assert other.after.hasFocus()
    assert fields.chosen.currentIndex() == 1
    with pytest.raises(UnreadableError, match=f"zone 2: {text_pattern('errors.decoding.zones.no_trigger')}"):
        fields.zones()
    QTest.keyClicks(other.after, "<call>")
    with pytest.raises(UnreadableError, match=f"zone 2: {text_pattern('errors.decoding.zones.no_grammar')}"):
        fields.zones()
    other.text.setFocus()
    with qtbot.waitSignal(fields.edited):
        QTest.keyClicks(other.text, "[0-9]+")
    QTest.keyClicks(other.until, ";")
    assert fields.zones() == ZoneSettings("n=", others=(OtherZone("regex", "[0-9]+", "<call>", until=";"),))
    assert names(fields)[1] == f"2 · {NOTATIONS['regex'].title}, {after('<call>')}"


def test_free_text_has_no_grammar_but_a_closing_text(fields):
    tick(fields.is_partial)
    QTest.keyClicks(fields.after, "n=")
    click(fields.add)
    (other,) = fields.others
    QTest.keyClicks(other.after, "/*")
    other.notation.setFocus()
    QTest.keyClick(other.notation, Qt.Key.Key_End)
    other.notation.activated.emit(other.notation.currentIndex())
    assert not other.text.isVisible()
    with pytest.raises(UnreadableError, match=text_pattern("errors.decoding.zones.no_end")):
        fields.zones()
    QTest.keyClicks(other.until, "*/")
    assert fields.zones().others == (OtherZone(after="/*", until="*/"),)


def test_a_zone_is_removed_and_the_one_before_shown(qtbot, fields):
    fields.show_zones(ALL)
    fields.chosen.setFocus()
    assert not fields.remove.isEnabled()
    QTest.keyClick(fields.chosen, Qt.Key.Key_Down)
    QTest.keyClick(fields.chosen, Qt.Key.Key_Down)
    assert fields.others[1].isVisible()
    with qtbot.waitSignal(fields.edited):
        click(fields.remove)
    assert fields.zones().others == (ALL.others[0], ALL.others[2])
    assert fields.others[0].isVisible()
    click(fields.remove)
    click(fields.remove)
    assert fields.others[0].isVisible() or fields.after.isVisible()


def test_there_is_an_end_to_adding(fields):
    fields.show_zones(ZoneSettings("n="))
    for _ in range(8):
        click(fields.add)
    assert len(fields.others) == 8
    assert not fields.add.isEnabled()
