"""Files that the window reads at its start, damaged in every way: defaults, set aside once, and never an exception.

`FUZZ_EXAMPLES=20000 python -m pytest tests/app/document/test_damaged.py` looks longer.
"""

from __future__ import annotations

import contextlib
import os
import random
import re
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from decode_views import trace

from app.document import Autosave, DocumentError, DocumentFile, GrammarPart, ModelPart, file, last_document
from app.document.file import is_document, read_grammar
from app.settings import Preferences, Settings
from app.storage import read_limited, set_aside
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.values import ArchivedBranch, Chat
from engine.document import codec
from engine.document.content import ExpectedText

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "400"))
DEEP = 100_000

TRACE = trace((b"a", b"\xff", b"b"))
DOCUMENT = DocumentFile(
    title="ü",
    grammar=GrammarPart("gbnf", 'root ::= "é"'),
    model=ModelPart("letters", "Letters", "1", "2"),
    prompt=Chat((("user", "hello"),), "{"),
    pipeline=PipelineSettings(suppress=("c",)),
    trace=TRACE,
    archived=(ArchivedBranch("Letters", "prompt", tuple(node.step for node in TRACE.nodes)),),
    test_strings=(ExpectedText("x"), ExpectedText("y", accepts=False)),
)
PREFERENCES = Preferences(theme="dark", recent=["/a.turnstile"], geometry=b"\0\1", splitters={"wide": b"\1"})

# What no mutation would come upon.
HARD = (
    b"",
    b"\xff\xfe",
    b"null",
    b"1e400",
    b"[" * DEEP,
    b'{"document":' * DEEP,
    b'{"format":"turnstile","version":1,"trace":' + b"[" * DEEP + b"]" * DEEP + b"}",
    b'{"format":"turnstile","version":1,"x":' + b'{"a":' * DEEP + b"1" + b"}" * DEEP + b"}",
    b'{"theme":' + b"[" * DEEP + b"]" * DEEP + b"}",
    b'{"form\xffat":1}',
    b'{"format":"turnstile\xff"}',
    b'{"format":"turnstile","version":1,"title":"\xff"}',
    b'{"format":"turnstile","version":1,"ti\xfftle":""}',
    b'{"format":"turnstile","version":1,"title":"\\ud800"}',
    b'{"format":"turnstile","version":1' + b"0" * 5_000 + b"}",
    b'{"format":"turnstile","version":1,"max_tokens":' + b"9" * 5_000 + b"}",
    b'{"theme":"\xff"}',
    b'{"recent":["\\u0000"],"model":"\xff"}',
    b'{"geometry":"not base64!"}',
    b'{"path":"","saved_at":1e308,"document":{}}',
    b'{"path":"","saved_at":-1,"document":{}}',
    b'{"path":"\xff","saved_at":1,"document":{}}',
    b'{"path":"","saved_at":1,"document":{"trace":{"path":[1]}}}',
)


def mutations(whole: bytes, examples: int, seed: int):
    """Broken variants of a file: bytes, values and structure."""
    rng = random.Random(seed)
    values = [
        "null",
        "-1",
        "1e999",
        "true",
        '""',
        '"x"',
        "[]",
        "{}",
        "[[]]",
        '{"a":1}',
        "99999999999999999999",
        '"\\u0000"',
    ]
    numbers = [match.span() for match in re.finditer(rb'(?<=[:\[ ])("[^"]*"|-?[0-9.e+]+|null|true|false)', whole)]
    for _ in range(examples):
        data = bytearray(whole)
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(data) + 1)
            match rng.randrange(6):
                case 0:
                    data[at : at + 1] = bytes([rng.randrange(256)])
                case 1:
                    del data[at : at + rng.randint(1, 40)]
                case 2:
                    data[at:at] = data[rng.randrange(len(data) + 1) :][: rng.randint(1, 60)]
                case 3:
                    del data[at:]
                case 4:
                    start, end = rng.choice(numbers)
                    data[start:end] = rng.choice(values).encode()
                case 5:
                    data[at:at] = rng.choice([b"\xff", b"\0", b"[" * 2_000, b"\\ud800", b"\xed\xa0\x80"])
        yield bytes(data)


def damaged(whole: bytes, seed: int):
    yield from HARD
    yield from mutations(whole, EXAMPLES, seed)


def preferences(path: Path) -> object:
    return Settings(path).preferences


def session(path: Path) -> object:
    return last_document.read(path)


def autosave(path: Path) -> object:
    found = Autosave(path.parent)
    try:
        return found.find()
    finally:
        found.close()


def document(path: Path) -> object:
    try:
        return file.read_document(path)
    except DocumentError:
        return None


def grammar(path: Path) -> object:
    is_document(path)
    try:
        return read_grammar(path)
    except DocumentError:
        return None


SAVED = msgspec.json.encode({"path": "/a", "saved_at": 1.0, "document": codec.stored_fields(DOCUMENT)})
READERS: dict[str, tuple[Callable[[Path], object], bytes]] = {
    "preferences.json": (preferences, msgspec.json.encode(PREFERENCES)),
    "session.json": (session, SAVED),
    "left.autosave": (autosave, SAVED),
    "work.turnstile": (document, codec.encode(DOCUMENT)),
    "schema.json": (grammar, b'{"type": "object"}:1'),
}


@pytest.mark.parametrize("name", READERS)
def test_whole_files_are_read(tmp_path, name):
    read, whole = READERS[name]
    (tmp_path / name).write_bytes(whole)
    assert read(tmp_path / name)
    assert [found.name for found in tmp_path.iterdir() if ".damaged" in found.name] == []


@pytest.mark.parametrize("name", READERS)
def test_no_damage_raises_anything(tmp_path, name):
    read, whole = READERS[name]
    for number, data in enumerate(damaged(whole, seed=1)):
        path = tmp_path / name
        path.write_bytes(data)
        try:
            read(path)
        except Exception as error:
            raise AssertionError(f"example {number}: {data[:300]!r}") from error
    assert len(list(tmp_path.iterdir())) <= 7  # the file, and the latest five that were set aside


def test_decoding_raises_document_errors_alone():
    for number, data in enumerate(damaged(codec.encode(DOCUMENT), seed=2)):
        try:
            with contextlib.suppress(DocumentError):
                codec.decode(data, "work.turnstile")
        except Exception as error:
            raise AssertionError(f"example {number}: {data[:300]!r}") from error


@pytest.mark.parametrize("name", ["preferences.json", "session.json", "left.autosave"])
@pytest.mark.parametrize(
    "data", [b"\xff", b'{"path":"\xff","theme":"\xff"}', b"[" * DEEP], ids=["no UTF-8", "in a text", "deep"]
)
def test_what_is_damaged_is_set_aside_once(tmp_path, name, data):
    read, _ = READERS[name]
    (tmp_path / name).write_bytes(data)
    for _ in range(3):
        read(tmp_path / name)
    (aside,) = [found for found in tmp_path.iterdir() if ".damaged-" in found.name]
    assert aside.name.startswith(f"{name}.damaged-2")
    assert aside.read_bytes() == data
    assert not (tmp_path / name).exists()


def test_only_the_latest_damaged_files_are_kept(tmp_path):
    for number in range(12):
        (tmp_path / f"{number}.autosave").write_text(str(number))
        assert set_aside(tmp_path / f"{number}.autosave", ".autosave")
        (tmp_path / "preferences.json").write_text(str(number))
        assert set_aside(tmp_path / "preferences.json")
    (tmp_path / "good.autosave").write_text("")
    kept = [found.read_text() for found in tmp_path.glob("preferences.json.damaged-*")]
    assert len(kept) == 5
    assert len(list(tmp_path.glob("*.autosave.damaged-*"))) == 5
    assert (tmp_path / "good.autosave").exists()


def test_what_cannot_be_renamed_is_reported_all_the_same(tmp_path, monkeypatch):
    def refuse(*_args):
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(Path, "rename", refuse)
    (tmp_path / "preferences.json").write_bytes(b"\xff")
    settings = Settings(tmp_path / "preferences.json")
    assert (settings.preferences, settings.damaged) == (Preferences(), "preferences.json")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has no named pipes in folders")
@pytest.mark.parametrize("name", READERS)
def test_a_pipe_or_a_folder_in_place_of_a_file_is_not_waited_for(tmp_path, name):
    read, _ = READERS[name]
    os.mkfifo(tmp_path / name)
    read(tmp_path / name)
    (tmp_path / name).unlink()
    (tmp_path / name).mkdir()
    read(tmp_path / name)
    assert (tmp_path / name).is_dir()


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    path = tmp_path / "preferences.json"
    with path.open("wb") as sparse:
        sparse.truncate(8 << 30)
    assert Settings(path).damaged == path.name
    assert not path.exists()
    (tmp_path / "four").write_bytes(b"1234")
    with pytest.raises(ValueError, match="the limit is 3"):
        read_limited(tmp_path / "four", 3)
