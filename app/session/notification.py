"""Trouble that the user should hear of, with a way on."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

Place = Literal["window", "generation"]


@dataclass(frozen=True, slots=True)
class Notification:
    """What a banner says.

    Attributes:
        place: where the banner opens: in the pane that failed, or over the whole window.
        text: what happened and what to do, in a sentence or two.
        details: in a pane, why it happened; over the window, a traceback or the like, folded away. Empty for none.
        button: what the one button says; empty for none.
        action: what it does.
        other_button, other_action: of a second button, beside it.
        severity: how the banner looks.
    """

    place: Place
    text: str
    details: str = ""
    button: str = ""
    action: Callable[[], object] | None = None
    severity: Literal["error", "warning", "hint"] = "error"
    other_button: str = ""
    other_action: Callable[[], object] | None = None


def post_mortem(process: str, cause: str, lost: Sequence[object]) -> str:
    """What is known of a process that died, for a report: what it was asked for, and what it ran on.

    Texts that the user wrote may be long, and private: a request is told by its kind alone.
    """
    kinds = [type(request).__name__ for request in lost]
    asked = ", ".join(dict.fromkeys(kinds)) or "nothing"
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    return (
        f"process: {process}\nended by: {cause}\nunder way: {asked}\non: Python {platform.python_version()}, {system}"
    )
