"""`turnstile accuracy`: counts with and without a grammar, and what is wrong with a file."""

from __future__ import annotations

import json

import pytest
from command_line import run
from random_model import RandomModel

import engine.models
from engine.cli.exit_codes import ExitCode

GRAMMAR = ("--notation", "regex", "--grammar", "ab", "--model", "any", "--max-tokens", "2")


@pytest.fixture(autouse=True)
def model(monkeypatch):
    monkeypatch.setattr(engine.models, "load_model", lambda spec, *, cancel=None: RandomModel())


def ask(tmp_path, *expected):
    lines = [json.dumps({"prompt": "ABCDEFGHIJ"[at], "expected": value}) for at, value in enumerate(expected)]
    file = tmp_path / "questions.jsonl"
    file.write_text("\n".join(lines))
    return (*GRAMMAR, "--questions", str(file))


def test_counts_intervals_and_all_answers_are_printed(tmp_path, capsys):
    assert run("accuracy", *ask(tmp_path, *["ab"] * 8, "cd"), "--json") == ExitCode.SUCCESS
    found = json.loads(capsys.readouterr().out)
    assert (found["questions"], found["with"]["right"], found["without"]["right"]) == (9, 8, 0)
    assert (found["only_with"], found["neither"], found["effect"]) == (8, 1, "helps")
    assert found["p_value"] == pytest.approx(2 / 256)
    assert [one["with"] for one in found["answers"]] == ["ab"] * 9
    assert run("accuracy", *ask(tmp_path, "ab", "cd")) == ExitCode.SUCCESS
    assert "ab" in capsys.readouterr().out


def test_a_grammar_that_hurts_is_a_negative_answer(tmp_path, capsys):
    run("accuracy", *ask(tmp_path, *["ab"] * 8), "--json")
    free = [one["without"] for one in json.loads(capsys.readouterr().out)["answers"]]
    assert run("accuracy", *ask(tmp_path, *(text.strip() for text in free))) == ExitCode.NEGATIVE


def test_a_file_that_cannot_be_read_is_misuse(tmp_path, capsys):
    file = tmp_path / "questions.jsonl"
    file.write_text('{"prompt": "A"}')
    assert run("accuracy", *GRAMMAR, "--questions", str(file)) == ExitCode.MISUSE
    assert "any_of" in capsys.readouterr().err
