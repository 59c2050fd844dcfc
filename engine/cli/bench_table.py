"""The table of `turnstile bench`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from engine.peers import Comparison

_SHOWN = 5  # of the cases that an engine did not finish; --json has them all

_HEAD = (
    "engine",
    "done",
    "compile p50 ms",
    "first mask p50 ms",
    "p99 ms",
    "token mean µs",
    "p50 µs",
    "p99 µs",
    "agrees",
    "FR+FA",
)


def table(found: Sequence[Comparison]) -> str:
    """Return one row per engine, below it the ratios to this engine, and notes on unfinished cases at the end."""
    rows: list[tuple[str, ...]] = [_HEAD]
    for comparison in found:
        engine = comparison.engine
        if engine.absent is None:
            rows.append((f"{engine.name} {engine.version}", *_row(comparison)))
            if comparison.ratios is not None:
                ratios = (_number(value, "×") for value in _values(comparison.ratios))
                rows.append((f"  to ours, on {comparison.common}", "", *ratios, "", ""))
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEAD))]
    lines = [
        "  ".join(cell.ljust(width) if column == 0 else cell.rjust(width) for column, (cell, width) in cells).rstrip()
        for cells in (enumerate(zip(row, widths, strict=True)) for row in rows)
    ]
    notes = [note for comparison in found for note in _notes(comparison)]
    return "\n".join([*lines, *([""] if notes else []), *notes])


def _row(comparison: Comparison) -> tuple[str, ...]:
    engine = comparison.engine
    done = sum(case.ending == "done" for case in engine.cases)
    labelled = f"{comparison.false_rejects}+{comparison.false_accepts}" if comparison.labelled else "-"
    return (
        f"{done}/{len(engine.cases)}",
        *(_number(value) for value in _values(comparison.times)),
        f"{comparison.agreed}/{comparison.judged}",
        labelled,
    )


def _values(times: object) -> list[float | None]:
    return [getattr(times, name) for name in times.__dataclass_fields__]  # type: ignore[attr-defined]


def _number(value: float | None, unit: str = "") -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}{unit}" if value >= 100 else f"{value:.3g}{unit}"


def _notes(comparison: Comparison) -> list[str]:
    engine = comparison.engine
    if engine.absent is not None:
        return [f"{engine.name}: {engine.absent}"]
    undone = [case for case in engine.cases if case.ending != "done"]
    notes = [f"{engine.name} {case.ending}: {case.name}: {case.reason}"[:200] for case in undone[:_SHOWN]]
    return notes + ([f"{engine.name}: {len(undone) - _SHOWN} more; --json lists them"] if len(undone) > _SHOWN else [])
