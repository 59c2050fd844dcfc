"""The commands with a real, if tiny, transformers model."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from catalogue_texts import shows
from tiny_models import save_tiny

from engine.cli.main import main
from engine.compile import compile_grammar

ROOT = Path(__file__).parents[3]
PATTERN = "[A-E]{2}: [a-z]{3,5}\n"
REGEX = ("--notation", "regex", "--grammar", PATTERN)


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> str:
    return str(save_tiny(tmp_path_factory.mktemp("model"), special=True))


def test_generate_prints_a_match_and_no_noise(folder, capsys):
    common = ("generate", *REGEX, "--model", folder, "--seed", "5", "--prompt", "abc")
    # In a process of its own: what libraries print as they are imported counts too.
    alone = subprocess.run(
        [sys.executable, "-m", "engine.cli", *common], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (alone.returncode, alone.stderr) == (0, "")
    assert compile_grammar("regex", PATTERN).fullmatch(alone.stdout)
    assert main([*common, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["text"], document["finish"]) == (alone.stdout, "stop")
    assert document["steps"][-1]["token"] == "</s>"


def test_a_prompt_that_the_model_cannot_spell_is_one_line(folder, capsys):
    assert main(["generate", *REGEX, "--model", folder, "--prompt", "ß"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("turnstile: ")
    assert err.count("\n") == 1


def test_export_over_a_model_and_over_its_tokenizer_is_the_same(folder, capsys):
    assert main(["export", "--to", "json", *REGEX, "--model", folder, "--output", "-"]) == 0
    by_model = json.loads(capsys.readouterr().out)
    assert main(["export", "--to", "json", *REGEX, "--tokenizer", folder, "--output", "-"]) == 0
    assert json.loads(capsys.readouterr().out)["transitions"] == by_model["transitions"]


def test_a_model_that_is_not_there_is_one_line(capsys):
    assert main(["generate", *REGEX, "--model", "no-such-model"]) == 1
    err = capsys.readouterr().err
    assert shows(err, "errors.models.unknown", spec="no-such-model")
    assert err.count("\n") == 1
