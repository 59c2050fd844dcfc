"""The folder of a test as a part of the import path, as if its extension were installed."""

import sys

import pytest

from engine.export.targets import TARGETS
from engine.models.load import SOURCES
from engine.notations import NOTATIONS
from engine.peers.registry import PEERS

REGISTRIES = (TARGETS, SOURCES, PEERS, NOTATIONS)


@pytest.fixture(autouse=True)
def installed(request, monkeypatch):
    monkeypatch.syspath_prepend(str(request.path.parent))
    for registry in REGISTRIES:
        registry.find_again()
    yield
    monkeypatch.undo()
    for name in [name for name in sys.modules if name.partition(".")[0] == "turnstile_extensions"]:
        del sys.modules[name]
    for registry in REGISTRIES:
        registry.find_again()
