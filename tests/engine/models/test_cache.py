from __future__ import annotations

import os
import shutil
from pathlib import Path
from types import SimpleNamespace

import pytest
from error_keys import raises_key

from engine.models import ModelError
from engine.models.downloads import cache_folder, install, temporary_folder


def test_the_cache_follows_the_variable(tmp_path: Path) -> None:
    assert cache_folder() == tmp_path / "cache" / "models"


def test_work_that_fails_leaves_nothing() -> None:
    def interrupted() -> None:
        with temporary_folder(10) as work:
            (work / "half").write_bytes(b"x")
            raise RuntimeError("interrupted")

    with pytest.raises(RuntimeError, match="interrupted"):
        interrupted()
    assert list(cache_folder().iterdir()) == []


def test_finished_work_takes_its_place_whole() -> None:
    final = cache_folder() / "model"
    with temporary_folder(10) as work:
        (work / "made").mkdir()
        (work / "made" / "file").write_bytes(b"x")
        install(work / "made", final)
    assert (final / "file").read_bytes() == b"x"
    assert list(cache_folder().iterdir()) == [final]


def test_the_first_of_two_processes_wins() -> None:
    final = cache_folder() / "model"
    for content in (b"first", b"second"):
        with temporary_folder(10) as work:
            (work / "made").mkdir()
            (work / "made" / "file").write_bytes(content)
            install(work / "made", final)
    assert (final / "file").read_bytes() == b"first"


def test_what_a_killed_process_left_is_swept_after_a_day() -> None:
    for name, age in (("old", 2 * 24 * 3600), ("new", 60)):
        left = cache_folder() / f".partial-{name}"
        left.mkdir(parents=True)
        then = left.stat().st_mtime - age
        os.utime(left, (then, then))
    with temporary_folder(10):
        pass
    assert [path.name for path in cache_folder().iterdir()] == [".partial-new"]


def test_a_full_disk_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1_000_000))
    with (
        raises_key(ModelError, "errors.models.little_space", free=1.0, needed=500.0),
        temporary_folder(500_000_000),
    ):
        pass


def test_a_disk_that_fills_up_meanwhile_is_a_sentence() -> None:
    with raises_key(ModelError, "errors.models.not_writable", reason="No space left on device"), temporary_folder(10):
        raise OSError(28, "No space left on device")


def test_a_place_that_cannot_be_written_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("TURNSTILE_CACHE", str(tmp_path / "file"))
    with (
        raises_key(ModelError, "errors.models.not_writable", variable="TURNSTILE_CACHE"),
        temporary_folder(10),
    ):
        pass
