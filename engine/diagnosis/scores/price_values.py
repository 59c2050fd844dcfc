"""The price of a grammar as values that the window receives; see `grammar_price` and `key_order`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import fsum, sqrt
from typing import Final, NamedTuple

from engine.decoding.values import Bounds
from engine.notations.editing import Edit
from engine.source import Span

_Z: Final = 1.959963984540054  # the quantile 0.975 of the normal distribution
_STUDENT: Final = (12.70620, 4.302653, 3.182446, 2.776445, 2.570582)  # of Student's with 1 to 5 degrees of freedom


class PriceCause(StrEnum):
    """The kind of what asks a price."""

    PART = "part"  # a keyword of a schema, by its JSON Pointer, or another part of the text
    RULE = "rule"
    OPTION = "option"  # a compile option, such as that of white space
    FORM = "form"  # no JSON text goes on like this
    END = "end"  # the text has to end


class PricedStep(NamedTuple):
    """A step of an output.

    Attributes:
        output: the index of the output.
        step: the number of steps before it.
        nats: bounds of its price.
        token: the most probable token that the grammar forbids, or its name; empty if unknown.
        p: the probability of that token.
        is_proved: whether that token would be allowed without the cause.
    """

    output: int
    step: int
    nats: Bounds
    token: bytes
    p: float
    is_proved: bool


@dataclass(frozen=True, slots=True)
class PricedPart:
    """A part of the grammar, or a rule of JSON, with its price.

    Attributes:
        cause: its kind.
        name: the JSON Pointer of a keyword, the name of a rule or of an option, or the text of a part; else empty.
        span: its text in the grammar; None if it has none.
        nats: bounds of the sum over the steps that it is the cause of, for one output on average.
        steps: the number of these steps in all outputs.
        worst: the most expensive of them.
    """

    cause: PriceCause
    name: str
    span: Span | None
    nats: Bounds
    steps: int
    worst: PricedStep


@dataclass(frozen=True, slots=True)
class GrammarPrice:
    """The price of a grammar for some outputs.

    Attributes:
        outputs: the number of outputs.
        nats: bounds of the price of an output, on average.
        parts: what asks it, the most expensive first.
        unknown: the number of steps of which no probability is known; they are in no sum.
    """

    outputs: int
    nats: Bounds
    parts: tuple[PricedPart, ...]
    unknown: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean with its interval of 95%.

    Attributes:
        mean: the mean.
        low, high: the interval; None with fewer than two values.
        count: the number of values.
    """

    mean: float
    low: float | None
    high: float | None
    count: int

    @classmethod
    def of(cls, values: Sequence[float]) -> Estimate | None:
        """Return the mean of values with Student's interval; None without values."""
        count = len(values)
        if not count:
            return None
        mean = fsum(values) / count
        if count == 1:
            return cls(mean, None, None, 1)
        error = sqrt(fsum((value - mean) ** 2 for value in values) / (count - 1) / count)
        half = student_quantile(count - 1) * error
        return cls(mean, mean - half, mean + half, count)


def student_quantile(degrees: int) -> float:
    """Return the quantile 0.975 of Student's distribution (Abramowitz and Stegun 26.7.5; from a table if below 6)."""
    if degrees <= len(_STUDENT):
        return _STUDENT[degrees - 1]
    z, n = _Z, float(degrees)
    return (
        z
        + (z**3 + z) / (4 * n)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * n**4)
    )


@dataclass(frozen=True, slots=True)
class KeyPair:
    """Two keys of an object of a schema.

    Attributes:
        pointer: the JSON Pointer of the schema that declares them in `properties`; empty for the root.
        first, second: the keys, in the order that is asked about.
    """

    pointer: str
    first: str
    second: str


@dataclass(frozen=True, slots=True)
class OrderTrial:
    """The outputs of one order.

    Attributes:
        price: the mean price of an output, in nats; None if none ended.
        ended: the number of outputs that ended.
        greedy: the price of the most probable tokens; None if they did not end.
        greedy_text: their text.
    """

    price: Estimate | None
    ended: int
    greedy: float | None
    greedy_text: bytes


@dataclass(frozen=True, slots=True)
class OrderComparison:
    """Both orders of two keys.

    Attributes:
        keys: the keys.
        is_present: whether the schema has the first key before the second.
        asked: the order that was asked about.
        other: the other one.
        difference: how many more nats the order costs that was asked about, over pairs of outputs; None without pairs.
        samples: the number of outputs of each order.
        calls: the number of model calls.
        edit: the edit of the schema that makes the order that it does not have.
    """

    keys: KeyPair
    is_present: bool
    asked: OrderTrial
    other: OrderTrial
    difference: Estimate | None
    samples: int
    calls: int
    edit: Edit

    @property
    def greedy_difference(self) -> float | None:
        """Return how many more nats the asked order costs by the most probable tokens; None if it is not known."""
        if self.asked.greedy is None or self.other.greedy is None:
            return None
        return self.asked.greedy - self.other.greedy
