"""Steps through what was found in the automaton."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from app.panes.automaton.finder import Hit
from app.widgets.find_bar import FindBar


class HitSearch(QObject):
    """Show the hits of a search in a find bar, and step through them.

    Attributes:
        hits: what was found, the likeliest first.

    Signals:
        hit_wanted(Hit): the user goes to a hit.
    """

    hit_wanted = Signal(object)

    def __init__(self, bar: FindBar) -> None:
        super().__init__(bar)
        self._bar = bar
        self.hits: Sequence[Hit] = ()
        self._current = -1
        bar.step_requested.connect(self._go)

    def show_hits(self, hits: Sequence[Hit]) -> None:
        """Show the hits; Return goes to the first one."""
        self.hits, self._current = hits, -1
        self._bar.set_can_step(can_step=bool(hits))
        if not self._bar.text():
            self._bar.set_result("")
        elif not hits:
            self._bar.set_result("Nothing found")
        else:
            more = f" · {len(hits):,} found" if len(hits) > 1 else ""
            self._bar.set_result(f"{hits[0].says}{more}", hits[0].says)

    def _go(self, step: int) -> None:
        if not self.hits:
            return
        is_first_step_back = self._current < 0 and step < 0
        self._current = len(self.hits) - 1 if is_first_step_back else (self._current + step) % len(self.hits)
        hit = self.hits[self._current]
        self._bar.set_result(f"{hit.says} · {self._current + 1:,} of {len(self.hits):,}", hit.says)
        self.hit_wanted.emit(hit)
