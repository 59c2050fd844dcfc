"""The application as a process: what it imports, that it plays without a display, that it leaves nothing running."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest
from PySide6.QtGui import QImage

from app.catalogue import ui_text
from app.main import has_display

ROOT = Path(__file__).parents[2]
HEAVY = ("torch", "transformers", "numba", "pygraphviz", "networkx", "pyqtgraph", "fast_sugiyama", "tokenizers")


def python(*arguments, **environment):
    env = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    env.update(environment)
    return subprocess.run(
        [sys.executable, *arguments], cwd=ROOT, env=env, capture_output=True, text=True, timeout=280, check=False
    )


def test_the_window_imports_nothing_heavy():
    code = f"""
import sys
import app.main, app.window.main_window, app.window.offscreen
print([name for name in {HEAVY} if name in sys.modules])
"""
    assert python("-c", code).stdout.strip() == "[]"


def test_the_main_module_is_light_because_every_worker_imports_it():
    code = "import sys, app.main; print([name for name in ('PySide6', 'numpy') if name in sys.modules])"
    assert python("-c", code).stdout.strip() == "[]"


def test_the_messages_bring_neither_qt_nor_numpy():
    code = """
import sys
import app.workers.protocol, app.workers.loop
print([name for name in ('PySide6', 'numpy', 'torch', 'numba') if name in sys.modules])
"""
    assert python("-c", code).stdout.strip() == "[]"


@pytest.mark.parametrize("name", ["DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"])
def test_a_display_is_found_by_its_name(monkeypatch, name):
    for other in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(other, raising=False)
    if sys.platform not in ("win32", "darwin"):
        assert not has_display()
    monkeypatch.setenv(name, "x")
    assert has_display()


def test_without_a_display_the_session_is_played_and_drawn_as_sharp_as_it_is_asked_for(tmp_path):
    env = dict(os.environ, PYTHONPATH=str(ROOT), QT_SCALE_FACTOR="2")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        env.pop(name, None)
    played = subprocess.run(
        [sys.executable, "-m", "app.main"],
        cwd=tmp_path,
        env=env,
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert played.returncode == 0, played.stdout + played.stderr
    lines = played.stdout.splitlines()
    assert "no display" in lines[0]
    assert lines[1].split() == ["token", "p", "p", "masked", "Z"]
    assert len(lines) == 2 + 3 + 1
    assert lines[-1] == ui_text("window.offscreen.written", path="turnstile.png")
    picture = QImage(str(tmp_path / "turnstile.png"))
    assert (picture.width(), picture.height()) == (3200, 2000)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("missing.turnstile", None),
        ("missing.gbnf", None),
        ("broken.turnstile", "{"),
        ("damaged.turnstile", '{"format": "turnstile", "version": 1, "grammar": 3}'),
        ("a.png", ""),
    ],
)
def test_without_a_display_a_file_that_cannot_be_opened_is_misuse(tmp_path, name, content):
    """Else the session of an example would be played in its place, and end well."""
    file = tmp_path / name
    if content is not None:
        file.write_text(content)
    environment = {"PYTHONPATH": str(ROOT)}
    found = python("-m", "app.main", str(file), QT_QPA_PLATFORM="", **environment)
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr.startswith(f"turnstile: {name} ")
    assert found.stderr.count("\n") == 1
    drawn = tmp_path / "picture.png"
    found = python("-m", "app.main", str(file), "--screenshot", str(drawn), QT_QPA_PLATFORM="offscreen", **environment)
    assert found.returncode == 2
    assert not drawn.exists()


def test_work_survives_kill_9_and_the_workers_do_not(tmp_path):
    state = {"XDG_STATE_HOME": str(tmp_path), "QT_QPA_PLATFORM": "offscreen"}
    process = subprocess.Popen(
        [sys.executable, "-c", EDIT], cwd=ROOT, env=dict(os.environ, **state), text=True, stdout=subprocess.PIPE
    )
    assert process.stdout.readline().strip() == "saved"
    workers = psutil.Process(process.pid).children(recursive=True)
    assert len(workers) >= 3
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    _, alive = psutil.wait_procs(workers, timeout=60)
    assert alive == []
    recovered = python("-c", RECOVER, **state)
    assert recovered.stdout.strip().splitlines() == ["precious+", "closed unexpectedly"], recovered.stderr


START = """
import sys
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
from app.document import Autosave, Document
from app.session import Session, WorkerPool
from app.settings import Settings
from app.window.main_window import MainWindow
app = QApplication([])
document = Document(Autosave())
window = MainWindow(Session(document, WorkerPool()), Settings())
window.show()
window.begin()
"""
EDIT = (
    START
    + """
document.set_text("precious+")
pool = window.session.worker_pool
groups = [group for group in pool if group is not pool.engines]  # which starts when engines are compared
def look():
    if document.shown.autosave.file.exists() and all(group.pid for group in groups):
        print("saved", flush=True)
        timer.stop()
timer = QTimer(interval=20)
timer.timeout.connect(look)
if __name__ == "__main__":
    timer.start()
    app.exec()
"""
)
RECOVER = (
    START
    + """
print(window.panes.editor.text())
texts = [banner.notification.text for banner in window.banners.banners]
print(*("closed unexpectedly" for text in texts if "closed unexpectedly" in text))
window.close_without_asking()
"""
)


def test_closing_the_window_ends_at_once():
    ended = python("-m", "app.main", "--exit-after-paint", QT_QPA_PLATFORM="offscreen")
    assert ended.returncode == 0
    assert ended.stdout.strip() == "painted"


def test_a_session_manager_can_restart_the_window():
    ended = python("-m", "app.main", "-session", "1021_1", "--exit-after-paint", QT_QPA_PLATFORM="offscreen")
    assert (ended.returncode, ended.stdout.strip()) == (0, "painted"), ended.stderr
