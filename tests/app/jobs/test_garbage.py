import gc
import threading


class Loop:
    """Garbage that only the collector finds, and that tells which thread it was taken apart on."""

    def __init__(self, ended):
        self.itself = self
        self.ended = ended

    def __del__(self):
        self.ended.append(threading.get_ident())


def make_many():
    for _ in range(100):
        [[] for _ in range(10_000)]


def test_no_other_thread_takes_garbage_apart(qtbot):
    ended: list[int] = []
    for _ in range(1_000):
        Loop(ended)
    busy = threading.Thread(target=make_many)
    busy.start()
    busy.join()
    qtbot.waitUntil(lambda: len(ended) == 1_000)
    assert set(ended) == {threading.get_ident()}


def test_python_collects_by_itself_again(qapp, garbage):
    assert not gc.isenabled()
    garbage.stop()
    assert gc.isenabled()


def test_the_oldest_generation_that_is_due_is_collected(qapp, garbage):
    collected: list[int] = []
    gc.callbacks.append(watch := lambda phase, told: collected.append(told["generation"]) if phase == "stop" else None)
    try:
        gc.collect()
        garbage.collect_due()
        before = list(collected)
        kept = [[] for _ in range(gc.get_threshold()[0] + 100)]
        garbage.collect_due()
    finally:
        gc.callbacks.remove(watch)
    assert kept
    assert before == [2]
    assert collected == [2, 0]
