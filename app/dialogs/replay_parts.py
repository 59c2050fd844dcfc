"""Helpers of the output check: tokens as chips, and highlights in the text."""

from __future__ import annotations

from functools import partial

from PySide6.QtGui import QTextCharFormat, QTextCursor, QTextDocument
from PySide6.QtWidgets import QTextEdit

from app import theme
from app.display_text import shown, token_text
from app.panes.generation.chip import Chip, ChipKind
from app.theme import Role
from engine.diagnosis.verdicts.verdict import ReplayedToken, ReplayedTokenState, Verdict
from engine.source import Span

_KINDS = {
    ReplayedTokenState.LEGAL: ChipKind.REPLAYED,
    ReplayedTokenState.END: ChipKind.REPLAYED,
    ReplayedTokenState.BEYOND: ChipKind.REPLAYED,
    ReplayedTokenState.ILLEGAL: ChipKind.ILLEGAL,
}


def chip(token: ReplayedToken, index: int) -> Chip:
    """Return a token of an output as a chip; it has no probabilities."""
    kind = ChipKind.FORCED if token.forced else _KINDS[token.state]
    return Chip(
        id=index,
        text=token_text(token.data, token.name, token.token_id or 0),
        kind=kind,
        p=None,
        is_name=bool(token.name),
        ahead=token.state is ReplayedTokenState.BEYOND,
        breaks=token.data.endswith(b"\n"),
        tip=partial(_tip, token, index),
    )


def _tip(token: ReplayedToken, index: int) -> str:
    number = "" if token.token_id is None else f"   id {token.token_id}"
    description = {
        ReplayedTokenState.LEGAL: "forced: the grammar left no choice" if token.forced else "legal",
        ReplayedTokenState.ILLEGAL: "the grammar does not allow it",
        ReplayedTokenState.BEYOND: "behind the first illegal one: not judged",
        ReplayedTokenState.END: "ends the output",
    }[token.state]
    text = token.name or shown(token.data)
    return f"token {index + 1}, byte {token.start:,}: {text}{number}\n{description}"


def span_of(found: Verdict) -> tuple[Span, ...]:
    """Return the source spans that a verdict is about."""
    if found.failure is not None:
        return found.failure.spans
    at_end = next((circle for circle in found.circles if circle.at_end), None)
    return at_end.spans if at_end is not None else ()


def start_of_failure(found: Verdict) -> int:
    """Return the offset of the illegal character, in UTF-16 units."""
    start = found.legal
    while 0 < start < len(found.data) and 0x80 <= found.data[start] < 0xC0:
        start -= 1  # a continuation byte: mark its character
    return _units(found.data[:start])


def marks(found: Verdict, document: QTextDocument, *, as_ids: bool) -> list[QTextEdit.ExtraSelection]:
    """Return the highlights of a verdict in an output: skipped text, the illegal character, and the text after it.

    Args:
        found: the verdict.
        document: the text.
        as_ids: whether the text is token ids, in which no character is highlighted.
    """
    dead, beyond = QTextCharFormat(), QTextCharFormat()
    dead.setBackground(theme.colour(Role.ERROR_FILL))
    dead.setForeground(theme.colour(Role.ERROR))
    dead.setUnderlineStyle(QTextCharFormat.UnderlineStyle.WaveUnderline)
    dead.setUnderlineColor(theme.colour(Role.ERROR))
    beyond.setForeground(theme.colour(Role.MUTED))
    selections = []
    if found.skipped is not None:
        selections.append(_selection(document, 0, _units(found.data[: found.skipped[0]]), dead))
    if found.failure is not None and not as_ids:
        start = start_of_failure(found)
        selections.append(_selection(document, start, start + 1, dead))
        selections.append(_selection(document, start + 1, _units(found.data), beyond))
    return selections


def _selection(document: QTextDocument, first: int, last: int, format_: QTextCharFormat) -> QTextEdit.ExtraSelection:
    selection = QTextEdit.ExtraSelection()
    end = document.characterCount() - 1
    cursor = QTextCursor(document)
    cursor.setPosition(min(first, end))
    cursor.setPosition(min(last, end), QTextCursor.MoveMode.KeepAnchor)
    selection.cursor = cursor
    selection.format = format_
    return selection


def _units(data: bytes) -> int:
    """Return the length of UTF-8 bytes in UTF-16 units, which Qt counts."""
    return len(data.decode("utf-8", "replace").encode("utf-16-le", "surrogatepass")) // 2
