"""The notation menu: the notation and options of the grammar's text, and an example of each other notation.

A text of one notation is rarely valid in another. So if the user has edited it, a dialog asks what to do: convert the
grammar, reinterpret the text, or begin a new document. Every choice but a new document is one undo step.

A grammar that is pasted over the whole text gets the notation that it looks like, with a hint and a button to change
that; for a typed one there is only a hint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QAction, QActionGroup, QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QMenu, QWidget

from app import theme
from app.catalogue import ui_text
from app.commands import Commands, command
from app.display_text import unmarked
from app.document import DocumentFile, GrammarPart
from app.document.gallery import examples
from app.panes.editor.pane import EditorPane
from app.pasting import (
    ADDITIONAL,
    ESCAPES,
    WHITESPACE,
    NotationChoice,
    PastedRequest,
    UnreadPaste,
    intake_of,
    notation_choice_of,
    notation_choices,
    read_paste,
    read_unread,
)
from app.session import Session
from app.theme.buttons import push_button
from app.theme.labels import plain_text
from app.window.files import Files
from app.window.toolbar import Toolbar
from app.workers.requests.equivalence import CompareGrammars
from app.workers.requests.judge import ConvertRequest, IntakeAnswer, IntakeRequest, ReadRequest
from engine.notations import NOTATIONS

if TYPE_CHECKING:
    from app.dialogs.notation_dialog import ConversionChoice, NotationDialog
    from engine.diagnosis.case import RequestConstraint
    from engine.diagnosis.intake import Intake


class NotationMenu(QObject):
    """Fills the toolbar's notation menu, and handles its entries.

    Signals:
        intake_wanted(str, dict): diagnose a text that is no grammar, with answers to questions about it.
    """

    intake_wanted = Signal(str, dict)

    def __init__(
        self,
        commands: Commands,
        toolbar: Toolbar,
        editor: EditorPane,
        session: Session,
        files: Files,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._toolbar, self._editor, self._files, self._window = toolbar, editor, files, window
        self._session, self._document = session, session.document
        self._shown: GrammarPart | None = None
        self._other: NotationChoice | None = None  # the choice of the hint's button
        self._undoes_unwrapping = False  # whether the hint's button undoes unwrapping instead
        self._request: PastedRequest | None = None  # the request that the text was taken from
        self._settings_before: Callable[[], None] | None = None  # restores the settings before the request
        self._example_before: DocumentFile | None = None  # the untouched document that an example replaced
        self._is_settled = False  # whether the user decided on the notation of this text
        self.whitespace_menu = QMenu(ui_text("window.notation.whitespace"), toolbar.notation_menu)
        self.escapes_menu = QMenu(ui_text("window.notation.escapes"), toolbar.notation_menu)
        self.additional_menu = QMenu(ui_text("window.notation.additional"), toolbar.notation_menu)
        self.tools_button = push_button(
            ui_text("window.notation.choose_tool"), ui_text("window.notation.choose_tool_tip")
        )
        self.tools_menu = QMenu(self.tools_button)
        self.tools_button.setMenu(self.tools_menu)
        self.tools_button.hide()
        editor.notation_hint.add_control(self.tools_button)
        self.choices = QWidget()  # what can be done with a text that is no grammar
        self._choice_buttons: list[QWidget] = []
        self._choice_row = QHBoxLayout(self.choices)
        self._choice_row.setContentsMargins(0, 0, 0, 0)
        self._choice_row.setSpacing(theme.SPACE_S)
        self.choices.hide()
        editor.notation_hint.add_control(self.choices)
        self._fill(commands)
        commands.add(self)
        self._document.changed.connect(lambda _revision: self._show())
        self._document.replaced.connect(self._on_document_replaced)
        editor.edit.pasted_over.connect(self._on_pasted)
        editor.edit.typed_over.connect(self._detach_example)
        editor.edit.secrets_removed.connect(self._report_secrets)
        editor.notation_hint.accepted.connect(self._on_hint_accepted)
        editor.notation_hint.dismissed.connect(self._settle)
        self._show()

    def choose(self, name: str) -> None:
        """Switch to the choice of that name, or ask what to do with the text."""
        choice = next(choice for choice in notation_choices() if choice.name == name)
        grammar = self._document.content.grammar
        if choice.notation.id == grammar.notation or not grammar.text.strip():
            self._switch(choice.of(grammar))
        elif self._document.is_modified or self._document.path is not None:
            self.ask(name)
        else:
            before, title = self._document.content, self._document.title
            self._document.replace(self._example_of(choice))
            self._show()
            text = ui_text("window.notation.example", title=self._document.title, notation=choice.name, before=title)
            self._editor.notation_hint.show_message(text, button=ui_text("window.notation.example_back"))
            self._example_before = before
            return
        self._show()

    def choose_whitespace(self, whitespace: str) -> None:
        """Allow other white space between the tokens of JSON."""
        self._switch(msgspec.structs.replace(self._document.content.grammar, whitespace=whitespace))

    def choose_escapes(self, escapes: str) -> None:
        """Allow other escapes in the strings of JSON."""
        self._switch(msgspec.structs.replace(self._document.content.grammar, escapes=escapes))

    def choose_additional(self, additional: str) -> None:
        """Allow or forbid undeclared properties, where a schema does not specify that."""
        self._switch(msgspec.structs.replace(self._document.content.grammar, additional=additional))

    @command("edit.convert", "Ctrl+Shift+N", place=(5, 4), icon="ph.arrows-left-right", context="editor")
    def ask(self, target: str = "") -> NotationDialog:
        """Ask what to do with the text in another notation."""
        from app.dialogs.notation_dialog import NotationDialog  # start-up time: the dialog is built when first shown

        judge, engines = self._session.worker_pool.judge, self._session.worker_pool.engines
        compiled = self._session.compiling.request()
        first = {example.notation: example.document().grammar for example in reversed(examples())}
        examples_by_name = {choice.name: choice.of(first[choice.notation.id]) for choice in notation_choices()}
        dialog = NotationDialog(compiled, self._document.content.grammar, examples_by_name, target, self._window)
        dialog.conversion_wanted.connect(
            lambda request: judge.ask(request, dialog).then(dialog.show_conversion).failed(dialog.show_failure)
        )
        dialog.reading_wanted.connect(
            lambda request: judge.ask(request, dialog).then(dialog.show_reading).failed(dialog.show_failure)
        )
        dialog.comparison_wanted.connect(
            lambda request: engines.ask(request, dialog).then(dialog.show_comparison).failed(dialog.show_failure)
        )
        dialog.cancelled.connect(
            lambda: judge.cancel(lambda request: isinstance(request, ConvertRequest | ReadRequest))
        )
        dialog.cancelled.connect(lambda: engines.cancel(lambda request: isinstance(request, CompareGrammars)))
        dialog.chosen.connect(self._decide)
        dialog.finished.connect(lambda _result: self._show())
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
        dialog.begin()
        return dialog

    def _decide(self, decision: ConversionChoice, grammar: GrammarPart) -> None:
        self._settle()
        match decision.value:
            case "convert":
                self._switch(grammar, grammar.text)
            case "reinterpret":
                self._switch(grammar)
            case _:
                self._files.show_new(self._example_of(notation_choice_of(grammar)))

    def _switch(self, grammar: GrammarPart, text: str | None = None) -> None:
        """Switch the notation and options, and the text if given, as one undo step."""
        part = msgspec.structs.replace(grammar, text="")
        if text is not None or part != msgspec.structs.replace(self._document.content.grammar, text=""):
            self._editor.switch(part, text)

    @staticmethod
    def _example_of(choice: NotationChoice) -> DocumentFile:
        document = next(example for example in examples() if example.notation == choice.notation.id).document()
        return msgspec.structs.replace(document, grammar=choice.of(document.grammar))

    # --- detection ----------------------------------------------------------------------------------------------------

    def _on_document_replaced(self) -> None:
        self._is_settled = False
        self._hide_hint()

    def _on_pasted(self, text: str) -> None:
        """Switch to the notation that pasted text looks like, or unwrap it; a worker reads a long text."""
        tests_removed = self._detach_example()
        self._is_settled = False
        intake = intake_of(text)
        if intake is None:
            self.read_long(text, without_tests=tests_removed)
        else:
            self._take_pasted(text, intake, tests_removed=tests_removed)

    def read_long(self, text: str, *, without_tests: bool = False) -> None:
        """Let a worker read a text of the editor that is too long for the GUI thread, and say so.

        Args:
            text: the text; the answer is dropped if it was changed.
            without_tests: whether the tests of an example were removed.
        """

        def take(answer: IntakeAnswer) -> None:
            if self._document.content.grammar.text == text:
                self._hide_hint()
                self._take_pasted(text, answer.intake, tests_removed=without_tests)

        self._editor.notation_hint.show_message(ui_text("window.notation.reading", count=len(text)))
        pending = self._session.worker_pool.judge.ask(IntakeRequest(text), self)
        pending.then(take).lost(lambda _request: self._hide_hint())

    def _take_pasted(self, text: str, intake: Intake, *, tests_removed: bool) -> None:
        """Switch to the notation that pasted text looks like, or unwrap it.

        Args:
            text: the text, which is in the editor.
            intake: what is recognised in it.
            tests_removed: whether the tests of an example were removed.
        """
        grammar = self._document.content.grammar
        request = read_paste(text, intake)
        if request is not None:
            self._take(request, request.constraints[0], without_tests=tests_removed)
            return
        describes_json = NOTATIONS[grammar.notation].describes_json
        unread = read_unread(intake, describes_json=describes_json)
        if unread is not None:
            self._show_unread(text, unread)
            return
        found = NOTATIONS.likely(text)
        likely = found.id if found is not None else grammar.notation
        before = notation_choice_of(grammar)
        choice = before if likely == grammar.notation else _first_of(likely)
        if choice == before:
            self._show_hint()
            return
        self._switch(choice.of(grammar))
        self._is_settled, self._other = True, before
        without = "_no_tests" if tests_removed else ""
        message = ui_text(f"window.notation.read_as{without}", notation=choice.name)
        button = ui_text("window.notation.read_as_button", notation=before.name)
        self._editor.notation_hint.show_message(message, button=button)

    def _take(self, request: PastedRequest, constraint: RequestConstraint, *, without_tests: bool = False) -> None:
        """Take over a grammar of a pasted request, and its prompt and settings.

        Args:
            request: the request.
            constraint: one of its grammars.
            without_tests: whether the tests of an example were removed.
        """
        grammar = self._document.content.grammar
        if not constraint.notation:
            constraint = replace(constraint, notation=grammar.notation)
        other = constraint.notation != grammar.notation
        part = _first_of(constraint.notation).of(grammar) if other else grammar
        if constraint.pointer:
            part = request.grammar(constraint, part)
        restore = self._settings_before or self._settings_now()
        taken = self._take_settings(request)
        self._switch(part, constraint.text)
        self._is_settled, self._undoes_unwrapping, self._request = True, True, request
        self._settings_before = restore
        without = "_no_tests" if without_tests else ""
        wrapper, name = request.wrapper(constraint), notation_choice_of(part).name
        message = ui_text(f"window.notation.taken_out{without}", wrapper=wrapper, notation=name)
        details = [ui_text("window.notation.taken_settings", settings=", ".join(taken))] if taken else []
        if len(request.constraints) > 1:
            details.insert(0, ui_text("window.notation.several", count=len(request.constraints)))
        details += [finding.message for finding in request.case.findings]
        self._fill_tools(request)
        self._editor.notation_hint.show_message(message, ". ".join(details), button=ui_text("window.notation.keep_all"))

    def _show_unread(self, text: str, unread: UnreadPaste) -> None:
        """Say what a pasted text is that is no grammar, and offer what can be done with it.

        Args:
            text: the text, which stays in the editor until the user decides.
            unread: what it is.
        """
        self._is_settled = True
        self._clear_choices()
        remark, question = unread.remark, unread.question
        if question is not None:
            for option in question.options:
                keeps = option in NOTATIONS
                answer = self._settle if keeps else partial(self._diagnose, text, {question.id: option})
                self._add_choice(option, question.label(option), answer)
            self._editor.notation_hint.show_message(question.text, ui_text("window.notation.question_detail"))
        elif remark is not None:
            self._editor.notation_hint.show_message(unmarked(remark.title), unmarked(remark.detail))
        else:
            detail = ui_text("window.notation.unread_detail")
            self._editor.notation_hint.show_message(ui_text("window.notation.unread"), detail)
        if remark is not None and remark.command:
            self._add_choice("copy", ui_text("common.button.copy_command"), partial(self._copy, remark.command))
        if unread.has_evidence:
            self._add_choice("diagnose", ui_text("window.notation.diagnose"), partial(self._diagnose, text, {}))
        self.choices.show()

    def _add_choice(self, name: str, label: str, action: Callable[[], object]) -> None:
        button = push_button(label, clicked=action)
        button.setObjectName(name)
        self._choice_row.addWidget(button)
        self._choice_buttons.append(button)

    def _clear_choices(self) -> None:
        for button in self._choice_buttons:
            button.hide()
            button.deleteLater()
        self._choice_buttons = []
        self.choices.hide()

    def _copy(self, command: str, _checked: bool = False) -> None:
        QGuiApplication.clipboard().setText(command)
        self._editor.edit.show_tip(ui_text("common.button.copied"))

    def _diagnose(self, text: str, answers: dict[str, str], _checked: bool = False) -> None:
        """Restore the grammar that a text replaced, and open the intake with the text."""
        self._settle()
        self._editor.edit.undo()
        self.intake_wanted.emit(text, answers)

    def _fill_tools(self, request: PastedRequest) -> None:
        """Offer the grammars of a request with several ones."""
        self.tools_menu.clear()
        for constraint in request.constraints:
            name = plain_text(constraint.tool or request.wrapper(constraint))
            self.tools_menu.addAction(name, partial(self._choose_tool, request, constraint))
        self.tools_button.setVisible(len(request.constraints) > 1)

    def _choose_tool(self, request: PastedRequest, constraint: RequestConstraint) -> None:
        restore = self._settings_before
        self._editor.edit.undo()
        self._settings_before = restore
        self._take(request, constraint)

    def _settings_now(self) -> Callable[[], None]:
        """Return a function that restores the prompt and the settings of this moment."""
        content, decoding = self._document.content, self._session.decoding

        def restore() -> None:
            decoding.set_prompt(content.prompt)
            decoding.set_sampler(content.sampler)
            decoding.set_max_tokens(content.max_tokens)
            decoding.set_pipeline(content.pipeline)

        return restore

    def _take_settings(self, request: PastedRequest) -> list[str]:
        """Take over the prompt, the budget and the sampler of a request; return what was taken, for people."""
        decoding, content, taken = self._session.decoding, self._document.content, []
        model = decoding.view.model
        prompt = request.prompt(has_chat=model is not None and model.has_chat)
        if prompt is not None:
            decoding.set_prompt(prompt)
            taken.append(ui_text("window.notation.taken.fragment.prompt"))
        if request.max_tokens is not None:
            decoding.set_max_tokens(request.max_tokens)
            taken.append(ui_text("window.notation.taken.fragment.budget", value=request.max_tokens))
        sampler = request.sampler(content.sampler)
        if sampler != content.sampler:
            decoding.set_sampler(sampler)
            taken.append(ui_text("window.notation.taken.fragment.sampler"))
        pipeline = request.pipeline(content.pipeline)
        if pipeline != content.pipeline:
            decoding.set_pipeline(pipeline)
            taken.append(ui_text("window.notation.taken.fragment.processors"))
        return taken

    def _report_secrets(self, count: int) -> None:
        self._editor.edit.show_tip(ui_text("window.notation.secrets", count=count))

    def _detach_example(self) -> bool:
        """Remove the title and tests of the example that a new text replaced; return whether tests were removed."""
        tests_removed = self._document.detach_example()
        if tests_removed:
            self._editor.edit.show_tip(ui_text("window.notation.example_removed"))
        return tests_removed

    def _show_hint(self) -> None:
        """Show a hint for a text that looks like another notation."""
        grammar = self._document.content.grammar
        if self._is_settled:
            return
        likely = NOTATIONS.likely(grammar.text)
        if likely is None or likely.id == grammar.notation or likely.is_expression:
            self._hide_hint()
            return
        self._other = _first_of(likely.id)
        likely_name, name = self._other.name, notation_choice_of(grammar).name
        message = ui_text("window.notation.looks_like", likely=likely_name, notation=name)
        button = ui_text("window.notation.read_as_button", notation=likely_name)
        self._editor.notation_hint.show_message(message, button=button)

    def _on_hint_accepted(self) -> None:
        """Run the action of the hint's button; it can be undone."""
        other, undoes_unwrapping, restore = self._other, self._undoes_unwrapping, self._settings_before
        example_before = self._example_before
        self._settle()
        if example_before is not None:
            self._document.replace(example_before)
        elif undoes_unwrapping:
            self._editor.edit.undo()
            if restore is not None:
                restore()
            self._is_settled = False  # the full text may look like another notation, too
            self._show_hint()
        elif other is not None:
            self._switch(other.of(self._document.content.grammar))
        self._editor.setFocus()

    def _settle(self) -> None:
        self._is_settled = True
        self._hide_hint()

    def _hide_hint(self) -> None:
        self._other, self._undoes_unwrapping = None, False
        self._request = self._settings_before = self._example_before = None
        self.tools_button.hide()
        self._clear_choices()
        self._editor.notation_hint.hide()

    def _show(self) -> None:
        """Show the notation, check its menu entry, and highlight the text accordingly."""
        grammar = self._document.content.grammar
        choice = notation_choice_of(grammar)
        self._toolbar.show_notation(choice.name, choice.tip)
        for action in self._entries.actions():
            action.setChecked(action.data() == choice.name)
        for (menu, group), value in zip(
            self._options, (grammar.whitespace, grammar.escapes, grammar.additional), strict=True
        ):
            for action in group.actions():
                action.setChecked(action.data() == value)
            menu.setEnabled(NOTATIONS[grammar.notation].describes_json)
        if self._shown is None or self._shown.notation != grammar.notation:
            self._editor.set_notation(grammar.notation)
        if self._shown is not None and self._shown != grammar:
            self._hide_hint()  # what it said was of another text, or of another reading
        self._shown = grammar
        self._show_hint()

    def _fill(self, commands: Commands) -> None:
        menu = self._toolbar.notation_menu
        self._entries = QActionGroup(menu)
        self._options: list[tuple[QMenu, QActionGroup]] = []
        for choice in notation_choices():
            menu.addAction(_entry(choice.name, choice.tip, choice.name, self._entries))
        menu.addSeparator()
        self._add_options(self.whitespace_menu, "whitespace", WHITESPACE, self.choose_whitespace)
        self._add_options(self.escapes_menu, "escapes", ESCAPES, self.choose_escapes)
        self._add_options(self.additional_menu, "additional", ADDITIONAL, self.choose_additional)
        menu.addSeparator()
        menu.addAction(commands["edit.convert"])
        self._entries.triggered.connect(lambda action: self.choose(action.data()))

    def _add_options(self, submenu: QMenu, option: str, values: Sequence[str], choose: Callable[[str], None]) -> None:
        """Add a submenu with the values of one option of a JSON Schema, one of which is checked.

        Args:
            submenu: the submenu.
            option: its name in the catalogue.
            values: its values.
            choose: called with the chosen value.
        """
        submenu.setToolTipsVisible(True)
        group = QActionGroup(submenu)
        for value in values:
            text = ui_text(f"window.notation.value.{option}.{value}.name")
            tip = ui_text(f"window.notation.value.{option}.{value}.tip")
            submenu.addAction(_entry(text, tip, value, group))
        group.triggered.connect(lambda action: choose(action.data()))
        self._toolbar.notation_menu.addMenu(submenu)
        self._options.append((submenu, group))


def _first_of(notation: str) -> NotationChoice:
    return next(choice for choice in notation_choices() if choice.notation.id == notation)


def _entry(text: str, tip: str, value: str, group: QActionGroup) -> QAction:
    action = QAction(text, group, checkable=True)
    action.setData(value)
    action.setToolTip(plain_text(tip))
    return action
