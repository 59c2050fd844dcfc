"""What all tests of the application share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication

from app.jobs import GarbageCollector


@pytest.fixture(autouse=True)
def garbage(qapp: QApplication) -> Iterator[GarbageCollector]:
    """Garbage is collected as in the application: by the GUI thread alone."""
    collector = GarbageCollector(qapp)
    yield collector
    collector.stop()
    collector.collect_due()
    collector.deleteLater()
