"""The command line within the process of the tests."""

from __future__ import annotations

from engine.cli.main import main


def run(*arguments: object) -> int:
    """Run a command, given as the texts of its arguments, and return its exit code, also where argparse ends it."""
    try:
        return main([str(argument) for argument in arguments])
    except SystemExit as leave:
        return int(leave.code or 0)
