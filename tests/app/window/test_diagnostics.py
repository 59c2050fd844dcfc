"""What Help offers for a report, and what stalls leave in the log."""

import logging
import time

import pytest
from PySide6.QtCore import QObject
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QApplication

from app import diagnostic_log
from app.catalogue import ui_text
from app.window.stall_watch import StallWatch


def test_copy_details_copies_versions_and_says_so(desk):
    desk.window.commands["help.details"].trigger()
    assert "Python 3." in QApplication.clipboard().text()
    assert desk.window.banners.banners[-1].notification.text == ui_text("window.main.details_copied")


@pytest.mark.parametrize("opens", [True, False])
def test_show_log_folder_opens_it_or_says_where_it_is(desk, tmp_path, monkeypatch, opens):
    opened = []
    monkeypatch.setattr(diagnostic_log, "folder", lambda: tmp_path)
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: opened.append(url.toLocalFile()) or opens)
    desk.window.commands["help.log"].trigger()
    assert opened == [str(tmp_path)]
    said = [banner.notification.text for banner in desk.window.banners.banners]
    assert any(str(tmp_path) in text for text in said) is not opens


def test_a_window_without_a_log_says_so(desk):
    desk.window.commands["help.log"].trigger()
    assert desk.window.banners.banners[-1].notification.text == ui_text("window.main.no_log")


def test_a_stall_of_the_event_loop_is_logged_with_the_work_in_it(qtbot, caplog, monkeypatch):
    owner = QObject()
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    watch = StallWatch(owner)
    with caplog.at_level(logging.WARNING):
        now[0] += 0.6
        watch.check()
        assert caplog.text == ""
        now[0] += 2.5
        watch.check()
    assert "stalled for 2000 ms" in caplog.text
    owner.deleteLater()


def test_the_manual_opens_from_the_disk_or_the_window_says_how_it_is_built(desk, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: bool(opened.append(url.toLocalFile()) or True))
    monkeypatch.setattr("app.window.main_window.files", lambda _: tmp_path)
    desk.window.commands["help.manual"].trigger()
    assert opened == []
    assert desk.window.banners.banners[-1].notification.text == ui_text("window.main.no_manual")
    page = tmp_path / "manual" / "html" / "index.html"
    page.parent.mkdir(parents=True)
    page.touch()
    desk.window.commands["help.manual"].trigger()
    assert opened == [str(page)]
