"""The main window: toolbar, panes, status bar, banners and commands around one session."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QByteArray, QEvent, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QCloseEvent, QKeySequence
from PySide6.QtWidgets import QApplication, QMainWindow, QMenu, QMessageBox, QPlainTextEdit, QVBoxLayout, QWidget

from app import theme
from app.actions import Actions
from app.panes.tests import StringTestsPane
from app.session import Alarm, Session
from app.settings import Settings
from app.window.arrangement import Arrangement
from app.window.automaton_commands import AutomatonCommands
from app.window.banner import BannerStack
from app.window.debug_commands import DebugCommands
from app.window.editor_commands import EditorCommands
from app.window.export_dialog import ExportDialog
from app.window.files import Files
from app.window.model_menu import ModelMenu
from app.window.notation_menu import NotationMenu
from app.window.palette import CommandPalette
from app.window.panes import Panes
from app.window.processor_commands import ProcessorCommands
from app.window.replay_dialog import ReplayDialog
from app.window.status import StatusLine
from app.window.toolbar import Toolbar
from app.workers.decode_messages import Back, Restart
from engine.diagnosis.testing import SuggestionKind
from engine.source import Diagnostic

_FOLD_DELAY_MS = 700  # half-typed patterns are broken all the time: the panes should not jump with every key
WELCOME = "Press Step. Click a struck-through token to see why."


class MainWindow(QMainWindow):
    """One window on one session.

    Signals:
        painted(): the window has been drawn for the first time; what can wait begins now.
    """

    painted = Signal()

    def __init__(self, session: Session, settings: Settings) -> None:
        super().__init__()
        self.session = session
        self._settings = settings
        self._live: frozenset[int] = frozenset()
        self._is_painted = False
        self._asks_to_save = True
        self._greets = False
        self._fold = QTimer(self, singleShot=True, interval=_FOLD_DELAY_MS)
        self.commands = Actions(self)
        self.panes = Panes(session, self)
        self.files = Files(session, settings, self)
        self.banners = BannerStack()
        self.toolbar = Toolbar(self.commands)
        self.arrangement = Arrangement(self.panes.editor, self.panes.automaton, self.panes.generation_column)
        self.arrangement.add_bottom(self.panes.problems, "Problems")
        self.arrangement.add_bottom(self.panes.tests, "Tests")
        self.debug_commands = DebugCommands(self.commands, self.panes, session, settings, self)
        self.debug_commands.until_button = self.toolbar.until_button
        self.arrangement.add_bottom(self.debug_commands.timeline, "Timeline")
        self.arrangement.add_bottom(self.debug_commands.breakpoints, "Breakpoints")
        self.status_line = StatusLine()
        self.model_menu = ModelMenu(self.toolbar, session, settings, self)
        self.notation_menu = NotationMenu(self.toolbar, self.panes.editor, session, self.files, self)
        self._build()
        self._wire()
        self._connect_commands()
        self.processor_commands = ProcessorCommands(self.commands, self.panes.generation.processors, session, self)
        self.editor_commands = EditorCommands(self.commands, self.panes.editor, self.panes.problems, self)
        self.automaton_commands = AutomatonCommands(self.commands, self.panes.automaton, session, self)
        self._restore_layout()
        theme.themes.changed.connect(self._check_theme)
        self.commands.recolour()
        self.toolbar.recolour()
        self.status_line.recolour()
        self._check_theme()

    # --- life --------------------------------------------------------------------------------------------------------

    def begin(self, path: Path | None = None) -> None:
        """Show the first document and start the workers."""
        self.session.start()
        self.files.begin(path)
        self.panes.editor.edit.setFocus()
        if not self._settings.preferences.welcomed:
            banner = self.banners.show_alarm(Alarm("window", WELCOME, severity="hint"))
            banner.close_button.clicked.connect(lambda: self._settings.change(welcomed=True))
        self._greets = True

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
        """Ask about unsaved work, then remember the layout and end the workers."""
        if self._asks_to_save and not self.files.may_leave():
            event.ignore()
            return
        self._settings.change(
            geometry=bytes(self.saveGeometry().data()),
            splitters={**self._settings.preferences.splitters, **self.arrangement.save()},
        )
        self.session.close()
        event.accept()

    # --- building ----------------------------------------------------------------------------------------------------

    def _build(self) -> None:
        self.setWindowTitle("Turnstile")
        self.setMinimumSize(960, 600)
        self.resize(1600, 1000)
        self.addToolBar(self.toolbar)
        self.setStatusBar(self.status_line)
        centre = QWidget()
        column = QVBoxLayout(centre)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addWidget(self.banners)
        column.addWidget(self.arrangement, 1)
        self.setCentralWidget(centre)
        menus = self.commands.fill(self.menuBar())
        recent = QMenu("Open recent", self)
        recent.setToolTipsVisible(True)
        recent.aboutToShow.connect(lambda: self.files.fill_recent(recent))
        menus["File"].insertMenu(self.commands["file.gallery"], recent)

    def _wire(self) -> None:
        session, document = self.session, self.session.document
        document.title_changed.connect(self._show_title)
        document.replaced.connect(self._show_title)
        session.drawn.connect(lambda _drawn: self._show_status())
        session.compiling.stale_changed.connect(lambda _stale, _reason: self._show_status())
        session.compiling.diagnosed.connect(self._show_problem_count)
        self.panes.tests.summary_changed.connect(
            lambda title: self.arrangement.set_bottom_title(self.panes.tests, title)
        )
        session.live_changed.connect(self._on_live)
        session.decoding.viewed.connect(lambda _view: self._show_status())
        session.decoding.running_changed.connect(self._on_running)
        session.step_allowed_changed.connect(self._on_step_allowed)
        session.activity_changed.connect(self.status_line.show_activity)
        session.alarmed.connect(self.show_alarm)
        self.panes.editor.text_edited.connect(self._end_greeting)
        self.status_line.cancel_clicked.connect(session.cancel_background)
        self.arrangement.bottom_toggled.connect(self.commands["view.bottom"].setChecked)
        self.arrangement.bottom_chosen.connect(lambda is_open: self._settings.change(bottom_open=is_open))
        self._fold.timeout.connect(self._fold_bottom)
        self._show_title()
        self._on_step_allowed(session.step_refusal)

    def _connect_commands(self) -> None:
        panes, decoding, reveal = self.panes, self.session.decoding, self.arrangement.reveal
        self.commands.connect_to(
            {
                "file.new": self.files.new,
                "file.open": self.files.open_chosen,
                "file.gallery": self.files.open_gallery,
                "file.save": self.files.save,
                "file.save_as": self.files.save_as,
                "file.export": self.open_export,
                "file.quit": self.close,
                "edit.undo": lambda: self._undoes().undo(),
                "edit.redo": lambda: self._undoes().redo(),
                "edit.problem": panes.problems.go_to_next,
                "edit.palette": lambda: CommandPalette(self.commands, self).open(),
                "view.editor": lambda: reveal(panes.editor),
                "view.automaton": lambda: reveal(panes.automaton),
                "view.generation": lambda: reveal(panes.generation),
                "view.problems": lambda: reveal(panes.problems),
                "view.tests": lambda: reveal(panes.tests),
                "view.probabilities": lambda: reveal(panes.probabilities),
                "view.timeline": lambda: reveal(self.debug_commands.timeline),
                "view.breakpoints": lambda: reveal(self.debug_commands.breakpoints),
                "view.twin": lambda: reveal(panes.generation.twin),
                "view.bottom": self.arrangement.toggle_bottom,
                "view.light": lambda: self._choose_theme("light"),
                "view.dark": lambda: self._choose_theme("dark"),
                "view.system": lambda: self._choose_theme("system"),
                "run.step": panes.step,
                "run.back": lambda: decoding.ask(Back()),
                "run.run": panes.toggle_run,
                "run.restart": lambda: decoding.ask(Restart()),
                "run.why": panes.generation.explain_selected,
                "run.cancel": self.session.cancel_background,
                "run.workers": self.session.restart_workers,
                "tests.check": self.open_replay,
                "tests.add": lambda: self._in_tests(panes.tests.add),
                "tests.paste": lambda: self._in_tests(panes.tests.paste),
                "tests.duplicate": panes.tests.duplicate,
                "tests.remove": panes.tests.remove,
                "tests.toggle": panes.tests.toggle,
                "tests.failure": lambda: self._in_tests(panes.tests.go_to_failure),
                "tests.shortest": lambda: self._in_tests(partial(panes.tests.suggest, SuggestionKind.SHORTEST)),
                "tests.random": lambda: self._in_tests(partial(panes.tests.suggest, SuggestionKind.RANDOM)),
                "tests.rules": lambda: self._in_tests(partial(panes.tests.suggest, SuggestionKind.RULE)),
                "tests.near": lambda: self._in_tests(partial(panes.tests.suggest, SuggestionKind.NEAR_MISS)),
                "help.keys": self._show_keys,
                "help.about": self._show_about,
            }
        )

    def _restore_layout(self) -> None:
        preferences = self._settings.preferences
        if preferences.geometry:
            self.restoreGeometry(QByteArray(preferences.geometry))
        self.arrangement.restore(preferences.splitters)

    # --- showing -----------------------------------------------------------------------------------------------------

    def show_alarm(self, alarm: Alarm) -> None:
        """Open a banner where it belongs."""
        if alarm.place == "generation":
            severity, button = alarm.severity, alarm.button
            self.panes.generation.show_banner(
                alarm.text, alarm.details, severity=severity, button=button, action=alarm.action
            )
        else:
            self.banners.show_alarm(alarm)

    def _show_title(self) -> None:
        document = self.session.document
        self.setWindowTitle(f"{document.title}[*] – Turnstile")
        self.setWindowModified(document.is_modified)
        self.toolbar.show_document(document.title, is_modified=document.is_modified)

    def _show_status(self) -> None:
        compiling = self.session.compiling
        self.status_line.show_automaton(compiling.good, compiling.stale_reason)
        self.status_line.show_view(self.session.decoding.view, compiling.good, self._live)

    def _show_problem_count(self, diagnostics: Sequence[Diagnostic], _source: object) -> None:
        title = f"Problems ({len(diagnostics)})" if diagnostics else "Problems"
        self.arrangement.set_bottom_title(self.panes.problems, title)
        self._fold.start()

    def _fold_bottom(self) -> None:
        """Unfold the bottom tabs for problems, unless the user folds them; fold them when empty."""
        arrangement, problems = self.arrangement, self.panes.problems
        if arrangement.bottom_is_open and arrangement.bottom.currentWidget() is not problems:
            return  # whoever reads another tab keeps it
        is_open = self._settings.preferences.bottom_open and not problems.is_empty
        if is_open:
            arrangement.bottom.setCurrentWidget(problems)
        arrangement.open_bottom(is_open)

    def _on_live(self, states: frozenset[int], _spans: object) -> None:
        self._live = states
        self._show_status()

    def _on_running(self, is_running: bool) -> None:
        self.toolbar.show_running(is_running)
        self._on_step_allowed(self.session.step_refusal)

    def _end_greeting(self) -> None:
        self._greets = False  # who types already goes on typing

    def _on_step_allowed(self, refusal: str) -> None:
        step, run = self.commands["run.step"], self.commands["run.run"]
        is_running = self.session.decoding.is_running
        step.setEnabled(not refusal and not is_running)
        run.setEnabled(not refusal or is_running)
        step.setToolTip(refusal or "Let the sampler take the next token (Ctrl+Return)")
        if self._greets and not refusal:
            self._greets = False  # the first key of a newcomer should be a step
            if self.focusWidget() in (None, self.panes.editor.edit):
                self.toolbar.step_button.setFocus()
        has_steps = self.session.decoding.view.trace.current is not None
        self.debug_commands.enable(refusal)
        for command_id in ("run.back", "run.restart"):
            self.commands[command_id].setEnabled(has_steps)

    # --- commands ----------------------------------------------------------------------------------------------------

    def open_export(self) -> ExportDialog:
        """Open the export dialog."""
        compiling, decoding = self.session.compiling, self.session.decoding
        dialog = ExportDialog(
            self.session.document.title,
            self,
            waits_for=lambda: "the many seeds that are being generated" if decoding.is_sampling else "",
        )
        dialog.list_wanted.connect(lambda told: compiling.list_exports(told, has_model=decoding.view.model is not None))
        dialog.wanted.connect(
            lambda target, path, told, number, needs_model: (
                decoding if needs_model and decoding.view.model is not None else compiling
            ).export(target, path, told, number)
        )
        for side in (compiling, decoding):
            dialog.cancelled.connect(side.cancel_export)
            side.exported.connect(dialog.show_answer)
            side.failed.connect(dialog.show_failure)
        compiling.exports_listed.connect(dialog.show_list)
        self.session.activity_changed.connect(dialog.show_progress)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
        dialog.begin()
        return dialog

    def open_replay(self) -> ReplayDialog:
        """Open the dialog that checks an output."""
        compiling, decoding = self.session.compiling, self.session.decoding
        dialog = ReplayDialog(self.session.document.title, self)
        dialog.checked.connect(lambda question: decoding.replay(compiling.request(), question))
        dialog.opened.connect(decoding.open_output)
        dialog.test_wanted.connect(self.panes.tests.add_text)
        dialog.span_wanted.connect(self.panes.editor.go_to)
        decoding.replayed.connect(dialog.show_answer)
        compiling.diagnosed.connect(dialog.check_again)
        decoding.model_opened.connect(dialog.check_again)
        dialog.finished.connect(dialog.deleteLater)
        dialog.show()
        return dialog

    def _in_tests(self, act: Callable[[], None]) -> None:
        """Do something with the test strings where they can be seen."""
        self.arrangement.reveal(self.panes.tests)
        act()

    def _undoes(self) -> QPlainTextEdit | StringTestsPane:
        """Who undoes: the list of tests where the keys are there, else a text."""
        focused = QApplication.focusWidget()
        if focused is not None and focused is self.panes.tests.table:
            return self.panes.tests
        return self._text_edit()

    def _text_edit(self) -> QPlainTextEdit:
        focused = QApplication.focusWidget()
        if isinstance(focused, QPlainTextEdit) and not focused.isReadOnly():
            return focused
        return self.panes.editor.edit

    def _choose_theme(self, name: str) -> None:
        self._settings.change(theme=name)
        app = QApplication.instance()
        if isinstance(app, QApplication):
            theme.apply(app, name)

    def _check_theme(self) -> None:
        for name in ("light", "dark", "system"):
            self.commands[f"view.{name}"].setChecked(self._settings.preferences.theme == name)

    def _show_keys(self) -> None:
        rows = [
            f"<tr><td style='padding:3px 24px 3px 0'>{command.text.rstrip('…')}</td><td>{_keys_of(action)}</td></tr>"
            for command, action in self.commands
            if action.shortcuts()
        ]
        self._show_text("Keyboard shortcuts", f"<table>{''.join(rows)}</table>")

    def _show_about(self) -> None:
        from importlib.metadata import PackageNotFoundError, version

        try:
            number = version("token-turnstile")
        except PackageNotFoundError:
            number = "from a checkout"
        about = "A desktop debugger for grammar-constrained decoding.<br>Apache-2.0"
        self._show_text("About Turnstile", f"<b>Turnstile</b> {number}<br>{about}")

    def _show_text(self, title: str, html: str) -> None:
        box = QMessageBox(QMessageBox.Icon.NoIcon, title, html, QMessageBox.StandardButton.Close, self)
        box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        box.open()


def _keys_of(action: QAction) -> str:
    native = QKeySequence.SequenceFormat.NativeText
    return ", ".join(f"<b>{keys.toString(native)}</b>" for keys in action.shortcuts())
