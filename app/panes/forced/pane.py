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
from app.display_text import count
from app.panes.forced.page_headings import empty_ground, headed, sentence
from app.panes.forced.runs_page import RunsPage
from app.panes.forced.strategies import StrategiesPage
from app.panes.forced.wording import STRATEGY_TEXTS, STRATEGY_TIPS
from app.theme.buttons import tool_button
from app.theme.labels import Label
from app.widgets.keyboard import delegate_focus
from app.workers.forced_messages import IndexAnswer
from engine.decoding.pipeline_settings import Strategy

_WAITING = "Creating the index…"
_COPIES = "Copy the whole index as {state: {token: next}}"
_TOO_LONG = "Too long to copy. Use File › Export to save it as JSON."


class Page(IntEnum):
    """A page of the pane."""

    RUNS = 0
    STRATEGIES = 1
    INDEX = 2


_PAGES = {
    Page.RUNS: ("Forced runs", "What the grammar forces, and the ways to spell it"),
    Page.STRATEGIES: ("Strategies", "How many calls of the model each way to take forced runs saves"),
    Page.INDEX: ("Token index", "For each state, the tokens that may come and where they lead"),
}


class ForcedPane(QWidget):
    """The pane of forced runs.

    Signals:
        wanted(Page): a page became visible that may need to be filled.
        strategy_chosen(Strategy): take forced runs with this strategy.

    Attributes:
        runs, strategies, index: the pages.
    """

    wanted = Signal(object)
    strategy_chosen = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.runs, self.strategies, self.index = RunsPage(), StrategiesPage(), IndexPage()
        self.pages = QStackedWidget()
        for page in (self.runs, self.strategies, self.index):
            self.pages.addWidget(page)
        self.switches = QButtonGroup(self)
        self.strategy = QComboBox()
        self.strategy.setAccessibleName("How steps take forced runs")
        for strategy, text in STRATEGY_TEXTS.items():
            self.strategy.addItem(text, strategy.value)
            self.strategy.setItemData(self.strategy.count() - 1, STRATEGY_TIPS[strategy], Qt.ItemDataRole.ToolTipRole)
        self._build()
        self.switches.idToggled.connect(self._on_switched)
        self.strategy.activated.connect(lambda _index: self.strategy_chosen.emit(Strategy(self.strategy.currentData())))
        delegate_focus(self, self.runs.table, self.strategies.measure, self.index.text)
        self.setProperty("roomy", True)

    @property
    def page(self) -> Page:
        """Return the open page."""
        return Page(self.pages.currentIndex())

    def show_strategy(self, strategy: Strategy) -> None:
        """Show how steps take forced runs."""
        blocker = QSignalBlocker(self.strategy)
        self.strategy.setCurrentIndex(list(STRATEGY_TEXTS).index(strategy))
        blocker.unblock()
        self.strategy.setToolTip(STRATEGY_TIPS[strategy])

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
        for page, (text, tip) in _PAGES.items():
            switch = tool_button(text, tip, checkable=True)
            self.switches.addButton(switch, page)
            row.addWidget(switch)
        self.switches.button(Page.RUNS).setChecked(True)
        row.addStretch(1)
        label = Label("In steps and runs, forced runs")
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

    closing_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._full_text = ""
        self.said = sentence(_WAITING)
        close, tip = ui_text("common.schema.close_objects"), ui_text("common.schema.close_objects_tip")
        self.close_objects = tool_button(close, tip, role="outlined")
        self.copy = tool_button("Copy", _COPIES, role="outlined")
        self.text = QPlainTextEdit(readOnly=True)
        self.text.setAccessibleName("Token index")
        self.text.setFrameShape(QFrame.Shape.NoFrame)
        self.text.setLineWrapMode(QPlainTextEdit.LineWrapMode.NoWrap)
        self.text.setTabChangesFocus(True)
        self._empty_background = empty_ground()
        layout = headed(self, self.said, self.close_objects, self.copy)
        layout.addWidget(self.text, 1)
        layout.addWidget(self._empty_background, 1)
        self.copy.clicked.connect(lambda: QGuiApplication.clipboard().setText(self._full_text))
        self.close_objects.clicked.connect(self.closing_wanted)
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
        self.copy.setToolTip(_COPIES if answer.whole or answer.why_not else _TOO_LONG)
        if answer.why_not:
            self.said.setText(f"There is no index: {answer.why_not}.")
            return
        size = f"{count(answer.states, 'state')}, {count(answer.transitions, 'transition')}: {{token: next state}}."
        self.said.setText(" ".join(part for part in (size, answer.form, "" if answer.whole else _TOO_LONG) if part))

    def forget(self) -> None:
        """Clear the page: what it shows belongs to another grammar or vocabulary."""
        self._full_text = ""
        self.text.clear()
        self.text.hide()
        self.close_objects.hide()
        self._empty_background.show()
        self.copy.setEnabled(False)
        self.said.setText(_WAITING)

    def _apply_theme(self) -> None:
        self.text.setFont(theme.mono_font())
