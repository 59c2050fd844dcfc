"""Opening, saving and closing documents, with their dialogs. Only the questions about unsaved work are modal.

A document is opened in a tab of its own, unless the shown one is untouched: then it takes its place.

A file may be dropped anywhere on the window. A text field would insert its address as text, so the fields leave files
to the window.

Work that a crash left behind is shown at once if no file was requested. Otherwise that file is opened and the work is
offered beside it, unless it is work on the same file: then it is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QEvent, QMimeData, QObject, Qt, Signal
from PySide6.QtGui import QDragEnterEvent, QDragMoveEvent, QDropEvent
from PySide6.QtWidgets import QFileDialog, QMenu, QMessageBox, QWidget

from app.catalogue import capitalised, ui_text
from app.commands import command
from app.document import (
    SUFFIX,
    DocumentError,
    DocumentFile,
    GrammarPart,
    Leftover,
    ModelPart,
    OpenDocument,
    Saved,
    file,
    last_document,
)
from app.document.gallery import Example, examples
from app.pasting import CopiedFailure, PastedRequest, intake_of, read_paste
from app.session import Notification, Session
from app.settings import BYTE_MODEL, FIRST_MODEL, Settings
from app.storage import exists
from app.theme.labels import plain_text
from app.theme.mnemonics import add_mnemonics, ask
from app.workers.requests.judge import AutomatonText, ReadAutomaton
from engine.diagnosis.batch.entries import LINE_SUFFIXES
from engine.diagnosis.private_texts import without_secrets

if TYPE_CHECKING:
    from app.dialogs.gallery_dialog import GalleryDialog
    from engine.diagnosis.case import RequestConstraint
    from engine.diagnosis.intake import Intake

SESSION = "session"


class Recovery(QObject):
    """Shows, offers, saves and discards recovered work."""

    def __init__(self, session: Session, files: Files) -> None:
        super().__init__(files)
        self._session = session
        self._document = session.document
        self._files = files
        self._notification: Notification | None = None  # about recovered work, until it is saved
        self._document.title_changed.connect(self._check)
        self._document.replaced.connect(self._withdraw)

    def begin(self, path: Path | None) -> bool:
        """Look for recovered work at the start; return whether a document is shown now.

        What was open in the same window is recovered with it; the work of other windows is offered.

        Args:
            path: the requested file; None without one.
        """
        leftover = self._document.autosave.find()
        if leftover is None:
            return False
        if path is None or _is_work_on(leftover.saved, path):
            self._show(leftover)
            return True
        if not self._files.open(path):
            self._show(leftover)
            return True
        self._offer(leftover)
        return True

    def _show(self, leftover: Leftover) -> None:
        document, saved = self._document, leftover.saved
        beside = document.autosave.find_beside(leftover)
        if not self._files.is_untouched:
            document.begin(DocumentFile(), beside=True)
        document.recover(leftover)
        shown, first = document.shown, document.documents.index(document.shown)
        for at, one in enumerate(beside, first):
            document.move(shown if one.file == leftover.file else document.recover_behind(one), at)
        others = sum(one.has_work for one in beside if one.file != leftover.file)
        if not document.is_modified:
            return
        values = {"cause": _cause(saved), "work": _described(saved, document.title)}
        text = ui_text("window.recovery.shown", **values)
        if others:
            text = ui_text("window.recovery.shown_with_others", count=others, **values)
        self._notify(
            Notification(
                "window",
                text,
                severity="warning",
                button=ui_text("common.button.save"),
                action=self._save,
                other_button=ui_text("common.button.discard"),
                other_action=lambda: self._discard(saved),
            )
        )

    def _offer(self, leftover: Leftover) -> None:
        saved = leftover.saved
        title = Path(saved.path).stem if saved.path else saved.document.title or ui_text("window.recovery.untitled")
        text = ui_text("window.recovery.offered", cause=_cause(saved), work=_described(saved, title))
        self._session.notification_raised.emit(
            Notification(
                "window",
                text,
                severity="warning",
                button=ui_text("common.button.show"),
                action=lambda: self._show(leftover),
                other_button=ui_text("common.button.discard"),
                other_action=lambda: self._drop(leftover),
            )
        )

    def _save(self) -> None:
        notification = self._notification
        if not self._files.save() and notification is not None:
            self._notify(notification)  # the button has closed it

    def _discard(self, saved: Saved) -> None:
        """Show the document without the recovered work."""
        path = Path(saved.path) if saved.path else None
        content, shown_path = self._document.content, self._document.path
        if path is None or not exists(path) or not self._files.open(path, in_place=True):
            self._files.show_last()
        self._offer_undo(lambda: self._document.replace(content, shown_path, modified=True))
        self._offer_next()

    def _drop(self, leftover: Leftover) -> None:
        """Delete work that was offered."""
        self._document.autosave.drop(leftover)

        def undo() -> None:
            self._document.autosave.put_back(leftover)
            self._offer(leftover)

        self._offer_undo(undo)
        self._offer_next()

    def _offer_undo(self, undo: Callable[[], object]) -> None:
        text, button = ui_text("window.recovery.discarded"), ui_text("common.button.undo")
        self._session.notification_raised.emit(
            Notification("window", text, severity="hint", button=button, action=undo)
        )

    def _offer_next(self) -> None:
        if (leftover := self._document.autosave.find()) is not None:
            self._offer(leftover)

    def _notify(self, notification: Notification) -> None:
        self._withdraw()
        self._notification = notification
        self._session.notification_raised.emit(notification)

    def _check(self) -> None:
        """Close the banner once the work is saved, and offer other work, if there is any."""
        if self._notification is not None and not self._document.is_modified:
            self._withdraw()
            self._offer_next()

    def _withdraw(self) -> None:
        if self._notification is not None:
            notification, self._notification = self._notification, None
            self._session.notification_withdrawn.emit(notification)


def _is_work_on(saved: Saved, path: Path) -> bool:
    """Return whether recovered work belongs to a file and is later than it."""
    if not saved.path:
        return False
    try:
        is_same = Path(saved.path).resolve() == path.resolve()
        return is_same and (not path.exists() or path.stat().st_mtime <= saved.saved_at)
    except (OSError, ValueError, RuntimeError):  # a path of a damaged file, or a loop of links
        return False


def _cause(saved: Saved) -> str:
    if saved.ended_by == SESSION:
        return ui_text("window.recovery.session_ended")
    if saved.ended_by:
        return ui_text("window.recovery.signalled", signal=saved.ended_by)
    return ui_text("window.recovery.crashed")


def _described(saved: Saved, title: str) -> str:
    """Return the name of recovered work, its length and its time."""
    tokens = len(saved.document.trace.path)
    time = _clock(saved.saved_at)
    if not tokens:
        return ui_text("window.recovery.work", title=title, time=time)
    return ui_text("window.recovery.work_with_tokens", title=title, time=time, count=tokens)


def _clock(seconds: float) -> str:
    then, now = datetime.fromtimestamp(seconds).astimezone(), datetime.now().astimezone()
    return then.strftime("%H:%M" if then.date() == now.date() else "%Y-%m-%d %H:%M")


class Drops(QObject):
    """Handles files that are dropped on some widgets.

    Args:
        taken: called with a file.
        window: handles drops on itself and on `fields`.
        fields: text fields in it.
    """

    def __init__(self, taken: Callable[[Path], object], window: QWidget, *fields: QWidget) -> None:
        super().__init__(window)
        self._taken = taken
        for widget in (window, *fields):
            widget.setAcceptDrops(True)
            widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle a dropped file, and leave text to the widget."""
        if isinstance(event, QDragEnterEvent | QDragMoveEvent | QDropEvent):
            path = file_of(event.mimeData())
            if path is not None:
                event.setDropAction(Qt.DropAction.CopyAction)
                event.accept()
                if event.type() == QEvent.Type.Drop:
                    self._taken(path)
                return True
        return super().eventFilter(watched, event)


def file_of(data: QMimeData) -> Path | None:
    """Return the one file that is dragged; None if there are several, or none."""
    urls = data.urls()
    return Path(urls[0].toLocalFile()) if len(urls) == 1 and urls[0].isLocalFile() else None


_OPENING_STEPS = 3


def _with_request(
    document: DocumentFile, request: PastedRequest, constraint: RequestConstraint, *, has_chat: bool = False
) -> DocumentFile:
    """Return a document with a grammar of a request, and its prompt and settings.

    Args:
        document: the document.
        request: the request.
        constraint: one of its grammars.
        has_chat: whether the model has a chat template; if not, the messages are one text.
    """
    grammar = msgspec.structs.replace(request.grammar(constraint, document.grammar), text=constraint.text)
    prompt = request.prompt(has_chat=has_chat)
    pipeline = request.pipeline(document.pipeline)
    return msgspec.structs.replace(
        document,
        grammar=grammar,
        pipeline=replace(pipeline, zones=constraint.zones) if constraint.zones else pipeline,
        prompt=document.prompt if prompt is None else prompt,
        sampler=request.sampler(document.sampler),
        max_tokens=request.max_tokens or document.max_tokens,
    )


class Files(QObject):
    """The handlers of the File menu.

    Signals:
        intake_wanted(Path): a file was dropped that is neither a document nor a grammar.
        log_wanted(paths): a folder, or a file of JSON lines, was dropped.
        long_opened(text): a grammar was opened that is too long to be read as a request here.
    """

    intake_wanted = Signal(Path)
    log_wanted = Signal(tuple)
    long_opened = Signal(str)

    def __init__(self, session: Session, settings: Settings, window: QWidget) -> None:
        super().__init__(window)
        self._session = session
        self._document = session.document
        self._settings = settings
        self._window = window
        self._failure: Notification | None = None  # about the file that could not be opened last
        self.recovery = Recovery(session, self)

    def begin(self, path: Path | None, *others: Path) -> bool:
        """Show the first documents; return whether there is but the first example.

        They are the requested files, the recovered work of a crash, the last open documents, or the first example. If
        a crash left other work than the requested file, that work is offered beside it.

        Args:
            path: the requested file, which is shown; None without one.
            others: further files, in tabs behind it.
        """
        damaged = [self._settings.damaged] if self._settings.damaged else []
        is_new = not self.recovery.begin(path) and not (self._resume(damaged) if path is None else self.open(path))
        if is_new:
            self._show_first_example()
        shown = self._document.shown
        for other in others:
            self.open(other)
        self._document.show(shown)
        if count := self._document.autosave.damaged:
            damaged.append(ui_text("window.files.damaged_autosaves", count=count))
        if damaged:
            self._session.notification_raised.emit(
                Notification("window", ui_text("window.files.damaged", names=", ".join(damaged)), severity="warning")
            )
        return is_new

    @command("file.new", "Ctrl+N", place=(1, 1), icon="ph.file-plus")
    def new(self) -> None:
        """Start an empty document with the current model."""
        self.show_new(self._empty())

    def _empty(self) -> DocumentFile:
        return DocumentFile(model=ModelPart(spec=self._session.decoding.spec or self._settings.preferences.model))

    @property
    def is_untouched(self) -> bool:
        """Return whether nobody has done anything with the shown document, so that another may take its place."""
        shown = self._document.shown
        has_steps = len(shown.content.trace.nodes) > _OPENING_STEPS or bool(shown.content.archived)
        return shown.path is None and not shown.has_work and not has_steps

    def show_new(self, content: DocumentFile, *, modified: bool = False) -> None:
        """Show a new document without a file, in a tab of its own unless the shown one is untouched.

        Args:
            content: its content.
            modified: whether it has unsaved edits.
        """
        self._document.begin(content, modified=modified, beside=not self.is_untouched)

    @command("file.open", "Ctrl+O", place=(1, 2), icon="ph.folder-open")
    def open_chosen(self) -> None:
        """Ask for a file and open it."""
        patterns = " ".join(f"*{suffix}" for suffix in (SUFFIX, *file.grammar_suffixes()))
        path, _ = QFileDialog.getOpenFileName(
            self._window,
            ui_text("window.files.open"),
            self._folder(),
            ui_text("window.files.openable", patterns=patterns),
        )
        if path:
            self.open(Path(path))

    def open(self, path: Path, *, in_place: bool = False) -> bool:
        """Open a document, or a grammar as a new one; a failure is reported and changes nothing.

        Args:
            path: the file; one that is open already is shown.
            in_place: whether it takes the place of the shown document in any case.

        Returns:
            whether it is open, or, for an automaton of another program, being read.
        """
        is_open = None if in_place else self._open_already(path)
        if is_open is not None:
            self._document.show(is_open)
            self._settings.remember_file(path)
            return True
        try:
            if file.is_automaton(path):
                request = ReadAutomaton(file.read_bytes(path, file.GRAMMAR_SIZE_LIMIT), path.name)
                asked = self._session.worker_pool.judge.ask(request, self).then(partial(self._show_automaton, path))
                asked.lost(lambda lost: self._session.notification_raised.emit(Notification("window", lost.why)))
                return True
            if file.is_document(path):
                removed = self._document.open(path, beside=not (in_place or self.is_untouched))
            else:
                document, removed = without_secrets(file.read_grammar(path))
                text = document.grammar.text
                intake = intake_of(text)
                document = document if intake is None else self._taken_out(document, intake)
                self.show_new(msgspec.structs.replace(document, model=self._empty().model))
                if intake is None:
                    self.long_opened.emit(text)
        except DocumentError as error:
            self._failure = Notification("window", str(error))
            self._session.notification_raised.emit(self._failure)
            if not exists(path):
                self._settings.forget_file(path)
            return False
        if self._failure is not None:  # this file opened
            self._session.notification_withdrawn.emit(self._failure)
        if removed:
            text = ui_text("window.files.secrets", name=path.name, count=removed)
            notification = Notification("window", text, severity="warning", is_of_document=True)
            self._session.notification_raised.emit(notification)
        self._settings.remember_file(path)
        return True

    def _open_already(self, path: Path) -> OpenDocument | None:
        """Return the document of a file that is open and as it was read, or has unsaved edits; None without one."""
        try:
            found = [one for one in self._document.documents if one.path and one.path.resolve() == path.resolve()]
        except (OSError, RuntimeError):  # a loop of links
            return None
        return next((one for one in found if one.has_work or not one.is_changed_outside), None)

    def _show_automaton(self, path: Path, found: AutomatonText) -> None:
        """Show the grammar of an automaton as a new document."""
        if found.error:
            self._session.notification_raised.emit(Notification("window", found.error))
            return
        grammar = GrammarPart(found.notation, found.text)
        self.show_new(msgspec.structs.replace(self._empty(), title=path.stem, grammar=grammar))
        self._settings.remember_file(path)

    def _taken_out(self, document: DocumentFile, intake: Intake) -> DocumentFile:
        """Return a document with the grammar and the settings of the request that its text is; others unchanged."""
        request = read_paste(document.grammar.text, intake)
        if request is None or not request.constraints[0].pointer:
            return document
        constraint = request.constraints[0]
        wrapper = request.wrapper(constraint)
        text = ui_text("window.files.taken_out", wrapper=wrapper, count=len(request.constraints))
        self._session.notification_raised.emit(Notification("window", text, severity="hint", is_passing=True))
        return _with_request(document, request, constraint)

    def model_for_failure(self) -> str:
        """Return the model of the session; that of the first run, which knows 65 characters, is replaced."""
        spec = self._session.decoding.spec or self._settings.preferences.model
        return BYTE_MODEL if spec == FIRST_MODEL else spec

    def report_model(self, before: str) -> None:
        """Say that a failure was opened with another model than that of the session, and offer that one.

        Args:
            before: the model of the session before.
        """
        spec = self._document.content.model.spec
        if before and spec != before:
            name, other = capitalised(spec), capitalised(before)
            notification = Notification(
                "window",
                ui_text("window.model.for_failure", name=name, before=other),
                severity="hint",
                button=ui_text("window.model.use", name=other),
                action=lambda: self._session.decoding.open_model(before),
                is_passing=True,
                is_of_document=True,
            )
            self._session.notification_raised.emit(notification)

    def open_failure(self, failure: CopiedFailure, *, as_chat: bool = False) -> bool:
        """Open the grammar and the settings of a failed request as a new document; return whether there is one.

        Args:
            failure: the request.
            as_chat: whether its messages stay messages, if the model has a chat template.
        """
        constraint = failure.constraint
        if constraint is None:
            return False
        before, model = self._session.decoding.spec, ModelPart(spec=self.model_for_failure())
        title = constraint.tool or ui_text("window.files.failure")
        document = DocumentFile(title=title, model=model)
        known = self._session.decoding.view.model
        has_chat = as_chat and known is not None and known.spec == model.spec and known.has_chat
        content = _with_request(document, failure.request, constraint, has_chat=has_chat)
        self.show_new(content, modified=True)
        self.report_model(before)
        return True

    def open_dropped(self, path: Path) -> None:
        """Open a file that was dropped on the window; dialogs read other kinds."""
        if path.is_dir() or path.suffix.lower() in LINE_SUFFIXES:
            self.log_wanted.emit((path,))
        elif not (file.is_grammar(path) or file.is_automaton(path) or file.is_document(path)):
            self.intake_wanted.emit(path)
        else:
            self.open(path)

    def keep_for_next_time(self) -> bool:
        """Store the open documents, except for discarded changes; return whether that worked."""
        document = self._document
        if not document.revision:  # the window was closed before it showed anything
            return True
        stored = [(one.path, None if one.is_modified else one.content) for one in document.documents]
        position = document.documents.index(document.shown)
        shown = stored.pop(position)
        return last_document.write(self._settings.session_path, *shown, stored, position)

    def keep_work(self, ended_by: str) -> bool:
        """Keep all work for the next start, unsaved or not; return whether the autosave has a part of it.

        Args:
            ended_by: what is about to end the process.
        """
        is_kept = self.keep_for_next_time()
        if is_kept and len(self._document.documents) == 1 and not self._document.shown.has_work:
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
        """Show the last open documents; return whether there were any. A damaged file's name is added to `damaged`."""
        found = last_document.read(self._settings.session_path, damaged.append)
        if found is None:
            return False
        told: list[str] = []
        before, after = found.others[: found.position], found.others[found.position :]
        opened = [(one, self._as_it_is_now(one, told)) for one in (*before, found, *after)]
        left = [(one, now) for one, now in opened if now is not None]
        shown = next((at for at, (one, _) in enumerate(left) if one is found), 0)
        document = self._document
        for at, (_, (content, path, is_modified)) in enumerate(left[shown:]):
            if not at:
                document.replace(content, path, modified=is_modified)
            else:
                document.move(document.add(content, path, modified=is_modified), at)
        for at, (_, (content, path, is_modified)) in enumerate(left[:shown]):
            document.move(document.add(content, path, modified=is_modified), at)
        for text in told:
            notification = Notification("window", text, severity="warning", is_of_document=True)
            self._session.notification_raised.emit(notification)
        return bool(left)

    @staticmethod
    def _as_it_is_now(
        found: last_document.LastDocument, told: list[str]
    ) -> tuple[DocumentFile, Path | None, bool] | None:
        """Return a document as it was left, or its file if that is newer, with its path and whether it is modified.

        Args:
            found: the document as it was left.
            told: receives what the user must know.
        """
        path = Path(found.path) if found.path else None
        if path is not None and not exists(path):
            if found.document is not None:
                told.append(ui_text("window.files.moved", name=path.name))
            return None if found.document is None else (found.document, None, True)
        if path is not None and (found.document is None or path.stat().st_mtime > found.saved_at):
            try:
                content, removed = without_secrets(file.read_document(path))
            except DocumentError as error:
                told.append(str(error))
                return None
            if removed:
                told.append(ui_text("window.files.secrets", name=path.name, count=removed))
            return content, path, removed > 0
        return None if found.document is None else (found.document, path, False)

    @command("file.gallery", "Ctrl+G", place=(1, 5), icon="ph.squares-four")
    def open_gallery(self) -> GalleryDialog:
        """Open the gallery, whose examples are opened."""
        from app.dialogs.gallery_dialog import GalleryDialog  # start-up time: the dialog is built when first shown

        dialog = GalleryDialog(self._window)
        dialog.opened.connect(self._begin_with)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
        return dialog

    @command("file.save", "Ctrl+S", place=(2, 1), icon="ph.floppy-disk")
    def save(self) -> bool:
        """Save to the document's file, or ask for one; return whether it was saved."""
        if self._document.path is None:
            return self.save_as()
        return self._may_overwrite(self._document.path) and self._save(self._document.path)

    @command("file.save_as", "Ctrl+Shift+S", place=(2, 2))
    def save_as(self) -> bool:
        """Ask for a file and save to it."""
        suggestion = str(Path(self._folder(), self._document.title + SUFFIX))
        name, _ = QFileDialog.getSaveFileName(
            self._window,
            ui_text("window.files.save_as"),
            suggestion,
            ui_text("window.files.documents", patterns=f"*{SUFFIX}"),
        )
        if not name:
            return False
        path = Path(name)
        return self._save(path if path.suffix else path.with_suffix(SUFFIX))

    @command("file.close", "Ctrl+W", place=(4, 1))
    def close(self) -> None:
        """Close the shown document; the last one leaves an empty one."""
        self.close_one(self._document.shown)

    def close_one(self, one: OpenDocument) -> bool:
        """Close a document, unless the user would lose work; return whether it is closed."""
        if not self._may_close(one):
            return False
        if len(self._document.documents) > 1:
            self._document.close_one(one)
        else:
            self._document.replace(self._empty())
        return True

    def _may_close(self, one: OpenDocument) -> bool:
        """Show a document with unsaved edits, and return whether it may be closed."""
        if not one.is_modified:
            return True
        self._document.show(one)
        return self.may_leave()

    def may_leave_all(self) -> bool:
        """Return whether all documents may be closed: each is saved, or the user agrees."""
        return all(self._may_close(one) for one in self._document.documents)

    def may_leave(self) -> bool:
        """Return whether the shown document may be closed: it is saved, or the user agrees."""
        if not self._document.is_modified:
            return True
        choice = ask(
            self._window,
            ui_text("window.files.unsaved"),
            ui_text("window.files.unsaved_text", title=self._document.title),
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
        choice = ask(
            self._window,
            ui_text("window.files.changed"),
            ui_text("window.files.changed_text", name=path.name),
            QMessageBox.StandardButton.Save | QMessageBox.StandardButton.Cancel,
            QMessageBox.StandardButton.Cancel,
        )
        return choice == QMessageBox.StandardButton.Save

    def fill_recent(self, menu: QMenu) -> None:
        """List the recent documents."""
        menu.clear()
        for name in self._settings.preferences.recent:
            menu.addAction(Path(name).stem, partial(self.open, Path(name))).setToolTip(plain_text(name))
        if menu.isEmpty():
            menu.addAction(ui_text("window.main.no_recent")).setEnabled(False)
        add_mnemonics(menu)

    def _begin_with(self, example: Example) -> None:
        self.show_new(example.document())

    def _save(self, path: Path) -> bool:
        try:
            self._document.save(path)
        except DocumentError as error:
            notification = Notification(
                "window", str(error), button=ui_text("common.button.save_as"), action=self.save_as
            )
            self._session.notification_raised.emit(notification)
            return False
        self._settings.remember_file(path)
        return True

    def _folder(self) -> str:
        return str(self._document.path.parent) if self._document.path else str(Path.home())
