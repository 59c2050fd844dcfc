"""Which arguments run a subcommand, and which open the window."""

from __future__ import annotations

import sys
from types import SimpleNamespace

import pytest
from catalogue_texts import shows

from app.entry import main


def ended(command, arguments):
    """Return the exit code, also where argparse ends the command."""
    try:
        return command(arguments)
    except SystemExit as leave:
        return leave.code or 0


@pytest.mark.parametrize(
    "arguments",
    [[], ["some.turnstile"], ["--theme", "dark", "some.turnstile"], ["rules.gbnf"], ["RULES.GBNF"], ["--size=800x600"]],
)
def test_a_file_or_an_option_of_the_window_opens_it(monkeypatch, arguments):
    opened = []
    monkeypatch.setitem(sys.modules, "app.main", SimpleNamespace(main=lambda given: opened.append(given) or 7))
    assert main(arguments) == 7
    assert opened == [arguments]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--version"], 0),
        (["-V"], 0),
        (["--help"], 0),
        (["--print-completion=bash"], 0),
        (["check", "--notation", "regex", "--grammar", "a"], 0),
        (["check", "--notation", "regex", "--grammar", "("], 1),
        (["nonsense"], 2),
    ],
)
def test_a_subcommand_opens_no_window(monkeypatch, capsys, arguments, code):
    monkeypatch.setitem(sys.modules, "app.main", None)
    assert ended(main, arguments) == code
    assert not shows(capsys.readouterr().err, "cli.window.negative")


def test_a_window_that_cannot_open_says_why(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "app.main", None)
    assert main([]) == 1
    assert shows(capsys.readouterr().err, "cli.window.no_qt")
