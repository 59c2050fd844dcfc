"""A strategy for forced runs of an extension: on the command line, in documents, in the window, on a shared page."""

import json

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from app.catalogue import ui_text
from app.panes.forced.pane import Page
from app.panes.generation.processors_dialog import ProcessorsDialog
from app.panes.generation.processors_format import summary
from engine.cli.main import main
from engine.compile import compile_grammar
from engine.decoding.forced.strategies import STRATEGIES
from engine.decoding.generate import generate_fast_forward
from engine.decoding.pipeline_settings import PipelineSettings
from engine.diagnosis.share_page.page_data import build_page_data
from engine.document.codec import DocumentError, decode, encode
from engine.document.content import DocumentFile, GrammarPart, ModelPart
from engine.models import load_model
from engine.source import InvariantError
from engine.source.catalogue import catalogue_text
from tests.extension.windows import PATIENCE_MS, run_by_keys, window

__all__ = ["window"]

STRATEGY = "shortest-tokens"
GENERATE = ("generate", "--model", "records", "--notation", "regex", "--grammar", "name: (John|Paul)", "--json")


@pytest.fixture
def settings():
    return PipelineSettings(forced=STRATEGY)


def tokens_without_model(capsys, *options):
    assert main((*GENERATE, *options)) == 0
    steps = json.loads(capsys.readouterr().out)["steps"]
    return [step["token"] for step in steps if step["p"] is None]


def test_it_is_the_last_in_lists():
    assert STRATEGIES.names[-1] == STRATEGY


def test_generate_takes_runs_with_it(capsys):
    taken = tokens_without_model(capsys, "--forced", STRATEGY)
    assert taken[: len("name: ")] == list("name: ")
    assert len(tokens_without_model(capsys, "--forced", "longest")) < len(taken)
    assert tokens_without_model(capsys) == []


def test_the_help_names_it(capsys):
    with pytest.raises(SystemExit):
        main(("generate", "--help"))
    assert STRATEGY in capsys.readouterr().out


def test_forced_measures_it(capsys):
    assert main(("forced", *GENERATE[1:], "--max-tokens", "20")) == 0
    measured = json.loads(capsys.readouterr().out)["strategies"]
    assert [one["strategy"] for one in measured] == list(STRATEGIES.names)
    assert measured[-1]["saved"] > 0


def test_it_queries_no_model():
    grammar, model = compile_grammar("regex", "name"), load_model("records")
    made = generate_fast_forward(grammar, model, STRATEGY)
    assert made.generation.text == "name"
    assert [step.token for step in made.generation.steps[:4]] == [b"n", b"a", b"m", b"e"]
    assert made.calls == 0


def test_a_document_and_the_shared_page_name_it(settings):
    document = DocumentFile(pipeline=settings)
    assert json.loads(encode(document))["pipeline"]["forced"] == STRATEGY
    assert decode(encode(document), "a") == document
    name = catalogue_text("share.fragment.processor.forced", strategy=STRATEGIES[STRATEGY].title)
    assert catalogue_text("share.fragment.processors", names=name) in build_page_data(document, None, None)["facts"]


def test_a_document_with_a_strategy_that_is_not_installed_is_refused(settings):
    data = encode(DocumentFile(pipeline=settings)).replace(STRATEGY.encode(), b"missing")
    with pytest.raises(DocumentError) as error:
        decode(data, "a")
    assert error.value.key == "errors.document.damaged"
    with pytest.raises(InvariantError) as invariant:
        PipelineSettings(forced="missing")
    assert invariant.value.key == "errors.decoding.unknown_strategy"
    assert STRATEGY in invariant.value.fields["names"]


def test_the_dialog_selects_it(qtbot, settings):
    dialog = ProcessorsDialog()
    qtbot.addWidget(dialog)
    dialog.show()
    with qtbot.waitSignal(dialog.edited) as edited:
        dialog.forced.setFocus()
        QTest.keyClick(dialog.forced, Qt.Key.Key_End)
    assert edited.args == [settings]
    name = STRATEGIES[STRATEGY].title
    assert summary(settings) == ui_text("generation.processors.fragment.forced", strategy=name)


def test_the_window_steps_with_it(window, qtbot):
    session = window.session
    session.start()
    session.document.replace(
        DocumentFile(grammar=GrammarPart("regex", "name: (John|Paul)"), model=ModelPart("records"))
    )
    run_by_keys(window, qtbot, "view.forced")
    pane = window.panes.view("forced")
    qtbot.waitUntil(pane.isVisible, timeout=PATIENCE_MS)
    QTest.keyClick(pane.strategy, Qt.Key.Key_End)
    assert pane.strategy.currentText() == STRATEGIES[STRATEGY].title
    qtbot.waitUntil(lambda: session.decoding.view.pipeline.forced == STRATEGY, timeout=PATIENCE_MS)
    assert session.document.content.pipeline.forced == STRATEGY
    qtbot.waitUntil(lambda: not session.step_refusal, timeout=PATIENCE_MS)
    run_by_keys(window, qtbot, "run.step")
    qtbot.waitUntil(lambda: bool(session.decoding.view.trace.path), timeout=PATIENCE_MS)
    trace = session.decoding.view.trace
    tokens = {node.id: node.step.token for node in trace.nodes}
    assert [tokens[node] for node in trace.path] == [bytes((byte,)) for byte in b"name: "]
    pane.switches.button(Page.STRATEGIES).click()
    QTest.mouseClick(pane.strategies.measure, Qt.MouseButton.LeftButton)
    table = pane.strategies.table
    qtbot.waitUntil(lambda: table.rowCount() == len(STRATEGIES), timeout=PATIENCE_MS)
    assert table.item(len(STRATEGIES) - 1, 0).text() == STRATEGIES[STRATEGY].title
