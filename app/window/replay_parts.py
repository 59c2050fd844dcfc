"""Pieces of the dialog that checks an output: its tokens as chips, its buttons, places in its text."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtWidgets import QPushButton

from app.models.wording import shown, token_text
from app.panes.generation.chip import Chip, ChipKind
from engine.diagnosis.verdict import ReplayedToken, TokenState, Verdict
from engine.source import Span

_KINDS = {
    TokenState.LEGAL: ChipKind.REPLAYED,
    TokenState.END: ChipKind.REPLAYED,
    TokenState.BEYOND: ChipKind.REPLAYED,
    TokenState.ILLEGAL: ChipKind.ILLEGAL,
}


def push_button(text: str, tip: str, slot: Callable[[], object]) -> QPushButton:
    """A button that Return in a field does not press."""
    button = QPushButton(text)
    button.setToolTip(tip)
    button.setAutoDefault(False)
    button.clicked.connect(slot)
    return button


def chip(token: ReplayedToken, index: int) -> Chip:
    """A token of an output as a chip; no model was asked for it."""
    kind = ChipKind.FORCED if token.forced else _KINDS[token.state]
    return Chip(
        id=index,
        text=token_text(token.data, token.name, token.token_id or 0),
        kind=kind,
        p=None,
        is_name=bool(token.name),
        ahead=token.state is TokenState.BEYOND,
        breaks=token.data.endswith(b"\n"),
        tip=partial(_tip, token, index),
    )


def _tip(token: ReplayedToken, index: int) -> str:
    number = "" if token.token_id is None else f"   id {token.token_id}"
    told = {
        TokenState.LEGAL: "forced: the grammar left no choice" if token.forced else "legal",
        TokenState.ILLEGAL: "the grammar does not allow it",
        TokenState.BEYOND: "behind the first illegal one: not judged",
        TokenState.END: "ends the output",
    }[token.state]
    text = token.name or shown(token.data)
    return f"token {index + 1}, byte {token.start:,}: {text}{number}\n{told}"


def span_of(found: Verdict) -> tuple[Span, ...]:
    """The places of the grammar that a verdict is about."""
    if found.failure is not None:
        return found.failure.spans
    at_end = next((circle for circle in found.circles if circle.at_end), None)
    return at_end.spans if at_end is not None else ()


def units(data: bytes) -> int:
    """How many of Qt's characters some bytes are: UTF-16 units."""
    return len(data.decode("utf-8", "replace").encode("utf-16-le", "surrogatepass")) // 2
