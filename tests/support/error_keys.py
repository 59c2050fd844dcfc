"""Expect an error by the key of its text and by values, or a finding by its code, and not by a sentence."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from engine.source import EngineError
from engine.source.text import GrammarError


@contextmanager
def raises_key(kind: type[EngineError], key: str, /, **values: object) -> Iterator[pytest.ExceptionInfo[EngineError]]:
    """Expect an error.

    Args:
        kind: its class, or one above.
        key: the key of its text.
        values: some of the values of its fields, or of its other attributes such as `given`.
    """
    with pytest.raises(kind) as caught:
        yield caught
    assert caught.value.key == key
    known = {**vars(caught.value), **caught.value.fields}
    assert {name: known.get(name) for name in values} == values


@contextmanager
def raises_code(code: str) -> Iterator[pytest.ExceptionInfo[GrammarError]]:
    """Expect that a grammar does not compile, with a finding of this code."""
    with pytest.raises(GrammarError) as caught:
        yield caught
    assert code in {finding.code for finding in caught.value.diagnostics}
