"""What a compile can be told."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Literal, get_args, get_origin, get_type_hints

from engine.source import Limits
from engine.source.arguments import require, require_choice

NOTATIONS = ("regex", "gbnf", "json_schema")
"""The notations that compile, by the names that the command line and documents use."""


@dataclass(frozen=True, slots=True)
class CompileOptions:
    """Options of a compile; a notation ignores those of another.

    Attributes:
        dialect: of a regex: `python` as in the `re` module, or `ecma` as in ECMAScript with the u flag.
        whitespace: of a JSON Schema: `compact` (none), `one-space` (one behind each comma and colon, none elsewhere),
            `flexible` (at most one space, or a newline and up to 32 spaces or tabs, wherever JSON allows it), or `any`.
        escapes: of a JSON Schema: which escapes may stand in strings. `shortest`: those that JSON requires, in their
            shortest form and with lower-case digits, so that a string has one spelling; string values that no keyword
            constrains may also have `\\uXXXX` for characters above U+007F, and `\\/`. `any`: all that JSON has.
        numbers: of a JSON Schema: how numbers are written that a schema lists or calls integers. `plain`: in digits,
            without an exponent and without zeros at the end of a fraction, so that each has one spelling. `any`: in
            every form that JSON has, as the standard allows; verdicts on outputs from elsewhere use it.
        property_order: of a JSON Schema: whether declared properties come in their order.
        additional: of a JSON Schema: whether objects are open where `additionalProperties` is absent.
        unenforced: of a JSON Schema: what a keyword is that cannot be enforced.
        draft: of a JSON Schema: what it is read as where `$schema` names no draft.
        limits: how far the compile and the steps after it may go.
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
"""The values of each option that has a fixed list of them."""
