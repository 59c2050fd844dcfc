"""Offers another model for a grammar whose text the current model cannot begin.

The first run's model knows the 65 characters of some plays. A user who pastes a schema there reaches a dead end at
once, and should not have to know that the vocabulary is the cause.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QObject

from app.display_text import shown
from app.panes.generation import GenerationPane
from app.session import Session
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
        session.decoding.viewed.connect(self._update)

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
        position, model, drawn = view.position, view.model, self._session.compiling.good
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
