"""Every request has one handler, and the handler returns the request's answer."""

import importlib
import inspect
import pickle
import pkgutil
import typing

import pytest

from app.graph.layout import railroad
from app.graph.match import rules
from app.workers import requests
from app.workers.handlers import compile_handler, decode_handler, engines_handler, judge_handler, layout_handler
from app.workers.loop import Handler, handles
from app.workers.protocol import WorkerRequest
from app.workers.requests.decode import DecodeView, SessionRequest, Why, WhyAnswer
from app.workers.requests.export import ExportRequest, ExportWithModel
from app.workers.requests.forced import ForcedRequest
from engine.automata.rtn import rule_positions
from engine.source import CancelToken, InvariantError

MODULES = [
    importlib.import_module(f"app.workers.requests.{one.name}") for one in pkgutil.iter_modules(requests.__path__)
]
NAMES = {name: value for module in (railroad, rules, rule_positions, *MODULES) for name, value in vars(module).items()}
REQUESTS = [
    one
    for module in MODULES
    for one in vars(module).values()
    if inspect.isclass(one) and issubclass(one, WorkerRequest) and one.__module__ == module.__name__
]
ANSWERED = [one for one in REQUESTS if one not in (SessionRequest, ForcedRequest)]
HANDLERS = {
    "compile": compile_handler,
    "decode": decode_handler,
    "engines": engines_handler,
    "judge": judge_handler,
    "layout": layout_handler,
}


def answer_of(kind):
    """Return the type that a request's class gives its base."""
    for base in (base for owner in kind.__mro__ for base in getattr(owner, "__orig_bases__", ())):
        (answer,) = typing.get_args(base)
        return eval(answer.__forward_arg__, NAMES) if isinstance(answer, typing.ForwardRef) else answer
    raise AssertionError(kind)


@pytest.fixture(scope="module")
def methods():
    return {group: make().methods for group, make in HANDLERS.items()}


@pytest.mark.parametrize("kind", ANSWERED, ids=lambda kind: kind.__name__)
def test_a_request_has_one_handler_that_returns_its_answer(methods, kind):
    (method,) = [found[kind] for found in methods.values() if kind in found]
    annotations = inspect.get_annotations(method)
    parameter = next(iter(annotations))
    assert eval(annotations[parameter], NAMES) is kind
    returned = annotations["return"]
    if returned.startswith("Callable[[], "):
        returned = returned.removeprefix("Callable[[], ").removesuffix("]")
    assert eval(returned, NAMES) == answer_of(kind)


def test_nothing_else_has_a_handler(methods):
    assert {kind for found in methods.values() for kind in found} == set(ANSWERED)


def test_a_request_inherits_the_answer_of_another():
    assert answer_of(ExportWithModel) is answer_of(ExportRequest) is NAMES["ExportAnswer"]


def test_two_handlers_of_a_request_are_refused():
    class Twice(Handler):
        @handles(Why)
        def first(self, request: Why, _job: object) -> WhyAnswer: ...

        @handles(Why)
        def second(self, request: Why, _job: object) -> WhyAnswer: ...

    with pytest.raises(InvariantError):
        Twice()


@pytest.mark.parametrize("make", HANDLERS.values(), ids=HANDLERS)
def test_a_request_of_no_group_is_a_bug(make):
    class Foreign(WorkerRequest[DecodeView]):
        pass

    with pytest.raises(TypeError):
        make().handle(Foreign(), CancelToken(), print)


@pytest.mark.parametrize("kind", ANSWERED, ids=lambda kind: kind.__name__)
def test_a_request_is_frozen_and_small(kind):
    assert kind.__dataclass_params__.frozen
    assert "__dict__" not in dir(kind)
    assert pickle.loads(pickle.dumps(kind)) is kind
