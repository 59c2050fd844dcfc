"""Branches as trees of runs of steps, their probabilities, and two of them side by side."""

import math
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt

from app.display_text import MINUS, UNKNOWN
from app.models.branches import ComparedSteps, archived_trees, log_probability, log_text, parts_of, step_percent
from engine.decoding.values import ArchivedBranch, Bounds, Step, StepOrigin, TraceNode

KNOWN = Step(0, b"a", "", 0.125, 0.25, 0.5, 3, False, 0, StepOrigin.SAMPLER, 0)


def step(letter, **more):
    return replace(KNOWN, token_id=ord(letter), token=letter.encode(), **more)


def nodes(*lines):
    """Make the nodes of the tree of some lines of letters."""
    made, known = [], {}
    for line in lines:
        at = None
        for depth, letter in enumerate(line):
            if (line[: depth + 1]) not in known:
                known[line[: depth + 1]] = len(made)
                made.append(TraceNode(len(made), at, step(letter)))
            at = known[line[: depth + 1]]
    return made


def shown(parts):
    return [("".join(one.token.decode() for one in part.steps), part.before, shown(part.below)) for part in parts]


@pytest.mark.parametrize(
    ("lines", "tree"),
    [
        ((), []),
        (("abc",), [("abc", 0, [])]),
        (("abcd", "abx", "aby"), [("ab", 0, [("cd", 2, []), ("x", 2, []), ("y", 2, [])])]),
        (
            ("ab", "cde", "cxf", "cxg"),
            [("ab", 0, []), ("c", 0, [("de", 1, []), ("x", 1, [("f", 2, []), ("g", 2, [])])])],
        ),
    ],
)
def test_a_part_is_a_run_up_to_where_branches_part(lines, tree):
    assert shown(parts_of(nodes(*lines))) == tree


def test_its_probability_is_that_of_the_output_up_to_its_end():
    (first,) = parts_of(nodes("abcd", "abx"))
    assert first.log_p == pytest.approx((2 * math.log(0.25),) * 2)
    assert [part.log_p for part in first.below] == [pytest.approx((count * math.log(0.25),) * 2) for count in (4, 3)]


@pytest.mark.parametrize(
    ("changes", "bounds", "percent"),
    [
        ({}, (math.log(0.25),) * 2, "25.0%"),
        ({"origin": StepOrigin.FAST_FORWARDED, "forced": True, "p_masked": 0.0}, (0, 0), "100%"),
        ({"origin": StepOrigin.REPLAYED, "p_masked": 0.0}, (-math.inf, 0), UNKNOWN),
        ({"p_masked": None, "z": None, "z_bounds": Bounds(0.25, 0.5)}, (math.log(0.25), math.log(0.5)), "25.0–50.0%"),
        ({"p": None, "p_masked": None}, (-math.inf, 0), UNKNOWN),
        ({"origin": StepOrigin.FORCED_BY_USER, "p_masked": 0.0}, (-math.inf, -math.inf), "0%"),
    ],
)
def test_what_is_unknown_has_bounds_and_is_no_number(changes, bounds, percent):
    one = replace(KNOWN, **changes)
    assert (log_probability(one), step_percent(one)) == (bounds, percent)


def test_the_text_of_a_logarithm():
    assert log_text(Bounds(0.0, 0.0)) == "0"
    assert log_text(Bounds(-2.5, -2.5)) == f"{MINUS}2.50"
    assert log_text(Bounds(-math.inf, -math.inf)) == f"{MINUS}∞"
    assert log_text(Bounds(-math.inf, 0.0)) == UNKNOWN
    assert log_text(Bounds(-math.inf, -1.0)) == f"≤{MINUS}1.00"
    assert f"{MINUS}1.00" in log_text(Bounds(-2.0, -1.0)) != log_text(Bounds(-1.0, -1.0))


def test_archived_branches_of_one_prompt_and_model_are_one_tree_in_which_each_has_its_end():
    lines = [tuple(map(step, line)) for line in ("abc", "ab", "x")]
    same = [ArchivedBranch("M", "p", line, f"name {number}") for number, line in enumerate(lines)]
    other = ArchivedBranch("M", "q", lines[0])
    (first, tree), (second, _) = archived_trees([same[0], other, *same[1:]])
    assert (first, second) == (same[0], other)
    assert shown(tree) == [("ab", 0, [("c", 2, [])]), ("x", 0, [])]
    assert [part.ends for part in (*tree, *tree[0].below)] == [[same[1]], [same[2]], [same[0]]]


def test_two_branches_are_equal_up_to_where_they_part(qtmodeltester):
    model = ComparedSteps()
    model.show_steps([step(letter) for letter in "abcd"], [step(letter) for letter in "abx"])
    qtmodeltester.check(model)
    assert (model.common, model.rowCount(), model.columnCount()) == (2, 4, 5)
    assert [model.index(3, column).data() for column in range(5)] == ["4", "d", "25.0%", "", ""]
    bold = [model.index(row, 1).data(Qt.ItemDataRole.FontRole).bold() for row in range(4)]
    assert bold == [False, False, True, False]
    assert "25.0%" in model.index(2, 0).data(Qt.ItemDataRole.AccessibleDescriptionRole)
    model.show_steps([step("a")])
    assert (model.rowCount(), model.columnCount()) == (1, 3)
