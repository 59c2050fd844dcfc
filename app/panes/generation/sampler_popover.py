"""The sampler settings, in a popover below their button."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

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
from app.theme.buttons import push_button
from app.theme.labels import Label, plain_text
from engine.decoding.pipeline_settings import applied_fields, sampler_values
from engine.decoding.stage import Field, Stage
from engine.decoding.stage_texts import stage_title
from engine.decoding.stages import sampler_stages
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
        self.numbers = {field.name: _number(field) for stage in _stages() for field in stage.fields}
        self.numbers["top_k"].setSpecialValueText(ui_text("generation.processors.fragment.off"))
        self.numbers["repetition_window"].setSpecialValueText(ui_text("generation.sampler.fragment.all_tokens"))
        self.seed = QSpinBox(minimum=0, maximum=_MOST_SEED)
        _prepare(self.seed, "seed")
        self.new_seed = push_button(
            ui_text("generation.sampler.new_seed"),
            ui_text("generation.sampler.new_seed_tip"),
            clicked=lambda: self.seed.setValue(secrets.randbelow(_NEW_SEED_BELOW)),
        )
        self.reset = push_button(
            ui_text("generation.pane.reset"), ui_text("generation.sampler.reset_tip"), role="link", clicked=self._reset
        )
        self._build()
        self._connect()
        self.show_settings(_DEFAULTS)

    def settings(self) -> SamplerSettings:
        """Return the settings in the fields."""
        values: dict[str, Any] = {name: round(field.value(), 4) for name, field in self.numbers.items()}
        if self.greedy.isChecked():
            values["temperature"] = 0.0
        return SamplerSettings(**values, seed=self.seed.value())

    def show_settings(self, settings: SamplerSettings) -> None:
        """Fill the fields without signals."""
        if settings == self.settings():
            return
        with self._silently():
            self.greedy.setChecked(settings.is_greedy)
            for name, field in self.numbers.items():
                if not (settings.is_greedy and name == "temperature"):
                    field.setValue(getattr(settings, name))
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
        titles = (_title(stage, field) for stage in _stages() for field in stage.fields)
        names = *titles, ui_text("common.word.seed")
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

    def _fields(self) -> tuple[QSpinBox | QDoubleSpinBox, ...]:
        return *self.numbers.values(), self.seed

    def _reset(self) -> None:
        self.show_settings(_DEFAULTS)
        self._emit()

    def _emit(self) -> None:
        self._enable()
        self.edited.emit(self.settings())

    def _enable(self) -> None:
        for stage in _stages():
            first, *others = (self.numbers[field.name] for field in stage.fields)
            first.setEnabled(stage.applies_if_greedy or not self.greedy.isChecked())
            for field in others:
                field.setEnabled(first.isEnabled() and first.value() != stage.fields[0].default)

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
    if settings.is_greedy:
        return ui_text("generation.sampler.summary")
    name = "filtered" if sampler_values(settings).keys() - {"temperature"} else "plain"
    return ui_text(f"generation.sampler.fragment.{name}", temperature=settings.temperature, seed=settings.seed)


def details(settings: SamplerSettings) -> str:
    """Describe all settings that are in force."""
    facts = [ui_text("generation.sampler.fragment.greedy")] if settings.is_greedy else []
    shown = applied_fields(settings)
    if not settings.is_greedy:
        shown = ["temperature", *(name for name in shown if name != "temperature"), "seed"]
    facts += [ui_text(f"generation.sampler.value.fragment.{name}", value=getattr(settings, name)) for name in shown]
    return ", ".join(facts)


def _stages() -> list[Stage]:
    """Return the stages of the sampler; those that apply to greedy sampling too are last."""
    return sorted(sampler_stages(), key=lambda stage: stage.applies_if_greedy)


def _title(stage: Stage, field: Field) -> str:
    return stage_title(stage.name) if field is stage.fields[0] else ui_text(f"generation.field.{field.name}")


def _number(field: Field) -> QSpinBox | QDoubleSpinBox:
    least, most = field.widget_bounds or (field.least, field.most)
    widget: QSpinBox | QDoubleSpinBox
    if isinstance(field.default, int):
        widget = QSpinBox(minimum=int(least), maximum=int(most))
    else:
        widget = QDoubleSpinBox(minimum=least, maximum=most, singleStep=field.step, decimals=2)
    _prepare(widget, field.name)
    return widget


def _prepare(field: QSpinBox | QDoubleSpinBox, name: str) -> None:
    field.lineEdit().setTextMargins(theme.SPACE_XS, 0, theme.SPACE_XS, 0)
    field.setKeyboardTracking(False)  # a number is reported when it is complete
    field.setToolTip(plain_text(ui_text(f"generation.sampler.tip.{name}")))


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
