"""Notifications of problems, with an action to continue."""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

Place = Literal["window", "generation"]


@dataclass(frozen=True, slots=True)
class Notification:
    """The contents of a banner.

    Attributes:
        place: where the banner opens: in the pane that failed, or across the window.
        text: what happened and what to do, in one or two sentences.
        details: in a pane, the cause; across the window, a traceback or the like, folded. May be empty.
        button: the label of the button; empty for none.
        action: the callback of the button.
        severity: the style of the banner.
        other_button, other_action: a second button beside the first.
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
    """Return a report about a process that died: its requests, the exit cause and the platform.

    Requests are listed by their type only, since texts of the user may be long and private.
    """
    kinds = [type(request).__name__ for request in lost]
    running = ", ".join(dict.fromkeys(kinds)) or "nothing"
    system = f"{platform.system()} {platform.release()} {platform.machine()}"
    return (
        f"process: {process}\nended by: {cause}\nunder way: {running}\non: Python {platform.python_version()}, {system}"
    )
