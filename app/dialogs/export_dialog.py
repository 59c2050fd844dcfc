"""The export dialog: choose a target, preview it, write it, and read the result of its check.

The list of fitting targets, previews and files come from the worker processes; the dialog sends requests, waits with a
Cancel button, and drops late answers. A target that does not fit stays in the list with the reason: a depth may change
that.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import QFont, QIcon, QMouseEvent, QPixmap, QResizeEvent, QTextOption
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QFileDialog,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QMessageBox,
    QPlainTextEdit,
    QProgressBar,
    QScrollArea,
    QSpinBox,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from app import theme
from app.catalogue import ui_text
from app.delays import delayed
from app.theme import Role
from app.theme.buttons import push_button
from app.theme.icons import icon
from app.theme.labels import Label, plain_text
from app.theme.mnemonics import ask
from app.widgets.banner import Banner, BannerSeverity
from app.workers.protocol import Failed
from app.workers.requests.export import ExportAnswer, ExportEntry, ExportList, ExportOptionsMessage, PreviewFile

_NAME: Final = Qt.ItemDataRole.UserRole
_GOOD_NAME: Final = re.compile("[a-z][a-z0-9_-]{0,59}")
_DEEPEST: Final = 12
_LIST_WIDTH: Final = 244
_FILES_WIDTH: Final = 220
_ICON: Final = 14
_ROW: Final = 25
_SPELLINGS: Final = ("plain", "any")


class TargetList(QListWidget):
    """The targets under the headings of their groups; one that does not fit can be selected to see why.

    Signals:
        chosen(ExportEntry): another target is the current one.
    """

    chosen = Signal(ExportEntry)

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(ui_text("dialogs.export.targets"))
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
                item.setData(Qt.ItemDataRole.AccessibleTextRole, _accessible_name(entry))
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


def _accessible_name(entry: ExportEntry) -> str:
    if not entry.refusal:
        return entry.title
    return ui_text("dialogs.export.refused_name", title=entry.title, reason=_why_not(entry))


class Options(QWidget):
    """The options of a target; only those that it supports are shown.

    Signals:
        changed(): an option changed.
    """

    changed = Signal()

    def __init__(self, name: str) -> None:
        super().__init__()
        self.spelling = QComboBox()
        for value in _SPELLINGS:
            self.spelling.addItem(ui_text(f"dialogs.export.option.spelling_{value}"), value)
        self.recursion = QSpinBox()
        self.recursion.lineEdit().setTextMargins(theme.SPACE_XS, 0, theme.SPACE_XS, 0)
        self.recursion.setRange(0, _DEEPEST)
        self.recursion.setSpecialValueText(ui_text("dialogs.export.option.depth_none"))
        self.recursion.setMinimumWidth(110)
        self.recursion.lineEdit().setTextMargins(theme.SPACE_XS, 0, 0, 0)
        self.recursion.setToolTip(ui_text("dialogs.export.option.depth_tip"))
        self.name = QLineEdit(name)
        self.name.setMaximumWidth(180)
        self.name.setToolTip(ui_text("dialogs.export.option.name_tip"))
        self.model = QLineEdit()
        self.model.setPlaceholderText(ui_text("dialogs.export.option.model_hint"))
        self.model.setToolTip(ui_text("dialogs.export.option.model_tip"))
        layout = QHBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(theme.SPACE_S)
        self._rows: dict[str, tuple[QLabel, QWidget]] = {}
        for key, widget in (
            ("spelling", self.spelling),
            ("depth", self.recursion),
            ("name", self.name),
            ("model", self.model),
        ):
            text = ui_text(f"dialogs.export.option.{key}")
            label = Label(text)
            label.setProperty("role", "muted")
            label.setBuddy(widget)
            widget.setAccessibleName(text)
            layout.addWidget(label)
            layout.addWidget(widget)
            self._rows[key] = label, widget
        layout.addStretch()
        for edited in (
            self.spelling.currentIndexChanged,
            self.recursion.valueChanged,
            self.name.textChanged,
            self.model.textChanged,
        ):
            edited.connect(lambda _value: self.changed.emit())

    @property
    def error(self) -> str:
        """Return why an option is invalid; empty if all are valid."""
        return "" if _GOOD_NAME.fullmatch(self.name.text()) else ui_text("dialogs.export.option.name_error")

    def message(self) -> ExportOptionsMessage:
        """Return the options, with a valid name."""
        name = self.name.text() if not self.error else ExportOptionsMessage().name
        return ExportOptionsMessage(
            self.spelling.currentData(), self.recursion.value() or None, name, self.model.text().strip()
        )

    def show_for(self, supported_options: tuple[str, ...]) -> None:
        """Show the options that a target supports."""
        for key, widgets in self._rows.items():
            for widget in widgets:
                widget.setVisible(key in supported_options)
        self.setVisible(bool(supported_options))


class Preview(QStackedWidget):
    """The beginning of an export, the files of a folder, a picture, or a message instead."""

    def __init__(self) -> None:
        super().__init__()
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setProperty("role", "field")
        self.text.setFont(theme.mono_font())
        self.text.setWordWrapMode(QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere)
        self.text.setAccessibleName(ui_text("dialogs.export.preview.name"))
        self.files = QListWidget()
        self.files.setAccessibleName(ui_text("dialogs.export.preview.files"))
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
                item.setToolTip(plain_text(ui_text("dialogs.export.preview.file_tip", path=file.path, bytes=file.size)))
                self.files.addItem(item)
            self.files.setCurrentRow(row)
        self.files.setVisible(len(answer.files) > 1)
        self._show_file(row)
        self.setCurrentWidget(self._texts)

    def _show_file(self, row: int) -> None:
        if 0 <= row < len(self._shown):
            file = self._shown[row]
            self.text.setPlainText(
                file.text if file.text or not file.size else ui_text("dialogs.export.preview.not_text")
            )


class _Picture(QScrollArea):
    """A picture that is scaled to fit, at most to its full size; a click toggles the full size."""

    def __init__(self) -> None:
        super().__init__()
        self.setAccessibleName(ui_text("dialogs.export.preview.picture"))
        self._pixmap = QPixmap()
        self._is_fitted = True
        self.label = Label()
        self.label.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.label.setAccessibleName(ui_text("dialogs.export.preview.picture_label"))
        self.setWidget(self.label)
        self.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self.setProperty("role", "field")
        self.setToolTip(ui_text("dialogs.export.preview.picture_tip"))

    @property
    def full_size(self) -> QSize:
        """Return the size of the picture that is not scaled."""
        return self._pixmap.size()

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


_DELAY_MS = 300


class ExportDialog(QDialog):
    """Requests lists, previews and files; `show_list`, `show_answer` and `show_failure` receive the results.

    Args:
        title: the document's, for the name of the file.
        parent: the window.
        is_sampling: returns whether the model process generates outputs for many seeds, which an export waits for.

    Signals:
        list_wanted(ExportOptionsMessage): request the list of fitting targets.
        wanted(target, path, ExportOptionsMessage, number, needs the model): request an export; without a path, a
        preview.
        cancelled(): cancel the pending request.
        closing_wanted(): restrict the schema's objects to their declared properties.
    """

    list_wanted = Signal(ExportOptionsMessage)
    wanted = Signal(str, str, ExportOptionsMessage, int, bool)
    cancelled = Signal()

    def __init__(self, title: str, parent: QWidget | None = None, *, is_sampling: Callable[[], bool] = bool) -> None:
        super().__init__(parent)
        self._is_sampling = is_sampling
        self._slug = re.sub("[^a-z0-9]+", "-", title.lower()).strip("-0123456789") or "grammar"
        self._number = 0
        self._waiting = ""  # for "list", "preview" or "file"
        self._size_of_large = ""  # a sentence, if the current target's file is large
        self._listed_for: ExportOptionsMessage | None = None
        self.setWindowTitle(ui_text("dialogs.export.title"))
        self.resize(1000, 640)
        self._timer = delayed(self, _DELAY_MS, self._on_option_changed)
        self.targets = TargetList()
        self.targets.chosen.connect(self._on_chosen)
        self.heading = Label()
        self.heading.setProperty("role", "heading")
        self.about = _label("muted")
        self.options = Options(self._slug[:60])
        self.options.changed.connect(self._timer.start)
        self.preview = Preview()
        close, tip = ui_text("common.schema.close_objects"), ui_text("common.schema.close_objects_tip")
        self.close_objects = push_button(close, tip, role="outlined")
        self.closing_wanted = self.close_objects.clicked
        self.notes = _label("muted")
        self.verdict = Banner()
        self.verdict.set_text("")
        self._build_buttons()
        self._lay_out()
        self._show_target(None)
        self._show_state()

    # --- building -----------------------------------------------------------------------------------------------------

    def _build_buttons(self) -> None:
        self.note = _label("muted")
        self.progress = QProgressBar()
        self.progress.setTextVisible(False)
        self.progress.setFixedWidth(120)
        self.cancel_button = push_button(ui_text("common.button.cancel"), clicked=self.cancel)
        self.close_button = push_button(ui_text("common.button.close"), clicked=self.reject)
        self.write_button = push_button(ui_text("dialogs.export.write_file"), role="primary", clicked=self._choose_path)
        self.write_button.setDefault(True)

    def _lay_out(self) -> None:
        title = Label(ui_text("dialogs.export.heading"))
        title.setProperty("role", "title")
        right = QVBoxLayout()
        right.setSpacing(theme.SPACE_S)
        columns = QHBoxLayout()
        columns.setSpacing(theme.SPACE_L)
        buttons = QHBoxLayout()
        buttons.setSpacing(theme.SPACE_S)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(theme.SPACE_L, theme.SPACE_L, theme.SPACE_L, theme.SPACE_M)
        layout.setSpacing(theme.SPACE_M)
        layout.addWidget(title)
        layout.addLayout(columns, 1)
        columns.addWidget(self.targets)
        columns.addLayout(right, 1)
        for widget in (self.heading, self.about, self.options):
            right.addWidget(widget)
        right.addWidget(self.preview, 1)
        right.addWidget(self.close_objects, 0, Qt.AlignmentFlag.AlignHCenter)
        right.addWidget(self.notes)
        right.addWidget(self.verdict)
        layout.addLayout(buttons)
        buttons.addWidget(self.note, 1)
        for button in (self.progress, self.cancel_button, self.close_button, self.write_button):
            buttons.addWidget(button)

    # --- requests -----------------------------------------------------------------------------------------------------

    @property
    def target(self) -> str:
        """Return the chosen target's name; empty before there is a list."""
        entry = self.targets.entry
        return entry.name if entry is not None else ""

    @property
    def is_waiting(self) -> bool:
        """Return whether an answer is pending or a request is about to be sent."""
        return bool(self._waiting) or self._timer.isActive()

    def begin(self) -> None:
        """Request the targets that fit with the current options."""
        self._listed_for = self.options.message()
        self._wait("list", ui_text("dialogs.export.listing"))
        self.list_wanted.emit(self._listed_for)

    def show_compiled(self, _drawn: object) -> None:
        """Request the list again, because another grammar compiled."""
        if self._waiting != "file":
            self.begin()

    def write(self, path: str) -> None:
        """Request the file or folder."""
        if (entry := self.targets.entry) is not None:
            self.verdict.set_text("")
            self._wait("file", self._delay(entry) or ui_text("dialogs.export.writing"))
            self.wanted.emit(entry.name, path, self.options.message(), self._number, entry.needs_model)

    def cancel(self) -> None:
        """Cancel the pending request."""
        waited_for = self._waiting
        if not waited_for:
            return
        self._stop_waiting()
        self.cancelled.emit()
        if waited_for == "file":
            self._say("hint", ui_text("dialogs.export.cancelled"))
        else:
            self.preview.say(ui_text("dialogs.export.preview_cancelled"))

    def reject(self) -> None:
        """Close the dialog; if a file is being written, cancel that first and keep the dialog open to report it."""
        if self._waiting == "file":
            self.cancel()
            return
        self.cancel()
        super().reject()

    def _on_option_changed(self) -> None:
        """Update the list and the preview after an option changed."""
        if self._option_error():
            self.cancel()
            self._show_state()
            return
        options, before = self.options.message(), self._listed_for
        if before is None or (options.spelling, options.depth) != (before.spelling, before.depth):
            self.begin()
        elif (entry := self.targets.entry) is not None:
            self._ask_preview(entry)

    def _on_chosen(self, entry: ExportEntry) -> None:
        self._show_target(entry)
        self.verdict.set_text("")
        self._ask_preview(entry)

    def _show_target(self, entry: ExportEntry | None) -> None:
        """Show a target with the options that it supports; with None, leave the space to the message."""
        self.heading.setText(entry.title if entry is not None else "")
        self.about.setText(entry.about if entry is not None else "")
        for label in (self.heading, self.about):
            label.setVisible(entry is not None)
        self.options.show_for(entry.supported_options if entry is not None else ())
        self.close_objects.setVisible(entry is not None and entry.can_close)

    def _ask_preview(self, entry: ExportEntry) -> None:
        self.notes.hide()
        self._size_of_large = ""
        if self._waiting == "preview":
            self.cancelled.emit()
        if entry.refusal:
            self._stop_waiting()
            self.preview.say(ui_text("dialogs.export.refused", target=entry.title, reason=entry.refusal))
            return
        self._wait("preview", self._delay(entry) or ui_text("dialogs.export.previewing"))
        self.preview.say(self.note.text())
        self.wanted.emit(entry.name, "", self.options.message(), self._number, entry.needs_model)

    def _delay(self, entry: ExportEntry) -> str:
        is_late = entry.needs_model and self._is_sampling()
        return ui_text("dialogs.export.waits_for_samples") if is_late else ""

    def _choose_path(self) -> None:
        entry = self.targets.entry
        if entry is None:
            return
        name = f"{self._slug}-{entry.name}" if entry.is_folder else f"{self._slug}{entry.suffix}"
        if entry.is_folder:
            parent = QFileDialog.getExistingDirectory(self, ui_text("dialogs.export.choose_folder", name=name))
            path = str(Path(parent, name)) if parent else ""
        else:
            path, _ = QFileDialog.getSaveFileName(self, ui_text("dialogs.export.title"), name, f"*{entry.suffix}")
        if path and self._is_wanted(Path(path).name):
            self.write(path)

    def _is_wanted(self, name: str) -> bool:
        """Return whether to write the file: its preview was not large, or the user agrees."""
        if not self._size_of_large:
            return True
        choice = ask(
            self,
            ui_text("dialogs.export.large"),
            ui_text("dialogs.export.large_question", size=self._size_of_large, name=name),
            QMessageBox.StandardButton.Save | QMessageBox.StandardButton.Cancel,
            QMessageBox.StandardButton.Cancel,
        )
        return choice == QMessageBox.StandardButton.Save

    # --- answers ------------------------------------------------------------------------------------------------------

    def show_list(self, found: ExportList) -> None:
        """Show the targets."""
        if self._waiting != "list":
            return
        self._stop_waiting()
        if found.error:
            self.preview.say(found.error)
        else:
            self.targets.fill(found.entries)

    def show_answer(self, answer: ExportAnswer) -> None:
        """Show a preview, or that a file was written, or why not."""
        if answer.number != self._number or self._waiting not in ("preview", "file"):
            return
        self._stop_waiting()
        if not answer.path:
            self._size_of_large = _sentence(answer.estimate or _size(answer)) if answer.is_large else ""
        if answer.error and answer.path:
            self._say("error", answer.error)
        elif answer.error:
            self.preview.say(answer.error)
            self.write_button.setEnabled(False)
        elif answer.estimate:
            self.preview.say(ui_text("dialogs.export.too_large", estimate=_sentence(answer.estimate)))
            self.note.setText(_sentence(answer.estimate))
        elif answer.path:
            name = Path(answer.path).name
            sentence = ui_text("dialogs.export.written", name=name, size=_size(answer), checked=answer.checked)
            self._say("allowed", sentence)
        else:
            self.preview.show_answer(answer)
            self.note.setText(_described(answer))
        if answer.notes:
            self.notes.setText("\n".join(f"{note[0].upper()}{note[1:]}." for note in answer.notes))
            self.notes.show()

    def show_failure(self, failed: Failed) -> None:
        """Show that a worker hit a bug, so that there will be no answer."""
        if self._waiting:
            self._stop_waiting()
            self.preview.say(ui_text("dialogs.export.no_preview"))
            self._say("error", ui_text("common.internal_error", summary=failed.summary))

    def show_progress(self, text: str, done: int, total: int | None) -> None:
        """Show the progress of the pending request.

        Args:
            text: the name of the activity; empty for none.
            done: how much of it is done.
            total: how much there is; None if that is unknown.
        """
        if self._waiting and text:
            self.progress.setRange(0, total or 0)
            self.progress.setValue(done if total else 0)

    # --- state --------------------------------------------------------------------------------------------------------

    def _wait(self, what: str, sentence: str) -> None:
        self._number += 1
        self._waiting = what
        self.note.setText(sentence)
        self.progress.setRange(0, 0)
        self._show_state()

    def _stop_waiting(self) -> None:
        self._number += 1
        self._waiting = ""
        self.note.setText("")
        self._show_state()

    def _show_state(self) -> None:
        entry, option_error = self.targets.entry, self._option_error()
        is_writing = self._waiting == "file"
        self.targets.setEnabled(not is_writing)
        self.options.setEnabled(not is_writing)
        self.progress.setVisible(bool(self._waiting))
        self.cancel_button.setVisible(bool(self._waiting))
        is_folder = entry is not None and entry.is_folder
        self.write_button.setText(ui_text("dialogs.export.write_folder" if is_folder else "dialogs.export.write_file"))
        self.write_button.setEnabled(
            entry is not None and not entry.refusal and not option_error and self._waiting not in ("file", "list")
        )
        if option_error:
            self.note.setText(option_error)

    def _option_error(self) -> str:
        """Return why the options are invalid, if that affects the target."""
        entry = self.targets.entry
        return self.options.error if entry is not None and "name" in entry.supported_options else ""

    def _say(self, severity: BannerSeverity, sentence: str) -> None:
        self.verdict.show_message(sentence, severity=severity)


def _label(role: str) -> QLabel:
    label = Label()
    label.setProperty("role", role)
    label.setWordWrap(True)
    return label


def _sentence(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}."


def _size(answer: ExportAnswer) -> str:
    if len(answer.files) > 1:
        return ui_text("dialogs.export.size_of_files", count=len(answer.files), bytes=answer.size)
    return ui_text("dialogs.export.size", bytes=answer.size)


def _described(answer: ExportAnswer) -> str:
    if answer.picture:
        return ui_text("dialogs.export.preview_picture")
    shown = sum(len(file.text.encode()) for file in answer.files)
    if 0 < shown < answer.size:
        return ui_text("dialogs.export.preview_beginning", size=_size(answer), bytes=shown)
    return ui_text("dialogs.export.preview_size", size=_size(answer))
