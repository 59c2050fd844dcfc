"""The model menu: known models, and others from disk; its button shows the progress of loading.

A banner offers another model for a grammar whose text the current model cannot begin. The first run's model knows the
65 characters of some plays; a user who pastes a schema there reaches a dead end at once, and should not have to know
that the vocabulary is the cause.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog, QInputDialog, QMenu, QWidget

from app.display_text import shown
from app.panes.generation import GenerationPane
from app.session import Session
from app.settings import Settings
from app.theme.labels import plain_text
from app.window.toolbar import Toolbar
from app.workers.decode_messages import DecodeView
from engine.decoding.values import Finish, Position

_SPEC, _TITLE = "records", "Records"  # bundled, and with a token for every byte


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
            model = view.model.name[:1].upper() + view.model.name[1:] if view.model else ""
            self._pane.show_banner(
                f"{model} cannot write this text",
                reason,
                severity="warning",
                button=f"Use {_TITLE}",
                action=lambda: self._open_model(_SPEC),
            )
        elif self._pane.banner.detail_label.text() == before:
            self._pane.show_banner("")

    def _why(self, view: DecodeView) -> str:
        """Return why the model can write nothing at all; empty if it can, or if the vocabulary is not the cause."""
        position, model, drawn = view.position, view.model, self._session.compiling.last_good
        if position is None or model is None or model.spec == _SPEC or self._session.decoding.model_is_loading:
            return ""
        is_stuck = position.finish is Finish.DEAD_END and not position.output and not view.dead_end
        if not is_stuck or drawn is None or not drawn.dfa.states:
            return ""
        return _reason(position, model.vocabulary_size)


def _reason(position: Position, tokens: int) -> str:
    if position.forced_bytes:
        return f"It begins with “{shown(position.forced_bytes)}”, and none of the model's {tokens:,} tokens does."
    return f"None of the model's {tokens:,} tokens begins a text that matches."


class ModelMenu(QObject):
    """Fills the toolbar's model menu and shows the model on its button."""

    def __init__(self, toolbar: Toolbar, session: Session, settings: Settings, window: QWidget) -> None:
        super().__init__(window)
        self._toolbar, self._session, self._settings, self._window = toolbar, session, settings, window
        self._decoding = session.decoding
        toolbar.model_menu.aboutToShow.connect(lambda: self.fill(toolbar.model_menu))
        session.decoding.view_changed.connect(lambda _view: self._update_button())
        session.activity_changed.connect(lambda _text, done, total: self._update_button(done, total))
        self._update_button()

    def fill(self, menu: QMenu) -> None:
        """List the models that can be loaded."""
        from engine.models.load import known_models

        menu.clear()
        served = self._decoding.view.model
        for info in known_models():
            size = "" if info.available_offline or not info.size_bytes else f"  ({info.size_bytes / 1e6:,.0f} MB)"
            action = menu.addAction(f"{info.title}{size}")
            action.setToolTip(plain_text(info.description))
            action.setCheckable(True)
            action.setChecked(served is not None and served.spec == info.spec)
            action.triggered.connect(lambda _checked=False, spec=info.spec: self.open(spec))
        menu.addSeparator()
        menu.addAction("Open folder…").triggered.connect(self._choose_folder)
        menu.addAction("Open GGUF file…").triggered.connect(self._choose_file)
        menu.addAction("From the Hugging Face Hub…").triggered.connect(self._choose_id)
        menu.addAction("Open tokenizer alone…").triggered.connect(self._choose_tokenizer)
        if self._decoding.model_is_loading:
            menu.addSeparator()
            menu.addAction("Cancel loading").triggered.connect(self._decoding.cancel_model)

    def open(self, spec: str) -> None:
        """Load a model, and use it for later starts."""
        self._settings.change(model=spec)
        self._decoding.open_model(spec)

    def _update_button(self, done: int = 0, total: int | None = None) -> None:
        view: DecodeView = self._decoding.view
        if self._decoding.model_is_loading:
            share = f" {done / total:.0%}" if total else "…"
            still = f"; {view.model.name} serves until it is ready" if view.model else ""
            self._toolbar.show_model(f"Loading{share}", f"Loading {self._decoding.spec}{still}")
        elif view.model is None:
            self._toolbar.show_model("Choose a model", "No model is loaded")
        else:
            title = view.model.name[:1].upper() + view.model.name[1:]
            self._toolbar.show_model(title, f"{title}: {view.model.vocabulary_size:,} tokens")

    def _choose_folder(self) -> None:
        folder = QFileDialog.getExistingDirectory(self._window, "Open a transformers model")
        if folder:
            self.open(folder)

    def _choose_file(self) -> None:
        path, _ = QFileDialog.getOpenFileName(self._window, "Open a GGUF model", "", "GGUF models (*.gguf)")
        if path:
            self.open(path)

    def _choose_id(self) -> None:
        name, is_given = QInputDialog.getText(self._window, "Model", "Name on the Hugging Face Hub:")
        if is_given and name.strip():
            self.open(name.strip())

    def _choose_tokenizer(self) -> None:
        known = "Tokenizers (*.json *.tiktoken *.model);;All files (*)"
        path, _ = QFileDialog.getOpenFileName(self._window, "Open a tokenizer: every token is as likely", "", known)
        if path:
            self.open(f"uniform:{path}")
