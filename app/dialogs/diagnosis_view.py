"""The details of a diagnosis: all violations with their repairs, and the evidence.

The sentence and the fix are in the banner above. The details scroll, so that the output below keeps its place.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QFrame, QGridLayout, QPushButton, QScrollArea, QVBoxLayout, QWidget

from app import theme
from app.catalogue import ui_text
from app.display_text import unmarked
from app.theme.buttons import push_button
from app.theme.labels import Label
from app.widgets.banner import BannerSeverity
from app.widgets.rich_text import bullets, prose
from engine.diagnosis.failures.diagnosis import Cause, Diagnosis, Violation, ViolationFix

MOST_ROWS = 30
_CODE = re.compile(r"`[^`]+`")
_HEIGHT = 196  # pixels
_SHARE = 0.42  # of the height of the dialog, if that is more
_LONGEST_REPAIR = 34  # characters
_SEVERITIES: dict[Cause, BannerSeverity] = {
    Cause.COMPLETE: "allowed",
    Cause.UNKNOWN: "hint",
    Cause.CUT_OFF: "warning",
    Cause.CONTEXT_LIMIT: "warning",
    Cause.STOP_TOKEN: "warning",
    Cause.WHITESPACE_LOOP: "warning",
    Cause.REPETITION_LOOP: "warning",
    Cause.SLOW_COMPILE: "warning",
    Cause.STATE_EXPLOSION: "warning",
    Cause.SPECULATIVE_REJECTION: "warning",
}


SAYS_ALL: Final = frozenset(
    (
        Cause.EOS_REFUSED,
        Cause.STOP_TOKEN,
        Cause.TOKEN_BOUNDARY,
        Cause.TRIGGER_NEVER_CAME,
        Cause.WHITESPACE_LOOP,
        Cause.WRONG_ZONE,
    )
)
"""Causes beside which the verdict of the replay says the same again, or is about text that the grammar never met."""


def severity_of(found: Diagnosis) -> BannerSeverity:
    """Return the severity of a cause."""
    return _SEVERITIES.get(found.cause, "error")


def repair_of_output(violation: Violation) -> ViolationFix | None:
    """Return the repair of the output, if there is one."""
    return next((fix for fix in violation.fixes if not fix.of_schema), None)


def repair_of_schema(violation: Violation) -> ViolationFix | None:
    """Return the repair of the schema, if there is one."""
    return next((fix for fix in violation.fixes if fix.of_schema), None)


def cause_name(cause: Cause, detail: str) -> str:
    """Return a cause with its detail, as ids."""
    return ui_text("dialogs.check.cause", cause=cause, detail=detail) if detail else str(cause)


def details_of(found: Diagnosis, notes: Sequence[str]) -> tuple[str, ...]:
    """Return the evidence, the notes of the verdict and the further causes; what the sentence has is left out.

    Args:
        found: the diagnosis.
        notes: the notes of the verdict.
    """
    said = set(_CODE.findall(found.sentence))
    lines = [
        *found.evidence,
        *(note for note in notes if not (named := _CODE.findall(note)) or not said.issuperset(named)),
    ]
    if found.others:
        names = ", ".join(cause_name(one.cause, one.detail) for one in found.others)
        lines.append(ui_text("dialogs.check.others", names=names))
    return tuple(dict.fromkeys(line for line in lines if line != found.sentence))


class DiagnosisView(QScrollArea):
    """Shows the violations and the evidence of a diagnosis.

    Signals:
        place_wanted(Violation): show where it is, in the output and in the schema.
        repair_wanted(ViolationFix): apply this repair of the output.
        schema_repair_wanted(ViolationFix): apply this repair of the schema.
    """

    place_wanted = Signal(Violation)
    repair_wanted = Signal(ViolationFix)
    schema_repair_wanted = Signal(ViolationFix)

    def __init__(self) -> None:
        super().__init__()
        self.setWidgetResizable(True)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName(ui_text("dialogs.check.details_name"))
        self.place_buttons: list[QWidget] = []
        self.repair_buttons: list[QWidget] = []
        self.schema_buttons: list[QWidget] = []
        self._lines: tuple[str, ...] = ()
        self._violations: tuple[Violation, ...] = ()
        self.hide()

    @property
    def lines(self) -> tuple[str, ...]:
        """Return the evidence as plain text."""
        return tuple(map(unmarked, self._lines))

    def show_details(self, lines: Sequence[str], violations: Sequence[Violation] = (), text: str = "") -> None:
        """Show violations and evidence; without any, hide.

        Args:
            lines: the evidence.
            violations: the violations.
            text: the output, for positions.
        """
        self._lines, self._violations = tuple(lines), tuple(violations)
        self.place_buttons, self.repair_buttons, self.schema_buttons = [], [], []
        content = QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, theme.SPACE_S, 0)
        column.setSpacing(theme.SPACE_XS)
        if violations:
            grid = QGridLayout()
            column.addLayout(grid)
            self._fill_rows(grid, text)
        if lines:
            column.addWidget(self._evidence())
        column.addStretch()
        self.setWidget(content)
        self.setVisible(bool(lines or violations))
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        """Return the height of the content at this width, up to a limit."""
        content = self.widget()
        if content is None:
            return QSize(0, 0)
        layout = content.layout()
        height = layout.heightForWidth(self.viewport().width()) if layout is not None else 0
        most = max(_HEIGHT, round(_SHARE * self.window().height()))
        return QSize(super().sizeHint().width(), min(max(height, 0), most))

    def minimumSizeHint(self) -> QSize:
        """Return the height of a small dialog, so that the pages below fit on a small screen, too."""
        return QSize(0, min(self.sizeHint().height(), _HEIGHT))

    def resizeEvent(self, event: object) -> None:
        """Adapt the height to lines that wrap otherwise."""
        super().resizeEvent(event)  # type: ignore[arg-type]
        self.updateGeometry()

    def _fill_rows(self, grid: QGridLayout, text: str) -> None:
        grid.setHorizontalSpacing(theme.SPACE_S)
        grid.setVerticalSpacing(2)
        grid.setColumnStretch(1, 1)
        for row, violation in enumerate(self._violations[:MOST_ROWS]):
            before = text[: violation.start]
            line, column = before.count("\n") + 1, violation.start - before.rfind("\n")
            show, tip = partial(self.place_wanted.emit, violation), ui_text("dialogs.check.place_tip")
            where = push_button(f"{line}:{column}", tip, role="link", clicked=show)
            where.setAccessibleName(ui_text("dialogs.check.place_name", line=line, column=column))
            self.place_buttons.append(where)
            grid.addWidget(where, row, 0)
            sentence = Label(prose(violation.sentence), wraps=True, is_html=True)
            sentence.setAccessibleName(unmarked(violation.sentence))
            grid.addWidget(sentence, row, 1)
            repairs = QVBoxLayout()
            grid.addLayout(repairs, row, 2)
            repairs.setSpacing(2)
            fix = repair_of_output(violation)
            if fix is not None:
                repairs.addWidget(self._repair(fix))
            schema_fix = repair_of_schema(violation)
            if schema_fix is not None:
                repairs.addWidget(self._schema_repair(schema_fix))
        if len(self._violations) > MOST_ROWS:
            more = Label(ui_text("dialogs.check.more", count=len(self._violations) - MOST_ROWS))
            more.setProperty("role", "muted")
            grid.addWidget(more, MOST_ROWS, 1)

    def _repair(self, fix: ViolationFix) -> QWidget:
        button = _fix_button(fix.title.replace("`", ""), partial(self.repair_wanted.emit, fix))
        self.repair_buttons.append(button)
        return button

    def _schema_repair(self, fix: ViolationFix) -> QWidget:
        title = ui_text("dialogs.check.schema_repair", title=fix.title.replace("`", ""))
        button = _fix_button(title, partial(self.schema_repair_wanted.emit, fix))
        self.schema_buttons.append(button)
        return button

    def _evidence(self) -> Label:
        label = Label(bullets(self._lines, theme.Role.MUTED), wraps=True, is_html=True)
        label.setProperty("role", "muted")
        label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        label.setAccessibleName("\n".join(self.lines))
        return label

    def disable_positions(self) -> None:
        """Disable positions and repairs: the output is not shown as text."""
        for button in (*self.place_buttons, *self.repair_buttons):
            button.setEnabled(False)


def _fix_button(title: str, clicked: Callable[[], object]) -> QPushButton:
    """Return a button with a title, which is shortened; its tip has all of it."""
    shown = title if len(title) <= _LONGEST_REPAIR else title[: _LONGEST_REPAIR - 1] + "…"
    button = push_button(shown, title, clicked=clicked)
    button.setAccessibleName(title)
    return button
