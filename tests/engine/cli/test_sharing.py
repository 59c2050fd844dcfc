"""`turnstile share`."""

from __future__ import annotations

import json
import re

import pytest
from catalogue_texts import shows
from random_model import LETTERS, RandomModel

import engine.models
from engine.cli.main import main
from engine.compile import compile_grammar
from engine.decoding.pipeline_settings import PipelineSettings, ZoneSettings
from engine.decoding.session import DecodeSession
from engine.document.codec import encode
from engine.document.content import DocumentFile, GrammarPart, ModelPart
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary


@pytest.fixture(autouse=True)
def model(monkeypatch):
    source = RandomModel()
    monkeypatch.setattr(engine.models, "load_model", lambda spec, *, cancel=None: source)
    return source


def saved(folder, model, notation="regex", text="[a-c]{4,8}d", **more):
    session = DecodeSession(compile_grammar("regex", "[a-c]{4,8}d"), model)
    for _ in range(3):
        session.position()
        session.step()
    document = DocumentFile(
        grammar=GrammarPart(notation, text), model=ModelPart("random", "Random"), trace=session.trace, **more
    )
    path = folder / "work.turnstile"
    path.write_bytes(encode(document))
    return str(path)


def data_of(text):
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.DOTALL)[1])


def run(capsys, *arguments):
    try:
        code = main(["share", *arguments])
    except SystemExit as leave:  # argparse
        code = int(leave.code or 0)
    out, err = capsys.readouterr()
    return code, out, err


def test_a_document_becomes_a_page(capsys, tmp_path, model):
    page = tmp_path / "page.html"
    code, out, err = run(capsys, saved(tmp_path, model), "--output", str(page))
    assert (code, out) == (0, "")
    assert shows(err, "cli.share.written", path=page, count=3)
    found = data_of(page.read_text("utf-8"))
    assert (found["title"], found["grammar"], found["vocabulary"]) == ("work", "[a-c]{4,8}d", None)
    assert found["reasons"]


def test_with_the_model_and_to_the_terminal(capsys, tmp_path, model):
    code, out, err = run(capsys, saved(tmp_path, model), "--output", "-", "--model", "random")
    assert (code, err) == (0, "")
    assert data_of(out)["vocabulary"] == len(LETTERS)


def test_a_grammar_that_does_not_compile_explains_nothing(capsys, tmp_path, model):
    code, out, err = run(capsys, saved(tmp_path, model, text="(a"), "--output", "-")
    assert code == 0
    assert shows(err, "cli.share.not_compiled")
    assert (len(data_of(out)["steps"]), data_of(out)["reasons"]) == (3, [])


def test_tokens_and_zones_need_a_vocabulary(capsys, tmp_path, model):
    path = saved(tmp_path, model, "gbnf", 'root ::= <think> "a"')
    assert shows(run(capsys, path, "--output", "-")[2], "cli.share.names_tokens")
    zones = PipelineSettings(zones=ZoneSettings(after=":"))
    path = saved(tmp_path, model, pipeline=zones)
    code, out, err = run(capsys, path, "--output", "-")
    assert (code, data_of(out)["reasons"]) == (0, [])
    assert shows(err, "cli.share.zones")
    assert run(capsys, path, "--output", "-", "--model", "random")[2] == ""


def test_what_goes_wrong_is_told(capsys, tmp_path, model, monkeypatch):
    path = saved(tmp_path, model)
    missing = tmp_path / "none"
    said = catalogue_text("cli.file.unreadable", name=missing, reason="No such file or directory")
    assert run(capsys, str(missing), "--output", "-")[::2] == (2, f"turnstile: {said}\n")
    code, _, err = run(capsys, path, "--output", str(tmp_path))
    assert (code, err) == (1, f"turnstile: {catalogue_text('errors.diagnosis.page.folder', path=tmp_path)}\n")
    assert run(capsys, path)[0] == 2
    (tmp_path / "other.json").write_text("{}")
    code, _, err = run(capsys, str(tmp_path / "other.json"), "--output", "-")
    assert code == 1
    assert shows(err, "errors.document.other_json")
    other = RandomModel(Vocabulary([b"x", b"y"], []))
    monkeypatch.setattr(engine.models, "load_model", lambda spec, *, cancel=None: other)
    code, _, err = run(capsys, path, "--output", "-", "--model", "other")
    assert code == 1
    assert shows(err, "cli.share.other_token_of", model="Random")
