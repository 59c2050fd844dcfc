"""`turnstile reduce`."""

import json
import sys

import pytest
from catalogue_texts import shows

from engine.cli.main import main
from engine.peers.adapter import Peer
from tests.engine.peers.schema_doubles import ForgetfulAdapter

pytestmark = pytest.mark.usefixtures("ready_peers")

CHECK = "import pathlib, sys\nsys.exit('3000' not in pathlib.Path(sys.argv[1]).read_text('utf-8'))\n"
GRAMMAR = 'root ::= "a" digits\ndigits ::= [0-9]{1,3000}\n'


@pytest.fixture
def check(tmp_path):
    script = tmp_path / "a check.py"
    script.write_text(CHECK, "utf-8")
    return f"'{sys.executable}' '{script}'"


def run(capsys, *arguments):
    try:
        code = main(["reduce", *map(str, arguments)])
    except SystemExit as error:
        code = error.code
    out, err = capsys.readouterr()
    return code, out, err


def test_the_reduced_grammar_is_printed(capsys, tmp_path, check):
    file = tmp_path / "g.gbnf"
    file.write_text(GRAMMAR, "utf-8")
    code, out, err = run(capsys, "--check", check, file)
    assert code == 0
    assert "{1,3000}" in out
    assert len(out) < len(GRAMMAR)
    assert "digits" in err
    assert file.read_text("utf-8") == GRAMMAR


def test_json_names_the_guilty_part_and_the_result_is_written(capsys, tmp_path, check):
    file, output = tmp_path / "request.json", tmp_path / "small.json"
    request = {
        "tools": [
            {"type": "function", "function": {"name": "a", "parameters": {"type": "object"}}},
            {"type": "function", "function": {"name": "scrape", "parameters": {"maxLength": 3000, "type": "string"}}},
        ]
    }
    file.write_text(json.dumps(request), "utf-8")
    code, out, err = run(capsys, "--check", check, "--json", "--output", output, file)
    found = json.loads(out)
    assert code == 0
    assert err == ""
    assert (found["pointer"], found["tool"]) == ("/tools/1/function/parameters/maxLength", "scrape")
    assert found["size_before"] == file.stat().st_size
    assert found["size_after"] == output.stat().st_size
    assert output.read_text("utf-8") == found["text"]
    assert found["checks"] > 0


def test_a_rule_is_named_in_json(capsys, tmp_path, check):
    file = tmp_path / "g.gbnf"
    file.write_text(GRAMMAR, "utf-8")
    assert json.loads(run(capsys, "--check", check, "--json", file)[1])["rule"] == "digits"


def test_a_command_that_does_not_fail_on_the_file_is_a_negative_answer(capsys, tmp_path, check):
    file = tmp_path / "g.gbnf"
    file.write_text('root ::= "a"', "utf-8")
    code, out, err = run(capsys, "--check", check, file)
    assert (code, out) == (1, "")
    assert err


def test_a_check_that_takes_too_long_does_not_count(capsys, tmp_path):
    script = tmp_path / "slow.py"
    script.write_text("import time\ntime.sleep(600)\n", "utf-8")
    file = tmp_path / "g.regex"
    file.write_text("a", "utf-8")
    arguments = ("--check", f"'{sys.executable}' '{script}'", "--timeout", "1", "--notation", "regex", file)
    assert run(capsys, *arguments)[0] == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ("--check", "'unclosed", "g.gbnf"),
        ("--check", " ", "g.gbnf"),
        ("--check", "/no/such/program", "g.gbnf"),
        ("--check", "true", "missing.gbnf"),
        ("--check", "true", "broken.json"),
        ("--check", "true", "unclear"),
        ("g.gbnf",),
        ("--engine", "no-such-engine", "g.gbnf"),
        ("--engine", "outlines-core", "g.gbnf"),
        ("--server", "no address", "g.gbnf"),
        ("--engine", "turnstile", "--check", "true", "g.gbnf"),
    ],
)
def test_misuse_is_an_error_of_its_own(capsys, tmp_path, monkeypatch, arguments):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.gbnf").write_text(GRAMMAR, "utf-8")
    (tmp_path / "broken.json").write_text("{", "utf-8")
    (tmp_path / "unclear").write_text("x", "utf-8")
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert err


def test_a_check_runs_in_the_environment_of_the_user(capsys, tmp_path, monkeypatch):
    """A script may import what lies beside it, though Turnstile's own processes may not."""
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    (tmp_path / "beside.py").write_text("", "utf-8")
    script = tmp_path / "check.py"
    script.write_text("import beside\n" + CHECK, "utf-8")
    file = tmp_path / "g.gbnf"
    file.write_text(GRAMMAR, "utf-8")
    assert run(capsys, "--check", f"'{sys.executable}' '{script}'", file)[0] == 0


def test_an_engine_that_judges_as_this_one_is_a_negative_answer(capsys, tmp_path):
    file = tmp_path / "g.gbnf"
    file.write_text(GRAMMAR, "utf-8")
    code, out, err = run(capsys, "--engine", "turnstile", file)
    assert (code, out) == (1, "")
    assert shows(err, "errors.diagnosis.engine_agrees", engine="turnstile")


def test_an_engine_that_fails_is_named_with_the_guilty_part(capsys, tmp_path, monkeypatch):
    forgetful = Peer("forgetful", "pytest", ForgetfulAdapter)
    monkeypatch.setattr("engine.cli.reduce.find_peers", lambda names: (forgetful,))
    file = tmp_path / "schema.json"
    schema = {"properties": {"n": {"type": "integer", "maximum": 40}}, "required": ["n"], "type": "object"}
    file.write_text(json.dumps(schema), "utf-8")
    code, out, _ = run(capsys, "--engine", "forgetful", "--json", file)
    found = json.loads(out)
    assert (code, found["pointer"], found["failure"]["kind"]) == (0, "/properties/n/maximum", "too-loose")
    code, out, err = run(capsys, "--engine", "forgetful", file)
    assert "maximum" in out
    assert shows(err, "cli.reduce.message.failure", name="forgetful", kind="too-loose")
