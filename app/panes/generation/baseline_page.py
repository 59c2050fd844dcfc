"""The unconstrained baseline, below the constrained output of the same prompt.

The outputs are aligned one above the other, so that common tokens are at the same positions; the first token that
differs has a frame in both.
"""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QVBoxLayout, QWidget

from app import theme
from app.display_text import count, percent, token_text
from app.panes.generation.chip import archived_chips
from app.panes.generation.chip_view import ChipView
from app.theme.buttons import push_button
from app.theme.labels import Label, plain_text
from app.widgets.elided_label import ElidedLabel
from app.workers.decode_messages import BaselineAnswer
from engine.decoding.values import ArchivedBranch, BaselineRun, Finish, Step, StepOrigin

_EMPTY = "Compare with an output of the same prompt, sampler and seed without the grammar."
_ENDS = {
    Finish.STOP: "it ended by itself",
    Finish.LENGTH: "the budget ended it",
    Finish.CONTEXT: "the model's context was full",
    Finish.DEAD_END: "it came to a dead end",
}


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
        self.generate = push_button("Generate", "Generate from the same prompt without the grammar")
        self.bar = QProgressBar(textVisible=False)
        self.bar.setFixedHeight(6)
        self.bar.setAccessibleName("How far the text without the grammar is")
        self.with_title, self.without_title = ElidedLabel(), ElidedLabel()
        self.with_grammar = ChipView("Nothing was generated with the grammar yet.")
        self.with_grammar.setAccessibleName("With the grammar")
        self.without = ChipView(_EMPTY)
        self.without.setAccessibleName("Without the grammar")
        self._build()
        self.generate.clicked.connect(self._on_clicked)
        self.show_baseline(None)

    def show_baseline(self, answer: BaselineAnswer | None) -> None:
        """Show the baseline so far; None clears it."""
        self._answer = answer
        self._is_stale = False
        baseline = answer.run if answer is not None else None
        self._is_writing = baseline is not None and baseline.finish is None
        self.bar.setRange(0, answer.budget if answer is not None else 1)
        self.bar.setValue(len(baseline.free) if baseline is not None else 0)
        for title, view, steps, name in (
            (self.with_title, self.with_grammar, baseline.written if baseline else (), "With the grammar"),
            (self.without_title, self.without, baseline.free if baseline else (), "Without the grammar"),
        ):
            at = baseline.diverges if baseline is not None else None
            view.show_chips(archived_chips(ArchivedBranch("", "", steps)), at)
            title.set_text(f"{name} · {count(len(steps), 'token')}" if steps else name)
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
        text = verdict_of(baseline) if baseline is not None else _EMPTY
        if why:
            text = f"{why}. {text if baseline is not None else ''}".strip()
        elif self._is_stale:
            text = f"The output has changed since: generate again. {text}"
        self.verdict.setText(text)
        self.bar.setVisible(self._is_writing)
        self.generate.setText("Cancel" if self._is_writing else "Generate" if baseline is None else "Generate again")
        self.generate.setEnabled(self._is_writing or not self._refusal)
        self.generate.setToolTip(
            plain_text(
                "Stop and keep the text so far"
                if self._is_writing
                else self._refusal or "Generate from the same prompt without the grammar"
            )
        )
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
    """Return the verdict on a baseline, in a sentence or two."""
    end = f" Without the grammar {_ENDS[baseline.finish]}." if baseline.finish is not None else ""
    if baseline.diverges is None:
        if not baseline.written:
            return f"Nothing was generated with the grammar yet, so there is nothing to compare.{end}"
        alike = min(len(baseline.written), len(baseline.free))
        return f"So far both are alike, {count(alike, 'token')} long.{end}"
    mine, free = baseline.written[baseline.diverges], baseline.free[baseline.diverges]
    return (
        f"They part at step {baseline.diverges + 1}: {_text(mine)} with the grammar, {_text(free)} without it. "
        f"{_reason(mine, free)}{end}"
    )


def _reason(mine: Step, free: Step) -> str:
    if mine.origin in (StepOrigin.USER, StepOrigin.FORCED_BY_USER):
        return "You chose the token."
    if not mine.was_queried:
        return "Its text is forced there, and was taken without asking the model."
    forbidden = next((not one.allowed for one in mine.top if one.token_id == free.token_id), None)
    verdict = "The grammar did not allow that one: " if forbidden else ""
    return f"{verdict}{'i' if verdict else 'I'}t left {percent(mine.z)} of the model's mass there."


def _text(step: Step) -> str:
    return f"“{token_text(step.token, step.name, step.token_id)}”"
