"""The sampler settings, in a popover below their button."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager

from PySide6.QtCore import QPoint, QSignalBlocker, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QDoubleSpinBox,
    QFrame,
    QGridLayout,
    QSpinBox,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.theme.buttons import push_button
from app.theme.labels import Label, plain_text
from engine.decoding.values import DEFAULT_MAX_TOKENS, SamplerSettings

_MOST = 100_000


_MOST_SEED = 2**31 - 1
_NEW_SEED_BELOW = 100_000
_DEFAULTS = SamplerSettings()


class SamplerPopover(QFrame):
    """The fields of `SamplerSettings`.

    Signals:
        edited(SamplerSettings): the user changed one.
    """

    edited = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setProperty("role", "card")
        self.greedy = QCheckBox("Greedy: always the most probable token")
        self.temperature = _real(0.01, 5.0, 0.05, "Divides the logits: below 1 surer, above 1 more varied")
        self.top_k = _integer(0, 1_000_000, "Draws from the k most probable tokens only", off="off")
        self.top_p = _real(
            0.01, 1.0, 0.05, "Draws from the smallest set whose probabilities add up to p", off_at_most=True
        )
        self.min_p = _real(0.0, 1.0, 0.01, "Leaves out tokens below this share of the best one's probability")
        self.penalty = _real(0.1, 3.0, 0.05, "Above 1, makes tokens that occurred before less probable")
        self.seed = _integer(0, _MOST_SEED, "The same seed gives the same text")
        self.new_seed = push_button("New", "Draw another seed")
        self.reset = push_button("Reset to defaults", "Plain sampling: temperature 1, no filter, seed 0", role="link")
        self._build()
        self._connect()
        self.show_settings(_DEFAULTS)

    def settings(self) -> SamplerSettings:
        """Return the settings in the fields."""
        return SamplerSettings(
            repetition_penalty=round(self.penalty.value(), 4),
            temperature=0.0 if self.greedy.isChecked() else round(self.temperature.value(), 4),
            top_k=self.top_k.value(),
            top_p=round(self.top_p.value(), 4),
            min_p=round(self.min_p.value(), 4),
            seed=self.seed.value(),
        )

    def show_settings(self, settings: SamplerSettings) -> None:
        """Fill the fields without signals."""
        if settings == self.settings():
            return
        with self._silently():
            greedy = settings.temperature == 0
            self.greedy.setChecked(greedy)
            if not greedy:
                self.temperature.setValue(settings.temperature)
            self.top_k.setValue(settings.top_k)
            self.top_p.setValue(settings.top_p)
            self.min_p.setValue(settings.min_p)
            self.penalty.setValue(settings.repetition_penalty)
            self.seed.setValue(settings.seed)
        self._enable()

    def open_under(self, button: QWidget) -> None:
        """Open with the right edges aligned."""
        self.adjustSize()
        corner = button.mapToGlobal(QPoint(button.width() - self.sizeHint().width(), button.height() + theme.SPACE_XS))
        self.move(corner)
        self.show()

    def showEvent(self, event: QShowEvent) -> None:
        """Focus the first field."""
        super().showEvent(event)
        self.greedy.setFocus()

    def _build(self) -> None:
        form = QGridLayout()  # unlike in a QFormLayout, labels are centred vertically in their rows
        form.setHorizontalSpacing(theme.SPACE_L)
        form.setVerticalSpacing(theme.SPACE_S)
        form.setColumnStretch(1, 1)
        title = Label("Sampler")
        title.setProperty("role", "heading")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_M, theme.SPACE_L, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_S)
        layout.addWidget(title)
        layout.addWidget(self.greedy)
        layout.addLayout(form)
        names = ("Temperature", "Top-k", "Top-p", "Min-p", "Repetition penalty", "Seed")
        for row, (name, field) in enumerate(zip(names, self._fields(), strict=True)):
            label = Label(name)
            label.setBuddy(field)
            form.addWidget(label, row, 0)
            form.addWidget(field, row, 1, 1, 1 if field is self.seed else 2)
        form.addWidget(self.new_seed, len(names) - 1, 2)
        layout.addWidget(self.reset, 0, Qt.AlignmentFlag.AlignRight)

    def _connect(self) -> None:
        self.greedy.toggled.connect(self._emit)
        for field in self._fields():
            field.valueChanged.connect(self._emit)
        self.new_seed.clicked.connect(lambda: self.seed.setValue(secrets.randbelow(_NEW_SEED_BELOW)))
        self.reset.clicked.connect(self._reset)

    def _fields(self) -> tuple[QSpinBox | QDoubleSpinBox, ...]:
        return (self.temperature, self.top_k, self.top_p, self.min_p, self.penalty, self.seed)

    def _reset(self) -> None:
        self.show_settings(_DEFAULTS)
        self._emit()

    def _emit(self) -> None:
        self._enable()
        self.edited.emit(self.settings())

    def _enable(self) -> None:
        for field in (self.temperature, self.top_k, self.top_p, self.min_p):
            field.setEnabled(not self.greedy.isChecked())

    @contextmanager
    def _silently(self) -> Iterator[None]:
        blockers = [QSignalBlocker(field) for field in (self.greedy, *self._fields())]
        yield
        for blocker in blockers:
            blocker.unblock()


class SamplerButton(QToolButton):
    """Shows the sampler settings, and opens the popover.

    Signals:
        edited(SamplerSettings): the user changed something.
    """

    edited = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "outlined")
        self._settings = _DEFAULTS
        self._popover: SamplerPopover | None = None
        self.clicked.connect(lambda: self.popover.open_under(self))
        self._show_summary(_DEFAULTS)

    @property
    def popover(self) -> SamplerPopover:
        """Return the popover, created when it is first opened."""
        if self._popover is None:
            self._popover = SamplerPopover(self)
            self._popover.show_settings(self._settings)
            self._popover.edited.connect(self._on_edited)
        return self._popover

    def show_settings(self, settings: SamplerSettings) -> None:
        """Show the settings in force."""
        if settings != self._settings:
            self._show_summary(settings)
        if self._popover is not None:
            self._popover.show_settings(settings)

    def _on_edited(self, settings: SamplerSettings) -> None:
        self._show_summary(settings)
        self.edited.emit(settings)

    def _show_summary(self, settings: SamplerSettings) -> None:
        self._settings = settings
        self.setText(f"{summary(settings)} ▾")
        self.setToolTip(plain_text("How tokens are drawn: " + details(settings)))


def summary(settings: SamplerSettings) -> str:
    """Summarise settings: "temp 0.8 · seed 7"; a plus marks filters, which the tool tip names."""
    if settings.temperature == 0:
        return "Greedy"
    filters = settings.top_k or settings.top_p < 1 or settings.min_p or settings.repetition_penalty != 1
    return f"temp {settings.temperature:g}{' +' if filters else ''} · seed {settings.seed}"


def details(settings: SamplerSettings) -> str:
    """Describe all settings that are in force."""
    facts = ["greedy" if settings.temperature == 0 else f"temperature {settings.temperature:g}"]
    if settings.temperature:
        facts += [f"top-k {settings.top_k}"] if settings.top_k else []
        facts += [f"top-p {settings.top_p:g}"] if settings.top_p < 1 else []
        facts += [f"min-p {settings.min_p:g}"] if settings.min_p else []
    facts += [f"repetition penalty {settings.repetition_penalty:g}"] if settings.repetition_penalty != 1 else []
    facts += [f"seed {settings.seed}"] if settings.temperature else []
    return ", ".join(facts)


def _real(least: float, most: float, step: float, tip: str, *, off_at_most: bool = False) -> QDoubleSpinBox:
    field = QDoubleSpinBox(minimum=least, maximum=most, singleStep=step, decimals=2)
    field.lineEdit().setTextMargins(theme.SPACE_XS, 0, theme.SPACE_XS, 0)
    field.setKeyboardTracking(False)  # a number is reported when it is complete
    field.setToolTip(plain_text(tip + (" (1.00 is off)" if off_at_most else "")))
    return field


def _integer(least: int, most: int, tip: str, *, off: str = "") -> QSpinBox:
    field = QSpinBox(minimum=least, maximum=most)
    field.lineEdit().setTextMargins(theme.SPACE_XS, 0, theme.SPACE_XS, 0)
    field.setKeyboardTracking(False)  # a number is reported when it is complete
    field.setSpecialValueText(off)
    field.setToolTip(plain_text(tip))
    return field


class BudgetField(QSpinBox):
    """Shows the budget and lets the user edit it.

    Signals:
        edited(max tokens): the user changed it.
    """

    edited = Signal(int)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, minimum=1, maximum=_MOST, value=DEFAULT_MAX_TOKENS)
        self.setPrefix("budget ")
        self.setKeyboardTracking(False)  # a number is reported when it is complete
        self.setAccelerated(True)
        self.setAccessibleName("Budget in tokens")
        self.setToolTip("The maximum number of tokens of an output")
        self.lineEdit().setTextMargins(theme.SPACE_XS, 0, theme.SPACE_XS, 0)
        self.valueChanged.connect(self.edited)

    def show_budget(self, max_tokens: int) -> None:
        """Show the budget without a signal; do not overwrite what the user is typing."""
        if max_tokens != self.value() and not self.lineEdit().isModified():
            blocker = QSignalBlocker(self)
            self.setMaximum(max(_MOST, max_tokens))
            self.setValue(max_tokens)
            blocker.unblock()
