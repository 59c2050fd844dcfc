"""File → Share as HTML…, over a real window with worker processes, by its key."""

from __future__ import annotations

import json
import re
import zipfile
from pathlib import Path

import pytest
from catalogue_texts import shows
from PySide6.QtCore import Qt
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QFileDialog, QPushButton

from app.catalogue import ui_text
from app.document import DocumentFile, GrammarPart, ModelPart
from app.workers.requests.decode import ShareTrace

KEYS = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier


def data_of(path):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', path.read_text("utf-8"), re.DOTALL)
    return json.loads(found[1])


@pytest.fixture
def chosen(monkeypatch):
    """What the file dialog answers under `path`, and what it was asked."""
    asked = {"path": ""}

    def answer(_parent, title, name, kinds):
        asked.update(title=title, name=name)
        return str(asked["path"]), kinds

    monkeypatch.setattr(QFileDialog, "getSaveFileName", answer)
    return asked


def share(desk):
    """Press the key; the banner that comes of it."""
    for banner in desk.window.banners.banners:
        banner.dismiss()
    desk.qtbot.keyClick(desk.window, Qt.Key.Key_H, KEYS)
    desk.wait(lambda: bool(desk.window.banners.banners))
    return desk.window.banners.banners[-1]


def step(desk, count):
    for taken in range(1, count + 1):
        desk.window.commands["run.step"].trigger()
        desk.wait(lambda taken=taken: desk.session.decoding.view.position.index >= taken)


def test_a_trace_with_its_branches_is_shared(desk, chosen, tmp_path, monkeypatch):
    desk.open("[ab]{5,9}c")
    step(desk, 3)
    desk.window.commands["run.back"].trigger()
    desk.wait(lambda: desk.session.decoding.view.position.index == 2)
    desk.session.decoding.set_prompt("another")
    desk.wait(lambda: desk.output == b"" and bool(desk.document.content.archived))
    chosen["path"] = tmp_path / "page"
    banner = share(desk)
    assert chosen["name"].endswith("Untitled.html")
    assert banner.notification.severity == "hint"
    assert shows(banner.notification.text, "window.command.shared", name="page.html", count=3)
    found = data_of(tmp_path / "page.html")
    assert (found["grammar"], found["notation"], found["prompt"]) == ("[ab]{5,9}c", "regex", [["", "another"]])
    assert [len(branch["steps"]) for branch in found["branches"]] == [0, 3]
    step(desk, 2)
    banner = share(desk)
    found = data_of(tmp_path / "page.html")
    assert len(found["branches"][0]["steps"]) == 2
    assert found["vocabulary"]
    refused = [one for one in found["steps"][0]["candidates"] if not one["allowed"]]
    assert refused
    assert all("is not allowed here" in found["reasons"][one["why"]] for one in refused)
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toLocalFile()))
    button = next(one for one in banner.findChildren(QPushButton) if one.text() == "Open")
    desk.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert opened == [str(tmp_path / "page.html")]


def test_what_cannot_be_written_is_told_with_a_way_on(desk, chosen, tmp_path):
    desk.open("ab")
    chosen["path"] = tmp_path / "no" / "such" / "page.html"
    banner = share(desk)
    assert banner.notification.severity == "error"
    assert "No such file or directory" in banner.notification.text
    assert banner.notification.button == ui_text("window.command.share_as")
    assert desk.window.banners.isVisible()


def test_nobody_asks_for_a_page_that_has_no_place(desk, chosen):
    desk.open("ab")
    before = len(desk.window.banners.banners)
    desk.window.commands["file.share"].trigger()
    assert chosen["title"] == ui_text("window.command.share_title")
    assert not any(isinstance(request, ShareTrace) for request in desk.session.worker_pool.decode.pending)
    assert len(desk.window.banners.banners) == before


def test_a_broken_grammar_is_shared_as_the_last_good_one(desk, chosen, tmp_path):
    desk.open("ab")
    step(desk, 1)
    desk.document.set_text("(ab")
    desk.wait(lambda: bool(desk.session.compiling.stale_reason))
    chosen["path"] = tmp_path / "page.html"
    share(desk)
    found = data_of(tmp_path / "page.html")
    assert found["grammar"] == "ab"
    assert len(found["steps"]) == 1


def test_a_trace_whose_model_is_not_there_is_shared_as_it_was_saved(desk, chosen, tmp_path):
    desk.open("ab")
    step(desk, 2)
    trace = desk.document.content.trace
    desk.document.replace(
        DocumentFile(title="Saved", grammar=GrammarPart(text="ab"), model=ModelPart("no such model"), trace=trace)
    )
    desk.wait(lambda: not desk.session.worker_pool.decode.pending)
    chosen["path"] = tmp_path / "page.html"
    share(desk)
    found = data_of(tmp_path / "page.html")
    assert len(found["branches"][0]["steps"]) == 2
    assert found["title"] == "Saved"


def test_a_bug_bundle_is_saved_without_the_home_folder(desk, chosen, tmp_path):
    desk.open("[ab]{5,9}c")
    step(desk, 2)
    desk.session.decoding.set_prompt(f"read {Path.home()}/notes")
    chosen["path"] = tmp_path / "bug"
    desk.window.commands["file.bundle"].trigger()
    path = tmp_path / "bug.zip"
    desk.wait(path.exists)
    with zipfile.ZipFile(path) as archive:
        contents = {name: archive.read(name).decode() for name in archive.namelist()}
    assert {"grammar.regex", "prompt.json", "ids.json", "replay.html", "manifest.json"} <= contents.keys()
    assert all(str(Path.home()) not in text for text in contents.values())
    assert "reduced.regex" in json.loads(contents["manifest.json"])["left_out"]


def test_a_bundle_that_cannot_be_written_says_why(desk, chosen, tmp_path):
    desk.open("[ab]{5,9}c")
    (tmp_path / "bug.zip").mkdir()
    chosen["path"] = tmp_path / "bug.zip"
    desk.window.commands["file.bundle"].trigger()
    desk.wait(lambda: bool(desk.window.banners.banners))
    assert "bug.zip" in desk.window.banners.banners[-1].notification.text
