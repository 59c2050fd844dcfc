"""The entry point of `turnstile` without a subcommand: the options of the window.

Importing this module must stay cheap and free of Qt: a spawned worker imports the main module again before it does
anything else.
"""

from __future__ import annotations

import argparse
import logging
import multiprocessing
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from app.catalogue import ui_text
from engine.cli.arguments import ArgumentParser
from engine.cli.exit_codes import help_text
from engine.source.processes import protect_imports

_log = logging.getLogger(__name__)

_QT_MESSAGE = 300  # characters

DEFAULT_SCREENSHOT = "turnstile.png"


def main(argv: Sequence[str] | None = None) -> int:
    """Open the window; without a display, run the session offscreen. Return the exit code."""
    multiprocessing.freeze_support()
    options = _parser().parse_args(sys.argv[1:] if argv is None else argv)
    is_offscreen = options.screenshot is not None or not has_display()
    if is_offscreen:
        os.environ["QT_QPA_PLATFORM"] = "offscreen"
    from app.application import run  # workers import this module again, without Qt

    return run(options, is_offscreen=is_offscreen)


def has_display() -> bool:
    """Return whether a window can be shown; only X11 and Wayland desktops can lack a display."""
    if os.name == "nt" or sys.platform == "darwin":
        return True
    named = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")
    return any(os.environ.get(name) for name in named)


def _parser() -> argparse.ArgumentParser:
    parser = ArgumentParser("turnstile", description=ui_text("window.start.about"), epilog=help_text("window"))
    parser.add_argument(
        "documents", nargs="*", type=Path, metavar="document", help=ui_text("window.start.fragment.document")
    )
    parser.add_argument(
        "--screenshot",
        type=Path,
        metavar="PATH",
        help=ui_text("window.start.fragment.screenshot"),
    )
    parser.add_argument("--theme", choices=("system", "light", "dark"), help=ui_text("window.start.fragment.theme"))
    parser.add_argument(
        "--size", type=_size, default=(1600, 1000), metavar="SIZE", help=ui_text("window.start.fragment.size")
    )
    parser.add_argument("-session", help=argparse.SUPPRESS)  # added by Qt when an X11 session manager restarts it
    parser.add_argument("--exit-after-paint", action="store_true", help=argparse.SUPPRESS)  # for the start benchmark
    return parser


def _size(text: str) -> tuple[int, int]:
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal() and int(width) > 0 and int(height) > 0):
        raise argparse.ArgumentTypeError(ui_text("window.start.fragment.not_a_size", text=repr(text)))
    return int(width), int(height)


if __name__ == "__main__":
    protect_imports()
    sys.exit(main())
