import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from app.catalogue import ui_text
from app.panes.generation.prompt_box import PromptBox
from engine.decoding.values import Chat

KEY = "sk-" + "proj-AbC123dEf456GhI789jKl012"
CHAT = Chat((("system", "Be terse."), ("user", "Describe Paul.")), "Sure: ")


@pytest.fixture
def box(qtbot):
    box = PromptBox()
    qtbot.addWidget(box)
    box.show()
    return box


def test_it_starts_folded_and_a_click_opens_it(qtbot, box):
    assert box.text.isHidden() or not box.text.isVisible()
    qtbot.mouseClick(box.summary, Qt.MouseButton.LeftButton)
    assert box.text.isVisible()
    qtbot.mouseClick(box.fold, Qt.MouseButton.LeftButton)
    assert not box.text.isVisible()


def test_typing_is_reported_once_it_rests(qtbot, box):
    box.fold.setChecked(True)
    heard = []
    box.edited.connect(heard.append)
    with qtbot.waitSignal(box.edited):
        qtbot.keyClicks(box.text, "Paul")
    assert heard == ["Paul"]


def test_a_commit_does_not_wait_and_reports_a_change_once(qtbot, box):
    heard = []
    box.edited.connect(heard.append)
    box.text.setPlainText("Paul")
    box.commit()
    box.commit()
    assert heard == ["Paul"]


def test_a_view_does_not_overwrite_what_is_being_typed(qtbot, box):
    box.text.setPlainText("Pau")
    box.show_prompt("old", ())
    assert box.prompt() == "Pau"
    box.commit()
    box.show_prompt("new", ())
    assert box.prompt() == "new"


def test_a_shown_prompt_is_not_reported_back(qtbot, box):
    with qtbot.assertNotEmitted(box.edited):
        box.show_prompt("A prompt", ((1, "A"), (2, "␣prompt")))
        box.commit()
        box.show_prompt(CHAT, ())
        box.commit()
    assert box.prompt() == CHAT
    assert "Describe Paul." in box.summary.text()


def test_a_chat_needs_a_template(box):
    assert box.as_chat.isHidden()
    box.set_can_chat(True)
    assert not box.as_chat.isHidden()


def test_going_over_to_chat_takes_the_text_along(qtbot, box):
    box.set_can_chat(True)
    box.text.setPlainText("Describe Paul.")
    box.commit()
    with qtbot.waitSignal(box.edited) as edited:
        qtbot.mouseClick(box.as_chat, Qt.MouseButton.LeftButton)
    assert edited.args == [Chat((("user", "Describe Paul."),), "")]


def test_what_the_model_sees(qtbot, box):
    box.fold.setChecked(True)
    box.show_prompt("A prompt", ((1, "A"), (2, "␣prompt")))
    assert box.sees.text().endswith(ui_text("generation.prompt.sees", count=2))
    qtbot.mouseClick(box.sees, Qt.MouseButton.LeftButton)
    assert box.tokens.isVisible()


def test_an_open_prompt_is_as_high_as_its_fields(qtbot, box):
    box.fold.setChecked(True)
    qtbot.waitExposed(box)
    assert box.sees.y() - box.text.geometry().bottom() < 2 * box.text.fontMetrics().lineSpacing()
    assert box.text.parentWidget().height() == box.text.height()


def paste(field, text):
    QGuiApplication.clipboard().setText(text)
    field.paste()


@pytest.mark.parametrize("name", ["text", "system", "user", "assistant"])
def test_a_pasted_key_reaches_neither_the_prompt_nor_undo(box, name):
    heard, drafts, field = [], [], getattr(box, name)
    box.secrets_removed.connect(heard.append)
    box.drafted.connect(drafts.append)
    (box.as_text if name == "text" else box.as_chat).setChecked(True)
    paste(field, f"Use {KEY} here")
    box.commit()
    assert KEY not in repr(box.prompt())
    assert "here" in repr(box.prompt())
    assert KEY not in repr(drafts)
    assert heard == [1]
    field.undo()
    field.redo()
    box.commit()
    assert KEY not in repr(box.prompt())


def test_what_is_typed_in_a_prompt_stays(qtbot, box):
    box.fold.setChecked(True)
    qtbot.keyClicks(box.text, f"Use {KEY} here")
    box.commit()
    assert box.prompt() == f"Use {KEY} here"
