"""The part of an output that the drawn grammar has read: all of it, or, with zones, the part in the current zone."""

from __future__ import annotations

from app.workers.decode_messages import DecodeView


def grammar_prefix(view: DecodeView) -> bytes | None:
    """Return the bytes that the grammar has read; None before there is a position and outside of zones."""
    position = view.position
    if position is None:
        return None
    return position.output if view.pipeline.zones is None else position.grammar_text
