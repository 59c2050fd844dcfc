"""The lists beside the test strings: parts of the grammar that are not covered, and suggested texts."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from app import theme
from app.catalogue import ui_text
from app.display_text import in_line
from app.theme.buttons import push_button
from app.theme.labels import Label, plain_text
from app.widgets.coverage_choice import CoverageChoice
from engine.automata.labels import label
from engine.diagnosis.test_strings.values import Coverage, Suggestion
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
    """Lists the rules and edges that no test string covers, or that no generated output covers.

    Signals:
        span_wanted(Span): show this span of the grammar.
    """

    span_wanted = Signal(object)

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

    def show_coverage(self, found: Coverage, source: SourceText, *, generated: bool = False) -> None:
        """List what is not covered by the test strings, or by generated outputs.

        Args:
            found: the coverage.
            source: the text of the grammar.
            generated: whether it is the coverage of generated outputs.
        """
        self.choice.choose(generated=generated)
        self.entries.clear()
        self.sentence.setText(coverage_text(found) or ui_text("test_strings.coverage.waiting"))
        for rule in found.rules:
            if not rule.covered:
                self.entries.add(
                    ui_text("test_strings.coverage.fragment.rule", name=rule.name), _where(rule.span, source), rule.span
                )
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

    taken = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._suggestions: tuple[Suggestion, ...] = ()
        self.sentence = Label(ui_text("test_strings.suggestions.hint"), wraps=True)
        self.sentence.setProperty("role", "muted")
        self.add_all = push_button(
            ui_text("test_strings.suggestions.add_all.label"),
            ui_text("test_strings.suggestions.add_all.tip"),
            role="link",
        )
        self.add_all.hide()
        self.add_all.clicked.connect(lambda: self._take(self._suggestions))
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
