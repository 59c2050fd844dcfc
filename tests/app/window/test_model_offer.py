"""A text that the model cannot even begin."""

from __future__ import annotations

from PySide6.QtCore import Qt

from app.catalogue import ui_text


def write(desk, text: str) -> None:
    """Type a text in the place of the one in the editor."""
    edit = desk.panes.editor.edit
    edit.setFocus()
    desk.qtbot.keyClick(edit, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    desk.qtbot.keyClicks(edit, text)


def test_another_model_is_a_click_away(desk):
    desk.open("a+")
    banner = desk.panes.generation.banner
    write(desk, "\\xe9+")
    desk.wait(banner.isVisible)
    assert banner.text() == ui_text("window.model.unsuitable", name="Letters")
    assert banner.detail_label.text() == ui_text("window.model.no_token_for", text="é", tokens=98)
    desk.qtbot.mouseClick(banner.button, Qt.MouseButton.LeftButton)
    desk.wait(lambda: desk.session.decoding.view.model.spec == "records")
    assert not banner.isVisible()
    assert desk.settings.preferences.model == "records"


def test_the_offer_goes_with_its_reason(desk):
    desk.open("a+")
    banner = desk.panes.generation.banner
    write(desk, "\\xe9+")
    desk.wait(banner.isVisible)
    write(desk, "b+")
    desk.wait(lambda: not desk.session.step_refusal)
    assert not banner.has_action
    write(desk, "(?!)")
    desk.wait(lambda: "No text matches" in desk.panes.generation.headline.text)
    assert not banner.has_action, "no model could"
