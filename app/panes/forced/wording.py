"""Names and descriptions of strategies and texts in this pane."""

from __future__ import annotations

from engine.decoding.pipeline_settings import Strategy
from engine.vocabulary.visible import visible

STRATEGY_TEXTS = {
    Strategy.NONE: "query the model for each token",
    Strategy.LONGEST: "are taken in the longest tokens",
    Strategy.OWN: "are taken as the tokenizer writes them",
    Strategy.PROBABLE: "are taken as the model finds them likeliest",
}
STRATEGY_NAMES = {
    Strategy.NONE: "None",
    Strategy.LONGEST: "Longest tokens",
    Strategy.OWN: "Tokenizer's own",
    Strategy.PROBABLE: "Most probable",
}
STRATEGY_TIPS = {
    Strategy.NONE: "Query the model for each token, under the mask",
    Strategy.LONGEST: "Fewest tokens, though often in a spelling that the model has never read",
    Strategy.OWN: "What the model has read; where a run begins or ends within a word, its boundary is healed",
    Strategy.PROBABLE: "The model is asked which spelling it likes, so nothing is saved: to see what the others cost",
}
_LONGEST = 18


def begins(data: bytes, most: int = _LONGEST) -> str:
    """Return the beginning of a text, in one line."""
    text = visible(data)
    return text if len(text) <= most else text[: most - 1] + "…"


def continuation(data: bytes) -> str:
    """Return the title of a continuation's column."""
    return begins(data) if data else "the end"


def part_of(data: bytes) -> str:
    """Return the part of a run that is compared first: its first word, else all of it."""
    text = data.decode("utf-8", "ignore")
    words = "".join(char if char.isalpha() or char == "_" else " " for char in text).split()
    return next((word for word in words if len(word) > 1), text)
