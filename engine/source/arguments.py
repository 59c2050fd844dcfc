"""Checks of the arguments of public functions: a wrong type is an error that names the argument."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index


def require(name: str, value: object, types: type | tuple[type, ...], wanted: str) -> None:
    """Raise a TypeError that names the argument if a value has another type."""
    if not isinstance(value, types):
        raise TypeError(f"{name} must be {wanted}, not {type(value).__name__}")


def require_choice(name: str, value: object, choices: Iterable[object]) -> None:
    """Raise a ValueError that names the argument if a value is none of the choices."""
    known = list(choices)
    if value not in known:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, known))}, not {value!r}")


def require_count(name: str, value: object, least: int = 0) -> int:
    """Return a value as an integer.

    Raises:
        TypeError: it is no integer.
        ValueError: it is below `least`.
    """
    try:
        number = index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {type(value).__name__}") from None
    if number < least:
        raise ValueError(f"{name} must be at least {least}, not {number}")
    return number
