"""A target of an extension is listed, offered by the window and written."""

import json
import os
import subprocess
import sys
from pathlib import Path

from engine.cli.main import main
from engine.compile import compile_grammar
from engine.export.target import ExportJob, TargetGroup
from engine.export.writing import fits

GRAMMAR = ("--notation", "regex", "--grammar", "red|green")


def test_it_is_written(tmp_path):
    file = tmp_path / "words.txt"
    assert main(("export", *GRAMMAR, "--to", "word-list", "--output", str(file))) == 0
    assert file.read_text() == "red\ngreen\n"


def test_it_is_listed_in_its_group(capsys):
    assert main(("export", *GRAMMAR, "--list", "--json")) == 0
    entries = json.loads(capsys.readouterr().out)
    groups = [entry["group"] for entry in entries]
    assert groups == sorted(groups, key=[group.heading for group in TargetGroup].index)
    (entry,) = (entry for entry in entries if entry["target"] == "word-list")
    assert entry["fits"]


def test_the_window_lists_it_with_the_reason_why_it_does_not_fit():
    found = {fit.target.name: fit.refusal for fit in fits(ExportJob(compile_grammar("regex", "a+")))}
    assert found["word-list"] == "its texts are not listed by |"


def test_a_process_finds_it_on_its_import_path(tmp_path):
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    root = Path(__file__).parents[3]
    code = "from engine.cli.main import main; main()"
    command = [sys.executable, "-c", code, "export", *GRAMMAR, "--to", "word-list", "--output", str(tmp_path / "w")]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "w").read_text() == "red\ngreen\n"
