"""JSON texts near a given one: each has one or two values changed, by the numbers and strings that the schema names.

A random change seldom meets a bound. So numbers are drawn from those of the schema, one less and one more, and strings
and arrays are made one longer than the bounds that it names.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any, Final

_LONGEST: Final = 2_000
"""The largest length of a string or array that is made to exceed a bound."""
_SCALARS: Final[tuple[Any, ...]] = (None, True, False, 0, 1, -1, 0.5, "", "a", "0", [], {})
_Change = Callable[[Any], Any]


class JsonMutator:
    """Makes texts near JSON texts; equal seeds make equal texts.

    Args:
        schema: the schema as JSON data, whose numbers and strings are used.
        seed: the seed.
    """

    def __init__(self, schema: Any, seed: int) -> None:
        parts = list(_parts(schema))
        whole = [part for part in parts if isinstance(part, int) and not isinstance(part, bool)]
        self._numbers: list[Any] = sorted({near for one in whole for near in (one - 1, one, one + 1)})
        self._numbers += [part for part in parts if isinstance(part, float)]
        self._lengths = [one for one in self._numbers if isinstance(one, int) and 0 < one <= _LONGEST]
        self._strings = sorted({part for part in parts if isinstance(part, str)})
        self._draw = random.Random(f"mutants:{seed}")

    def mutants(self, text: str, count: int) -> Iterator[str]:
        """Yield texts near a JSON text; none if it is no JSON.

        Args:
            text: the text.
            count: the number of texts, of which some may be equal.
        """
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            return
        for _ in range(count):
            changed = self._changed(value)
            if self._draw.random() < 0.3:
                changed = self._changed(changed)
            with suppress(ValueError):  # a number that Python reads as infinite
                yield json.dumps(changed, ensure_ascii=False, separators=(",", ":"), allow_nan=False)

    def _changed(self, value: Any) -> Any:
        draw = self._draw
        if isinstance(value, dict) and value and draw.random() < 0.7:
            key = draw.choice(list(value))
            return {**value, key: self._changed(value[key])}
        if isinstance(value, list) and value and draw.random() < 0.7:
            at = draw.randrange(len(value))
            return [*value[:at], self._changed(value[at]), *value[at + 1 :]]
        return draw.choice([*self._changes(value), self._other])(value)

    def _other(self, _: Any) -> Any:
        return self._draw.choice([*_SCALARS, *self._numbers, *self._strings])

    def _changes(self, value: Any) -> list[_Change]:
        """Return the changes of a type of value."""
        if isinstance(value, dict):
            return [self._without_member, self._with_member]
        if isinstance(value, list):
            return [self._repeated, self._without_item, self._longer_array]
        if isinstance(value, str):
            return [self._longer_string, self._other_character, self._shorter_string]
        if isinstance(value, bool) or value is None:
            return []
        return [self._near_number, lambda number: number + 1, lambda number: -number, lambda number: number + 0.5]

    def _without_member(self, value: dict[str, Any]) -> Any:
        gone = self._draw.choice(list(value)) if value else ""
        return {key: member for key, member in value.items() if key != gone}

    def _with_member(self, value: dict[str, Any]) -> Any:
        return {**value, self._draw.choice(["zz", *self._strings]): self._draw.choice(_SCALARS)}

    def _repeated(self, value: list[Any]) -> Any:
        return [*value, self._draw.choice(value) if value else 0]

    def _without_item(self, value: list[Any]) -> Any:
        return value[:-1]

    def _longer_array(self, value: list[Any]) -> Any:
        length = self._draw.choice(self._lengths or [len(value) + 1])
        return (
            (value or [0]) * length if length <= 1 else [*value, *((value or [0])[-1:] * max(1, length - len(value)))]
        )

    def _longer_string(self, value: str) -> Any:
        length = self._draw.choice(self._lengths or [len(value) + 1])
        return value + (value[-1:] or "a") * max(1, length - len(value))

    def _other_character(self, value: str) -> Any:
        at = self._draw.randrange(len(value)) if value else 0
        return value[:at] + self._draw.choice("a0 é-") + value[at + 1 :]

    def _shorter_string(self, value: str) -> Any:
        return value[: self._draw.randrange(len(value))] if value else "a"

    def _near_number(self, value: Any) -> Any:
        return self._draw.choice(self._numbers or [value])


def _parts(value: Any) -> Iterator[Any]:
    """Yield all scalars and keys of JSON data."""
    pending = [value]
    while pending:
        here = pending.pop()
        if isinstance(here, dict):
            yield from here
            pending += here.values()
        elif isinstance(here, list):
            pending += here
        else:
            yield here
