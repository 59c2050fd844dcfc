"""Completion scripts, run by the shells that they are for."""

from __future__ import annotations

import os
import pty
import re
import select
import shutil
import subprocess
from pathlib import Path

import pytest

from engine.cli.completion import SHELLS
from engine.cli.exit_codes import COMMANDS
from engine.cli.main import main

GUARD_S = 60.0


@pytest.fixture
def script(tmp_path: Path, capsys) -> dict[str, Path]:
    found = {}
    for shell in SHELLS:
        with pytest.raises(SystemExit, match="0"):
            main(["--print-completion", shell])
        found[shell] = tmp_path / f"completion.{shell}"
        found[shell].write_text(capsys.readouterr().out)
    (tmp_path / "grammar.gbnf").write_text("")
    return found


def needs(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed: apt install {shell}")


def in_bash(script: Path, *words: str) -> list[str]:
    program = (
        'source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($#-1)); _turnstile; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    command = ["bash", "--norc", "-c", program, "bash", str(script), "turnstile", *words]
    done = subprocess.run(command, cwd=script.parent, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


def in_fish(script: Path, line: str) -> list[str]:
    home = {**os.environ, "HOME": str(script.parent), "XDG_CONFIG_HOME": str(script.parent)}
    command = ["fish", "--no-config", "-c", f"source {script}; complete -C '{line}'"]
    done = subprocess.run(command, cwd=script.parent, env=home, capture_output=True, text=True, check=True)
    return [found.partition("\t")[0] for found in done.stdout.splitlines()]


CASES = [
    ("che", {"check"}, {"generate"}),
    ("check --nota", {"--notation"}, {"--grammar"}),
    ("check --notation g", {"gbnf"}, {"regex"}),
    ("export --to saf", {"safetensors"}, {"svg"}),
    ("check --grammar-file gram", {"grammar.gbnf"}, {"check"}),
    ("share gram", {"grammar.gbnf"}, {"--output"}),
    ("mask --model gram", {"grammar.gbnf"}, {"--text"}),
    ("--print-completion z", {"zsh"}, {"bash"}),
    ("gram", {"grammar.gbnf"}, {"check"}),
]


@pytest.mark.parametrize(("line", "expected", "unexpected"), CASES)
def test_bash_completes(line, expected, unexpected, script):
    needs("bash")
    found = set(in_bash(script["bash"], *line.split()))
    assert expected <= found
    assert not unexpected & found


@pytest.mark.parametrize(("line", "expected", "unexpected"), CASES)
def test_fish_completes(line, expected, unexpected, script):
    needs("fish")
    found = set(in_fish(script["fish"], f"turnstile {line}"))
    assert expected <= found
    assert not unexpected & found


@pytest.mark.parametrize("line", ["check", "generate", "bench"])
def test_no_option_is_missing(line, script):
    needs("bash")
    found = in_bash(script["bash"], line, "--")
    assert {"--notation", "--grammar", "--json"} <= set(found)


def test_every_command_is_known(script):
    needs("bash")
    assert set(COMMANDS) <= set(in_bash(script["bash"], ""))


@pytest.mark.parametrize(
    ("typed", "completed"),
    [
        ("che", "turnstile check "),
        ("check --notat", "turnstile check --notation "),
        ("export --to saf", "turnstile export --to safetensors "),
        ("share gram", "turnstile share grammar.gbnf "),
    ],
)
def test_zsh_completes(typed, completed, script):
    needs("zsh")
    setup = (
        f"PS1='rea''dy '; unset zle_bracketed_paste; autoload -Uz compinit; compinit -D -u; source {script['zsh']}\n"
    )
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        ["zsh", "-f", "-i"],
        cwd=script["zsh"].parent,
        env={**os.environ, "TERM": "dumb"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    ) as process:
        os.close(theirs)
        try:
            os.write(ours, setup.encode())
            _read_until(ours, "ready")
            os.write(ours, f"turnstile {typed}\t".encode())
            _read_until(ours, completed)
        finally:
            process.kill()
            os.close(ours)


def _read_until(terminal: int, expected: str) -> None:
    """Read what a shell draws until the text is there; only a shell that does nothing meets the guard."""
    shown = ""
    while expected not in re.sub("\x1b\\[[0-9;?]*[a-zA-Z]|[\r\x07]|.\b", "", shown):
        ready, _, _ = select.select([terminal], [], [], GUARD_S)
        assert ready, repr(shown)
        shown += os.read(terminal, 4096).decode(errors="replace")
