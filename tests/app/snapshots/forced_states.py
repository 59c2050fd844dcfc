"""The pane of forced runs: its pages, filled and in trouble."""

from __future__ import annotations

from decode_views import FORCED
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.catalogue import ui_text
from app.panes.forced.pane import ForcedPane, Page
from app.workers.requests.forced import (
    CompareSpellings,
    ForcedAnswer,
    IndexAnswer,
    SpellingRow,
    SpellingsAnswer,
    StrategiesAnswer,
    StrategyRow,
)
from tests.app.snapshots.making import POLL_MS, State, shown

SPELLINGS = (
    SpellingRow((5,), ("name",), -1.5, (0.9, 0.08), 0.02, is_own=True, is_likeliest=True),
    SpellingRow((1, 2), ("n", "ame"), -9.25, (0.4, None), 0.6, is_own=False, is_likeliest=False),
    SpellingRow((1, 3, 4), ("n", "am", "e"), -14.5, (0.2, 0.1), 0.7, is_own=False, is_likeliest=False),
)
STRATEGIES = (
    StrategyRow("none", 14, 14, 0, 0, 0.52, 0.61, '{"name":"John","age":20}'),
    StrategyRow("own", 14, 6, 8, 0, 0.24, 0.28, '{"name":"John","age":20}'),
    StrategyRow("probable", 15, 9, 6, 1, 0.37, 0.45, '{"name":"Paul","age":31}'),
)
INDEX = IndexAnswer(
    1,
    '0: "{" → 1, "{\\"" → 2\n1: "\\"" → 2\n2: "name" → 6, "n" → 3\n3: "ame" → 6, "am" → 5\n6: "\\":\\"" → 9',
    '{"0": {"90": 1, "91": 2}}',
    28,
    61,
)


def pane(page: Page = Page.RUNS) -> ForcedPane:
    """The pane with a page open."""
    made = ForcedPane()
    shown(made, 1000, 260)
    made.switches.button(page).click()
    return made


def runs(*, compared: bool = False, why_not: str = "") -> QWidget:
    """What is forced, and how one of them may be spelled."""
    made = pane()
    made.show_strategy("own")
    made.runs.show_forced(ForcedAnswer(1, why_not=why_not) if why_not else FORCED)
    made.runs.show_here(b"" if why_not else b'{"name":"')
    if compared:
        made.runs.table.selectRow(1)
        made.runs.table.chosen.emit(made.runs.table.rows.rows[1])
        request = CompareSpellings(1, b"", "name", 16)
        made.runs.show_spellings(
            SpellingsAnswer(request, b'{"name":"', (2, 6), 8, SPELLINGS, (b'John"', b""), is_exact=True)
        )
    QTest.qWait(POLL_MS)
    return made


def strategies(answer: StrategiesAnswer | None) -> QWidget:
    """What each way to take forced runs costs."""
    made = pane(Page.STRATEGIES)
    if answer is not None:
        made.strategies.begin()
        made.strategies.show_answer(answer)
    QTest.qWait(POLL_MS)
    return made


def index(answer: IndexAnswer | None) -> QWidget:
    """Where each token leads."""
    made = pane(Page.INDEX)
    if answer is not None:
        made.index.show_answer(answer)
    QTest.qWait(POLL_MS)
    return made


STATES: dict[str, State] = {
    "forced-runs": runs,
    "forced-spellings": lambda: runs(compared=True),
    "forced-error": lambda: runs(why_not=ui_text("workers.forced.needs_stack")),
    "strategies-empty": lambda: strategies(None),
    "strategies-typical": lambda: strategies(StrategiesAnswer(STRATEGIES, 3)),
    "strategies-error": lambda: strategies(StrategiesAnswer((), 3, ui_text("session.refusal.no_model"))),
    "index-empty": lambda: index(None),
    "index-typical": lambda: index(INDEX),
    "index-error": lambda: index(IndexAnswer(1, why_not=ui_text("workers.forced.needs_stack"))),
}
