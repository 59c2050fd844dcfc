"""The target menu: the engine and its version that the grammar is written for.

The target is a part of the grammar, as the notation is: a change is one undo step, and is stored in the document. It
changes no automaton, only what is marked in the text. If another version of the engine is installed than the one that
an opened document names, a notification says so.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import msgspec
from PySide6.QtCore import QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QInputDialog, QMenu, QWidget

from app.catalogue import ui_text
from app.commands import Commands, command
from app.panes.editor.pane import EditorPane
from app.session import Notification, Session
from app.theme.labels import plain_text
from app.window.toolbar import Toolbar
from engine.targets import ENGINES, EngineRecord, engine_record, is_same_version


class TargetMenu(QObject):
    """Fills the toolbar's target menu, and handles its entries.

    Attributes:
        version_menu: the versions of the current target.
    """

    def __init__(
        self, commands: Commands, toolbar: Toolbar, editor: EditorPane, session: Session, window: QWidget
    ) -> None:
        super().__init__(window)
        self._toolbar, self._editor, self._session, self._window = toolbar, editor, session, window
        self._document = session.document
        self._warning: Notification | None = None
        self._warned_about = ("", "")
        self.version_menu = QMenu(ui_text("window.target.version"), toolbar.target_menu)
        self.version_menu.setToolTipsVisible(True)
        toolbar.target_menu.aboutToShow.connect(self.fill)
        for changed in (self._document.changed, self._document.target_changed):
            changed.connect(self._show)
        self._document.replaced.connect(self._compare)
        commands.add(self)
        self._show()

    def choose(self, engine: str, version: str | None = None) -> None:
        """Write the grammar for an engine.

        Args:
            engine: a name of `engine.targets.ENGINES`; empty for the standard.
            version: the version of the engine; None for the installed one, or else for the examined one.
        """
        if version is None:
            record = engine_record(engine) if engine else None
            version = (record.installed_version or record.version) if record is not None else ""
        grammar = self._document.content.grammar
        if (engine, version) != (grammar.target, grammar.target_version):
            self._editor.switch(msgspec.structs.replace(grammar, text="", target=engine, target_version=version))

    @command("edit.target", "Ctrl+Shift+I", place=(5, 5), icon="ph.target", context="editor")
    def open(self) -> None:
        """Open the menu at its button."""
        button = self._toolbar.target_button
        self._toolbar.target_menu.popup(button.mapToGlobal(button.rect().bottomLeft()))

    def fill(self) -> None:
        """Fill the menu; the data of the engines are read for it."""
        grammar = self._document.content.grammar
        menu = self._toolbar.target_menu
        menu.clear()
        tip = ui_text("window.target.standard_tip")
        standard = ui_text("window.target.standard")
        menu.addAction(self._entry(menu, standard, tip, lambda: self.choose(""), is_on=not grammar.target))
        for engine in ENGINES:
            name = engine_record(engine).engine
            tip = ui_text("window.target.tip", target=name)
            is_on = engine == grammar.target
            menu.addAction(self._entry(menu, name, tip, partial(self.choose, engine), is_on=is_on))
        menu.addSeparator()
        menu.addMenu(self.version_menu)
        self._fill_versions()
        chosen = next((action for action in menu.actions() if action.isChecked()), None)
        if chosen is not None:
            menu.setActiveAction(chosen)

    def ask_version(self) -> QInputDialog:
        """Ask for a version of the current target."""
        target, version = self._target
        dialog = QInputDialog(self._window)
        dialog.setWindowTitle(ui_text("window.target.version"))
        dialog.setLabelText(ui_text("window.target.other_label", engine=engine_record(target).engine))
        dialog.setTextValue(version)
        dialog.textValueSelected.connect(lambda text: self.choose(target, text.strip()))
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
        return dialog

    @property
    def _target(self) -> tuple[str, str]:
        grammar = self._document.content.grammar
        return grammar.target, grammar.target_version

    def _fill_versions(self) -> None:
        target, chosen = self._target
        menu, record = self.version_menu, engine_record(target) if target in ENGINES else None
        menu.clear()
        menu.setEnabled(record is not None and bool(record.version))
        if record is None or not record.version:
            return
        for version in dict.fromkeys(filter(None, (*record.known_versions, record.installed_version, chosen))):
            is_on = is_same_version(version, chosen)
            text = _version_text(record, version)
            menu.addAction(self._entry(menu, text, "", partial(self.choose, target, version), is_on=is_on))
        menu.addSeparator()
        other = menu.addAction(ui_text("window.target.other"), self.ask_version)
        other.setToolTip(plain_text(ui_text("window.target.other_tip")))

    @staticmethod
    def _entry(menu: QMenu, text: str, tip: str, chosen: Callable[[], object], *, is_on: bool) -> QAction:
        action = QAction(text, menu, checkable=True, checked=is_on)
        action.setToolTip(plain_text(tip))
        action.triggered.connect(lambda _checked=False: chosen())
        return action

    def _show(self) -> None:
        """Show the target on its button."""
        target, version = self._target
        if not target:
            self._toolbar.show_target(ui_text("window.target.standard"), ui_text("window.target.standard_tip"))
        elif target not in ENGINES:
            self._toolbar.show_target(target, ui_text("window.target.unknown_tip", target=target))
        else:
            name = f"{engine_record(target).engine} {version}".rstrip()
            self._toolbar.show_target(name, ui_text("window.target.tip", target=name))
        if self._target != self._warned_about:
            self._withdraw_warning()

    def _withdraw_warning(self) -> None:
        if self._warning is not None:
            self._session.notification_withdrawn.emit(self._warning)
            self._warning = None

    def _compare(self) -> None:
        """Compare the target of an opened document with the installed engine, and say if they differ."""
        self._withdraw_warning()
        target, version = self._warned_about = self._target
        if target and target not in ENGINES:
            text = ui_text("window.target.unknown", target=target)
            self._warn(text, ui_text("window.target.use_standard"), lambda: self.choose(""))
        elif target:
            record = engine_record(target)
            installed = record.installed_version
            if installed and version and not is_same_version(installed, version):
                text = ui_text("window.target.differs", engine=record.engine, version=version, installed=installed)
                button = ui_text("window.target.use_installed", installed=installed)
                self._warn(text, button, lambda: self.choose(target, installed))

    def _warn(self, text: str, button: str, action: Callable[[], object]) -> None:
        self._warning = Notification("window", text, severity="warning", button=button, action=action)
        self._session.notification_raised.emit(self._warning)


def _version_text(record: EngineRecord, version: str) -> str:
    if is_same_version(version, record.installed_version):
        return ui_text("window.target.installed", version=version)
    if is_same_version(version, record.version):
        return ui_text("window.target.examined", version=version)
    return version
