"""The main window: toolbar, panes, status bar, banners and commands around one session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QEvent, Qt, QTimer, QUrl, Signal
from PySide6.QtGui import QCloseEvent, QDesktopServices, QGuiApplication
from PySide6.QtWidgets import QApplication, QMainWindow, QMenu, QMessageBox, QPlainTextEdit, QVBoxLayout, QWidget

from app import diagnostic_log, theme
from app.catalogue import ui_text
from app.commands import DECLARED, Commands, command
from app.document import DocumentFile
from app.presenters.automaton import AutomatonPresenter
from app.presenters.debugging import DebuggingPresenter
from app.presenters.editor import EditorPresenter
from app.presenters.exporting import Exporting, Sharing
from app.presenters.forced import ForcedPresenter
from app.presenters.output_check import OutputCheck
from app.presenters.panes import Panes
from app.presenters.processors import ProcessorsPresenter
from app.session import Notification, Session
from app.settings import Settings
from app.widgets.lazy import Lazy
from app.window.banner import BannerStack
from app.window.dock_layout import DockLayout, ProblemFolding
from app.window.files import SESSION, Drops, Files
from app.window.model_menu import ModelMenu, ModelOffer
from app.window.notation_menu import NotationMenu
from app.window.placement import WindowPlacement
from app.window.screen_reader import ScreenReader
from app.window.status import StatusLine
from app.window.toolbar import Toolbar
from app.window.tour import Tour
from engine.diagnosis.test_strings.values import SuggestionKind
from engine.source import Diagnostic
from engine.source.registry import extension_objects

if TYPE_CHECKING:
    from app.panes.test_strings import StringTestsPane


def _has_theme(window: MainWindow, name: str) -> bool:
    return window.settings.preferences.theme == name


@dataclass(frozen=True, slots=True)
class PaneSpec:
    """A pane, the command that shows it, and its tab.

    Attributes:
        id: its name; `view.ID` is the command, whose title is also that of the tab.
        keys: the key of the command.
        place: the place of the command in the View menu.
        factory: returns the pane of a window, or the `Lazy` that builds it; binds it to the session.
        is_tab: whether it is a tab of the bottom panel; otherwise another widget contains it.
    """

    id: str
    keys: str
    place: tuple[int, int]
    factory: Callable[[MainWindow], QWidget | Lazy[Any]]
    is_tab: bool = False

    def declare(self) -> None:
        """Declare the command, unless an earlier window did."""
        if f"view.{self.id}" not in DECLARED:
            command(f"view.{self.id}", self.keys, place=self.place)


class MainWindow(QMainWindow):
    """A window with one session.

    Signals:
        painted(): the window has been painted for the first time; deferred work can begin.
    """

    painted = Signal()
    panes: Panes
    debug_commands: DebuggingPresenter
    forced_commands: ForcedPresenter

    def __init__(self, session: Session, settings: Settings) -> None:
        super().__init__()
        self.session = session
        self.settings = settings
        self._live: frozenset[int] = frozenset()
        self._is_painted = False
        self._asks_to_save = True
        self._kept: DocumentFile | None = None  # the content when the desktop session was about to end
        self._focuses_step = False
        self._has_passed_focus = False  # whether a neighbour has the focus of the step button, while that is disabled
        specs = (*PANES, *extension_objects("panes", "PANE"))
        for spec in specs:
            spec.declare()
        presenters = tuple(extension_objects("presenters", "PRESENTER"))
        self.commands = Commands(self)
        self.panes = Panes(session, self)
        self.files = Files(session, settings, self)
        self.sharing = Sharing(session, self)
        self.output_check = OutputCheck(session, self.panes, self)
        self.exporting = Exporting(session, self)
        self.banners = BannerStack()
        self.toolbar = Toolbar(self.commands)
        self.dock_layout = DockLayout(self.panes.editor, self.panes.automaton, self.panes.generation)
        self.problem_folding = ProblemFolding(self.dock_layout, self.panes.problems, settings)
        self.debug_commands = DebuggingPresenter(self.commands, self.panes, session, settings, self)
        self.debug_commands.until_button = self.toolbar.until_button
        self.forced_commands = ForcedPresenter(self.commands, session, self)
        self._made: dict[str, QWidget | Lazy[Any]] = {}
        for spec in specs:
            self._add_pane(spec)
        self.tour = Tour(self.commands, self.panes, self.toolbar, self.dock_layout, self)
        self.screen_reader = ScreenReader(session, self)
        self.status_line = StatusLine()
        self.model_menu = ModelMenu(self.toolbar, session, settings, self)
        ModelOffer(session, self.panes.generation, self.model_menu.open, self)
        self.notation_menu = NotationMenu(self.commands, self.toolbar, self.panes.editor, session, self.files, self)
        self._build()
        self._connect_signals()
        self.processor_commands = ProcessorsPresenter(self.commands, self.panes.generation.processors, session, self)
        self.editor_commands = EditorPresenter(self.commands, self.panes.editor, self.panes.problems, self)
        self.automaton_commands = AutomatonPresenter(self.commands, self.panes.automaton, session, self)
        for owner in (self.files, self.sharing, self.exporting, self.output_check, self.tour):
            self.commands.add(owner)
        self.commands.add(self.dock_layout, self.dock_layout.bottom_toggled)
        self.commands.add(self.panes, self.panes.counting_changed)
        self.commands.add(self, theme.themes.changed)
        for make in presenters:
            make(self)
        Drops(self.files.open_dropped, self, *(edit.viewport() for edit in self.findChildren(QPlainTextEdit)))
        self._restore_layout()
        theme.apply_font(self)

    # --- lifecycle ---------------------------------------------------------------------------------------------------

    def begin(self, path: Path | None = None) -> None:
        """Show the first document and start the workers."""
        self.session.start()
        self.files.begin(path)
        self.panes.editor.edit.setFocus()
        if not self.settings.preferences.welcomed and not self.session.document.is_modified:  # it was recovered
            welcome, button = ui_text("window.main.welcome"), ui_text("commands.help.tour.title")
            line = Notification("window", welcome, severity="hint", button=button, action=self._begin_tour)
            banner = self.banners.show_notification(line)
            banner.close_button.clicked.connect(lambda: self.settings.change(welcomed=True))
            for command_id in ("run.step", "run.run"):  # the banner asks for a step
                self.commands[command_id].triggered.connect(lambda: self._end_welcome(line))
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
        """Ask about unsaved work, then store the layout and stop the workers."""
        if self._kept is self.session.document.content:
            self.end(SESSION)
            event.accept()
            return
        if self._asks_to_save and not self.files.may_leave():
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
        self._kept = self.session.document.content

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
        column.addWidget(self.banners)
        column.addWidget(self.dock_layout, 1)
        self.setCentralWidget(centre)
        menus = self.commands.fill_bar(self.menuBar())
        recent = QMenu(ui_text("window.main.recent"), self)
        recent.setToolTipsVisible(True)
        recent.aboutToShow.connect(lambda: self.files.fill_recent(recent))
        menus["file"].insertMenu(self.commands["file.gallery"], recent)

    def _add_pane(self, spec: PaneSpec) -> None:
        made = self._made[spec.id] = spec.factory(self)
        if spec.is_tab:
            self.dock_layout.add_bottom(made, ui_text(f"commands.view.{spec.id}.title"))
        self.commands.connect_to(f"view.{spec.id}", lambda: self.reveal(spec.id))

    def _connect_signals(self) -> None:
        session, document = self.session, self.session.document
        document.title_changed.connect(self._show_title)
        document.replaced.connect(self._show_title)
        document.replaced.connect(self._focus_text)
        self.panes.editor.switched.connect(lambda _text, _reading: self._focus_text())
        session.view_changed.connect(lambda _drawn: self._show_status())
        session.compiling.stale_changed.connect(lambda _stale, _reason: self._show_status())
        session.compiling.diagnosed.connect(self._show_problem_count)
        self.panes.lazy_tests.when_built(self._title_tests)
        session.live_changed.connect(self._on_live)
        session.decoding.view_changed.connect(lambda _view: self._show_status())
        session.decoding.running_changed.connect(self._on_running)
        session.step_allowed_changed.connect(self._on_step_allowed)
        session.activity_changed.connect(self.status_line.show_activity)
        session.notification_raised.connect(self.show_notification)
        for source in (self.forced_commands, self.exporting):
            source.closing_wanted.connect(lambda: self.notation_menu.choose_additional("closed"))
        session.notification_withdrawn.connect(self.banners.withdraw)
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
        self.status_line.show_view(self.session.decoding.view, compiling.last_good, self._live)

    def _show_problem_count(self, diagnostics: Sequence[Diagnostic], _source: object) -> None:
        title = ui_text("commands.view.problems.title")
        if diagnostics:
            title = ui_text("window.main.problems", count=len(diagnostics))
        self.dock_layout.set_bottom_title(self.panes.problems, title)
        self.problem_folding.schedule()

    def _on_live(self, states: frozenset[int], _spans: object) -> None:
        self._live = states
        self._show_status()

    def _on_running(self, is_running: bool) -> None:
        self.toolbar.show_running(is_running)
        self._on_step_allowed(self.session.step_refusal)

    def _end_welcome(self, line: Notification) -> None:
        """Close the banner of the first run once the user has stepped."""
        self.banners.withdraw(line)
        if not self.settings.preferences.welcomed:
            self.settings.change(welcomed=True)

    def _focus_text(self) -> None:
        """Give the keyboard focus to a text that a command has replaced, or that has another notation now."""
        self._focuses_step = self._has_passed_focus = False
        self.dock_layout.reveal(self.panes.editor)

    def _end_greeting(self) -> None:
        self._focuses_step = False  # a user who types continues to type

    def _on_step_allowed(self, refusal: str) -> None:
        had_focus = self.toolbar.step_button.hasFocus()
        self.commands.refresh(self.debug_commands)
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

    @command("file.quit", "Ctrl+Q", place=(4, 1))
    def _quit(self) -> None:
        self.close()

    @command("edit.undo", "Ctrl+Z", place=(1, 1), icon="ph.arrow-u-up-left", repeats=True)
    def _undo(self) -> None:
        self._undo_target().undo()

    @command("edit.redo", "Ctrl+Shift+Z", place=(1, 2), icon="ph.arrow-u-up-right", repeats=True)
    def _redo(self) -> None:
        self._undo_target().redo()

    @command("edit.format", "Shift+Alt+F", place=(5, 2), icon="ph.text-align-left", context="editor")
    def _format(self) -> None:
        self.session.compiling.format_text()

    def reveal(self, pane: str) -> None:
        """Show a pane and give it the focus; `pane` is its id."""
        made = self._made[pane]
        self.dock_layout.reveal(made.get() if isinstance(made, Lazy) else made)

    @command("edit.palette", "Ctrl+Shift+P", place=(6, 2), icon="ph.terminal")
    def _open_palette(self) -> None:
        from app.dialogs.palette import CommandPalette  # start-up time: the dialog is built when first shown

        palette = CommandPalette(self.commands, self)
        palette.finished.connect(palette.deleteLater)
        palette.open()

    def _title_tests(self, tests: StringTestsPane) -> None:
        """Show the number of tests and failures on their tab, from now on."""
        tests.summary_changed.connect(lambda title: self.dock_layout.set_bottom_title(tests, title))

    @command("view.explanation", "Ctrl+Shift+E", place=(2, 1), icon="ph.chat-text", context="editor")
    def _toggle_explanation(self) -> None:
        self.dock_layout.reveal(self.panes.editor)
        self.panes.editor.toggle_explanation()

    @command("view.reference", "Ctrl+Shift+K", place=(2, 2), icon="ph.book-open", context="editor")
    def _toggle_reference(self) -> None:
        self.dock_layout.reveal(self.panes.editor)
        self.panes.editor.toggle_reference()

    @command("view.gbnf", "Ctrl+Shift+G", place=(2, 3), context="editor")
    def _toggle_generated(self) -> None:
        self.dock_layout.reveal(self.panes.editor)
        self.panes.toggle_generated()

    def _begin_tour(self) -> None:
        """Start the tour, and do not offer it again."""
        self.settings.change(welcomed=True)
        self.tour.start()

    @command("tests.add", "Ctrl+T", place=(1, 2))
    def _add_test(self) -> None:
        self._reveal_tests().add()

    @command("tests.paste", "Ctrl+Shift+V", place=(1, 3))
    def _paste_tests(self) -> None:
        self._reveal_tests().paste()

    @command("tests.duplicate", "Ctrl+Shift+D", place=(1, 4))
    def _duplicate_test(self) -> None:
        self._reveal_tests().duplicate()

    @command("tests.remove", "Ctrl+Shift+Del", place=(1, 5))
    def _remove_test(self) -> None:
        self._reveal_tests().remove()

    @command("tests.toggle", "Ctrl+U", place=(1, 6))
    def _toggle_test(self) -> None:
        self._reveal_tests().toggle()

    @command("tests.failure", "Shift+F8", place=(1, 7), repeats=True)
    def _go_to_failure(self) -> None:
        self._reveal_tests().go_to_failure()

    @command("tests.shortest", "Ctrl+Shift+L", place=(2, 1), arguments=(SuggestionKind.SHORTEST,))
    @command("tests.random", "Ctrl+Shift+R", place=(2, 2), arguments=(SuggestionKind.RANDOM,))
    @command("tests.rules", "Ctrl+Shift+U", place=(2, 3), arguments=(SuggestionKind.RULE,))
    @command("tests.near", "Ctrl+Shift+M", place=(2, 4), arguments=(SuggestionKind.NEAR_MISS,))
    def _suggest_tests(self, kind: SuggestionKind) -> None:
        self._reveal_tests().suggest(kind)

    def _reveal_tests(self) -> StringTestsPane:
        self.dock_layout.reveal(self.panes.tests)
        return self.panes.tests

    def _undo_target(self) -> QPlainTextEdit | StringTestsPane:
        """Return the widget that handles undo: the list of tests if it has the focus, otherwise a text."""
        focused, tests = QApplication.focusWidget(), self.panes.lazy_tests.built
        if tests is not None and focused is tests.table:
            return tests
        return self._text_edit()

    def _text_edit(self) -> QPlainTextEdit:
        focused = QApplication.focusWidget()
        if isinstance(focused, QPlainTextEdit) and not focused.isReadOnly():
            return focused
        return self.panes.editor.edit

    @command("view.light", "Ctrl+L, L", place=(5, 1), arguments=("light",), checked=_has_theme)
    @command("view.dark", "Ctrl+L, D", place=(5, 2), arguments=("dark",), checked=_has_theme)
    @command("view.system", "Ctrl+L, S", place=(5, 3), arguments=("system",), checked=_has_theme)
    def _choose_theme(self, name: str) -> None:
        self.settings.change(theme=name)
        app = QApplication.instance()
        if isinstance(app, QApplication):
            theme.apply(app, name)

    @command("help.keys", "Ctrl+/", place=(1, 2), icon="ph.keyboard")
    def _show_keys(self) -> None:
        from app.dialogs.keys_dialog import KeysDialog  # start-up time: the dialog is built when first shown

        dialog = KeysDialog(self.commands, self)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    @command("help.details", "Ctrl+Shift+F1", place=(1, 3), icon="ph.clipboard-text")
    def _copy_details(self) -> None:
        QGuiApplication.clipboard().setText(diagnostic_log.details())
        text = ui_text("window.main.details_copied")
        self.banners.show_notification(Notification("window", text, severity="hint"))

    @command("help.log", "Ctrl+Shift+F2", place=(1, 4), icon="ph.folder-open")
    def _show_log_folder(self) -> None:
        folder = diagnostic_log.folder()
        if folder is None:
            self.banners.show_notification(Notification("window", ui_text("window.main.no_log"), severity="hint"))
        elif not QDesktopServices.openUrl(QUrl.fromLocalFile(str(folder))):
            self.banners.show_notification(
                Notification("window", ui_text("window.main.no_folder", folder=folder), severity="hint")
            )

    @command("help.about", "Ctrl+F1", place=(1, 5), icon="ph.info")
    def _show_about(self) -> None:
        from importlib.metadata import PackageNotFoundError, version

        try:
            number = version("token-turnstile")
        except PackageNotFoundError:
            number = ui_text("window.main.checkout")
        title = ui_text("commands.help.about.title")
        self._show_text(title, ui_text("window.main.about", version=number))

    def _show_text(self, title: str, html: str) -> None:
        box = QMessageBox(QMessageBox.Icon.NoIcon, title, html, QMessageBox.StandardButton.Close, self)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()


PANES = (
    PaneSpec("editor", "Ctrl+1", (1, 1), lambda window: window.panes.editor),
    PaneSpec("automaton", "Ctrl+2", (1, 2), lambda window: window.panes.automaton),
    PaneSpec("generation", "Ctrl+3", (1, 3), lambda window: window.panes.generation),
    PaneSpec("problems", "Ctrl+4", (1, 4), lambda window: window.panes.problems, is_tab=True),
    PaneSpec("probabilities", "Ctrl+5", (1, 5), lambda window: window.panes.lazy_probabilities),
    PaneSpec("tests", "Ctrl+6", (1, 6), lambda window: window.panes.lazy_tests, is_tab=True),
    PaneSpec("timeline", "Ctrl+7", (1, 7), lambda window: window.debug_commands.lazy_timeline, is_tab=True),
    PaneSpec("breakpoints", "Ctrl+8", (1, 8), lambda window: window.debug_commands.lazy_breakpoints, is_tab=True),
    PaneSpec("baseline", "Ctrl+9", (1, 9), lambda window: window.panes.generation.lazy_baseline),
    PaneSpec("forced", "Ctrl+0", (1, 10), lambda window: window.forced_commands.lazy_pane, is_tab=True),
)
"""The panes in the order of their tabs; those of other distributions follow."""

for _spec in PANES:
    _spec.declare()
