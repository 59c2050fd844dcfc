"""Print, for each layout, how many labels of 200 grammars are hidden, and what overlaps: `tests/app/graph/layout`.

.venv/bin/python tests/benchmarks/label_overlaps.py
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
sys.path.insert(0, str(Path(__file__).parents[2]))

from PySide6.QtWidgets import QApplication

from app.graph.layout.types import METHODS
from tests.app.graph.layout.test_overlaps import SMALL, Measured, automata, measure


def line(name: str, found: list[Measured]) -> str:
    """Return the figures of one layout."""
    labels, hidden, faults = (
        sum(one.labels for one in found),
        sum(one.hidden for one in found),
        sum(len(one.faults) for one in found),
    )
    worst = [
        max((one.hidden / max(1, one.labels) for one in found if (one.nodes <= SMALL) is small), default=0.0)
        for small in (True, False)
    ]
    return (
        f"{name:16} {len(found):5} drawings, {labels} labels, {hidden} hidden, at most {worst[0]:.0%} up to {SMALL} "
        f"nodes and {worst[1]:.0%} above; {sum(one.hides_too_many for one in found)} hide too many; {faults} overlaps"
    )


application = QApplication(sys.argv)
for method in ("", *METHODS):
    for downwards in (False, True):
        found = [measure(dfa, method, downwards=downwards) for dfa in automata().values()]
        sys.stdout.write(line(f"{method or 'best'}, {'down' if downwards else 'right'}", found) + "\n")
        sys.stdout.flush()
