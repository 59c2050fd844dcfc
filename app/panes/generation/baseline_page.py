"""The unconstrained baseline, below the constrained output of the same prompt.

The outputs are aligned one above the other, so that common tokens are at the same positions; the first token that
differs has a frame in both.
"""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from app import theme
from app.catalogue import ui_text
from app.display_text import percent_between, token_text
from app.panes.generation.chip import archived_chips
from app.panes.generation.chip_view import ChipView
from app.theme.buttons import push_button
from app.theme.labels import Label, plain_text
from app.widgets.elided_label import ElidedLabel
from app.workers.requests.decode import BaselineAnswer
from engine.decoding.values import ArchivedBranch, BaselineRun, Step, StepOrigin


class BaselinePage(QWidget):
    """Shows a baseline.

    Signals:
        wanted(): generate it.
        cancelled(): stop, and keep what was generated.
    """

    wanted = Signal()
    cancelled = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._is_writing = False
        self._refusal = ""
        self._is_stale = False
        self._answer: BaselineAnswer | None = None
        self.verdict = Label(wraps=True)
        self.generate = push_button(clicked=self._on_clicked)
        self.bar = QProgressBar(textVisible=False)
        self.bar.setFixedHeight(6)
        self.bar.setAccessibleName(ui_text("generation.baseline.progress"))
        self.with_title, self.without_title = ElidedLabel(), ElidedLabel()
        self.with_grammar = ChipView(ui_text("generation.baseline.no_output"))
        self.with_grammar.setAccessibleName(ui_text("generation.baseline.constrained"))
        self.without = ChipView(ui_text("generation.baseline.empty"))
        self.without.setAccessibleName(ui_text("generation.pane.baseline"))
        self._build()
        self.show_baseline(None)

    def show_baseline(self, answer: BaselineAnswer | None) -> None:
        """Show the baseline so far; None clears it."""
        self._answer = answer
        self._is_stale = False
        baseline = answer.run if answer is not None else None
        self._is_writing = baseline is not None and baseline.finish is None
        self.bar.setRange(0, answer.budget if answer is not None else 1)
        self.bar.setValue(len(baseline.free) if baseline is not None else 0)
        for title, view, steps in (
            (self.with_title, self.with_grammar, baseline.written if baseline else ()),
            (self.without_title, self.without, baseline.free if baseline else ()),
        ):
            at = baseline.diverges if baseline is not None else None
            view.show_chips(archived_chips(ArchivedBranch("", "", steps)), at)
            name = view.accessibleName()
            title.set_text(f"{name} · {ui_text('common.count.tokens', count=len(steps))}" if steps else name)
        self._refresh()

    def set_stale(self) -> None:
        """Mark the baseline as outdated: the output has changed."""
        if self._answer is not None and not self._is_writing and not self._is_stale:
            self._is_stale = True
            self._refresh()

    def stop(self, why: str) -> None:
        """Report why no more will come; keep what is shown."""
        self._is_writing = False
        self._refresh(why)

    def set_refusal(self, reason: str) -> None:
        """Set why the model cannot generate now; empty if it can."""
        self._refusal = reason
        self._refresh()

    def is_writing(self) -> None:
        """Show that the generation has started, before its first token."""
        self._is_writing = True
        self._refresh()

    def _on_clicked(self) -> None:
        if self._is_writing:
            self.cancelled.emit()
        else:
            self.wanted.emit()

    def _refresh(self, why: str = "") -> None:
        baseline = self._answer.run if self._answer is not None else None
        text = verdict_of(baseline) if baseline is not None else ui_text("generation.baseline.empty")
        if why:
            text = ui_text("generation.baseline.stopped", reason=why, verdict=text) if baseline is not None else why
        elif self._is_stale:
            text = ui_text("generation.baseline.stale", verdict=text)
        self.verdict.setText(text)
        self.bar.setVisible(self._is_writing)
        if self._is_writing:
            text, tip = ui_text("common.button.cancel"), ui_text("generation.pane.cancel_tip")
        else:
            text = ui_text("generation.baseline.generate" if baseline is None else "generation.baseline.again")
            tip = self._refusal or ui_text("generation.baseline.generate_tip")
        self.generate.setText(text)
        self.generate.setEnabled(self._is_writing or not self._refusal)
        self.generate.setToolTip(plain_text(tip))
        for widget in (self.with_title, self.with_grammar, self.without_title, self.without):
            widget.setVisible(baseline is not None)

    def _build(self) -> None:
        head = QHBoxLayout()
        head.setSpacing(theme.SPACE_S)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, theme.SPACE_S, 0, 0)
        layout.setSpacing(theme.SPACE_XS)
        layout.addLayout(head)
        head.addWidget(self.verdict, 1)
        head.addWidget(self.generate)
        layout.addWidget(self.bar)
        for title, view in ((self.with_title, self.with_grammar), (self.without_title, self.without)):
            title.setContentsMargins(0, theme.SPACE_XS, 0, 0)
            layout.addWidget(title)
            layout.addWidget(view, 1)
        layout.addStretch(0)


def verdict_of(baseline: BaselineRun) -> str:
    """Compare a baseline with the output, in a few sentences."""
    sentences = list(_difference(baseline))
    if baseline.finish is not None:
        sentences.append(ui_text(f"generation.baseline.end.{baseline.finish.name.lower()}"))
    return ". ".join(sentences) + "."


def _difference(baseline: BaselineRun) -> Iterator[str]:
    """Yield sentences about the first step that differs, and about why it does."""
    if not baseline.written:
        yield ui_text("generation.baseline.nothing")
    elif baseline.diverges is None:
        yield ui_text("generation.baseline.equal", count=min(len(baseline.written), len(baseline.free)))
    else:
        mine, free = baseline.written[baseline.diverges], baseline.free[baseline.diverges]
        yield ui_text("generation.baseline.differ", step=baseline.diverges + 1, mine=_text(mine), free=_text(free))
        yield _reason(mine, free)


def _reason(mine: Step, free: Step) -> str:
    if mine.origin in (StepOrigin.USER, StepOrigin.FORCED_BY_USER):
        return ui_text("generation.baseline.reason.user")
    if mine.origin is StepOrigin.REPLAYED:
        return ui_text("generation.baseline.reason.replayed")
    if not mine.was_queried:
        return ui_text("generation.baseline.reason.forced")
    is_masked = any(one.token_id == free.token_id and not one.allowed for one in mine.top)
    return ui_text(
        f"generation.baseline.reason.{'masked' if is_masked else 'mass'}",
        mass=percent_between(*(mine.z_range or (0.0, 1.0))),
    )


def _text(step: Step) -> str:
    return token_text(step.token, step.name, step.token_id)
