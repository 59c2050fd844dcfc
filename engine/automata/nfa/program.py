"""A grammar as a program for a nondeterministic byte machine.

Thompson's construction (CACM 11(6), 1968) with four additions: an instruction reads a
whole character (its UTF-8 automaton is a field of the thread, not a part of the program),
a bounded repetition counts instead of being unrolled, a lookaround is one instruction, and
so is the call of a rule. So the program is linear in the source, whatever the counts.

Source map: every character instruction keeps the span of its source.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from engine.automata.utf8 import ANY_BYTE, Utf8Automaton, utf8_automaton
from engine.grammar import (
    Chars,
    CharSet,
    Choice,
    Empty,
    Grammar,
    Lookaround,
    Never,
    Node,
    Repeat,
    Rule,
    RuleReference,
    Sequence,
    TokenSet,
)
from engine.grammar.analysis import nullable_rules, references
from engine.grammar.charset import EVERY_SCALAR
from engine.grammar.simplify import Emptiness
from engine.source import InvariantError, Limits, Span, checkpoint

Pc: TypeAlias = int
"""An index into the instructions."""


@dataclass(frozen=True, slots=True)
class Accept:
    """The end of the match; nothing may follow."""


@dataclass(frozen=True, slots=True)
class AcceptAny:
    """The end of a look-ahead: whatever follows is accepted."""


@dataclass(frozen=True, slots=True)
class CharClass:
    """Reads one character, then continues at `to`."""

    automaton: Utf8Automaton
    to: Pc
    span: Span


@dataclass(frozen=True, slots=True)
class Split:
    """Continues at every target."""

    targets: tuple[Pc, ...]


@dataclass(frozen=True, slots=True)
class CountStart:
    """Begins to count at 0, then continues at `to`."""

    to: Pc


@dataclass(frozen=True, slots=True)
class CountPass:
    """The end of a pass: repeats at `body`, or stops counting and continues at `to`.

    Attributes:
        nullable: whether a pass may be empty if a condition holds; an empty pass then counts as all that are missing.
    """

    minimum: int
    maximum: int | None
    body: Pc
    to: Pc
    nullable: bool


@dataclass(frozen=True, slots=True)
class Condition:
    """Continues at `to` if the lookaround holds."""

    look: int
    to: Pc


@dataclass(frozen=True, slots=True)
class TokenAtom:
    """Takes one token of a set as a unit, then continues at `to`."""

    tokens: TokenSet
    to: Pc


@dataclass(frozen=True, slots=True)
class Call:
    """Matches a rule, then continues at `to`.

    Attributes:
        last: whether nothing follows within the calling rule, so that the callee returns in its place.
    """

    rule: int
    to: Pc
    last: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Return:
    """The end of a rule: continues where it was called."""


Instruction: TypeAlias = (
    Accept | AcceptAny | CharClass | TokenAtom | Split | CountStart | CountPass | Condition | Call | Return
)


@dataclass(frozen=True, slots=True)
class RuleProgram:
    """A rule of the grammar.

    Attributes:
        start: the instruction where it begins.
        nullable: whether it matches the empty text.
    """

    name: str
    start: Pc
    nullable: bool
    span: Span


@dataclass(frozen=True, slots=True)
class LookaroundProgram:
    """The pattern of a lookaround. A lookaround within another one has the smaller index."""

    start: Pc
    ahead: bool
    negated: bool
    span: Span


@dataclass(frozen=True, slots=True)
class Program:
    """All instructions of one grammar.

    Attributes:
        start: the instruction where the match begins.
        rules: the rules that calls refer to; none in a program of one node.
        looks: the lookarounds, inner ones first.
        automata: the UTF-8 automata of all character instructions, each once.
        token_sets: the token sets whose tokens are taken as units.
        unconditional: for each instruction, whether no condition can follow it.
        minima: for each instruction, the minimum counts of the counting loops around it, outermost first.
        distances: for each instruction, the fewest characters and calls before the end of its rule or look.
    """

    instructions: tuple[Instruction, ...]
    start: Pc
    rules: tuple[RuleProgram, ...]
    looks: tuple[LookaroundProgram, ...]
    automata: tuple[Utf8Automaton, ...]
    token_sets: frozenset[TokenSet]
    unconditional: tuple[bool, ...]
    minima: tuple[tuple[int, ...], ...]
    distances: tuple[int, ...]


def assemble(
    grammar: Grammar | Node, limits: Limits, encode: Callable[[CharSet], Utf8Automaton] = utf8_automaton
) -> Program | None:
    """Assemble the program of a simplified grammar, or of a single node; return None if it matches nothing.

    Args:
        grammar: the grammar or node.
        limits: the limit of instructions.
        encode: returns the byte automaton of a set of characters.
    """
    if not isinstance(grammar, Grammar):
        grammar = Grammar((Rule("root", grammar),), "root")
    nodes = {rule.name: rule.node for rule in grammar.rules}
    if isinstance(nodes[grammar.start], Never):
        return None
    alone = len(grammar.rules) == 1 and not any(references(nodes[grammar.start]))
    assembler = _Assembler(grammar, frozenset() if alone else nullable_rules(grammar), limits, encode)
    accept = assembler.emit(Accept())
    if alone:
        rules: tuple[RuleProgram, ...] = ()
        start = assembler.node(nodes[grammar.start], accept)
    else:
        rules = tuple(assembler.rule(rule.name, rule.node, rule.span) for rule in grammar.rules)
        start = assembler.node(RuleReference(grammar.start), accept)
    code = tuple(assembler.code)
    looks = tuple(assembler.looks)
    return Program(
        code,
        start,
        rules,
        looks,
        tuple(assembler.automata.values()),
        frozenset(assembler.token_sets),
        _unconditional(code) if looks else (True,) * len(code),
        tuple(assembler.minima),
        _distances(code) if looks else (0,) * len(code),  # without conditions there is no search
    )


class _Assembler:
    """Emits a node before the instruction that follows it, so that every target is known except a loop's."""

    def __init__(
        self,
        grammar: Grammar,
        nullable: frozenset[str],
        limits: Limits,
        encode: Callable[[CharSet], Utf8Automaton],
    ) -> None:
        self.code: list[Instruction] = []
        self.looks: list[LookaroundProgram] = []
        self.automata: dict[int, Utf8Automaton] = {}  # by identity: most character instructions share theirs
        self.token_sets: set[TokenSet] = set()
        self.minima: list[tuple[int, ...]] = []
        self._numbers = {rule.name: number for number, rule in enumerate(grammar.rules)}
        self._nullable = nullable
        self._emptiness = Emptiness(nullable)
        self._around: tuple[int, ...] = ()
        self._end = -1  # the end of the rule that is being emitted
        self._limits = limits
        self._encode = encode
        self._look_ids: dict[object, int] = {}

    def rule(self, name: str, node: Node, span: Span) -> RuleProgram:
        """Emit a rule.

        Args:
            name: the name of the rule.
            node: what it matches.
            span: the location of its name.
        """
        self._end = self.emit(Return())
        # A rule that matches nothing is never called.
        start = self._end if isinstance(node, Never) else self.node(node, self._end)
        return RuleProgram(name, start, name in self._nullable, span)

    def emit(self, instruction: Instruction) -> Pc:
        pc = len(self.code)
        if pc >= self._limits.instructions:
            self._limits.check("errors.limit.instructions", pc + 1, self._limits.instructions, "instructions")
        self.code.append(instruction)
        self.minima.append(self._around)
        return pc

    def node(self, node: Node, to: Pc) -> Pc:
        """Emit a node that continues at `to`; return its first instruction."""
        checkpoint()
        match node:
            case Empty():
                return to
            case Never():
                raise InvariantError("errors.invariant.impossible_part")
            case Chars():
                return self._atom(self._encode(node.set), to, node.span)
            case Sequence():
                for item in reversed(node.items):
                    to = self.node(item, to)
                return to
            case Choice():
                targets = [self.node(alternative, to) for alternative in node.alternatives]
                return self.emit(Split(tuple(dict.fromkeys(targets))))
            case Repeat():
                return self._repeat(node, to)
            case Lookaround():
                return self.emit(Condition(self._look(node), to))
            case RuleReference():
                last = to == self._end and not self._around
                return self.emit(Call(self._numbers[node.name], to, last, node.span))
            case TokenSet():
                self.token_sets.add(node)
                return self.emit(TokenAtom(node, to))

    def _atom(self, automaton: Utf8Automaton, to: Pc, span: Span) -> Pc:
        self.automata[id(automaton)] = automaton
        return self.emit(CharClass(automaton, to, span))

    def _repeat(self, node: Repeat, to: Pc) -> Pc:
        empty = self._emptiness.of(node.node)
        # An empty pass adds nothing if it is always possible: zero passes suffice.
        minimum = 0 if empty is True else node.minimum
        loop = to
        if node.maximum != 1:
            body = self.emit(Split(()))  # the target of the loop; patched below
            if node.maximum is None and minimum <= 1:
                loop = self.emit(Split((body, to)))
                self._patch(body, self.node(node.node, loop))
                loop = body
            else:
                around, self._around = self._around, (*self._around, max(minimum, 1))
                count = self.emit(CountPass(max(minimum, 1), node.maximum, body, to, nullable=empty is None))
                self._patch(body, self.node(node.node, count))
                self._around = around
                loop = self.emit(CountStart(body))
        else:
            loop = self.node(node.node, to)
        return loop if minimum > 0 else self.emit(Split((loop, to)))

    def _patch(self, pc: Pc, target: Pc) -> None:
        self.code[pc] = Split((target,))

    def _look(self, node: Lookaround) -> int:
        key = (_shape(node.node), node.ahead, node.negated)
        if key not in self._look_ids:
            around, self._around = self._around, ()
            end = self.emit(AcceptAny())
            if isinstance(node.node, Chars) and node.node.set == EVERY_SCALAR:
                # Within valid text, one byte means that a character follows.
                start = self._atom(ANY_BYTE, end, node.node.span)
            else:
                start = self.node(node.node, end)
            self._around = around
            self._look_ids[key] = len(self.looks)
            self.looks.append(LookaroundProgram(start, node.ahead, node.negated, node.span))
        return self._look_ids[key]


def _shape(node: Node) -> object:
    """Return a node without its spans: equal for lookarounds that occur twice."""
    match node:
        case Empty() | Never():
            return type(node)
        case Chars():
            return node.set
        case Sequence():
            return (Sequence, *[_shape(item) for item in node.items])
        case Choice():
            return (Choice, *[_shape(item) for item in node.alternatives])
        case Repeat():
            return (Repeat, _shape(node.node), node.minimum, node.maximum)
        case Lookaround():
            return (Lookaround, _shape(node.node), node.ahead, node.negated)
        case RuleReference():
            return (RuleReference, node.name)
        case TokenSet():
            return (TokenSet, node.names, node.ids, node.negated)


def successors(instruction: Instruction) -> tuple[Pc, ...]:
    """Return the instructions that may follow an instruction."""
    match instruction:
        case Accept() | AcceptAny() | Return():
            return ()
        case CharClass() | TokenAtom() | CountStart() | Condition() | Call():
            return (instruction.to,)
        case Split():
            return instruction.targets
        case CountPass():
            return (instruction.body, instruction.to)


def _unconditional(code: tuple[Instruction, ...]) -> tuple[bool, ...]:
    sources = _sources(code)
    conditional = [pc for pc, instruction in enumerate(code) if isinstance(instruction, Condition)]
    unconditional = [True] * len(code)
    while conditional:
        checkpoint()
        pc = conditional.pop()
        if unconditional[pc]:
            unconditional[pc] = False
            conditional += sources[pc]
    return tuple(unconditional)


def _distances(code: tuple[Instruction, ...]) -> tuple[int, ...]:
    """Estimate distances: counting loops are passed once, conditions are free, and every call reads something."""
    sources = _sources(code)
    distances = [len(code)] * len(code)
    ends = [pc for pc, instruction in enumerate(code) if isinstance(instruction, Accept | AcceptAny | Return)]
    todo = deque(ends)
    for pc in ends:
        distances[pc] = 0
    while todo:
        checkpoint()
        pc = todo.popleft()
        for source in sources[pc]:
            reads = isinstance(code[source], CharClass | TokenAtom | Call)
            if distances[pc] + reads < distances[source]:
                distances[source] = distances[pc] + reads
                # What reads nothing comes before everything that is farther away.
                (todo.append if reads else todo.appendleft)(source)
    return tuple(distances)


def _sources(code: tuple[Instruction, ...]) -> list[list[Pc]]:
    """Return for each instruction the instructions that may precede it."""
    sources: list[list[Pc]] = [[] for _ in code]
    for pc, instruction in enumerate(code):
        checkpoint()
        for target in successors(instruction):
            sources[target].append(pc)
    return sources
