"""The fields of an output's zones: that of the grammar, and others with grammars of their own.

One zone is shown at a time, chosen from a list above the fields. What follows a zone, and whether one is required,
applies to all of them.
"""

from __future__ import annotations

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.panes.generation.form_fields import Form, code_line, code_lines
from app.panes.generation.processors_format import UnreadableError, read, trigger_fact, written
from app.theme.buttons import tool_button
from engine.decoding.pipeline_settings import Afterwards, OtherZone, ZoneSettings
from engine.source import InvariantError

_THEN = {
    Afterwards.STOP: "the output ends",
    Afterwards.FREE: "free text to the end",
    Afterwards.AGAIN: "free text, until the next trigger",
}
_NOTATIONS = {"regex": "Regular expression", "gbnf": "GBNF", "json_schema": "JSON Schema", "": "Free text"}
_MOST = 9
_TEXT_HEIGHT = 84


class ZoneFields(QWidget):
    """All zones.

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

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.is_partial = QCheckBox("Only a part of the output")
        self.chosen = QComboBox()
        self.chosen.setAccessibleName("Zone")
        self.chosen.setToolTip("The zone that is shown: the grammar's own, or one with a grammar of its own")
        self.chosen.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.add = tool_button("Add", "Add a zone with a grammar of its own, such as a tool call", role="outlined")
        self.remove = tool_button("Remove", "Remove the zone that is shown", role="outlined")
        self.after = code_line("</think>", "Trigger text: the grammar begins behind it")
        self.after_token = code_line("name of a special token", "Trigger token: the grammar begins behind it")
        self.until = code_line("```", "Text that must follow what the grammar matches")
        self.then = QComboBox()
        for text in _THEN.values():
            self.then.addItem(text)
        self.then.setAccessibleName("What follows")
        self.then.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.then.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.required = QCheckBox("An output without a zone is incomplete")
        self.required.setChecked(True)
        self.others: list[OtherZoneFields] = []
        self._own, self._pages = QWidget(), QStackedWidget()
        self._build()
        self._connect()
        self._refresh()

    def show_zones(self, zones: ZoneSettings | None) -> None:
        """Fill the fields without signals; without zones, what was typed stays, to be switched on again."""
        blockers = [QSignalBlocker(field) for field in self.inputs()]
        self.is_partial.setChecked(zones is not None)
        if zones is not None:
            self.after.setText(written(zones.after))
            self.after_token.setText(zones.after_token)
            self.until.setText(written(zones.until))
            self.then.setCurrentIndex(list(_THEN).index(Afterwards(zones.then)))
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
            then=list(_THEN)[self.then.currentIndex()],
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
            raise UnreadableError(f"zone {number}: {error}") from None

    def _build(self) -> None:
        own = Form(self._own)
        named = own.add("After the text", self.after)
        own.add("or the token", self.after_token)
        own.add("Closed by", self.until)
        self._pages.addWidget(self._own)
        row = QHBoxLayout()
        row.setSpacing(theme.SPACE_XS)
        common = QWidget()
        shared = Form(common)
        shared.add("Then", self.then).setMinimumWidth(named.sizeHint().width())
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
        self.add.clicked.connect(self._on_add)
        self.remove.clicked.connect(self._on_remove)

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
        first = trigger_fact(self.after.text().strip(), self.after_token.text().strip())
        self.chosen.addItem(f"1 · this grammar, {first}")
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
        self.after = code_line("<call>", "Trigger text: the zone begins behind it")
        self.after_token = code_line("name of a special token", "Trigger token: the zone begins behind it")
        self.until = code_line("</call>", "Text that closes the zone; free text needs one")
        self.notation = QComboBox()
        self.notation.setAccessibleName("Notation of the zone's grammar")
        for notation, name in _NOTATIONS.items():
            self.notation.addItem(name, notation)
        self.text = code_lines("the zone's grammar", "The zone's grammar")
        self.text.setFixedHeight(_TEXT_HEIGHT)
        rows = Form(self)
        rows.add("After the text", self.after)
        rows.add("or the token", self.after_token)
        rows.add("Written as", self.notation)
        rows.add_wide(self.text)
        rows.add("Closed by", self.until)
        for line in (self.after, self.after_token, self.until):
            line.textEdited.connect(lambda _text: self.edited.emit())
        self.text.textChanged.connect(self.edited)
        self.notation.activated.connect(self._on_notation)

    @property
    def title(self) -> str:
        """Return the zone's name in the list."""
        trigger = trigger_fact(self.after.text().strip(), self.after_token.text().strip())
        return f"{_NOTATIONS[self.notation.currentData()]}, {trigger}"

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
        self.notation.setCurrentIndex(list(_NOTATIONS).index(zone.notation))
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
