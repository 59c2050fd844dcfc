"""The candidate table: a search field, the candidates, and the end tokens pinned below them.

An end token must never scroll out of sight in a debugger, so its rows stay fixed at the bottom. For a vocabulary
without one, that area says how it stops instead.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal
from PySide6.QtGui import QKeyEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from app import theme
from app.display_text import candidate_text, count, shown, unmarked
from app.models.candidates import peak_of
from app.panes.generation.candidate_view import CandidateView
from app.theme.buttons import tool_button
from app.theme.labels import Label
from app.theme.plain_text import plain_text
from app.widgets.elided_label import ElidedLabel
from app.widgets.font_warming import FontWarming
from engine.decoding.values import Candidate, EosState, Position

_LOOKUP_DELAY_MS = 150
_MOST_ENDS = 3
_MANY_SCRIPTS = 8_192  # a vocabulary with more tokens than this has some of every script


class CandidateTable(QWidget):
    """Shows the candidates of one position.

    Signals:
        token_taken(token id), why_wanted(token id): as in `CandidateView`.
        force_wanted(token id), until_wanted(token id): likewise.
        lookup_wanted(text): search the whole vocabulary.

    Attributes:
        fonts: loads glyphs of other scripts in advance, once a large vocabulary is shown.
    """

    token_taken = Signal(int)
    why_wanted = Signal(int)
    force_wanted = Signal(int)
    until_wanted = Signal(int)
    lookup_wanted = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._position: Position | None = None
        self._peak = 0.0
        self._placeholder = ""
        self._is_tight = False
        self._timer = QTimer(self, singleShot=True, interval=_LOOKUP_DELAY_MS)
        self._timer.timeout.connect(self._request_lookup)

        self.search = QLineEdit(placeholderText='Find any token: text, #id or "exact"', clearButtonEnabled=True)
        self.search.setAccessibleName("Find any token")
        self.search.setToolTip(
            'Part of a token, #id, or "exact text"; \\n, \\t, \\s and \\xNN are bytes. It says legal, or why not'
        )
        self.search.textChanged.connect(self._on_search)
        self.search.installEventFilter(self)
        self.only_allowed = tool_button(
            "Allowed only", "Leave out the tokens that the grammar does not allow", role="outlined", checkable=True
        )
        self._verdicts: dict[int, str] = {}
        self.fonts, self._warmed_size = FontWarming(self), 0
        self.verdict = ElidedLabel()
        self.verdict.hide()
        self.remembered = Label("as remembered…")
        self.remembered.setToolTip(
            "The model's best tokens as they were when the next step was taken; the model is asked for the rest now"
        )
        self.remembered.setProperty("role", "muted")
        self.remembered.hide()
        self.found = Label()
        self.found.setProperty("role", "muted")
        self.found.hide()

        self.table = CandidateView(self)
        self.table.setAccessibleName("Candidates for the next token")
        self.table.make_sortable()
        self.table.keep_rows_in_sight(2)
        self.ends = CandidateView(self)
        self.ends.setAccessibleName("End of the output")
        self.ends.horizontalHeader().hide()
        self.rule = _Rule()
        self.no_ends = ElidedLabel(
            "No end token in this vocabulary: it stops where the text matches and nothing may follow"
        )
        self.no_ends.setContentsMargins(theme.SPACE_S, theme.SPACE_XS, theme.SPACE_S, theme.SPACE_XS)
        self.no_ends.hide()
        self._build()
        self._connect()
        self._fit_ends()

    def show_position(self, position: Position | None) -> None:
        """Show the candidates of a position; a running search is updated."""
        self._position = position
        candidates = position.candidates if position else ()
        self._peak = peak_of(candidates)
        self.ends.show_candidates(tuple(c for c in candidates if c.is_eos), self._peak)
        for widget in (self.search, self.only_allowed, self.table.horizontalHeader()):
            widget.setVisible(bool(candidates))
        for view in (self.table, self.ends):
            view.set_vocabulary_size(position.vocabulary_size if position else 0)
        self.remembered.setVisible(position is not None and position.is_remembered)
        if (
            position is not None
            and position.vocabulary_size > _MANY_SCRIPTS
            and position.vocabulary_size != self._warmed_size
        ):
            self._warmed_size = position.vocabulary_size
            self.fonts.begin()
        self._placeholder = _placeholder_of(position)
        self._fit_ends()
        if self.search.text() and candidates:
            self._timer.start()
        else:
            self._show(candidates)

    def show_found(self, text: str, candidates: tuple[Candidate, ...], verdicts: tuple[str, ...] = ()) -> None:
        """Show the results of a search with the verdict on each; results of an older search are ignored."""
        if text and text == self.search.text():
            self._verdicts = {one.token_id: verdict for one, verdict in zip(candidates, verdicts, strict=False)}
            self._show(candidates, len(candidates))
            if candidates:
                self._say_verdict(candidates[0])

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
        """Hide what is not a candidate if there is hardly any room."""
        self._is_tight = is_tight
        self._fit_ends()

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
        bar.addWidget(self.remembered)
        bar.addWidget(self.found)
        bar.addWidget(self.only_allowed)
        self.verdict.setContentsMargins(theme.SPACE_XS, theme.SPACE_XS, 0, 0)
        layout.addWidget(self.verdict)
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
            view.pointed_at.connect(self._on_pointed_at)
            view.clicked.connect(other.clearSelection)
        self.only_allowed.toggled.connect(self.table.candidates.set_allowed_only)
        self.table.left_upwards.connect(self.search.setFocus)
        self.table.left_downwards.connect(lambda: self._enter(self.ends, 0))
        self.ends.left_upwards.connect(lambda: self._enter(self.table, self.table.candidates.rowCount() - 1))

    def _show(self, candidates: tuple[Candidate, ...], found: int | None = None) -> None:
        pinned = {c.token_id for c in self._position.candidates if c.is_eos} if self._position else set()
        self.table.show_candidates(tuple(c for c in candidates if c.token_id not in pinned), self._peak)
        self.table.set_placeholder(f"No token matches “{self.search.text()}”" if found == 0 else self._placeholder)
        self.verdict.setVisible(bool(found))
        self.found.setVisible(found is not None)
        self.found.setText(f"{found} found" if found != 1 else "1 found")

    def _on_search(self, text: str) -> None:
        if not text:
            self._timer.stop()
            self._show(self._position.candidates if self._position else ())
            return
        known = self._position.candidates if self._position else ()
        self._show(tuple(c for c in known if _matches(text, c)))
        self._timer.start()

    def _on_pointed_at(self, candidate: Candidate | None) -> None:
        if candidate is not None and self.verdict.isVisibleTo(self):
            self._say_verdict(candidate)

    def _say_verdict(self, candidate: Candidate) -> None:
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
        self.no_ends.setVisible(has_none and not self._is_tight)
        self.ends.setVisible(rows > 0)
        self.rule.setVisible(rows > 0 or self.no_ends.isVisibleTo(self))
        self.ends.setFixedHeight(min(rows, _MOST_ENDS) * self.ends.verticalHeader().defaultSectionSize())
        self.ends.setToolTip(plain_text(f"{count(rows, 'end token')}, always shown"))

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
    if text.startswith("#") and text[1:].strip().isdecimal():
        return candidate.token_id == int(text[1:])
    if len(text) > len('""') and text[0] == text[-1] == '"':
        return candidate_text(candidate) == shown(text[1:-1].encode("utf-8", "surrogatepass"))
    return text.casefold() in candidate_text(candidate).casefold()


def _placeholder_of(position: Position | None) -> str:
    """Return the text shown instead of candidates."""
    if position is None:
        return "The candidates for the next token stand here once there is a model and a grammar."
    if position.finish is not None and not position.index:
        return "Nothing is asked of the model: the grammar, or the model, has to change first."
    if position.finish is not None:
        return "Nothing more is asked of the model. Go back or restart to go on from an earlier step."
    return "No candidate is allowed; look any token up to see why." if position.candidates else ""
