"""What opens over the window, and what stands around its panes: dialogs, alarms, menus, toolbar and status bar."""

from __future__ import annotations

from functools import partial

from decode_views import view
from PySide6.QtCore import QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFrame, QMenuBar, QWidget

import app.window.main_window  # noqa: F401 - declares all commands
from app.catalogue import ui_text
from app.commands import MENUS, Commands
from app.dialogs.attach_dialog import AttachDialog
from app.dialogs.audit_dialog import AuditDialog
from app.dialogs.equivalence_dialog import EquivalenceDialog
from app.dialogs.export_dialog import ExportDialog
from app.dialogs.gallery_dialog import GalleryDialog
from app.dialogs.infer_dialog import InferDialog
from app.dialogs.keys_dialog import KeysDialog
from app.dialogs.notation_dialog import ConversionChoice, NotationDialog
from app.dialogs.palette import CommandPalette
from app.dialogs.reduce_dialog import ReduceDialog
from app.dialogs.refactor_dialog import RefactorDialog
from app.dialogs.replay_dialog import ReplayDialog
from app.document import GrammarPart
from app.session import Notification
from app.window.banner import BannerStack
from app.window.status import StatusLine
from app.window.toolbar import Toolbar
from app.workers.diagnosing import with_diagnosis
from app.workers.exporting import export, list_exports
from app.workers.judge import convert, inferred_grammar, read, refactored_grammar
from app.workers.requests.audit import AuditAnswer, AuditedEnd, AuditedFault, AuditTokenizer
from app.workers.requests.compile import CompileRequest
from app.workers.requests.decode import ReplayAnswer, ReplayQuestion
from app.workers.requests.engines import (
    CompareEngines,
    EngineList,
    EngineRow,
    EnginesAnswer,
    FindSmallest,
    SmallestAnswer,
)
from app.workers.requests.equivalence import CompareGrammars, CompareTexts, GrammarsAnswer, RefactorGrammar, TextsAnswer
from app.workers.requests.export import ExportAnswer, ExportList, ExportOptionsMessage, ExportRequest, ListExports
from app.workers.requests.judge import ConvertRequest
from app.workers.requests.scoring import ScoreAnswer, ScoreOutput, ScoreRow
from app.workers.requests.servers import IdentifyServer, ServerAnswer
from engine.analysis.equivalence import compare_languages
from engine.compile import CompileOptions, compile_grammar
from engine.diagnosis.verdicts.replay import TokenSource, replay_text
from engine.notations import NOTATIONS
from engine.refactoring import REFACTORINGS
from engine.refactoring.difference import line_difference
from engine.servers import ServerCapabilities, ServerIdentity
from engine.servers.kinds import llama_server, vllm
from engine.source import CancelToken, Span
from engine.vocabulary import Vocabulary
from tests.app.snapshots.making import GBNF, POLL_MS, SCHEMA, State, pictured, settled, shown

_GROUPED = 'root ::= item ("," item)* # a list\nitem ::= "a" ("b" | "c")+ "d"\nother ::= "e"\n'
_OLD_SCHEMA = """{
  "$schema": "http://json-schema.org/draft-07/schema#",
  "type": "array",
  "items": [{"$ref": "#/definitions/mark", "minimum": 2}],
  "additionalItems": false,
  "definitions": {
    "mark": {"type": "integer", "maximum": 9}
  }
}"""
WROTE = '{"name": "Ada", "age": 36}'
_VOCABULARY = Vocabulary([*(bytes((byte,)) for byte in range(128)), b"name", b'": "', b"20", b"24"], [0])


class _Asked(QObject):
    """Answers an export dialog as the worker processes would."""

    def __init__(self, dialog: ExportDialog, notation: str, text: str) -> None:
        super().__init__(dialog)
        self._dialog = dialog
        self._request = CompileRequest(1, notation, text, CompileOptions())
        self._compiled = compile_grammar(notation, text)
        dialog.list_wanted.connect(self._list)
        dialog.wanted.connect(self._export)

    def _list(self, told: ExportOptionsMessage) -> None:
        found = list_exports(ListExports(self._request, told, has_model=True), self._compiled, CancelToken())
        self._dialog.show_list(found)

    def _export(self, target: str, path: str, told: ExportOptionsMessage, number: int, _needs_model: bool) -> None:
        request = ExportRequest(self._request, target, "", told, number)
        answer = export(request, self._compiled, _VOCABULARY, CancelToken())
        if path:
            said = "Read back and checked: 40 random walks agree with the engine."
            answer = ExportAnswer(target, path, number, answer.files, notes=answer.notes, checked=said)
        self._dialog.show_answer(answer)


def exporting(target: str, *, written: bool = False, text: str = GBNF, notation: str = "gbnf") -> QWidget:
    """A target of an export, as it looks and once it is written."""
    dialog = ExportDialog("A date")
    _Asked(dialog, notation, text)
    shown(dialog, 1000, 640)
    dialog.begin()
    dialog.targets.choose(target)
    if written:
        dialog.write("dates.lark")
    return settled(dialog)


def no_exports() -> QWidget:
    """A grammar of which nothing can be exported."""
    dialog = ExportDialog("A date")
    dialog.list_wanted.connect(lambda _told: dialog.show_list(ExportList((), "The grammar has an error: mend it.")))
    shown(dialog, 1000, 640)
    dialog.begin()
    return settled(dialog)


def other_notation(
    target: str, way: ConversionChoice = ConversionChoice.CONVERT, *, text: str = SCHEMA, notation: str = "json_schema"
) -> QWidget:
    """What becomes of a text in another notation."""
    examples = {"GBNF": GrammarPart("gbnf", GBNF), "Regex · Python": GrammarPart("regex", "[0-9]{4}")}
    compiled = CompileRequest(1, notation, text, CompileOptions())
    dialog = NotationDialog(compiled, GrammarPart(notation, text), examples, target)

    def show_conversion(request: ConvertRequest) -> None:
        dialog.show_conversion(convert(request, lambda one, _: compile_grammar(one.notation, one.text), CancelToken()))

    dialog.conversion_wanted.connect(show_conversion)
    dialog.reading_wanted.connect(lambda request: dialog.show_reading(read(request, CancelToken())))
    dialog.comparison_wanted.connect(lambda request: dialog.show_comparison(_compared(request)))
    dialog.show()
    dialog.begin()
    dialog.choice_buttons[way].setChecked(True)
    return settled(dialog)


def _compared(request: CompareGrammars) -> GrammarsAnswer:
    sides = (compile_grammar(one.notation, one.text, one.options) for one in (request.before, request.after))
    return GrammarsAnswer(request, compare_languages(*sides, effort=1_000))


def edited(before: str, after: str, notation: str) -> QWidget:
    """What an edit adds and removes."""
    dialog = EquivalenceDialog((ui_text("dialogs.equivalence.opened"), ui_text("dialogs.equivalence.traced")))
    requests = (CompileRequest(number, notation, text, CompileOptions()) for number, text in enumerate((before, after)))
    compared = _compared(CompareGrammars(*requests))
    dialog.wanted.connect(lambda _index: dialog.show_answer(compared))
    dialog.describe_reference(differs=True, is_version=False)
    dialog.show_difference(TextsAnswer(CompareTexts(before, after), line_difference(before, after)))
    dialog.show()
    dialog.start()
    return settled(dialog)


def refactoring(name: str, text: str, notation: str, offset: int) -> QWidget:
    """What a refactoring changes, and its proof."""
    compiled = CompileRequest(1, notation, text, CompileOptions())
    declared = REFACTORINGS[name]
    dialog = RefactorDialog(
        ui_text(f"commands.edit.{name.replace('-', '_')}.title").removesuffix("…"),
        RefactorGrammar(compiled, name, Span(offset, offset)),
        makes_name=declared.makes_name,
        keeps_language=declared.keeps_language(NOTATIONS[notation]),
    )
    dialog.rewrite_wanted.connect(lambda request: dialog.show_rewrite(refactored_grammar(request)))
    dialog.comparison_wanted.connect(lambda request: dialog.show_comparison(_compared(request)))
    dialog.show()
    dialog.begin()
    return settled(dialog)


def inferred(samples: str, notation: str = "") -> QWidget:
    """A grammar from samples."""
    dialog = InferDialog()
    dialog.wanted.connect(lambda request: dialog.show_answer(inferred_grammar(request, CancelToken())))
    dialog.show()
    dialog.samples.setPlainText(samples)
    dialog.notation.setCurrentIndex(max(0, dialog.notation.findData(notation)))  # which does not wait, unlike typing
    return settled(dialog)


def checked(output: str, *, budget: int = 0, finish: str = "", error: str = "") -> QWidget:
    """The diagnosis of an output."""
    dialog = ReplayDialog("A person")
    compiled = CompileRequest(1, "json_schema", SCHEMA, CompileOptions())

    def answer(question: ReplayQuestion) -> None:
        grammar = compile_grammar("json_schema", SCHEMA)
        tokens = TokenSource(_VOCABULARY)
        found = replay_text(grammar, output.encode(), tokens, budget=question.budget, finish=finish)
        judged = ReplayAnswer(question, error=error) if error else ReplayAnswer(question, found, "A model")
        dialog.show_answer(with_diagnosis(judged, compiled, tokens, None, CancelToken()))

    dialog.checked.connect(answer)
    dialog.budget.setValue(budget)
    dialog.finish.setCurrentIndex(dialog.finish.findData(finish))
    dialog.text.setPlainText(output)
    dialog.check_again()
    return settled(dialog)


def checked_page(page: str) -> QWidget:
    """A page of the output check that is computed on request."""
    dialog = checked(WROTE)
    assert isinstance(dialog, ReplayDialog)
    request = CompileRequest(1, "json_schema", SCHEMA, CompileOptions())
    question = ReplayQuestion(WROTE)
    if page == "scores":
        dialog.pages.setCurrentWidget(dialog.scores)
        dialog.scores.start()
        rows = (
            ScoreRow(0, 2, "1:1", '{"', 0.98, ">99.9%", 1, "", True),
            ScoreRow(2, 6, "1:3", "name", 0.31, "44.2%", 2, "id  52%", True),
            ScoreRow(6, 10, "1:7", '": "', 0.999, ">99.9%", 1, "", True),
            ScoreRow(10, 13, "1:11", "Ada", 0.0004, "97.1%", 512, "Bob  12.3%", True),
            ScoreRow(13, 17, "1:14", '", "', 0.2, "61.5% (masked)", 1, "", False),
            ScoreRow(17, 20, "1:18", "age", 0.7, "", 1, "", None),
        )
        notes = ("1:3: the model wanted the key `id` (52%) in place of `name` (31%); the grammar forbids it there",)
        dialog.show_scores(ScoreAnswer(ScoreOutput(request, question), WROTE.encode(), rows, 3, notes, 0, "A model"))
    else:
        dialog.pages.setCurrentWidget(dialog.engines)
        dialog.engines.start()
        engines = (
            EngineRow("turnstile", "0.9", "accepts 13 bytes", 13, False),
            EngineRow("llguidance", "1.3.0", "accepts 13 bytes", 13, False),
            EngineRow("outlines-core", "0.2.11", "refused: ValueError: not supported", None, False),
        )
        dialog.show_engines(EnginesAnswer(CompareEngines(request, question), engines, len(WROTE)))
    return settled(dialog)


def attaching(address: str, version: str, capabilities: ServerCapabilities, *, lacks_tokenizer: bool) -> QWidget:
    """A server that answered, before its model is opened."""
    identity = ServerIdentity("a kind", version, "org/model", ("org/model",), capabilities, context_length=4096)
    dialog = AttachDialog([address])
    dialog.ask_button.click()
    answer = ServerAnswer(
        IdentifyServer(address),
        identity,
        "llama-server" if not lacks_tokenizer else "vLLM",
        can_step=True,
        lacks_tokenizer=lacks_tokenizer,
    )
    dialog.show_answer(answer)
    return settled(dialog)


def audited() -> QWidget:
    """The audit of a tokenizer with faults."""
    request = AuditTokenizer(CompileRequest(1, "gbnf", GBNF, CompileOptions()))
    ends = (
        AuditedEnd("generation_config.json: eos_token_id", "#2 </s>", True),
        AuditedEnd("config.json: eos_token_id", "#7 <|im_end|>", False),
    )
    faults = (
        AuditedFault(
            "special-as-text",
            "The grammar writes `</think>` as a text; the model has a token #9 of that name, which has no text.",
            "To require the token, write `</think>` without quotes.",
            True,
            Span(0, 4),
        ),
        AuditedFault(
            "special-has-spelling", "3 special tokens have names that ordinary tokens spell.", "Compare ids.", False
        ),
    )
    table = "49,152 ids: 49,135 with bytes, 17 special, 0 unused · 12 texts have several ids"
    dialog = AuditDialog()
    dialog.audit()
    dialog.show_answer(AuditAnswer(request, "A model", table, 49_280, ("#2 </s>",), ends, faults, "text"))
    return settled(dialog)


def reduced() -> QWidget:
    """The smallest failing part of a schema."""
    dialog = ReduceDialog(3)
    dialog.show_engines(EngineList("json_schema", (("xgrammar", "0.1.25"),)))
    dialog.show()
    QTest.mouseClick(dialog.run_button, Qt.MouseButton.LeftButton)
    request = FindSmallest(CompileRequest(1, "json_schema", SCHEMA, CompileOptions()), engine="xgrammar")
    small, part = '{"properties": {"name": {"maxLength": 12}}}', "/properties/name/maxLength"
    failure = "too-loose", '{"name": "Augusta Ada King"}'
    dialog.show_answer(SmallestAnswer(request, small, part, Span(0, 1), *failure, 41))
    return settled(dialog)


def gallery(typed: str) -> QWidget:
    """The gallery, filtered."""
    dialog = GalleryDialog()
    dialog.show()
    dialog.field.setText(typed)
    return settled(dialog)


def palette(typed: str) -> QWidget:
    """The command palette over a ground."""
    ground = QFrame()
    shown(ground, 700, 500)
    actions = Commands(ground)
    dialog = CommandPalette(actions, ground)
    dialog.field.setText(typed)
    settled(dialog)
    return pictured(dialog, ground)


def keys(typed: str) -> QWidget:
    """The keyboard shortcuts."""
    ground = QFrame()
    actions = Commands(ground)
    dialog = KeysDialog(actions, ground)
    dialog.field.setText(typed)
    settled(dialog)
    return pictured(dialog, ground)


def alarm(severity: str) -> QWidget:
    """One alarm of a severity, with all that it can have."""
    stack = BannerStack()
    stack.resize(1000, 60)
    stack.show()
    texts = {
        "error": Notification(
            "window",
            "The model's process stopped (signal 9, SIGKILL) and was started anew. The output is kept; the model is "
            "loaded again.",
            "Traceback (most recent call last):\n  File “decode.py”, line 12\nMemoryError",
            button="Restart workers",
        ),
        "warning": Notification(
            "window", "The file was changed by another program.", severity="warning", button="Read it anew"
        ),
        "hint": Notification("window", "Shared as dates.html: 12 steps in 84 kB.", severity="hint", button="Open"),
    }
    banner = stack.show_notification(texts[severity])
    if severity == "error":
        stack.resize(1000, 230)
        next(button for button in banner.findChildren(type(banner.button)) if button.isCheckable()).setChecked(True)
    QTest.qWait(POLL_MS)
    return stack


def menu(name: str) -> QWidget:
    """A menu of the window."""
    ground = QFrame()
    actions = Commands(ground)
    made = actions.fill_bar(QMenuBar(ground))[name]
    actions["view.chips_probability"].setChecked(True)
    actions["run.processors_reset"].setEnabled(False)
    made.adjustSize()
    made.popup(ground.rect().topLeft())
    QTest.qWait(POLL_MS)
    return pictured(made, ground)


def toolbar(width: int) -> QWidget:
    """The toolbar, with room for its texts and without."""
    ground = QFrame()
    actions = Commands(ground)
    made = Toolbar(actions)
    made.show_document("A character sheet", is_modified=True)
    made.show_notation("JSON Schema", "")
    made.show_target("llama.cpp 0.5.0", "")
    made.show_model("SmolLM2", "")
    made.ground = ground  # type: ignore[attr-defined]  # whose the actions are
    shown(made, width, 46)
    return settled(made)


def status() -> QWidget:
    """The status bar while a job runs."""
    made = StatusLine()
    made.show_automaton(None, "The grammar has an error")
    made.show_view(view(), None, frozenset())
    made.show_activity("Fetching SmolLM2", 41_000_000, 98_000_000)
    shown(made, 1200, 28)
    return settled(made)


CUT_OFF = '{"name": "Ada Lovela'
CIRCLES = '{"name": "Ada",' + "\n   " * 40

STATES: dict[str, State] = {
    "export-typical": lambda: exporting("gbnf"),
    "export-folder": lambda: exporting("requests"),
    "export-picture": lambda: exporting("svg"),
    "export-written": lambda: exporting("lark", written=True),
    "export-refused": lambda: exporting("regex", text='root ::= "(" root ")" | "a"'),
    "export-error": no_exports,
    "notation-typical": lambda: other_notation("GBNF"),
    "notation-error": lambda: other_notation("Regex · Python", text='root ::= "(" root ")" | "a"', notation="gbnf"),
    "notation-reinterpret": lambda: other_notation("GBNF", ConversionChoice.REINTERPRET),
    "notation-new": lambda: other_notation("GBNF", ConversionChoice.NEW),
    "refactor-extract": lambda: refactoring("extract-rule", _GROUPED, "gbnf", 49),
    "refactor-upgrade": lambda: refactoring("upgrade-draft", _OLD_SCHEMA, "json_schema", 0),
    "refactor-different": lambda: refactoring("factor-prefixes", "(?>a|ab)c|(?>a|ab)d", "regex", 3),
    "refactor-refused": lambda: refactoring("merge-all-of", SCHEMA, "json_schema", 0),
    "infer-schema": lambda: inferred(
        '{"id": 1, "when": "2024-01-31"}\n{"when": "2024-02-29", "id": 2, "tag": null}\n', "json_schema"
    ),
    "infer-empty": lambda: inferred(""),
    "infer-refused": lambda: inferred("AB-12\nCD-3\n", "json_schema"),
    "equivalence-different": lambda: edited(SCHEMA, SCHEMA.replace('"maxLength": 12', '"minLength": 2'), "json_schema"),
    "equivalence-unknown": lambda: edited('root ::= "(" root ")" | "a"', 'root ::= r\nr ::= "(" r ")" | "a"', "gbnf"),
    "check-complete": lambda: checked('{"name": "Ada"}'),
    "check-cut-off": lambda: checked(CUT_OFF, budget=16, finish="length"),
    "check-refused": lambda: checked('{"name": "Ada", "age": 36}'),
    "check-prose": lambda: checked('Sure! Here is the person:\n{"name": "Ada"'),
    "check-not-enforced": lambda: checked('{"name": "Augusta Ada King", "tags": ["a", "c"]}'),
    "check-violations": lambda: checked("{'name': 'Augusta Ada King',\n 'tags': ['c',], }"),
    "check-scores": lambda: checked_page("scores"),
    "check-engines": lambda: checked_page("engines"),
    "audit-faults": audited,
    "attach-local": partial(
        attaching, "http://127.0.0.1:8080", "b11549-0", llama_server.CAPABILITIES, lacks_tokenizer=False
    ),
    "attach-remote": partial(
        attaching, "https://models.example.org", "0.33.0", vllm.CAPABILITIES, lacks_tokenizer=True
    ),
    "reduce-found": reduced,
    "check-error": lambda: checked(CUT_OFF, error="Token ids need a model: choose one, or a tokenizer alone"),
    "gallery-nothing": lambda: gallery("zzz"),
    "gallery-schema": lambda: gallery("character sheet"),
    "palette-typical": lambda: palette("auto"),
    "palette-nothing": lambda: palette("zzz"),
    "keys-typical": lambda: keys("layout"),
    "alarm-error": lambda: alarm("error"),
    "alarm-warning": lambda: alarm("warning"),
    "alarm-hint": lambda: alarm("hint"),
    "toolbar-wide": lambda: toolbar(1500),
    "toolbar-narrow": lambda: toolbar(1000),
    "status-busy": status,
    **{f"menu-{name}": partial(menu, name) for name in MENUS},
}
