"""The command as a process: what it imports, and pipes that close."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from engine.source.catalogue import catalogue_text

ROOT = Path(__file__).parents[3]
REGEX = ["--notation", "regex", "--grammar"]


def python(*arguments: str, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, capture_output=True, text=True, check=False, **options
    )


def test_check_loads_nothing_heavy():
    code = (
        "import sys; from engine.cli.main import main; main(sys.argv[1:]);"
        "print([m for m in ('torch', 'transformers', 'numba', 'PySide6', 'app') if m in sys.modules])"
    )
    assert python("-c", code, "check", *REGEX, "[a-z]+").stdout == "[]\n"


def test_the_entry_point_loads_not_even_numpy():
    code = "import sys, app.entry; print([m for m in ('numpy', 'argparse') if m in sys.modules])"
    assert python("-c", code).stdout == "[]\n"


def test_a_reader_that_leaves_early_is_no_error():
    command = [sys.executable, "-m", "engine.cli", "export", "--to", "dot", *REGEX, "[a-z]{1,9}", "--output", "-"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()  # long before the process has started
        assert process.stderr.read() == b""
        assert process.wait() == 1


CLOSED = f"turnstile: {catalogue_text('cli.message.closed_output')}\n"


@pytest.mark.skipif(sys.platform == "win32", reason="closes descriptors as a POSIX shell does")
@pytest.mark.parametrize(
    ("arguments", "closed", "code", "told"),
    [
        (["check", *REGEX, "a+"], ">&-", 0, ""),  # it has nothing to print
        (["check", *REGEX, "a+", "--json"], ">&-", 1, CLOSED),
        (["--help"], ">&-", 1, CLOSED),
        (["check", *REGEX, "(a"], ">&-", 1, CLOSED),
        (["check", *REGEX, "(a"], "2>&-", 1, ""),
        (["check", *REGEX, "(a"], ">&- 2>&-", 1, ""),
        (["nonsense"], "2>&-", 2, ""),
    ],
)
def test_a_closed_stream_is_no_bug(arguments, closed, code, told):
    shell = ["sh", "-c", f'"$@" {closed}', "sh", sys.executable, "-m", "engine.cli", *arguments]
    result = subprocess.run(shell, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (code, told)


def test_results_are_utf_8_in_any_locale():
    result = python("-m", "engine.cli", "check", *REGEX, "é(", env={"LC_ALL": "C", "PYTHONUTF8": "0"})
    assert result.returncode == 1
    assert result.stdout.startswith("<grammar>:1:2: ")
