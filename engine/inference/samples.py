"""Samples: the texts that a grammar is inferred from, and how a pasted text or a file is divided into them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final

from engine.notations.json_schema.json_tree import Json, JsonTextError, read_json
from engine.source import EngineError

MOST_SAMPLES: Final = 20_000
_LONGEST_SHOWN: Final = 60


class InferenceError(EngineError):
    """No grammar can be inferred; the text says why."""


class SampleForm(StrEnum):
    """How a text is divided into samples."""

    AUTO = "auto"
    """JSON if it is JSON or JSON lines, else lines."""
    JSON = "json"
    """The items of a JSON array, or one JSON value."""
    JSON_LINES = "json-lines"
    LINES = "lines"
    WHOLE = "whole"


@dataclass(frozen=True, slots=True)
class Samples:
    """Samples.

    Attributes:
        texts: the samples as written, each once, in order.
        counts: how often each occurs.
        values: their JSON values; None if they are no JSON. Numbers with a fraction or an exponent are decimals.
    """

    texts: tuple[str, ...]
    counts: tuple[int, ...]
    values: tuple[Any, ...] | None

    @property
    def count(self) -> int:
        """Return the number of samples."""
        return sum(self.counts)


def read_samples(text: str, form: SampleForm = SampleForm.AUTO) -> Samples:
    """Divide a text into samples.

    Args:
        text: the text; empty lines are no samples.
        form: how to divide it.

    Raises:
        InferenceError: there are none or too many, or they are not of this form.
    """
    if form is SampleForm.AUTO:
        for possible in (SampleForm.JSON, SampleForm.JSON_LINES):
            try:
                return read_samples(text, possible)
            except NotJsonError:
                continue
        form = SampleForm.LINES
    if form is SampleForm.JSON:
        root = _json(text.strip(), 0)
        listed = root.items if isinstance(root.value, list) and root.items else [root]
        base = text.strip()
        return _samples([base[one.span.start : one.span.end] for one in listed], is_json=True)
    lines = [text] if form is SampleForm.WHOLE else [line.removesuffix("\r") for line in text.split("\n")]
    lines = [line for line in lines if line.strip()]
    if form is SampleForm.JSON_LINES:
        for number, line in enumerate(lines, 1):
            _json(line, number)
    return _samples(lines, is_json=form is SampleForm.JSON_LINES)


class NotJsonError(InferenceError):
    """A sample is no JSON."""


def _json(text: str, number: int) -> Json:
    try:
        return read_json(text)
    except JsonTextError as error:
        reason = error.diagnostic.message
        raise NotJsonError("errors.inference.no_json", number=max(number, 1), reason=reason) from error


def _samples(texts: list[str], *, is_json: bool) -> Samples:
    if not texts:
        raise InferenceError("errors.inference.none")
    if len(texts) > MOST_SAMPLES:
        raise InferenceError("errors.inference.many", count=len(texts), limit=MOST_SAMPLES)
    counts: dict[str, int] = {}
    for text in texts:
        counts[text] = counts.get(text, 0) + 1
    values = tuple(map(_value, counts)) if is_json else None
    return Samples(tuple(counts), tuple(counts.values()), values)


def _value(text: str) -> Any:
    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise InferenceError("errors.inference.key_twice", sample=shortened(text))
        return found

    try:
        return json.loads(text, parse_float=Decimal, object_pairs_hook=members)
    except (ValueError, RecursionError) as error:
        raise InferenceError("errors.inference.unreadable", sample=shortened(text), reason=error) from error


def shortened(text: str) -> str:
    """Return a sample for a message."""
    return text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 1]}…"


def recurs(counts: dict[str, int]) -> bool:
    """Return whether few distinct texts recur, so that they are all that there are rather than examples."""
    total = sum(counts.values())
    return len(counts) <= _MOST_LISTED and total >= _LEAST_TOTAL and total >= 2 * len(counts)


_MOST_LISTED: Final = 12
_LEAST_TOTAL: Final = 4
