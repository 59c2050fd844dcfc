"""The main window: toolbar, panes, status bar, banners and commands around one session."""

from __future__ import annotations

import operator
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QCloseEvent, QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QApplication, QMainWindow, QMenu, QMessageBox, QPlainTextEdit, QVBoxLayout, QWidget

from app import diagnostic_log, theme
from app.catalogue import ui_text
from app.commands import Commands, command
from app.document import DocumentFile
from app.pane_spec import Area, PaneContext, PaneSpec
from app.panes.generation.presenter import GenerationPresenter
from app.presenters.exporting import Exporting, Sharing
from app.presenters.failure_intake import FailureIntake
from app.presenters.grammar_edits import GrammarEdits
from app.presenters.inferring import GrammarInference
from app.presenters.log_replay import LogReplay
from app.presenters.output_check import OutputCheck
from app.presenters.reduction import Reductions
from app.presenters.refactoring import RefactoringCommands
from app.presenters.schema_fuzz import SchemaFuzz
from app.presenters.server_attachment import ServerAttachment
from app.presenters.server_check import ServerChecks
from app.presenters.tokenizer_audit import TokenizerAudits
from app.session import Notification, Session
from app.settings import Settings
from app.theme.mnemonics import mark_buttons
from app.widgets.lazy import Lazy
from app.window.appearance import Appearance
from app.window.banner import BannerStack
from app.window.dock_layout import DockLayout, ProblemFolding
from app.window.document_tabs import DocumentTabs
from app.window.files import SESSION, Drops, Files
from app.window.focus_commands import FocusCommands
from app.window.model_menu import ModelMenu, ModelOffer
from app.window.notation_menu import NotationMenu
from app.window.pane_menus import give_pane_menu
from app.window.panes import Panes, all_panes
from app.window.placement import WindowPlacement
from app.window.screen_reader import ScreenReader
from app.window.status import StatusLine
from app.window.target_menu import TargetMenu
from app.window.toolbar import Toolbar
from app.window.tour import Tour
from app.window.welcome import Welcome
from app.workers.requests.decode import DecodeView
from app.workers.requests.judge import ReadLicences
from engine.source.registry import extension_objects

if TYPE_CHECKING:
    from app.document.failure_samples import FailureSample


class MainWindow(QMainWindow):
    """A window with one session.

    Signals:
        painted(): the window has been painted for the first time; deferred work can begin.
    """

    painted = Signal()
    panes: Panes

    def __init__(self, session: Session, settings: Settings) -> None:
        super().__init__()
        self.session = session
        self.settings = settings
        self._live: frozenset[int] = frozenset()
        self._is_painted = False
        self._asks_to_save = True
        self._kept: list[DocumentFile] = []  # the contents when the desktop session was about to end
        self._focuses_step = False
        self._has_passed_focus = False  # whether a neighbour has the focus of the step button, while that is disabled
        self._focused_before: QWidget | None = None
        # Before the presenters of panes connect to it, whose commands are refreshed by this signal.
        session.step_allowed_changed.connect(self._note_focus)
        specs = all_panes()
        presenters = tuple(extension_objects("presenters", "PRESENTER"))
        self.commands = Commands(self)
        self.panes = Panes(specs, PaneContext(session, self.commands, settings, self, self.reveal))
        self.files = Files(session, settings, self)
        self.sharing = Sharing(session, self)
        self.output_check = OutputCheck(session, lambda text: self.panes.view("tests").add_text(text), self)
        self.failure_intake = FailureIntake(session, self.files.open_failure, self.output_check, self)
        self.log_replay = LogReplay(
            session, self.failure_intake.take, partial(self.files.open_failure, as_chat=True), self
        )
        self.exporting = Exporting(session, self)
        self.tokenizer_audits = TokenizerAudits(session, self)
        self.reductions = Reductions(session, self)
        self.schema_fuzz = SchemaFuzz(session, lambda text: self.panes.view("tests").add_text(text), self)
        self.grammar_edits = GrammarEdits(
            session, self.panes.editor, lambda text: self.panes.view("tests").add_text(text), self
        )
        self.server_checks = ServerChecks(
            session, self.output_check, self.sharing, lambda text: self.panes.view("tests").add_text(text), self
        )
        self.appearance = Appearance(self.commands, settings, self)
        self.banners = BannerStack()
        self.toolbar = Toolbar(self.commands)
        self.tabs = DocumentTabs(session.document, self.files.close_one)
        self.welcome = Welcome(self.panes.generation, self.commands, session.document, settings)
        self.dock_layout = DockLayout(self.panes.editor, self.panes.automaton, self.welcome)
        self.problem_folding = ProblemFolding(self.dock_layout, self.panes.problems, settings)
        self.panes.of(GenerationPresenter).runs.until_button = self.toolbar.until_button
        for spec in specs:
            self._place(spec)
        self.tour = Tour(self.commands, self.panes, self.toolbar, self.dock_layout, self)
        self.screen_reader = ScreenReader(session, self)
        self.status_line = StatusLine()
        self.model_menu = ModelMenu(self.toolbar, self.commands, session, settings, self)
        self.attachment = ServerAttachment(session, settings, self.model_menu.open, self)
        ModelOffer(session, self.panes.generation, self.model_menu.open, self)
        self.notation_menu = NotationMenu(self.commands, self.toolbar, self.panes.editor, session, self.files, self)
        self.target_menu = TargetMenu(self.commands, self.toolbar, self.panes.editor, session, self)
        self._build()
        self._connect_signals()
        self._add_commands()
        for make in presenters:
            make(self)
        Drops(self.files.open_dropped, self, *(edit.viewport() for edit in self.findChildren(QPlainTextEdit)))
        self._restore_layout()
        theme.apply_font(self)

    # --- lifecycle ---------------------------------------------------------------------------------------------------

    def begin(self, path: Path | None = None, *others: Path) -> None:
        """Show the first documents and start the workers.

        Args:
            path: the requested file; None without one.
            others: further files.
        """
        self.session.start()
        if self.files.begin(path, *others) and not self.settings.preferences.welcomed:
            self.welcome.greet()
        self.panes.editor.edit.setFocus()
        self._focuses_step = not self.session.document.is_modified  # a user with recovered work continues with it

    def close_without_asking(self) -> None:
        """Close; unsaved work is lost."""
        self._asks_to_save = False
        self.close()

    def event(self, event: QEvent) -> bool:
        """Notice the first paint."""
        done = super().event(event)
        if event.type() == QEvent.Type.Paint and not self._is_painted:
            self._is_painted = True
            QTimer.singleShot(0, self, self.painted.emit)
        return done

    def closeEvent(self, event: QCloseEvent) -> None:
        """Ask about unsaved work in each tab, then store the layout and stop the workers."""
        if self._kept and all(map(operator.is_, self._kept, self._contents())):
            self.end(SESSION)
            event.accept()
            return
        if self._asks_to_save and not self.files.may_leave_all():
            event.ignore()
            return
        self._remember_layout()
        self.files.keep_for_next_time()
        self.session.close()
        event.accept()

    def end(self, ended_by: str) -> None:
        """Close without a question, because the process is about to end; the next start restores all work.

        Args:
            ended_by: the name of the signal.
        """
        self._asks_to_save = False
        keeps_autosave = self.files.keep_work(ended_by)  # first, since the remaining time is unknown
        self._remember_layout()
        self.session.close(keeps_autosave=keeps_autosave)

    def prepare_for_session_end(self) -> None:
        """Keep all work, since the desktop session may be about to end; the window stays open until it does.

        Qt closes it then. The user is not asked about work that is kept, unless it changes meanwhile.
        """
        self.files.keep_work(SESSION)
        self._kept = self._contents()

    def _contents(self) -> list[DocumentFile]:
        return [one.content for one in self.session.document.documents]

    def _remember_layout(self) -> None:
        self.placement.save()
        self.settings.change(
            splitters={
                **self.settings.preferences.splitters,
                **self.dock_layout.save(),
                **self.panes.save(),
            },
        )

    # --- building ----------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.setWindowTitle(ui_text("window.main.name"))
        self.placement = WindowPlacement(self, self.settings)
        self.addToolBar(self.toolbar)
        self.setStatusBar(self.status_line)
        centre = QWidget()
        column = QVBoxLayout(centre)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.tabs)
        column.addWidget(self.banners)
        column.addWidget(self.dock_layout, 1)
        self.setCentralWidget(centre)
        menus = self.commands.fill_bar(self.menuBar())
        recent = QMenu(ui_text("window.main.recent"), self)
        recent.setToolTipsVisible(True)
        recent.aboutToShow.connect(lambda: self.files.fill_recent(recent))
        menus["file"].insertMenu(self.commands["file.gallery"], recent)
        self.commands.add_mnemonics()

    def _place(self, spec: PaneSpec) -> None:
        """Add a pane where it belongs, and connect its command."""
        presenter, title = self.panes[spec.id], ui_text(f"commands.view.{spec.id}.title")
        if spec.area is Area.BOTTOM:
            self.dock_layout.add_bottom(presenter.view, title)
        elif spec.area is Area.GENERATION and isinstance(presenter.view, Lazy):
            self.panes.generation.add_page(presenter.view, title)
        presenter.title_changed.connect(
            lambda changed: self.dock_layout.set_bottom_title(self.panes.view(spec.id), changed)
        )
        give_menu = partial(give_pane_menu, commands=self.commands, ids=spec.menu)
        if isinstance(presenter.view, Lazy):
            presenter.view.when_built(give_menu)
        else:
            give_menu(presenter.view)
        self.commands.connect_to(f"view.{spec.id}", lambda: self.reveal(self.panes.view(spec.id)))

    def reveal(self, pane: QWidget) -> None:
        """Show a pane, or a page in one, and give it the focus."""
        self.dock_layout.reveal(pane)

    def _add_commands(self) -> None:
        for owner in (self.files, self.sharing, self.exporting, self.output_check, self.failure_intake, self.tour):
            self.commands.add(owner)
        for handler in (self.attachment, self.tokenizer_audits, self.reductions, self.grammar_edits, self.log_replay):
            self.commands.add(handler)
        self.commands.add(self.server_checks)
        document = self.session.document
        self.commands.add(self.schema_fuzz, document.changed, document.replaced)
        self.commands.add(GrammarInference(self.session, self.panes.editor, self))
        refactorings = RefactoringCommands(self.session, self.panes.editor, self)
        self.commands.add(refactorings, document.changed, document.replaced)
        self.commands.add(FocusCommands(self.panes, self))
        self.commands.add(self.dock_layout, self.dock_layout.bottom_toggled)
        self.commands.add(self.welcome)
        self.commands.add(self.tabs, document.documents_changed)
        self.commands.add(self.appearance, theme.themes.changed)
        self.commands.add(self)

    def _connect_signals(self) -> None:
        session, document = self.session, self.session.document
        for changed in (document.title_changed, document.replaced):
            changed.connect(self._show_title)
        document.replaced.connect(self._focus_text)
        document.replaced.connect(self.banners.end_document)
        self.panes.editor.switched.connect(lambda _text, _reading: self._focus_text())
        for changed in (session.view_changed, session.compiling.stale_changed, session.decoding.view_changed):
            changed.connect(self._show_status)
        session.compiling.diagnosed.connect(self.problem_folding.schedule)
        session.live_changed.connect(self._on_live)
        session.decoding.running_changed.connect(self._on_running)
        session.step_allowed_changed.connect(self._on_step_allowed)
        session.activity_changed.connect(self.status_line.show_activity)
        session.notification_raised.connect(self.show_notification)
        session.links.closing_wanted.connect(lambda: self.notation_menu.choose_additional("closed"))
        session.notification_withdrawn.connect(self.banners.withdraw)
        self.files.intake_wanted.connect(self.failure_intake.open_file)
        self.files.log_wanted.connect(self.log_replay.open_paths)
        self.failure_intake.table_wanted.connect(self.log_replay.open_text)
        self.output_check.smallest_wanted.connect(self.reductions.open)
        self.notation_menu.intake_wanted.connect(self.failure_intake.open_text)
        self.welcome.page.recent_chosen.connect(self.files.open)
        self.files.long_opened.connect(self.notation_menu.read_long)
        self.settings.on_failure = self._on_settings_failed
        self.panes.editor.text_edited.connect(self._end_greeting)
        self.status_line.cancel_clicked.connect(session.cancel_background)
        self.dock_layout.bottom_chosen.connect(lambda is_open: self.settings.change(bottom_open=is_open))
        self._show_title()
        self._on_step_allowed(session.step_refusal)

    def _restore_layout(self) -> None:
        preferences = self.settings.preferences
        self.placement.restore()
        self.dock_layout.restore(preferences.splitters)
        self.panes.restore(preferences.splitters)

    # --- showing -----------------------------------------------------------------------------------------------------

    def show_notification(self, notification: Notification) -> None:
        """Open a banner in the window or in the generation pane."""
        if notification.target == "generation":
            severity, button = notification.severity, notification.button
            self.panes.generation.show_banner(
                notification.text, notification.details, severity=severity, button=button, action=notification.action
            )
        else:
            self.banners.show_notification(notification)

    def _report(self, text: str) -> None:
        """Show a sentence that leaves by itself."""
        self.banners.show_notification(Notification("window", text, severity="hint", is_passing=True))

    def _on_settings_failed(self, reason: str) -> None:
        text = ui_text("window.main.settings_lost", reason=reason)
        self.banners.show_notification(Notification("window", text, severity="warning"))

    def _show_title(self) -> None:
        document = self.session.document
        self.setWindowTitle(ui_text("window.main.title", document=document.title))
        self.setWindowModified(document.is_modified)
        self.toolbar.show_document(document.title, is_modified=document.is_modified)

    def _show_status(self) -> None:
        compiling = self.session.compiling
        self.status_line.show_automaton(compiling.last_good, compiling.stale_reason)
        view = DecodeView() if self.welcome.is_empty else self.session.decoding.view  # whose text matches already
        self.status_line.show_view(view, compiling.last_good, self._live)

    def _on_live(self, states: frozenset[int], _spans: object) -> None:
        self._live = states
        self._show_status()

    def _on_running(self, is_running: bool) -> None:
        self.toolbar.show_running(is_running)
        self._on_step_allowed(self.session.step_refusal)

    def _focus_text(self) -> None:
        """Give the keyboard focus to a text that a command has replaced, or that has another notation now."""
        self._focuses_step = self._has_passed_focus = False
        self.dock_layout.reveal(self.panes.editor)

    def _end_greeting(self) -> None:
        self._focuses_step = False  # a user who types continues to type

    def _note_focus(self, _refusal: str) -> None:
        """Remember which widget has the focus before commands disable their buttons."""
        self._focused_before = QApplication.focusWidget()

    def _on_step_allowed(self, refusal: str) -> None:
        had_focus = self._focused_before is self.toolbar.step_button
        self._focused_before = None
        if self._focuses_step and not refusal:
            self._focuses_step = False  # the first key of a newcomer should be a step
            if self.focusWidget() in (None, self.panes.editor.edit):
                self.toolbar.step_button.setFocus()
        self._restore_step_focus(had_focus=had_focus)

    def _restore_step_focus(self, *, had_focus: bool) -> None:
        """Qt passes the focus of a disabled button to a neighbour; return it to Step, unless the user moved it."""
        button = self.toolbar.step_button
        if button.isEnabled():
            focused = QApplication.focusWidget()
            if self._has_passed_focus and (focused is None or self.toolbar.isAncestorOf(focused)):
                button.setFocus()
            self._has_passed_focus = False
        elif (
            had_focus and not self.session.decoding.is_running
        ):  # during a run the user may want Pause, which is beside it
            self._has_passed_focus = True

    # --- commands ----------------------------------------------------------------------------------------------------

    @command("file.quit", "Ctrl+Q", place=(4, 2))
    def _quit(self) -> None:
        self.close()

    @command("edit.palette", "Ctrl+Shift+P", place=(7, 2), icon="ph.terminal")
    def _open_palette(self) -> None:
        from app.dialogs.palette import CommandPalette  # start-up time: the dialog is built when first shown

        palette = CommandPalette(self.commands, self)
        palette.finished.connect(palette.deleteLater)
        palette.open()

    @command("help.manual", "Ctrl+L, H", place=(0, 1), icon="ph.book-open")
    def _show_manual(self) -> None:
        pages = files("resources") / "manual" / "html"
        if not (pages / "index.html").is_file():
            self._report(ui_text("window.main.no_manual"))
        else:
            self._open_folder_or_file(str(pages / "index.html"))

    @command("help.failures", "Ctrl+Shift+F3", place=(1, 3), icon="ph.first-aid-kit")
    def _show_failures(self) -> None:
        from app.dialogs.failures_dialog import FailuresDialog  # start-up time: the dialog is built when first shown

        dialog = FailuresDialog(self)
        dialog.opened.connect(self._open_failure)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def _open_failure(self, sample: FailureSample) -> None:
        """Open a sample as a document, and check its output."""
        before = self.session.decoding.spec
        self.files.show_new(sample.document(self.files.model_for_failure()))
        self.files.report_model(before)
        self.output_check.check_case(sample.case())

    @command("help.keys", "Ctrl+/", place=(1, 4), icon="ph.keyboard")
    def _show_keys(self) -> None:
        from app.dialogs.keys_dialog import KeysDialog  # start-up time: the dialog is built when first shown

        dialog = KeysDialog(self.commands, self)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    @command("help.details", "Ctrl+Shift+F1", place=(1, 5), icon="ph.clipboard-text")
    def _copy_details(self) -> None:
        QGuiApplication.clipboard().setText(diagnostic_log.details())
        self._report(ui_text("window.main.details_copied"))

    @command("help.log", "Ctrl+Shift+F2", place=(1, 6), icon="ph.folder-open")
    def _show_log_folder(self) -> None:
        folder = diagnostic_log.folder()
        if folder is None:
            self._report(ui_text("window.main.no_log"))
        else:
            self._open_folder_or_file(str(folder))

    def _open_folder_or_file(self, path: str) -> None:
        """Open a path with the program that the desktop has for it; say where it is if that fails."""
        if not QDesktopServices.openUrl(QUrl.fromLocalFile(path)):
            self._report(ui_text("window.main.not_opened", path=path))

    @command("help.about", "Ctrl+F1", place=(1, 7), icon="ph.info")
    def _show_about(self) -> None:
        from importlib.metadata import PackageNotFoundError, version

        try:
            number = version("token-turnstile")
        except PackageNotFoundError:
            number = ui_text("window.main.checkout")
        title, text = ui_text("commands.help.about.title"), ui_text("window.main.about", version=number)
        box = QMessageBox(QMessageBox.Icon.NoIcon, title, text, QMessageBox.StandardButton.Close, self)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        licences = box.addButton(ui_text("dialogs.licences.button"), QMessageBox.ButtonRole.ActionRole)
        licences.setObjectName("licences")
        licences.clicked.connect(self._show_licences)
        mark_buttons(box)
        box.open()

    def _show_licences(self) -> None:
        from app.dialogs.licences_dialog import LicencesDialog  # start-up time: the dialog is built when first shown

        dialog = LicencesDialog(self)
        asked = self.session.worker_pool.judge.ask(ReadLicences(), dialog).then(dialog.show_parts)
        asked.lost(lambda lost: dialog.text.setPlainText(lost.why))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
