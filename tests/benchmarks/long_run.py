"""Opens thousands of documents, restarts workers, takes steps: what grows with them.

    python tests/benchmarks/long_run.py [--documents 2000] [--restarts 1000] [--steps 100000]

Each line has the slopes of memory (MB), descriptors and processes for each hour of the work, with their intervals at
95%, after a warm-up of a fifth of it; a slope is not above zero if its interval begins at or below zero. Only stalls in
which the GUI thread itself worked for 50 ms count, so that the neighbours of a busy machine do not.
"""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from desk import Desk
from PySide6.QtWidgets import QApplication
from vocabulary_models import decode_handler

from app.document import DocumentFile, GrammarPart, ModelPart
from app.document.gallery import examples
from tests.app.user.recorder import Recorder

MODEL, EACH = "smollm2", 500


def open_documents(desk: Desk, count: int) -> None:
    """Open examples one after the other, each when the one before it is drawn."""
    gallery = examples()
    for number in range(count):
        document = gallery[number % len(gallery)].document()
        desk.document.replace(DocumentFile(grammar=document.grammar, model=ModelPart(MODEL), prompt=document.prompt))
        quiet(desk)


def restart_workers(desk: Desk, count: int) -> None:
    """Restart the worker processes, and wait until a step is possible again."""
    for _ in range(count):
        desk.window.commands["run.workers"].trigger()
        quiet(desk)
        desk.until(lambda: not desk.session.step_refusal)


def take_steps(desk: Desk, count: int) -> None:
    """Take steps, and begin anew after some hundreds."""
    desk.document.replace(
        DocumentFile(grammar=GrammarPart(text="[a-z ]*"), model=ModelPart(MODEL), max_tokens=10 * EACH)
    )
    desk.until(lambda: not desk.session.step_refusal)
    decoding = desk.session.decoding
    for taken in range(count):
        if taken % EACH == 0 and taken:
            decoding.restart()
            desk.until(lambda: decoding.view.trace.current is None)
        before = len(decoding.view.trace.path)
        decoding.step()
        desk.until(lambda before=before: len(decoding.view.trace.path) > before)  # type: ignore[misc]


def quiet(desk: Desk) -> None:
    """Wait until no worker has anything to do."""
    desk.until(lambda: desk.session.decoding.view.grammar_revision == desk.document.revision)
    desk.until(lambda: not any(group.pending for group in desk.session.worker_pool))


def measure(desk: Desk, name: str, work: Callable[[Desk, int], None], count: int) -> None:
    """Print what some work costs.

    Args:
        desk: the window.
        name: its name.
        work: the work.
        count: how often it is done.
    """
    gc.collect()
    recorder = Recorder()
    work(desk, count)
    figures = recorder.summary({name: count})
    recorder.stop()
    for key, value in figures.items():
        sys.stdout.write(f"  {key}: {value}\n")
    sys.stdout.flush()


def main() -> None:
    """Do what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    works = {"documents": (open_documents, 2_000), "restarts": (restart_workers, 1_000), "steps": (take_steps, 100_000)}
    for name, (_, usual) in works.items():
        parser.add_argument(f"--{name}", type=int, default=usual)
    options = parser.parse_args()
    app = QApplication(sys.argv[:1])
    with tempfile.TemporaryDirectory() as folder:
        desk = Desk(Path(folder), app, decode_handler)
        desk.open("a", MODEL)
        gc.freeze()
        for name, (work, _) in works.items():
            count = getattr(options, name)
            if count:
                sys.stdout.write(f"{count:,} {name}\n")
                measure(desk, name, work, count)
        desk.close()


if __name__ == "__main__":
    main()
