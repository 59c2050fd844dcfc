import threading

import pytest

from app.graph.layout.types import LayoutAnswer, LayoutRequest
from app.workers.layout import LayoutHandler
from app.workers.requests.layout import LayOut, LayOutPlainly
from engine.source import CancelToken

GRAPH = LayoutRequest(4, ((0, 30.0, 30.0), (1, 30.0, 30.0)), ((0, 1, 10.0, 8.0),), 0)


def handle(request):
    return LayoutHandler().handle(request, CancelToken(), lambda _value: None)


def test_a_small_graph_is_laid_out_by_dot():
    answer = handle(LayOut(GRAPH))
    assert (answer.revision, answer.method) == (4, "dot")


def test_the_plain_layout_serves_any_graph():
    answer = handle(LayOutPlainly(GRAPH))
    assert (answer.revision, answer.method) == (4, "layered")
    assert answer.positions.keys() == {0, 1}
    assert answer.curves.keys() == {(0, 1)}


def test_warming_loads_the_library():
    LayoutHandler().warm()


def test_a_request_waits_until_the_library_is_warm(monkeypatch):
    handler, inside, may_end = LayoutHandler(), threading.Event(), threading.Event()
    order: list[str] = []

    def slow(request, *, plainly=False):
        order.append(f"begins {request.revision}")
        inside.set()
        assert may_end.wait(30)
        order.append(f"ends {request.revision}")
        return LayoutAnswer(request.revision, {}, {}, {}, "", 0.0)

    monkeypatch.setattr("app.workers.layout.lay_out", slow)
    warming = threading.Thread(target=handler.warm)
    warming.start()
    assert inside.wait(30)
    asked = threading.Thread(target=handler.handle, args=(LayOut(GRAPH), CancelToken(), lambda _value: None))
    asked.start()
    may_end.set()
    warming.join()
    asked.join()
    assert order == ["begins -1", "ends -1", "begins 4", "ends 4"]


def test_an_unknown_request_is_a_bug():
    with pytest.raises(TypeError):
        handle("nonsense")
