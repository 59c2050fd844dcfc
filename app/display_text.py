"""Formatting of numbers and tokens for tables, headlines and tool tips."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache, reduce

from app.catalogue import ui_text
from engine.decoding.values import Candidate, Chat, Finish, Position
from engine.matching.byte_descriptions import Ranges, byte_prose
from engine.source.number_format import UNKNOWN, duration, percent, percent_between, percent_brief, percent_column
from engine.vocabulary.visible import visible

__all__ = [
    "MINUS",
    "UNKNOWN",
    "alternatives",
    "candidate_text",
    "change_column",
    "characters",
    "context_full",
    "duration",
    "end_text",
    "in_line",
    "megabytes",
    "percent",
    "percent_between",
    "percent_brief",
    "percent_column",
    "prompt_text",
    "shown",
    "token_text",
    "unmarked",
]

_CODE = re.compile(r"(`+) ?(.+?) ?\1(?!`)")  # as in Markdown: code that contains backticks is delimited by more of them
_RANGE = re.compile(r"`(.-.)`")
MINUS = "\N{MINUS SIGN}"

shown = lru_cache(maxsize=65_536)(visible)  # a trace repeats its tokens, and a table its rows


def in_line(data: bytes) -> str:
    """Return a text in one line: invisible characters are marked, except for spaces between words."""
    text = shown(data)
    inner = text.strip("␣")
    if not inner:
        return text
    start = text.index(inner)
    return text[:start] + inner.replace("␣", " ") + text[start + len(inner) :]


def unmarked(text: str) -> str:
    """Replace the backticks around code by quotation marks, for labels without fonts."""
    return _CODE.sub(r"“\2”", text)


def characters(ranges: Ranges) -> str:
    """Return the allowed bytes for labels without fonts: `a-z, “:” or a space`; a range needs no quotes."""
    return unmarked(_RANGE.sub(r"\1", byte_prose(ranges)))


def change_column(before: float | None, after: float | None) -> str:
    """Return the difference of two probabilities in percentage points, with its sign; a sign for unknown ones."""
    if before is None or after is None:
        return UNKNOWN
    points = (after - before) * 100
    digits = f"{abs(points):.1f}"
    if digits == "0.0":
        return digits
    return ("+" if points > 0 else MINUS) + digits


def token_text(token: bytes | None, name: str, token_id: int) -> str:
    """Return a token for a table or a chip: its displayed bytes, or its name, or its id.

    Args:
        token: its bytes; None if it has none.
        name: its name; empty unless it is a special token.
        token_id: its id.
    """
    if name:
        return name
    return shown(token) if token else f"#{token_id}"


def candidate_text(candidate: Candidate) -> str:
    """Return a candidate's token for a table or a chip."""
    return token_text(candidate.token, candidate.name, candidate.token_id)


def prompt_text(prompt: str | Chat) -> str:
    """Return a prompt in one line; empty for an empty one."""
    if isinstance(prompt, Chat):
        messages = [f"{role}: {text}" for role, text in prompt.messages]
        prompt = " · ".join(
            [*messages, f"assistant: {prompt.assistant_prefix}"] if prompt.assistant_prefix else messages
        )
    return " ".join(prompt.split())


def context_full(position: Position) -> str:
    """Return a sentence about a full model context, with its length."""
    if position.context is None:
        return ui_text("common.generation.context_full")
    return ui_text("common.generation.context_of_full", tokens=position.context.length)


def end_text(position: Position) -> str:
    """Return in a few words how a generation ended; empty if it has not ended."""
    match position.finish:
        case Finish.STOP:
            return ui_text("common.generation.complete" if position.accepting else "common.generation.ended_early")
        case Finish.LENGTH:
            return ui_text("common.generation.budget")
        case Finish.CONTEXT:
            return context_full(position)
        case Finish.DEAD_END:
            return ui_text("common.generation.dead_end")
    return ""


def alternatives(texts: Sequence[str]) -> str:
    """Return texts joined by "or"."""
    return reduce(lambda first, second: ui_text("common.fragment.or", first=first, second=second), texts)


def megabytes(size: int) -> str:
    """Return a size in decimal megabytes, as download sizes are displayed."""
    value = size / 1_000_000
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"


def state_label(named: tuple[str, int]) -> str:
    """Return a name for a state of the drawing, given its rule, which may be empty, and its number."""
    rule, state = named
    return f"state {state} of {rule}" if rule else f"state {state}"
