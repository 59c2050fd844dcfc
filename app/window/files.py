"""Opening, saving and closing documents, with their dialogs. Only the questions about unsaved work are modal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QMenu, QMessageBox, QWidget

from app.document import SUFFIX, DocumentError, DocumentFile, ModelPart, grammar_file, last
from app.document.gallery import Example, examples
from app.session import Notification, Session
from app.settings import Settings
from app.storage import exists
from app.theme.plain_text import plain_text
from app.window.recovery import Recovery

if TYPE_CHECKING:
    from app.dialogs.gallery_dialog import GalleryDialog

_FILTER = f"Turnstile documents (*{SUFFIX})"
_OPENED = f"Documents and grammars ({' '.join(f'*{suffix}' for suffix in (SUFFIX, *grammar_file.NOTATIONS))});;All (*)"
_OPENING_STEPS = 3
_DAMAGED = "Damaged files were found and renamed to “….damaged-<date>”: {}. The defaults are used instead."


class Files(QObject):
    """The handlers of the File menu."""

    def __init__(self, session: Session, settings: Settings, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._document = session.document
        self._settings = settings
        self._window = window
        self.recovery = Recovery(session, self)

    def begin(self, path: Path | None) -> None:
        """Show the first document.

        It is the requested file, the recovered work of a crash, the last open document, or the first example. If a
        crash left other work than the requested file, that work is offered beside it.
        """
        damaged = [self._settings.damaged] if self._settings.damaged else []
        if not self.recovery.begin(path) and not (self._resume(damaged) if path is None else self.open(path)):
            self._show_first_example()
        if count := self._document.autosave.damaged:
            damaged.append("1 autosave" if count == 1 else f"{count} autosaves")
        if damaged:
            self._session.alarmed.emit(Notification("window", _DAMAGED.format(", ".join(damaged)), severity="warning"))

    def new(self) -> None:
        """Start an empty document with the current model."""
        if self.may_leave():
            spec = self._session.decoding.spec or self._settings.preferences.model
            self._document.replace(DocumentFile(model=ModelPart(spec=spec)))

    def open_chosen(self) -> None:
        """Ask for a file and open it."""
        if self.may_leave():
            path, _ = QFileDialog.getOpenFileName(self._window, "Open", self._folder(), _OPENED)
            if path:
                self.open(Path(path))

    def open(self, path: Path) -> bool:
        """Open a document, or a grammar as a new one; a failure is reported and changes nothing."""
        try:
            if grammar_file.is_document(path):
                self._document.open(path)
            else:
                document = grammar_file.read(path)
                model = ModelPart(spec=self._session.decoding.spec or self._settings.preferences.model)
                self._document.replace(msgspec.structs.replace(document, model=model))
        except DocumentError as error:
            self._session.alarmed.emit(Notification("window", str(error)))
            if not exists(path):
                self._settings.forget_file(path)
            return False
        self._settings.remember_file(path)
        return True

    def open_dropped(self, path: Path) -> None:
        """Open a file that was dropped on the window, instead of the document."""
        if self.may_leave():
            self.open(path)

    def keep_for_next_time(self) -> bool:
        """Store the open document, except for discarded changes; return whether that worked."""
        document = self._document
        if not document.revision:  # the window was closed before it showed anything
            return True
        content = None if document.is_modified else document.content
        return last.keep(self._settings.session_path, document.path, content)

    def keep_work(self, ended_by: str) -> bool:
        """Keep all work for the next start, unsaved or not; return whether the autosave has a part of it.

        Args:
            ended_by: what is about to end the process.
        """
        is_kept = self.keep_for_next_time()
        if is_kept and not self._document.is_modified and not self._document.has_drafts:
            return False
        self._document.save_for_next_start(ended_by)
        return True

    def show_last(self) -> None:
        """Show the last open document, or the first example."""
        if not self._resume([]):
            self._show_first_example()

    def _show_first_example(self) -> None:
        self._document.replace(examples()[0].document())
        self._session.decoding.step_when_ready(_OPENING_STEPS)

    def _resume(self, damaged: list[str]) -> bool:
        """Show the last open document; return whether there was one. A damaged file's name is added to `damaged`."""
        found = last.read(self._settings.session_path, damaged.append)
        if found is None:
            return False
        path = Path(found.path) if found.path else None
        if path is not None and not exists(path):
            text = f"{path.name} is not where it was. This is how you left it; save it to keep it."
            if found.document is not None:
                self._session.alarmed.emit(Notification("window", text, severity="warning"))
                self._document.replace(found.document, modified=True)
            return found.document is not None
        if path is not None and (found.document is None or path.stat().st_mtime > found.saved_at):
            return self.open(path)
        if found.document is not None:
            self._document.replace(found.document, path)
        return found.document is not None

    def open_gallery(self) -> GalleryDialog:
        """Open the gallery; a chosen example replaces the document."""
        from app.dialogs.gallery_dialog import GalleryDialog

        dialog = GalleryDialog(self._window)
        dialog.opened.connect(self._begin_with)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
        return dialog

    def save(self) -> bool:
        """Save to the document's file, or ask for one; return whether it was saved."""
        if self._document.path is None:
            return self.save_as()
        return self._may_overwrite(self._document.path) and self._save(self._document.path)

    def save_as(self) -> bool:
        """Ask for a file and save to it."""
        suggestion = str(Path(self._folder(), self._document.title + SUFFIX))
        name, _ = QFileDialog.getSaveFileName(self._window, "Save as", suggestion, _FILTER)
        if not name:
            return False
        path = Path(name)
        return self._save(path if path.suffix else path.with_suffix(SUFFIX))

    def may_leave(self) -> bool:
        """Return whether the document may be closed: it is saved, or the user agrees."""
        if not self._document.is_modified:
            return True
        choice = QMessageBox.question(
            self._window,
            "Unsaved work",
            plain_text(f"“{self._document.title}” has changes that are not saved."),
            QMessageBox.StandardButton.Save | QMessageBox.StandardButton.Discard | QMessageBox.StandardButton.Cancel,
            QMessageBox.StandardButton.Save,
        )
        if choice == QMessageBox.StandardButton.Save:
            return self.save()
        return choice == QMessageBox.StandardButton.Discard

    def _may_overwrite(self, path: Path) -> bool:
        """Return whether the document's file may be replaced: nobody else wrote it meanwhile, or the user agrees."""
        if not self._document.is_changed_outside:
            return True
        choice = QMessageBox.question(
            self._window,
            "Changed elsewhere",
            plain_text(
                f"Another window or program wrote {path.name} since it was opened here. Saving replaces what it wrote; "
                "“Save as…” keeps both."
            ),
            QMessageBox.StandardButton.Save | QMessageBox.StandardButton.Cancel,
            QMessageBox.StandardButton.Cancel,
        )
        return choice == QMessageBox.StandardButton.Save

    def fill_recent(self, menu: QMenu) -> None:
        """List the recent documents."""
        menu.clear()
        for name in self._settings.preferences.recent:
            action = menu.addAction(Path(name).stem)
            action.setToolTip(plain_text(name))
            action.triggered.connect(lambda _checked=False, name=name: self.may_leave() and self.open(Path(name)))
        if menu.isEmpty():
            menu.addAction("No recent documents").setEnabled(False)

    def _begin_with(self, example: Example) -> None:
        if self.may_leave():
            self._document.replace(example.document())

    def _save(self, path: Path) -> bool:
        try:
            self._document.save(path)
        except DocumentError as error:
            alarm = Notification("window", str(error), button="Save as…", action=self.save_as)
            self._session.alarmed.emit(alarm)
            return False
        self._settings.remember_file(path)
        return True

    def _folder(self) -> str:
        return str(self._document.path.parent) if self._document.path else str(Path.home())
