"""A session without a display: the same window and workers, painted to a file after the first steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication

from app.catalogue import ui_text
from app.window.main_window import MainWindow
from engine.decoding.values import Step, Trace
from engine.source.number_format import percent_between, percent_column
from engine.vocabulary.visible import visible

_STEPS = 3
_POLL_MS = 50
_SETTLE_MS = 400  # for the layout and the plots of the last step
_PATIENCE_MS = 120_000  # a first start compiles kernels


def play(
    app: QApplication,
    window: MainWindow,
    documents: Sequence[Path],
    picture: Path,
    say: Callable[[str], None],
    complain: Callable[[str], None],
) -> int:
    """Take the first steps, print them, paint the window; return the exit code.

    Args:
        app: the application, whose event loop runs until the picture is written.
        window: the window.
        documents: the documents to open; none for the first example.
        picture: the file of the picture.
        say: prints a line of the result.
        complain: prints a failure.
    """
    window.show()
    window.begin(*documents)
    session = window.session
    if not session.document.content.trace.nodes:
        session.decoding.step_when_ready(_STEPS)
    poll = QTimer(window, interval=_POLL_MS)

    def look() -> None:
        view = session.decoding.view
        position = view.position
        if position is not None and (len(view.trace.path) >= _STEPS or position.finish is not None):
            poll.stop()
            QTimer.singleShot(_SETTLE_MS, window, lambda: finish(0))

    def finish(code: int) -> None:
        poll.stop()
        for line in _lines(session.decoding.view.trace):
            say(line)
        if not window.grab().save(str(picture)):
            complain(ui_text("window.offscreen.not_written", path=picture))
            code = 1
        else:
            say(ui_text("window.offscreen.written", path=picture))
        window.close_without_asking()
        app.exit(code)

    def give_up() -> None:
        reason = session.step_refusal or ui_text("window.offscreen.silent")
        complain(ui_text("window.offscreen.no_steps", reason=reason))
        finish(1)

    poll.timeout.connect(look)
    poll.start()
    QTimer.singleShot(_PATIENCE_MS, window, give_up)
    return app.exec()


def _lines(trace: Trace) -> list[str]:
    steps = {node.id: node.step for node in trace.nodes}
    taken = [steps[node_id] for node_id in trace.path]
    head = f"{'token':<16}{'p':>9}{'p masked':>10}{'Z':>9}"
    return [head, *map(_line, taken)]


def _line(step: Step) -> str:
    p, masked = (percent_column(p) if step.was_queried else "–" for p in (step.p, step.p_masked))
    z = (
        "–"
        if step.z_range is None
        else percent_column(step.z)
        if step.z_bounds is None
        else percent_between(*step.z_bounds)
    )
    return f"{_shown(step):<16}{p:>9}{masked:>10}{z:>9}"


def _shown(step: Step) -> str:
    return step.name or visible(step.token or b"")
