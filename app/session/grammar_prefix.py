"""Which part of an output the drawn grammar has read: all of it, or, with zones, the one that it rules."""

from __future__ import annotations

from app.workers.decode_messages import DecodeView


def grammar_prefix(view: DecodeView) -> bytes | None:
    """What leads to where the grammar stands; None where it does not rule, and before there is a position."""
    position = view.position
    if position is None:
        return None
    return position.output if view.pipeline.zones is None else position.grammar_text
