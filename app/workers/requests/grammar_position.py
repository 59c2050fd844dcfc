"""The position of an output in its grammar, as the automaton pane shows it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.graph.match.folding import FoldedAutomaton
    from engine.automata.dfa.dfa import ByteDfa
    from engine.automata.rtn.rule_positions import RulePositions
    from engine.source import Span
    from engine.source.json_scanner import JsonPath


@dataclass(frozen=True, slots=True)
class OpenFrame:
    """An open rule, or a position in a schema.

    Attributes:
        spans: what may come next in it, once the frames above it are closed.
        may_end: whether it may then end itself.
    """

    name: str
    spans: tuple[Span, ...]
    may_end: bool = False


@dataclass(frozen=True, slots=True)
class OpenStack:
    """One of the stacks of a match.

    Attributes:
        frames: the open frames, the innermost first.
        expects: what it can read next, as text for the user.
        may_end: whether the text may end here.
        left_out: how many frames in the middle are not listed.
    """

    frames: tuple[OpenFrame, ...]
    expects: str
    may_end: bool = False
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class GrammarPosition:
    """The position of an output in its grammar.

    Attributes:
        output: the text that the grammar has read.
        stacks: the stacks of the match; none if no match begins with the output.
        more: a lower bound on how many more stacks there are.
        rule_positions: the positions in the drawn rules; None without them, or if there are too many derivations.
        dfa: the part of the automaton around the live state, which is its start; None if the complete one is drawn.
        fold: that part over characters; None if it does not differ.
        merged: that part with counters as nodes and forced runs as edges; None if there are neither.
        path: the open objects and arrays of a JSON text, each as the property or the index in it, outermost first.
    """

    output: bytes
    stacks: tuple[OpenStack, ...] = ()
    more: int = 0
    rule_positions: RulePositions | None = None
    dfa: ByteDfa | None = None
    fold: FoldedAutomaton | None = None
    merged: FoldedAutomaton | None = None
    path: JsonPath = ()
