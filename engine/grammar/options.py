"""Options of a compile."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, get_args, get_origin, get_type_hints

from engine.source import Limits
from engine.source.arguments import require, require_choice


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """Options of a compile; a notation ignores those of the others.

    Attributes:
        dialect: regex: `python` as in the `re` module, or `ecma` as in ECMAScript with the u flag.
        whitespace: JSON Schema: `compact` (none), `one-space` (one after each comma and colon, none elsewhere),
            `flexible` (at most one space, or a newline and up to 32 spaces or tabs, wherever JSON allows it), or `any`.
        escapes: JSON Schema: the escapes allowed in strings. `shortest`: only those that JSON requires, in their
            shortest form and with lower-case digits, so that a string has one encoding; string values that no keyword
            constrains may also have `\\uXXXX` for characters above U+007F, and `\\/`. `any`: all escapes of JSON.
        numbers: JSON Schema: the forms allowed for enumerated numbers and integers. `plain`: in digits, without an
            exponent and without trailing zeros of a fraction, so that each has one form. `any`: every form of JSON,
            as the standard allows; verdicts on imported outputs use it.
        property_order: JSON Schema: whether declared properties must come in the declared order.
        additional: JSON Schema: whether objects are open if `additionalProperties` is absent.
        unenforced: JSON Schema: the severity of a keyword that cannot be enforced.
        draft: JSON Schema: the draft if `$schema` names none.
        limits: the limits of the compile and of the steps after it.
    """

    dialect: Literal["python", "ecma"] = "python"
    whitespace: Literal["compact", "one-space", "flexible", "any"] = "flexible"
    escapes: Literal["shortest", "any"] = "shortest"
    numbers: Literal["plain", "any"] = "plain"
    property_order: Literal["declared", "any"] = "declared"
    additional: Literal["open", "closed"] = "open"
    unenforced: Literal["error", "warn"] = "error"
    draft: Literal[4, 6, 7, 2019, 2020] = 2020
    limits: Limits = field(default_factory=Limits)

    def __post_init__(self) -> None:
        for name, choices in _CHOICES.items():
            require_choice(name, getattr(self, name), choices)
        require("limits", self.limits, Limits, "a Limits")


_CHOICES: Final[dict[str, tuple[object, ...]]] = {
    name: get_args(kind) for name, kind in get_type_hints(CompileOptions).items() if get_origin(kind) is Literal
}
"""The values of each option that has a fixed set of values."""
