"""Computes layouts: chooses a method by the work that it takes, and places the labels.

There are three methods. Graphviz `dot` draws best and is slow beyond a few dozen nodes; `fast-sugiyama` (the same idea
after Sugiyama, Tagawa and Toda 1981, in Rust, without splines) is used for hundreds; a plain layered layout by distance
from the start handles larger graphs in linear time. Each is a pure function of the request, so that the same automaton
is always drawn the same way. This module loads the libraries and is imported by the layout process only: in a thread,
Graphviz holds the interpreter lock for seconds.

Rejected: force-directed layouts. They have no direction, and an automaton is read from its start.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from app.graph.layout.graphviz import place_by_dot
from app.graph.layout.labelling import place_labels
from app.graph.layout.layered import place_by_layers
from app.graph.layout.packing import part_of, place_in_boxes
from app.graph.layout.sugiyama import place_by_sugiyama, rank_spans
from app.graph.layout.types import LayoutAnswer, LayoutRequest, Placement

# Neither library can be interrupted, so what a method is given takes it a second at most, by `rank_spans`: `dot` takes
# 0.6 s for 1,000 spans and 1.4 s for 1,300, fast-sugiyama and the labels 1.6 s for 15,000.
_DOT_NODES = 40
_DOT_EDGES = 160
DOT_IF_ASKED = 200  # nodes
_DOT_SPANS = 1_000
_DOT_WORK = 4_000  # nodes, edges and spans of all groups together: 1 s
_SUGIYAMA_NODES = 500
_SUGIYAMA_EDGES = 3_000
_SUGIYAMA_WORK = 15_000

_METHODS: Mapping[str, Callable[[LayoutRequest], Placement]] = {
    "dot": place_by_dot,
    "sugiyama": place_by_sugiyama,
    "layered": place_by_layers,
}


def lay_out(request: LayoutRequest, *, plainly: bool = False) -> LayoutAnswer:
    """Lay a graph out.

    Args:
        request: the graph.
        plainly: whether to use the method whose time is linear, instead of the best one that the size allows.
    """
    started = time.perf_counter()
    method, placement = "none", Placement({}, {}, {})
    methods: list[str] = []
    if request.groups:
        parts = [
            replace(part_of(request, group), method=request.method, downwards=request.downwards)
            for group in request.groups
        ]
        methods = methods_for(parts, plainly=plainly)
        placed = [_laid_out(part, name) for part, name in zip(parts, methods, strict=True)]
        method, placement = "boxes", place_in_boxes(request, parts, placed)
    elif request.nodes:
        (method,) = methods = methods_for([request], plainly=plainly)
        placement = _laid_out(request, method)
    return LayoutAnswer(
        revision=request.revision,
        positions=placement.positions,
        curves=placement.curves,
        label_positions=placement.label_positions,
        method=method,
        elapsed_ms=(time.perf_counter() - started) * 1000,
        boxes=placement.boxes,
        marks=placement.marks,
        is_simpler=any(used != request.method for used in methods) if request.method else False,
    )


def _laid_out(request: LayoutRequest, method: str) -> Placement:
    return place_labels(request, _placed(request, _METHODS[method]))


def _placed(request: LayoutRequest, place: Callable[[LayoutRequest], Placement]) -> Placement:
    """Place by a method that supports one direction only."""
    if not request.downwards:
        return place(request)
    turned = place(
        replace(
            request,
            nodes=tuple((node, height, width) for node, width, height in request.nodes),
            edges=tuple((source, target, height, width) for source, target, width, height in request.edges),
        )
    )
    return Placement(
        {node: (y, x) for node, (x, y) in turned.positions.items()},
        {key: tuple((y, x) for x, y in chain) for key, chain in turned.curves.items()},
        {key: (y, x) for key, (x, y) in turned.label_positions.items()},
    )


def methods_for(parts: Sequence[LayoutRequest], *, plainly: bool) -> list[str]:
    """Return the method of each part of a drawing: the best one, if all parts that it lays out take it a second."""
    if plainly:
        return ["layered"] * len(parts)
    work = []
    methods = []
    for part in parts:
        nodes, edges = len(part.nodes), len(part.edges)
        is_small = nodes <= DOT_IF_ASKED if part.method == "dot" else nodes <= _DOT_NODES and edges <= _DOT_EDGES
        is_medium = nodes <= _SUGIYAMA_NODES and edges <= _SUGIYAMA_EDGES
        spans = rank_spans(part) if is_small or is_medium else 0
        work.append(nodes + edges + spans)
        if is_small and spans <= _DOT_SPANS and part.method in ("", "dot"):
            methods.append("dot")
        else:
            methods.append("sugiyama" if is_medium and part.method != "layered" else "layered")
    for method, limit, simpler in (("dot", _DOT_WORK, "sugiyama"), ("sugiyama", _SUGIYAMA_WORK, "layered")):
        if sum(one for one, chosen in zip(work, methods, strict=True) if chosen == method) > limit:
            methods = [simpler if chosen == method else chosen for chosen in methods]
    return methods
