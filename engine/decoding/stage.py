"""Declarations of the logits processors of a pipeline: name, texts, fields, and how each is built.

The dialog, the options of the command line, the summary of a pipeline and the stored document follow from the fields.
Declarations import neither numpy nor torch: the window reads them at its start.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engine.decoding.processors.mask_processor import RowMachine
    from engine.decoding.processors.shaping import Shape
    from engine.vocabulary import Vocabulary

Values = Mapping[str, Any]
"""The values of a stage's fields by name."""


@dataclass(frozen=True, slots=True)
class Field:
    """A setting of a stage, stored in documents under its name; `generation.field.NAME` is its title.

    Attributes:
        name: its name.
        type: `switch` (on with the stage), `line` (a line of text) or `number`; or a type for which dialog and command
            line have a widget and options apart: `budget`, `texts`, `biases`, `transitions`, `zones`.
        default: its value while the stage is off.
        option: its option on the command line.
        example: an input, shown in the empty field.
        least, most: the bounds of a number.
        open_below: whether the lower bound is excluded.
        widget_bounds: the bounds in the window, if narrower.
        step: the step of its widget.
        unit: the unit of a number.
        metavar: its value in the help of the command line.
        companion: a further setting with the same widget, if the type has one.
    """

    name: str
    type: str
    default: Any
    option: str
    example: str = ""
    least: float = 0
    most: float = 1_000_000
    open_below: bool = False
    widget_bounds: tuple[float, float] | None = None
    step: float = 1
    unit: str = ""
    metavar: str = "N"
    companion: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names under which its values are stored."""
        return (self.name, self.companion) if self.companion else (self.name,)

    def allows(self, value: float) -> bool:
        """Return whether a number is within the bounds."""
        return self.least <= value <= self.most and (value > self.least or not self.open_below)


@dataclass(frozen=True, slots=True)
class Stage:
    """A logits processor. A module under `stages` has one such object, named `STAGE`.

    Its texts are in the catalogue under `generation.stage.NAME`, with `_` for `-`: `name`, `about`,
    `fragment.missing` (if it has inputs), and `fragment.summary` (with its value, for a pipeline in one line).

    Attributes:
        name: its name in documents and in the order, which is that of its module.
        fields: its settings; it is on if one of them has not its default; a stage of the sampler, if the first one has
            not.
        machine: builds what removes tokens, from the values of the fields; None if it removes none.
        check: raises an `InvariantError` if values cannot be used with any vocabulary.
        shape: builds a function of a row of logits and the tokens so far; None if there is none.
        sampler_shape: as `shape`, for a stage whose values are `SamplerSettings`.
        applies_if_greedy: whether a stage of the sampler applies at a temperature of 0 too.
        is_enough: whether a text can be generated with this stage and without a grammar.
        has_switch: whether it can be off; the grammar's is on if there is a grammar.
    """

    name: str
    fields: tuple[Field, ...]
    machine: Callable[[Values, Vocabulary], RowMachine[Any]] | None = None
    shape: Callable[[Values, Vocabulary], Shape] | None = None
    sampler_shape: Callable[[Values], Shape] | None = None
    applies_if_greedy: bool = False
    check: Callable[[Values], object] | None = None
    is_enough: bool = False
    has_switch: bool = True

    @property
    def is_sampler(self) -> bool:
        """Return whether the values of its fields are `SamplerSettings`."""
        return self.sampler_shape is not None

    @property
    def field_names(self) -> tuple[str, ...]:
        """Return the names of all its settings."""
        return tuple(name for field in self.fields for name in field.names)
