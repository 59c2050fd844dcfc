"""The model menu: known models, and others from disk; its button shows the progress of loading.

A banner offers another model for a grammar whose text the current model cannot begin. The first run's model knows the
65 characters of some plays; a user who pastes a schema there reaches a dead end at once, and should not have to know
that the vocabulary is the cause.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QInputDialog, QMenu, QWidget

from app.catalogue import capitalised, ui_text
from app.commands import Commands
from app.display_text import shown
from app.panes.generation.pane import GenerationPane
from app.session import Session
from app.settings import BYTE_MODEL, Settings
from app.theme.labels import plain_text
from app.window.toolbar import Toolbar
from app.workers.requests.decode import DecodeView
from engine.decoding.values import Finish, Position

_TITLE = "Records"  # of `BYTE_MODEL`
_SERVERS = 4  # in the menu


class ModelOffer(QObject):
    """Opens a banner in the generation pane, and closes it when it no longer applies."""

    def __init__(
        self, session: Session, pane: GenerationPane, open_model: Callable[[str], object], parent: QObject
    ) -> None:
        super().__init__(parent)
        self._session, self._pane, self._open_model = session, pane, open_model
        self._shown_reason = ""
        session.decoding.view_changed.connect(self._update)

    def _update(self, view: DecodeView) -> None:
        reason = self._why(view)
        if reason == self._shown_reason:
            return
        before, self._shown_reason = self._shown_reason, reason
        if reason:
            model = capitalised(view.model.name) if view.model else ""
            self._pane.show_banner(
                ui_text("window.model.unsuitable", name=model),
                reason,
                severity="warning",
                button=ui_text("window.model.use", name=_TITLE),
                action=lambda: self._open_model(BYTE_MODEL),
            )
        elif self._pane.banner.detail_label.text() == before:
            self._pane.show_banner("")

    def _why(self, view: DecodeView) -> str:
        """Return why the model can write nothing at all; empty if it can, or if the vocabulary is not the cause."""
        position, model, drawn = view.position, view.model, self._session.compiling.last_good
        if position is None or model is None or model.spec == BYTE_MODEL or self._session.decoding.model_is_loading:
            return ""
        is_stuck = position.finish is Finish.DEAD_END and not position.output and not view.dead_end
        if not is_stuck or drawn is None or not drawn.dfa.states:
            return ""
        return _reason(position, model.vocabulary_size)


def _reason(position: Position, tokens: int) -> str:
    if position.forced_bytes:
        return ui_text("window.model.no_token_for", text=shown(position.forced_bytes), tokens=tokens)
    return ui_text("window.model.no_token", tokens=tokens)


class ModelMenu(QObject):
    """Fills the toolbar's model menu and shows the model on its button."""

    def __init__(
        self, toolbar: Toolbar, commands: Commands, session: Session, settings: Settings, window: QWidget
    ) -> None:
        super().__init__(window)
        self._commands = commands
        self._toolbar, self._session, self._settings, self._window = toolbar, session, settings, window
        self._decoding = session.decoding
        toolbar.model_menu.aboutToShow.connect(lambda: self.fill(toolbar.model_menu))
        session.decoding.view_changed.connect(lambda _view: self._update_button())
        session.activity_changed.connect(lambda _text, done, total: self._update_button(done, total))
        self._update_button()

    def fill(self, menu: QMenu) -> None:
        """List the models that can be loaded."""
        from engine.models.load import known_models  # start-up time: the menu is built when first shown

        menu.clear()
        served = self._decoding.view.model
        for info in known_models():
            is_here = info.available_offline or not info.size_bytes
            action = menu.addAction(
                info.title
                if is_here
                else ui_text("window.model.size", name=info.title, megabytes=info.size_bytes / 1e6),
                partial(self.open, info.spec),
            )
            action.setToolTip(plain_text(info.description))
            action.setCheckable(True)
            action.setChecked(served is not None and served.spec == info.spec)
        menu.addSeparator()
        menu.addAction(ui_text("window.model.open_folder"), self._choose_folder)
        menu.addAction(ui_text("window.model.open_gguf"), partial(self._choose_gguf, ""))
        menu.addAction(ui_text("window.model.open_llama_cpp"), partial(self._choose_gguf, "llama.cpp:"))
        menu.addAction(ui_text("window.model.open_hub"), self._choose_id)
        menu.addAction(ui_text("window.model.open_tokenizer"), self._choose_tokenizer)
        menu.addSeparator()
        for spec in self._settings.preferences.servers[:_SERVERS]:
            action = menu.addAction(plain_text(spec), partial(self.open, spec))
            action.setCheckable(True)
            action.setChecked(served is not None and served.spec == spec)
        menu.addAction(self._commands["run.attach"])
        menu.addSeparator()
        menu.addAction(self._commands["run.audit"])
        if self._decoding.model_is_loading:
            menu.addSeparator()
            menu.addAction(ui_text("window.model.cancel_loading"), self._decoding.cancel_model)

    def open(self, spec: str) -> None:
        """Load a model, and use it for later starts."""
        self._settings.change(model=spec)
        self._decoding.open_model(spec)

    def _update_button(self, done: int = 0, total: int | None = None) -> None:
        view: DecodeView = self._decoding.view
        if self._decoding.model_is_loading:
            text, spec = ui_text("window.model.loading"), self._decoding.spec
            if total:
                text = ui_text("window.model.loading_share", share=done / total)
            if view.model:
                tip = ui_text("window.model.loading_tip_still", spec=spec, name=view.model.name)
            else:
                tip = ui_text("session.activity.open_model", spec=spec)
            self._toolbar.show_model(text, tip)
        elif view.model is None:
            self._toolbar.show_model(ui_text("window.model.none"), ui_text("window.model.none_tip"))
        else:
            title = capitalised(view.model.name)
            self._toolbar.show_model(title, ui_text("window.model.tip", name=title, tokens=view.model.vocabulary_size))

    def _choose_folder(self) -> None:
        folder = QFileDialog.getExistingDirectory(self._window, ui_text("window.model.folder_title"))
        if folder:
            self.open(folder)

    def _choose_gguf(self, prefix: str) -> None:
        title = ui_text("window.model.llama_cpp_title" if prefix else "window.model.gguf_title")
        known = ui_text("window.model.gguf_filter", patterns="*.gguf")
        path, _ = QFileDialog.getOpenFileName(self._window, title, "", known)
        if path:
            self.open(prefix + path)

    def _choose_id(self) -> None:
        name, is_given = QInputDialog.getText(
            self._window, ui_text("window.model.hub_title"), ui_text("window.model.hub_label")
        )
        if is_given and name.strip():
            self.open(name.strip())

    def _choose_tokenizer(self) -> None:
        known = ui_text("window.model.tokenizer_filter", patterns="*.json *.tiktoken *.model")
        path, _ = QFileDialog.getOpenFileName(self._window, ui_text("window.model.tokenizer_title"), "", known)
        if path:
            self.open(f"uniform:{path}")
