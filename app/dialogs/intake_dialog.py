"""The intake: paste or open anything that was copied of a failed request, and see at once what it was read as.

The texts are read by a worker process and never run. What cannot be read has a remark with the command that prints what
is missing; what can be read in several ways has one question, whose answers are buttons.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PySide6.QtCore import QMimeData, Qt, QTimer, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.display_text import unmarked
from app.pasting import CopiedFailure
from app.theme.buttons import push_button
from app.theme.labels import Label
from app.widgets.accessibility import announce
from app.widgets.banner import Banner, BannerSeverity
from app.widgets.clean_paste import without_secrets
from app.widgets.rich_text import prose
from app.workers.requests.judge import IntakeAnswer, IntakeRequest
from engine.diagnosis.intake.remarks import IntakeRemark
from engine.diagnosis.intake.secrets import remove_secrets
from engine.diagnosis.intake.values import IntakeQuestion, TextKind

_DELAY_MS = 200
_MOST_REMARKS = 3
_LARGEST_FILE = 2_000_000  # bytes; the field shows all of it


class IntakeEdit(QPlainTextEdit):
    """An editor without secrets: they are removed from what is pasted or dropped.

    Signals:
        secrets_removed(int): so many were removed.
        file_dropped(Path): a file was dropped on it.
    """

    secrets_removed = Signal(int)
    file_dropped = Signal(Path)

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Accept a file, too."""
        return _file_of(source) is not None or super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Paste without secrets, or report a dropped file."""
        path = _file_of(source)
        if path is not None:
            self.file_dropped.emit(path)
            return
        clean, removed = without_secrets(source)
        super().insertFromMimeData(clean)
        if removed:
            self.secrets_removed.emit(removed)


def _file_of(data: QMimeData) -> Path | None:
    urls = data.urls()
    return Path(urls[0].toLocalFile()) if len(urls) == 1 and urls[0].isLocalFile() else None


class IntakeDialog(QDialog):
    """Asks for what was copied of a failed request; `show_answer` receives what it was read as.

    Args:
        document_title: the title of the document whose grammar judges an output that was pasted without one.
        parent: the window.

    Signals:
        read_wanted(IntakeRequest): read these texts.
        chosen(CopiedFailure): diagnose this.
        table_wanted(text): show the requests of these lines as a table.
    """

    table_wanted = Signal(str)
    read_wanted = Signal(IntakeRequest)
    chosen = Signal(CopiedFailure)

    def __init__(self, document_title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._document_title = document_title
        self._answers: dict[str, str] = {}
        self._request: IntakeRequest | None = None
        self._found: CopiedFailure | None = None
        self._removed = 0  # secrets of the present text
        self._shown: list[QWidget] = []  # what is said about the text
        self.copy_buttons: list[QWidget] = []
        self.answer_buttons: list[QWidget] = []
        self.setWindowTitle(ui_text("dialogs.intake.title"))
        self.resize(760, 560)
        self._timer = QTimer(self, singleShot=True, interval=_DELAY_MS)
        self._timer.timeout.connect(self._read)
        self._build()
        self._show_nothing()
        self.text.setFocus()

    # --- the text

    def show_text(self, text: str, answers: dict[str, str] | None = None) -> None:
        """Show a text in place of the present one, without its secrets.

        Args:
            text: the text.
            answers: answers to questions about it.
        """
        clean, removed = remove_secrets(text)
        self._set_text(clean, removed)
        self._answers = dict(answers or {})
        self._read()

    def read_file(self, path: Path) -> None:
        """Read a file in place of the present text; its secrets are removed before it is shown."""
        try:
            size = path.stat().st_size
            data = path.read_bytes() if size <= _LARGEST_FILE else b""
        except OSError as error:
            self._say(ui_text("common.file.unreadable", name=path.name, reason=error.strerror or error), "error")
            return
        if size > _LARGEST_FILE:
            sentence = ui_text("dialogs.intake.too_large", name=path.name, bytes=size, limit=_LARGEST_FILE)
            self._say(sentence, "error")
            return
        self._set_text("", 0)
        self._answers = {}
        self._ask(IntakeRequest(data))

    def _set_text(self, text: str, removed: int) -> None:
        self.text.blockSignals(True)
        self.text.setPlainText(text)
        self.text.blockSignals(False)
        self._timer.stop()
        self._removed = removed

    def _on_edited(self) -> None:
        self._answers = {}
        self._found = None
        self.diagnose_button.setEnabled(False)
        if not self.text.toPlainText().strip():
            self._removed = 0
        self._timer.start()

    def _on_secrets(self, count: int) -> None:
        self._removed += count

    def _read(self) -> None:
        self._timer.stop()
        text = self.text.toPlainText()
        if text.strip():
            self._ask(IntakeRequest(text, tuple(self._answers.items())))
        else:
            self._request = None
            self._show_nothing()

    def _ask(self, request: IntakeRequest) -> None:
        self._request = request
        self._found = None
        self.diagnose_button.setEnabled(False)
        self.read_wanted.emit(request)

    # --- what it was read as

    def show_answer(self, answer: IntakeAnswer) -> None:
        """Show what a text was read as; a late answer to an older request is not shown."""
        if answer.request != self._request:
            return
        if isinstance(answer.request.data, bytes):
            self._set_text(answer.text, answer.intake.case.removed_secrets)
        if answer.error:
            self._clear()
            self._say(answer.error, "error")
            return
        found = CopiedFailure(answer.intake.case, answer.calls)
        question = answer.intake.question
        self._clear()
        self._show_summary(found, tuple(answer.intake.kinds))
        if question is not None:
            self._add_question(question)
        if answer.requests > 1:
            self._offer_table(answer.requests)
        for remark in answer.remarks[:_MOST_REMARKS]:
            self._add_remark(remark)
        if len(answer.remarks) > _MOST_REMARKS:
            more = Label(ui_text("dialogs.intake.more", count=len(answer.remarks) - _MOST_REMARKS))
            more.setProperty("role", "muted")
            self._add(more)
        if found.case.output is not None and found.constraint is None:
            text = ui_text("dialogs.intake.no_grammar", title=self._document_title)
            self._say(text, "warning", ui_text("dialogs.intake.no_grammar_fix"))
        self._show_tools(found)
        self._found = found if found.can_be_diagnosed else None
        self.diagnose_button.setEnabled(self._found is not None)

    @property
    def sentences(self) -> tuple[str, ...]:
        """Return what is shown about the text, as plain text."""
        return tuple(unmarked(banner.accessibleName()) for banner in self.banners)

    @property
    def banners(self) -> tuple[Banner, ...]:
        """Return the banners about the text, from the top."""
        return tuple(shown for shown in self._shown if isinstance(shown, Banner))

    def _show_summary(self, found: CopiedFailure, kinds: tuple[TextKind, ...]) -> None:
        shown = dict.fromkeys(kind for kind in kinds if kind is not TextKind.PROGRAM)  # a remark says what it is
        names = [ui_text(f"dialogs.intake.kind.fragment.{kind}") for kind in shown]
        removed = ui_text("window.notation.secrets", count=self._removed) if self._removed else ""
        if not names:
            if removed:
                self._say(removed, "hint")
            return
        read = ui_text("dialogs.intake.read", parts=", ".join(names))
        severity: BannerSeverity = "allowed" if found.can_be_diagnosed else "hint"
        self._say(read, severity, removed)

    def _show_nothing(self) -> None:
        self._clear()
        self._say(ui_text("dialogs.intake.teaching"), "hint")
        self.diagnose_button.setEnabled(False)

    def _clear(self) -> None:
        self.copy_buttons, self.answer_buttons = [], []
        for widget in self._shown:
            widget.hide()
            widget.deleteLater()
        self._shown = []
        self._tools_row.hide()

    def _add(self, widget: QWidget) -> None:
        self._column.addWidget(widget)
        self._shown.append(widget)

    def _say(self, sentence: str, severity: BannerSeverity, detail: str = "") -> Banner:
        banner = Banner(is_html=True)
        self._add(banner)
        spoken = unmarked(f"{sentence} {detail}".strip())
        banner.show_message(prose(sentence), prose(detail), severity=severity, accessible_text=spoken)
        announce(self, spoken)
        return banner

    def _add_remark(self, remark: IntakeRemark) -> None:
        banner = self._say(remark.title, "warning", remark.detail)
        if remark.command:
            button = push_button(ui_text("common.button.copy_command"), ui_text("dialogs.intake.copy_tip"))
            button.clicked.connect(lambda: self._copy(button, remark.command))
            self.copy_buttons.append(button)
            banner.add_control(button)

    def _copy(self, button: QWidget, command: str) -> None:
        QGuiApplication.clipboard().setText(command)
        announce(button, ui_text("common.button.copied"))
        button.setProperty("text", ui_text("common.button.copied"))

    def _add_question(self, question: IntakeQuestion) -> None:
        banner = self._say(question.text, "hint", ui_text("dialogs.intake.question"))
        for option in question.options:
            button = push_button(question.label(option), clicked=partial(self._answer, question, option))
            button.setObjectName(option)
            self.answer_buttons.append(button)
            banner.add_control(button)

    def _answer(self, question: IntakeQuestion, option: str) -> None:
        self._answers[question.id] = option
        self.text.setFocus()
        self._read()

    def _offer_table(self, count: int) -> None:
        banner = self._say(ui_text("dialogs.intake.requests", count=count), "hint")
        banner.add_control(push_button(ui_text("dialogs.intake.table"), clicked=self._show_table))

    def _show_table(self) -> None:
        super().accept()
        self.table_wanted.emit(self.text.toPlainText())

    def _show_tools(self, found: CopiedFailure) -> None:
        """Offer the grammars of a request with several ones; that of the called tool is chosen."""
        grammars = found.grammars
        self.tools.clear()
        self.tools.addItems([found.title_of(grammar) for grammar in grammars])
        self.tools.setCurrentIndex(found.chosen)
        self._tools_row.setVisible(len(grammars) > 1)

    # --- buttons

    def accept(self) -> None:
        """Diagnose what was read; without anything to judge, do nothing."""
        if self._found is not None:
            found = self._found.with_choice(max(self.tools.currentIndex(), 0))
            super().accept()
            self.chosen.emit(found)

    def _paste(self) -> None:
        self.text.selectAll()
        self.text.paste()
        self.text.setFocus()

    def _choose_file(self) -> None:
        dialog = QFileDialog(self, ui_text("dialogs.intake.file_title"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda name: self.read_file(Path(name)))
        dialog.open()

    # --- building

    def _build(self) -> None:
        title = Label(ui_text("dialogs.intake.title"))
        title.setProperty("role", "title")
        about = Label(ui_text("dialogs.intake.about"), wraps=True)
        about.setProperty("role", "muted")
        self.text = IntakeEdit()
        self.text.setProperty("role", "field")
        self.text.setFont(theme.mono_font())
        self.text.setPlaceholderText(ui_text("dialogs.intake.hint"))
        self.text.setAccessibleName(ui_text("dialogs.intake.field"))
        self.text.setTabChangesFocus(True)
        self.text.textChanged.connect(self._on_edited)
        self.text.secrets_removed.connect(self._on_secrets)
        self.text.file_dropped.connect(self.read_file)
        self.paste_button = push_button(ui_text("dialogs.intake.paste"), clicked=self._paste)
        self.file_button = push_button(ui_text("dialogs.intake.file"), clicked=self._choose_file)
        self.tools = QComboBox()
        self.tools.setAccessibleName(ui_text("intake.question.tool"))
        self._tools_row = QWidget()
        tools = QHBoxLayout(self._tools_row)
        tools.setContentsMargins(0, 0, 0, 0)
        tools.addWidget(Label(ui_text("intake.question.tool")))
        tools.addWidget(self.tools)
        tools.addStretch()
        self.cancel_button = push_button(ui_text("common.button.cancel"), clicked=self.reject)
        self.diagnose_button = push_button(ui_text("dialogs.intake.diagnose"), role="primary", clicked=self.accept)
        self.diagnose_button.setDefault(True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_L, theme.SPACE_L, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_S)
        row, buttons = QHBoxLayout(), QHBoxLayout()
        self._column = QVBoxLayout()
        self._column.setSpacing(theme.SPACE_XS)
        layout.addWidget(title)
        layout.addWidget(about)
        layout.addLayout(row)
        layout.addWidget(self.text, 1)
        layout.addLayout(self._column)
        layout.addWidget(self._tools_row)
        layout.addLayout(buttons)
        row.addWidget(self.paste_button)
        row.addWidget(self.file_button)
        row.addStretch()
        buttons.addStretch()
        buttons.addWidget(self.cancel_button)
        buttons.addWidget(self.diagnose_button)
