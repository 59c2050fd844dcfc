"""The tests pane: the table of test strings, and beside it what they do not cover, and suggestions.

Data goes in by `show_…` methods; what the user requests comes out by signals. The list of test strings is edited here,
with its own undo stack; a listener stores it.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import chain

from PySide6.QtCore import QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import (
    QFontMetrics,
    QGuiApplication,
    QHideEvent,
    QKeyEvent,
    QShowEvent,
    QUndoCommand,
    QUndoStack,
)
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QListWidget,
    QListWidgetItem,
    QMenu,
    QSplitter,
    QStackedWidget,
    QTabWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.commands import set_tip
from app.display_text import in_line
from app.panes.test_strings.model import TextsColumn, TextsModel
from app.panes.test_strings.texts_table import TextDelegate, TextsTable, row_height
from app.theme.buttons import give_menu, push_button, tool_button
from app.theme.labels import Label, plain_text
from app.widgets.coverage_choice import CoverageChoice
from app.widgets.keyboard import delegate_focus
from app.workers.requests.judge import JudgeAnswer, SuggestAnswer
from engine.automata.labels import label
from engine.diagnosis.intake.secrets import remove_secrets
from engine.diagnosis.test_strings.values import Coverage, CoverageSource, Suggestion, SuggestionKind
from engine.document.content import ExpectedText
from engine.source import SourceText, Span

_LABEL_WIDTH = 28
_MOST_ROWS = 400
_VALUE = Qt.ItemDataRole.UserRole


class EntryList(QListWidget):
    """A list whose entries are chosen by a click or Return.

    Signals:
        chosen(value): the value of an entry.
    """

    chosen = Signal(object)

    def __init__(self, name: str) -> None:
        super().__init__()
        self.setAccessibleName(name)
        self.setUniformItemSizes(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.itemClicked.connect(self._choose)

    def add(self, text: str, tip: str, value: object, *, is_code: bool = False) -> None:
        """Add an entry.

        Args:
            text: its text.
            tip: its tool tip.
            value: what `chosen` reports.
            is_code: whether its font is monospaced.
        """
        item = QListWidgetItem(text)
        item.setToolTip(plain_text(tip))
        item.setData(_VALUE, value)
        if is_code:
            item.setFont(theme.mono_font())
        self.addItem(item)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Choose the current entry on Return."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.currentItem() is not None:
            self._choose(self.currentItem())
        else:
            super().keyPressEvent(event)

    def _choose(self, item: QListWidgetItem) -> None:
        self.chosen.emit(item.data(_VALUE))


class CoverageList(QWidget):
    """Lists the rules and edges that no text of a source covers.

    Signals:
        span_wanted(Span): show this span of the grammar.
    """

    span_wanted = Signal(Span)

    def __init__(self) -> None:
        super().__init__()
        self.sentence = Label(wraps=True)
        self.sentence.setProperty("role", "muted")
        self.choice = CoverageChoice()
        self.entries = EntryList(ui_text("test_strings.coverage.list"))
        self.entries.setMinimumHeight(1)  # a low pane shrinks the list, not the buttons above it
        self.entries.chosen.connect(self._on_chosen)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, theme.SPACE_XS, 0, 0)
        layout.setSpacing(theme.SPACE_XS)
        self.sentence.setContentsMargins(theme.SPACE_S, 0, theme.SPACE_S, 0)
        row = QHBoxLayout()
        row.setContentsMargins(theme.SPACE_XS, 0, theme.SPACE_XS, 0)
        layout.addLayout(row)
        row.addWidget(self.choice)
        row.addStretch(1)
        layout.addWidget(self.sentence)
        layout.addWidget(self.entries, 1)
        self.setFocusProxy(self.entries)

    def show_coverage(self, found: Coverage, source: SourceText, by: CoverageSource = CoverageSource.TESTS) -> None:
        """List what is not covered.

        Args:
            found: the coverage.
            source: the text of the grammar.
            by: the texts that count.
        """
        self.choice.choose(by)
        self.entries.clear()
        self.sentence.setText(coverage_text(found) or ui_text("test_strings.coverage.waiting"))
        for rule in found.rules:
            if not rule.covered:
                self.entries.add(ui_text("common.fragment.rule", name=rule.name), _where(rule.span, source), rule.span)
        missing = [edge for edge in found.edges if not edge.covered]
        for edge in missing[:_MOST_ROWS]:
            reads = f"‹{edge.key.called}›" if edge.key.called else label(edge.ranges, _LABEL_WIDTH)
            owner = f"{edge.rule}: " if edge.rule else ""
            text = f"{owner}{edge.key.source} → {edge.key.target}  {reads}"
            self.entries.add(text, _where(edge.span, source), edge.span, is_code=True)
        more = found.total_edges - found.covered_edges - min(len(missing), _MOST_ROWS)
        if more > 0:
            self.entries.add(ui_text("test_strings.coverage.fragment.more", count=more), "", None)

    def _on_chosen(self, span: Span | None) -> None:
        if span is not None:
            self.span_wanted.emit(span)


class SuggestionList(QWidget):
    """Suggested texts to add.

    Signals:
        taken(suggestions): add these.
    """

    taken = Signal(tuple)

    def __init__(self) -> None:
        super().__init__()
        self._suggestions: tuple[Suggestion, ...] = ()
        self.sentence = Label(ui_text("test_strings.suggestions.hint"), wraps=True)
        self.sentence.setProperty("role", "muted")
        self.add_all = push_button(
            ui_text("test_strings.suggestions.add_all.label"),
            ui_text("test_strings.suggestions.add_all.tip"),
            role="link",
            clicked=lambda: self._take(self._suggestions),
        )
        self.add_all.hide()
        self.entries = EntryList(ui_text("test_strings.suggestions.tab"))
        self.entries.chosen.connect(lambda one: self._take((one,)))
        head = QHBoxLayout()
        head.setContentsMargins(theme.SPACE_S, 0, theme.SPACE_XS, 0)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, theme.SPACE_XS, 0, 0)
        layout.setSpacing(theme.SPACE_XS)
        layout.addLayout(head)
        head.addWidget(self.sentence, 1)
        head.addWidget(self.add_all)
        layout.addWidget(self.entries, 1)
        self.setFocusProxy(self.entries)

    @property
    def suggestions(self) -> tuple[Suggestion, ...]:
        """Return the offered suggestions."""
        return self._suggestions

    def offer(self, suggestions: tuple[Suggestion, ...], error: str = "") -> None:
        """Offer suggestions, or say why there are none."""
        self._suggestions = suggestions
        self.entries.clear()
        self.add_all.setVisible(len(suggestions) > 1)
        if error:
            self.sentence.setText(error)
        elif suggestions:
            self.sentence.setText(ui_text("test_strings.suggestions.offered", count=len(suggestions)))
        else:
            self.sentence.setText(ui_text("test_strings.suggestions.all_added"))
        for one in suggestions:
            text = in_line(one.text.encode()) or ui_text("common.word.empty")
            key = "accepted" if one.accepts else "refused"
            tip = ui_text(f"test_strings.suggestions.{key}", reason=one.why)
            self.entries.add(f"{'✓' if one.accepts else '✗'} {text}", tip, one, is_code=True)

    def _take(self, suggestions: tuple[Suggestion, ...]) -> None:
        self.taken.emit(suggestions)
        self.offer(tuple(one for one in self._suggestions if one not in suggestions))


def coverage_text(found: Coverage) -> str:
    """Describe how much of the grammar is covered, in one line."""
    if found.reason:
        return ui_text("test_strings.coverage.none", reason=found.reason)
    shares = ", ".join(_shares(found))
    if not shares:
        return ""
    if found.left_out:
        return ui_text("test_strings.coverage.left_out", shares=shares, count=found.left_out)
    return ui_text("test_strings.coverage.covered", shares=shares)


def share_text(found: Coverage) -> str:
    """Return how many rules are covered, or edges if there are no rules; empty if unknown."""
    return next(iter(_shares(found)), "")


def _shares(found: Coverage) -> list[str]:
    shares = []
    if found.rules:
        shares.append(ui_text("test_strings.coverage.rules", covered=found.covered_rules, count=len(found.rules)))
    if found.total_edges:
        shares.append(ui_text("test_strings.coverage.edges", covered=found.covered_edges, count=found.total_edges))
    return shares


def _where(span: Span | None, source: SourceText) -> str:
    if span is None or span.end > len(source.text):
        return ""
    line, column = source.line_column(span.start)
    return ui_text("test_strings.coverage.location", line=line, column=column, text=source.excerpt(span)[:60])


_KINDS = (SuggestionKind.SHORTEST, SuggestionKind.RANDOM, SuggestionKind.RULE, SuggestionKind.NEAR_MISS)


class StringTestsPane(QWidget):
    """Lists test strings.

    Signals:
        edited(tuple of ExpectedText): the user changed the list.
        span_wanted(Span): show this span of the grammar.
        suggestions_wanted(SuggestionKind): suggest texts of this kind.
        summary_changed(title): the title of the pane's tab changed.
        source_chosen(CoverageSource): the texts whose coverage the list shall show.
        watched(is seen): whether the pane is visible.
    """

    edited = Signal(tuple)
    suggestions_wanted = Signal(SuggestionKind)
    summary_changed = Signal(str)
    watched = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._source = SourceText("")
        self._stale = ""
        self._error = ""
        self.undo_stack = QUndoStack(self)
        self.model = TextsModel(self)
        self.table = TextsTable(self)
        self.table.setModel(self.model)
        self.table.setItemDelegateForColumn(TextsColumn.TEXT, TextDelegate(self.table))
        self.summary = Label()
        self.summary.setProperty("role", "muted")
        self.coverage = CoverageList()
        self.suggestions = SuggestionList()
        self.side = QTabWidget()
        self.side.setDocumentMode(True)
        self.side.addTab(self.coverage, ui_text("test_strings.coverage.tab"))
        self.side.addTab(self.suggestions, ui_text("test_strings.suggestions.tab"))
        self._stack = QStackedWidget()
        self._build()
        self._connect()
        self._apply_theme()
        self._show_summary()

    def show_texts(self, expected: tuple[ExpectedText, ...]) -> None:
        """Show a document's test strings; edits of others can no longer be undone."""
        self.table.end_typing(takes=False)
        self.undo_stack.clear()
        self.model.show_verdicts({})
        self.suggestions.offer(())
        self.suggestions.sentence.setText(ui_text("test_strings.suggestions.hint"))
        self._show(expected)

    def show_answer(self, answer: JudgeAnswer, source: SourceText) -> None:
        """Show the verdicts and the coverage of the grammar."""
        self._source, self._error = source, answer.error
        if not answer.error:
            self.model.show_verdicts(dict(zip(answer.texts, answer.verdicts, strict=True)))
            self._coverages[CoverageSource.TESTS] = answer.coverage
            self._show_coverage()
        self._show_summary()

    def show_coverage(self, source: CoverageSource, found: Coverage) -> None:
        """Show the coverage of other texts than the test strings."""
        self._coverages[source] = found
        self._show_coverage()
        self._show_summary()

    def choose_source(self, source: CoverageSource) -> None:
        """List what the texts of a source do not cover."""
        self._source_of_list = source
        self._show_coverage()

    def show_suggestions(self, answer: SuggestAnswer) -> None:
        """Offer suggested texts."""
        self.suggestions.offer(answer.suggestions, answer.error)
        self._stack.setCurrentWidget(self._content)
        self.side.setCurrentWidget(self.suggestions)

    def set_stale(self, reason: str) -> None:
        """Mark the verdicts as those of an older grammar; empty if they are of the present one."""
        self._stale = reason
        self._show_summary()

    def add(self) -> None:
        """Add a test string, and open its editor."""
        self.table.end_typing(takes=True)
        at = len(self.model.expected)
        self._change(ui_text("test_strings.pane.add_first"), (*self.model.expected, ExpectedText("")))
        index = self.model.index(at, TextsColumn.TEXT)
        self.table.setCurrentIndex(index)
        self.table.setFocus()
        self.table.edit(index)

    def add_text(self, text: str, *, accepts: bool = True) -> None:
        """Add a given test string."""
        self.table.end_typing(takes=True)
        self._change(ui_text("test_strings.pane.add_first"), (*self.model.expected, ExpectedText(text, accepts)))

    def paste(self) -> None:
        """Add each line of the clipboard without its secrets; JSON strings may contain line ends."""
        self.table.end_typing(takes=True)
        text, _ = remove_secrets(QGuiApplication.clipboard().text())
        lines = lines_of(text)
        if lines:
            name = ui_text("test_strings.change.paste", count=len(lines))
            self._change(name, (*self.model.expected, *map(ExpectedText, lines)))

    def duplicate(self) -> None:
        """Duplicate the selected test strings, each after itself."""
        self.table.end_typing(takes=True)
        rows = self.table.selected_rows()
        if rows:
            copies = ([one] * (2 if row in rows else 1) for row, one in enumerate(self.model.expected))
            self._change(ui_text("test_strings.button.duplicate.label"), tuple(chain.from_iterable(copies)))
            self.table.selectRow(rows[-1] + len(rows))

    def remove(self) -> None:
        """Remove the selected test strings."""
        self.table.end_typing(takes=True)
        rows = self.table.selected_rows()
        if rows:
            kept = tuple(one for row, one in enumerate(self.model.expected) if row not in rows)
            self._change(ui_text("common.button.remove"), kept)
            if self.model.expected:
                self.table.selectRow(min(rows[0], len(self.model.expected) - 1))

    def toggle(self) -> None:
        """Expect the opposite of the selected test strings."""
        self.table.end_typing(takes=True)
        rows = self.table.selected_rows()
        if rows:
            changed = (
                replace(one, accepts=not one.accepts) if row in rows else one
                for row, one in enumerate(self.model.expected)
            )
            self._change(ui_text("test_strings.button.toggle.label"), tuple(changed))

    def undo(self) -> None:
        """Undo the last edit of the list."""
        self.table.end_typing(takes=True)
        self.undo_stack.undo()

    def redo(self) -> None:
        """Redo the edit that was undone."""
        self.table.end_typing(takes=True)
        self.undo_stack.redo()

    def go_to_failure(self) -> None:
        """Select the next failing test string, and show the failure in the grammar."""
        total = self.model.rowCount()
        start = self.table.currentIndex().row() + 1
        rows = [(start + offset) % total for offset in range(total)]
        row = next((row for row in rows if self.model.passes(row) is False), None)
        if row is not None:
            self.table.selectRow(row)
            self._go_to(row)

    def suggest(self, kind: SuggestionKind) -> None:
        """Request texts of a kind."""
        self.suggestions_wanted.emit(kind)

    @property
    def is_empty(self) -> bool:
        """Return whether there is no test string."""
        return not self.model.expected

    def _show_coverage(self) -> None:
        found = self._coverages.get(self._source_of_list, Coverage())
        self.coverage.show_coverage(found, self._source, self._source_of_list)
        missing = self.coverage.entries.count()
        title = ui_text("test_strings.coverage.tab")
        self.side.setTabText(0, ui_text("test_strings.coverage.tab_count", count=missing) if missing else title)
        self.side.setMinimumWidth(self.side.tabBar().sizeHint().width())  # no title is cut

    def _coverage_parts(self) -> list[str]:
        tested = self._coverages.get(CoverageSource.TESTS, Coverage())
        if tested.reason:
            return [ui_text("test_strings.coverage.none", reason=tested.reason)]
        shares = ((source, share_text(self._coverages.get(source, Coverage()))) for source in CoverageSource)
        return [f"{ui_text(f'automaton.choice.{source}.label')}: {share}" for source, share in shares if share]

    def _build(self) -> None:
        self._coverages: dict[CoverageSource, Coverage] = {}
        self._source_of_list = CoverageSource.TESTS
        bar = QFrame()
        bar.setProperty("role", "bar")
        self.buttons = {
            "add": tool_button(ui_text("common.button.add"), clicked=self.add),
            "paste": tool_button(ui_text("test_strings.button.paste.label"), clicked=self.paste),
            "duplicate": tool_button(ui_text("test_strings.button.duplicate.label"), clicked=self.duplicate),
            "remove": tool_button(ui_text("common.button.remove"), clicked=self.remove),
        }
        for name, button in self.buttons.items():
            set_tip(button, ui_text(f"test_strings.button.{name}.tip"), f"tests.{name}")
        suggest = ui_text("test_strings.pane.suggest.label")
        self.suggest_button = tool_button(f"{suggest} ▾", ui_text("test_strings.pane.suggest.tip"), name=suggest)
        self.suggest_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        give_menu(self.suggest_button, self._suggest_menu(self.suggest_button))
        row = QHBoxLayout(bar)
        row.setContentsMargins(theme.SPACE_S, 0, theme.SPACE_S, 0)
        row.setSpacing(theme.SPACE_XS)
        for button in (*self.buttons.values(), self.suggest_button):
            row.addWidget(button)
        row.addStretch()
        row.addWidget(self.summary)
        inner = QSplitter(Qt.Orientation.Horizontal)
        inner.setChildrenCollapsible(False)
        inner.addWidget(self.table)
        inner.addWidget(self.side)
        inner.setStretchFactor(0, 3)
        inner.setStretchFactor(1, 1)
        inner.setSizes([720, 260])
        self._content = QWidget()
        column = QVBoxLayout(self._content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(bar)
        column.addWidget(inner, 1)
        self._stack.addWidget(self._empty_page())
        self._stack.addWidget(self._content)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._stack)
        delegate_focus(self, self.table, self.first_button)

    def _empty_page(self) -> QWidget:
        page = QFrame()
        page.setProperty("role", "panel")
        sentence = Label(ui_text("test_strings.pane.empty"))
        sentence.setProperty("role", "muted")
        sentence.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.first_button = push_button(
            ui_text("test_strings.pane.add_first"), ui_text("test_strings.button.add.tip"), clicked=self.add
        )
        self.first_suggest = push_button(
            ui_text("test_strings.pane.suggest_first"), ui_text("test_strings.pane.suggest.tip")
        )
        give_menu(self.first_suggest, self._suggest_menu(self.first_suggest))
        row = QHBoxLayout()
        layout = QVBoxLayout(page)
        layout.setSpacing(theme.SPACE_S)
        layout.addStretch()
        layout.addWidget(sentence)
        layout.addLayout(row)
        row.addStretch()
        row.addWidget(self.first_button)
        row.addWidget(self.first_suggest)
        row.addStretch()
        layout.addStretch()
        return page

    def _suggest_menu(self, parent: QWidget) -> QMenu:
        menu = QMenu(parent)
        menu.setToolTipsVisible(True)
        for kind in _KINDS:
            key = kind.name.lower()
            action = menu.addAction(ui_text(f"test_strings.kind.{key}.label"), partial(self.suggest, kind))
            action.setToolTip(plain_text(ui_text(f"test_strings.kind.{key}.tip")))
        return menu

    def _connect(self) -> None:
        self.model.typed.connect(self._on_typed)
        self.table.clicked.connect(self._on_clicked)
        self.table.customContextMenuRequested.connect(self._open_menu)
        self.table.selectionModel().selectionChanged.connect(lambda *_: self._show_buttons())
        self.span_wanted = self.coverage.span_wanted
        self.source_chosen = self.coverage.choice.chosen
        self.suggestions.taken.connect(self._take_suggestions)
        theme.themes.changed.connect(self._apply_theme)

    def _apply_theme(self) -> None:
        metrics = QFontMetrics(theme.ui_font())
        header = self.table.horizontalHeader()
        result = metrics.horizontalAdvance(ui_text("test_strings.table.pass"))
        self.table.setColumnWidth(TextsColumn.RESULT, result + 20 + 4 * theme.SPACE_S)
        expect = ui_text("test_strings.table.column.expect")
        self.table.setColumnWidth(TextsColumn.EXPECT, metrics.horizontalAdvance(expect) + 3 * theme.SPACE_S)
        for column in (TextsColumn.TEXT, TextsColumn.VERDICT):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        header.setHighlightSections(False)
        self.table.verticalHeader().setDefaultSectionSize(row_height())
        self.table.viewport().update()

    def _show(self, expected: tuple[ExpectedText, ...]) -> None:
        self.model.show_texts(expected)
        self._stack.setCurrentIndex(1 if expected else 0)
        self._show_summary()
        self._show_buttons()

    def _show_buttons(self) -> None:
        has_selection = bool(self.table.selected_rows())
        for name in ("duplicate", "remove"):
            self.buttons[name].setEnabled(has_selection)

    def _show_summary(self) -> None:
        results = [self.model.passes(row) for row in range(self.model.rowCount())]
        failing = sum(result is False for result in results)
        passing = sum(result is True for result in results)
        parts = [ui_text("test_strings.summary.pass", count=passing)] if results else []
        parts += [ui_text("test_strings.summary.fail", count=failing)] if failing else []
        parts += self._coverage_parts()
        if self._stale or self._error:
            parts = [ui_text("test_strings.summary.stale", reason=self._stale or self._error)]
        self.summary.setText("  ·  ".join(parts))
        title = ui_text("common.word.tests")
        if failing:
            title = ui_text("test_strings.summary.failing", count=failing)
        elif results:
            title = ui_text("test_strings.summary.passing", count=passing)
        self.summary_changed.emit(title)

    def _change(self, name: str, expected: tuple[ExpectedText, ...]) -> None:
        if expected != self.model.expected:
            self.undo_stack.push(TextsChange(name, self.model.expected, expected, self._apply))

    def _apply(self, expected: tuple[ExpectedText, ...]) -> None:
        self._show(expected)
        self.edited.emit(expected)

    def _on_typed(self, row: int, text: str) -> None:
        changed = list(self.model.expected)
        changed[row] = replace(changed[row], text=text)
        self._change(ui_text("test_strings.change.edit"), tuple(changed))

    def _take_suggestions(self, suggestions: tuple[Suggestion, ...]) -> None:
        self.table.end_typing(takes=True)
        known = {one.text for one in self.model.expected}
        fresh = [ExpectedText(one.text, one.accepts) for one in suggestions if one.text not in known]
        if fresh:
            name = ui_text("test_strings.change.suggestions", count=len(fresh))
            self._change(name, (*self.model.expected, *fresh))

    def _on_clicked(self, index: QModelIndex) -> None:
        if index.column() == TextsColumn.EXPECT:
            self.toggle()
        elif index.column() in (TextsColumn.VERDICT, TextsColumn.RESULT):
            self._go_to(index.row())

    def _go_to(self, row: int) -> None:
        found = self.model.verdict(row)
        if found is not None and found.failure is not None and found.failure.spans:
            self.span_wanted.emit(found.failure.spans[0])

    def _open_menu(self, position: QPoint) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        for text, slot in (
            (ui_text("test_strings.button.edit.label"), self.table.edit_text),
            (ui_text("test_strings.button.toggle.label"), self.toggle),
            (ui_text("common.button.show_in_grammar"), lambda: self._go_to(self.table.currentIndex().row())),
            (ui_text("test_strings.button.duplicate.label"), self.duplicate),
            (ui_text("common.button.remove"), self.remove),
        ):
            menu.addAction(text, slot).setEnabled(bool(self.table.selected_rows()))
        menu.popup(self.table.viewport().mapToGlobal(position))

    def showEvent(self, event: QShowEvent) -> None:
        """Report that the pane became visible."""
        super().showEvent(event)
        self.watched.emit(True)

    def hideEvent(self, event: QHideEvent) -> None:
        """Report that the pane was hidden."""
        super().hideEvent(event)
        self.watched.emit(False)


class TextsChange(QUndoCommand):
    """A change from one list of test strings to another."""

    def __init__(
        self,
        name: str,
        before: tuple[ExpectedText, ...],
        after: tuple[ExpectedText, ...],
        put: Callable[[tuple[ExpectedText, ...]], None],
    ) -> None:
        super().__init__(name)
        self._before, self._after, self._apply = before, after, put

    def undo(self) -> None:
        """Restore the previous list."""
        self._apply(self._before)

    def redo(self) -> None:
        """Apply the new list; Qt also calls this for the first time."""
        self._apply(self._after)


def lines_of(text: str) -> tuple[str, ...]:
    """Return the test strings in a text: each line that is not blank, or each string of a JSON array."""
    try:
        listed = json.loads(text)
    except ValueError:
        listed = None
    if isinstance(listed, list) and listed and all(isinstance(one, str) for one in listed):
        return tuple(listed)
    return tuple(line for line in text.splitlines() if line.strip())
