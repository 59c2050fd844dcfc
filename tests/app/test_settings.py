import logging

import pytest

from app.settings import Preferences, Settings
from app.storage import write_atomically


@pytest.fixture
def path(tmp_path):
    return tmp_path / "config" / "preferences.json"


def test_a_first_start_has_the_defaults(path):
    assert Settings(path).preferences == Preferences()


def test_a_change_outlives_the_process(path):
    Settings(path).change(theme="dark", geometry=b"\x00\xff", splitters={"wide": b"\x01"})
    again = Settings(path).preferences
    assert (again.theme, again.geometry, again.splitters) == ("dark", b"\x00\xff", {"wide": b"\x01"})


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"theme": "sepia"}', b"\xff"])
def test_a_damaged_file_gives_the_defaults(path, data, caplog):
    path.parent.mkdir()
    path.write_bytes(data)
    with caplog.at_level(logging.WARNING):
        assert Settings(path).preferences == Preferences()
    assert "not readable" in caplog.text


def test_fields_of_a_later_version_are_ignored(path):
    path.parent.mkdir()
    path.write_bytes(b'{"theme": "dark", "holograms": true}')
    assert Settings(path).preferences.theme == "dark"


def test_a_home_that_cannot_be_written_costs_a_line_in_the_log(tmp_path, caplog):
    (tmp_path / "file").write_bytes(b"")
    settings = Settings(tmp_path / "file" / "preferences.json")
    told = []
    settings.on_failure = told.append
    settings.change(theme="dark")
    settings.change(theme="light")
    settings.change(theme="dark")
    assert settings.preferences.theme == "dark"
    assert len(told) == 1
    (tmp_path / "file").unlink()
    settings.change(welcomed=True)
    assert Settings(tmp_path / "file" / "preferences.json").preferences == settings.preferences
    (tmp_path / "file" / "preferences.json").unlink()
    (tmp_path / "file").rmdir()
    (tmp_path / "file").write_text("")
    settings.change(theme="light")
    assert len(told) == 2, "it is told again where it worked meanwhile"
    assert "cannot be written" in caplog.text


def test_recent_files_are_unique_and_few(path, tmp_path):
    settings = Settings(path)
    for i in [*range(15), 12]:
        settings.remember_file(tmp_path / f"{i}.turnstile")
    recent = settings.preferences.recent
    assert len(recent) == len(set(recent)) == 10
    assert recent[0].endswith("12.turnstile")


def test_a_failed_write_leaves_the_old_file_and_no_litter(tmp_path, monkeypatch):
    target = tmp_path / "a"
    target.write_bytes(b"old")
    monkeypatch.setattr("app.storage.os.fsync", lambda _fd: (_ for _ in ()).throw(OSError("disk full")))
    with pytest.raises(OSError, match="disk full"):
        write_atomically(target, b"new")
    assert target.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [target]
