"""Answers about forced runs made by hand, for the tests of what shows them."""

from __future__ import annotations

from app.workers.forced_messages import ForcedAnswer, RunRow, TokenRunRow

RUNS = (
    RunRow(0, 9, b"", b'{"name":"', 36, ('{"', "name", '":"')),
    RunRow(10, 24, b'{"name":"J', b'ohn","age":', 48, ()),
)
FORCED = ForcedAnswer(1, RUNS, (TokenRunRow(25, ("0", "}")),), (28, 5), (28, 5))
