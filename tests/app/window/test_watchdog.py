"""The window never stands still: each test does one kind of long work and fails if the event loop stops for 50 ms."""

import time

import pytest
from event_loop import Watchdog
from PySide6.QtCore import QTimer

from app.document import Autosave, Document
from app.session import Session, WorkerPool
from engine.decoding.values import Finish, SamplerSettings

# A stop that the window causes happens in every run; one that other programs on the machine cause does not.
pytestmark = [pytest.mark.alone, pytest.mark.flaky(reruns=2, only_rerun="the event loop stopped")]

LONGEST = 50


def test_the_watchdog_itself_bites(qtbot):
    watchdog = Watchdog()
    watchdog.start()
    QTimer.singleShot(10, lambda: work(0.1))
    qtbot.waitUntil(lambda: watchdog.longest_ms > LONGEST)
    watchdog.stop()


def test_the_watchdog_notices_a_wait_too(qtbot):
    watchdog = Watchdog()
    watchdog.start()
    QTimer.singleShot(10, lambda: time.sleep(0.7))
    qtbot.waitUntil(lambda: watchdog.longest_ms > LONGEST)
    watchdog.stop()


def work(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


def settled(desk, watchdog, text="a+b"):
    """Start watching once the window is open: what it took to open is measured by the start benchmark."""
    desk.open(text)
    desk.qtbot.wait(300)
    watchdog.start()


def draw(desk, text):
    """Set a text, and wait until its automaton is laid out; the layout of the one before may still come."""
    compiling, of_this_text = desk.session.compiling, []
    compiling.laid_out.connect(lambda _answer: of_this_text.append(compiling.last_good.request.text == text))
    desk.document.set_text(text)
    desk.wait(lambda: any(of_this_text))


def test_compiling(desk, watchdog):
    settled(desk, watchdog)
    desk.document.set_text(r"(?=.*[0-9])(?=.*[a-z])[ -~]{8,40}")
    desk.wait(lambda: desk.session.compiling.last_good.request.revision == desk.document.revision)
    desk.qtbot.wait(200)


def test_laying_out_and_drawing(desk, watchdog):
    settled(desk, watchdog)
    draw(desk, "|".join(f"({a}{b}[0-9]+)" for a in "abcdef" for b in "uvwxyz"))
    desk.qtbot.wait(200)


def test_loading_a_model(desk, watchdog):
    settled(desk, watchdog)
    desk.session.decoding.open_model("endless")
    desk.wait(lambda: desk.session.decoding.view.model.spec == "endless")


def test_loading_the_bundled_model_with_all_of_torch(qtbot, tmp_path, watchdog):
    session = Session(Document(Autosave(tmp_path)), WorkerPool())
    watchdog.start()
    session.start()
    session.decoding.open_model("shakespeare")
    qtbot.waitUntil(lambda: session.decoding.view.model is not None)
    watchdog.stop()
    session.close()


def test_generating(desk, watchdog):
    settled(desk, watchdog, "[a-z]{40}")
    desk.session.decoding.set_sampler(SamplerSettings(seed=1))
    desk.session.decoding.run()
    desk.wait(lambda: desk.session.decoding.view.position.finish is Finish.STOP)
    desk.session.decoding.sample_many(20)
    with desk.qtbot.waitSignal(desk.session.decoding.queries.sampled):
        pass


@pytest.mark.parametrize(
    ("text", "states"), [("[ab]*a[ab]{10}", 2_048), ("(?:[é-ü]|x)*[é-ü](?:[é-ü]|x){9}", 1_536)], ids=["bytes", "UTF-8"]
)
def test_a_large_automaton_arriving(desk, watchdog, text, states):
    settled(desk, watchdog)
    draw(desk, text)
    desk.qtbot.wait(200)
    assert len(desk.session.compiling.last_good.dfa.states) == states


def test_running_for_300_tokens(desk, watchdog):
    settled(desk, watchdog, "[a-z]{320}")
    desk.session.decoding.set_max_tokens(400)
    with desk.qtbot.waitSignal(
        desk.session.decoding.running_changed, check_params_cb=lambda is_running: not is_running
    ):
        desk.session.decoding.run()
    assert len(desk.session.decoding.view.trace.path) >= 300  # some tokens are two letters
