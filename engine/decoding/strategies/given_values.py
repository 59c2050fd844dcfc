"""p(token | prefix, grammar) as values that the window receives; see `given_grammar`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple


class GivenShare(NamedTuple):
    """The probability of a token, given that the text will match.

    Attributes:
        low, high: proved bounds; equal where it is exact.
        estimate: an estimate from draws; None without enough of them, and where the bounds say as much.
        error: half of its interval of 95%.
    """

    low: float
    high: float
    estimate: float | None = None
    error: float = 0.0


@dataclass(frozen=True, slots=True)
class GivenShares:
    """The probabilities of the next tokens, given that the text will match.

    Attributes:
        shares: by token id; of tokens that are allowed and not listed, the most probable is below those listed.
        draws: the number of draws so far.
        is_exact: whether all of them are exact.
        is_done: whether the bounds will not become narrower.
        why_not: why nothing is known; empty if something is.
    """

    shares: Mapping[int, GivenShare] = field(default_factory=dict)
    draws: int = 0
    is_exact: bool = False
    is_done: bool = False
    why_not: str = ""
