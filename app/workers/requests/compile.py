"""Requests about the text of a grammar: its automaton, stacks, a description, formatting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from app.workers.protocol import WorkerRequest

if TYPE_CHECKING:
    from app.graph.match.folding import FoldedAutomaton
    from app.graph.match.regions import AutomatonRegions
    from app.graph.match.rules import RuleCharts
    from engine.automata.dfa.dfa import ByteDfa
    from engine.automata.rtn.rule_positions import RulePositions
    from engine.grammar.options import CompileOptions
    from engine.notations.editing import Change
    from engine.notations.explanation import Description
    from engine.source import Diagnostic, Span


@dataclass(frozen=True, slots=True)
class CompileRequest(WorkerRequest["CompileAnswer"]):
    """Compile a text and compute its automaton for the drawing."""

    revision: int
    notation: str
    text: str
    options: CompileOptions


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """The findings about a text, sent before its automaton is computed, because the user waits for them."""

    revision: int
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class CompileAnswer:
    """The result of a compile.

    Attributes:
        diagnostics: all findings; the compile failed if one is an error.
        dfa: the minimal automaton, or the neighbourhood of its start if it is too large; None on failure.
        too_large: why the automaton is not complete, in a few words; empty if it is.
        compile_ms: the duration of the compile and of the computation of the drawing, in milliseconds.
        fold: the automaton over characters; None if it does not differ.
        rules: the automata of the rules, if the automaton is not complete; None if there are none, or too large ones.
        rule_positions: the rule positions after the empty text.
        regions: a large automaton of a pattern folded by the parts of the text; None if it is small or has rules.
        why_no_rules: why the rules of an incomplete automaton are not drawn; empty if they are, or if there are none.
    """

    revision: int
    diagnostics: tuple[Diagnostic, ...]
    dfa: ByteDfa | None
    too_large: str
    compile_ms: float
    fold: FoldedAutomaton | None = None
    rules: RuleCharts | None = None
    rule_positions: RulePositions | None = None
    regions: AutomatonRegions | None = None
    why_no_rules: str = ""


@dataclass(frozen=True, slots=True)
class NeighbourhoodRequest(WorkerRequest["NeighbourhoodAnswer"]):
    """Compute the neighbourhood of the configuration that `output` leads to, for an automaton too large to draw.

    Attributes:
        by_rules: whether the window draws its rules, which a restarted process does not know.
    """

    compiled: CompileRequest
    output: bytes
    by_rules: bool = False


@dataclass(frozen=True, slots=True)
class NeighbourhoodAnswer:
    """The part of an automaton around the live state, which is its start, and the rule positions.

    Attributes:
        rule_positions: None if the rules are not drawn, or if there are too many derivations.
    """

    revision: int
    dfa: ByteDfa
    fold: FoldedAutomaton | None = None
    rule_positions: RulePositions | None = None


@dataclass(frozen=True, slots=True)
class StackRequest(WorkerRequest["StackAnswer"]):
    """List the stacks of the match after `output`.

    Attributes:
        by_rules: see `NeighbourhoodRequest`.
    """

    compiled: CompileRequest
    output: bytes
    by_rules: bool = False


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
class StackAnswer:
    """The stacks of a match, a lower bound on how many more there are, and the positions in the drawn rules."""

    revision: int
    output: bytes
    stacks: tuple[OpenStack, ...]
    more: int = 0
    rule_positions: RulePositions | None = None


@dataclass(frozen=True, slots=True)
class DescribeRequest(WorkerRequest["DescribeAnswer"]):
    """Describe each part of a text that compiled in words."""

    compiled: CompileRequest


@dataclass(frozen=True, slots=True)
class DescribeAnswer:
    """The description of a text."""

    revision: int
    description: Description


@dataclass(frozen=True, slots=True)
class FormatRequest(WorkerRequest["FormatAnswer"]):
    """Format a text, if it can be parsed."""

    notation: str
    text: str
    dialect: Literal["python", "ecma"]


@dataclass(frozen=True, slots=True)
class FormatAnswer:
    """The changes that formatting makes, and the formatted text; if there are none, the reason."""

    change: Change
    after: str
