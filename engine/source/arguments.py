"""Checks of the arguments of public functions, whose errors name the argument."""

from __future__ import annotations

from collections.abc import Iterable
from operator import index


def require(name: str, value: object, types: type | tuple[type, ...], expected: str) -> None:
    """Raise a TypeError that names the argument if a value has the wrong type.

    Args:
        name: the name of the argument.
        value: its value.
        types: the accepted types.
        expected: the accepted types in words, such as "an integer".
    """
    if not isinstance(value, types):
        raise TypeError(f"{name} must be {expected}, not {type(value).__name__}")


def require_choice(name: str, value: object, choices: Iterable[object]) -> None:
    """Raise a ValueError that names the argument if a value is not one of the choices.

    Args:
        name: the name of the argument.
        value: its value.
        choices: the allowed values.
    """
    allowed = list(choices)
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(map(repr, allowed))}, not {value!r}")


def require_count(name: str, value: object, minimum: int = 0) -> int:
    """Return a value as an integer.

    Args:
        name: the name of the argument, for messages.
        value: its value.
        minimum: the smallest allowed value.

    Raises:
        TypeError: the value is not an integer.
        ValueError: the value is below `minimum`.
    """
    try:
        number = index(value)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"{name} must be an integer, not {type(value).__name__}") from None
    if number < minimum:
        raise ValueError(f"{name} must be at least {minimum}, not {number}")
    return number
