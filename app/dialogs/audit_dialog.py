"""The audit of a tokenizer: its end tokens by file, and what makes masks, ends and special tokens go wrong.

It stays open beside the window, so that the user can repair the grammar meanwhile. An audit of a large vocabulary takes
a second, so an edit of the grammar does not repeat it: a button does.
"""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QDialog,
    QFileDialog,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QProgressBar,
    QScrollArea,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.display_text import unmarked
from app.theme.buttons import push_button
from app.theme.icons import IconLabel
from app.theme.labels import Label, plain_text
from app.widgets.accessibility import announce
from app.widgets.banner import Banner
from app.widgets.rich_text import prose
from app.workers.requests.audit import AuditAnswer, AuditedEnd, AuditedFault
from engine.source import Span

_ICON = 16  # pixels


class AuditDialog(QDialog):
    """Shows an audit; `show_answer` receives it.

    Args:
        parent: the window.

    Signals:
        wanted(path): audit a tokenizer; an empty path is that of the loaded model.
        span_wanted(Span): show this span of the grammar.
    """

    wanted = Signal(str)
    span_wanted = Signal(Span)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._answer: AuditAnswer | None = None
        self._path = ""
        self.setWindowTitle(ui_text("dialogs.audit.title"))
        self.resize(820, 600)
        self.place_buttons: list[QWidget] = []
        self.verdict = Banner()
        self.verdict.accepted.connect(self.audit_again)
        self.bar = QProgressBar(textVisible=False, maximum=0)
        self.bar.setAccessibleName(ui_text("dialogs.audit.running"))
        self.name = Label()
        self.name.setProperty("role", "title")
        self.facts = Label(wraps=True)
        self.facts.setProperty("role", "muted")
        self.facts.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.content = QScrollArea()
        self.content.setWidgetResizable(True)
        self.content.setFrameShape(QFrame.Shape.NoFrame)
        self.content.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.content.setAccessibleName(ui_text("dialogs.audit.findings"))
        self.copy_button = push_button(ui_text("dialogs.audit.copy"), ui_text("dialogs.audit.copy_tip"))
        self.file_button = push_button(ui_text("dialogs.audit.file"), ui_text("dialogs.audit.file_tip"))
        self.model_button = push_button(ui_text("dialogs.audit.model"), ui_text("dialogs.audit.model_tip"))
        self._lay_out()
        theme.themes.changed.connect(self._show)
        self._show()

    @property
    def answer(self) -> AuditAnswer | None:
        """Return the audit that is shown; None while it is awaited."""
        return self._answer

    def audit(self, path: str = "") -> None:
        """Request the audit of a file or folder, or of the tokenizer of the loaded model."""
        self._path, self._answer = path, None
        self._show()
        self.wanted.emit(path)

    def audit_again(self) -> None:
        """Request the same audit again."""
        self.audit(self._path)

    def show_answer(self, answer: AuditAnswer) -> None:
        """Show an audit, unless another one is awaited."""
        if answer.request.path == self._path:
            self._answer = answer
            self._show()
            announce(self, self.verdict.text())

    def show_outdated(self) -> None:
        """Offer to repeat the audit: the grammar or the model is another one."""
        if self._answer is not None:
            self.verdict.show_message(
                ui_text("dialogs.audit.outdated"), severity="hint", button=ui_text("dialogs.audit.again")
            )

    def _show(self) -> None:
        found = self._answer
        self.bar.setVisible(found is None)
        self.copy_button.setEnabled(found is not None and not found.error)
        self.model_button.setVisible(bool(self._path))
        self.place_buttons = []
        if found is None:
            self.verdict.show_message(ui_text("dialogs.audit.running"), severity="hint")
            return
        faults = sum(each.needs_change for each in found.faults)
        if found.error:
            self.verdict.show_message(found.error, severity="error")
        elif faults:
            self.verdict.show_message(ui_text("dialogs.audit.faults", count=faults), severity="warning")
        else:
            self.verdict.show_message(ui_text("dialogs.audit.no_fault"), severity="allowed")
        self.name.setText(found.name)
        self.name.setToolTip(plain_text(found.request.path))
        width = [] if found.width is None else [ui_text("dialogs.audit.width", count=found.width)]
        grammar = [] if found.has_grammar or found.error else [ui_text("dialogs.audit.no_grammar")]
        self.facts.setText(" · ".join(filter(None, (found.table, *width, *grammar))))
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, theme.SPACE_S, 0)
        column.setSpacing(theme.SPACE_M)
        if not found.error:
            column.addWidget(_heading(ui_text("dialogs.audit.ends")))
            grid = QGridLayout()
            column.addLayout(grid)
            _fill_ends(grid, found)
            if found.faults:
                column.addWidget(_heading(ui_text("dialogs.audit.findings")))
            for each in found.faults:
                row = QGridLayout()
                column.addLayout(row)
                self._fill_fault(row, each)
        column.addStretch()
        self.content.setWidget(content)

    def _fill_fault(self, grid: QGridLayout, fault: AuditedFault) -> None:
        grid.setHorizontalSpacing(theme.SPACE_S)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(1, 1)
        icon = IconLabel(_ICON)
        if fault.needs_change:
            icon.show_icon("ph.warning-fill", theme.Role.WARNING)
        else:
            icon.show_icon("ph.info", theme.Role.HINT)
        grid.addWidget(icon, 0, 0, Qt.AlignmentFlag.AlignTop)
        grid.addWidget(_wrapped(fault.sentence), 0, 1)
        grid.addWidget(_wrapped(fault.fix, theme.Role.MUTED), 1, 1)
        side = QVBoxLayout()
        grid.addLayout(side, 0, 2, 2, 1)
        side.setSpacing(theme.SPACE_XS)
        badge = Label(fault.code)
        badge.setProperty("role", "badge")
        badge.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        side.addWidget(badge, 0, Qt.AlignmentFlag.AlignRight)
        if fault.span is not None:
            button = push_button(ui_text("common.button.show_in_grammar"), role="link")
            button.clicked.connect(partial(self.span_wanted.emit, fault.span))
            self.place_buttons.append(button)
            side.addWidget(button, 0, Qt.AlignmentFlag.AlignRight)
        side.addStretch()

    def _audit_model(self) -> None:
        self.audit()

    def _copy(self) -> None:
        if self._answer is not None:
            QGuiApplication.clipboard().setText(self._answer.text)

    def _choose_file(self) -> None:
        dialog = QFileDialog(self, ui_text("dialogs.audit.file_title"))
        dialog.setNameFilter(ui_text("window.model.tokenizer_filter", patterns="*.json *.tiktoken *.model"))
        dialog.setFileMode(QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(self.audit)
        dialog.open()

    def _lay_out(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_L, theme.SPACE_L, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_S)
        for widget in (self.verdict, self.bar, self.name, self.facts):
            layout.addWidget(widget)
        layout.addWidget(self.content, 1)
        buttons = QHBoxLayout()
        layout.addLayout(buttons)
        for button in (self.copy_button, self.file_button, self.model_button):
            buttons.addWidget(button)
        buttons.addStretch()
        close = push_button(ui_text("common.button.close"), role="primary")
        buttons.addWidget(close)
        self.copy_button.clicked.connect(self._copy)
        self.file_button.clicked.connect(self._choose_file)
        self.model_button.clicked.connect(self._audit_model)
        close.clicked.connect(self.reject)


def _fill_ends(grid: QGridLayout, found: AuditAnswer) -> None:
    """Add the tokens that end an output under the grammar, and a row for each that a file names."""
    grid.setHorizontalSpacing(theme.SPACE_M)
    grid.setVerticalSpacing(theme.SPACE_XS)
    grid.setColumnStretch(3, 1)
    known = ", ".join(f"`{token}`" for token in found.known_ends) or ui_text("dialogs.audit.no_end")
    grid.addWidget(Label(ui_text("dialogs.audit.known_ends")), 0, 0)
    grid.addWidget(_wrapped(known), 0, 1, 1, 3)
    for row, end in enumerate(found.ends, 1):
        _add_end(grid, row, end)
    if not found.ends:
        grid.addWidget(_wrapped(ui_text("dialogs.audit.no_files"), theme.Role.MUTED), 1, 0, 1, 4)


def _add_end(grid: QGridLayout, row: int, end: AuditedEnd) -> None:
    place = Label(end.place)
    place.setProperty("role", "muted")
    grid.addWidget(place, row, 0)
    grid.addWidget(Label(prose(f"`{end.token}`"), is_html=True), row, 1)
    icon, key = IconLabel(_ICON), "known" if end.is_known else "unknown"
    if end.is_known:
        icon.show_icon("ph.check-circle-fill", theme.Role.ALLOWED)
    else:
        icon.show_icon("ph.x-circle-fill", theme.Role.ERROR)
    grid.addWidget(icon, row, 2)
    grid.addWidget(Label(ui_text(f"dialogs.audit.{key}")), row, 3)


def _heading(text: str) -> Label:
    label = Label(text)
    label.setProperty("role", "heading")
    return label


def _wrapped(text: str, role: theme.Role = theme.Role.TEXT) -> Label:
    label = Label(prose(text, role), wraps=True, is_html=True)
    label.setAccessibleName(unmarked(text))
    label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
    if role is theme.Role.MUTED:
        label.setProperty("role", "muted")
    return label
