"""The fields of the processors: a page for each stage, and the settings read from all of them."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import (
    QLabel,
    QSpinBox,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.display_text import count, percent
from app.panes.generation.form_fields import Form, code_line, code_lines
from app.panes.generation.processors_format import (
    STAGE_TEXTS,
    UnreadableError,
    budget_line,
    read_bias,
    read_suppressed,
    read_table,
    written_bias,
    written_suppressed,
    written_table,
)
from app.panes.generation.zones_fields import ZoneFields
from app.theme.buttons import push_button
from app.theme.labels import Label
from engine.decoding.pipeline_settings import PipelineSettings, StageName, TableSettings
from engine.decoding.values import BudgetState, StageEffect
from engine.source import InvariantError

SWITCHED = (
    StageName.BUDGET,
    StageName.STATIC,
    StageName.PATTERN,
    StageName.TABLE,
    StageName.SUPPRESS,
    StageName.BIAS,
)
"""The stages with a switch; the grammar is always on if there is one, the others belong to the sampler."""

_ABOUT = {
    StageName.GRAMMAR: "What the grammar does not allow is removed. It can rule the whole output, or a part of it: "
    "after a trigger text or a special token, say </think>, with free text before. Further zones have grammars of "
    "their own, such as one for each kind of tool call.",
    StageName.BUDGET: "Only tokens are taken after which the grammar can still end within the budget, the end token "
    "counted: the output is complete however long the model would go on.",
    StageName.STATIC: "One class or text for each position, such as LOWER{5} NEWLINE. Classes: UPPER LOWER LETTER "
    "DIGIT SPACE NEWLINE PUNCT ANY. Each counts tokens.",
    StageName.PATTERN: 'Classes and texts in a row, each with ? * + {3} or {3,5}, such as UPPER+ ":" " " LOWER+ '
    "NEWLINE. Classes: UPPER LOWER LETTER DIGIT SPACE NEWLINE PUNCT ANY.",
    StageName.TABLE: "A token automaton: in each line a state, a token's number and the next state. States count "
    "from 1. A token is found by its text in the search above the candidates.",
    StageName.SUPPRESS: "Texts that are never written, whichever tokens would spell them; one in a line. #123 is "
    "the token of that number; \\n \\t \\s stand for a new line, a tab and a blank.",
    StageName.BIAS: "What is added to the logits of all tokens that hold a text; one in a line, such as: the = +2. "
    "#123 is the token of that number.",
}
_HELD_BACK = {
    True: "Whatever is held back could not end in time.",
    False: "There are too many endings to search: some tokens are held back to be safe. "
    "The output is complete all the same.",
}
_SAMPLERS = "Its value is the sampler's; here it can be moved before or behind other stages."
_TEXT_HEIGHT = 110


class Fields(QStackedWidget):
    """A page for each stage.

    Signals:
        edited(stage): the user changed a field of this stage.
        sampler_wanted: open the sampler.
    """

    edited = Signal(str)
    sampler_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._pages: dict[StageName, QWidget] = {}
        self._effects: dict[StageName, QLabel] = {}
        self.zone_fields = ZoneFields()
        self.budget = Label(wraps=True)
        self.static = code_line("LOWER{5} NEWLINE", "Classes, one for each position")
        self.pattern = code_line('UPPER+ ":" " " LOWER+ NEWLINE', "Pattern")
        self.table = code_lines("1 1 2\n2 2 3\n3 3 1", "Transitions")
        self.initial = QSpinBox(minimum=1, maximum=10_000_000, value=1)
        self.initial.lineEdit().setTextMargins(theme.SPACE_XS, 0, theme.SPACE_XS, 0)
        self.initial.setAccessibleName("Initial state")
        self.suppress = code_lines("e", "Suppressed texts")
        self.bias = code_lines("the = +2\n#50 = -1", "Biases")
        for text in (self.table, self.suppress, self.bias):
            text.setMinimumHeight(_TEXT_HEIGHT)
        self._build()
        self._connect()
        self.show_settings(PipelineSettings())

    def show_stage(self, stage: StageName) -> None:
        """Show the page of a stage."""
        self.setCurrentWidget(self._pages[stage])

    def focus_stage(self, stage: StageName) -> None:
        """Move the focus to the first field of a stage."""
        fields = {
            StageName.GRAMMAR: self.zone_fields.is_partial,
            StageName.STATIC: self.static,
            StageName.PATTERN: self.pattern,
            StageName.TABLE: self.table,
            StageName.SUPPRESS: self.suppress,
            StageName.BIAS: self.bias,
        }
        if stage in fields:
            fields[stage].setFocus()

    def show_settings(self, settings: PipelineSettings, keep: Collection[StageName] = ()) -> None:
        """Fill the fields without signals; a stage that is off keeps what was typed, to be switched on again.

        Args:
            settings: the settings in force.
            keep: stages whose fields stay as they were typed.
        """
        blockers = [QSignalBlocker(field) for field in self._inputs()]
        if StageName.GRAMMAR not in keep:
            self.zone_fields.show_zones(settings.zones)
        if settings.static and StageName.STATIC not in keep:
            self.static.setText(settings.static)
        if settings.pattern and StageName.PATTERN not in keep:
            self.pattern.setText(settings.pattern)
        if settings.table is not None and StageName.TABLE not in keep:
            self.table.setPlainText(written_table(settings.table))
            self.initial.setValue(settings.table.initial)
        if (settings.suppress or settings.suppress_ids) and StageName.SUPPRESS not in keep:
            self.suppress.setPlainText(written_suppressed(settings))
        if settings.bias and StageName.BIAS not in keep:
            self.bias.setPlainText(written_bias(settings))
        for blocker in blockers:
            blocker.unblock()

    def clear(self) -> None:
        """Clear what was typed."""
        blockers = [QSignalBlocker(field) for field in self._inputs()]
        self.zone_fields.clear()
        for field in (self.static, self.pattern):
            field.clear()
        for text in (self.table, self.suppress, self.bias):
            text.clear()
        self.initial.setValue(1)
        for blocker in blockers:
            blocker.unblock()

    def show_effects(self, effects: tuple[StageEffect, ...], budget: BudgetState | None) -> None:
        """Show the effect of each stage at this step."""
        by_name = {effect.name: effect for effect in effects}
        for stage, label in self._effects.items():
            label.setText(_effect(by_name.get(stage)) if effects else "")
        self.budget.setText(
            "" if budget is None else f"{budget_line(budget).capitalize()}. {_HELD_BACK[budget.is_exact]}"
        )

    def table_settings(self) -> TableSettings:
        """Return the transitions.

        Raises:
            UnreadableError, InvariantError: the input is invalid.
        """
        return read_table(_filled(self.table.toPlainText(), "transitions"), self.initial.value())

    def settings(
        self, order: tuple[str, ...], on: frozenset[StageName], before: PipelineSettings
    ) -> tuple[PipelineSettings, dict[StageName, str]]:
        """Read the fields.

        Args:
            order: the stages, first to last.
            on: those whose switch is on.
            before: the settings that an unreadable stage keeps.

        Returns:
            the settings, and the unreadable stages with the reasons.
        """
        readers: tuple[tuple[StageName, Callable[[PipelineSettings], PipelineSettings]], ...] = (
            (StageName.GRAMMAR, lambda so_far: replace(so_far, zones=self.zone_fields.zones())),
            (StageName.BUDGET, lambda so_far: replace(so_far, budget=True)),
            (StageName.STATIC, lambda so_far: replace(so_far, static=_filled(self.static.text(), "classes"))),
            (StageName.PATTERN, lambda so_far: replace(so_far, pattern=_filled(self.pattern.text(), "a pattern"))),
            (StageName.TABLE, lambda so_far: replace(so_far, table=self.table_settings())),
            (StageName.SUPPRESS, self._with_suppressed),
            (
                StageName.BIAS,
                lambda so_far: replace(so_far, bias=read_bias(_filled(self.bias.toPlainText(), "biases"))),
            ),
        )
        settings, unreadable = PipelineSettings(order=order), dict[StageName, str]()
        for stage, reader in readers:
            if stage in on or stage is StageName.GRAMMAR:
                try:
                    settings = reader(settings)
                except (UnreadableError, InvariantError) as error:
                    settings = settings.with_stages_of(before, (stage,))
                    unreadable[stage] = str(error)
        return settings, unreadable

    def _with_suppressed(self, settings: PipelineSettings) -> PipelineSettings:
        texts, ids = read_suppressed(_filled(self.suppress.toPlainText(), "texts"))
        return replace(settings, suppress=texts, suppress_ids=ids)

    def _inputs(self) -> tuple[QWidget, ...]:
        return self.static, self.pattern, self.table, self.initial, self.suppress, self.bias

    def _build(self) -> None:
        table = QWidget()
        rows = Form(table)
        rows.add_wide(self.table)
        rows.add("Initial state", self.initial)
        contents: dict[StageName, QWidget] = {
            StageName.GRAMMAR: self.zone_fields,
            StageName.BUDGET: self.budget,
            StageName.STATIC: self.static,
            StageName.PATTERN: self.pattern,
            StageName.TABLE: table,
            StageName.SUPPRESS: self.suppress,
            StageName.BIAS: self.bias,
        }
        for stage in StageName:
            self._add_page(stage, contents.get(stage))

    def _add_page(self, stage: StageName, content: QWidget | None) -> None:
        page = QWidget()
        layout = QVBoxLayout(page)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACE_S)
        title = Label(STAGE_TEXTS[stage])
        title.setProperty("role", "heading")
        about = Label(_ABOUT.get(stage, _SAMPLERS), wraps=True)
        about.setProperty("role", "muted")
        effect = Label(wraps=True)
        effect.setProperty("role", "muted")
        layout.addWidget(title)
        layout.addWidget(about)
        if content is not None:
            layout.addWidget(content)
        else:
            sampler = push_button("Sampler…", "Change how tokens are drawn")
            sampler.setAutoDefault(False)
            sampler.clicked.connect(self.sampler_wanted)
            layout.addWidget(sampler, 0, Qt.AlignmentFlag.AlignLeft)
        layout.addStretch(1)
        layout.addWidget(effect)
        self._pages[stage], self._effects[stage] = page, effect
        self.addWidget(page)

    def _connect(self) -> None:
        self.zone_fields.edited.connect(lambda: self.edited.emit(StageName.GRAMMAR))
        for line, stage in (
            (self.static, StageName.STATIC),
            (self.pattern, StageName.PATTERN),
        ):
            line.textEdited.connect(lambda _text, stage=stage: self.edited.emit(stage))
        for text, stage in (
            (self.table, StageName.TABLE),
            (self.suppress, StageName.SUPPRESS),
            (self.bias, StageName.BIAS),
        ):
            text.textChanged.connect(lambda stage=stage: self.edited.emit(stage))
        self.initial.valueChanged.connect(lambda _value: self.edited.emit(StageName.TABLE))


def _filled(typed: str, what: str) -> str:
    if not typed.strip():
        raise UnreadableError(f"type {what}, or switch it off")
    return typed


def _effect(effect: StageEffect | None) -> str:
    if effect is None:
        return "It is off at this step."
    if effect.removed:
        removed = f"{count(effect.removed, 'token')} with {percent(effect.mass)}"
        return f"At this step it removes {removed}; {effect.left:,} are left."
    return "At this step it removes nothing" + (f" and moves {percent(effect.moved)}." if effect.moved else ".")
