"""The dialog of the processors: all stages in their order, beside the fields of one of them.

Every change is applied shortly after the last key, so that one can step beside the open dialog and watch. A stage whose
input is invalid, or does not fit the model, is marked and keeps its previous behaviour; all others are applied.

Rejected: a popover. It closes with the first click outside of it, and a row dragged out of it ends in the window below.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from PySide6.QtCore import QPoint, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QHideEvent, QIcon, QKeySequence, QPixmap, QShortcut
from PySide6.QtWidgets import (
    QAbstractItemView,
    QComboBox,
    QDialog,
    QFrame,
    QHBoxLayout,
    QListWidget,
    QListWidgetItem,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.commands import keys_of, local_key, set_tip
from app.delays import delayed
from app.display_text import unmarked
from app.panes.generation.processors_fields import Fields
from app.panes.generation.processors_format import number_text, stage_values
from app.theme.buttons import push_button
from app.theme.labels import Label, plain_text
from app.workers.requests.decode import DecodeView, PipelineRefused
from engine.decoding.forced.strategies import STRATEGIES
from engine.decoding.pipeline_settings import PipelineSettings, sampler_values
from engine.decoding.stage_texts import stage_title
from engine.decoding.stages import STAGES, pipeline_stages
from engine.decoding.values import SamplerSettings

_UP, _DOWN = local_key("processors.up", "Alt+Up"), local_key("processors.down", "Alt+Down")
_DELAY_MS = 250  # longer than the interval between keys while typing
_LIST_WIDTH = 248
_SWITCH = 14  # pixels, the width of a check box
_ROW_HEIGHT = 23
_SIZE = QSize(700, 570)


class ProcessorsDialog(QDialog):
    """Shows and edits a pipeline.

    Signals:
        edited(PipelineSettings): apply these stages.
        drafted(PipelineSettings): the user entered these; `edited` follows shortly after.
        sampler_wanted: open the sampler.
        problems_changed: the set of invalid stages, or a reason, changed.
        hidden: the dialog was closed.
    """

    edited = Signal(PipelineSettings)
    drafted = Signal(PipelineSettings)
    problems_changed = Signal()
    hidden = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(ui_text("generation.processors.title"))
        self._in_force = PipelineSettings()
        self._sent: list[PipelineSettings] = []
        self._model = ""  # whose vocabulary the stages were checked against
        self._problems: dict[str, str] = {}
        self._refused: dict[str, tuple[dict[str, object], str]] = {}  # the refused settings of a stage, and the reason
        self._message = ""  # a message that concerns no single stage
        self._has_error = False  # whether that message is why the model rejects the whole pipeline
        self._sampler = SamplerSettings()
        self._pause = delayed(self, _DELAY_MS, self._send)
        self.stages = QListWidget()
        self.stages.setProperty("role", "field")
        self.stages.setAccessibleName(ui_text("generation.processors.stages"))
        self.stages.setDragDropMode(QAbstractItemView.DragDropMode.InternalMove)
        self.stages.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.stages.setFixedWidth(_LIST_WIDTH)
        self.stages.setIconSize(QSize(_SWITCH, _SWITCH))
        self.fields = Fields()
        self.up = push_button(ui_text("generation.processors.up"), clicked=lambda: self.move_stage(-1))
        self.down = push_button(ui_text("generation.processors.down"), clicked=lambda: self.move_stage(1))
        self.reset = push_button(
            ui_text("generation.pane.reset"),
            ui_text("generation.processors.reset_tip"),
            role="link",
            clicked=self.restore_defaults,
        )
        self.close_button = push_button(ui_text("common.button.close"), clicked=self.close)
        set_tip(self.up, ui_text("generation.processors.up_tip"), _UP)
        set_tip(self.down, ui_text("generation.processors.down_tip"), _DOWN)
        set_tip(self.close_button, ui_text("common.button.close"), local_key("processors.close", "Esc"))
        self.forced = QComboBox()
        self.forced.setAccessibleName(ui_text("common.word.forced_runs"))
        self.forced.setToolTip(ui_text("generation.processors.forced_tip"))
        for strategy in STRATEGIES:
            self.forced.addItem(strategy.title, strategy.name)
        self.message = Label(wraps=True)
        self.message.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self._error_frame = QFrame()
        self._error_frame.setProperty("role", "banner")
        self._error_frame.setProperty("severity", "error")
        self._build()
        self._connect()
        self._fill(self._in_force)

    def show_view(self, view: DecodeView) -> None:
        """Show what is in force; do not overwrite what the user is typing."""
        position = view.position
        self.fields.show_effects(position.stages if position else (), position.budget if position else None)
        if view.sampler != self._sampler:
            self._sampler = view.sampler
            self._show_stage_texts()
        model = view.model.vocabulary_fingerprint if view.model is not None else ""
        if model != self._model:
            self._model = model
            if self._refused:  # it may fit this one
                self._refused.clear()
                self._pause.start()
        is_ours = view.pipeline in self._sent
        if view.pipeline != self._in_force or is_ours:
            self._in_force = view.pipeline
            if not is_ours:
                self._pause.stop()
                self._sent.clear()
                self._fill(view.pipeline, self._problems)
            elif view.pipeline == self._sent[-1] and not self._pause.isActive():
                self._sent.clear()
                self._message = ""
                self._find_problems()
        if view.pipeline_error or self._has_error:
            self._has_error = bool(view.pipeline_error)
            self._show_message(view.pipeline_error)

    def show_refusal(self, refused: PipelineRefused) -> None:
        """Show why stages are not applied; ignore an answer to an older request."""
        is_last = bool(self._sent) and refused.settings == self._sent[-1]
        if refused.stages:
            self._sent = [refused.in_force if sent == refused.settings else sent for sent in self._sent]
        if not is_last or self._pause.isActive():
            return
        for one in refused.stages:
            self._refused[one.stage] = refused.settings.values_of(one.stage), one.why
        if refused.why:
            self._show_message(
                ui_text("generation.processors.unchanged", reason=f"{refused.why[:1].upper()}{refused.why[1:]}")
            )
        self._find_problems()

    @property
    def problems(self) -> dict[str, str]:
        """Return the stages whose input is invalid, with the reasons."""
        return self._problems

    def open_at(self, stage: str, widget: QWidget) -> None:
        """Open the dialog beside a widget, at the fields of a stage."""
        self.open_under(widget)
        self.select(stage)
        self.fields.focus_stage(stage)

    def forget(self, settings: PipelineSettings) -> None:
        """Show what is in force and discard what was typed: another document was opened."""
        self._pause.stop()
        self._sent.clear()
        self._refused.clear()
        self._in_force = settings
        self.fields.clear()
        self._fill(settings)

    def open_under(self, widget: QWidget) -> None:
        """Open the dialog beside a widget, if the screen has space for it."""
        if not self.isVisible():
            corner = widget.mapToGlobal(QPoint(widget.width() - self.width(), widget.height() + theme.SPACE_XS))
            screen = widget.screen().availableGeometry()
            x = min(max(corner.x(), screen.left()), screen.right() - self.width())
            y = min(max(corner.y(), screen.top()), screen.bottom() - self.height())
            self.move(x, y)
        self.show()
        self.raise_()
        self.activateWindow()
        self.stages.setFocus()

    def move_stage(self, by: int) -> None:
        """Move the selected stage up (-1) or down (1)."""
        row = self.stages.currentRow()
        if 0 <= row + by < self.stages.count():
            blocker = QSignalBlocker(self.stages)
            item = self.stages.takeItem(row)
            self.stages.insertItem(row + by, item)
            self.stages.setCurrentItem(item)
            blocker.unblock()
            self._on_moved()

    def restore_defaults(self) -> None:
        """Restore the grammar alone and the default order; discard what was typed."""
        self._refused.clear()
        self.fields.clear()
        self._fill(PipelineSettings())
        self._send()

    def select(self, stage: str) -> None:
        """Show the fields of a stage."""
        self.stages.setCurrentItem(self._item(stage))

    def item_text(self, stage: str) -> str:
        """Return the text of a stage in the list."""
        return self._item(stage).text()

    @property
    def order(self) -> tuple[str, ...]:
        """Return the stages in the listed order."""
        return tuple(self._stage(self.stages.item(row)) for row in range(self.stages.count()))

    def hideEvent(self, event: QHideEvent) -> None:
        """Send what was typed last before closing."""
        if self._pause.isActive():
            self._send()
        super().hideEvent(event)
        self.hidden.emit()

    def _build(self) -> None:
        blank = QPixmap(self.stages.iconSize())
        blank.fill(Qt.GlobalColor.transparent)
        for stage in STAGES.names:
            item = QListWidgetItem(self.stages)
            item.setSizeHint(QSize(0, _ROW_HEIGHT))
            if stage not in _switched():
                item.setIcon(QIcon(blank))  # so that all names are aligned
            item.setData(Qt.ItemDataRole.UserRole, stage)
            flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemIsDragEnabled
            item.setFlags(flags | Qt.ItemFlag.ItemIsUserCheckable if stage in _switched() else flags)
        hint = Label(ui_text("generation.processors.hint"))
        hint.setProperty("role", "muted")
        hint.setWordWrap(True)
        moves = QHBoxLayout()
        moves.setSpacing(theme.SPACE_XS)
        left = QVBoxLayout()
        left.setSpacing(theme.SPACE_S)
        hint.setFixedWidth(_LIST_WIDTH)
        body = QHBoxLayout()
        body.setSpacing(theme.SPACE_L)
        inner = QHBoxLayout(self._error_frame)
        inner.setContentsMargins(theme.SPACE_M, theme.SPACE_S, theme.SPACE_M, theme.SPACE_S)
        inner.addWidget(self.message, 1)
        foot = QHBoxLayout()
        forced = Label(ui_text("common.word.forced_runs"))
        forced.setBuddy(self.forced)
        foot.setSpacing(theme.SPACE_S)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_M, theme.SPACE_L, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_M)
        layout.addLayout(body, 1)
        body.addLayout(left)
        left.addWidget(hint)
        left.addWidget(self.stages, 1)
        left.addLayout(moves)
        moves.addWidget(self.up)
        moves.addWidget(self.down)
        moves.addStretch(1)
        body.addWidget(self.fields, 1)
        layout.addWidget(self._error_frame)
        layout.addLayout(foot)
        foot.addWidget(forced)
        foot.addWidget(self.forced)
        foot.addSpacing(theme.SPACE_M)
        foot.addWidget(self.reset)
        foot.addStretch(1)
        foot.addWidget(self.close_button)
        self._error_frame.hide()
        self.resize(_SIZE)

    def _connect(self) -> None:
        self.stages.currentItemChanged.connect(lambda item, _old: self._on_selected(item))
        self.stages.itemChanged.connect(self._on_switched)
        self.stages.model().rowsMoved.connect(lambda *_: self._on_moved())
        self.fields.edited.connect(self._on_edited)
        self.sampler_wanted = self.fields.sampler_wanted
        self.forced.activated.connect(lambda _index: self._check())
        theme.themes.changed.connect(self._show_stage_texts)
        for name, by in ((_UP, -1), (_DOWN, 1)):
            keys = QKeySequence(keys_of(name), QKeySequence.SequenceFormat.NativeText)
            QShortcut(keys, self).activated.connect(lambda by=by: self.move_stage(by))

    def _fill(self, settings: PipelineSettings, keep: Collection[str] = ()) -> None:
        """Show settings; the stages in `keep` keep what was typed, with their switches on."""
        blocker = QSignalBlocker(self.stages)
        chosen = self.stages.currentItem()
        items = {self._stage(item): item for item in self._take_items()}
        for stage in settings.stages:
            self.stages.addItem(items[stage])
        self.fields.show_settings(settings, keep)
        self.forced.setCurrentIndex(self.forced.findData(settings.forced))
        values = stage_values(settings)
        for stage in _switched():
            is_on = stage in values or stage in keep
            items[stage].setCheckState(Qt.CheckState.Checked if is_on else Qt.CheckState.Unchecked)
        self.stages.setCurrentItem(chosen or self.stages.item(0))
        blocker.unblock()
        self._on_selected(self.stages.currentItem())
        self._message = ""
        self._find_problems()
        self._show_stage_texts(settings)

    def _take_items(self) -> list[QListWidgetItem]:
        return [self.stages.takeItem(0) for _ in range(self.stages.count())]

    def _read(self) -> tuple[PipelineSettings, dict[str, str]]:
        """Return what is typed, and the unreadable stages with the reasons; these keep their settings."""
        on = frozenset(stage for stage in _switched() if self._item(stage).checkState() is Qt.CheckState.Checked)
        settings, unreadable = self.fields.settings(self.order, on, self._sent[-1] if self._sent else self._in_force)
        return replace(settings, forced=self.forced.currentData()), unreadable

    def _on_edited(self, stage: str) -> None:
        if stage in _switched():
            blocker = QSignalBlocker(self.stages)
            self._item(stage).setCheckState(Qt.CheckState.Checked)  # typing into a stage switches it on
            blocker.unblock()
        self._check()

    def _on_switched(self, item: QListWidgetItem) -> None:
        stage = self._stage(item)
        self.stages.setCurrentItem(item)
        if item.checkState() is Qt.CheckState.Checked:
            self.fields.focus_stage(stage)
        self._check()

    def _on_moved(self) -> None:
        self._on_selected(self.stages.currentItem())
        self._check()

    def _on_selected(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.fields.show_stage(self._stage(item))
        row = self.stages.currentRow()
        self.up.setEnabled(row > 0)
        self.down.setEnabled(0 <= row < self.stages.count() - 1)

    def _check(self) -> None:
        """Show at once what is invalid; send the rest shortly after."""
        self._message = ""
        self._find_problems()
        settings, _ = self._read()
        self._show_stage_texts(settings)
        self._pause.start()
        self.drafted.emit(settings)

    def _send(self) -> None:
        self._pause.stop()
        settings, _ = self._read()
        if settings != (self._sent[-1] if self._sent else self._in_force):
            self._sent.append(settings)
            self.edited.emit(settings)

    def _find_problems(self) -> None:
        """Mark the stages whose input is invalid, and show why."""
        settings, problems = self._read()
        for stage, (requested, why) in self._refused.items():
            if stage not in problems and settings.values_of(stage) == requested:
                problems[stage] = why
        has_changed = problems != self._problems
        self._problems = problems
        self._show_message(self._message)
        if has_changed:
            self._show_stage_texts(settings)
            self.problems_changed.emit()

    def _show_message(self, message: str) -> None:
        """Show beside its fields what is wrong with a stage, and below the message that concerns no single one."""
        self._message = message
        self.message.setText(unmarked(message))
        self._error_frame.setVisible(bool(message))
        self.fields.show_problems(dict(zip(self._problems, self.problem_lines(), strict=True)))

    def problem_lines(self) -> list[str]:
        """Return, for each invalid stage, the reason and what the stage does instead."""
        lines = []
        for stage, why in self._problems.items():
            is_off = self._in_force.values_of(stage) == PipelineSettings().values_of(stage)
            state = "off" if is_off else "kept"
            fields = {"stage": stage_title(stage), "reason": why.rstrip(".")}
            lines.append(unmarked(ui_text(f"generation.processors.problem.{state}", **fields)))
        return lines

    def _show_stage_texts(self, settings: PipelineSettings | None = None) -> None:
        """Show each stage's settings behind its name."""
        values = {**_sampler_values(self._sampler), **stage_values(settings or self._in_force)}
        blocker = QSignalBlocker(self.stages)
        for row in range(self.stages.count()):
            item = self.stages.item(row)
            stage = self._stage(item)
            name, value = stage_title(stage), values.get(stage, "")
            problem = self._problems.get(stage, "")
            text = f"{name} · {value}" if value else name
            item.setText(f"✗ {name} · {ui_text('generation.processors.fragment.invalid')}" if problem else text)
            is_off = STAGES[stage].has_switch and stage not in values
            state = "off" if is_off else "on" if stage in values else "everywhere"
            detail = unmarked(problem) or value or ui_text(f"generation.processors.fragment.{state}")
            item.setToolTip(plain_text(f"{name}: {detail}"))
            role = theme.Role.ERROR if problem else theme.Role.MUTED if is_off else theme.Role.TEXT
            item.setForeground(theme.colour(role))
        blocker.unblock()
        self.stages.viewport().update()

    def _item(self, stage: str) -> QListWidgetItem:
        rows = (self.stages.item(row) for row in range(self.stages.count()))
        return next(item for item in rows if self._stage(item) == stage)

    @staticmethod
    def _stage(item: QListWidgetItem) -> str:
        return str(item.data(Qt.ItemDataRole.UserRole))


def _switched() -> tuple[str, ...]:
    """Return the stages with a switch; the grammar is always on if there is one, the others are the sampler's."""
    return tuple(stage.name for stage in pipeline_stages() if stage.has_switch)


def _sampler_values(sampler: SamplerSettings) -> dict[str, str]:
    values = {stage: number_text(value) for stage, value in sampler_values(sampler).items()}
    return values | ({"temperature": ui_text("generation.sampler.fragment.greedy")} if sampler.is_greedy else {})
