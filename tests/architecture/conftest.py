"""Fixtures of the architecture tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from syntax import parsed


@pytest.fixture(autouse=True, scope="package")
def sources_are_parsed_once() -> Iterator[None]:
    """Forget the syntax trees of the product and of the tests, a quarter of a gigabyte, after the last test."""
    yield
    parsed.cache_clear()
