"""The exit code of every command, for every way in which it can end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from catalogue_texts import shows
from command_line import run
from doubles_chat import ChatDouble
from random_model import RandomModel
from server_double import served

import engine.models
from engine.cli.exit_codes import COMMANDS, ExitCode, help_text
from engine.source import CancelledError

ROOT = Path(__file__).parents[3]
REGEX = ("--notation", "regex", "--grammar")
MODEL = ("--model", "any")

SUCCESS = {
    "generate": (*REGEX, "ab", *MODEL),
    "check": (*REGEX, "ab"),
    "step": (*REGEX, "ab", "--text", "a"),
    "explain": (*REGEX, "ab", "--text", "a"),
    "replay": (*REGEX, "ab", "--text", "ab"),
    "diagnose": ("--jsonl", "{complete}"),
    "mask": (*REGEX, "ab", *MODEL),
    "export": ("--to", "gbnf", *REGEX, "ab", "--output", "-"),
    "share": ("{document}", "--output", "-"),
    "bundle": ("{document}", "--output", "{bundle}"),
    "forced": (*REGEX, "ab", *MODEL),
    "sample": (*REGEX, "ab", *MODEL, "--strategy", "cars"),
    "price": (*REGEX, "ab", *MODEL, "--samples", "2"),
    "accuracy": (*REGEX, "ab", *MODEL, "--questions", "{questions}", "--max-tokens", "2"),
    "reduce": ("--check", f"'{sys.executable}' -c ''", "--notation", "json_schema", "{document}"),
    "audit": ("--tokenizer", str(ROOT / "resources/models/records")),
    "test": ("{document}",),
    "fuzz": ("{schema}", "--texts", "3"),
    "refactor": ("{old_schema}", "--do", "upgrade-draft"),
    "infer": ("{complete}",),
    "bench": (*REGEX, "ab", "--text", "ab", *MODEL, "--engines", "turnstile"),
    "diff": ("--engine", "turnstile", "--engine", "turnstile", *REGEX, "ab"),
    "probe-keywords": ("--engine", "turnstile"),
    "probe": ("{obeying}", "--way", "response_format"),
}
NEGATIVE = {
    "generate": (*REGEX, "aé", *MODEL),
    "check": (*REGEX, "(ab"),
    "step": (*REGEX, "ab", "--text", "b"),
    "explain": (*REGEX, "ab", "--text", "b"),
    "replay": (*REGEX, "ab", "--text", "a"),
    "diagnose": ("--jsonl", "{cut_off}"),
    "mask": (*REGEX, "ab", "--text", "b", *MODEL),
    "export": ("--to", "gbnf", *REGEX, r"[^\s\S]", "--output", "-"),
    "share": ("{broken}", "--output", "-"),
    "bundle": ("{broken}", "--output", "{bundle}"),
    "forced": (*REGEX, "ab", "--text", "b", *MODEL),
    "sample": (*REGEX, "ab", *MODEL, "--strategy", "rejection", "--max-tries", "1"),
    "price": (*REGEX, "[^\\s\\S]", *MODEL),
    "accuracy": (*REGEX, "[^\\s\\S]", *MODEL, "--questions", "{questions}"),
    "reduce": ("--check", f"'{sys.executable}' -c 'raise SystemExit(1)'", "--notation", "json_schema", "{document}"),
    "audit": (*MODEL, "--width", "7"),
    "test": ("{cases}",),
    "fuzz": ("{schema}", "--additional", "closed"),
    "refactor": ("{schema}", "--do", "upgrade-draft"),
    "infer": ("{cases}", "--to", "json_schema"),
    "bench": (*REGEX, "(ab", "--text", "ab", *MODEL),
    "diff": ("--engine", "xgrammar", *REGEX, "ab"),  # not installed either
    "probe-keywords": ("--engine", "xgrammar-open"),  # not installed by the extra `test`
    "probe": ("{ignoring}", "--way", "response_format"),
}
MISUSE = dict.fromkeys(COMMANDS, ("--nonsense",)) | {"share": ("{missing}", "--output", "-")}


@pytest.fixture(autouse=True)
def model(monkeypatch):
    monkeypatch.setattr(engine.models, "load_model", lambda spec, *, cancel=None: RandomModel())


@pytest.fixture
def files(tmp_path):
    with served(ChatDouble()) as obeying, served(ChatDouble(obeys=lambda _: False)) as ignoring:
        yield {"obeying": obeying.address, "ignoring": ignoring.address, **files_of(tmp_path)}


def files_of(tmp_path):
    document = tmp_path / "work.turnstile"
    document.write_text('{"format": "turnstile", "version": 1, "grammar": {"notation": "regex", "text": "ab"}}')
    broken = tmp_path / "broken.turnstile"
    broken.write_text("{")
    complete, cut_off = tmp_path / "complete.jsonl", tmp_path / "cut_off.jsonl"
    complete.write_text('{"notation": "regex", "grammar": "ab", "output": "ab"}')
    cut_off.write_text('{"notation": "regex", "grammar": "ab", "output": "a"}')
    cases = tmp_path / "cases.toml"
    cases.write_text('[[case]]\nnotation = "regex"\ngrammar = "ab"\naccept = ["a"]\n')
    questions = tmp_path / "questions.jsonl"
    questions.write_text('{"prompt": "A", "expected": "ab"}')
    schema = tmp_path / "schema.json"
    schema.write_text('{"type": "object", "properties": {"a": {"type": "integer"}}}')
    old_schema = tmp_path / "old_schema.json"
    old_schema.write_text('{"$schema": "http://json-schema.org/draft-07/schema#", "const": 1}')
    return {
        "questions": questions,
        "schema": schema,
        "old_schema": old_schema,
        "document": document,
        "cases": cases,
        "broken": broken,
        "complete": complete,
        "cut_off": cut_off,
        "bundle": tmp_path / "bug.zip",
        "missing": tmp_path / "missing.turnstile",
    }


def filled(arguments: tuple[str, ...], files: dict[str, Path | str]) -> list[object]:
    return [files.get(argument.strip("{}"), argument) for argument in arguments]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("cases", "code"), [(SUCCESS, ExitCode.SUCCESS), (NEGATIVE, ExitCode.NEGATIVE), (MISUSE, ExitCode.MISUSE)]
)
def test_each_command_ends_with_the_code_of_the_table(command, cases, code, files, capsys):
    assert run(command, *filled(cases[command], files)) == code
    err = capsys.readouterr().err
    if code == ExitCode.MISUSE:
        assert err.count("\n") <= 2, "one line, and a pointer to the help"
        assert command == "share" or err.endswith(f"see `turnstile {command} --help`\n")


@pytest.mark.parametrize("command", COMMANDS)
def test_an_interrupt_ends_each_command_with_130(command, files, monkeypatch, capsys):
    def interrupt(_arguments: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(f"engine.cli.{command.replace('-', '_')}.run", interrupt)
    assert run(command, *filled(SUCCESS[command], files)) == ExitCode.CANCELLED
    assert capsys.readouterr() == ("", "turnstile: cancelled\n")


def test_work_that_is_cancelled_ends_with_130(monkeypatch, capsys):
    def cancel(_arguments: object) -> int:
        raise CancelledError

    monkeypatch.setattr("engine.cli.check.run", cancel)
    assert run("check", *REGEX, "a") == ExitCode.CANCELLED
    assert capsys.readouterr() == ("", "turnstile: cancelled\n")


def test_a_generation_that_stopped_too_early(capsys):
    cut = ("generate", *REGEX, "[a-z]{9}", *MODEL, "--max-tokens", "2")
    assert run(*cut) == ExitCode.INCOMPLETE
    out, err = capsys.readouterr()
    assert len(out) == 2
    assert shows(err, "cli.generate.stopped.early", count=2)
    assert run(*cut, "--json") == ExitCode.INCOMPLETE
    assert json.loads(capsys.readouterr().out)["complete"] is False
    for more in ((), ("--json",)):
        assert run(*cut, "--require-complete", *more) == ExitCode.INCOMPLETE
        out, err = capsys.readouterr()
        assert out == ""
        assert shows(err, "cli.generate.stopped.early", count=2)


def test_a_text_that_matches_is_complete_wherever_it_stopped(capsys):
    assert run("generate", *REGEX, "[a-z]+", *MODEL, "--max-tokens", "2", "--require-complete") == ExitCode.SUCCESS
    out, err = capsys.readouterr()
    assert len(out) == 2
    assert err == ""


@pytest.mark.skipif(sys.platform == "win32", reason="sends POSIX signals")
@pytest.mark.parametrize(
    ("sent", "code", "told"),
    [
        (signal.SIGINT, ExitCode.CANCELLED, b"turnstile: cancelled\n"),
        (signal.SIGTERM, ExitCode.TERMINATED, b"turnstile: terminated\n"),
    ],
)
def test_a_signal_ends_the_process_with_its_code(sent, code, told):
    command = [sys.executable, "-c", BUSY, "check", *REGEX, "a"]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == b"busy\n"
        process.send_signal(sent)
        assert process.wait() == code
        assert process.stderr.read() == told


BUSY = """
import signal, sys
import engine.cli.check
from engine.cli.main import main

signal.signal(signal.SIGINT, signal.default_int_handler)  # a job in the background is started without it

def work(arguments):
    print("busy", flush=True)
    while True:
        pass

engine.cli.check.run = work
sys.exit(main())
"""


@pytest.mark.parametrize("command", ["program", *COMMANDS])
def test_every_help_has_the_table(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert run(*([command] if command in COMMANDS else []), "--help") == 0
    assert help_text(command) in capsys.readouterr().out


def test_misuse_points_to_the_help(capsys):
    for arguments in ((), ("--grammar", "a"), ("--notation", "nonsense", "--grammar", "a")):
        assert run("check", *arguments) == ExitCode.MISUSE
        first, second = capsys.readouterr().err.splitlines()
        assert first.startswith("turnstile check: error: ")
        assert second == "see `turnstile check --help`"


def test_an_illegal_prefix_is_a_verdict_in_json(capsys):
    for command in (("step",), ("explain",), ("mask", *MODEL), ("forced", *MODEL)):
        assert run(*command, *REGEX, "ab[0-9]", "--text", "abx", "--json") == ExitCode.NEGATIVE
        out, err = capsys.readouterr()
        assert err == ""
        found = json.loads(out)
        assert found["legal"] is False
        assert found["offset"] == 2
        assert found["expected"] == [[48, 57]]
        assert "0-9" in found["message"] or command[0] == "forced"
        assert found["spans"][0]["text"] == "[0-9]"
        assert run(*command, *REGEX, r"[^\s\S]", "--json") == ExitCode.NEGATIVE
        assert command[0] == "forced" or json.loads(capsys.readouterr().out)["legal"] is False


@pytest.mark.parametrize("option", ["-V", "--version"])
def test_the_version(option, capsys):
    assert run(option) == 0
    assert capsys.readouterr().out.startswith("turnstile ")
