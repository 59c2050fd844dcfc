"""The candidate table: a search field, the candidates, and the end tokens pinned below them.

An end token must never scroll out of sight in a debugger, so its rows stay fixed at the bottom. For a vocabulary
without one, that area says how it stops instead.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, QRect, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLineEdit,
    QMenu,
    QTableView,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.commands import keys_of, local_key
from app.delays import delayed
from app.display_text import candidate_text, percent_between, shown, unmarked
from app.models.candidates import COLUMNS, CandidateColumn, CandidateModel, ExtraColumn, GivenColumn, peak_of
from app.theme.buttons import tool_button
from app.theme.labels import Label, plain_text
from app.widgets.accessibility import announce
from app.widgets.candidate_painter import PADDING, CandidatePainter, CandidateRow
from app.widgets.elided_label import ElidedLabel
from app.widgets.font_warming import FontWarming
from app.workers.requests.decode import LookupAnswer, WhyAnswer
from engine.decoding.values import Candidate, EosState, Position, TextContinuation

_HIDDEN_FIRST = sorted(
    (column for column in CandidateColumn if COLUMNS[column].hidden_first),
    key=lambda column: COLUMNS[column].hidden_first,
    reverse=True,
)
_LEAST_ENGINE, _MOST_ENGINE = 48, 96  # pixels of the column of an engine
_TOKEN_FIRST, _BARS_SHARE = 24, 0.6  # of spare width: the first pixels go to the token, then this share to the bars
_TAKE, _FORCE = local_key("candidates.take", "Return"), local_key("candidates.force", "Shift+Return")
_TAKE_KEYS = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


_LOOKUP_DELAY_MS = 150
_LEAST_ROWS = 2  # of candidates, if the window is low
_MOST_ENDS = 3
_MANY_SCRIPTS = 8_192  # a vocabulary with more tokens than this has some of every script


class CandidateTable(QWidget):
    """Shows the candidates of one position.

    Signals:
        token_taken(token id), why_wanted(token id): as in `CandidateView`.
        force_wanted(token id), until_wanted(token id), words_wanted(token id): likewise.
        lookup_wanted(text): search the whole vocabulary.
        text_explained(WhyAnswer): the user asked why a text of several tokens may come next or not.
        continuation_wanted(text), continuation_cancelled: compute the probability of a text; stop that.
        given_wanted(bool): show the probabilities given the grammar, or hide them.

    Attributes:
        fonts: loads glyphs of other scripts in advance, once a large vocabulary is shown.
    """

    token_taken = Signal(int)
    why_wanted = Signal(int)
    force_wanted = Signal(int)
    until_wanted = Signal(int)
    words_wanted = Signal(int)
    lookup_wanted = Signal(str)
    text_explained = Signal(WhyAnswer)
    continuation_wanted = Signal(str)
    continuation_cancelled = Signal()
    given_wanted = Signal(bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._position: Position | None = None
        self._peak = 0.0
        self._placeholder = ""
        self._gained: tuple[Candidate, ...] = ()
        self._is_tight = self._is_beside_answer = False
        self._timer = delayed(self, _LOOKUP_DELAY_MS, self._request_lookup)

        self.search = QLineEdit(placeholderText=ui_text("generation.find.hint"), clearButtonEnabled=True)
        self.search.setAccessibleName(ui_text("generation.find.name"))
        self.search.setToolTip(plain_text(ui_text("generation.find.tip")))
        self.search.textChanged.connect(self._on_search)
        self.search.installEventFilter(self)
        self.only_allowed = tool_button(
            ui_text("generation.candidates.allowed_only"),
            ui_text("generation.candidates.allowed_only_tip"),
            role="outlined",
            checkable=True,
        )
        self.compare = tool_button(
            ui_text("generation.candidates.compare"), ui_text("generation.candidates.compare_tip"), role="outlined"
        )
        self._verdicts: dict[int, str] = {}
        self.fonts, self._warmed_size = FontWarming(self), 0
        self.verdict = ElidedLabel()
        self.verdict.hide()
        self.stored = Label(ui_text("generation.candidates.stored"))
        self.stored.setToolTip(plain_text(ui_text("generation.candidates.stored_tip")))
        self.stored.setProperty("role", "muted")
        self.stored.hide()
        self.found = Label()
        self.found.setProperty("role", "muted")
        self.found.hide()
        self._several: WhyAnswer | None = None  # about a text of several tokens
        self.why_several = tool_button(
            ui_text("commands.run.why.title"),
            ui_text("generation.find.why_tip"),
            role="outlined",
            clicked=self._ask_about_several,
        )
        self.why_several.hide()
        self.continuation_button = tool_button(
            ui_text("common.word.probability"),
            ui_text("generation.find.continuation_tip"),
            role="outlined",
            checkable=True,
        )
        self.continuation_button.setObjectName("candidates.continuation-button")
        self.continuation_button.hide()
        self.continuation = Label(wraps=True)
        self.continuation.setObjectName("candidates.continuation")
        self.continuation.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.continuation.setContentsMargins(theme.SPACE_XS, theme.SPACE_XS, 0, 0)
        self.continuation.hide()

        self.table = CandidateView(self)
        self.table.setAccessibleName(ui_text("generation.candidates.name"))
        self.table.make_sortable()
        self.table.keep_rows_in_sight(_LEAST_ROWS)
        self.ends = CandidateView(self)
        self.ends.setAccessibleName(ui_text("generation.candidates.ends"))
        self.ends.horizontalHeader().hide()
        self.rule = _Rule()
        self.no_ends = ElidedLabel(ui_text("generation.candidates.no_ends"))
        self.no_ends.setContentsMargins(theme.SPACE_S, theme.SPACE_XS, theme.SPACE_S, theme.SPACE_XS)
        self.no_ends.hide()
        self._build()
        self._connect()
        self._fit_ends()

    def show_position(self, position: Position | None) -> None:
        """Show the candidates of a position; a running search is updated."""
        self._position = position
        self._forget_continuation()
        candidates = position.candidates if position else ()
        self._peak = peak_of(candidates)
        self.ends.show_candidates(tuple(c for c in candidates if c.is_eos), self._peak)
        for widget in (self.search, self.only_allowed, self.compare, self.table.horizontalHeader()):
            widget.setVisible(bool(candidates))
        for view in (self.table, self.ends):
            view.set_vocabulary_size(position.vocabulary_size if position else 0)
        self.stored.setVisible(position is not None and position.is_remembered)
        if (
            position is not None
            and position.vocabulary_size > _MANY_SCRIPTS
            and position.vocabulary_size != self._warmed_size
        ):
            self._warmed_size = position.vocabulary_size
            self.fonts.start()
        self._placeholder = _placeholder_of(position)
        self._fit_ends()
        if self.search.text() and candidates:
            self._timer.start()
        else:
            self._show(candidates)

    def show_found(self, found: LookupAnswer) -> None:
        """Show the results of a search; those of an older search are ignored."""
        if not found.text or found.text != self.search.text():
            return
        candidates, self._several = found.candidates, found.why
        verdicts = zip(candidates, found.verdicts, strict=False) if found.why is None else ()
        self._verdicts = {one.token_id: verdict for one, verdict in verdicts}
        self._show(candidates, len(candidates))
        self.why_several.setVisible(found.why is not None)
        if found.why is not None:
            mark = "✓" if found.why.explanation.allowed else "✗"
            self.verdict.set_text(f"{mark} {found.text} {unmarked(found.verdicts[0])}")
            self.verdict.show()
            if found.spelled:
                self.found.setText(ui_text("generation.find.several", count=found.spelled))
        elif candidates:
            self._show_verdict(candidates[0])

    def show_continuation(self, found: TextContinuation) -> None:
        """Show the probability of the typed text as a continuation, unless it was cancelled meanwhile."""
        if not self.continuation_button.isChecked():
            return
        lines = []
        for name, mass in (("alone", found.alone), ("masked", found.masked)):
            if mass is not None:
                fields = {"written": percent_between(*mass.written), "begins": percent_between(*mass.begins)}
                lines.append(ui_text(f"generation.find.continuation.{name}", **fields))
        lines.append(ui_text("generation.find.continuation.cost", spellings=found.spellings, calls=found.calls))
        self._end_continuation("\n".join(lines))

    def stop_continuation(self, why: str) -> None:
        """Show why there is no probability of the text, unless it was cancelled."""
        if self.continuation_button.isChecked():
            self._end_continuation(why)

    def _end_continuation(self, text: str) -> None:
        self.continuation_button.setChecked(False)
        self.continuation.setText(text)
        self.continuation.setVisible(bool(text))
        if text:
            announce(self, text)

    def _ask_continuation(self) -> None:
        if not self.continuation_button.isChecked():
            self._end_continuation("")
            self.continuation_cancelled.emit()
            return
        self.continuation.setText(ui_text("generation.find.continuation.computing"))
        self.continuation.show()
        self.continuation_wanted.emit(self.search.text())

    def _forget_continuation(self) -> None:
        """Drop the probability of another text, or at another position."""
        if self.continuation_button.isChecked():
            self.continuation_cancelled.emit()
        self._end_continuation("")
        text, has_candidates = self.search.text(), self._position is not None and bool(self._position.candidates)
        self.continuation_button.setVisible(has_candidates and bool(text) and not _is_number(text))

    def show_engines(self, engines: tuple[ExtraColumn, ...], gained: tuple[Candidate, ...] = ()) -> None:
        """Show a column for each engine that is compared with the session.

        Args:
            engines: the columns.
            gained: candidates that only these engines allow; they are added to the rows.
        """
        for view in (self.table, self.ends):
            view.show_engines(engines)
        if gained != self._gained:
            self._gained = gained
            if not self.search.text():
                self._show(self._position.candidates if self._position else ())

    def set_states(self, name_state: Callable[[Candidate], str | None] | None) -> None:
        """Set how drawn target states are named; None without a drawing."""
        for view in (self.table, self.ends):
            view.candidates.set_states(name_state)
            view.show_state_column(name_state is not None)

    def set_can_take(self, can_take: bool) -> None:
        """Set whether a click may take a token."""
        self.table.set_can_take(can_take)
        self.ends.set_can_take(can_take)

    def set_can_force(self, can_force: bool) -> None:
        """Set whether a forbidden token may be forced."""
        self.table.set_can_force(can_force)
        self.ends.set_can_force(can_force)

    def set_tight(self, is_tight: bool) -> None:
        """Hide what is not a candidate if there is hardly any space."""
        self._is_tight = is_tight
        self._fit_ends()

    def set_beside_answer(self, is_beside: bool) -> None:
        """Hide what is not a candidate while *Why not?* is shown below."""
        if is_beside != self._is_beside_answer:
            self._is_beside_answer = is_beside
            self._fit_ends()

    def height_of(self, rows: int) -> int:
        """Return the height in pixels with which `rows` candidates can be seen, or all if there are fewer."""
        ends = min(self.ends.candidates.rowCount(), _MOST_ENDS)
        more = min(rows - ends, self.table.candidates.rowCount()) - _LEAST_ROWS
        return self.minimumSizeHint().height() + more * self.table.verticalHeader().defaultSectionSize()

    def chosen(self) -> Candidate | None:
        """Return the selected candidate."""
        return self.ends.chosen() if self.ends.hasFocus() else self.table.chosen() or self.ends.chosen()

    def candidate(self, token_id: int) -> Candidate | None:
        """Return a shown candidate by its token id."""
        for view in (self.table, self.ends):
            if (row := view.candidates.row_of(token_id)) >= 0:
                return view.candidates.candidate(row)
        return None

    def _build(self) -> None:
        bar = QHBoxLayout()
        bar.setContentsMargins(0, 0, 0, 0)
        bar.setSpacing(theme.SPACE_S)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addLayout(bar)
        bar.addWidget(self.search, 1)
        bar.addWidget(self.stored)
        bar.addWidget(self.found)
        bar.addWidget(self.why_several)
        bar.addWidget(self.continuation_button)
        bar.addWidget(self.only_allowed)
        bar.addWidget(self.compare)
        self.verdict.setContentsMargins(theme.SPACE_XS, theme.SPACE_XS, 0, 0)
        layout.addWidget(self.verdict)
        layout.addWidget(self.continuation)
        layout.addSpacing(theme.SPACE_XS)
        layout.addWidget(self.table, 1)
        layout.addWidget(self.rule)
        layout.addWidget(self.ends)
        layout.addWidget(self.no_ends)

    def _connect(self) -> None:
        for view, other in ((self.table, self.ends), (self.ends, self.table)):
            view.token_taken.connect(self.token_taken)
            view.why_wanted.connect(self.why_wanted)
            view.force_wanted.connect(self.force_wanted)
            view.until_wanted.connect(self.until_wanted)
            view.given_wanted.connect(self.given_wanted)
            view.words_wanted.connect(self.words_wanted)
            view.pointed_at.connect(self._on_pointed_at)
            view.clicked.connect(other.clearSelection)
        self.continuation_button.clicked.connect(self._ask_continuation)
        self.only_allowed.toggled.connect(self.table.candidates.set_allowed_only)
        self.table.left_upwards.connect(self.search.setFocus)
        self.table.left_downwards.connect(lambda: self._enter(self.ends, 0))
        self.ends.left_upwards.connect(lambda: self._enter(self.table, self.table.candidates.rowCount() - 1))

    def _show(self, candidates: tuple[Candidate, ...], found: int | None = None) -> None:
        pinned = {c.token_id for c in self._position.candidates if c.is_eos} if self._position else set()
        if found is None and candidates:
            listed = {c.token_id for c in candidates}
            candidates += tuple(c for c in self._gained if c.token_id not in listed)
        self.table.show_candidates(tuple(c for c in candidates if c.token_id not in pinned), self._peak)
        nothing = ui_text("generation.find.nothing", text=self.search.text())
        self.table.set_placeholder(nothing if found == 0 else self._placeholder)
        self.verdict.setVisible(bool(found))
        self.found.setVisible(found is not None)
        self.found.setText(ui_text("generation.find.found", total=found or 0))
        self.why_several.hide()

    def _on_search(self, text: str) -> None:
        self._forget_continuation()
        if not text:
            self._timer.stop()
            self._show(self._position.candidates if self._position else ())
            return
        known = self._position.candidates if self._position else ()
        self._show(tuple(c for c in known if _matches(text, c)))
        self._timer.start()

    def _ask_about_several(self) -> None:
        if self._several is not None:
            self.text_explained.emit(self._several)

    def _on_pointed_at(self, candidate: Candidate | None) -> None:
        if candidate is not None and candidate.token_id in self._verdicts and self.verdict.isVisibleTo(self):
            self._show_verdict(candidate)

    def _show_verdict(self, candidate: Candidate) -> None:
        text = unmarked(self._verdicts.get(candidate.token_id, ""))
        mark = "✓" if candidate.allowed else "✗"
        self.verdict.set_text(f"{mark} {candidate_text(candidate)} {text}" if text else "")

    def _request_lookup(self) -> None:
        if self.search.text():
            self.lookup_wanted.emit(self.search.text())

    def _enter(self, view: CandidateView, row: int) -> None:
        if not view.candidates.rowCount():
            return
        (self.table if view is self.ends else self.ends).clearSelection()
        view.setFocus()
        view.choose(row)

    def _fit_ends(self) -> None:
        rows, position = self.ends.candidates.rowCount(), self._position
        has_none = position is not None and bool(position.candidates) and position.eos is EosState.NO_EOS
        self.no_ends.setVisible(has_none and not self._is_tight and not self._is_beside_answer)
        self.ends.setVisible(rows > 0)
        self.rule.setVisible(rows > 0 or self.no_ends.isVisibleTo(self))
        self.ends.setFixedHeight(min(rows, _MOST_ENDS) * self.ends.verticalHeader().defaultSectionSize())
        self.ends.setToolTip(plain_text(ui_text("generation.candidates.ends_tip", count=rows)))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle Down and Escape in the search field before the window's Cancel command sees them."""
        if watched is self.search and isinstance(event, QKeyEvent):
            clears = event.key() == Qt.Key.Key_Escape and bool(self.search.text())
            if event.type() == QEvent.Type.ShortcutOverride and clears:
                event.accept()
                return True
            if event.type() == QEvent.Type.KeyPress:
                if clears:
                    self.search.clear()
                    return True
                if event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter):
                    self._enter(self.table, 0)
                    return True
        return super().eventFilter(watched, event)


class _Rule(QWidget):
    """The line between the scrolling and the pinned rows."""

    def __init__(self) -> None:
        super().__init__()
        self.setFixedHeight(1)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the line."""
        QPainter(self).fillRect(self.rect(), theme.colour(theme.Role.BORDER))


def _matches(text: str, candidate: Candidate) -> bool:
    """Return whether a candidate matches a search, as in the engine, until the whole vocabulary is searched."""
    if _is_number(text):
        return candidate.token_id == int(text[1:])
    if len(text) > len('""') and text[0] == text[-1] == '"':
        return candidate_text(candidate) == shown(text[1:-1].encode("utf-8", "surrogatepass"))
    return text.casefold() in candidate_text(candidate).casefold()


def _is_number(text: str) -> bool:
    """Return whether a search is for the number of a token."""
    return text.startswith("#") and text[1:].strip().isdecimal()


def _placeholder_of(position: Position | None) -> str:
    """Return the text shown instead of candidates."""
    if position is None:
        return ui_text("generation.candidates.not_ready")
    if position.finish is not None:
        return ui_text("generation.candidates.finished" if position.index else "generation.candidates.nothing")
    return ui_text("generation.candidates.all_masked") if position.candidates else ""


class CandidateView(QTableView):
    """A table of candidates.

    A click or Enter takes an allowed token and explains a forbidden one; Shift+Enter forces a forbidden one. The other
    actions are in a menu on each row. Columns that do not fit in a narrow pane are hidden, the least important first;
    the tool tip of a row contains their values.

    Signals:
        token_taken(token id): the user chose an allowed token.
        why_wanted(token id): the user asked about a token.
        pointed_at(candidate): the candidate under the pointer or selected by keys; None for none.
        force_wanted(token id): take this forbidden token regardless of the grammar.
        until_wanted(token id): run until this token is taken.
        given_wanted(bool): show the probabilities given the grammar, or hide them.
        words_wanted(token id): find out which words of the prompt make the model want this token.
        left_upwards, left_downwards: the arrow keys moved beyond the first or the last row.
    """

    token_taken = Signal(int)
    why_wanted = Signal(int)
    pointed_at = Signal(Candidate)
    force_wanted = Signal(int)
    until_wanted = Signal(int)
    given_wanted = Signal(bool)
    words_wanted = Signal(int)
    left_upwards = Signal()
    left_downwards = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._model = CandidateModel(self)
        self._painter = CandidatePainter()
        self._hovered_row = -1
        self._with_state = False
        self._can_take = self._can_force = True
        self._placeholder = ""
        self._min_rows = 0
        self.setModel(self._model)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setMouseTracking(True)
        self.viewport().setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)  # else all below is painted, too
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header = self.horizontalHeader()
        header.setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        header.setHighlightSections(False)
        header.setSortIndicatorShown(False)
        self.clicked.connect(lambda index: self._decide(index.row()))
        self.selectionModel().currentRowChanged.connect(self._point)
        theme.themes.changed.connect(self._apply_theme)
        self._apply_theme()

    @property
    def candidates(self) -> CandidateModel:
        """Return the model."""
        return self._model

    def make_sortable(self) -> None:
        """Let a click on a column's title sort by it."""
        header = self.horizontalHeader()
        header.setSectionsClickable(True)
        header.setSortIndicatorShown(True)
        header.setSortIndicator(CandidateColumn.PROBABILITY, Qt.SortOrder.DescendingOrder)
        header.sortIndicatorChanged.connect(self._model.sort)
        header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        header.customContextMenuRequested.connect(self._open_header_menu)

    def show_candidates(self, candidates: tuple[Candidate, ...], peak: float) -> None:
        """Replace the rows; with the focus here, select the first allowed one for the keyboard."""
        self._model.show_candidates(candidates, peak)
        self._painter.peak = peak
        self._hovered_row = -1
        if self.hasFocus():
            self.choose(max(self._model.first_allowed(), 0))

    def keep_rows_in_sight(self, rows: int) -> None:
        """Set a minimum height of this many rows; in a low window other widgets shrink first."""
        self._min_rows = rows
        self._apply_theme()

    def set_vocabulary_size(self, size: int) -> None:
        """Set the size of the vocabulary, which decides the width of ranks and ids."""
        if size != self._painter.vocabulary_size:
            self._painter.vocabulary_size = size
            self._arrange()

    def set_placeholder(self, placeholder: str) -> None:
        """Set the text shown while there is no row."""
        self._placeholder = placeholder
        self.viewport().update()

    def set_can_take(self, can_take: bool) -> None:
        """Set whether a click may take a token; questions are always allowed."""
        self._can_take = can_take

    def show_state_column(self, with_state: bool) -> None:
        """Set whether there is a drawn automaton whose states can be named."""
        if with_state != self._with_state:
            self._with_state = with_state
            self._arrange()

    def show_engines(self, engines: tuple[ExtraColumn, ...]) -> None:
        """Show the columns of engines."""
        if engines == self._model.engines:
            return
        chosen = self.chosen()
        self._model.set_engines(engines)
        if chosen is not None:
            self.choose(self._model.row_of(chosen.token_id))
        self._arrange()

    def choose(self, row: int) -> None:
        """Select a row and scroll to it."""
        index = self._model.index(row, CandidateColumn.TOKEN)
        if index.isValid():
            self.setCurrentIndex(index)
            self.scrollTo(index)

    def chosen(self) -> Candidate | None:
        """Return the selected candidate."""
        rows = self.selectionModel().selectedRows()
        return self._model.candidate(rows[0].row()) if rows else None

    def _decide(self, row: int) -> None:
        candidate = self._model.candidate(row)
        if candidate is None:
            return
        if candidate.allowed and self._can_take:
            self.token_taken.emit(candidate.token_id)
        else:
            self.why_wanted.emit(candidate.token_id)

    def menu_of(self, candidate: Candidate) -> QMenu:
        """Return the menu of a candidate."""
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        token_id = candidate.token_id
        take_text, force_text = ui_text("generation.candidates.take"), ui_text("generation.candidates.force")
        take = menu.addAction(f"{take_text}\t{keys_of(_TAKE)}", lambda: self.token_taken.emit(token_id))
        take.setEnabled(candidate.allowed and self._can_take)
        menu.addAction(
            f"{ui_text('generation.candidates.why')}\t{keys_of('run.why')}", lambda: self.why_wanted.emit(token_id)
        )
        until = menu.addAction(ui_text("generation.candidates.until"), lambda: self.until_wanted.emit(token_id))
        until.setEnabled(self._can_take)
        menu.addAction(ui_text("generation.words.action"), lambda: self.words_wanted.emit(token_id))
        menu.addSeparator()
        force = menu.addAction(f"{force_text}\t{keys_of(_FORCE)}", lambda: self.force_wanted.emit(token_id))
        force.setEnabled(not candidate.allowed and self._can_force)
        force.setToolTip(plain_text(ui_text("generation.candidates.force_tip")))
        menu.addSeparator()
        token = candidate.token or b""
        menu.addAction(ui_text("generation.candidates.copy_text"), lambda: _copy(token.decode("utf-8", "replace")))
        menu.addAction(ui_text("generation.candidates.copy_bytes"), lambda: _copy(token.hex(" ")))
        menu.addAction(ui_text("generation.candidates.copy_id"), lambda: _copy(str(token_id)))
        menu.addSeparator()
        self._add_columns(menu)
        return menu

    def _add_columns(self, menu: QMenu) -> None:
        """Add what shows and hides columns to a menu."""
        given = menu.addAction(ui_text("generation.candidates.given"))
        given.setObjectName("given-column")
        given.setCheckable(True)
        given.setChecked(any(isinstance(column, GivenColumn) for column in self._model.engines))
        given.toggled.connect(self.given_wanted)
        given.setToolTip(plain_text(ui_text("models.candidates.given.tip")))

    def _open_header_menu(self, at: QPoint) -> None:
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        self._add_columns(menu)
        menu.aboutToHide.connect(menu.deleteLater)
        menu.popup(self.horizontalHeader().mapToGlobal(at))

    def force_chosen(self) -> None:
        """Force the selected candidate, if the grammar does not allow it."""
        chosen = self.chosen()
        if chosen is not None and not chosen.allowed and self._can_force:
            self.force_wanted.emit(chosen.token_id)

    def set_can_force(self, can_force: bool) -> None:
        """Set whether a forbidden token may be forced."""
        self._can_force = can_force

    def _apply_theme(self) -> None:
        self._painter.refresh()
        height = self._painter.row_height
        self.verticalHeader().setMinimumSectionSize(height)
        self.verticalHeader().setDefaultSectionSize(height)
        if self._min_rows:
            self.setMinimumHeight(self.horizontalHeader().sizeHint().height() + self._min_rows * height)
        self._arrange()
        self.viewport().update()

    def _arrange(self) -> None:
        """Distribute the width: fixed columns get what they need, the token gets the rest."""
        width = {column: self._painter.width_of(column) for column in CandidateColumn}
        hidden = set() if self._with_state else {CandidateColumn.STATE}
        # The scroll bar's width stays free even without one, so that the pinned rows have the same columns.
        available = self.width() - self.verticalScrollBar().sizeHint().width()
        for number, engine in enumerate(self._model.engines, len(CandidateColumn)):
            needed = self.fontMetrics().horizontalAdvance(engine.title) + 2 * PADDING
            self.setColumnHidden(number, False)
            self.setColumnWidth(number, min(max(needed, _LEAST_ENGINE), _MOST_ENGINE))
            available -= self.columnWidth(number)
        for column in _HIDDEN_FIRST:
            if sum(width[c] for c in CandidateColumn if c not in hidden) <= available:
                break
            hidden.add(column)
        spare = available - sum(width[c] for c in CandidateColumn if c not in hidden)
        for_bars = max(0, round((spare - _TOKEN_FIRST) * _BARS_SHARE))
        width[CandidateColumn.PROBABILITY] += for_bars
        width[CandidateColumn.TOKEN] = max(
            width[CandidateColumn.TOKEN] + spare - for_bars, width[CandidateColumn.TOKEN] // 2
        )
        for column in CandidateColumn:
            self.setColumnHidden(column, column in hidden)
            self.setColumnWidth(column, width[column])

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Distribute the new width."""
        super().resizeEvent(event)
        self._arrange()

    def showEvent(self, event: QShowEvent) -> None:
        """Distribute the width once the fonts are final."""
        super().showEvent(event)
        self._arrange()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the rows, or the placeholder."""
        painter = QPainter(self.viewport())
        painter.fillRect(event.rect(), theme.colour(theme.Role.PANEL))
        if self._model.rowCount():
            columns, engines = self._visible_columns(), self._engine_columns()
            self._painter.paint(painter, self._rows_within(event.rect()), columns, engines)
        elif self._placeholder:
            painter.setPen(theme.colour(theme.Role.MUTED))
            box = self.viewport().rect().adjusted(PADDING, PADDING, -PADDING, -PADDING)
            flags = Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft | Qt.TextFlag.TextWordWrap
            painter.drawText(box, int(flags), self._placeholder)

    def _rows_within(self, box: QRect) -> Iterator[CandidateRow]:
        first, last = self.rowAt(box.top()), self.rowAt(box.bottom())
        chosen = {index.row() for index in self.selectionModel().selectedRows()}
        with_state = not self.isColumnHidden(CandidateColumn.STATE)
        for row in range(max(first, 0), (last if last >= 0 else self._model.rowCount() - 1) + 1):
            if (candidate := self._model.candidate(row)) is not None:
                state = self._model.state_text(candidate) if with_state else ""
                top = self.rowViewportPosition(row)
                yield CandidateRow(candidate, top, state, row in chosen, row == self._hovered_row)

    def _visible_columns(self) -> dict[CandidateColumn, tuple[float, float]]:
        """Return the left edge and the width of every visible column."""
        return {
            column: (self.columnViewportPosition(column), self.columnWidth(column))
            for column in CandidateColumn
            if not self.isColumnHidden(column)
        }

    def _engine_columns(self) -> list[tuple[ExtraColumn, float, float]]:
        """Return the columns of engines, with the left edge and the width of each."""
        return [
            (engine, self.columnViewportPosition(number), self.columnWidth(number))
            for number, engine in enumerate(self._model.engines, len(CandidateColumn))
        ]

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle Enter, F1, and arrows beyond the ends of the table."""
        chosen, key = self.chosen(), event.key()
        row = self.currentIndex().row() if chosen is not None else -1
        if key in _TAKE_KEYS and event.modifiers() == Qt.KeyboardModifier.ShiftModifier:
            self.force_chosen()
        elif key in _TAKE_KEYS and event.modifiers() in (
            Qt.KeyboardModifier.NoModifier,
            Qt.KeyboardModifier.KeypadModifier,
        ):
            self._decide(row)
        elif key == Qt.Key.Key_F1:
            if chosen is not None:
                self.why_wanted.emit(chosen.token_id)
        elif key == Qt.Key.Key_Down and row < 0:  # Qt has an invisible current row from the beginning
            self.choose(0)
        elif key == Qt.Key.Key_Up and row <= 0:
            self.left_upwards.emit()
        elif key == Qt.Key.Key_Down and row == self._model.rowCount() - 1:
            self.left_downwards.emit()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Open the menu of the row under the pointer, or of the selected one."""
        by_mouse = event.reason() is QContextMenuEvent.Reason.Mouse
        candidate = self._model.candidate(self.rowAt(event.pos().y())) if by_mouse else self.chosen()
        if candidate is not None:
            menu = self.menu_of(candidate)
            menu.aboutToHide.connect(menu.deleteLater)
            menu.popup(event.globalPos())

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Highlight the row under the pointer."""
        super().mouseMoveEvent(event)
        self._hover(self.rowAt(round(event.position().y())))

    def leaveEvent(self, event: QEvent) -> None:
        """Highlight no row."""
        super().leaveEvent(event)
        self._hover(-1)

    def _point(self, chosen: QModelIndex) -> None:
        if self.hasFocus():
            self.pointed_at.emit(self._model.candidate(chosen.row()))

    def _hover(self, row: int) -> None:
        if row != self._hovered_row:
            self._hovered_row = row
            self.viewport().setCursor(Qt.CursorShape.PointingHandCursor if row >= 0 else Qt.CursorShape.ArrowCursor)
            self.viewport().update()
            self.pointed_at.emit(self._model.candidate(row) if row >= 0 else None)


def _copy(text: str) -> None:
    QGuiApplication.clipboard().setText(text)
