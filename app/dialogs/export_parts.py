"""The parts of the export dialog: the list of targets, their options, and the preview."""

from __future__ import annotations

import re
from typing import Final

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QFont, QIcon, QMouseEvent, QPixmap, QResizeEvent, QTextOption
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QScrollArea,
    QSpinBox,
    QStackedWidget,
    QWidget,
)

from app import theme
from app.theme import Role
from app.theme.icons import icon
from app.theme.labels import Label
from app.theme.plain_text import plain_text
from app.workers.export_messages import ExportAnswer, ExportEntry, ExportOptionsMessage, PreviewFile

_NAME: Final = Qt.ItemDataRole.UserRole
_GOOD_NAME: Final = re.compile("[a-z][a-z0-9_-]{0,59}")
_BAD_NAME: Final = "A name is small letters, digits, - and _, and begins with a letter."
_DEEPEST: Final = 12
_LIST_WIDTH: Final = 244
_FILES_WIDTH: Final = 220
_ICON: Final = 14
_ROW: Final = 25
_SPELLINGS: Final = (("Plain: one way, the shortest", "plain"), ("Any: as the schema is compiled", "any"))
_NOT_TEXT: Final = "This file is not text."


class TargetList(QListWidget):
    """The targets under the headings of their groups; one that does not fit can be selected to see why.

    Signals:
        chosen(ExportEntry): another target is the current one.
    """

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Export targets")
        self.setFixedWidth(_LIST_WIDTH)
        self.setProperty("role", "field")
        self.setIconSize(QSize(_ICON, _ICON))
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._entries: dict[str, ExportEntry] = {}
        self.currentItemChanged.connect(self._on_current)
        theme.themes.changed.connect(self._apply_theme)

    @property
    def entry(self) -> ExportEntry | None:
        """Return the current target."""
        item = self.currentItem()
        return self._entries.get(item.data(_NAME)) if item is not None else None

    def fill(self, entries: tuple[ExportEntry, ...]) -> None:
        """Show targets; the current one stays current, otherwise the first that fits becomes current."""
        before = self.entry.name if self.entry is not None else ""
        with QSignalBlocker(self):
            self.clear()
            self._entries = {entry.name: entry for entry in entries}
            group = ""
            for entry in entries:
                if entry.group != group:
                    group = entry.group
                    self.addItem(_heading(group, is_first=self.count() == 0))
                item = QListWidgetItem(entry.title)
                item.setData(_NAME, entry.name)
                item.setSizeHint(QSize(0, _ROW))
                item.setToolTip(plain_text(_why_not(entry) or entry.about))
                item.setData(Qt.ItemDataRole.AccessibleTextRole, f"{entry.title}. {_why_not(entry)}".strip())
                self.addItem(item)
            self._apply_theme()
            wanted = before or next((entry.name for entry in entries if not entry.refusal), "")
            self.choose(wanted)
        self._on_current()

    def choose(self, name: str) -> None:
        """Make a target the current one."""
        for row in range(self.count()):
            if self.item(row).data(_NAME) == name:
                self.setCurrentRow(row)

    def _on_current(self, *_: object) -> None:
        if self.entry is not None:
            self.chosen.emit(self.entry)

    def _apply_theme(self) -> None:
        refused_icon = icon("ph.prohibit", Role.MUTED)
        empty_icon = QIcon(_blank())  # an empty icon, so that all names are aligned
        for row in range(self.count()):
            item = self.item(row)
            entry = self._entries.get(item.data(_NAME))
            if entry is None:
                item.setForeground(theme.colour(Role.MUTED))
                continue
            font = QFont(item.font())
            font.setItalic(bool(entry.refusal))
            item.setFont(font)
            item.setIcon(refused_icon if entry.refusal else empty_icon)
            item.setForeground(theme.colour(Role.MUTED if entry.refusal else Role.TEXT))


def _blank() -> QPixmap:
    pixmap = QPixmap(_ICON, _ICON)
    pixmap.fill(Qt.GlobalColor.transparent)
    return pixmap


def _heading(text: str, *, is_first: bool) -> QListWidgetItem:
    item = QListWidgetItem(text)
    item.setFlags(Qt.ItemFlag.NoItemFlags)
    font = QFont(item.font())
    font.setWeight(QFont.Weight.DemiBold)
    item.setFont(font)
    item.setSizeHint(QSize(0, _ROW if is_first else _ROW + theme.SPACE_M))
    item.setTextAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignBottom)
    return item


def _why_not(entry: ExportEntry) -> str:
    return f"{entry.refusal[0].upper()}{entry.refusal[1:]}." if entry.refusal else ""


class Options(QWidget):
    """The options of a target; only those that it supports are shown.

    Signals:
        changed(): an option changed.
    """

    changed = Signal()

    def __init__(self, name: str) -> None:
        super().__init__()
        self.spelling = QComboBox()
        for text, value in _SPELLINGS:
            self.spelling.addItem(text, value)
        self.recursion = QSpinBox()
        self.recursion.lineEdit().setTextMargins(theme.SPACE_XS, 0, theme.SPACE_XS, 0)
        self.recursion.setRange(0, _DEEPEST)
        self.recursion.setSpecialValueText("not cut")
        self.recursion.setMinimumWidth(110)
        self.recursion.lineEdit().setTextMargins(theme.SPACE_XS, 0, 0, 0)
        self.recursion.setToolTip("How often a rule may stand within itself, where the target has no recursion")
        self.name = QLineEdit(name)
        self.name.setMaximumWidth(180)
        self.name.setToolTip("What packages and requests call the grammar")
        self.model = QLineEdit()
        self.model.setPlaceholderText("MODEL")
        self.model.setToolTip("The name that the server knows the model by")
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACE_S)
        self._rows: dict[str, tuple[QLabel, QWidget]] = {}
        for key, text, widget in (
            ("spelling", "Spelling", self.spelling),
            ("depth", "Recursion", self.recursion),
            ("name", "Name", self.name),
            ("model", "Model", self.model),
        ):
            label = Label(text)
            label.setProperty("role", "muted")
            label.setBuddy(widget)
            widget.setAccessibleName(text)
            layout.addWidget(label)
            layout.addWidget(widget)
            self._rows[key] = label, widget
        layout.addStretch()
        self.spelling.currentIndexChanged.connect(lambda _index: self.changed.emit())
        self.recursion.valueChanged.connect(lambda _value: self.changed.emit())
        self.name.textChanged.connect(lambda _text: self.changed.emit())
        self.model.textChanged.connect(lambda _text: self.changed.emit())

    @property
    def trouble(self) -> str:
        """Return why an option is invalid; empty if all are valid."""
        return "" if _GOOD_NAME.fullmatch(self.name.text()) else _BAD_NAME

    def told(self) -> ExportOptionsMessage:
        """Return the options, with a valid name."""
        name = self.name.text() if not self.trouble else ExportOptionsMessage().name
        return ExportOptionsMessage(
            self.spelling.currentData(), self.recursion.value() or None, name, self.model.text().strip()
        )

    def show_for(self, takes: tuple[str, ...]) -> None:
        """Show the options that a target supports."""
        for key, widgets in self._rows.items():
            for widget in widgets:
                widget.setVisible(key in takes)
        self.setVisible(bool(takes))


class Preview(QStackedWidget):
    """The beginning of an export, the files of a folder, a picture, or a message instead."""

    def __init__(self) -> None:
        super().__init__()
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setProperty("role", "field")
        self.text.setFont(theme.mono_font())
        self.text.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.text.setAccessibleName("Preview")
        self.files = QListWidget()
        self.files.setAccessibleName("Files of the export")
        self.files.setProperty("role", "field")
        self.files.currentRowChanged.connect(self._show_file)
        self.files.setFixedWidth(_FILES_WIDTH)
        self.files.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.files.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._texts = QWidget()
        layout = QHBoxLayout(self._texts)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACE_S)
        layout.addWidget(self.files)
        layout.addWidget(self.text, 1)
        self.picture = _Picture()
        self.message = Label()
        self.message.setProperty("role", "empty")
        self.message.setProperty("framed", True)
        self.message.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.message.setWordWrap(True)
        self.message.setMargin(theme.SPACE_L)
        self._shown: tuple[PreviewFile, ...] = ()
        for page in (self._texts, self.picture, self.message):
            self.addWidget(page)
        self.say("")

    def say(self, sentence: str) -> None:
        """Show a message instead of a preview."""
        self.message.setText(sentence)
        self.setCurrentWidget(self.message)

    def show_answer(self, answer: ExportAnswer) -> None:
        """Show a preview."""
        if answer.picture:
            pixmap = QPixmap()
            pixmap.loadFromData(answer.picture)
            self.picture.show_pixmap(pixmap)
            self.setCurrentWidget(self.picture)
            return
        row = self.files.currentRow()
        is_same = [file.path for file in self._shown] == [file.path for file in answer.files]
        row = max(0, row) if is_same else 0
        self._shown = answer.files
        with QSignalBlocker(self.files):
            self.files.clear()
            for file in answer.files:
                item = QListWidgetItem(file.path)
                item.setToolTip(plain_text(f"{file.path}, {file.size:,} bytes"))
                self.files.addItem(item)
            self.files.setCurrentRow(row)
        self.files.setVisible(len(answer.files) > 1)
        self._show_file(row)
        self.setCurrentWidget(self._texts)

    def _show_file(self, row: int) -> None:
        if 0 <= row < len(self._shown):
            file = self._shown[row]
            self.text.setPlainText(file.text if file.text or not file.size else _NOT_TEXT)


class _Picture(QScrollArea):
    """A picture that is scaled to fit, at most to its full size; a click toggles the full size."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName("Picture of what is written")
        self._pixmap = QPixmap()
        self._is_fitted = True
        self.label = Label()
        self.label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.label.setAccessibleName("Preview of the picture")
        self.setWidget(self.label)
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setProperty("role", "field")
        self.setToolTip("Click to see it larger")

    def show_pixmap(self, pixmap: QPixmap) -> None:
        """Show a picture."""
        self._pixmap, self._is_fitted = pixmap, True
        self._show()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the picture to the new size."""
        super().resizeEvent(event)
        self._show()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Toggle between fitted and full size."""
        if event.button() == Qt.MouseButton.LeftButton:
            self._is_fitted = not self._is_fitted
            self._show()
        super().mouseReleaseEvent(event)

    def _show(self) -> None:
        if self._pixmap.isNull():
            return
        ratio = self.devicePixelRatioF()
        viewport = self.maximumViewportSize()
        most = self._pixmap.size().boundedTo(viewport * ratio) if self._is_fitted else self._pixmap.size()
        shown = self._pixmap.scaled(
            most, Qt.AspectRatioMode.KeepAspectRatio, Qt.TransformationMode.SmoothTransformation
        )
        shown.setDevicePixelRatio(ratio)
        self.label.setPixmap(shown)
        self.label.adjustSize()
