"""The examples in docstrings are run as they stand."""

from __future__ import annotations

import doctest
import importlib

import pytest

MODULES = [
    "engine.decoding",
    "engine.decoding.constraints.zones",
    "engine.decoding.processors.grammar_mask",
    "engine.decoding.processors.character_classes",
    "engine.decoding.processors.dfa_table",
    "engine.decoding.processors.grammar_mask",
    "engine.decoding.processors.guide",
    "engine.decoding.processors.pattern",
    "engine.decoding.processors.processor",
    "engine.decoding.processors.guide",
    "engine.decoding.processors.suppress",
]


@pytest.mark.parametrize("name", MODULES)
def test_the_examples_of_a_module(name):
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted
    assert not found.failed


def test_every_processor_is_at_the_door():
    decoding = importlib.import_module("engine.decoding")
    for name in decoding.__all__:
        assert getattr(decoding, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = decoding.nothing
