"""The pane of parse trees: one tree, or two side by side, each as rows or as an icicle, and what failed below them."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QListWidget,
    QListWidgetItem,
    QSplitter,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.display_text import characters, in_line
from app.models.parse_rows import GRAMMAR, PART, TEXT, ParseRowsModel
from app.panes.parse_tree.icicle import IcicleView
from app.theme.buttons import push_button, tool_button
from app.theme.labels import Label, plain_text
from app.widgets.elided_label import ElidedLabel
from app.widgets.keyboard import delegate_focus
from app.widgets.linked_tree import LinkedTree
from app.workers.requests.judge import ParsedText
from engine.diagnosis.parse_trees.values import (
    AmbiguityAnswer,
    AmbiguityVerdict,
    FailedAttempt,
    ParseNode,
    ParseOutcome,
    TextParse,
)
from engine.source import SourceText, Span
from engine.source.text import common_length, shortened

_ALL_EXPANDED = 400
"""A tree of so many nodes is expanded; of a larger one, what is open."""
_SHOWN = 40  # characters of a text in the list of texts
_MOST_ATTEMPT_NAMES = 4
_VALUE = Qt.ItemDataRole.UserRole
_NONE = -1


class ReadingPanel(QWidget):
    """One tree, as rows or as an icicle.

    Signals:
        pointed(node): a node is hovered, or was chosen with the keys; -1 for none.
        entered(node): go to the source of a node.

    Args:
        number: the number of the reading.
    """

    pointed = Signal(int)
    entered = Signal(int)

    def __init__(self, number: int) -> None:
        super().__init__()
        self.model = ParseRowsModel(self)
        name = ui_text("parse_tree.pane.reading", number=number)
        self.heading = Label(name)
        self.heading.setProperty("role", "heading")
        self.heading.setContentsMargins(theme.SPACE_M, 0, 0, 0)
        self.tree = LinkedTree(name)
        self.tree.setObjectName(f"parse-tree-{number}")
        self.tree.setFrameShape(QFrame.Shape.NoFrame)
        self.tree.setAllColumnsShowFocus(True)
        self.tree.setModel(self.model)
        self.icicle = IcicleView(self.model, name)
        self.icicle.setObjectName(f"parse-icicle-{number}")
        header = self.tree.header()
        header.setStretchLastSection(False)
        header.setSectionsMovable(False)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        for column in (TEXT, GRAMMAR):
            header.setSectionResizeMode(column, QHeaderView.ResizeMode.Stretch)
        self.tree.setColumnWidth(PART, 36 * self.fontMetrics().averageCharWidth())
        self.forms = QStackedWidget()
        self.forms.addWidget(self.tree)
        self.forms.addWidget(self.icicle)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self.heading)
        layout.addWidget(self.forms, 1)
        delegate_focus(self, self.forms)
        delegate_focus(self.forms, self.tree)
        self.tree.pointed.connect(lambda index: self.pointed.emit(self.model.node_of(index)))
        self.tree.left.connect(lambda: self.pointed.emit(_NONE))
        self.tree.clicked_row.connect(self._choose)
        self.tree.entered_row.connect(lambda index: self.entered.emit(self.model.node_of(index)))
        self.icicle.pointed.connect(self.pointed)
        self.icicle.chosen.connect(self.pointed)
        self.icicle.entered.connect(self.entered)

    def show_form(self, *, is_icicle: bool) -> None:
        """Show the icicle, or the rows."""
        self.forms.setCurrentWidget(self.icicle if is_icicle else self.tree)
        delegate_focus(self.forms, self.icicle if is_icicle else self.tree)

    def show_tree(self, nodes: list[ParseNode], kept: int, parse: TextParse, text: bytes, *, follows: bool) -> None:
        """Show a tree.

        Args:
            nodes: its nodes.
            kept: how many at its beginning are those of the last one.
            parse: the parse that it belongs to.
            text: the text.
            follows: whether to scroll to the end.
        """
        self.model.show(nodes, kept, text, parse.legal)
        if len(nodes) <= _ALL_EXPANDED:
            self.tree.expandAll()
        open_nodes = self.model.open_nodes()
        for node in open_nodes if len(nodes) > _ALL_EXPANDED else ():
            self.tree.expand(self.model.index_of(node))
        if follows and open_nodes:
            self.tree.scrollTo(self.model.index_of(open_nodes[-1]))
        self.icicle.refresh(follows=follows)

    def select(self, node: int) -> None:
        """Select a node in both forms, without a signal."""
        index = self.model.index_of(node)
        self.icicle.select(node)
        with QSignalBlocker(self.tree):
            self.tree.setCurrentIndex(index)
            if index.isValid():
                self.tree.scrollTo(index)

    def _choose(self, index: QModelIndex) -> None:
        node = self.model.node_of(index)
        self.icicle.select(node)
        self.pointed.emit(node)


class ParseTreePane(QWidget):
    """Shows the parse of the output or of another text.

    Attributes:
        panels: the trees of the first and of the second reading.

    Signals:
        parse_wanted(): another text was chosen, or the pane was shown.
        node_pointed(spans, bytes): a node is hovered, with its source and its bytes; two empty tuples for none.
        span_wanted(Span): go to the source of a node.
        search_wanted(), search_cancelled(): search for a text with two readings, or stop.
    """

    parse_wanted = Signal()
    node_pointed = Signal(tuple, tuple)
    span_wanted = Signal(Span)
    search_wanted = Signal()
    search_cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._parse = TextParse()
        self._found = b""
        self._tests: tuple[str, ...] = ()
        self._is_searching = False
        self._stale = ""
        self.texts = QComboBox()
        self.texts.setObjectName("parse-texts")
        self.texts.setAccessibleName(ui_text("parse_tree.pane.texts"))
        self.texts.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.texts.setMinimumContentsLength(16)
        self.status = ElidedLabel(fills=True)
        self.status.setObjectName("parse-status")
        self.search_result = ElidedLabel()
        self.search_result.setObjectName("parse-search-result")
        self.form_button = tool_button(
            ui_text("parse_tree.pane.icicle.label"), ui_text("parse_tree.pane.icicle.tip"), checkable=True
        )
        self.form_button.setObjectName("parse-form")
        self.search_button = push_button(clicked=self._search)
        self.search_button.setObjectName("parse-search")
        self.panels = ReadingPanel(1), ReadingPanel(2)
        self._splitter = QSplitter(Qt.Orientation.Horizontal)
        self.attempts = QListWidget()
        self.attempts.setObjectName("parse-attempts")
        self.attempts.setAccessibleName(ui_text("parse_tree.attempts.name"))
        self.attempts.setFrameShape(QFrame.Shape.NoFrame)
        self.attempts.setUniformItemSizes(True)
        self.attempts_heading = ElidedLabel(fills=True)
        self.empty = Label(ui_text("parse_tree.pane.empty"), wraps=True)
        self.empty.setProperty("role", "muted")
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._lay_out()
        self.texts.activated.connect(lambda _row: self.parse_wanted.emit())
        self.form_button.toggled.connect(self._show_form)
        self.attempts.currentItemChanged.connect(lambda item, _before: self._point_at_attempt(item))
        self.attempts.itemActivated.connect(self._go_to_attempt)
        for panel in self.panels:
            panel.pointed.connect(lambda node, panel=panel: self._point(panel, node))
            panel.entered.connect(lambda node, panel=panel: self._enter(panel, node))
        self.show_texts(())
        self._show_search()
        self.show_nothing()

    def _lay_out(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        bar = QHBoxLayout()
        layout.addLayout(bar)
        bar.setContentsMargins(theme.SPACE_M, theme.SPACE_XS, theme.SPACE_XS, theme.SPACE_XS)
        bar.setSpacing(theme.SPACE_S)
        bar.addWidget(self.texts)
        bar.addWidget(self.status, 2)
        bar.addWidget(self.search_result, 1)
        bar.addWidget(self.search_button)
        bar.addWidget(self.form_button)
        for panel in self.panels:
            self._splitter.addWidget(panel)
        self._splitter.setChildrenCollapsible(False)
        failed = QWidget()
        below = QVBoxLayout(failed)
        below.setContentsMargins(0, theme.SPACE_XS, 0, 0)
        below.setSpacing(0)
        self.attempts_heading.setContentsMargins(theme.SPACE_M, 0, 0, 0)
        below.addWidget(self.attempts_heading)
        below.addWidget(self.attempts, 1)
        self._failed = failed
        content = QSplitter(Qt.Orientation.Horizontal)
        content.addWidget(self._splitter)
        content.addWidget(failed)
        content.setStretchFactor(0, 3)
        content.setStretchFactor(1, 2)
        content.setChildrenCollapsible(False)
        self._pages = QStackedWidget()
        self._pages.addWidget(content)
        self._pages.addWidget(self.empty)
        layout.addWidget(self._pages, 1)
        delegate_focus(self, self.panels[0])

    # --- the text ----------------------------------------------------------------------------------------------------

    @property
    def chosen_text(self) -> bytes | None:
        """Return the text to parse; None for the output."""
        chosen = self.texts.currentData(_VALUE)
        return chosen if isinstance(chosen, bytes) else None

    def show_texts(self, tests: tuple[str, ...]) -> None:
        """Offer the output, the test strings, and the text with two readings if one was found."""
        chosen, self._tests = self.chosen_text, tests
        with QSignalBlocker(self.texts):
            self.texts.clear()
            self.texts.addItem(ui_text("common.word.output"), None)
            if self._found:
                self.texts.addItem(ui_text("parse_tree.pane.found", text=_shown(self._found)), self._found)
            for text in dict.fromkeys(tests):
                data = text.encode("utf-8", "surrogatepass")
                self.texts.addItem(ui_text("parse_tree.pane.test", text=_shown(data)), data)
            rows = (row for row in range(self.texts.count()) if self.texts.itemData(row) == chosen)
            self.texts.setCurrentIndex(next(rows, 0))

    # --- the parse ---------------------------------------------------------------------------------------------------

    def show_nothing(self, why: str = "") -> None:
        """Show why there is no tree."""
        self._parse = TextParse()
        for panel in self.panels:
            panel.model.show([], 0, b"", 0)
            panel.icicle.refresh(follows=False)
        self.empty.setText(why or ui_text("parse_tree.pane.empty"))
        self._pages.setCurrentWidget(self.empty)
        self.status.set_text("")

    def show_parse(self, answer: ParsedText, text: bytes, source: SourceText) -> None:
        """Show a parse; its first tree continues the one that is shown.

        Args:
            answer: the answer.
            text: the parsed text.
            source: the text of the grammar.
        """
        parse = answer.parse
        if parse is None or not parse.trees:
            self.show_nothing(answer.error if parse is None else parse.reason)
            self.status.set_text("" if parse is None else self._sentence(parse))
            return
        self._parse = parse
        follows = self.chosen_text is None and not parse.is_ambiguous
        first, second = self.panels
        for panel in self.panels:
            panel.model.set_source(source)
        nodes = [*first.model.nodes[: answer.kept], *parse.trees[0]]
        first.show_tree(nodes, answer.kept, parse, text, follows=follows)
        second.show_tree(list(parse.trees[1]) if parse.is_ambiguous else [], 0, parse, text, follows=False)
        for panel in self.panels:
            panel.heading.setVisible(parse.is_ambiguous)
        second.setVisible(parse.is_ambiguous)
        self._show_attempts(parse, text)
        self._pages.setCurrentIndex(0)
        self.status.set_text(self._sentence(parse))
        if parse.is_ambiguous:
            self._select_difference()

    def set_stale(self, reason: str) -> None:
        """Set why the tree belongs to an older grammar; empty if it is current."""
        self._stale = reason
        if self.panels[0].model.nodes:
            self.status.set_text(self._sentence(self._parse))

    def _sentence(self, parse: TextParse) -> str:
        if self._stale:
            return ui_text("parse_tree.status.stale", reason=self._stale)
        is_complete = parse.outcome is ParseOutcome.COMPLETE
        if parse.is_ambiguous and is_complete:
            return ui_text("parse_tree.status.ambiguous")
        if parse.is_ambiguous:
            return ui_text("parse_tree.status.open_readings", at=parse.legal)
        if parse.outcome is ParseOutcome.REFUSED:
            return ui_text("parse_tree.status.refused", at=parse.legal, size=parse.size)
        return ui_text(f"parse_tree.status.{parse.outcome}", size=parse.size)

    def _select_difference(self) -> None:
        """Select where two readings begin to differ."""
        first, second = (panel.model.nodes for panel in self.panels)
        at = common_length(first, second)
        if at < min(len(first), len(second)):
            for panel in self.panels:
                panel.select(at)

    # --- failed attempts ---------------------------------------------------------------------------------------------

    def _show_attempts(self, parse: TextParse, text: bytes) -> None:
        self._failed.setVisible(parse.outcome is ParseOutcome.REFUSED)
        with QSignalBlocker(self.attempts):
            self.attempts.clear()
            for attempt in parse.attempts:
                item = QListWidgetItem(_attempt_text(attempt))
                item.setData(_VALUE, attempt)
                item.setToolTip(plain_text(item.text()))
                self.attempts.addItem(item)
            if parse.more_attempts:
                self.attempts.addItem(ui_text("parse_tree.attempts.more", count=parse.more_attempts))
        byte = text[parse.legal : parse.legal + 8].decode("utf-8", "replace")[:1]
        shown = in_line(byte.encode())
        self.attempts_heading.set_text(ui_text("parse_tree.attempts.heading", text=shown, at=parse.legal))

    def _point_at_attempt(self, item: QListWidgetItem | None) -> None:
        attempt = None if item is None else item.data(_VALUE)
        if isinstance(attempt, FailedAttempt):
            if attempt.node is not None:
                self.panels[0].select(attempt.node)
            self.node_pointed.emit(attempt.spans, (self._parse.legal, self._parse.legal + 1))

    def _go_to_attempt(self, item: QListWidgetItem) -> None:
        attempt = item.data(_VALUE)
        if isinstance(attempt, FailedAttempt) and attempt.spans:
            self.span_wanted.emit(attempt.spans[0])

    # --- nodes -------------------------------------------------------------------------------------------------------

    def select_bytes(self, start: int, end: int) -> None:
        """Select the innermost nodes that contain some bytes, as the pointer is on them elsewhere."""
        for panel in self.panels:
            panel.select(panel.model.node_at(start, end))

    def select_source(self, offset: int) -> None:
        """Select the last nodes that a part of the grammar matched."""
        for panel in self.panels:
            if (node := panel.model.node_of_source(offset)) != _NONE:
                panel.select(node)

    def _point(self, panel: ReadingPanel, node: int) -> None:
        if node == _NONE:
            self.node_pointed.emit((), ())
        else:
            self.node_pointed.emit(panel.model.nodes[node].spans, panel.model.range_of(node))

    def _enter(self, panel: ReadingPanel, node: int) -> None:
        if node != _NONE and panel.model.nodes[node].spans:
            self.span_wanted.emit(panel.model.nodes[node].spans[0])

    def _show_form(self, is_icicle: bool) -> None:
        for panel in self.panels:
            panel.show_form(is_icicle=is_icicle)

    def showEvent(self, event: QShowEvent) -> None:
        """Ask for a tree: a hidden pane has none."""
        super().showEvent(event)
        self.parse_wanted.emit()

    # --- texts with two readings -------------------------------------------------------------------------------------

    def show_found(self, answer: AmbiguityAnswer) -> None:
        """Show the result of a search, and the text that was found."""
        self.end_search()
        self._found = answer.text
        self.show_texts(self._tests)
        self.search_result.set_text(_result_text(answer))
        if answer.verdict is AmbiguityVerdict.AMBIGUOUS:
            self.texts.setCurrentIndex(self.texts.findData(answer.text))
            self.parse_wanted.emit()

    def forget_found(self) -> None:
        """Forget the result of the last search: the grammar changed."""
        self.end_search()
        self._found = b""
        self.search_result.set_text("")
        self.show_texts(self._tests)

    def show_progress(self, length: int) -> None:
        """Show how long the texts are that are being searched."""
        self.search_result.set_text(ui_text("parse_tree.search.progress", length=length))

    def _search(self) -> None:
        if self._is_searching:
            self.end_search()
            self.search_result.set_text(ui_text("parse_tree.search.cancelled"))
            self.search_cancelled.emit()
            return
        self._is_searching = True
        self.search_result.set_text(ui_text("parse_tree.search.begun"))
        self._show_search()
        self.search_wanted.emit()

    def end_search(self) -> None:
        """Offer another search."""
        self._is_searching = False
        self._show_search()

    def _show_search(self) -> None:
        name = "cancel" if self._is_searching else "find"
        self.search_button.setText(ui_text(f"parse_tree.search.{name}.label"))
        self.search_button.setToolTip(plain_text(ui_text(f"parse_tree.search.{name}.tip")))


def _shown(text: bytes) -> str:
    return shortened(in_line(text), _SHOWN)


def _attempt_text(attempt: FailedAttempt) -> str:
    """Return what failed: the innermost open rules, or keywords, where it began, and what it expected."""
    is_cut = len(attempt.names) > _MOST_ATTEMPT_NAMES
    names = " › ".join([*(["…"] if is_cut else []), *reversed(attempt.names[:_MOST_ATTEMPT_NAMES])])
    expected = characters(attempt.expected) or ui_text("parse_tree.fragment.end")
    if attempt.properties:
        expected = ", ".join(attempt.properties[:_MOST_ATTEMPT_NAMES])
    if not names:
        return ui_text("parse_tree.attempts.whole", expected=expected)
    if attempt.start is None:
        names = ", ".join(attempt.names[:_MOST_ATTEMPT_NAMES])
        return ui_text("parse_tree.attempts.keywords", names=names, expected=expected)
    return ui_text("parse_tree.attempts.rule", names=names, at=attempt.start, expected=expected)


def _result_text(answer: AmbiguityAnswer) -> str:
    match answer.verdict:
        case AmbiguityVerdict.AMBIGUOUS:
            return ui_text("parse_tree.pane.found", text=_shown(answer.text))
        case AmbiguityVerdict.UNAMBIGUOUS:
            return ui_text("parse_tree.search.unambiguous")
        case AmbiguityVerdict.NOT_FOUND:
            return ui_text("parse_tree.search.not_found", length=answer.length)
        case AmbiguityVerdict.UNKNOWN:
            return ui_text("parse_tree.search.unknown", reason=answer.reason)
