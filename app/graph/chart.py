"""An automaton to draw, with the names, calls and groups that its bytes do not have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from app.graph.layout.types import EdgeKey
from app.graph.match.folding import FoldedEdge
from engine.automata.dfa.dfa import ByteDfa


@dataclass(frozen=True, slots=True)
class Chart:
    """An automaton to draw.

    Attributes:
        dfa: its states and edges; an edge without bytes has no ranges.
        fold: the automaton over characters; None if it does not differ.
        names: of its states; if empty, their numbers are used.
        words: additional labels of an edge: calls and tokens.
        calls: the numbers of the rules that an edge calls.
        groups: the parts that are drawn in boxes: a title and the states.
        sizes: how many states each state represents; if empty, one each.
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
        """Return the number of states that are not folded away."""
        return len(self.dfa.states) - (len(self.fold.inner) if self.fold is not None else 0)
