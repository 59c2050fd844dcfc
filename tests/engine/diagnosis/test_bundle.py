"""The bug bundle: complete, without secrets and paths, and written whole or not at all."""

from __future__ import annotations

import errno
import json
import os
import zipfile
from pathlib import Path

import pytest
from random_model import RandomModel

from engine.compile import compile_grammar
from engine.decoding.session import DecodeSession
from engine.decoding.values import Chat
from engine.diagnosis.bundle import bundle_parts, without_paths, write_bundle
from engine.document.content import DocumentFile, ExpectedText, GrammarPart, ModelPart
from engine.source import EngineError

KEY = "sk-" + "proj-AbC123dEf456GhI789jKl012"
HOME = "/home/somebody/work"


def work(**fields) -> DocumentFile:
    session = DecodeSession(compile_grammar("regex", "[a-c]{4,8}d"), RandomModel())
    for _ in range(3):
        session.position()
        session.step()
    grammar = GrammarPart("gbnf", f'root ::= "a" | other # {KEY} {HOME}\nother ::= "b" # {Path.home()}/x\n')
    return DocumentFile(
        title=f"{HOME}/title",
        grammar=grammar,
        model=ModelPart(f"{HOME}/models/tiny", "", "f1", "v1"),
        prompt=Chat((("user", f"{KEY} {HOME}"),)),
        test_strings=(ExpectedText(KEY),),
        trace=session.trace,
        **fields,
    )


def test_a_bundle_has_everything_but_secrets_and_paths(tmp_path):
    document = work()
    parts = bundle_parts(document, None, None, check=lambda text: "other" in text)
    path = tmp_path / "bug.zip"
    size = write_bundle(path, parts)
    assert path.stat().st_size == size
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        contents = {name: archive.read(name).decode() for name in archive.namelist()}
    assert set(contents) == {
        *("grammar.gbnf", "reduced.gbnf", "prompt.json", "ids.json", "replay.html", "manifest.json"),
    }
    for name, text in contents.items():
        assert KEY not in text, name
        assert "somebody" not in text, name
        assert str(Path.home()) not in text, name
    manifest = json.loads(contents["manifest.json"])
    assert (manifest["model"]["spec"], manifest["model"]["fingerprint"]) == ("tiny", "f1")
    assert manifest["model"]["vocabulary_fingerprint"] == "v1"
    assert manifest["seed"] == document.sampler.seed
    assert manifest["left_out"] == {}
    assert manifest["removed_secrets"] == 3
    assert len(json.loads(contents["ids.json"])["ids"]) == 3
    assert len(contents["reduced.gbnf"]) < len(contents["grammar.gbnf"])


def test_what_is_left_out_has_a_reason():
    parts = bundle_parts(work(), None, None)
    manifest = json.loads(parts.files["manifest.json"])
    assert list(manifest["left_out"]) == ["reduced.gbnf"]
    assert bundle_parts(work(), None, None, check=lambda _text: False).left_out.keys() == {"reduced.gbnf"}


@pytest.mark.parametrize("path", ["/home/me/a", "/Users/me/a", "C:\\Users\\me\\a", "C:\\\\Users\\\\me\\\\a"])
def test_folders_of_users_have_no_name(path):
    assert "me" not in without_paths(f"in {path} and")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES])
def test_a_failure_keeps_the_former_file_and_says_why(tmp_path, monkeypatch, number):
    path = tmp_path / "bug.zip"
    path.write_bytes(b"before")
    parts = bundle_parts(work(), None, None)

    def fail(_descriptor):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(EngineError) as error:
        write_bundle(path, parts)
    assert error.value.key == "errors.diagnosis.page.unwritable"
    assert error.value.fields["reason"] == os.strerror(number)
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]


def test_what_a_check_of_a_server_found_is_in_the_bundle_without_secrets_and_paths():
    report = json.dumps({"mask": "partly", "model": f"{HOME}/model.gguf", "ways": [{"text": KEY}]})
    parts = bundle_parts(work(), None, None, server_report=report)
    written = parts.files["server.json"].decode()
    assert json.loads(written)["mask"] == "partly"
    assert "somebody" not in written
    assert KEY not in written
    assert "server.json" in json.loads(parts.files["manifest.json"])["files"]
    assert "server.json" not in bundle_parts(work(), None, None).files
