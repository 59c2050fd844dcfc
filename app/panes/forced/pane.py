"""The pane of forced runs: the runs of a grammar, their spellings on the model, the calls saved, and the token index.

Data goes in by `show_…` methods; what the user requests comes out by signals. Three pages share one bar, which also
shows how steps take forced runs: that is a setting of the document and independent of the open page.
"""

from __future__ import annotations

from enum import IntEnum

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import (
    QButtonGroup,
    QComboBox,
    QFrame,
    QHBoxLayout,
    QPlainTextEdit,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.panes.forced.page_headings import empty_background, page_layout, summary_label
from app.panes.forced.runs_page import RunsPage
from app.panes.forced.strategies import StrategiesPage
from app.panes.forced.wording import form_note, sentences
from app.theme.buttons import tool_button
from app.theme.labels import Label, plain_text
from app.widgets.keyboard import delegate_focus
from app.workers.requests.forced import IndexAnswer
from engine.decoding.forced.strategies import STRATEGIES


class Page(IntEnum):
    """A page of the pane."""

    RUNS = 0
    STRATEGIES = 1
    INDEX = 2


class ForcedPane(QWidget):
    """The pane of forced runs.

    Signals:
        wanted(Page): a page became visible that may need to be filled.
        strategy_chosen(name): take forced runs with this strategy.

    Attributes:
        runs, strategies, index: the pages.
    """

    wanted = Signal(Page)
    strategy_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.runs, self.strategies, self.index = RunsPage(), StrategiesPage(), IndexPage()
        self.pages = QStackedWidget()
        for page in (self.runs, self.strategies, self.index):
            self.pages.addWidget(page)
        self.switches = QButtonGroup(self)
        self.strategy = QComboBox()
        self.strategy.setAccessibleName(ui_text("forced.strategy.label"))
        for index, strategy in enumerate(STRATEGIES):
            self.strategy.addItem(strategy.title, strategy.name)
            self.strategy.setItemData(index, plain_text(strategy.description), Qt.ItemDataRole.ToolTipRole)
        self._build()
        self.switches.idToggled.connect(self._on_switched)
        self.strategy.activated.connect(lambda _index: self.strategy_chosen.emit(self.strategy.currentData()))
        delegate_focus(self, self.runs.table, self.strategies.measure, self.index.text)
        self.setProperty("roomy", True)

    @property
    def page(self) -> Page:
        """Return the open page."""
        return Page(self.pages.currentIndex())

    def show_strategy(self, name: str) -> None:
        """Show how steps take forced runs."""
        blocker = QSignalBlocker(self.strategy)
        self.strategy.setCurrentIndex(self.strategy.findData(name))
        blocker.unblock()
        self.strategy.setToolTip(plain_text(STRATEGIES[name].description))

    def showEvent(self, event: QShowEvent) -> None:
        """Request the data of the visible page."""
        super().showEvent(event)
        self.wanted.emit(self.page)

    def _on_switched(self, page: int, is_on: bool) -> None:
        if is_on:
            self.pages.setCurrentIndex(page)
            self.wanted.emit(Page(page))

    def _build(self) -> None:
        bar = QFrame()
        bar.setProperty("role", "bar")
        row = QHBoxLayout(bar)
        row.setContentsMargins(theme.SPACE_S, theme.SPACE_XS, theme.SPACE_S, theme.SPACE_XS)
        row.setSpacing(theme.SPACE_XS)
        for page in Page:
            name = page.name.lower()
            title = ui_text(f"forced.page.{name}.label")
            switch = tool_button(title, ui_text(f"forced.page.{name}.tip"), checkable=True)
            self.switches.addButton(switch, page)
            row.addWidget(switch)
        self.switches.button(Page.RUNS).setChecked(True)
        row.addStretch(1)
        label = Label(ui_text("forced.strategy.label"))
        label.setProperty("role", "muted")
        label.setBuddy(self.strategy)
        self.strategy.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        row.addWidget(label)
        row.addWidget(self.strategy)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(bar)
        layout.addWidget(self.pages, 1)


class IndexPage(QWidget):
    """Shows the token index: for each state, the allowed tokens and their target states.

    Signals:
        closing_wanted(): restrict the schema's objects to their declared properties.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._full_text = ""
        self.summary = summary_label(ui_text("forced.index.waiting"))
        close, tip = ui_text("common.schema.close_objects"), ui_text("common.schema.close_objects_tip")
        self.close_objects = tool_button(close, tip, role="outlined")
        self.copy = tool_button(
            ui_text("common.button.copy"),
            ui_text("forced.index.copy"),
            role="outlined",
            clicked=lambda: QGuiApplication.clipboard().setText(self._full_text),
        )
        self.text = QPlainTextEdit(readOnly=True)
        self.text.setAccessibleName(ui_text("forced.page.index.label"))
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setTabChangesFocus(True)
        self._empty_background = empty_background()
        layout = page_layout(self, self.summary, self.close_objects, self.copy)
        layout.addWidget(self.text, 1)
        layout.addWidget(self._empty_background, 1)
        self.closing_wanted = self.close_objects.clicked
        theme.themes.changed.connect(self._apply_theme)
        self._apply_theme()
        self.forget()

    def show_answer(self, answer: IndexAnswer) -> None:
        """Show an index, or why there is none."""
        self._full_text = answer.whole
        self.text.setPlainText(answer.shown)
        self.text.setVisible(bool(answer.shown))
        self._empty_background.setVisible(not answer.shown)
        self.close_objects.setVisible(answer.can_close)
        self.copy.setEnabled(bool(answer.whole))
        is_too_long = not (answer.whole or answer.why_not)
        self.copy.setToolTip(ui_text("forced.index.too_long" if is_too_long else "forced.index.copy"))
        if answer.why_not:
            self.summary.setText(ui_text("forced.index.failed", reason=answer.why_not))
            return
        size = ui_text(
            "forced.index.size",
            states=ui_text("common.count.states", count=answer.states),
            transitions=ui_text("common.count.transitions", count=answer.transitions),
        )
        too_long = ui_text("forced.index.too_long") if is_too_long else ""
        self.summary.setText(sentences(size, form_note(answer.form), too_long))

    def forget(self) -> None:
        """Clear the page: what it shows belongs to another grammar or vocabulary."""
        self._full_text = ""
        self.text.clear()
        self.text.hide()
        self.close_objects.hide()
        self._empty_background.show()
        self.copy.setEnabled(False)
        self.summary.setText(ui_text("forced.index.waiting"))

    def _apply_theme(self) -> None:
        self.text.setFont(theme.mono_font())
