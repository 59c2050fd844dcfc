"""An automaton to draw, as it is handed over: what bytes alone do not say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.graph.layout.types import EdgeKey
from app.graph.match.folding import FoldedEdge
from engine.automata.dfa.dfa import ByteDfa


@dataclass(frozen=True, slots=True)
class Chart:
    """An automaton to draw, with what bytes alone do not say.

    Attributes:
        dfa: its states and edges; an edge that no byte takes has no ranges.
        fold: the automaton over characters; None where that is no other.
        names: of its states; where there are none, their numbers serve.
        words: what else is written on an edge: calls and tokens.
        calls: the rules, by number, that an edge calls.
        groups: the parts that stand in boxes: a title and the states.
        sizes: how many states each state stands for; where there are none, each for itself.
    """

    dfa: ByteDfa
    fold: FoldedEdge | None = None
    names: tuple[str, ...] = ()
    words: Mapping[EdgeKey, tuple[str, ...]] = field(default_factory=dict)
    calls: Mapping[EdgeKey, tuple[int, ...]] = field(default_factory=dict)
    groups: tuple[tuple[str, tuple[int, ...]], ...] = ()
    sizes: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        """How many states there are, those that are folded away left out."""
        return len(self.dfa.states) - (len(self.fold.inner) if self.fold is not None else 0)
