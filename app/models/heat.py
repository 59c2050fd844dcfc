"""The heat of rules, keywords and other parts of a grammar's text: its levels, its words, and its order."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from math import ceil
from typing import Final

from app.catalogue import ui_text
from engine.diagnosis.test_strings.values import Coverage, CoverageMeasure, CoverageSource, LostMass, PartRow, RuleRow
from engine.source import Span
from engine.source.number_format import UNKNOWN, percent, percent_between
from engine.vocabulary.visible import visible

LOST_FROM: Final = (0.001, 0.01, 0.1, 0.5)
"""The means from which on what was lost has the next higher level."""
LEVELS: Final = len(LOST_FROM) + 1
MOST_ROWS: Final = 200
_LONGEST_NAME = 60


def lost_level(lost: LostMass) -> int | None:
    """Return the level of the mean of what was lost, at least; None if it is unknown."""
    mean = lost.mean
    if mean is None or (mean.low <= 0 and mean.high >= LOST_FROM[0]):
        return None
    return bisect_right(LOST_FROM, mean.low)


def visit_level(share: float) -> int:
    """Return the level of a share of the texts: one for each fifth."""
    return min(max(ceil(share * LEVELS), 1), LEVELS) - 1


def lost_text(lost: LostMass) -> str:
    """Return what was lost on average, at how many steps, and the most probable token that was forbidden."""
    if not lost.steps:
        return ui_text("automaton.coverage.no_steps")
    mean, steps = lost.mean, ui_text("common.count.steps", count=lost.steps)
    if mean is None:
        return ui_text("automaton.coverage.lost_unknown", steps=steps)
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
        figures: the same in figures, what is measured first.
    """

    name: str
    span: Span
    rule: str
    level: int | None
    text: str
    figures: str


def measures_lost(source: CoverageSource, measure: CoverageMeasure) -> bool:
    """Return whether what was lost is measured: test strings have no probabilities."""
    return measure is CoverageMeasure.LOST and source is not CoverageSource.TESTS


def heat_rows(coverage: Coverage, source: CoverageSource, measure: CoverageMeasure) -> tuple[HeatRow, ...]:
    """Return the rules and parts that texts use, the hottest first, at most `MOST_ROWS`.

    Args:
        coverage: the coverage.
        source: its texts.
        measure: what is measured: by it, rows are sorted and have levels.
    """
    is_lost = measures_lost(source, measure)
    rows: list[RuleRow | PartRow] = [*coverage.rules, *coverage.parts]
    used = [one for one in rows if one.texts or one.lost.steps]
    used.sort(key=lambda row: _key(row, is_lost=is_lost))
    return tuple(_row(one, coverage.followed, source, is_lost=is_lost) for one in used[:MOST_ROWS])


def _key(one: RuleRow | PartRow, *, is_lost: bool) -> tuple[float, float, Span]:
    """Return the key by which rows are sorted: by what was lost in total, at least, or by the number of texts."""
    if is_lost:
        return -one.lost.least, -one.lost.most, one.span
    return -one.texts, 0.0, one.span


def _row(one: RuleRow | PartRow, total: int, source: CoverageSource, *, is_lost: bool) -> HeatRow:
    is_rule = isinstance(one, RuleRow)
    name = ui_text("common.fragment.rule", name=one.name) if is_rule else " ".join(one.name.split())[:_LONGEST_NAME]
    texts = ui_text("automaton.coverage.fragment.texts", count=total)
    parts = [ui_text("automaton.coverage.fragment.used", count=one.texts, texts=texts)]
    if source is not CoverageSource.TESTS:
        parts.insert(0 if is_lost else 1, lost_text(one.lost))
    level = lost_level(one.lost) if is_lost else visit_level(one.texts / max(total, 1))
    figures = [ui_text("automaton.heat.fragment.texts", count=one.texts, total=total)]
    if source is not CoverageSource.TESTS:
        figures.insert(0 if is_lost else 1, _figures(one.lost))
    return HeatRow(name, one.span, one.name if is_rule else "", level, "; ".join(parts), "  ·  ".join(figures))


def _figures(lost: LostMass) -> str:
    """Return the mean, the total, the number of steps and the most probable forbidden token, in a few words."""
    steps = ui_text("common.count.steps", count=lost.steps)
    if lost.mean is None:
        return f"{UNKNOWN}  ·  {steps}" if lost.steps else ui_text("automaton.coverage.no_steps")
    figures = [percent_between(*lost.mean), steps]
    if lost.known < lost.steps:
        figures.append(ui_text("automaton.coverage.fragment.unknown", count=lost.steps - lost.known))
    if lost.token:
        figures.append(f"“{visible(lost.token)}” {percent(lost.p)}")
    return "  ·  ".join(figures)
