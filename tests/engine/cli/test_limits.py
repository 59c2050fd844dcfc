"""`--limit`, what an exceeded limit says, and the forecast of a large export."""

from __future__ import annotations

import json
import sys

import pytest
from catalogue_texts import shows
from command_line import run
from random_model import RandomModel

import engine.export.target
import engine.models
from engine.source import LimitExceededError, Limits
from engine.source.catalogue import catalogue_text

REGEX = ("--notation", "regex", "--grammar")


@pytest.fixture(autouse=True)
def model(monkeypatch):
    source = RandomModel()
    monkeypatch.setattr(engine.models, "load_model", lambda spec, *, cancel=None: source)
    return source


def test_a_limit_is_raised_and_the_diagnostic_says_how(capsys):
    long = "a" * 30
    assert run("check", *REGEX, long, "--limit", "source_length=20") == 1
    out = capsys.readouterr().out
    assert shows(out, "errors.limit.exceeded", what=catalogue_text("errors.limit.pattern_length"), given=30, limit=20)
    assert catalogue_text("errors.limit.remedy", name="source_length", value=40) in out
    assert run("check", *REGEX, long, "--limit", "source_length=20", "--limit", "source_length=40") == 0
    assert run("check", *REGEX, "a" * 1_000_001) == 1
    assert "--limit source_length=2000000" in capsys.readouterr().out
    assert (
        run("check", *REGEX, "a" * 1_000_001, "--limit", "source_length=2000000", "--limit", "instructions=2000000")
        == 0
    )


@pytest.mark.parametrize("command", ["generate", "check", "step", "explain", "replay", "mask", "export", "forced"])
def test_every_command_that_compiles_takes_it(command, capsys):
    needed = {
        "generate": ("--model", "any"),
        "replay": ("--text", "aaa"),
        "mask": ("--model", "any"),
        "export": ("--to", "gbnf", "--output", "-"),
        "forced": ("--model", "any"),
    }.get(command, ())
    assert run(command, *REGEX, "aaa", *needed, "--limit", "source_length=2") == 1
    out, err = capsys.readouterr()
    assert "--limit source_length=4" in out + err


def test_bench_and_share_take_it_too(tmp_path, capsys):
    assert run("bench", *REGEX, "aaa", "--text", "aaa", "--model", "any", "--limit", "source_length=2") == 1
    assert "--limit source_length=4" in capsys.readouterr().err
    assert run("bench", *REGEX, "aaa", "--limit", "10") == 2  # it was a number of seconds: that is --time-limit now
    assert "'10'" in capsys.readouterr().err
    document = tmp_path / "work.turnstile"
    document.write_text('{"format": "turnstile", "version": 1, "grammar": {"notation": "regex", "text": "aaa"}}')
    assert run("share", str(document), "--output", "-", "--limit", "source_length=2") == 0
    assert "--limit source_length=4" in capsys.readouterr().err


def test_a_limit_that_is_not_there_lists_those_that_are(capsys):
    for wrong in ("nonsense=3", "nesting", "nesting=x", "nesting=0"):
        assert run("check", *REGEX, "a", "--limit", wrong) == 2
    assert run("check", *REGEX, "a", "--limit", "nonsense=3") == 2
    err = capsys.readouterr().err
    assert all(name in err for name in ("source_length", "nesting", "table_states", "table_transitions"))


@pytest.mark.parametrize(("grammar", "name"), [("(" * 30 + "a" + ")" * 30, "nesting"), ("(a{5}){5}", "repetition")])
def test_limits_of_depth_and_counts_name_themselves(grammar, name, capsys):
    assert run("check", *REGEX, grammar, "--limit", f"{name}=10") == 1
    assert f"--limit {name}=N" in capsys.readouterr().out
    assert run("check", *REGEX, grammar, "--limit", f"{name}=1000") == 0


@pytest.mark.parametrize(
    ("to", "limit", "raised"),
    [("json", "table_states=3", 6), ("json", "table_transitions=3", 6), ("python", "table_states=3", 6)],
)
def test_the_limits_of_tables_are_raised_alike(to, limit, raised, tmp_path, capsys):
    name = limit.partition("=")[0]
    export = ("export", "--to", to, *REGEX, "[a-z]{5}", "--model", "any", "--output", str(tmp_path / "out"))
    assert run(*export, "--limit", limit) == 1
    assert f"raise it with --limit {name}=" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()
    assert run(*export, "--limit", f"{name}=1000") == 0


def test_what_is_written_is_read_back_whatever_its_size(tmp_path, capsys):
    """A grammar within the limit of input may have an export beyond it."""
    names = {f"property {number}": {"enum": ["x", "y"]} for number in range(12)}
    schema = json.dumps({"type": "object", "properties": names, "additionalProperties": False})
    file = tmp_path / "out.gbnf"
    small = ("--limit", f"source_length={len(schema)}")
    assert (
        run("export", "--to", "gbnf", "--notation", "json_schema", "--grammar", schema, *small, "--output", str(file))
        == 0
    )
    assert len(file.read_text()) > len(schema)
    assert shows(capsys.readouterr().err, "export.checked.walks")


def large(*more: str) -> int:
    return run("export", "--to", "json", *REGEX, "[a-z]{9}", "--model", "any", "--output", "-", *more)


def test_a_large_file_is_foretold_before_it_is_made(monkeypatch, capsys):
    assert large() == 0
    assert "expected" not in capsys.readouterr().err
    monkeypatch.setattr(engine.export.target, "LARGE", 100)
    assert large() == 0  # no terminal: nothing is asked
    assert capsys.readouterr().err.startswith(
        "turnstile: note: " + catalogue_text("export.report.fragment.forecast", size=0, transitions=234) + "\n"
    )
    assert large("--limit", "table_transitions=100") == 1
    assert shows(capsys.readouterr().err, "export.report.fragment.over_limit", transitions=234, limit=100, raised=468)


def test_the_size_of_a_large_file_is_printed_before_it_is_written(monkeypatch, tmp_path, capsys):
    file = tmp_path / "out.gbnf"
    export = ("export", "--to", "gbnf", *REGEX, "[a-z]{9}", "--output", str(file))
    assert run(*export) == 0
    assert "MB" not in capsys.readouterr().err
    monkeypatch.setattr("engine.cli.export.NOTED_FROM", 10)
    existed = []
    monkeypatch.setattr("engine.cli.export.print_note", lambda text: existed.append((text, file.exists())))
    file.unlink()
    assert run(*export) == 0
    assert existed[0] == (catalogue_text("cli.export.message.writing", size=0.0, path=file), False)


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 130), ("", 130)])
def test_on_a_terminal_it_is_asked_for(answer, code, monkeypatch, capsys):
    monkeypatch.setattr(engine.export.target, "LARGE", 100)
    for stream in (sys.stdin, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(sys.stdin, "readline", lambda: answer, raising=False)
    assert large() == code
    out, err = capsys.readouterr()
    assert shows(err, "cli.export.message.confirm")
    assert bool(out) == (code == 0)
    assert large("--yes") == 0
    assert not shows(capsys.readouterr().err, "cli.export.message.confirm")


def test_the_error_names_its_limit_in_another_process_too():
    import pickle

    error = LimitExceededError("errors.limit.configurations", given=11, limit=10, name="configurations")
    again = pickle.loads(pickle.dumps(error))
    remedy = catalogue_text("errors.limit.remedy", name="configurations", value=20)
    assert (again.name, again.remedy) == ("configurations", remedy)
    assert LimitExceededError("errors.limit.frames", given=3, limit=2).remedy == ""
    with pytest.raises(LimitExceededError) as caught:
        Limits().check("errors.limit.frames", 2, 1, "search")
    assert caught.value.name == "search"
