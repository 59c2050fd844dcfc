"""The ratchet: how many cases of each file pass on each path. `tests/data/ratchet.json` may rise but not fall.

`python -m tests.corpus` runs all paths and prints the counts; `--raise` writes the ratchet, which refuses to fall
unless cases were removed on purpose and `--lower` is given too. `--peers` counts the answers of other engines as well.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.corpus.case import cases
from tests.corpus.paths import PATHS

FILE = Path(__file__).parents[1] / "data" / "ratchet.json"


@dataclass
class Tally:
    """The results of the cases of one file on one path."""

    passed: int = 0
    refused: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)


def run(path: str, group: str) -> Tally:
    """Run the cases of one file on one path."""
    tally = Tally()
    for case in cases():
        outcome = PATHS[path](case) if case.group == group else None
        if outcome is None:
            continue
        if outcome.problem:
            tally.wrong.append(f"{case.name}: {outcome.problem}")
        elif outcome.refused:
            tally.refused.append(f"{case.name}: {outcome.refused}")
        else:
            tally.passed += 1
    return tally


def groups() -> list[str]:
    """Return the names of all files of cases."""
    return sorted({case.group for case in cases()})


def read() -> dict[str, Any]:
    """Return the ratchet: by path and file, the number of cases that pass."""
    content: dict[str, Any] = json.loads(FILE.read_text("utf-8")) if FILE.exists() else {"passed": {}}
    return content


def write(content: dict[str, Any]) -> None:
    """Write the ratchet."""
    FILE.write_text(json.dumps(content, ensure_ascii=False, indent=2) + "\n", "utf-8")


def fallen(found: dict[str, dict[str, int]]) -> list[str]:
    """Return each path and file with fewer passed cases than in the ratchet."""
    before = {(path, group): count for path, counts in read()["passed"].items() for group, count in counts.items()}
    now = Counter({(path, group): count for path, counts in found.items() for group, count in counts.items()})
    return [
        f"{path}, {group}: {now[path, group]} cases pass, {count} before"
        for (path, group), count in before.items()
        if now[path, group] < count
    ]
