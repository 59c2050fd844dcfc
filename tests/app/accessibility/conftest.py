"""A whole window with small models, for the tests that walk through it."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from tests.app.user.own_window import OwnWindow


@pytest.fixture
def desk(workers, qtbot, qtlog, tmp_path, monkeypatch) -> Iterator[OwnWindow]:
    desk = OwnWindow(qtbot, qtlog, tmp_path, random.Random(0), monkeypatch)
    desk.settle()
    yield desk
    desk.close()
