"""The preferences: every setting of the window in one list, searched by typing, each applied at once.

A choice is made of commands, so that the dialog, the menus and the command palette cannot differ. What has no command
is changed in the settings, whose readers look at them when they need them.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QDialog,
    QDialogButtonBox,
    QGridLayout,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSpinBox,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.commands import DECLARED, Commands, submenu_title
from app.settings import Settings
from app.theme import TEXT_SIZES
from app.theme.buttons import push_button
from app.theme.labels import Label, plain_text

_CHOICES = {
    "theme": ("view.system", "view.light", "view.dark"),
    "colours": ("view.colours", "view.safe_colours", "view.high_contrast"),
    "tokens": ("view.chips_probability", "view.chips_choice", "view.chips_surprise", "view.chips_time"),
}
_SIZE = 620, 460  # pixels


class PreferencesDialog(QDialog):
    """Shows the settings, and changes them at once.

    Args:
        commands: make the choices that are in menus, too.
        settings: have the others.
        set_text_size: makes the text some points larger than the desktop's.
        parent: as of any dialog.

    Attributes:
        field: filters the settings.
        controls: the widgets by the names of the settings.
    """

    def __init__(
        self,
        commands: Commands,
        settings: Settings,
        set_text_size: Callable[[int], object],
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(ui_text("commands.edit.preferences.title").rstrip("…"))
        self.resize(*_SIZE)
        self._commands, self._settings = commands, settings
        self.field = QLineEdit(placeholderText=ui_text("dialogs.preferences.hint"), clearButtonEnabled=True)
        self.field.setAccessibleName(ui_text("widgets.filter.field"))
        self.field.textChanged.connect(self._filter)
        self.nothing = Label(ui_text("dialogs.preferences.nothing"))
        self.nothing.setProperty("role", "muted")
        self.controls: dict[str, QWidget] = {}
        self._rows: list[tuple[str, tuple[QWidget, ...]]] = []
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(theme.SPACE_L)
        self._grid.setVerticalSpacing(theme.SPACE_XS)
        self._grid.setColumnStretch(1, 1)
        for name, ids in _CHOICES.items():
            words = (f"{DECLARED[one].title} {DECLARED[one].synonyms}" for one in ids)
            self._add(name, submenu_title(DECLARED[ids[0]]), self._choice(ids), *words)
        self._add("text_size", submenu_title(DECLARED["view.text_larger"]), self._text_size(set_text_size))
        for name, control in (
            ("problems", self._switch("bottom_open")),
            ("recent", self._clear("recent")),
            ("servers", self._clear("servers")),
        ):
            self._add(name, ui_text(f"dialogs.preferences.{name}.title"), control)
        self._lay_out()
        self.field.setFocus()

    def _lay_out(self) -> None:
        inner = QWidget()
        rows = QVBoxLayout(inner)
        rows.setContentsMargins(theme.SPACE_M, theme.SPACE_S, theme.SPACE_M, theme.SPACE_S)
        rows.addLayout(self._grid)
        rows.addWidget(self.nothing)
        rows.addStretch(1)
        area = QScrollArea(widgetResizable=True)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)  # its fields scroll into view when they get the focus
        area.setProperty("role", "field")
        area.setWidget(inner)
        buttons = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_M, theme.SPACE_M, theme.SPACE_M, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_S)
        layout.addWidget(self.field)
        layout.addWidget(area, 1)
        layout.addWidget(buttons)
        self.nothing.hide()

    def _add(self, name: str, title: str, control: QWidget, *words: str) -> None:
        """Add a setting; it is found by its title, its note and some more words."""
        note = ui_text(f"dialogs.preferences.{name}.note")
        label, explanation = Label(title), Label(note, wraps=True)
        explanation.setProperty("role", "muted")
        label.setBuddy(control)
        control.setObjectName(f"preference:{name}")
        control.setAccessibleName(title)
        control.setAccessibleDescription(note)
        row = self._grid.rowCount()
        self._grid.addWidget(label, row, 0)
        self._grid.addWidget(control, row, 1, Qt.AlignmentFlag.AlignLeft)
        self._grid.addWidget(explanation, row + 1, 0, 1, 2)
        self._grid.setRowMinimumHeight(row + 2, theme.SPACE_S)
        self.controls[name] = control
        self._rows.append((" ".join((title, note, *words)).casefold(), (label, control, explanation)))

    def _choice(self, ids: tuple[str, ...]) -> QComboBox:
        box = QComboBox()
        for one in ids:
            box.addItem(DECLARED[one].title, one)
            box.setItemData(box.count() - 1, plain_text(DECLARED[one].tip), Qt.ItemDataRole.ToolTipRole)
        box.setCurrentIndex(next((row for row, one in enumerate(ids) if self._commands[one].isChecked()), 0))
        box.activated.connect(lambda row: self._commands[ids[row]].trigger())
        return box

    def _text_size(self, set_text_size: Callable[[int], object]) -> QSpinBox:
        chosen = self._settings.preferences.text_size
        usual = round(theme.ui_font().pointSizeF()) - chosen
        box = QSpinBox(minimum=usual + TEXT_SIZES[0], maximum=usual + TEXT_SIZES[-1], value=usual + chosen)
        box.setSuffix(ui_text("dialogs.preferences.text_size.fragment.points"))
        box.valueChanged.connect(lambda points: set_text_size(points - usual))
        return box

    def _switch(self, name: str) -> QCheckBox:
        box = QCheckBox()
        box.setChecked(getattr(self._settings.preferences, name))
        box.toggled.connect(lambda is_on: self._settings.change(**{name: is_on}))
        return box

    def _clear(self, name: str) -> QPushButton:
        button = push_button(ui_text("dialogs.preferences.clear"))

        def clear() -> None:
            self._settings.change(**{name: []})
            button.setEnabled(False)

        button.clicked.connect(clear)
        button.setEnabled(bool(getattr(self._settings.preferences, name)))
        return button

    def _filter(self, text: str) -> None:
        words = text.casefold().split()
        has_any = False
        for found, widgets in self._rows:
            is_shown = all(word in found for word in words)
            has_any = has_any or is_shown
            for widget in widgets:
                widget.setVisible(is_shown)
        self.nothing.setVisible(not has_any)
