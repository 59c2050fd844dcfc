"""The status bar: the automaton's size, the mask, whether the text may end, and the background activity.

Its texts are shortened if the window is narrow. A text has parts, the most important first. If there is not enough
space, parts are dropped in a given order, then complete texts except for the last; a text that is still too long is
elided. The tool tip has everything that is hidden.
"""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QStatusBar

from app import theme
from app.catalogue import ui_text
from app.commands import set_tip
from app.display_text import characters, duration, end_text, percent_between
from app.session import CompiledGrammarView
from app.theme.buttons import close_button
from app.theme.labels import plain_text
from app.widgets.elided_label import ElidedLabel
from app.widgets.stable_widget import StableWidget
from app.workers.requests.decode import DecodeView
from engine.decoding.values import EosState, Finish, Position

_SPACING = 6  # like the items of QStatusBar
_SEPARATOR = " · "


class StatusFields(StableWidget):
    """A row of texts that shrinks to its width.

    Args:
        count: the number of texts.
        first_to_go: numbers of texts, in the order in which each loses its last remaining part.
    """

    def __init__(self, count: int, first_to_go: Sequence[int]) -> None:
        super().__init__(takes_what_is_left=True)  # every step changes the numbers
        self._first_to_go = first_to_go
        self._parts: list[tuple[str, ...]] = [()] * count
        self._labels = [ElidedLabel() for _ in range(count)]
        row = QHBoxLayout(self.inner)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(_SPACING)
        for label in self._labels:
            label.setContentsMargins(theme.SPACE_XS, 0, theme.SPACE_M, 0)
            row.addWidget(label)
        row.addStretch()

    @property
    def texts(self) -> tuple[str, ...]:
        """Return the complete texts, visible or not."""
        return tuple(map(_SEPARATOR.join, self._parts))

    def set_parts(self, index: int, *parts: str) -> None:
        """Set a text's parts, the most important first; without parts the text is hidden."""
        new_parts = tuple(filter(None, parts))
        if new_parts != self._parts[index]:
            self._parts[index] = new_parts
            self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the texts to the new width."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        visible = list(self._parts)
        drops = [(index, True) for index in self._first_to_go] + [(index, False) for index in range(len(visible) - 1)]
        for index, keeps_one in drops:
            if self._width_of(visible) <= self.width():
                break
            visible[index] = visible[index][: max(len(visible[index]) - 1, 1)] if keeps_one else ()
        for label, parts in zip(self._labels, visible, strict=True):
            label.set_text(_SEPARATOR.join(parts))
            label.setVisible(bool(parts))
        # An elided label has its own tool tip; the dropped parts are in the tool tip of the row.
        self.setToolTip(plain_text("" if visible == self._parts else "\n".join(filter(None, self.texts))))

    def _width_of(self, visible: list[tuple[str, ...]]) -> int:
        metrics, around = self.fontMetrics(), theme.SPACE_XS + theme.SPACE_M + _SPACING
        return sum(metrics.horizontalAdvance(_SEPARATOR.join(parts)) + around for parts in visible if parts)


_AUTOMATON, _ALLOWED, _EOS = range(3)
_FIRST_TO_GO = (_AUTOMATON, _ALLOWED, _AUTOMATON, _ALLOWED)  # timings first, then facts that the panes also show
_CANCEL = 20  # a button of the usual size would make the bar higher while a job runs
_BYTES_FROM = 100_000  # a larger total is a size in bytes, shown in megabytes


class StatusLine(QStatusBar):
    """The status bar of the window.

    Attributes:
        cancel_button: the ⨯ beside the progress.

    Signals:
        cancel_clicked: `cancel_button` was clicked.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setSizeGripEnabled(False)
        self.setContentsMargins(theme.SPACE_S, 0, theme.SPACE_S, 0)
        self._fields = StatusFields(len((_AUTOMATON, _ALLOWED, _EOS)), _FIRST_TO_GO)
        self.addWidget(self._fields, 1)
        self._job = ElidedLabel(role="")
        self._bar = QProgressBar()
        self._bar.setTextVisible(False)
        self._bar.setFixedWidth(120)
        self.cancel_button = close_button(ui_text("window.status.cancel"))
        set_tip(self.cancel_button, ui_text("window.status.cancel_tip"), "run.cancel")
        self.cancel_button.setFixedSize(_CANCEL, _CANCEL)
        self.cancel_clicked = self.cancel_button.clicked
        for widget in (self._job, self._bar, self.cancel_button):
            self.addPermanentWidget(widget)
        self.show_activity("", 0, None)

    @property
    def texts(self) -> tuple[str, str, str, str]:
        """Return its texts: the automaton, the mask, the end, and the background activity."""
        automaton, allowed, eos = self._fields.texts
        return automaton, allowed, eos, self._job.text()

    def show_automaton(self, drawn: CompiledGrammarView | None, stale_reason: str) -> None:
        """Show the automaton's size, or why it does not belong to the current text."""
        if stale_reason:
            self._fields.set_parts(_AUTOMATON, stale_reason)
        elif drawn is not None:
            compiled = ui_text("window.status.fragment.compiled", duration=duration(drawn.compile_ms / 1e3))
            self._fields.set_parts(_AUTOMATON, *_size(drawn), compiled)

    def show_view(self, view: DecodeView, drawn: CompiledGrammarView | None, live: frozenset[int]) -> None:
        """Show what may come next.

        Args:
            view: the last answer of the decode process.
            drawn: the automaton that is drawn; None before the first one.
            live: its live states.
        """
        position = view.position
        if position is None:
            self._fields.set_parts(_ALLOWED)
            self._fields.set_parts(_EOS)
            return
        if position.finish is not None and position.finish is not Finish.DEAD_END:
            self._fields.set_parts(_ALLOWED)  # the grammar is not needed any more
        else:
            counts = ui_text("window.status.allowed", allowed=position.allowed, total=position.vocabulary_size)
            z = ""
            if (mass := position.z_range) is not None and view.has_model:
                z = ui_text("window.status.z", percent=percent_between(*mass))
            mask = ui_text("window.status.fragment.mask", duration=duration(position.mask_us / 1e6))
            self._fields.set_parts(_ALLOWED, counts, z, mask)
        self._fields.set_parts(_EOS, _end(position, drawn, live), _context_left(view, position))

    def show_activity(self, text: str, done: int, total: int | None) -> None:
        """Show the background activity.

        Args:
            text: its name; empty to hide it.
            done: how much of it is done.
            total: how much there is, in items or, if large, in bytes; None if that is unknown.
        """
        for widget in (self._job, self._bar, self.cancel_button):
            widget.setVisible(bool(text))
        if total is not None and total > _BYTES_FROM:
            text = ui_text("window.status.megabytes", activity=text, done=done / 1e6, total=total / 1e6)
        elif total:
            text = ui_text("window.status.items", activity=text, done=done, total=total)
        self._job.set_text(text)
        # Qt counts in 32 bits, and a model may have more bytes than that.
        self._bar.setRange(0, 1000 if total else 0)
        self._bar.setValue(round(1000 * min(done / total, 1)) if total else 0)


def _size(drawn: CompiledGrammarView) -> tuple[str, ...]:
    """Return the size of an automaton, as it is drawn and in total."""
    if drawn.rules is not None:
        return ui_text("common.count.rules", count=len(drawn.rules.names)), _states(drawn.rules.size)
    if not drawn.is_whole:
        return (drawn.too_large,)
    states, edges = len(drawn.dfa.states), len(drawn.dfa.edges)
    if drawn.fold is None:
        return _states(states), ui_text("common.count.edges", count=edges)
    outer = _states(states - len(drawn.fold.inner))
    shown = ui_text("window.status.states_over_bytes", states=outer, total=states)
    return shown, ui_text("common.count.edges", count=len(drawn.fold.edges))


def _states(number: int) -> str:
    return ui_text("common.count.states", count=number)


def _context_left(view: DecodeView, position: Position) -> str:
    """Return how much of the model's context is left, if it ends the output before the budget does."""
    context = position.context
    if context is None or position.finish is not None or context.left >= view.max_tokens - position.index:
        return ""
    return ui_text("common.fragment.context_left", count=context.left)


def _expected(drawn: CompiledGrammarView | None, live: frozenset[int]) -> str:
    if drawn is None or len(live) != 1:
        return ""
    (state,) = live
    ranges = {pair for edge in drawn.dfa.edges if edge.source == state for pair in edge.ranges}
    return characters(tuple(sorted(ranges))) if ranges else ""


def _end(position: Position, drawn: CompiledGrammarView | None, live: frozenset[int]) -> str:
    if position.finish is not None:
        return end_text(position)
    if position.accepting:
        return ui_text("window.status.may_end" if position.eos is EosState.ALLOWED else "window.status.matches")
    expected = _expected(drawn, live)
    shown = expected if len(expected) <= 48 else expected[:47] + "…"
    return ui_text("window.status.no_end_expects", expected=shown) if shown else ui_text("window.status.no_end")
