"""The fields of the processors: a page for each stage, and the settings read from all of them."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Final, Protocol, cast

from PySide6.QtCore import QSignalBlocker, Qt, Signal, SignalInstance
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDoubleSpinBox,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QSizePolicy,
    QSpinBox,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import has_text, ui_text
from app.display_text import percent
from app.panes.generation.processors_format import (
    UnreadableError,
    budget_line,
    read,
    read_bias,
    read_suppressed,
    read_table,
    trigger_text,
    written,
    written_bias,
    written_suppressed,
    written_table,
)
from app.theme.buttons import push_button, tool_button
from app.theme.labels import Label, plain_text
from engine.decoding.pipeline_settings import (
    Afterwards,
    OtherZone,
    PipelineSettings,
    ZoneSettings,
)
from engine.decoding.stage import Field, Stage
from engine.decoding.stage_texts import stage_key, stage_title
from engine.decoding.stages import STAGES, pipeline_stages
from engine.decoding.values import BudgetState, StageEffect
from engine.notations import NOTATIONS
from engine.source import InvariantError

_TEXT_STRETCH = 100  # the stretch of a multi-line text, compared with the empty row at the bottom


_NOTATIONS = *NOTATIONS, ""  # empty for free text
_MOST = 9
_ZONE_TEXT_HEIGHT = 84


_TEXT_HEIGHT = 110


class FieldWidget(Protocol):
    """A widget of a field; it is a `QWidget`.

    Attributes:
        edited: the signal `edited()`: the user changed the input.
        first: the widget that gets the focus; None if there is no input.
        is_empty: whether there is no input.
    """

    edited: SignalInstance

    @property
    def first(self) -> QWidget | None: ...  # noqa: D102 - see the attributes above
    @property
    def is_empty(self) -> bool: ...  # noqa: D102

    def show_settings(self, settings: PipelineSettings) -> None:
        """Show the values of the field."""

    def values(self) -> dict[str, object]:
        """Return the input, by the names under which it is stored.

        Raises:
            UnreadableError, InvariantError: the input is invalid.
        """

    def clear(self) -> None:
        """Discard the input."""


class Fields(QStackedWidget):
    """A page for each stage, with the widgets of its fields.

    Signals:
        edited(stage): the user changed a field of this stage.
        sampler_wanted: open the sampler.
    """

    edited = Signal(str)
    sampler_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pages: dict[str, QWidget] = {}
        self._effects: dict[str, QLabel] = {}
        self._errors: dict[str, QLabel] = {}
        self._widgets: dict[str, Any] = {}
        for stage in STAGES:
            self._add_page(stage)
        self.show_settings(PipelineSettings())

    def widget_of(self, field: str) -> Any:
        """Return the widget of a field."""
        return self._widgets[field]

    def show_stage(self, stage: str) -> None:
        """Show the page of a stage."""
        self.setCurrentWidget(self._pages[stage])

    def focus_stage(self, stage: str) -> None:
        """Move the focus to the first field of a stage."""
        if (widgets := self._of(STAGES[stage])) and (first := widgets[0].first) is not None:
            first.setFocus()

    def show_settings(self, settings: PipelineSettings, keep: Collection[str] = ()) -> None:
        """Fill the fields without signals; a stage that is off keeps what was typed, to be switched on again.

        Args:
            settings: the settings in force.
            keep: stages whose fields stay as they were typed.
        """
        for stage in pipeline_stages():
            if stage.name not in keep and (settings.is_on(stage.name) or not stage.has_switch):
                for widget in self._of(stage):
                    blocker = QSignalBlocker(cast("QWidget", widget))
                    widget.show_settings(settings)
                    blocker.unblock()

    def clear(self) -> None:
        """Clear what was typed."""
        for widget in self._widgets.values():
            blocker = QSignalBlocker(widget)
            widget.clear()
            blocker.unblock()

    def error_of(self, stage: str) -> QLabel:
        """Return the label beside the fields of a stage that says why its input is not valid."""
        return self._errors[stage]

    def show_problems(self, problems: dict[str, str]) -> None:
        """Show beside the fields of each stage why its input is not valid, and nothing beside the others."""
        for stage, label in self._errors.items():
            label.setText(problems.get(stage, ""))
            label.setVisible(stage in problems)

    def show_effects(self, effects: tuple[StageEffect, ...], budget: BudgetState | None) -> None:
        """Show the effect of each stage at this step."""
        by_name = {effect.name: effect for effect in effects}
        for stage, label in self._effects.items():
            label.setText(_effect(by_name.get(stage)) if effects else "")
        for widget in self._widgets.values():
            if isinstance(widget, BudgetReport):
                widget.show_budget(budget)

    def settings(
        self, order: tuple[str, ...], on: frozenset[str], before: PipelineSettings
    ) -> tuple[PipelineSettings, dict[str, str]]:
        """Read the fields.

        Args:
            order: the stages, first to last.
            on: those whose switch is on.
            before: the settings that an unreadable stage keeps.

        Returns:
            the settings, and the unreadable stages with the reasons.
        """
        settings, unreadable = PipelineSettings(order=order), dict[str, str]()
        for stage in pipeline_stages():
            if stage.name in on or not stage.has_switch:
                try:
                    settings = settings.with_values(self._values(stage))
                except (UnreadableError, InvariantError) as error:
                    settings = settings.with_stages_of(before, (stage.name,))
                    unreadable[stage.name] = str(error)
        return settings, unreadable

    def _values(self, stage: Stage) -> dict[str, object]:
        widgets = self._of(stage)
        if all(widget.is_empty for widget in widgets):
            raise UnreadableError(ui_text(f"generation.stage.{stage_key(stage.name)}.fragment.missing"))
        return {name: value for widget in widgets for name, value in widget.values().items()}

    def _of(self, stage: Stage) -> list[FieldWidget]:
        return [] if stage.is_sampler else [self._widgets[field.name] for field in stage.fields]

    def _content(self, stage: Stage) -> QWidget:
        """Create the widgets of a stage; several have their titles beside them."""
        for field in stage.fields:
            widget = self._widgets[field.name] = WIDGETS[field.type](field)
            widget.edited.connect(lambda: self.edited.emit(stage.name))
        if len(stage.fields) == 1:
            return cast("QWidget", self._widgets[stage.fields[0].name])
        content = QWidget()
        rows = Form(content)
        for field in stage.fields:
            rows.add(field_title(field), self._widgets[field.name])
        return content

    def _add_page(self, stage: Stage) -> None:
        page = QWidget()
        layout = QVBoxLayout(page)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACE_S)
        title = Label(stage_title(stage.name))
        title.setProperty("role", "heading")
        name = stage_key(stage.name)
        about = Label(ui_text(f"generation.stage.{name}.about"), wraps=True)
        error = Label(wraps=True)
        error.setProperty("role", "banner")
        error.setProperty("severity", "error")
        error.setMargin(theme.SPACE_S)
        error.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        error.hide()
        effect = Label(wraps=True)
        effect.setProperty("role", "muted")
        layout.addWidget(title)
        layout.addWidget(about)
        if stage.is_sampler:
            text, tip = ui_text("generation.fields.sampler"), ui_text("generation.fields.sampler_tip")
            sampler = push_button(text, tip, clicked=self.sampler_wanted.emit)
            sampler.setAutoDefault(False)
            layout.addWidget(sampler, 0, Qt.AlignmentFlag.AlignLeft)
        else:
            layout.addWidget(self._content(stage))
            layout.addWidget(error)
        hint = ui_text("generation.fields.sampler_hint") if stage.is_sampler else ""
        if has_text(f"generation.stage.{name}.syntax"):
            hint = ui_text(f"generation.stage.{name}.syntax")
        if hint:
            syntax = Label(hint, wraps=True)
            syntax.setProperty("role", "muted")
            layout.addWidget(syntax)
        layout.addStretch(1)
        layout.addWidget(effect)
        self._pages[stage.name], self._effects[stage.name], self._errors[stage.name] = page, effect, error
        self.addWidget(page)


def field_title(field: Field) -> str:
    """Return the title of a field."""
    return ui_text(f"generation.field.{field.name}")


class SwitchField(QWidget):
    """A field that is on with its stage."""

    edited = Signal()
    first = None
    is_empty = False

    def __init__(self, field: Field) -> None:
        super().__init__()
        self._field = field

    def show_settings(self, settings: PipelineSettings) -> None:
        """Do nothing: the stage's own switch shows the value."""

    def values(self) -> dict[str, object]:
        """Return the value of a stage that is on."""
        return {self._field.name: not self._field.default}

    def clear(self) -> None:
        """Do nothing: there is no input."""


class BudgetReport(SwitchField):
    """The switch of the budget, with a report of the tokens that are left."""

    def __init__(self, field: Field) -> None:
        super().__init__(field)
        self.report = Label(wraps=True)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.report)

    def show_budget(self, budget: BudgetState | None) -> None:
        """Show the tokens that are left, and those that the shortest ending needs."""
        if budget is None:
            self.report.clear()
            return
        note = ui_text("generation.fields.held_back" if budget.is_exact else "generation.fields.held_back_more")
        self.report.setText(ui_text("generation.fields.budget", budget=budget_line(budget), note=note))


class LineField(QLineEdit):
    """A line of code."""

    edited = Signal()

    def __init__(self, field: Field) -> None:
        super().__init__()
        self._field = field
        style_line(self, field.example, field_title(field))
        self.textEdited.connect(lambda _text: self.edited.emit())

    @property
    def first(self) -> QWidget:
        """Return the line itself."""
        return self

    @property
    def is_empty(self) -> bool:
        """Return whether nothing is typed."""
        return not self.text().strip()

    def show_settings(self, settings: PipelineSettings) -> None:
        """Show the text."""
        self.setText(settings.value(self._field.name))

    def values(self) -> dict[str, object]:
        """Return the text."""
        return {self._field.name: self.text()}


class NumberField(QDoubleSpinBox):
    """A number; it is whole if the field's default is."""

    edited = Signal()

    def __init__(self, field: Field) -> None:
        super().__init__(minimum=field.least, maximum=field.most, value=field.default)
        self._field = field
        self.setSingleStep(field.step)
        self.lineEdit().setTextMargins(theme.SPACE_XS, 0, theme.SPACE_XS, 0)
        self.setDecimals(0 if isinstance(field.default, int) else 2)
        self.setSuffix(f" {field.unit}" if field.unit else "")
        self.setAccessibleName(field_title(field))
        self.valueChanged.connect(lambda _value: self.edited.emit())

    @property
    def first(self) -> QWidget:
        """Return the box itself."""
        return self

    @property
    def is_empty(self) -> bool:
        """Return whether the number is the one at which the stage is off."""
        return bool(self.value() == self._field.default)

    def show_settings(self, settings: PipelineSettings) -> None:
        """Show the number."""
        self.setValue(settings.value(self._field.name))

    def values(self) -> dict[str, object]:
        """Return the number."""
        return {self._field.name: type(self._field.default)(self.value())}

    def clear(self) -> None:
        """Show the number at which the stage is off."""
        self.setValue(self._field.default)


class LinesField(QPlainTextEdit):
    """Several lines of code; a subclass reads them."""

    edited = Signal()

    def __init__(self, field: Field) -> None:
        super().__init__()
        style_lines(self, field.example, field_title(field))
        self.setMinimumHeight(_TEXT_HEIGHT)
        self.textChanged.connect(self.edited)

    @property
    def first(self) -> QWidget:
        """Return the text itself."""
        return self

    @property
    def is_empty(self) -> bool:
        """Return whether nothing is typed."""
        return not self.toPlainText().strip()


class TextsField(LinesField):
    """The texts and the tokens that are suppressed."""

    def show_settings(self, settings: PipelineSettings) -> None:
        """Show texts and tokens."""
        self.setPlainText(written_suppressed(settings))

    def values(self) -> dict[str, object]:
        """Return texts and tokens."""
        texts, ids = read_suppressed(self.toPlainText())
        return {"suppress": texts, "suppress_ids": ids}


class BiasesField(LinesField):
    """The biases of texts and tokens."""

    def show_settings(self, settings: PipelineSettings) -> None:
        """Show the biases."""
        self.setPlainText(written_bias(settings))

    def values(self) -> dict[str, object]:
        """Return the biases."""
        return {"bias": read_bias(self.toPlainText())}


class TransitionsField(QWidget):
    """A table of transitions, and the initial state."""

    edited = Signal()

    def __init__(self, field: Field) -> None:
        super().__init__()
        self.lines = LinesField(field)
        self.initial = QSpinBox(minimum=1, maximum=10_000_000, value=1)
        self.initial.lineEdit().setTextMargins(theme.SPACE_XS, 0, theme.SPACE_XS, 0)
        self.initial.setAccessibleName(ui_text("generation.fields.initial"))
        rows = Form(self)
        rows.add_wide(self.lines)
        rows.add(ui_text("generation.fields.initial"), self.initial)
        self.lines.edited.connect(self.edited)
        self.initial.valueChanged.connect(lambda _value: self.edited.emit())

    @property
    def first(self) -> QWidget:
        """Return the transitions."""
        return self.lines

    @property
    def is_empty(self) -> bool:
        """Return whether there is no transition."""
        return self.lines.is_empty

    def show_settings(self, settings: PipelineSettings) -> None:
        """Show the transitions and the initial state."""
        assert settings.table is not None
        self.lines.setPlainText(written_table(settings.table))
        self.initial.setValue(settings.table.initial)

    def values(self) -> dict[str, object]:
        """Return the table."""
        return {"table": read_table(self.lines.toPlainText(), self.initial.value())}

    def clear(self) -> None:
        """Discard the transitions."""
        self.lines.clear()
        self.initial.setValue(1)


def _effect(effect: StageEffect | None) -> str:
    if effect is None:
        return ui_text("generation.effect.off")
    if effect.removed is None or effect.left is None:
        return ui_text("generation.effect.unknown")
    if effect.removed:
        mass = percent(effect.mass)
        return ui_text("generation.effect.removes", count=effect.removed, mass=mass, left=effect.left)
    if effect.moved:
        return ui_text("generation.effect.moves", mass=percent(effect.moved))
    return ui_text("generation.effect.nothing")


def _notation_name(notation: str) -> str:
    return NOTATIONS[notation].title if notation else ui_text("generation.zone.free")


class Form(QGridLayout):
    """A form of labelled fields; unlike in a QFormLayout, a label is centred vertically in its row."""

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.setContentsMargins(0, 0, 0, 0)
        self.setHorizontalSpacing(theme.SPACE_M)
        self.setVerticalSpacing(theme.SPACE_S)
        self.setColumnStretch(1, 1)
        self._rows = 0

    def add(self, name: str, field: QWidget) -> QLabel:
        """Add a field; return its label."""
        label = Label(name)
        label.setBuddy(field)
        self.addWidget(label, self._rows, 0)
        self.addWidget(field, self._rows, 1)
        self._end_row(0)
        return label

    def add_wide(self, field: QWidget) -> None:
        """Add a field without a label that takes a whole row."""
        self.addWidget(field, self._rows, 0, 1, 2)
        self._end_row(_TEXT_STRETCH if isinstance(field, QPlainTextEdit) else 0)

    def _end_row(self, stretch: int) -> None:
        self.setRowStretch(self._rows, stretch)
        self._rows += 1
        self.setRowStretch(self._rows, 1)  # spare height stays empty at the bottom


def code_line(placeholder: str, name: str) -> QLineEdit:
    """Return a field for a line of code."""
    field = QLineEdit()
    style_line(field, placeholder, name)
    return field


def style_line(field: QLineEdit, placeholder: str, name: str) -> None:
    """Make a line one of code, with a name for screen readers and tips.

    Args:
        field: the line.
        placeholder: what it shows while it is empty.
        name: its name.
    """
    field.setPlaceholderText(placeholder)
    field.setAccessibleName(name)
    field.setToolTip(plain_text(name))
    field.setFont(theme.mono_font())


def style_lines(field: QPlainTextEdit, placeholder: str, name: str) -> None:
    """Make a text one of code, with a name for screen readers.

    Args:
        field: the text.
        placeholder: what it shows while it is empty.
        name: its name.
    """
    field.setPlaceholderText(placeholder)
    field.setAccessibleName(name)
    field.setProperty("role", "field")
    field.setFont(theme.mono_font())
    field.setTabChangesFocus(True)


class ZoneFields(QWidget):
    """The zones of an output: that of the grammar, and others with grammars of their own.

    One zone is shown at a time, chosen from a list above the fields. What follows a zone, and whether one is required,
    applies to all of them.

    Signals:
        edited(): the user changed something.

    Attributes:
        is_partial: whether there are zones at all.
        chosen: which zone is shown.
        after, after_token, until: of the grammar's own zone.
        then, required: of all zones.
        others: the further ones.
    """

    edited = Signal()
    is_empty = False  # without zones, the grammar applies to the whole output

    def __init__(self, _field: Field | None = None, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.is_partial = QCheckBox(ui_text("generation.zone.partial"))
        self.chosen = QComboBox()
        self.chosen.setAccessibleName(ui_text("generation.zone.name"))
        self.chosen.setToolTip(ui_text("generation.zone.tip"))
        self.chosen.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.add = tool_button(
            ui_text("common.button.add"), ui_text("generation.zone.add_tip"), role="outlined", clicked=self._on_add
        )
        self.remove = tool_button(
            ui_text("common.button.remove"),
            ui_text("generation.zone.remove_tip"),
            role="outlined",
            clicked=self._on_remove,
        )
        self.after = code_line("</think>", ui_text("generation.zone.field.after"))
        self.after_token = code_line(
            ui_text("generation.zone.fragment.token_hint"), ui_text("generation.zone.field.after_token")
        )
        self.until = code_line("```", ui_text("generation.zone.field.until"))
        self.then = QComboBox()
        for then in Afterwards:
            self.then.addItem(ui_text(f"generation.zone.then.fragment.{then.value}"))
        self.then.setAccessibleName(ui_text("generation.zone.field.then"))
        self.then.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.then.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.required = QCheckBox(ui_text("generation.zone.required"))
        self.required.setChecked(True)
        self.others: list[OtherZoneFields] = []
        self._own, self._pages = QWidget(), QStackedWidget()
        self._build()
        self._connect()
        self._refresh()

    @property
    def first(self) -> QWidget:
        """Return the switch of zones."""
        return self.is_partial

    def show_settings(self, settings: PipelineSettings) -> None:
        """Show the zones of a pipeline."""
        self.show_zones(settings.zones)

    def values(self) -> dict[str, object]:
        """Return the zones of a pipeline."""
        return {"zones": self.zones()}

    def show_zones(self, zones: ZoneSettings | None) -> None:
        """Fill the fields without signals; without zones, what was typed stays, to be switched on again."""
        blockers = [QSignalBlocker(field) for field in self.inputs()]
        self.is_partial.setChecked(zones is not None)
        if zones is not None:
            self.after.setText(written(zones.after))
            self.after_token.setText(zones.after_token)
            self.until.setText(written(zones.until))
            self.then.setCurrentIndex(list(Afterwards).index(Afterwards(zones.then)))
            self.required.setChecked(zones.required)
            while len(self.others) > len(zones.others):
                self._drop(len(self.others) - 1)
            while len(self.others) < len(zones.others):
                self._append()
            for fields, zone in zip(self.others, zones.others, strict=True):
                fields.show_zone(zone)
        for blocker in blockers:
            blocker.unblock()
        self._refresh()

    def clear(self) -> None:
        """Clear what was typed."""
        self.show_zones(ZoneSettings())
        blocker = QSignalBlocker(self.is_partial)
        self.is_partial.setChecked(False)
        blocker.unblock()
        self._refresh()

    def zones(self) -> ZoneSettings | None:
        """Return the zones that were typed.

        Raises:
            UnreadableError, InvariantError: what is wrong, and in which zone.
        """
        if not self.is_partial.isChecked():
            return None
        return ZoneSettings(
            after=read(self.after.text()),
            after_token=self.after_token.text().strip(),
            until=read(self.until.text()),
            then=list(Afterwards)[self.then.currentIndex()],
            required=self.required.isChecked(),
            others=tuple(self._other(number, fields) for number, fields in enumerate(self.others, 2)),
        )

    def inputs(self) -> tuple[QWidget, ...]:
        """Return all fields that always exist."""
        own = self.after, self.after_token, self.until
        return self.is_partial, self.chosen, *own, self.then, self.required, *self.others

    @staticmethod
    def _other(number: int, fields: OtherZoneFields) -> OtherZone:
        try:
            return fields.zone()
        except (UnreadableError, InvariantError) as error:
            raise UnreadableError(ui_text("generation.unreadable.fragment.zone", number=number, reason=error)) from None

    def _build(self) -> None:
        own = Form(self._own)
        named = own.add(ui_text("generation.zone.row.after"), self.after)
        own.add(ui_text("generation.zone.fragment.or_token"), self.after_token)
        own.add(ui_text("generation.zone.row.until"), self.until)
        self._pages.addWidget(self._own)
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_XS)
        common = QWidget()
        shared = Form(common)
        shared.add(ui_text("generation.zone.row.then"), self.then).setMinimumWidth(named.sizeHint().width())
        shared.add_wide(self.required)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACE_S)
        layout.addWidget(self.is_partial)
        layout.addLayout(row)
        row.addWidget(self.chosen, 1)
        row.addWidget(self.add)
        row.addWidget(self.remove)
        layout.addWidget(self._pages)
        layout.addWidget(common)

    def _connect(self) -> None:
        for line in (self.after, self.after_token, self.until):
            line.textEdited.connect(self._on_typed)
        self.then.activated.connect(lambda _index: self.edited.emit())
        self.required.clicked.connect(lambda _on: self.edited.emit())
        self.is_partial.clicked.connect(self._on_partial)
        self.chosen.activated.connect(self._pages.setCurrentIndex)
        self.chosen.activated.connect(lambda _index: self._enable())

    def _on_typed(self) -> None:
        self._name_zones()
        self.edited.emit()

    def _on_partial(self, is_partial: bool) -> None:
        self._enable()
        self.edited.emit()
        if is_partial:
            self.after.setFocus()

    def _on_add(self) -> None:
        self._append()
        self._name_zones()
        self._show(len(self.others))
        self.others[-1].after.setFocus()
        self.edited.emit()

    def _on_remove(self) -> None:
        index = self.chosen.currentIndex()
        self._drop(index - 1)
        self._name_zones()
        self._show(index - 1)
        self.edited.emit()

    def _append(self) -> None:
        fields = OtherZoneFields()
        fields.edited.connect(self._on_typed)
        self.others.append(fields)
        self._pages.addWidget(fields)

    def _drop(self, index: int) -> None:
        fields = self.others.pop(index)
        self._pages.removeWidget(fields)
        fields.deleteLater()

    def _refresh(self) -> None:
        self._name_zones()
        self._show(min(max(0, self.chosen.currentIndex()), len(self.others)))

    def _show(self, index: int) -> None:
        self.chosen.setCurrentIndex(index)
        self._pages.setCurrentIndex(index)
        self._enable()

    def _name_zones(self) -> None:
        """Show in the list what begins each zone."""
        shown = self.chosen.currentIndex()
        blocker = QSignalBlocker(self.chosen)
        self.chosen.clear()
        first = trigger_text(self.after.text().strip(), self.after_token.text().strip())
        self.chosen.addItem(ui_text("generation.zone.own", trigger=first))
        for number, fields in enumerate(self.others, 2):
            self.chosen.addItem(f"{number} · {fields.title}")
        self.chosen.setCurrentIndex(min(shown, len(self.others)))
        blocker.unblock()

    def _enable(self) -> None:
        is_on = self.is_partial.isChecked()
        for field in (self.chosen, self.after, self.after_token, self.until, self.then, self.required, *self.others):
            field.setEnabled(is_on)
        self.add.setEnabled(is_on and len(self.others) + 1 < _MOST)
        self.remove.setEnabled(is_on and self.chosen.currentIndex() > 0)
        # A hidden page must not keep its height: a grammar takes more than three lines.
        shown = self._pages.currentIndex()
        for index, page in enumerate((self._own, *self.others)):
            policy = QSizePolicy.Policy.Preferred if index == shown else QSizePolicy.Policy.Ignored
            page.setSizePolicy(QSizePolicy.Policy.Preferred, policy)
        self._pages.updateGeometry()


class OtherZoneFields(QWidget):
    """The fields of a zone with a grammar of its own, or of free text.

    Signals:
        edited(): the user changed something.
    """

    edited = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.after = code_line("<call>", ui_text("generation.zone.other_field.after"))
        self.after_token = code_line(
            ui_text("generation.zone.fragment.token_hint"), ui_text("generation.zone.other_field.after_token")
        )
        self.until = code_line("</call>", ui_text("generation.zone.other_field.until"))
        self.notation = QComboBox()
        self.notation.setAccessibleName(ui_text("generation.zone.other_field.notation"))
        for notation in _NOTATIONS:
            self.notation.addItem(_notation_name(notation), notation)
        name = ui_text("generation.zone.other_field.text")
        self.text = QPlainTextEdit()
        style_lines(self.text, name, name)
        self.text.setFixedHeight(_ZONE_TEXT_HEIGHT)
        rows = Form(self)
        rows.add(ui_text("generation.zone.row.after"), self.after)
        rows.add(ui_text("generation.zone.fragment.or_token"), self.after_token)
        rows.add(ui_text("generation.zone.row.notation"), self.notation)
        rows.add_wide(self.text)
        rows.add(ui_text("generation.zone.row.until"), self.until)
        for line in (self.after, self.after_token, self.until):
            line.textEdited.connect(lambda _text: self.edited.emit())
        self.text.textChanged.connect(self.edited)
        self.notation.activated.connect(self._on_notation)

    @property
    def title(self) -> str:
        """Return the zone's name in the list."""
        trigger = trigger_text(self.after.text().strip(), self.after_token.text().strip())
        return f"{_notation_name(self.notation.currentData())}, {trigger}"

    def show_zone(self, zone: OtherZone) -> None:
        """Fill the fields without signals."""
        blockers = [QSignalBlocker(field) for field in (self.text, self.notation)]
        for line, text in (
            (self.after, written(zone.after)),
            (self.after_token, zone.after_token),
            (self.until, written(zone.until)),
        ):
            if line.text() != text:
                line.setText(text)
        self.notation.setCurrentIndex(_NOTATIONS.index(zone.notation))
        if zone.notation and self.text.toPlainText() != zone.text:
            self.text.setPlainText(zone.text)
        for blocker in blockers:
            blocker.unblock()
        self.text.setVisible(bool(zone.notation))

    def zone(self) -> OtherZone:
        """Return the zone that was typed.

        Raises:
            UnreadableError, InvariantError: what is wrong with it.
        """
        notation = self.notation.currentData()
        return OtherZone(
            notation,
            self.text.toPlainText() if notation else "",
            read(self.after.text()),
            self.after_token.text().strip(),
            read(self.until.text()),
        )

    def _on_notation(self) -> None:
        self.text.setVisible(bool(self.notation.currentData()))
        self.edited.emit()


WIDGETS: Final[Mapping[str, Callable[[Field], Any]]] = {
    "switch": SwitchField,
    "budget": BudgetReport,
    "line": LineField,
    "number": NumberField,
    "texts": TextsField,
    "biases": BiasesField,
    "transitions": TransitionsField,
    "zones": ZoneFields,
}
"""The widget (a `FieldWidget`) of each type of field."""
