"""Differences of two engines on one grammar: where their masks part, why, and a text that shows it."""

from engine.diagnosis.differences.attached import MOST_SERVER_STEPS, AttachedEngine
from engine.diagnosis.differences.comparison import MOST_STEPS, WalkOptions, compare_engines, compare_named
from engine.diagnosis.differences.engines import ComparedEngine, PeerEngine, nearest_options
from engine.diagnosis.differences.sentences import cause_sentence, refusal_sentence, verdict_sentence
from engine.diagnosis.differences.values import CauseKind, Difference, DifferenceReport, DiffVerdict, Direction, Parting

__all__ = [
    "MOST_SERVER_STEPS",
    "MOST_STEPS",
    "AttachedEngine",
    "CauseKind",
    "ComparedEngine",
    "DiffVerdict",
    "Difference",
    "DifferenceReport",
    "Direction",
    "Parting",
    "PeerEngine",
    "WalkOptions",
    "cause_sentence",
    "compare_engines",
    "compare_named",
    "nearest_options",
    "refusal_sentence",
    "verdict_sentence",
]
