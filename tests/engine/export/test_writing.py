"""From a job to a checked file: nothing half written, nothing wrong put in place."""

from __future__ import annotations

import errno
import os
import sys
from dataclasses import replace

import pytest
from error_keys import raises_key
from exports import job_of

from engine.export import targets, writing
from engine.export.target import Artifact, Check, ExportError, MismatchError, NotExportableError, TargetGroup
from engine.export.writing import export, fits, make, refusal
from engine.source import CancelledError, CancelToken, InvariantError
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary


class FakeTarget:
    name, title, about, group, suffix = "fake", "Fake", "A double.", TargetGroup.TEXT, ".txt"
    needs_vocabulary = False

    def __init__(self, files, *, wrong=False, is_folder=False):
        self.files, self.wrong, self.is_folder = files, wrong, is_folder
        self.seen = None

    def supported_options(self, compiled):
        return frozenset()

    def refusal(self, job):
        return ""

    def make(self, job):
        return Artifact(self.files, ("a note",))

    def check(self, artifact, job):
        self.seen = artifact
        if self.wrong:
            raise MismatchError("errors.export.checks.empty_export")
        return Check("both", 1, 2)


def names(folder):
    return sorted(place.name for place in folder.iterdir())


@pytest.fixture
def fake(monkeypatch):
    def install(files=(("x", b"new\r\n\xff"),), **how):
        one = FakeTarget(files, **how)
        monkeypatch.setattr(writing, "target", lambda name: one)
        return one

    return install


def test_a_file_is_read_back_before_it_stands_there(fake, tmp_path):
    one, path = fake(), tmp_path / "a.txt"
    exported = export("fake", job_of("heading"), path)
    assert path.read_bytes() == b"new\r\n\xff"
    assert one.seen.content == path.read_bytes()
    assert (exported.size, exported.notes) == (6, ("a note",))
    assert exported.check.sentence == catalogue_text("export.checked.walks", compared="both", count=1, steps=2)
    assert names(tmp_path) == ["a.txt"]


def test_what_is_wrong_does_not_replace_what_was_right(fake, tmp_path):
    path = tmp_path / "a.txt"
    path.write_bytes(b"old")
    fake(wrong=True)
    with pytest.raises(MismatchError):
        export("fake", job_of("heading"), path)
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["a.txt"]


def test_a_full_disk_is_told_and_leaves_nothing(fake, tmp_path, monkeypatch):
    def full(_descriptor):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    fake()
    monkeypatch.setattr(writing.os, "fsync", full)
    path = tmp_path / "a.txt"
    with raises_key(ExportError, "export.writing.fragment.failed", reason="No space left on device"):
        export("fake", job_of("heading"), path)
    assert names(tmp_path) == []


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="needs a folder that cannot be written to")
def test_a_folder_that_cannot_be_written_to_is_told(fake, tmp_path):
    fake()
    tmp_path.chmod(0o500)
    with pytest.raises(ExportError, match="Permission denied"):
        export("fake", job_of("heading"), tmp_path / "a.txt")


@pytest.mark.skipif(sys.platform == "win32", reason="needs pipes with names")
def test_a_device_or_pipe_is_not_replaced(fake, tmp_path):
    fake()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    for name in ("pipe", "link"):
        with raises_key(
            ExportError, "export.writing.fragment.failed", reason=catalogue_text("export.writing.fragment.device")
        ):
            export("fake", job_of("heading"), tmp_path / name)
    assert (tmp_path / "pipe").is_fifo()


@pytest.mark.skipif(sys.platform == "win32", reason="needs symbolic links")
def test_a_link_stays_one(fake, tmp_path):
    fake()
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    export("fake", job_of("heading"), tmp_path / "link.txt")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").is_file()


def test_a_disk_that_changes_what_is_written_is_found(fake, tmp_path, monkeypatch):
    fake()
    monkeypatch.setattr(writing.Path, "read_bytes", lambda self: b"other")
    with raises_key(MismatchError, "export.writing.fragment.differs"):
        export("fake", job_of("heading"), tmp_path / "a.txt")
    assert names(tmp_path) == []


def test_a_cancel_leaves_nothing(fake, tmp_path):
    one = fake()
    cancel = CancelToken()
    one.check = lambda artifact, job: (cancel.cancel(), Check("", 0, 0))[1]
    with pytest.raises(CancelledError):
        export("fake", replace(job_of("heading"), cancel=cancel), tmp_path / "a.txt")
    assert names(tmp_path) == []


FOLDER = (("a.txt", b"1"), ("inner/b.txt", b"2"))


def test_a_folder_is_put_in_place_as_a_whole(fake, tmp_path):
    fake(FOLDER, is_folder=True)
    path = tmp_path / "out"
    for _ in range(2):  # the second replaces the first
        exported = export("fake", job_of("heading"), path)
        assert exported.files == (("a.txt", 1), ("inner/b.txt", 1))
        assert (path / "inner" / "b.txt").read_bytes() == b"2"
        assert names(tmp_path) == ["out"]


def test_nobody_elses_folder_is_replaced(fake, tmp_path):
    fake(FOLDER, is_folder=True)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "mine.txt").write_bytes(b"mine")
    with raises_key(
        ExportError,
        "export.writing.fragment.failed",
        reason=catalogue_text("export.writing.fragment.not_empty", file="mine.txt"),
    ):
        export("fake", job_of("heading"), tmp_path / "out")
    assert names(tmp_path / "out") == ["mine.txt"]


def test_a_file_is_no_folder_and_a_folder_no_file(fake, tmp_path):
    fake()
    with raises_key(
        ExportError,
        "export.writing.fragment.failed",
        reason=catalogue_text("export.writing.fragment.folder", target="fake"),
    ):
        export("fake", job_of("heading"), tmp_path)
    fake(FOLDER, is_folder=True)
    (tmp_path / "file").write_bytes(b"")
    with raises_key(
        ExportError,
        "export.writing.fragment.failed",
        reason=catalogue_text("export.writing.fragment.file", target="fake"),
    ):
        export("fake", job_of("heading"), tmp_path / "file")
    fake()
    with raises_key(ExportError, "export.writing.fragment.failed", reason="No such file or directory"):
        export("fake", job_of("heading"), tmp_path / "none" / "a.txt")


@pytest.mark.parametrize("path", ["../x", "/x", "a//b", "", "a\\b", "./x"])
def test_an_artifact_stays_in_its_folder(path):
    with pytest.raises(InvariantError):
        Artifact(((path, b""),))


def test_an_artifact_has_each_path_once():
    with pytest.raises(InvariantError):
        Artifact((("a", b""), ("a", b"")))
    with raises_key(InvariantError, "errors.invariant.folder_content"):
        _ = Artifact(FOLDER).content
    with raises_key(MismatchError, "errors.export.target.no_file", path="c.txt"):
        Artifact(FOLDER).file("c.txt")


# the registry


def test_every_target_is_whole():
    compiled = job_of("heading").compiled
    for name, one in zip(targets.TARGETS.names, targets.TARGETS, strict=True):
        assert one.name == name
        assert one.title[0].isupper() or one.title[0].islower()
        assert one.about.endswith(".")
        assert isinstance(one.group, TargetGroup)
        assert one.is_folder == (one.suffix == "")
        assert one.supported_options(compiled) <= {"spelling", "depth", "name", "model", "server_report"}
    with raises_key(ExportError, "errors.export.targets.unknown", name="'yaml'"):
        targets.target("yaml")


def test_targets_stand_under_their_headings():
    groups = [one.group for one in targets.TARGETS]
    assert groups == sorted(groups, key=list(TargetGroup).index)


def test_what_needs_a_vocabulary_says_so():
    job = job_of("heading")
    found = {fit.target.name: fit.refusal for fit in fits(job)}
    assert tuple(found) == targets.TARGETS.names
    for name, why_not in found.items():
        if targets.target(name).needs_vocabulary:
            assert why_not == catalogue_text("export.refusal.fragment.no_vocabulary")
            with pytest.raises(NotExportableError):
                make(name, job)
    with_tokens = replace(job, vocabulary=Vocabulary([b"A", b": ", b"a", b"\n", b"<eos>"], [4]))
    assert [fit.target.name for fit in fits(with_tokens) if fit.refusal] == ["regex"]
    assert refusal(targets.target("gbnf"), job) == ""
