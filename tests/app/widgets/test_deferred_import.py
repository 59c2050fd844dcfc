"""In processes of their own: a test process imported pyqtgraph long ago, or others want it to."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
START = """
import sys, threading
sys.path.insert(0, {support!r})
from import_guard import ImportGuard
from PySide6.QtWidgets import QApplication
from app.widgets.deferred_import import PLOTS, DeferredImport, Library
guard = ImportGuard()
guard.install()
app = QApplication([])
"""


def run(code, **environment):
    support = str(ROOT / "tests" / "support")
    done = subprocess.run(
        [sys.executable, "-c", START.format(support=support) + code],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=280,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


def test_the_plots_are_imported_by_the_gui_thread_and_whole():
    code = """
library = DeferredImport(PLOTS)
library.ready.connect(app.quit)
library.failed.connect(lambda reason: sys.exit(reason))
library.begin()
assert not library.is_ready
app.exec()
print(guard.found)
import pyqtgraph
early = set(vars(pyqtgraph))
import importlib
for name in [name for name in sys.modules if name.partition('.')[0] == 'pyqtgraph']:
    del sys.modules[name]
print(sorted(set(vars(importlib.import_module('pyqtgraph'))) - early))
print(type(pyqtgraph.PlotWidget()).__name__)
"""
    assert run(code) == ["[]", "[]", "PlotWidget"]


def test_two_panes_that_open_at_once_share_one_import():
    code = """
from app.widgets import deferred_import
panes, ready = [DeferredImport(PLOTS), DeferredImport(PLOTS)], []
for number, pane in enumerate(panes):
    pane.ready.connect(lambda number=number: (ready.append(number), len(ready) == 2 and app.quit()))
    pane.begin()
print(len(deferred_import._imports), panes[0]._import is panes[1]._import)
app.exec()
print(sorted(ready), guard.found)
third = DeferredImport(PLOTS)
third.ready.connect(app.quit)
third.begin()
app.exec()
print(third.is_ready)
"""
    assert run(code) == ["1 True", "[0, 1] []", "True"]


def test_an_import_goes_on_where_the_pane_that_began_it_is_gone():
    code = """
import shiboken6
from PySide6.QtCore import QTimer
first, second = DeferredImport(PLOTS), DeferredImport(PLOTS)
first.begin()
def hand_over():
    shiboken6.delete(first)
    second.begin()
QTimer.singleShot(0, hand_over)
second.ready.connect(app.quit)
app.exec()
print(second.is_ready)
"""
    assert run(code) == ["True"]


@pytest.mark.parametrize(
    ("library", "reason"),
    [
        ("Library('nothing_of_this_name')", "No module named 'nothing_of_this_name'"),
        ("Library('broken_library')", "broken as planted"),
        ("Library('pyqtgraph', without_qt=('broken_library',))", "broken as planted"),
    ],
)
def test_a_library_that_does_not_load_is_reported_once(tmp_path, library, reason):
    (tmp_path / "broken_library.py").write_text("works = True\nraise RuntimeError('broken as planted')\n")
    code = f"""
import logging
logging.disable()
library = DeferredImport({library})
library.failed.connect(lambda reason: (print(reason), app.quit()))
library.begin()
app.exec()
library.begin()
print(library.is_ready, library.has_failed, 'broken_library' in sys.modules)
"""
    assert run(code, PYTHONPATH=str(tmp_path)) == [reason, "False True False"]


def test_statements_are_compiled_as_the_module_says(tmp_path):
    (tmp_path / "annotated.py").write_text("from __future__ import annotations\ndef f(x: nothing): ...\ndone = True\n")
    code = """
library = DeferredImport(Library('annotated'))
library.ready.connect(app.quit)
library.failed.connect(lambda reason: sys.exit(reason))
library.begin()
app.exec()
import annotated
print(annotated.done, annotated.f.__annotations__)
"""
    assert run(code, PYTHONPATH=str(tmp_path)) == ["True {'x': 'nothing'}"]
