"""Every command of the toolbar stays in sight, whatever the document, the notation and the model are called."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton, QWidget

from app import theme
from app.catalogue import ui_text
from app.commands import Commands
from app.theme.mnemonics import without_mnemonic
from app.window.toolbar import Toolbar

MODEL = "SmolLM2-135M-Instruct"
MOST_CUT = len("llama… ▾")


@pytest.fixture
def toolbar(qtbot, qapp):
    theme.prepare(qapp, "light")
    owner = QWidget()
    qtbot.addWidget(owner)
    toolbar = Toolbar(Commands(owner))
    toolbar.owner = owner
    qtbot.addWidget(toolbar)
    theme.apply_font(toolbar)  # the sheet's margins count
    toolbar.show_document("People", is_modified=False)
    toolbar.show_notation(ui_text("common.notation.regex_python"), "")
    toolbar.show_target(ui_text("window.target.standard"), "")
    toolbar.show_model(MODEL, f"{MODEL}: 49,152 tokens")
    toolbar.resize(1600, 46)
    toolbar.show()
    qtbot.waitExposed(toolbar)
    return toolbar


def out_of_sight(qtbot, toolbar):
    """Return the commands that have neither a button nor an entry in the menu of rare ones."""
    qtbot.turns()
    more = toolbar.more_button
    in_menu = set() if more.isHidden() else {without_mnemonic(action.text()) for action in more.menu().actions()}
    return [
        button.accessibleName()
        for button in toolbar.findChildren(QToolButton)
        if button.isHidden() and button.objectName() != "qt_toolbar_ext_button" and button is not more
        if button.accessibleName() not in in_menu
    ]


def test_a_wide_one_says_everything(qtbot, toolbar):
    assert toolbar.model_button.text() == f"{MODEL} ▾"
    assert toolbar.check_button.toolButtonStyle() is Qt.ToolButtonStyle.ToolButtonTextBesideIcon
    assert out_of_sight(qtbot, toolbar) == []


def test_a_long_model_name_does_not_push_export_away(qtbot, toolbar):
    toolbar.show_document("Tool calls of an assistant", is_modified=True)
    toolbar.resize(1280, 46)
    assert out_of_sight(qtbot, toolbar) == []
    assert toolbar.check_button.toolButtonStyle() is Qt.ToolButtonStyle.ToolButtonIconOnly
    assert toolbar.model_button.text() == f"{MODEL} ▾"  # without the texts of four buttons there is room for it


def test_names_are_cut_where_icons_are_not_enough_and_whole_again_later(qtbot, toolbar):
    toolbar.resize(1280, 46)
    toolbar.show_notation(ui_text("common.notation.regex_ecma"), "")
    toolbar.show_document("MEMORANDUM OF A WHOLE MONTH, MOSTLY", is_modified=True)
    assert out_of_sight(qtbot, toolbar) == []
    assert "…" in toolbar.document_button.text()
    assert toolbar.document_button.text().endswith("• ▾")
    assert toolbar.document_button.toolTip().startswith("MEMORANDUM OF A WHOLE MONTH, MOSTLY")
    toolbar.resize(1000, 46)
    assert out_of_sight(qtbot, toolbar) == []
    assert "…" in toolbar.model_button.text()
    assert MODEL in toolbar.model_button.toolTip()
    toolbar.resize(1600, 46)
    toolbar.show_document("People", is_modified=False)
    assert toolbar.document_button.text() == "People ▾"
    assert toolbar.model_button.text() == f"{MODEL} ▾"


def test_rare_commands_are_in_a_menu_before_names_are_cut(qtbot, toolbar):
    qtbot.turns()
    assert toolbar.more_button.isHidden()
    toolbar.resize(1000, 46)
    assert out_of_sight(qtbot, toolbar) == []
    assert not toolbar.more_button.isHidden()
    assert toolbar.document_button.text() == "People ▾"
    assert toolbar.notation_button.text() == f"{ui_text('common.notation.regex_python')} ▾"
    toolbar.show_document("A document with a long name", is_modified=True)
    toolbar.show_target("llama.cpp b10050", "")
    toolbar.resize(900, 46)
    assert out_of_sight(qtbot, toolbar) == []
    names = (toolbar.document_button, toolbar.notation_button, toolbar.target_button, toolbar.model_button)
    assert all(len(button.text()) >= MOST_CUT for button in names)
    toolbar.resize(1600, 46)
    qtbot.turns()
    assert toolbar.more_button.isHidden()


def test_the_neighbours_of_run_stay_where_they_are_while_it_runs(qtbot, toolbar):
    qtbot.turns()
    before = toolbar.until_button.x()
    toolbar.show_running(True)
    qtbot.turns()
    assert toolbar.run_button.text() == "Pause"
    assert toolbar.until_button.x() == before
    toolbar.show_running(False)
    qtbot.turns()
    assert toolbar.until_button.x() == before
