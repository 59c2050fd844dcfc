"""The entry point: which command runs, and how every failure ends.

Exit codes: 0 done, 1 a grammar, a model or a file is at fault (one line on stderr
says which), 2 the command line is, with a `--grammar-file` that cannot be read as
text. Nothing heavy is imported before it is known
that it will be used: `turnstile` alone goes straight to the window, and
`turnstile check` loads neither torch nor numba nor Qt.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

from engine.cli.output import MisuseError, complain, have_streams, use_utf8
from engine.source import CancelledError, EngineError, GrammarError
from engine.source.processes import protect_imports

DOCUMENT = ".turnstile"
OWN_OPTIONS = ("-h", "--help", "--version")
FAILED = 1
MISUSED = 2
INTERRUPTED = 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; `arguments` are those of the process by default."""
    if arguments is None:
        protect_imports()
    given = list(sys.argv[1:] if arguments is None else arguments)
    if _is_for_the_window(given):
        return _open_window(given)
    have_streams()
    use_utf8()
    try:
        code = _run(given)
        sys.stdout.flush()
    except BrokenPipeError:
        # Whoever read the output has enough. Python flushes once more on exit: let that find no pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILED
    except (KeyboardInterrupt, CancelledError):
        complain("cancelled")
        return INTERRUPTED
    return code


def _is_for_the_window(given: Sequence[str]) -> bool:
    """Nothing, a document, or an option of the window's own: those of the commands come after a command."""
    if not given or given[0].endswith(DOCUMENT):
        return True
    return given[0].startswith("-") and given[0] not in OWN_OPTIONS


def _run(given: Sequence[str]) -> int:
    from engine.cli.parser import build_parser

    try:
        arguments = build_parser().parse_args(given)
        code: int = arguments.run(arguments)
    except GrammarError as error:
        print(error, file=sys.stderr)
        return FAILED
    except EngineError as error:
        complain(str(error))
        return MISUSED if isinstance(error, MisuseError) else FAILED
    return code


def _open_window(given: Sequence[str]) -> int:
    """The window is another program that happens to share this command; the engine must not depend on it."""
    try:
        # Qt comes with the window's first use, and wants system libraries that a server lacks.
        return int(importlib.import_module("app.main").main(given) or 0)
    except ImportError as error:
        complain(f"the window cannot open: {error}; `turnstile --help` lists the commands that need no window")
        return FAILED
