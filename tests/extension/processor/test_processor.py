"""A logits processor of an extension: its page in the dialog, its option, its field in documents, and its steps."""

import json

import pytest
from catalogue_texts import text_pattern
from PySide6.QtCore import Qt

from app.catalogue import ui_text
from app.panes.generation.processors_dialog import ProcessorsDialog
from app.panes.generation.processors_format import summary
from engine.cli.main import main
from engine.compile import compile_grammar
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.session.session import DecodeSession
from engine.decoding.stage_texts import stage_title
from engine.decoding.stages import STAGES, sampler_stages
from engine.document.codec import DocumentError, decode, encode
from engine.document.content import DocumentFile
from engine.models import load_model

STAGE = "longest-token"


@pytest.fixture
def settings():
    return PipelineSettings(others={"longest_token": 1})


def test_it_is_before_the_sampler_in_the_default_order():
    first = next(sampler_stages())
    assert STAGES.names[STAGES.names.index(first.name) - 1] == STAGE


def test_the_dialog_has_a_page_of_it(qtbot, settings):
    dialog = ProcessorsDialog()
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.select(STAGE)
    item = dialog.stages.currentItem()
    assert dialog.item_text(STAGE) == stage_title(STAGE)
    length = dialog.fields.widget_of("longest_token")
    assert length.isVisible()
    assert length.accessibleName() == ui_text("generation.field.longest_token")
    assert length.suffix() == " bytes"
    with qtbot.waitSignal(dialog.edited) as edited:
        length.setFocus()
        qtbot.keyClick(length, Qt.Key.Key_Up)
    assert edited.args == [settings]
    assert item.checkState() is Qt.CheckState.Checked
    length.setValue(0)
    missing = ui_text("generation.stage.longest_token.fragment.missing")
    assert dialog.problems == {STAGE: missing}


def test_it_is_shown_in_the_summary(settings):
    assert summary(settings) == ui_text("generation.stage.longest_token.fragment.summary", value="1 bytes")


def test_a_document_stores_it(settings):
    data = encode(DocumentFile(pipeline=settings))
    assert json.loads(data)["pipeline"]["others"] == {"longest_token": 1}
    assert decode(data, "a").pipeline == settings


def test_a_document_says_which_setting_no_stage_has():
    data = encode(DocumentFile()).replace(b'"others": {}', b'"others": {"missing_one": 1}')
    with pytest.raises(DocumentError, match=text_pattern("errors.decoding.stages.unknown_field", name="'missing_one'")):
        decode(data, "a")


def test_a_step_takes_no_longer_token(settings):
    model, grammar = load_model("records"), compile_grammar("regex", "(id|name)=[a-z]+")
    assert DecodeSession(grammar, model, pipeline=settings).step().token in (b"i", b"n")


def test_the_command_line_has_its_option(capsys):
    options = (
        "generate",
        "--model",
        "records",
        "--notation",
        "regex",
        "--grammar",
        "the [a-z]{8}",
        "--json",
        "--greedy",
    )
    lengths = []
    for more in ((), ("--longest-token", "1")):
        assert main((*options, *more)) == 0
        steps = json.loads(capsys.readouterr().out)["steps"]
        lengths.append(max(len(step["token"]) for step in steps if not step["token"].startswith("<")))
    assert lengths[0] > lengths[1] == 1
    for wrong in ("65", "1.5", "-1"):
        with pytest.raises(SystemExit):
            main((*options, "--longest-token", wrong))
        assert "--longest-token" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        main(("generate", "--help"))
    assert STAGES[STAGE].fields[0].option in capsys.readouterr().out
