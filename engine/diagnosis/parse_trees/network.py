"""The rules of a grammar as networks whose paths are derivations.

A path from the start of a rule to its end that reads a text is one way to read it, and two readings are two paths: the
alternatives and passes of repetitions as written are kept, which an automaton merges. Marks on a path open and close
the nodes of a tree. As in `engine.automata.nfa.program`, a repetition counts instead of being copied; a pass that is
not needed and reads nothing is not taken, so loops have finitely many paths.

A literal, and a repeated literal or set, is one leaf: it has one path for each text.

Rejected: the compiled program, whose parts were simplified and in which equal alternatives are one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Generator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

from engine.automata.byte_classes import ByteClasses, ByteRanges, join_ranges
from engine.automata.utf8 import FINAL, Utf8Automaton, utf8_automaton
from engine.diagnosis.parse_trees.values import NodeKind
from engine.grammar import (
    Chars,
    Choice,
    Grammar,
    Lookaround,
    Never,
    Node,
    Repeat,
    RuleReference,
    TokenSet,
)
from engine.grammar import Sequence as NodeSequence
from engine.grammar.analysis import productive_rules
from engine.notations.notation import GroupLabel
from engine.source import EngineError, LimitExceededError, Span, checkpoint

CLOSE = -1
"""The mark that closes the node that was opened last."""
Marks: TypeAlias = tuple[int, ...]
"""Marks on a path: the number of a label opens a node."""
MOST_PATHS = 100_000
"""The most paths that read nothing from one state."""
_MOST_INSTRUCTIONS = 1_000_000


class ParseLabel(NamedTuple):
    """The label of a node."""

    kind: NodeKind
    name: str
    spans: tuple[Span, ...]
    detail: str = ""


class _Read(NamedTuple):
    automaton: Utf8Automaton
    to: int
    span: Span


class _Call(NamedTuple):
    rule: int
    to: int
    label: int


class _Fork(NamedTuple):
    targets: tuple[int, ...]


class _Mark(NamedTuple):
    mark: int
    to: int


class _Begin(NamedTuple):
    to: int


class _Pass(NamedTuple):
    least: int
    most: int | None
    body: int
    to: int


class _Condition(NamedTuple):
    look: int
    to: int


class _End(NamedTuple):
    pass


_Instruction: TypeAlias = _Read | _Call | _Fork | _Mark | _Begin | _Pass | _Condition | _End
_END = _End()


class NetworkLook(NamedTuple):
    """A condition on the text around a position: the state in which its text begins."""

    start: int
    ahead: bool
    negated: bool


class ReadPath(NamedTuple):
    """A path that reads a byte next: its marks and conditions, and the character that it is before."""

    marks: Marks
    looks: tuple[int, ...]
    pc: int
    counters: tuple[int, ...]
    node: int


class CallPath(NamedTuple):
    """A path that calls a rule next.

    Attributes:
        label: the label of the called rule's node.
        after: the state after a text of the rule.
        after_empty: the state after the empty text.
    """

    marks: Marks
    looks: tuple[int, ...]
    rule: int
    label: int
    after: int
    after_empty: int


class EndPath(NamedTuple):
    """A path to the end of the rule."""

    marks: Marks
    looks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Leaving:
    """The paths from a state to what reads, calls or ends next."""

    reads: tuple[ReadPath, ...]
    calls: tuple[CallPath, ...]
    ends: tuple[EndPath, ...]


class Arrival(NamedTuple):
    """A path that has read a byte: its marks and conditions before it, and the state after it."""

    marks: Marks
    looks: tuple[int, ...]
    state: int


class ParseNetwork:
    """The network of a grammar.

    Attributes:
        labels: the labels of nodes by their numbers.
        rules: the names of the rules by their numbers; the start rule is 0.
        starts: the states in which the rules begin.
        root: the label of the start rule's node.
        looks: the conditions.

    Args:
        grammar: the rules as written.
        groups: what encloses a node, the innermost first, by the node's identity.
        shows_rules: whether rules have nodes; the only rule of an expression has one without a name.

    Raises:
        EngineError: it has token elements, whose texts are unknown.
        LimitExceededError: it is too large.
    """

    def __init__(self, grammar: Grammar, groups: Mapping[int, Sequence[GroupLabel]], *, shows_rules: bool) -> None:
        self.labels: list[ParseLabel] = []
        self.looks: list[NetworkLook] = []
        self._groups, self._code = groups, list[_Instruction]()
        rules = sorted(grammar.rules, key=lambda rule: rule.name != grammar.start)
        self.rules = tuple(rule.name for rule in rules)
        self._numbers = {name: number for number, name in enumerate(self.rules)}
        self._spans = {rule.name: rule.span for rule in rules}
        self._productive = productive_rules(grammar)
        self._states: list[tuple[int, tuple[int, ...], int, int]] = []
        self._owners: list[int] = []
        self._firsts: list[int] = []  # the first instruction of each rule
        self._state_ids: dict[tuple[int, tuple[int, ...], int, int], int] = {}
        self._leaving: list[Leaving | None] = []
        self._arrivals: dict[int, tuple[Arrival, ...]] = {}
        name = rules[0].name if shows_rules else ""
        self.root = self._label(ParseLabel(NodeKind.RULE, name, (rules[0].span,)))
        self._looks_todo: list[tuple[int, Node]] = []
        self.starts: list[int] = []
        for rule in rules:
            self._firsts.append(len(self._code))
            self.starts.append(self._state(self._emit_all(rule.node), (), 0, 0))
        for look, node in self._looks_todo:  # grows
            self.looks[look] = self.looks[look]._replace(start=self._state(self._emit_all(node), (), 0, 0))

    @cached_property
    def classes(self) -> ByteClasses:
        """Return the bytes that no path distinguishes."""
        return ByteClasses.of(one.automaton for one in self._code if isinstance(one, _Read))

    def least(self, state: int) -> int:
        """Return a lower bound of the bytes that end the rule of a state; those of counted passes are not counted."""
        pc, _, _, node = self._states[state]
        return self._least[pc] if not node else max(1, self._least[pc])

    @cached_property
    def _least(self) -> list[int]:
        """Return the lower bound for each instruction: the least solution of their equations."""
        unknown = len(self._code) + 1
        least = [unknown] * len(self._code)
        firsts = [self._states[start][0] for start in self.starts]
        changed = True
        while changed:
            changed = False
            for pc, one in enumerate(self._code):
                checkpoint()
                match one:
                    case _End():
                        found = 0
                    case _Read(_, to, _):
                        found = 1 + least[to]
                    case _Call(rule, to, _):
                        found = least[firsts[rule]] + least[to]
                    case _Fork(targets):
                        found = min((least[target] for target in targets), default=unknown)
                    case _Mark(_, to) | _Begin(to) | _Condition(_, to):
                        found = least[to]
                    case _Pass(minimum, _, body, to):
                        found = least[to] if not minimum else min(least[to], least[body])
                if found < least[pc]:
                    least[pc], changed = found, True
        return least

    def is_end(self, state: int) -> bool:
        """Return whether nothing but the end of the rule follows a state."""
        found = self.leaving(state)
        return not found.reads and not found.calls and len(found.ends) == 1 and not found.ends[0].looks

    def rule_of(self, state: int) -> int:
        """Return the rule of a state."""
        return self._owners[state]

    def name_of(self, state: int) -> str:
        """Return the name of the rule of a state; empty if its node has none."""
        rule = self._owners[state]
        return self.rules[rule] if rule else self.labels[self.root].name

    def closes(self, state: int) -> int:
        """Return how many nodes are closed in a state, whatever follows."""
        leaving = self.leaving(state)
        every = (path.marks for paths in (leaving.reads, leaving.calls, leaving.ends) for path in paths)
        return min(
            (next((at for at, mark in enumerate(marks) if mark != CLOSE), len(marks)) for marks in every), default=0
        )

    def leaving(self, state: int) -> Leaving:
        """Return the paths from a state."""
        known = self._leaving[state]
        if known is None:
            known = self._leaving[state] = self._find(state)
        return known

    def arrivals(self, state: int, byte: int) -> tuple[Arrival, ...]:
        """Return the paths from a state that read a byte."""
        key = state << 8 | byte
        known = self._arrivals.get(key)
        if known is None:
            known = self._arrivals[key] = tuple(self._read(state, byte))
        return known

    def expected(self, state: int) -> tuple[ByteRanges, tuple[Span, ...]]:
        """Return the bytes that a state reads next, and the spans of what reads them."""
        reads = [(self._reader(path), path.node) for path in self.leaving(state).reads]
        ranges = ((row[:2],) for reader, node in reads for row in reader.automaton.nodes[node])
        return join_ranges(ranges), tuple(dict.fromkeys(reader.span for reader, _ in reads))

    def _reader(self, path: ReadPath) -> _Read:
        read = self._code[path.pc]
        assert isinstance(read, _Read)
        return read

    def _read(self, state: int, byte: int) -> Generator[Arrival, None, None]:
        for path in self.leaving(state).reads:
            read = self._reader(path)
            node = read.automaton.step(path.node, byte)
            if node == FINAL:
                yield Arrival(path.marks, path.looks, self._state(read.to, path.counters, len(path.counters), 0))
            elif node is not None:
                yield Arrival(path.marks, path.looks, self._state(path.pc, path.counters, len(path.counters), node))

    def _state(self, pc: int, counters: tuple[int, ...], fresh: int, node: int) -> int:
        """Return the number of a state: `fresh` is the first counter whose pass has read nothing."""
        key = pc, counters, fresh, node
        number = self._state_ids.get(key)
        if number is None:
            number = self._state_ids[key] = len(self._states)
            self._states.append(key)
            self._leaving.append(None)
            self._owners.append(bisect_right(self._firsts, pc) - 1)
        return number

    def _find(self, state: int) -> Leaving:
        pc, counters, fresh, node = self._states[state]
        reads: list[ReadPath] = []
        calls: list[CallPath] = []
        ends: list[EndPath] = []
        if node:
            return Leaving((ReadPath((), (), pc, counters, node),), (), ())
        todo: list[tuple[int, tuple[int, ...], int, Marks, tuple[int, ...]]] = [(pc, counters, fresh, (), ())]
        while todo:
            checkpoint()
            pc, counters, fresh, marks, looks = todo.pop()
            match self._code[pc]:
                case _Read():
                    reads.append(ReadPath(marks, looks, pc, counters, 0))
                case _Call(rule, to, label):
                    after = self._state(to, counters, len(counters), 0)
                    calls.append(CallPath(marks, looks, rule, label, after, self._state(to, counters, fresh, 0)))
                case _End():
                    ends.append(EndPath(marks, looks))
                case _Fork(targets):
                    todo += [(target, counters, fresh, marks, looks) for target in reversed(targets)]
                case _Mark(mark, to):
                    todo.append((to, counters, fresh, (*marks, mark), looks))
                case _Begin(to):
                    todo.append((to, (*counters, 0), fresh, marks, looks))
                case _Condition(look, to):
                    todo.append((to, counters, fresh, marks, (*looks, look)))
                case _Pass() as one:
                    todo += [(*after, marks, looks) for after in _passes(one, counters, fresh)]
            if len(todo) + len(reads) + len(calls) > MOST_PATHS:
                raise LimitExceededError("errors.limit.followed_ways", given=MOST_PATHS + 1, limit=MOST_PATHS)
        return Leaving(tuple(reads), tuple(calls), tuple(ends))

    # --- from nodes to instructions ----------------------------------------------------------------------------------

    def _label(self, label: ParseLabel) -> int:
        self.labels.append(label)
        return len(self.labels) - 1

    def _emit(self, instruction: _Instruction) -> int:
        self._code.append(instruction)
        if len(self._code) > _MOST_INSTRUCTIONS:
            limit = _MOST_INSTRUCTIONS
            raise LimitExceededError("errors.limit.instructions", given=limit + 1, limit=limit)
        return len(self._code) - 1

    def _emit_all(self, node: Node) -> int:
        """Emit a node that ends its rule; generators in place of recursion, since nodes are nested deeply."""
        emitting, result = [self._node(node, self._emit(_END))], 0
        first = True
        while emitting:
            checkpoint()
            try:
                wanted = next(emitting[-1]) if first else emitting[-1].send(result)
            except StopIteration as stop:
                emitting.pop()
                result, first = stop.value, False
            else:
                emitting.append(self._node(*wanted))
                first = True
        return result

    def _node(self, node: Node, to: int) -> Generator[tuple[Node, int], int, int]:
        """Emit a node that continues at `to`, within the groups that enclose it; return its first instruction."""
        groups = self._groups.get(id(node), ())
        for _ in groups:
            to = self._emit(_Mark(CLOSE, to))
        is_leaf = _is_leaf(node, self._groups)
        to = yield from self._leaf(node, to) if is_leaf else self._inner(node, to)
        for group in groups:
            to = self._emit(_Mark(self._label(ParseLabel(NodeKind.GROUP, group.name, (group.span,))), to))
        return to

    def _leaf(self, node: Node, to: int) -> Generator[tuple[Node, int], int, int]:
        """Emit a node whose text is one leaf."""
        to = self._emit(_Mark(CLOSE, to))
        to = yield from self._plain(node, to)
        return self._emit(_Mark(self._label(ParseLabel(NodeKind.TEXT, "", (node.span,))), to))

    def _plain(self, node: Node, to: int) -> Generator[tuple[Node, int], int, int]:
        match node:
            case Chars():
                return self._emit(_Read(utf8_automaton(node.set), to, node.span))
            case NodeSequence():
                for item in reversed(node.items):
                    to = yield from self._plain(item, to)
                return to
            case Repeat():
                return (yield from self._repeat(node, to, None))
        return to

    def _inner(self, node: Node, to: int) -> Generator[tuple[Node, int], int, int]:
        match node:
            case Never():
                return self._emit(_Fork(()))
            case NodeSequence():
                for part in reversed(_joined(node.items, self._groups)):
                    to = yield part, to
                return to
            case Choice():
                count, targets = str(len(node.alternatives)), []
                for number, alternative in enumerate(node.alternatives, 1):
                    target = yield alternative, self._emit(_Mark(CLOSE, to))
                    label = ParseLabel(NodeKind.ALTERNATIVE, str(number), (alternative.span,), count)
                    targets.append(self._emit(_Mark(self._label(label), target)))
                return self._emit(_Fork(tuple(targets)))
            case Repeat():
                item = self._label(ParseLabel(NodeKind.ITEM, "", (node.span,)))
                return (yield from self._repeat(node, to, item))
            case Lookaround():
                self._looks_todo.append((len(self.looks), node.node))
                self.looks.append(NetworkLook(0, node.ahead, node.negated))
                return self._emit(_Condition(len(self.looks) - 1, to))
            case RuleReference():
                if node.name not in self._productive:
                    return self._emit(_Fork(()))
                spans = self._spans[node.name], node.span
                rule = self._label(ParseLabel(NodeKind.RULE, node.name, spans))
                return self._emit(_Call(self._numbers[node.name], to, rule))
            case TokenSet():
                raise EngineError("errors.parse_trees.token_elements")
        return to

    def _repeat(self, node: Repeat, to: int, label: int | None) -> Generator[tuple[Node, int], int, int]:
        """Emit a repetition; each of its passes is a node if there is a label."""
        head = self._emit(_END)  # replaced below, once its body is known
        end = head if label is None else self._emit(_Mark(CLOSE, head))
        body = (yield from self._plain(node.node, end)) if label is None else (yield node.node, end)
        if label is not None:
            body = self._emit(_Mark(label, body))
        self._code[head] = _Pass(node.minimum, node.maximum, body, to)
        return self._emit(_Begin(head))


def _passes(one: _Pass, counters: tuple[int, ...], fresh: int) -> list[tuple[int, tuple[int, ...], int]]:
    """Return where a repetition continues: after it, or in another pass, which is tried first."""
    *outer, count = counters
    last = len(outer)
    if fresh <= last and count > one.least:
        return []  # the last pass was not needed, and has read nothing
    found = []
    if count >= one.least:
        found.append((one.to, tuple(outer), min(fresh, last)))
    if one.most is None or count < one.most:
        following = count + 1 if one.most is not None else min(count + 1, one.least + 1)
        found.append((one.body, (*outer, following), min(fresh, last)))
    return found


def _is_literal(node: Node, groups: Container[int]) -> bool:
    """Return whether a node is a text, or a character of a set, without groups in it."""
    if isinstance(node, NodeSequence):
        return all(isinstance(item, Chars) and id(item) not in groups for item in node.items)
    return isinstance(node, Chars)


def _is_leaf(node: Node, groups: Container[int]) -> bool:
    if isinstance(node, Repeat):
        return id(node.node) not in groups and _is_literal(node.node, groups)
    return _is_literal(node, groups)


def _joined(items: Sequence[Node], groups: Container[int]) -> list[Node]:
    """Return the items of a sequence; neighbouring characters that no group encloses are one literal."""
    joined: list[Node] = []
    run: list[Node] = []
    for item in (*items, None):
        if isinstance(item, Chars) and id(item) not in groups:
            run.append(item)
            continue
        if len(run) > 1:
            joined.append(NodeSequence(tuple(run), run[0].span.cover(run[-1].span)))
        else:
            joined += run
        run = []
        if item is not None:
            joined.append(item)
    return joined
