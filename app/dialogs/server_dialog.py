"""The check of a server: a sentence first, then a row for each way, construct, keyword and rule as it is known."""

from __future__ import annotations

import json
from dataclasses import dataclass, field

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QCheckBox, QDialog, QGridLayout, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app import theme
from app.catalogue import ui_text
from app.dialogs.work_page import WorkPage
from app.display_text import unmarked
from app.models.rows import RowsModel
from app.theme.buttons import push_button
from app.theme.icons import icon
from app.theme.labels import Label
from app.widgets.accessibility import announce
from app.widgets.banner import Banner, BannerSeverity
from app.widgets.rich_text import prose
from app.workers.requests.servers import CheckedServer
from engine.diagnosis.server_probe.report import MaskState, ProbeReport

_WIDTHS = {"section": 118, "name": 260, "state": 130}  # pixels
_SEVERITIES: dict[MaskState, BannerSeverity] = {
    MaskState.ON: "allowed",
    MaskState.OFF: "error",
    MaskState.PARTLY: "warning",
    MaskState.UNKNOWN: "hint",
}
_GOOD, _BAD = ("ph.check-circle-fill", theme.Role.ALLOWED), ("ph.x-circle-fill", theme.Role.ERROR)
_REFUSED, _OPEN = ("ph.prohibit", theme.Role.TARGET), ("ph.question", theme.Role.MUTED)
_ICONS = {
    **dict.fromkeys(("on", "enforced"), _GOOD),
    **dict.fromkeys(("off", "open", "dropped"), _BAD),
    "late": ("ph.warning-fill", theme.Role.WARNING),
    "refused": _REFUSED,
}


@dataclass(frozen=True, slots=True)
class ServerToCheck:
    """The server to check, as the user typed it.

    Attributes:
        address: the address of the server.
        model: its model; empty for the first one.
        key: its key.
        with_grammar: whether the keywords of the editor's grammar are checked.
    """

    address: str
    model: str = ""
    key: str = field(default="", repr=False)
    with_grammar: bool = True


@dataclass(frozen=True, slots=True)
class ServerRow:
    """A row of the table.

    Attributes:
        section: the kind of the row: `way`, `construct`, `keyword` or `rule`.
        name: the name of the way, of the construct with its way, or of the rule, or the place of the keyword.
        state: its state.
        note: what the state means.
        text: a counterexample that violates the editor's grammar; empty if there is none.
    """

    section: str
    name: str
    state: str
    note: str
    text: str = ""


def rows_of(report: ProbeReport) -> tuple[ServerRow, ...]:
    """Return the rows of a report; the keywords and rules of the user's grammar come first: they were asked about."""
    keywords = (
        ServerRow("keyword" if one.pointer else "rule", one.name, one.state, one.note, one.counterexample)
        for one in report.keywords or ()
    )
    ways = (ServerRow("way", one.name, str(one.state), one.note) for one in report.ways)
    constructs = (
        ServerRow("construct", f"{one.construct} ({one.way})", str(one.state), one.note) for one in report.constructs
    )
    return (*keywords, *ways, *constructs)


class ServerRowsModel(RowsModel):
    """One row for each way of asking, construct and keyword."""

    names = ("section", "name", "state", "note")
    titles = tuple(ui_text(f"dialogs.server.column.{name}") for name in names)
    tips = titles
    numbers: frozenset[int] = frozenset()

    def text(self, row: ServerRow, column: int) -> str:
        """Return the text of a cell."""
        match self.names[column]:
            case "section":
                return ui_text(f"dialogs.server.section.{row.section}")
            case "state":
                return ui_text(f"dialogs.server.state.{row.state}")
            case "note":
                return unmarked(row.note)
        return row.name

    def look(self, row: ServerRow, column: int, role: int) -> object:
        """Return the icon of the state, the font of names and the colour of what is not offered."""
        name = self.names[column]
        match role:
            case Qt.ItemDataRole.DecorationRole if name == "state":
                return icon(*_ICONS.get(row.state, _OPEN))
            case Qt.ItemDataRole.FontRole if name == "name":
                return theme.mono_font()
            case Qt.ItemDataRole.ForegroundRole if name == "section" or row.state == "not-offered":
                return theme.colour(theme.Role.MUTED)
        return None


class ServerPage(WorkPage):
    """The address of a server, and what is found of it.

    Signals:
        wanted(ServerToCheck): check a server.
    """

    wanted = Signal(ServerToCheck)

    def __init__(self) -> None:
        super().__init__("server", ServerRowsModel())
        self.run_button.setProperty("role", "primary")
        self.address, self.model_name, self.key = QLineEdit(), QLineEdit(), QLineEdit()
        self.with_grammar = QCheckBox(ui_text("dialogs.server.with_grammar"))
        self.verdict = Banner(is_html=True)
        self.about = Label("", wraps=True)
        self.report: ProbeReport | None = None
        self._set_up()

    def start(self) -> None:
        """Request the check."""
        address = self.address.text().strip()
        if self.is_running:
            return
        if not address:
            self.summary.set_text(ui_text("dialogs.reduce.no_address"))
            self.address.setFocus()
            return
        self.show_nothing()
        self._set_running(is_running=True)
        with_grammar = self.with_grammar.isChecked()
        model, key = self.model_name.text().strip(), self.key.text().strip()
        self.wanted.emit(ServerToCheck(address, model, key, with_grammar))

    def show_nothing(self) -> None:
        """Drop the result."""
        self.report = None
        self.verdict.set_text("")
        self.about.hide()
        self._show_hint(self._text("teaching"))

    def show_answer(self, answer: CheckedServer) -> None:
        """Show what is known so far."""
        if not self.is_running:
            return
        report = answer.report
        is_over = bool(answer.error) or report is None or report.is_complete
        if report is not None and report.ways:
            self._show_report(report)
        if not is_over:
            return
        self._set_running(is_running=False)
        self.summary.set_text("")
        if answer.error:
            self.verdict.show_message(prose(answer.error), severity="warning", accessible_text=unmarked(answer.error))
        announce(self, self.verdict.title_label.accessibleName())

    def _show_report(self, report: ProbeReport) -> None:
        is_first = self.report is None
        self.report = report
        self.verdict.show_message(
            prose(report.sentence), severity=_SEVERITIES[report.mask], accessible_text=unmarked(report.sentence)
        )
        nothing = ui_text("cli.probe.unknown")
        stops = nothing if report.stops is None else ", ".join(map(str, report.stops))
        fields = {"title": report.title, "version": report.version or nothing, "model": report.model or nothing}
        ends = ui_text("cli.probe.ends", stops=stops, vocabulary=report.vocabulary.note)
        self.about.setText(f"{ui_text('cli.probe.about', **fields)}; {ends}")
        self.about.show()
        selected, at = self.table.currentIndex().row(), self.table.verticalScrollBar().value()
        self.model.show_rows(rows_of(report))
        self._show_table()
        if is_first:
            for column, name in enumerate(ServerRowsModel.names[:-1]):
                self.table.setColumnWidth(column, _WIDTHS[name])
        elif selected >= 0:
            self.table.selectRow(selected)
        self.table.verticalScrollBar().setValue(at)

    def _set_up(self) -> None:
        self.about.setProperty("role", "muted")
        self.about.hide()
        self.with_grammar.setChecked(True)
        self.with_grammar.setToolTip(ui_text("dialogs.server.with_grammar_tip"))
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.key.setToolTip(ui_text("dialogs.server.key_tip"))
        form = QGridLayout()
        form.setHorizontalSpacing(theme.SPACE_S)
        for column, (edit, name) in enumerate(
            ((self.address, "address"), (self.model_name, "model"), (self.key, "key"))
        ):
            edit.setAccessibleName(ui_text(f"dialogs.reduce.{name}"))
            edit.returnPressed.connect(self.start)
            form.addWidget(edit, 0, column)
            form.setColumnStretch(column, 2 if column == 0 else 1)
        self.address.setPlaceholderText(ui_text("dialogs.server.address_hint"))
        self.model_name.setPlaceholderText(ui_text("dialogs.reduce.model_hint"))
        self.key.setPlaceholderText(ui_text("dialogs.reduce.key_hint"))
        self.controls.insertWidget(1, self.with_grammar)
        self.column.insertLayout(0, form)
        self.column.insertWidget(3, self.verdict)
        self.column.insertWidget(4, self.about)
        self.column.setSpacing(theme.SPACE_S)


class ServerCheckDialog(QDialog):
    """Checks whether a server applies a mask.

    Signals:
        output_wanted(text): check this output.
        test_wanted(text): add this text to the test strings.
        bundle_wanted(report): write a bug bundle with this report, as JSON.
    """

    output_wanted = Signal(str)
    test_wanted = Signal(str)
    bundle_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(ui_text("dialogs.server.title"))
        self.resize(1000, 600)
        self.page = ServerPage()
        self.output_button = push_button(ui_text("dialogs.server.output"), ui_text("dialogs.server.output_tip"))
        self.test_button = push_button(ui_text("dialogs.check.keep_test"), ui_text("dialogs.server.keep_tip"))
        self.bundle_button = push_button(ui_text("dialogs.server.bundle"), ui_text("dialogs.server.bundle_tip"))
        self.copy_button = push_button(ui_text("dialogs.server.copy"), ui_text("dialogs.server.copy_tip"))
        close = push_button(ui_text("common.button.close"))
        layout, buttons = QVBoxLayout(self), QHBoxLayout()
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_M, theme.SPACE_L, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_M)
        layout.addWidget(self.page, 1)
        layout.addLayout(buttons)
        for button in (self.output_button, self.test_button, self.bundle_button, self.copy_button):
            buttons.addWidget(button)
        buttons.addStretch()
        buttons.addWidget(close)
        close.clicked.connect(self.reject)
        self.output_button.clicked.connect(lambda: self.output_wanted.emit(self._text))
        self.test_button.clicked.connect(lambda: self.test_wanted.emit(self._text))
        self.bundle_button.clicked.connect(lambda: self.bundle_wanted.emit(self._report_text()))
        self.copy_button.clicked.connect(lambda: QGuiApplication.clipboard().setText(self._report_text()))
        self.page.model.modelReset.connect(self._enable)
        self.page.table.selectionModel().currentRowChanged.connect(lambda *_: self._enable())
        self._enable()
        self.page.address.setFocus()

    @property
    def _text(self) -> str:
        """Return the counterexample of the selected row; empty if it has none."""
        row = self.page.table.currentIndex().row()
        return self.page.model.rows[row].text if 0 <= row < len(self.page.model.rows) else ""

    def _report_text(self) -> str:
        report = self.page.report
        return "" if report is None else json.dumps(report.as_data(), ensure_ascii=False, indent=2) + "\n"

    def _enable(self) -> None:
        for button in (self.output_button, self.test_button):
            button.setEnabled(bool(self._text))
        for button in (self.bundle_button, self.copy_button):
            button.setEnabled(self.page.report is not None and bool(self.page.model.rows))
