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
from app.catalogue import ui_text
from app.panes.generation.processors_format import stage_title
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

    edited = Signal(SamplerSettings)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setProperty("role", "card")
        self.greedy = QCheckBox(ui_text("generation.sampler.greedy"))
        self.temperature = _real(0.01, 5.0, 0.05, ui_text("generation.sampler.tip.temperature"))
        self.top_k = _integer(0, 1_000_000, ui_text("generation.sampler.tip.top_k"))
        self.top_k.setSpecialValueText(ui_text("generation.processors.fragment.off"))
        self.top_p = _real(0.01, 1.0, 0.05, ui_text("generation.sampler.tip.top_p"))
        self.min_p = _real(0.0, 1.0, 0.01, ui_text("generation.sampler.tip.min_p"))
        self.penalty = _real(0.1, 3.0, 0.05, ui_text("generation.sampler.tip.penalty"))
        self.seed = _integer(0, _MOST_SEED, ui_text("generation.sampler.tip.seed"))
        self.new_seed = push_button(ui_text("generation.sampler.new_seed"), ui_text("generation.sampler.new_seed_tip"))
        self.reset = push_button(ui_text("generation.pane.reset"), ui_text("generation.sampler.reset_tip"), role="link")
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
        title = Label(ui_text("generation.sampler.name"))
        title.setProperty("role", "heading")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_M, theme.SPACE_L, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_S)
        layout.addWidget(title)
        layout.addWidget(self.greedy)
        layout.addLayout(form)
        stages = "temperature", "top-k", "top-p", "min-p", "repetition penalty"
        names = *map(stage_title, stages), ui_text("common.word.seed")
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

    edited = Signal(SamplerSettings)

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
        self.setToolTip(plain_text(ui_text("generation.sampler.settings", settings=details(settings))))


def summary(settings: SamplerSettings) -> str:
    """Summarise settings: "temp 0.8 · seed 7"; a plus marks filters, which the tool tip names."""
    if settings.temperature == 0:
        return ui_text("generation.sampler.summary")
    filters = settings.top_k or settings.top_p < 1 or settings.min_p or settings.repetition_penalty != 1
    name = "filtered" if filters else "plain"
    return ui_text(f"generation.sampler.fragment.{name}", temperature=settings.temperature, seed=settings.seed)


def details(settings: SamplerSettings) -> str:
    """Describe all settings that are in force."""
    greedy = settings.temperature == 0
    values: dict[str, float | None] = {
        "temperature": None if greedy else settings.temperature,
        "top_k": None if greedy else settings.top_k or None,
        "top_p": None if greedy or settings.top_p >= 1 else settings.top_p,
        "min_p": None if greedy else settings.min_p or None,
        "penalty": None if settings.repetition_penalty == 1 else settings.repetition_penalty,
        "seed": None if greedy else settings.seed,
    }
    facts = [ui_text("generation.sampler.fragment.greedy")] if greedy else []
    for name, value in values.items():
        if value is not None:
            facts.append(ui_text(f"generation.sampler.value.fragment.{name}", value=value))
    return ", ".join(facts)


def _real(least: float, most: float, step: float, tip: str) -> QDoubleSpinBox:
    field = QDoubleSpinBox(minimum=least, maximum=most, singleStep=step, decimals=2)
    field.lineEdit().setTextMargins(theme.SPACE_XS, 0, theme.SPACE_XS, 0)
    field.setKeyboardTracking(False)  # a number is reported when it is complete
    field.setToolTip(plain_text(tip))
    return field


def _integer(least: int, most: int, tip: str) -> QSpinBox:
    field = QSpinBox(minimum=least, maximum=most)
    field.lineEdit().setTextMargins(theme.SPACE_XS, 0, theme.SPACE_XS, 0)
    field.setKeyboardTracking(False)  # a number is reported when it is complete
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
        self.setPrefix(f"{ui_text('generation.budget_field.fragment.prefix')} ")
        self.setKeyboardTracking(False)  # a number is reported when it is complete
        self.setAccelerated(True)
        self.setAccessibleName(ui_text("generation.budget_field.name"))
        self.setToolTip(plain_text(ui_text("generation.budget_field.tip")))
        self.lineEdit().setTextMargins(theme.SPACE_XS, 0, theme.SPACE_XS, 0)
        self.valueChanged.connect(self.edited)

    def show_budget(self, max_tokens: int) -> None:
        """Show the budget without a signal; do not overwrite what the user is typing."""
        if max_tokens != self.value() and not self.lineEdit().isModified():
            blocker = QSignalBlocker(self)
            self.setMaximum(max(_MOST, max_tokens))
            self.setValue(max_tokens)
            blocker.unblock()
