"""Nothing compares the names of strategies, for forced runs and for drawing texts: code asks their objects."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from syntax import parsed

from engine.decoding.forced.strategies import STRATEGIES
from engine.decoding.strategies.decoders import DECODERS

ROOT = Path(__file__).resolve().parents[2]
NAMES = {*STRATEGIES.names, *DECODERS.names}
OTHER_WORDS = {  # "none" is a value of a request's `reasoning_effort` and `tool_choice`
    "engine/diagnosis/intake/request_reader.py",
    "engine/diagnosis/failures/tool_rules.py",
}
MODULES = sorted(
    name
    for package in ("app", "engine")
    for path in (ROOT / package).rglob("*.py")
    if not (name := path.relative_to(ROOT).as_posix()).startswith("engine/decoding/forced/strategies/")
    and name not in OTHER_WORDS
)


def compared(source: str) -> list[int]:
    """Return the lines that compare a value with the name of a strategy, or with a constant of their registry."""
    return sorted(
        {
            part.lineno
            for node in ast.walk(parsed(source))
            if isinstance(node, ast.Compare | ast.MatchValue)
            for part in ast.walk(node)
            if (isinstance(part, ast.Constant) and isinstance(part.value, str) and part.value in NAMES)
            or (isinstance(part, ast.Name) and part.id in ("OFF", "PREFERRED"))
        }
    )


def test_no_module_compares_the_name_of_a_strategy():
    found = {name: compared((ROOT / name).read_text("utf-8")) for name in MODULES}
    assert {name: lines for name, lines in found.items() if lines} == {}


@pytest.mark.parametrize(
    ("statement", "is_found"),
    [
        ('if pipeline.forced == "none": pass', True),
        ('x = forced not in ("own", "longest")', True),
        ("if settings.forced != OFF: pass", True),
        ('match forced:\n    case "probable": pass', True),
        ('PipelineSettings(forced="own")', False),
        ("if STRATEGIES[settings.forced].takes_runs: pass", False),
    ],
)
def test_a_planted_comparison_is_found(statement, is_found):
    assert bool(compared(statement)) is is_found
