"""The editor with what opens in it and under it."""

from __future__ import annotations

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.catalogue import ui_text
from app.panes.editor.generated import GeneratedPage
from app.panes.editor.pane import EditorPane
from app.workers.judge import generate
from app.workers.requests.compile import CompileRequest
from app.workers.requests.judge import GenerateAnswer, GenerateRequest
from engine.compile import CompileOptions, compile_grammar
from engine.diagnosis.targets.findings import as_diagnostics
from engine.diagnosis.targets.lint import lint_schema
from engine.notations import NOTATIONS
from engine.source import CancelToken, Span
from tests.app.snapshots.making import GBNF, POLL_MS, SCHEMA, State, diagnostics_of, pictured, shown
from tests.support.explanations import explain

NESTED = '{"$ref": "#/$defs/tree", "$defs": {"tree": {"type": "array", "items": {"$ref": "#/$defs/tree"}}}}'


def pane(text: str, notation: str = "gbnf", height: int = 520) -> EditorPane:
    """An editor with a text."""
    made = EditorPane()
    shown(made, 560, height)
    made.set_notation(notation)
    made.set_text(text)
    return made


def explanation(text: str, notation: str, *, stale: str = "") -> QWidget:
    """The explanation under its text."""
    made = pane(text, notation)
    page = made.explanation.get()
    if text:
        page.show_description(explain(notation, text), text)
    page.set_stale(stale)
    made.pages.open(made.explanation)
    QTest.qWait(POLL_MS)
    return made


def reference(notation: str, typed: str = "") -> QWidget:
    """The quick reference, filtered by what is typed."""
    made = pane("", notation)
    page = made.reference.get()
    page.show_groups(NOTATIONS[notation].reference("", CompileOptions()))
    made.toggle_reference()
    QTest.qWait(POLL_MS)
    QTest.keyClicks(page.field, typed)
    QTest.qWait(POLL_MS)
    return made


def generated(text: str, *, stale: str = "") -> QWidget:
    """A schema, and the GBNF that it comes to."""
    made = pane(text, "json_schema", 560)
    page = GeneratedPage(made.text)
    made.pages.add_page(page, ui_text("presenters.as_gbnf"))
    made.pages.open(page)
    page.set_notation("json_schema")
    if text:
        request = GenerateRequest(CompileRequest(1, "json_schema", text, CompileOptions()))
        answer: GenerateAnswer = generate(request, compile_grammar("json_schema", text), CancelToken())
        page.show_answer(answer, text)
        page.show_source_offset(text.index("tags") if "tags" in text else 0)
    page.set_stale(stale)
    QTest.qWait(POLL_MS)
    return made


def unwritten() -> QWidget:
    """A grammar that has no GBNF: why, and where."""
    made = pane(NESTED, "json_schema", 560)
    page = GeneratedPage(made.text)
    made.pages.add_page(page, ui_text("presenters.as_gbnf"))
    made.pages.open(page)
    page.show_answer(GenerateAnswer(1, error="`uniqueItems` has no GBNF.", error_span=Span(2, 8)), NESTED)
    QTest.qWait(POLL_MS)
    return made


def find(typed: str, *, replaces: bool = False) -> QWidget:
    """The find bar over a text."""
    made = pane(GBNF, height=260)
    made.find_replace.open(replaces=replaces)
    QTest.keyClicks(made.find_bar.field, typed)
    QTest.qWait(POLL_MS)
    return made


def live() -> QWidget:
    """Where a match stands, a breakpoint, and what is pointed at."""
    made = pane(GBNF, height=260)
    made.show_live((Span(GBNF.index("[1-9]"), GBNF.index("[1-9]") + 5),))
    made.show_hover((Span(GBNF.index("[0-9]"), GBNF.index("[0-9]") + 8),))
    made.show_breakpoints([(GBNF.index("year ::="), True), (GBNF.index("month ::="), False)])
    return made


def schema() -> QWidget:
    """A schema with a keyword that is misspelled."""
    text = SCHEMA.replace("maxLength", "maxlength")
    made = pane(text, "json_schema", 300)
    made.show_diagnostics(diagnostics_of("json_schema", text))
    return made


def target() -> QWidget:
    """Show keywords that an engine refuses, drops or approximates, beside an error of the schema."""
    text = SCHEMA.replace("maxLength", "maxlength").replace('["a", "b"]}', '["a", "b"]}, "uniqueItems": true')
    text = text.replace('"additionalProperties": false', '"patternProperties": {"^x": {"items": [{}]}}')
    made = pane(text, "json_schema", 300)
    findings = as_diagnostics(lint_schema(text, "xgrammar", rewrites=False))
    made.show_diagnostics((*diagnostics_of("json_schema", text), *findings))
    return made


def misread() -> QWidget:
    """A text that looks like another notation than the one that it is read in."""
    made = pane(GBNF, "regex", 260)
    made.notation_hint.show_message("The text looks like GBNF, but is read as Regex · Python", button="Read as GBNF")
    QTest.qWait(POLL_MS)
    return made


def completion() -> QWidget:
    """What could stand at the cursor."""
    made = pane("root ::= ye\nyear ::= [0-9]{4}\nyesterday ::= year\n", height=260)
    made.edit.select(Span(11, 11))
    made.edit.setFocus()
    made.completer.open()
    QTest.qWait(POLL_MS)
    return pictured(made.completer.list, made)


STATES: dict[str, State] = {
    "editor-live": live,
    "editor-schema": schema,
    "editor-target": target,
    "editor-completion": completion,
    "editor-misread": misread,
    "find-typical": lambda: find("month", replaces=True),
    "find-nothing": lambda: find("day"),
    "explanation-empty": lambda: explanation("", "gbnf"),
    "explanation-typical": lambda: explanation(GBNF, "gbnf"),
    "explanation-schema": lambda: explanation(SCHEMA, "json_schema"),
    "explanation-error": lambda: explanation(GBNF, "gbnf", stale="The grammar has an error"),
    "reference-typical": lambda: reference("gbnf"),
    "reference-nothing": lambda: reference("regex", "zzz"),
    "generated-empty": lambda: generated(""),
    "generated-typical": lambda: generated(SCHEMA),
    "generated-stale": lambda: generated(SCHEMA, stale="The grammar has an error"),
    "generated-error": unwritten,
}
