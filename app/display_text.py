"""How numbers and tokens are written, in tables, headlines and tool tips alike."""

from __future__ import annotations

import re
from functools import lru_cache

from engine.decoding.values import Candidate, Chat, Finish, Position
from engine.matching.byte_descriptions import Ranges, byte_prose
from engine.source.number_format import duration, percent, percent_brief, percent_column
from engine.vocabulary.visible import visible

__all__ = [
    "MINUS",
    "candidate_text",
    "change_column",
    "characters",
    "context_full",
    "count",
    "duration",
    "end_text",
    "in_line",
    "megabytes",
    "percent",
    "percent_brief",
    "percent_column",
    "prompt_text",
    "shown",
    "token_text",
    "unmarked",
]

_CODE = re.compile(r"(`+) ?(.+?) ?\1(?!`)")  # as in Markdown: code that holds backticks stands between more of them
_RANGE = re.compile(r"`(.-.)`")
MINUS = "\N{MINUS SIGN}"

shown = lru_cache(maxsize=65_536)(visible)  # a trace repeats its tokens, and a table its rows


def in_line(data: bytes) -> str:
    """Text in one line: all that cannot be seen is marked, but for blanks between words."""
    text = shown(data)
    inner = text.strip("␣")
    if not inner:
        return text
    start = text.index(inner)
    return text[:start] + inner.replace("␣", " ") + text[start + len(inner) :]


def unmarked(text: str) -> str:
    """Prose in which backticks hold code, for a label that knows no fonts: the code stands in quotation marks."""
    return _CODE.sub(r"“\2”", text)


def characters(ranges: Ranges) -> str:
    """What may stand at a place, for a label that knows no fonts: `a-z, “:” or a space`; a range needs no quotes."""
    return unmarked(_RANGE.sub(r"\1", byte_prose(ranges)))


def change_column(before: float, after: float) -> str:
    """The way from one probability to another, in percentage points with its sign."""
    points = (after - before) * 100
    digits = f"{abs(points):.1f}"
    if digits == "0.0":
        return digits
    return ("+" if points > 0 else MINUS) + digits


def token_text(token: bytes | None, name: str, token_id: int) -> str:
    """A token for a table or a chip: its bytes made visible, or its name, or its id."""
    if name:
        return name
    return shown(token) if token else f"#{token_id}"


def candidate_text(candidate: Candidate) -> str:
    """The same of a candidate."""
    return token_text(candidate.token, candidate.name, candidate.token_id)


def prompt_text(prompt: str | Chat) -> str:
    """A prompt in one line; empty for an empty one."""
    if isinstance(prompt, Chat):
        said = [f"{role}: {text}" for role, text in prompt.messages]
        prompt = " · ".join([*said, f"assistant: {prompt.assistant_prefix}"] if prompt.assistant_prefix else said)
    return " ".join(prompt.split())


def context_full(position: Position) -> str:
    """Say that a model's context is full, and how long it is."""
    length = f" of {position.context.length:,} tokens" if position.context is not None else ""
    return f"The model's context{length} is full"


def end_text(position: Position) -> str:
    """Say in a few words how a generation ended; empty while it has not."""
    match position.finish:
        case Finish.STOP:
            return "Complete" if position.accepting else "Ended, though the output is no full match"
        case Finish.LENGTH:
            return "Budget used up"
        case Finish.CONTEXT:
            return context_full(position)
        case Finish.DEAD_END:
            return "Dead end"
    return ""


def count(number: int, noun: str) -> str:
    """A number with its noun: "1 token", "2,000 tokens"."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def megabytes(size: int) -> str:
    """A size as users of a download read it, in decimal megabytes."""
    value = size / 1_000_000
    return f"{value:.1f}" if value < 10 else f"{value:.0f}"


CLOSE_OBJECTS = "Allow declared properties only"
"""The button that closes the objects of a JSON Schema where an export needs that."""
CLOSE_OBJECTS_TIP = (
    "Read the schema as if every object that does not name additionalProperties forbade them. Undo brings them back"
)
