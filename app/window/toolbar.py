"""The toolbar: document, notation, target and model as menus; then the steps; then the export."""

from __future__ import annotations

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolBar, QToolButton, QWidget

from app import theme
from app.catalogue import ui_text
from app.commands import Commands
from app.theme.buttons import give_menu, icon_button
from app.theme.icons import icon
from app.theme.labels import plain_text

_LONGEST_TITLE = 28
_SHORTEST_TITLE = 8
_MENU_SIGN = " ▾"


class Toolbar(QToolBar):
    """Shows the current document, notation, target and model; the window fills their menus but the document's."""

    def __init__(self, actions: Commands) -> None:
        super().__init__(ui_text("window.toolbar.name"))
        self.setObjectName("toolbar")
        self.setMovable(False)
        self.setFloatable(False)
        self.setIconSize(QSize(16, 16))
        self.toggleViewAction().setEnabled(False)
        self._actions = actions
        self.document_button, document_menu = _menu_button(ui_text("window.toolbar.document"), "ph.file-text")
        for command_id in ("file.new", "file.open", "file.gallery", "file.save", "file.save_as", "file.share"):
            document_menu.addAction(actions[command_id])
        self.notation_button, self.notation_menu = _menu_button(ui_text("window.toolbar.notation"), "ph.code")
        self.target_button, self.target_menu = _menu_button(ui_text("window.toolbar.target"), "ph.target")
        self.model_button, self.model_menu = _menu_button(ui_text("window.toolbar.model"), "ph.cpu")
        self.step_button = self._command_button("run.step", "primary")
        self.step_button.setIcon(icon("ph.play", theme.Role.ON_ACCENT))
        self.run_button = self._command_button("run.run", "outlined")
        for widget in (self.document_button, self.notation_button, self.target_button):
            self.addWidget(widget)
        self.addSeparator()
        self.addWidget(self.model_button)
        self.addSeparator()
        restart, back = self._command_button("run.restart", ""), self._command_button("run.back", "")
        self.addWidget(restart)
        self.addWidget(back)
        self.addWidget(self.step_button)
        self.addWidget(self.run_button)
        self.until_button = self._command_button("run.until", "", has_text=False)
        self.addWidget(self.until_button)
        for command_id in ("run.over", "run.out", "run.breakpoint"):
            self.addWidget(self._command_button(command_id, "", has_text=False))
        self.addSeparator()
        self.check_button = self._command_button("tests.check", "")
        self.addWidget(self.check_button)
        export = self._command_button("file.export", "")
        self.addWidget(export)
        self._first_to_shrink = (restart, back, export, self.check_button)
        named = (self.model_button, self.document_button, self.notation_button, self.target_button)
        self._titles = dict.fromkeys(named, "")
        self._fitted: tuple[object, ...] = ()
        spacer = QWidget()
        spacer.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.addWidget(spacer)
        self.addWidget(self._command_button("edit.palette", "", has_text=False))
        for more in self.findChildren(QToolButton, "qt_toolbar_ext_button"):  # the menu of buttons that do not fit
            more.setIcon(icon("ph.caret-double-right"))
            more.setAccessibleName(ui_text("window.toolbar.more"))
            more.setFocusPolicy(Qt.FocusPolicy.TabFocus)

    def showEvent(self, event: QShowEvent) -> None:
        """Fit the texts: the first size came before it was visible."""
        super().showEvent(event)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show some buttons as icons only if they do not fit; that is better than hiding them behind an arrow."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Remove texts of buttons, the icons beside names, then elide names, longest first, until all are visible."""
        if not self.isVisible():
            return  # its width means nothing yet
        inputs = (self.width(), self.font(), *self._titles.values())
        if inputs == self._fitted:
            return
        self._fitted = inputs
        self._reserve_run_width()
        for button, title in self._titles.items():
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
            button.setText(title + _MENU_SIGN)
        missing = 0
        for icons in (0, 2, len(self._first_to_shrink)):  # Restart and Back are recognisable by their icons
            missing = self._missing(icons)
            if missing <= 0:
                return
        for button in self._titles:
            button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
        missing = self._missing(len(self._first_to_shrink))
        for button in sorted(self._titles, key=lambda button: button.sizeHint().width(), reverse=True):
            if missing <= 0:
                return
            title, metrics = self._titles[button], button.fontMetrics()
            width = max(metrics.horizontalAdvance(title) - missing, metrics.averageCharWidth() * _SHORTEST_TITLE)
            before = button.sizeHint().width()
            button.setText(metrics.elidedText(title, Qt.TextElideMode.ElideMiddle, width) + _MENU_SIGN)
            missing -= before - button.sizeHint().width()

    def _reserve_run_width(self) -> None:
        """Reserve the width of the longer text of Run and Pause, so that its neighbours do not move."""
        run = self.run_button
        flag, metrics = Qt.TextFlag.TextShowMnemonic, run.fontMetrics()
        texts = [metrics.size(flag, text).width() for text in (*_run_texts(), run.text())]
        run.setMinimumWidth(run.sizeHint().width() + max(texts) - texts[-1])

    def _missing(self, icons: int) -> int:
        """Return how many pixels are missing if the first `icons` of the buttons that shrink lose their texts."""
        for index, button in enumerate(self._first_to_shrink):
            is_icon = index < icons
            button.setToolButtonStyle(
                Qt.ToolButtonStyle.ToolButtonIconOnly if is_icon else Qt.ToolButtonStyle.ToolButtonTextBesideIcon
            )
        layout = self.layout()
        assert layout is not None
        layout.invalidate()
        return self.sizeHint().width() - self.width()

    def show_document(self, title: str, *, is_modified: bool) -> None:
        """Show the document's title; a dot marks it as modified."""
        self.document_button.setToolTip(
            plain_text(ui_text("window.toolbar.modified", title=title) if is_modified else title)
        )
        self._set_title(self.document_button, f"{_shortened(title)}{' •' if is_modified else ''}")

    def show_notation(self, text: str, tip: str) -> None:
        """Show the notation."""
        self.notation_button.setToolTip(plain_text(tip))
        self._set_title(self.notation_button, text)

    def show_target(self, text: str, tip: str) -> None:
        """Show the engine that the grammar is written for."""
        self.target_button.setToolTip(plain_text(tip))
        self._set_title(self.target_button, text)

    def show_model(self, text: str, tip: str) -> None:
        """Show the model, or the progress of loading."""
        self.model_button.setToolTip(plain_text(tip))
        self._set_title(self.model_button, _shortened(text))

    def _set_title(self, button: QToolButton, title: str) -> None:
        self._titles[button] = title
        if not self.isVisible():
            button.setText(title + _MENU_SIGN)
        self._fit()

    def show_running(self, is_running: bool) -> None:
        """Change Run to Pause during a run."""
        self._actions["run.run"].setText(_run_texts()[is_running])
        self._actions["run.run"].setIcon(icon("ph.pause" if is_running else "ph.fast-forward"))
        self._reserve_run_width()

    def _command_button(self, command_id: str, role: str, *, has_text: bool = True) -> QToolButton:
        """Create a button that mirrors a command; unlike a default action, it may have its own icon colour."""
        action = self._actions[command_id]
        button = QToolButton()
        button.setObjectName(f"button:{command_id}")
        style = Qt.ToolButtonStyle.ToolButtonTextBesideIcon if has_text else Qt.ToolButtonStyle.ToolButtonIconOnly
        button.setToolButtonStyle(style)
        if role:
            button.setProperty("role", role)
        button.clicked.connect(action.trigger)

        def mirror() -> None:
            button.setText(action.text().rstrip("…"))
            button.setToolTip(action.toolTip())
            button.setAccessibleName(action.text())
            if button.hasFocus() and not action.isEnabled():
                button.clearFocus()  # else Space, meant for another step, would open Export
            button.setEnabled(action.isEnabled())
            if role != "primary":
                button.setIcon(action.icon())

        action.changed.connect(mirror)
        mirror()
        return button


def _menu_button(name: str, icon_name: str) -> tuple[QToolButton, QMenu]:
    button = icon_button(icon_name, name)
    button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    menu = QMenu(button)
    menu.setToolTipsVisible(True)
    give_menu(button, menu)
    return button, menu


def _run_texts() -> tuple[str, str]:
    return ui_text("commands.run.run.title"), ui_text("window.toolbar.pause")


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_TITLE else text[: _LONGEST_TITLE - 1] + "…"
