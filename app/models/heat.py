"""The heat of rules, keywords and other parts of a grammar's text: its levels, its words, and its order."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, field
from enum import IntEnum
from math import ceil, isinf
from typing import Final

from PySide6.QtCore import QObject, Qt

from app.catalogue import ui_text
from app.models.rows import RowsModel
from engine.decoding.values import Bounds
from engine.diagnosis.scores.price_texts import nats_text
from engine.diagnosis.test_strings.values import (
    TEXT_END,
    Coverage,
    CoverageMeasure,
    CoverageSource,
    LostMass,
    PartRow,
    RuleRow,
)
from engine.source import Span
from engine.source.number_format import UNKNOWN, percent, percent_between
from engine.vocabulary.visible import visible

LOST_FROM: Final = (0.01, 0.1, 0.5, 0.9)
"""The means from which on what was lost has the next higher level."""
PRICE_FROM: Final = (0.01, 0.1, 0.5, 2.0)
"""The prices from which on the level is the next higher one, in nats for each text."""
LEVELS: Final = len(LOST_FROM) + 1
MOST_ROWS: Final = 200
_LONGEST_NAME = 60


def lost_level(lost: LostMass, measure: CoverageMeasure, texts: int) -> int | None:
    """Return the level of what was lost, at least; None if it is unknown.

    Args:
        lost: what was lost.
        measure: the mean of the steps, or the price of each text.
        texts: the number of texts.
    """
    limits = PRICE_FROM if measure is CoverageMeasure.PRICE else LOST_FROM
    found = price_per_text(lost, texts) if measure is CoverageMeasure.PRICE else lost.mean
    if found is None or (found.low <= 0 and found.high >= limits[0]):
        return None
    return bisect_right(limits, found.low)


def price_per_text(lost: LostMass, texts: int) -> Bounds | None:
    """Return bounds of the price for each text on average, in nats; None if nothing is known of it."""
    return Bounds(lost.least_nats / texts, lost.most_nats / texts) if lost.known and texts else None


def visit_level(share: float) -> int:
    """Return the level of a share of the texts: one for each fifth."""
    return min(max(ceil(share * LEVELS), 1), LEVELS) - 1


def lost_text(lost: LostMass, measure: CoverageMeasure, texts: int) -> str:
    """Return what was lost, at how many steps, and the most probable token that was forbidden.

    Args:
        lost: what was lost.
        measure: the mean of the steps, or the price of each text.
        texts: the number of texts.
    """
    if not lost.steps:
        return ui_text("automaton.coverage.no_steps")
    mean, steps = lost.mean, ui_text("common.count.steps", count=lost.steps)
    price = price_per_text(lost, texts)
    if mean is None or price is None:
        return ui_text("automaton.coverage.lost_unknown", steps=steps)
    if measure is CoverageMeasure.PRICE:
        parts = [ui_text("automaton.coverage.price", nats=nats_text(price), steps=steps)]
    else:
        parts = [ui_text("automaton.coverage.lost", mean=percent_between(*mean), steps=steps)]
    if lost.known < lost.steps:
        parts.append(ui_text("automaton.coverage.fragment.unknown", count=lost.steps - lost.known))
    if lost.token:
        parts.append(ui_text("automaton.coverage.fragment.wanted", token=visible(lost.token), p=percent(lost.p)))
    return "; ".join(parts)


@dataclass(frozen=True, slots=True)
class HeatRow:
    """A rule, a keyword or another part of the grammar's text.

    Attributes:
        name: what it is.
        span: its span.
        rule: its name, if it is a rule; else empty.
        level: its level; None if it is unknown.
        text: how many texts use it, and what was lost there, in sentences.
        texts: how many texts use it.
        lost: what was lost there.
        price: bounds of its price for each text; None if unknown.
    """

    name: str
    span: Span
    rule: str
    level: int | None
    text: str
    texts: int = 0
    lost: LostMass = field(default_factory=LostMass)
    price: Bounds | None = None

    @property
    def is_end(self) -> bool:
        """Return whether it is the end of the texts, which has no place in the grammar."""
        return not self.span.end and not self.rule


def measures_lost(source: CoverageSource, measure: CoverageMeasure) -> bool:
    """Return whether what was lost is measured: test strings have no probabilities."""
    return measure is not CoverageMeasure.VISITS and source is not CoverageSource.TESTS


def heat_rows(
    coverage: Coverage, source: CoverageSource, measure: CoverageMeasure, *, has_all: bool = False
) -> tuple[HeatRow, ...]:
    """Return the rules and parts that texts use, the hottest first, at most `MOST_ROWS`.

    Args:
        coverage: the coverage.
        source: its texts.
        measure: what is measured: by it, rows are sorted and have levels.
        has_all: whether there is no limit, and a row for the end of the texts.
    """
    measure = measure if measures_lost(source, measure) else CoverageMeasure.VISITS
    rows: list[RuleRow | PartRow] = [*coverage.rules, *coverage.parts]
    used = [one for one in rows if one.texts or one.lost.steps]
    used.sort(key=lambda row: _key(row, measure))
    most, total = len(used) if has_all else MOST_ROWS, coverage.followed
    found = [_row(one, total, source, measure) for one in used[:most]]
    end = sum((lost for key, lost in coverage.lost.items() if key.target == TEXT_END), LostMass())
    if has_all and end.steps:
        level, text, price = lost_level(end, measure, total), lost_text(end, measure, total), price_per_text(end, total)
        found.append(HeatRow(ui_text("automaton.heat.end"), Span(0, 0), "", level, text, end.steps, end, price))
    return tuple(found)


def _key(one: RuleRow | PartRow, measure: CoverageMeasure) -> tuple[float, float, Span]:
    """Return the key by which rows are sorted: by what was lost in total, at least, or by the number of texts."""
    match measure:
        case CoverageMeasure.LOST:
            return -one.lost.least, -one.lost.most, one.span
        case CoverageMeasure.PRICE:
            return -one.lost.least_nats, -one.lost.most_nats, one.span
    return -one.texts, 0.0, one.span


def _row(one: RuleRow | PartRow, total: int, source: CoverageSource, measure: CoverageMeasure) -> HeatRow:
    is_rule = isinstance(one, RuleRow)
    name = ui_text("common.fragment.rule", name=one.name) if is_rule else " ".join(one.name.split())[:_LONGEST_NAME]
    is_visits = measure is CoverageMeasure.VISITS
    texts = ui_text("automaton.coverage.fragment.texts", count=total)
    parts = [ui_text("automaton.coverage.fragment.used", count=one.texts, texts=texts)]
    if source is not CoverageSource.TESTS:
        parts.insert(int(is_visits), lost_text(one.lost, measure, total))
    level = visit_level(one.texts / max(total, 1)) if is_visits else lost_level(one.lost, measure, total)
    price = price_per_text(one.lost, total)
    return HeatRow(name, one.span, one.name if is_rule else "", level, "; ".join(parts), one.texts, one.lost, price)


class HeatColumn(IntEnum):
    """The columns of the table."""

    PART = 0
    TEXTS = 1
    TOTAL = 2
    MEAN = 3
    PRICE = 4
    WORST = 5
    STEPS = 6
    WANTED = 7


class HeatModel(RowsModel):
    """Rules, keywords and the end of the texts, with how many texts use each and what was lost there."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        names = [column.name.lower() for column in HeatColumn]
        self.titles = tuple(ui_text(f"automaton.heat.column.{name}") for name in names)
        self.tips = tuple(ui_text(f"automaton.heat.column_tip.{name}") for name in names)
        self.numbers = frozenset(HeatColumn) - {HeatColumn.PART, HeatColumn.WANTED}

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; equal rows keep their order."""
        is_backwards = order is Qt.SortOrder.DescendingOrder
        self.show_rows(tuple(sorted(self.rows, key=lambda row: _sort_key(row, column), reverse=is_backwards)))

    def text(self, row: HeatRow, column: int) -> str:
        """Return the text of a cell; what is unknown is a question mark, and empty where there is no step."""
        lost = row.lost
        match HeatColumn(column):
            case HeatColumn.PART:
                return row.name
            case HeatColumn.TEXTS:
                return f"{row.texts:,}"
            case HeatColumn.STEPS:
                return f"{lost.steps:,}" if lost.steps else ""
            case HeatColumn.WANTED:
                return f"“{visible(lost.token)}” {percent(lost.p)}" if lost.token else ""
            case _ if not lost.steps:
                return ""
            case _ if lost.mean is None:
                return UNKNOWN
            case HeatColumn.MEAN | HeatColumn.WORST:
                return percent(lost.worst) if column == HeatColumn.WORST else percent_between(*lost.mean)
            case HeatColumn.PRICE:
                return UNKNOWN if row.price is None else _range_text(*row.price)
            case _:
                return ui_text("automaton.heat.tokens", value=_range_text(lost.least, lost.most))

    def tip(self, row: HeatRow, column: int) -> str:
        """Return what is known of a row, in sentences; of the worst step, the end of the output before it."""
        lost = row.lost
        if column == HeatColumn.WORST and lost.output:
            before = visible(lost.output[max(0, lost.at - _LONGEST_NAME) : lost.at])
            return ui_text("automaton.heat.worst", mass=percent(lost.worst), before=before)
        return f"{row.name}: {row.text}"


def _range_text(low: float, high: float) -> str:
    if isinf(high):
        return f"≥{low:,.2f}"
    first, last = f"{low:,.2f}", f"{high:,.2f}"
    return first if first == last else f"{first}–{last}"


def _sort_key(row: HeatRow, column: int) -> tuple[float, float] | tuple[str, float]:
    lost = row.lost
    match HeatColumn(column):
        case HeatColumn.PART:
            return row.name.casefold(), 0.0
        case HeatColumn.TEXTS:
            return row.texts, 0.0
        case HeatColumn.TOTAL:
            return lost.least, lost.most
        case HeatColumn.MEAN:
            return (lost.mean.low, lost.mean.high) if lost.mean else (-1.0, -1.0)
        case HeatColumn.PRICE:
            return row.price or (-1.0, -1.0)
        case HeatColumn.WORST:
            return lost.worst, 0.0
        case HeatColumn.STEPS:
            return lost.steps, 0.0
    return lost.p, 0.0
