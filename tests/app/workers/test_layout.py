import pytest

from app.graph.layout.types import LayoutRequest
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


def test_an_unknown_request_is_a_bug():
    with pytest.raises(TypeError):
        handle("nonsense")
