"""The diagnostic log, in processes of its own: it changes the loggers and `faulthandler` of whoever opens it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app.diagnostic_log import FILE_BYTES, RUNS

ROOT = Path(__file__).parents[2]
SECRET = "xyzzy-secret-words"
START = f"""
import logging, sys
from pathlib import Path
from app import diagnostic_log
folder = Path(sys.argv[1])
log = logging.getLogger("app.test")
secret = {SECRET!r}
"""


def run(folder, code, *, check=True):
    done = subprocess.run(
        [sys.executable, "-c", START + code, str(folder)],
        cwd=ROOT,
        env={**os.environ, "HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert not check or done.returncode == 0, done.stderr
    return done


def logs(folder):
    return "".join(file.read_text() for file in sorted(folder.glob("*.log*")))


def test_the_head_names_versions_and_the_platform(tmp_path):
    done = run(tmp_path, "print(repr(diagnostic_log.begin(folder)))\nprint(diagnostic_log.details())")
    (file,) = tmp_path.glob("*-window.log")
    for text in (file.read_text(), done.stdout):
        for name in ("Python 3.", "PySide6", "numpy", "torch", "processors"):
            assert name in text
    assert done.stdout.startswith("''\n")


def test_nothing_that_a_user_wrote_gets_into_it(tmp_path):
    code = """
diagnostic_log.begin(folder)
def inner():
    raise KeyError(secret)
for kind in (ValueError, KeyError, AssertionError, RuntimeError, UnicodeError):
    try:
        try:
            inner()
        except KeyError as error:
            raise kind(secret) from error
    except Exception as error:
        log.exception("it failed")
        log.warning("failed because of %s", error)
        log.warning("%s", diagnostic_log.of_text(secret))
try:
    open(secret)
except OSError as error:
    log.warning("cannot read: %s", error, exc_info=error)
"""
    run(tmp_path, code)
    text = logs(tmp_path)
    assert SECRET not in text
    assert "in inner" in text
    assert f"KeyError (message of {len(repr(SECRET))} characters, " in text
    assert f"{len(SECRET)} characters, " in text
    assert "FileNotFoundError: No such file or directory" in text
    assert "followed by" in text


def test_a_real_session_leaves_no_text_in_it(tmp_path):
    """Texts that compile, that do not, that fail a job, and that are generated."""
    code = f"""
sys.path.insert(0, {str(ROOT / "tests" / "support")!r})
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication
def main():
    diagnostic_log.begin(folder)
    from app.document import Autosave, Document, DocumentFile, GrammarPart, ModelPart
    from app.session import Session, WorkerPool
    from app.settings import Settings
    from app.window.main_window import MainWindow
    from app.workers.requests.compile import CompileRequest
    from engine.compile import CompileOptions
    from model_doubles import decode_handler
    app = QApplication([])
    session = Session(Document(Autosave(folder / "autosave")), WorkerPool(decode_handler=decode_handler))
    window = MainWindow(session, Settings(folder / "preferences.json"))
    failures, dead = [], []
    for group in session.worker_pool:
        group.failed.connect(lambda *_: failures.append(1))
        group.died.connect(lambda *_: dead.append(1))
    def look():
        if not steps:
            return
        if steps[0]():
            steps.pop(0)
        if not steps:
            window.close_without_asking()
    def act(work):
        work()
        return True
    decoding = session.decoding
    def fail():
        session.worker_pool.compile.ask(CompileRequest(99, secret, secret, CompileOptions()), session)
        session.worker_pool.decode.ask(CompileRequest(99, secret, secret, CompileOptions()), session)
    grammar = "(?:" + secret.replace("-", "[-]") + ")"
    part = GrammarPart("regex", grammar)
    content = DocumentFile(title=secret, grammar=part, model=ModelPart("letters"), prompt=secret)
    steps = [
        lambda: act(session.start),
        lambda: act(lambda: session.document.replace(content)),
        lambda: not session.step_refusal,
        lambda: act(lambda: decoding.run()),
        lambda: not decoding.is_running and decoding.view.position.output == secret.encode(),
        lambda: act(fail),
        lambda: len(failures) >= 2,
        lambda: act(lambda: session.document.set_text(grammar + "(")),
        lambda: bool(session.compiling.stale_reason),
        lambda: act(lambda: __import__("os").kill(session.worker_pool.compile.pid, 9)),
        lambda: bool(dead),
        lambda: act(lambda: print(diagnostic_log.details())),
    ]
    timer = QTimer(interval=20)
    timer.timeout.connect(look)
    timer.start()
    window.show()
    app.exec()
if __name__ == "__main__":
    main()
"""
    script = tmp_path / "session.py"
    script.write_text(START + code)
    done = subprocess.run(
        [sys.executable, script, tmp_path / "log"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    text = logs(tmp_path / "log")
    for told in (text, done.stdout):
        assert SECRET not in told
        assert SECRET.replace("-", "[-]") not in told
        assert "CompileRequest failed in process compile" in told
        assert "process compile died with exit code -9" in told
    assert "job " in "".join(file.read_text() for file in (tmp_path / "log").glob("*-decode.log"))
    assert "[decode]" in done.stdout


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows ends processes in other ways")
def test_a_crash_of_native_code_is_in_it_before_and_after_a_rotation(tmp_path):
    crash = "import ctypes\nctypes.string_at(0)\n"
    run(tmp_path / "one", "diagnostic_log.begin(folder)\n" + crash, check=False)
    assert "Segmentation fault" in logs(tmp_path / "one")
    code = f"diagnostic_log.begin(folder)\nfor _ in range(20_000): log.info('x' * 100)\n{crash}"
    run(tmp_path / "two", code, check=False)
    (latest,) = (tmp_path / "two").glob("*.log")
    assert "Segmentation fault" in latest.read_text()


def test_its_size_is_bounded(tmp_path):
    run(tmp_path, "diagnostic_log.begin(folder)\nfor _ in range(40_000): log.info('x' * 100)")
    assert len(list(tmp_path.iterdir())) == 2
    assert sum(file.stat().st_size for file in tmp_path.iterdir()) <= 2 * FILE_BYTES


def test_the_latest_runs_are_kept_and_those_of_open_windows(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    for number in range(RUNS + 5):
        for process in ("window.log", "window.log.1", "decode.log"):
            (tmp_path / f"20200101-0000{number:02}-{gone.pid}-{process}").write_text("")
    alive = tmp_path / f"20190101-000000-{os.getpid()}-window.log"
    alive.write_text("")
    (tmp_path / "notes.txt").write_text("not ours")
    run(tmp_path, "diagnostic_log.begin(folder)")
    runs = {"-".join(file.name.split("-")[:3]) for file in tmp_path.glob("*.log*")}
    assert len(runs) == RUNS + 1
    assert alive.exists()
    assert (tmp_path / "notes.txt").exists()


def test_a_folder_that_cannot_be_written_is_reported_and_costs_nothing_else(tmp_path):
    (tmp_path / "file").write_text("")
    code = "print(diagnostic_log.begin(folder / 'file' / 'log'))\nlog.warning('hello')\n"
    code += "print(diagnostic_log.folder(), diagnostic_log.log_of('decode'))\nprint(diagnostic_log.details())"
    done = run(tmp_path, code)
    lines = done.stdout.splitlines()
    assert lines[0] in ("Not a directory", "File exists")
    assert lines[1] == "None None"
    assert lines[2].startswith("Python 3.")
    assert "hello" in done.stderr


def test_a_full_disk_raises_nothing(tmp_path):
    code = """
diagnostic_log.begin(folder)
handler = logging.getLogger("app").handlers[0]
class Full:
    def write(self, text): raise OSError(28, "No space left on device")
    def flush(self): pass
    def close(self): pass
    def tell(self): return 0
    def seek(self, *_): pass
handler.stream = Full()
log.info("lost")
print("still here")
"""
    done = run(tmp_path, code)
    assert done.stdout == "still here\n"
    assert "Traceback" not in done.stderr


def test_warnings_still_reach_the_terminal(tmp_path):
    done = run(tmp_path, "diagnostic_log.begin(folder)\nlog.info('quiet')\nlog.warning('loud')")
    assert done.stderr == "loud\n"


def test_lines_of_all_processes_come_in_the_order_of_their_times(tmp_path):
    code = """
diagnostic_log.begin(folder)
name = next(folder.glob("*-window.log")).name.removesuffix("-window.log")
lines = ["2000-01-01T00:00:00.000 INFO app: early", "    and its traceback", "2999-01-01T00:00:00.000 INFO app: late"]
(folder / f"{name}-decode.log").write_text("\\n".join(lines) + "\\n")
print(diagnostic_log.details())
"""
    said = run(tmp_path, code).stdout
    early, traceback, window, late = (said.index(text) for text in ("early", "and its", "[window]", "late"))
    assert early < traceback < window < late
    assert "2000-01-01T00:00:00.000 [decode] INFO app: early" in said
    assert time.strftime("%Y-") in said
