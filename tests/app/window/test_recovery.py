"""Work that a crash left behind: shown or offered, saved or discarded, and nothing lost on any of these ways."""

from __future__ import annotations

import os
import time

import msgspec
import pytest
from catalogue_texts import shows
from decode_views import trace
from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QApplication, QFileDialog, QMessageBox

from app.catalogue import ui_text
from app.document import DocumentFile, GrammarPart, ModelPart, Saved, last_document
from app.document import file as document_file
from app.document.autosave import read_saved
from app.window.process_end import ProcessEnd
from engine.document.codec import encode
from tests.app.window.conftest import Desk


def leave(tmp_path, text="crashed", *, path="", saved_at=None, name="left", ended_by="", tokens=0):
    """Write the autosave of a window that is no more."""
    content = DocumentFile(
        title="Left work",
        grammar=GrammarPart("regex", text),
        model=ModelPart("letters"),
        trace=trace((b"a",) * tokens),
    )
    (tmp_path / "autosave").mkdir(exist_ok=True)
    saved = Saved(str(path), time.time() if saved_at is None else saved_at, content, ended_by)
    (tmp_path / "autosave" / f"{name}.autosave").write_bytes(msgspec.json.encode(saved))
    return saved


def strip(desk, text):
    found = [banner for banner in desk.window.banners.banners if text in banner.notification.text]
    return found[0] if found else None


def banner_of(desk, key):
    found = [banner for banner in desk.window.banners.banners if shows(banner.notification.text, key)]
    return found[0] if found else None


def click(desk, button):
    desk.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def text_of(desk):
    return desk.document.content.grammar.text


def left_behind(tmp_path, desk):
    """The autosaves that are not this window's own."""
    desk.document.autosave.flush()
    own = {one.autosave.file for one in desk.document.documents}
    return [file for file in (tmp_path / "autosave").glob("*.autosave") if file not in own]


def saved_file(tmp_path, text="on the disk", name="work.turnstile"):
    path = tmp_path / name
    content = DocumentFile(grammar=GrammarPart("regex", text), model=ModelPart("letters"))
    path.write_bytes(encode(content))
    os.utime(path, (time.time() - 100, time.time() - 100))
    return path


def test_the_strip_says_what_was_recovered(desk, tmp_path):
    before = time.strftime("%H:%M")
    leave(tmp_path, tokens=233)
    after = time.strftime("%H:%M")
    desk.window.begin()
    banner = strip(desk, "closed unexpectedly")
    assert banner.notification.text.startswith(
        ui_text("window.recovery.crashed") + ". Recovered “Left work” with 233 tokens, from "
    )
    assert banner.notification.text.endswith((f"{before}.", f"{after}."))
    assert (banner.button.text(), banner.other_button.text()) == ("Save", "Discard")
    assert text_of(desk) == "crashed"


@pytest.mark.parametrize(
    ("ended_by", "cause"),
    [
        ("", ui_text("window.recovery.crashed")),
        ("SIGTERM", ui_text("window.recovery.signalled", signal="SIGTERM")),
        ("session", ui_text("window.recovery.session_ended")),
    ],
)
def test_the_strip_says_why(desk, tmp_path, ended_by, cause):
    leave(tmp_path, ended_by=ended_by, saved_at=1.5e9)
    desk.window.begin()
    assert "from 2017-07-1" in strip(desk, cause).notification.text


def test_save_in_the_strip_saves_and_closes_it(desk, tmp_path, monkeypatch):
    target = tmp_path / "kept.turnstile"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_args, **_named: (str(target), ""))
    leave(tmp_path)
    desk.window.begin()
    click(desk, strip(desk, "Recovered").button)
    assert document_file.read_document(target).grammar.text == "crashed"
    assert strip(desk, "Recovered") is None


def test_a_save_that_is_cancelled_leaves_the_strip(desk, tmp_path, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_args, **_named: ("", ""))
    leave(tmp_path)
    desk.window.begin()
    click(desk, strip(desk, "Recovered").button)
    assert strip(desk, "Recovered").other_button.text() == "Discard"
    assert text_of(desk) == "crashed"


def test_any_save_closes_the_strip(desk, tmp_path):
    leave(tmp_path)
    desk.window.begin()
    desk.document.set_text("and more")
    assert strip(desk, "Recovered") is not None
    desk.document.save(tmp_path / "kept.turnstile")
    assert strip(desk, "Recovered") is None


def test_another_document_closes_the_strip(desk, tmp_path):
    leave(tmp_path)
    desk.window.begin()
    desk.document.replace(DocumentFile())
    assert strip(desk, "Recovered") is None


@pytest.mark.parametrize("has_file", [True, False])
def test_discard_shows_the_file_as_it_is_and_can_be_undone(desk, tmp_path, has_file):
    path = saved_file(tmp_path) if has_file else ""
    leave(tmp_path, path=path)
    desk.window.begin()
    assert (text_of(desk), desk.document.is_modified) == ("crashed", True)
    click(desk, strip(desk, "Recovered").other_button)
    assert text_of(desk) == ("on the disk" if has_file else r"[A-Z]+: [a-z]+\n")
    assert not desk.document.is_modified
    assert left_behind(tmp_path, desk) == []
    click(desk, strip(desk, "discarded").button)
    assert (text_of(desk), desk.document.is_modified) == ("crashed", True)
    assert desk.document.path == (path or None)


def test_older_work_is_offered_after_the_latest_is_saved(desk, tmp_path):
    leave(tmp_path, "older", saved_at=1e9, name="older")
    leave(tmp_path, "latest")
    desk.window.begin()
    assert text_of(desk) == "latest"
    assert banner_of(desk, "window.recovery.offered") is None
    desk.document.save(tmp_path / "kept.turnstile")
    click(desk, banner_of(desk, "window.recovery.offered").button)
    assert text_of(desk) == "older"


def test_damaged_files_are_reported_in_one_strip(workers, qtbot, tmp_path, qapp):
    (tmp_path / "autosave").mkdir()
    for name in ("preferences.json", "session.json", "autosave/one.autosave", "autosave/two.autosave"):
        (tmp_path / name).write_bytes(b"\xff")
    texts = []
    for _ in range(2):
        desk = Desk(qtbot, tmp_path, qapp)
        desk.window.begin()
        texts.append(
            [banner.notification.text for banner in desk.window.banners.banners if "amaged" in banner.notification.text]
        )
        desk.close()
    (told,), second = texts
    assert "preferences.json, session.json, 2 autosaves" in told
    assert second == []
    assert len(list(tmp_path.rglob("*.damaged-*"))) == 4


# --- with a file on the command line ---------------------------------------------------------------------------------


def test_the_file_that_was_asked_for_opens_and_the_work_is_offered(desk, tmp_path):
    asked = saved_file(tmp_path)
    leave(tmp_path, path=tmp_path / "other.turnstile", tokens=3)
    desk.window.begin(asked)
    assert (text_of(desk), desk.document.path, desk.document.is_modified) == ("on the disk", asked, False)
    banner = strip(desk, "“other” with 3 tokens")
    assert (banner.button.text(), banner.other_button.text()) == ("Show", "Discard")
    assert len(left_behind(tmp_path, desk)) == 1
    click(desk, banner.button)
    assert (text_of(desk), desk.document.is_modified) == ("crashed", True)
    assert left_behind(tmp_path, desk) == []
    assert strip(desk, "Recovered “other”") is not None


def test_work_that_is_not_decided_about_is_there_at_the_next_start(desk, tmp_path):
    leave(tmp_path)
    desk.window.begin(saved_file(tmp_path))
    strip(desk, "is available").dismiss()
    desk.window.close_without_asking()
    assert len(list((tmp_path / "autosave").glob("*.autosave"))) == 1


def test_work_that_was_offered_is_discarded_and_can_be_had_back(desk, tmp_path):
    leave(tmp_path)
    desk.window.begin(saved_file(tmp_path))
    click(desk, strip(desk, "is available").other_button)
    assert left_behind(tmp_path, desk) == []
    assert text_of(desk) == "on the disk"
    click(desk, strip(desk, "discarded").button)
    assert len(left_behind(tmp_path, desk)) == 1
    click(desk, strip(desk, "is available").button)
    assert text_of(desk) == "crashed"


def test_work_that_is_shown_is_in_a_tab_beside_unsaved_work(desk, tmp_path):
    leave(tmp_path)
    desk.window.begin(saved_file(tmp_path))
    desk.document.set_text("not saved")
    click(desk, strip(desk, "is available").button)
    assert text_of(desk) == "crashed"
    assert [one.content.grammar.text for one in desk.document.documents] == ["not saved", "crashed"]


def test_work_on_the_file_that_was_asked_for_is_shown_at_once(desk, tmp_path):
    asked = saved_file(tmp_path)
    leave(tmp_path, path=asked)
    (tmp_path / "link.turnstile").symlink_to(asked)
    desk.window.begin(tmp_path / "link.turnstile")
    assert (text_of(desk), desk.document.path) == ("crashed", asked)
    assert strip(desk, "Recovered “work”") is not None


def test_a_file_that_is_newer_than_the_work_on_it_is_opened(desk, tmp_path):
    asked = saved_file(tmp_path)
    leave(tmp_path, path=asked, saved_at=time.time() - 1_000)
    desk.window.begin(asked)
    assert text_of(desk) == "on the disk"
    assert strip(desk, "is available") is not None


def test_a_file_that_does_not_open_leaves_the_work(desk, tmp_path):
    leave(tmp_path)
    desk.window.begin(tmp_path / "nowhere.turnstile")
    assert text_of(desk) == "crashed"
    assert strip(desk, "nowhere.turnstile cannot be read") is not None


# --- the end of the desktop session ----------------------------------------------------------------------------------


def test_the_end_of_the_desktop_session_keeps_unsaved_work_and_asks_nothing(desk, tmp_path, monkeypatch):
    def ask(*_args, **_named):
        raise AssertionError("nobody is there to answer")

    monkeypatch.setattr(QMessageBox, "question", ask)
    desk.window.begin()
    desk.document.set_text("unsaved")
    desk.window.prepare_for_session_end()
    (file,) = (tmp_path / "autosave").glob("*.autosave")
    saved = read_saved(file.read_bytes(), file.name)
    assert (saved.document.grammar.text, saved.ended_by) == ("unsaved", "session")
    assert desk.window.close()
    assert file.exists()
    assert last_document.read(desk.settings.session_path).document is None


def test_work_that_goes_on_after_a_cancelled_end_is_asked_about(desk, monkeypatch):
    asked = []
    monkeypatch.setattr(QMessageBox, "question", lambda *_args: asked.append(1) or QMessageBox.StandardButton.Cancel)
    desk.window.begin()
    desk.document.set_text("unsaved")
    desk.window.prepare_for_session_end()
    desk.document.set_text("and more")
    event = QCloseEvent()
    desk.window.closeEvent(event)
    assert (asked, event.isAccepted()) == ([1], False)


def test_work_that_is_saved_leaves_nothing_to_recover(desk, tmp_path):
    desk.window.begin()
    desk.document.set_text("saved")
    desk.document.save(tmp_path / "kept.turnstile")
    desk.window.prepare_for_session_end()
    assert desk.window.close()
    assert list((tmp_path / "autosave").glob("*.autosave")) == []
    assert last_document.read(desk.settings.session_path).document.grammar.text == "saved"


class SessionDouble(QObject):
    """An application whose desktop session ends: the real signals carry a manager that nobody else can make."""

    commitDataRequest = Signal(object)  # noqa: N815 - Qt's own names
    saveStateRequest = Signal(object)  # noqa: N815


def test_both_requests_of_a_session_manager_are_heard(qapp):
    heard, app = [], SessionDouble()
    endings = [ProcessEnd(one, lambda _name: None, lambda: heard.append(1)) for one in (qapp, app)]
    app.commitDataRequest.emit(None)
    app.saveStateRequest.emit(None)
    for ending in reversed(endings):
        ending.stop()
        ending.deleteLater()
        QApplication.sendPostedEvents(ending, QEvent.Type.DeferredDelete)
    assert heard == [1, 1]
