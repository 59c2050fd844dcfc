"""The toolbar: document, notation, target and model as menus; then the steps; then the export.

In a narrow window the names come first: buttons lose their texts, rarer commands move into one menu, and only then are
the names elided, the longest of them first.
"""

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
from app.theme.mnemonics import without_mnemonic

_LONGEST_TITLE = 28
_SHORTEST_TITLE = 10  # characters of average width
_IN_MENU = ("run.over", "run.out", "run.breakpoint", "edit.palette")  # if the toolbar is narrow
_MENU_SIGN = " ▾"
_MODIFIED_SIGN = " •"


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
        rare = [
            self.addWidget(self._command_button(command_id, "", has_text=False))
            for command_id in _IN_MENU
            if command_id != "edit.palette"
        ]
        self.addSeparator()
        self.check_button = self._command_button("tests.check", "")
        self.addWidget(self.check_button)
        export = self._command_button("file.export", "")
        self.addWidget(export)
        self._first_to_shrink = (restart, back, export, self.check_button, self.run_button)
        named = (self.model_button, self.document_button, self.notation_button, self.target_button)
        self._titles = dict.fromkeys(named, "")
        self._fitted: tuple[object, ...] = ()
        spacer = QWidget()
        spacer.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.addWidget(spacer)
        rare.append(self.addWidget(self._command_button("edit.palette", "", has_text=False)))
        self._rare = tuple(rare)
        self.more_button, more_menu = _menu_button(ui_text("window.toolbar.more"), "ph.dots-three-vertical")
        self.more_button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonIconOnly)
        actions.fill(more_menu, lambda one: one.id in _IN_MENU)
        self._more = self.addWidget(self.more_button)
        self._more.setVisible(False)
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
        """Shorten the toolbar in steps until all of it is visible."""
        if not self.isVisible():
            return  # its width means nothing yet
        inputs = (self.width(), self.font(), *self._titles.values())
        if inputs == self._fitted:
            return
        self._fitted = inputs
        for button, title in self._titles.items():
            button.setText(title + _MENU_SIGN)
        every = len(self._first_to_shrink)
        for icons, has_icons, has_rare in (
            (0, True, True),
            (2, True, True),  # Restart and Back are recognisable by their icons
            (4, True, True),
            (4, False, True),
            (4, False, False),
            (every, False, False),
        ):
            if self._missing(icons, has_icons=has_icons, has_rare=has_rare) <= 0:
                return
        self._elide_titles(self._missing(every, has_icons=False, has_rare=False))

    def _elide_titles(self, missing: int) -> None:
        """Limit the names to the largest common width with which the toolbar is narrower by some pixels."""
        widths = {button: button.fontMetrics().horizontalAdvance(title) for button, title in self._titles.items()}
        shortest = self.fontMetrics().averageCharWidth() * _SHORTEST_TITLE
        wanted, limit = sum(widths.values()) - missing, max(widths.values())
        while limit > shortest and sum(min(width, limit) for width in widths.values()) > wanted:
            limit -= 1
        for button, title in self._titles.items():
            if widths[button] > limit:
                name = title.removesuffix(_MODIFIED_SIGN)
                sign = title[len(name) :] + _MENU_SIGN
                metrics = button.fontMetrics()
                left = limit - metrics.horizontalAdvance(title[len(name) :])
                button.setText(metrics.elidedText(name, Qt.TextElideMode.ElideRight, left) + sign)

    def _reserve_run_width(self) -> None:
        """Reserve the width of the longer text of Run and Pause, so that its neighbours do not move."""
        run = self.run_button
        if run.toolButtonStyle() is Qt.ToolButtonStyle.ToolButtonIconOnly:
            run.setMinimumWidth(0)
            return
        flag, metrics = Qt.TextFlag.TextShowMnemonic, run.fontMetrics()
        texts = [metrics.size(flag, text).width() for text in (*_run_texts(), run.text())]
        run.setMinimumWidth(run.sizeHint().width() + max(texts) - texts[-1])

    def _missing(self, icons: int, *, has_icons: bool, has_rare: bool) -> int:
        """Return how many pixels are missing in a form of the toolbar, which it has afterwards.

        Args:
            icons: the number of the buttons that shrink without their texts.
            has_icons: whether names have icons.
            has_rare: whether rare commands have buttons of their own.
        """
        beside, alone = Qt.ToolButtonStyle.ToolButtonTextBesideIcon, Qt.ToolButtonStyle.ToolButtonIconOnly
        for index, button in enumerate(self._first_to_shrink):
            button.setToolButtonStyle(alone if index < icons else beside)
        for button in self._titles:
            button.setToolButtonStyle(beside if has_icons else Qt.ToolButtonStyle.ToolButtonTextOnly)
        for shown in self._rare:
            shown.setVisible(has_rare)
        self._more.setVisible(not has_rare)
        self._reserve_run_width()
        layout = self.layout()
        assert layout is not None
        layout.invalidate()
        return self.sizeHint().width() - self.width()

    def show_document(self, title: str, *, is_modified: bool) -> None:
        """Show the document's title; a dot marks it as modified."""
        self.document_button.setToolTip(
            plain_text(ui_text("window.toolbar.modified", title=title) if is_modified else title)
        )
        self._set_title(self.document_button, f"{_shortened(title)}{_MODIFIED_SIGN if is_modified else ''}")

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
        self._actions.set_title("run.run", _run_texts()[is_running])
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
            title = without_mnemonic(action.text())
            button.setText(title.rstrip("…"))
            button.setToolTip(action.toolTip())
            button.setAccessibleName(title)
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
