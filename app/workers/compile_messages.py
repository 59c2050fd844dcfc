"""What crosses to the process that compiles, and back: the automaton, a part of it, and where a match stands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.graph.match.folding import FoldedEdge
    from app.graph.match.regions import AutomatonRegions
    from app.graph.rules import RuleCharts
    from engine.automata.dfa.dfa import ByteDfa
    from engine.automata.rtn.rule_positions import RulePositions
    from engine.diagnosis.explanation_tree import Description
    from engine.grammar.options import CompileOptions
    from engine.notations.editing import Change
    from engine.source import Diagnostic, Span


@dataclass(frozen=True, slots=True)
class CompileRequest:
    """Compile a text and draw up its automaton."""

    revision: int
    notation: str
    text: str
    options: CompileOptions


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """The findings about a text, told before its automaton is drawn up: whoever types waits for these."""

    revision: int
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class CompileAnswer:
    """What a text compiled to.

    Attributes:
        diagnostics: every finding; the compile failed where one is an error.
        dfa: the minimal automaton, or its start's neighbourhood where the whole is too large; None on failure.
        too_large: why the automaton is not whole; empty where it is.
        compile_ms: the time of the compile and the drawing-up together.
        fold: the automaton over characters; None where that is no other.
        rules: where the automaton is not whole, those of its rules; None where it has none, or too large ones.
        places: where the empty text stands in the rules.
        regions: a large automaton of a pattern folded by the parts of the text; None where it is small, or has rules.
    """

    revision: int
    diagnostics: tuple[Diagnostic, ...]
    dfa: ByteDfa | None
    too_large: str
    compile_ms: float
    fold: FoldedEdge | None = None
    rules: RuleCharts | None = None
    places: RulePositions | None = None
    regions: AutomatonRegions | None = None


@dataclass(frozen=True, slots=True)
class NeighbourhoodRequest:
    """Draw up the surroundings of the configuration that `output` leads to, for an automaton too large to draw.

    Attributes:
        by_rules: whether its rules are drawn, which a process that was started anew does not know.
    """

    compiled: CompileRequest
    output: bytes
    by_rules: bool = False


@dataclass(frozen=True, slots=True)
class NeighbourhoodAnswer:
    """The part of an automaton around where the match stands, which is its start; and where it stands in its rules.

    Attributes:
        places: None where the rules are not drawn, or too many ways lead there.
    """

    revision: int
    dfa: ByteDfa
    fold: FoldedEdge | None = None
    places: RulePositions | None = None


@dataclass(frozen=True, slots=True)
class StackRequest:
    """Say on which stacks the match stands that `output` leads to.

    Attributes:
        by_rules: as in `NeighbourhoodRequest`.
    """

    compiled: CompileRequest
    output: bytes
    by_rules: bool = False


@dataclass(frozen=True, slots=True)
class OpenFrame:
    """A rule that is open, or a place in a schema.

    Attributes:
        spans: what may come next in it, once what is above it is over.
        may_end: whether it may be over then itself.
    """

    name: str
    spans: tuple[Span, ...]
    may_end: bool = False


@dataclass(frozen=True, slots=True)
class OpenStack:
    """One of the stacks that a match stands on.

    Attributes:
        frames: what is open, the innermost first.
        expects: what it could read next, for a person.
        may_end: whether the text may end here.
        left_out: how many frames in the middle are not listed.
    """

    frames: tuple[OpenFrame, ...]
    expects: str
    may_end: bool = False
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class StackAnswer:
    """The stacks of a match, how many more there are at least, and where it stands in the drawn rules."""

    revision: int
    output: bytes
    stacks: tuple[OpenStack, ...]
    more: int = 0
    places: RulePositions | None = None


@dataclass(frozen=True, slots=True)
class DescribeRequest:
    """Say in words what each part of a text means that compiled."""

    compiled: CompileRequest


@dataclass(frozen=True, slots=True)
class DescribeAnswer:
    """A text in words."""

    revision: int
    description: Description


@dataclass(frozen=True, slots=True)
class FormatRequest:
    """Format a text, if it can be read."""

    notation: str
    text: str
    dialect: str


@dataclass(frozen=True, slots=True)
class FormatAnswer:
    """What formatting changes, and the text with its changes; without any, why."""

    change: Change
    after: str
