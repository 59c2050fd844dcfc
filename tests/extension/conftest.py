"""The folder of a test as a part of the import path, as if its extension were installed."""

import sys

import pytest

from engine.decoding.forced.strategies import STRATEGIES
from engine.decoding.stages import STAGES
from engine.export.targets import TARGETS
from engine.models.load import SOURCES
from engine.notations import NOTATIONS
from engine.peers.registry import PEERS
from engine.source.catalogue import area_texts, catalogue_entry
from engine.source.registry import EXTENSIONS

REGISTRIES = (TARGETS, SOURCES, PEERS, NOTATIONS, STAGES, STRATEGIES)


@pytest.fixture(autouse=True)
def installed(request, monkeypatch):
    monkeypatch.syspath_prepend(str(request.path.parent))
    look_again()
    yield
    monkeypatch.undo()
    for name in [name for name in sys.modules if name.partition(".")[0] == EXTENSIONS]:
        del sys.modules[name]
    look_again()


def look_again():
    for registry in REGISTRIES:
        registry.find_again()
    area_texts.cache_clear()
    catalogue_entry.cache_clear()
