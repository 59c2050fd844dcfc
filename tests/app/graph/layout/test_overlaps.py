"""No drawn label overlaps another label, a node or an arrowhead; no edge runs through a node; few labels are hidden.

Measured on what the scene draws of 200 grammars that are made from a seed, and of automata that are hard to draw.
`tests/benchmarks/label_overlaps.py` prints the figures of each layout over all of them.
"""

from __future__ import annotations

import random
import string
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pytest
from PySide6.QtCore import QRectF

from app.graph.draw.scene import AutomatonScene
from app.graph.draw.shapes import heads
from app.graph.layout.methods import lay_out
from app.graph.layout.types import METHODS, LayoutRequest
from app.graph.match.folding import Chart, fold_characters
from app.panes.automaton.drawing import Automaton
from app.panes.automaton.view_state import ViewState
from engine.automata.dfa.dfa import ByteDfa
from engine.compile import compile_grammar

SEED, COUNT, MOST_NODES = 17, 200, 500
DENSEST = 8  # drawn by each layout
PARTS = 8  # of the test over all of them, for processes side by side
SMALL, HIDDEN_OF_SMALL, HIDDEN = 60, 0.05, 0.25
PIECES = np.linspace(0.0, 1.0, 13)
WEIGHTS = np.stack([(1 - PIECES) ** 3, 3 * (1 - PIECES) ** 2 * PIECES, 3 * (1 - PIECES) * PIECES**2, PIECES**3], axis=1)
NUMBER = r"-?([0-9]|[1-9][0-9]{0,15})(\.[0-9]+)?([eE][-+]?[0-9][1-9]{0,15})?"
HARD = {
    "complete DFA": "(a|b|c)*a(a|b|c){3}",
    "fan-out": "|".join(f"{letter}{letter}x" for letter in string.ascii_lowercase),
    "number of json.gbnf": NUMBER,
    "loops": "((a|b)*c[d-g]*)*(hello|help|held)+",
    "back edges": "(a(b(c(d(e(f(g(h)?)*)*)*)*)*)*)*x",
}
ATOMS = ("a", "b", "c", "[a-f]", "[0-9]", "x", "yes", "no", "null", "[^,]", r"\.", "-")


def expression(choose: random.Random, depth: int) -> str:
    kind = choose.random()
    if depth == 0 or kind < 0.25:
        return choose.choice(ATOMS)
    if kind < 0.55:
        return "".join(expression(choose, depth - 1) for _ in range(choose.randint(2, 4)))
    if kind < 0.8:
        return "(" + "|".join(expression(choose, depth - 1) for _ in range(choose.randint(2, 5))) + ")"
    return f"({expression(choose, depth - 1)})" + choose.choice(["*", "+", "?", "{0,3}", "{2,4}"])


@cache
def automata() -> dict[str, ByteDfa]:
    """The automata of `COUNT` grammars of at most `MOST_NODES` states, by name."""
    choose = random.Random(SEED)
    found = {name: compile_grammar("regex", pattern).materialise() for name, pattern in HARD.items()}
    while len(found) < COUNT:
        pattern = expression(choose, choose.randint(2, 5))
        dfa = compile_grammar("regex", pattern).materialise()
        if len(dfa.states) <= MOST_NODES:
            found[f"{len(found)}: {pattern}"] = dfa
    return found


@dataclass(frozen=True)
class Measured:
    """What is wrong with one drawing, and how many of its labels are hidden.

    Attributes:
        nodes: the number of nodes.
        labels: the number of labels, hidden ones too.
        hidden: the number of those that are drawn as marks, or not at all.
        faults: what overlaps.
    """

    nodes: int
    labels: int
    hidden: int
    faults: tuple[str, ...]

    @property
    def hides_too_many(self) -> bool:
        return self.hidden > (HIDDEN_OF_SMALL if self.nodes <= SMALL else HIDDEN) * self.labels


def measure(dfa: ByteDfa, method: str, *, downwards: bool) -> Measured:
    automaton = Automaton(Chart(dfa, fold_characters(dfa)), 1, None, "")
    shown = automaton.draw(frozenset(), ViewState(draws_all=True, downwards=downwards, method=method))
    answer = lay_out(shown.request)
    scene = AutomatonScene()
    scene.show_diagram(shown.diagram, shown.request, answer)
    scene.reveal(scene.home_rect(), 1.0)
    labels, boxes = scene.labels.drawn_rects(), scene.positioned.boxes
    arrowheads = {key: heads([chain]).boundingRect() for key, chain in answer.curves.items()}
    faults = [f"labels {one} and {other}" for one, other in overlapping(labels, labels) if one < other]
    faults += [f"label {key}, node {node}" for key, node in overlapping(labels, boxes)]
    faults += [f"label {key}, head of {edge}" for key, edge in overlapping(labels, arrowheads)]
    faults += through_nodes(boxes, answer.curves)
    wanted = labelled(shown.request)
    return Measured(len(shown.request.nodes), wanted, wanted - len(answer.label_positions), tuple(faults))


def labelled(request: LayoutRequest) -> int:
    return sum(width > 0 for _, _, width, _ in request.edges)


def sides(rects: Mapping[Any, QRectF]) -> np.ndarray:
    """Left, top, right and bottom of rectangles, of shape (4, rectangles)."""
    return (
        np.array([(rect.left(), rect.top(), rect.right(), rect.bottom()) for rect in rects.values()]).reshape(-1, 4).T
    )


def overlapping(some: Mapping[Any, QRectF], others: Mapping[Any, QRectF]) -> Iterator[tuple[Any, Any]]:
    """The names of rectangles that overlap one of the others."""
    left, top, right, bottom = sides(some)[:, :, None]
    its_left, its_top, its_right, its_bottom = sides(others)
    names, other_names = list(some), list(others)
    found = (left < its_right) & (its_left < right) & (top < its_bottom) & (its_top < bottom)
    for one, other in np.argwhere(found):
        yield names[one], other_names[other]


def through_nodes(
    boxes: dict[int, QRectF], curves: dict[tuple[int, int], Sequence[tuple[float, float]]]
) -> Iterator[str]:
    """The edges with a point in a node that is not one of their own."""
    nodes, (left, top, right, bottom) = list(boxes), sides(boxes)
    for key, chain in curves.items():
        control = np.array(chain)
        segments = np.stack([control[index : index + 4] for index in range(0, len(control) - 3, 3)])
        x, y = (WEIGHTS @ segments).reshape(-1, 2).T[:, :, None]
        inside = ((x > left + 2) & (x < right - 2) & (y > top + 2) & (y < bottom - 2)).any(axis=0)
        yield from (f"edge {key} through {nodes[at]}" for at in np.flatnonzero(inside) if nodes[at] not in key)


@pytest.mark.parametrize("part", range(PARTS))
def test_the_best_layout_of_every_grammar_overlaps_nowhere_and_hides_few_labels(qapp, part):
    for name, dfa in [*automata().items()][part::PARTS]:
        measured = measure(dfa, "", downwards=False)
        assert not measured.faults, (name, measured.faults)
        assert not measured.hides_too_many, (name, measured)


@pytest.mark.parametrize("downwards", [False, True], ids=["right", "down"])
@pytest.mark.parametrize("method", ["", *METHODS])
def test_no_layout_overlaps_or_hides_many_labels(qapp, method, downwards):
    densest = sorted(automata(), key=lambda name: -len(automata()[name].edges) / len(automata()[name].states))
    for name in [*HARD, *densest[:DENSEST]]:
        measured = measure(automata()[name], method, downwards=downwards)
        assert not measured.faults, (name, measured.faults)
        assert not measured.hides_too_many, (name, measured)
