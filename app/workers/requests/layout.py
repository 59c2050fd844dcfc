"""Requests for layouts of graphs."""

from __future__ import annotations

from dataclasses import dataclass

from app.graph.layout.types import LayoutAnswer, LayoutRequest
from app.workers.protocol import WorkerRequest


@dataclass(frozen=True, slots=True)
class LayOut(WorkerRequest[LayoutAnswer]):
    """Lay a graph out with a method that suits its size, or with the one that it names."""

    graph: LayoutRequest


@dataclass(frozen=True, slots=True)
class LayOutPlainly(WorkerRequest[LayoutAnswer]):
    """Lay a graph out with the plain method, whatever its size: a better method took too long, or crashed."""

    graph: LayoutRequest
