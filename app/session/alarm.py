"""Trouble that the user should hear of, with a way on."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

Place = Literal["window", "generation"]


@dataclass(frozen=True, slots=True)
class Alarm:
    """What a banner says.

    Attributes:
        place: where the banner opens: in the pane that failed, or over the whole window.
        text: what happened and what to do, in a sentence or two.
        details: in a pane, why it happened; over the window, a traceback or the like, folded away. Empty for none.
        button: what the one button says; empty for none.
        action: what it does.
        severity: how the banner looks.
    """

    place: Place
    text: str
    details: str = ""
    button: str = ""
    action: Callable[[], object] | None = None
    severity: Literal["error", "warning", "hint"] = "error"
