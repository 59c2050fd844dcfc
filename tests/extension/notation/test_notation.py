"""A notation of an extension compiles, is explained, exported and stored, and is edited in the window."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app.pasting import notation_choices
from engine.cli.main import main
from engine.compile import CompileOptions, compile_grammar
from engine.document.codec import DocumentError, decode, encode
from engine.document.content import DocumentFile, GrammarPart
from engine.notations import NOTATIONS
from engine.notations.lexing import runs

TEXT = "# literals\nred\ngreen\ngrey"


def test_it_compiles():
    compiled = compile_grammar("literals", TEXT)
    assert [text for text in ("red", "green", "grey", "blue", "# literals", "re") if compiled.fullmatch(text)] == [
        "red",
        "green",
        "grey",
    ]
    assert compiled.is_regular


def test_the_command_line_checks_and_explains_it(capsys):
    assert main(("check", "--notation", "literals", "--grammar", TEXT)) == 0
    assert main(("explain", "--notation", "literals", "--grammar", TEXT, "--tree")) == 0
    assert "green" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("target", "written"), [("gbnf", "::="), ("regex", "gre"), ("lark", "start"), ("dot", "digraph")]
)
def test_it_is_exported(tmp_path, target, written):
    file = tmp_path / "file"
    assert main(("export", "--notation", "literals", "--grammar", TEXT, "--to", target, "--output", str(file))) == 0
    assert written in file.read_text()


def test_it_is_recognised_and_has_colours():
    assert NOTATIONS.likely(TEXT) is NOTATIONS["literals"]
    assert NOTATIONS.likely("a+") is not NOTATIONS["literals"]
    assert [kind.value for kind, _ in runs(TEXT, NOTATIONS["literals"].lex_line)][:3] == ["comment", "space", "literal"]


def test_it_has_a_quick_reference_with_examples_that_match():
    (group,) = NOTATIONS["literals"].reference(TEXT, CompileOptions())
    assert [entry.form for entry in group.entries] == ["…", "# …"]
    for entry in group.entries:
        assert compile_grammar("literals", entry.example).fullmatch(entry.takes)


def test_it_is_offered_by_the_window():
    assert notation_choices()[-1].name == "Literal texts"


def test_a_document_keeps_it():
    stored = encode(DocumentFile(grammar=GrammarPart("literals", TEXT)))
    assert decode(stored, "a.turnstile").grammar == GrammarPart("literals", TEXT)


def test_a_document_in_an_unknown_notation_says_so():
    stored = encode(DocumentFile(grammar=GrammarPart("literals", TEXT))).replace(b'"literals"', b'"unknown"')
    with pytest.raises(DocumentError, match="'unknown'"):
        decode(stored, "a.turnstile")


def test_the_window_opens_its_file_and_steps(tmp_path):
    file, picture = tmp_path / "words.literals", tmp_path / "window.png"
    file.write_text(TEXT)
    code = "import sys; from app.entry import main; sys.exit(main())"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent), "QT_QPA_PLATFORM": "offscreen"}
    command = [sys.executable, "-c", code, "--screenshot", str(picture), str(file)]
    root = Path(__file__).parents[3]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=200, check=False)
    assert done.returncode == 0, done.stderr
    assert picture.read_bytes().startswith(b"\x89PNG")
    steps = done.stdout.splitlines()[1:-1]
    assert "".join(step.split()[0] for step in steps) in ("red", "green", "grey")
