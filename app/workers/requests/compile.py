"""Requests about the text of a grammar: its automaton, a description, formatting."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from app.workers.protocol import WorkerRequest

if TYPE_CHECKING:
    from app.graph.layout.railroad import RailroadDrawing, RailroadStyle  # noqa: F401 - the answer, named in a string
    from app.graph.match.folding import FoldedAutomaton
    from app.graph.match.regions import AutomatonRegions
    from app.graph.match.rules import RuleCharts, UnfoldedCalls, Unfolding  # noqa: F401 - also an answer, as above
    from engine.automata.dfa.dfa import ByteDfa
    from engine.automata.rtn.rule_positions import RulePositions  # also an answer, named in a string
    from engine.diagnosis.targets.findings import TargetFinding
    from engine.grammar.options import CompileOptions
    from engine.notations.editing import Change
    from engine.notations.explanation import Description
    from engine.notations.schema_map import SchemaMap
    from engine.source import Diagnostic

NfaStates: TypeAlias = frozenset[tuple[int, int]]
"""States of a nondeterministic automaton, each as a rule and its number there."""


@dataclass(frozen=True, slots=True)
class CompileRequest(WorkerRequest["CompileAnswer"]):
    """Compile a text and compute its automaton for the drawing."""

    revision: int
    notation: str
    text: str
    options: CompileOptions


@dataclass(frozen=True, slots=True)
class Diagnosed:
    """The findings about a text, sent before its automaton is computed, because the user waits for them.

    Where a compile takes long, those of reading the text come first, and all of them after it.
    """

    revision: int
    diagnostics: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class Mapped:
    """The map of a schema, also of one that does not compile, sent before its automaton; None for other texts."""

    revision: int
    schema_map: SchemaMap | None


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
        rule_automata: the automata of the drawn rules, pickled for the decode process; empty if there are none.
        merged: the automaton with counters as nodes and forced runs as edges; None if there are neither.
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
    rule_automata: bytes = field(default=b"", repr=False)
    merged: FoldedAutomaton | None = None


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
class DrawRailroad(WorkerRequest["RailroadDrawing | None"]):
    """Lay out the railroad diagram of the rule at an offset; there is none for a text without rules.

    Attributes:
        compiled: a text that compiled.
        offset: a position in it.
        opened: the keys of the boxes that are open.
        style: the sizes.
        is_part: whether only the smallest repetition or choice around the offset is drawn.
    """

    compiled: CompileRequest
    offset: int
    opened: frozenset[str]
    style: RailroadStyle
    is_part: bool = False


@dataclass(frozen=True, slots=True)
class DrawNfa(WorkerRequest["NfaDrawing"]):
    """Compute the nondeterministic automaton of a grammar that compiled, for the drawing."""

    compiled: CompileRequest


@dataclass(frozen=True, slots=True)
class NfaDrawing:
    """A nondeterministic automaton to draw.

    Attributes:
        charts: its rules; one without a name for a grammar without rules; None if there is no drawing.
        why_not: why there is none, as a sentence; empty if there is one.
        members: for each state of the minimal automaton, its sets of NFA states; empty if that automaton is not drawn
            whole, or if there are too many.
    """

    charts: RuleCharts | None
    why_not: str = ""
    members: tuple[tuple[NfaStates, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class FindNfaStates(WorkerRequest["RulePositions | None"]):
    """Find the states of the nondeterministic automaton after a text; None if they are not known."""

    compiled: CompileRequest
    output: bytes


@dataclass(frozen=True, slots=True)
class UnfoldCalls(WorkerRequest["UnfoldedCalls | None"]):
    """Draw called rules in place of their calls; None if the grammar has no drawing of its rules.

    Attributes:
        compiled: a text that compiled.
        unfolding: the drawing and the calls.
        is_nfa: whether it is the nondeterministic automaton.
    """

    compiled: CompileRequest
    unfolding: Unfolding
    is_nfa: bool


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


@dataclass(frozen=True, slots=True)
class LintRequest(WorkerRequest["LintAnswer"]):
    """Find what an engine treats otherwise in a text.

    Attributes:
        revision: the state of the text.
        notation: the id of its notation.
        text: the text.
        target: the id of the engine.
        version: the version of the engine; empty for the examined one.
        dialect: the dialect of a regular expression.
        rewrites: whether to search for rewrites, which may take seconds.
    """

    revision: int
    notation: str
    text: str
    target: str
    version: str
    dialect: Literal["python", "ecma"]
    rewrites: bool


@dataclass(frozen=True, slots=True)
class LintAnswer:
    """The findings about a text for an engine, in source order."""

    found: tuple[TargetFinding, ...]


@dataclass(frozen=True, slots=True)
class CountStacks(WorkerRequest["StackCounts"]):
    """Count the stacks that llama.cpp would hold after each token of a text.

    Attributes:
        compiled: a grammar that compiled.
        tokens: the bytes of the tokens; empty for one without text.
    """

    compiled: CompileRequest
    tokens: tuple[bytes, ...]


@dataclass(frozen=True, slots=True)
class StackCounts:
    """The stacks after each token, None where they are unknown; none at all if llama.cpp cannot have the grammar."""

    counts: tuple[int | None, ...]
