"""A stage of an extension that reads the tokens so far: its number in the dialog, in documents and in the draw."""

import json
from itertools import pairwise

import pytest

from app.catalogue import ui_text
from app.panes.generation.processors_dialog import ProcessorsDialog
from engine.cli.main import main
from engine.decoding.pipeline_settings import PipelineSettings
from engine.diagnosis.share_page.page_data import build_page_data
from engine.document.codec import decode, encode
from engine.document.content import DocumentFile
from engine.source.catalogue import catalogue_text


@pytest.fixture
def settings():
    return PipelineSettings(others={"no_repeat": 1000.0})


def test_the_dialog_edits_it(qtbot, settings):
    dialog = ProcessorsDialog()
    qtbot.addWidget(dialog)
    dialog.show()
    dialog.select("no-repeat")
    with qtbot.waitSignal(dialog.edited) as edited:
        dialog.fields.widget_of("no_repeat").setValue(1000)
    assert edited.args == [settings]


def test_a_document_stores_it_and_the_shared_page_names_it(settings):
    document = DocumentFile(pipeline=settings)
    assert decode(encode(document), "a").pipeline == settings
    title = ui_text("generation.field.no_repeat")
    names = title[:1].lower() + title[1:]
    assert catalogue_text("share.fragment.processors", names=names) in build_page_data(document, None, None)["facts"]


@pytest.mark.parametrize(("options", "repeats"), [((), True), (("--no-repeat", "1000"), False)])
def test_the_command_line_draws_with_it(capsys, options, repeats):
    command = ("generate", "--model", "shakespeare", "--notation", "regex", "--grammar", "[lo]{40}", "--seed", "1")
    assert main((*command, "--json", *options)) == 0
    text = json.loads(capsys.readouterr().out)["text"]
    assert any(one == other for one, other in pairwise(text)) == repeats
