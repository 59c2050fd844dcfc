"""All derivations of a text, as an Earley chart over the networks of the rules.

Earley's algorithm (CACM 13(2), 1970) with a link from every item to the items that it was made from, which together are
a packed forest (Scott, *SPPF-style parsing from Earley recognisers*, ENTCS 203, 2008). The chart is kept, so that
another byte costs what its own items cost.

The number of derivations of each item is the least solution of sums and products over the links, cut at two: a cycle
of links, as of `a ::= a | "x"`, has infinitely many derivations and comes out as two. Each item remembers the link
that first made its number positive; these links have no cycle, so a tree that follows them is finite. A second tree
leaves them at one item.

What a lookahead says depends on later bytes. So conditions do not restrict the chart but the links that count.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple, TypeAlias

from engine.automata.byte_classes import ByteRanges, join_ranges
from engine.diagnosis.parse_trees.network import CLOSE, CallPath, EndPath, Marks, ParseNetwork
from engine.diagnosis.parse_trees.values import FailedAttempt, NodeKind, ParseNode, ParseTree
from engine.source import CancelToken, LimitExceededError, Span, checkpoint
from engine.source.text import common_length

MOST_ITEMS = 800_000
"""The most items and links of a text: about two seconds of work."""
MANY = 2
"""Two derivations or more."""
_CHECK_EVERY = 64
_MOST_ATTEMPTS = 40
_KEPT_LEVELS = 64
"""So many innermost levels of a tree are kept to build the next one from."""

Item: TypeAlias = tuple[int, int]
"""A state of a rule, and the offset at which the rule was called."""


class _Link(NamedTuple):
    """One way to make an item: the item before it, and what was read between them.

    Attributes:
        at: the offset of the item before.
        before: that item.
        marks, looks: the marks and conditions of the path that leaves it.
        rule: the rule that was called at `at` and has ended here; -1 if a byte was read.
        label: the label of that rule's node.
    """

    at: int
    before: Item
    marks: Marks
    looks: tuple[int, ...]
    rule: int = -1
    label: int = -1


class _Position:
    """The items after a number of bytes."""

    __slots__ = ("begun", "callers", "counts", "ends", "items", "size", "supports")

    def __init__(self) -> None:
        self.items: dict[Item, list[_Link]] = {}
        self.begun: dict[int, Item] = {}  # the first items of the rules that are called here
        self.callers: defaultdict[int, list[tuple[Item, CallPath]]] = defaultdict(list)
        self.ends: defaultdict[tuple[int, int], list[tuple[Item, EndPath]]] = defaultdict(list)  # by rule and origin
        self.size = 0
        self.counts: dict[Item, int] | None = None  # of items and of ended rules
        self.supports: dict[Item, _Way] = {}


def _ended(rule: int, origin: int) -> Item:
    """Return the key of a rule that was called at `origin` and has ended, among those of items."""
    return -1 - rule, origin


_Way: TypeAlias = "_Link | tuple[Item, EndPath]"
"""One way to make an item, or to end a rule."""


class ParseChart:
    """The chart of one text at a time; what it shares with the last text is not read again.

    Args:
        network: the grammar.
    """

    def __init__(self, network: ParseNetwork) -> None:
        self._network = network
        self._text = b""
        self._positions: list[_Position] = []
        self._size = 0
        self._behind: dict[int, tuple[list[bool], set[int]]] = {}
        self._is_whole: bool | None = None  # of the counts, where conditions depend on it
        self._builder = _Builder(self, network)
        self._second: _Builder | None = None

    # --- reading -----------------------------------------------------------------------------------------------------

    def read(self, text: bytes, cancel: CancelToken | None = None) -> None:
        """Read a text, which begins a match.

        Raises:
            LimitExceededError: there are too many items.
            CancelledError: `cancel` was used.
        """
        shared = common_length(self._text, text)
        if shared + 1 < len(self._positions):
            self._builder, self._second = _Builder(self, self._network), None
        for position in self._positions[shared + 1 :]:
            self._size -= position.size
        del self._positions[shared + 1 :]
        self._text = text[:shared]
        if self._network.looks:
            self._behind.clear()
            self._forget_counts()
        try:
            if not self._positions:
                self._add({})
            for at in range(shared, len(text)):
                if cancel is not None and at % _CHECK_EVERY == 0:
                    cancel.check()
                self._add(self._after(text[at]))
        finally:
            self._text = text[: max(0, len(self._positions) - 1)]

    def _after(self, byte: int) -> dict[Item, list[_Link]]:
        here = len(self._positions) - 1
        found: dict[Item, list[_Link]] = {}
        arrivals = self._network.arrivals
        for item in self._positions[here].items:
            for marks, looks, state in arrivals(item[0], byte):
                found.setdefault((state, item[1]), []).append(_Link(here, item, marks, looks))
        return found

    def _add(self, items: dict[Item, list[_Link]]) -> None:
        """Add a position with these items, the rules that they call, and the callers of rules that end."""
        here, position, network = len(self._positions), _Position(), self._network
        position.items = items
        todo = list(items)
        steps = 0
        if here == 0:
            todo.append(self._begin(position, 0, here))

        def link(item: Item, one: _Link) -> None:
            links = items.get(item)
            if links is None:
                items[item] = [one]
                todo.append(item)
            else:
                links.append(one)

        while todo:
            checkpoint()
            item = todo.pop()
            leaving = network.leaving(item[0])
            for path in leaving.calls:
                steps += 1
                position.callers[path.rule].append((item, path))
                if path.rule not in position.begun:
                    todo.append(self._begin(position, path.rule, here))
                elif (path.rule, here) in position.ends:
                    one = _Link(here, item, path.marks, path.looks, path.rule, path.label)
                    link((path.after_empty, item[1]), one)
            if leaving.ends:
                rule = network.rule_of(item[0])
                ended = rule, item[1]
                is_first = ended not in position.ends
                position.ends[ended] += [(item, path) for path in leaving.ends]
                if is_first:
                    callers = self._positions[item[1]].callers if item[1] < here else position.callers
                    for caller, path in tuple(callers.get(rule, ())):
                        steps += 1
                        after = path.after if item[1] < here else path.after_empty
                        link((after, caller[1]), _Link(item[1], caller, path.marks, path.looks, rule, path.label))
            if self._size + len(items) + steps > MOST_ITEMS:
                given = self._size + len(items) + steps
                raise LimitExceededError("errors.limit.followed_ways", given=given, limit=MOST_ITEMS)
        position.size = len(items) + steps
        self._size += position.size
        self._positions.append(position)

    def _begin(self, position: _Position, rule: int, here: int) -> Item:
        item = position.begun[rule] = self._network.starts[rule], here
        position.items.setdefault(item, [])
        return item

    # --- conditions --------------------------------------------------------------------------------------------------

    def _holds(self, looks: tuple[int, ...], at: int) -> bool:
        return all(self._look_holds(look, at) for look in looks)

    def _look_holds(self, look: int, at: int) -> bool:
        """Return whether a condition holds; one that later bytes decide does."""
        one = self._network.looks[look]
        found = self._matches_ahead(one.start, at) if one.ahead else self._matches_behind(look, at)
        return found is None or found is not one.negated

    def _matches_ahead(self, start: int, at: int) -> bool | None:
        states = {start}
        for offset in range(at, len(self._text) + 1):
            if any(self._ends(state, offset) for state in states):
                return True
            if offset == len(self._text) or not states:
                break
            states = self._step(states, offset)
        return None if states and not self._is_whole else False

    def _matches_behind(self, look: int, at: int) -> bool:
        """Return whether some text before an offset matches; all offsets are computed in one pass."""
        start = self._network.looks[look].start
        held, states = self._behind.setdefault(look, ([], set()))
        while len(held) <= at:
            offset = len(held)
            states = self._step(states, offset - 1) if offset else set()
            states.add(start)
            held.append(any(self._ends(state, offset) for state in states))
            self._behind[look] = held, states
        return held[at]

    def _ends(self, state: int, at: int) -> bool:
        return any(self._holds(path.looks, at) for path in self._network.leaving(state).ends)

    def _step(self, states: set[int], at: int) -> set[int]:
        byte = self._text[at]
        return {
            state
            for before in states
            for _, looks, state in self._network.arrivals(before, byte)
            if self._holds(looks, at)
        }

    # --- numbers of derivations --------------------------------------------------------------------------------------

    def _forget_counts(self) -> None:
        for position in self._positions:
            position.counts = None

    def _count(self, *, is_whole: bool) -> None:
        """Count the derivations of all items that have no number yet."""
        if self._network.looks and self._is_whole is not is_whole:
            self._forget_counts()
        self._is_whole = is_whole
        for at in range(len(self._positions) - 1, -1, -1):
            if self._positions[at].counts is not None:
                break
        else:
            at = -1
        for missing in range(at + 1, len(self._positions)):
            checkpoint()
            self._count_at(missing)

    def _count_at(self, here: int) -> None:
        """Solve the equations of one position: those before it are solved."""
        position = self._positions[here]
        counts: dict[Item, int] = {}
        position.counts, position.supports = counts, {}
        users: defaultdict[Item, list[Item]] = defaultdict(list)
        todo: list[Item] = []
        for item, links in position.items.items():
            todo.append(item)
            for link in links:
                if link.at == here:
                    users[link.before].append(item)
                if link.rule >= 0:
                    users[_ended(link.rule, link.at)].append(item)
        for (rule, origin), ends in position.ends.items():
            todo.append(_ended(rule, origin))
            for item, _ in ends:
                users[item].append(_ended(rule, origin))
        begun = set(position.begun.values())
        while todo:
            checkpoint()
            key = todo.pop()
            old = counts.get(key, 0)
            if old == MANY:
                continue
            total = 1 if key in begun else 0
            for way, number in self._ways(here, key):
                total += number
                if number and not old and key not in position.supports:
                    position.supports[key] = way
            if min(total, MANY) != old:
                counts[key] = min(total, MANY)
                todo += users.get(key, ())

    def _ways(self, here: int, key: Item) -> Iterator[tuple[_Way, int]]:
        """Yield the links of an item, or the ends of a rule, each with the number of its derivations."""
        position = self._positions[here]
        if key[0] < 0:
            for item, path in position.ends.get((-1 - key[0], key[1]), ()):
                yield (item, path), self._number(here, item) if self._holds(path.looks, here) else 0
            return
        for link in position.items.get(key, ()):
            number = self._number(link.at, link.before)
            if number and link.rule >= 0:
                number *= self._number(here, _ended(link.rule, link.at))
            yield link, number if number and self._holds(link.looks, link.at) else 0

    def _number(self, at: int, key: Item) -> int:
        return (self._positions[at].counts or {}).get(key, 0)

    # --- trees -------------------------------------------------------------------------------------------------------

    def trees(self, *, is_whole: bool) -> tuple[ParseTree, ...]:
        """Return a tree of the text; two if it has two readings; none if it has none.

        Args:
            is_whole: whether the text is a match; else it begins one, and its last nodes are open.
        """
        self._count(is_whole=is_whole)
        readings = self._endings() if is_whole else [(stack, None) for stack in self._open_stacks()]
        if not readings:
            return ()
        if self._network.looks:
            self._builder = _Builder(self, self._network)  # what it knows may have changed
        tree, deviation = self._builder.build(*readings[0]), self._builder.deviation
        if deviation is None and len(readings) == 1:
            return (tree,)
        if self._second is None or self._second.deviates != deviation or self._network.looks:
            self._second = _Builder(self, self._network, deviation)
        reading = readings[-1 if deviation is None else 0]
        other = self._second.build(*reading)
        if tree != other:
            return tree, other
        whole = (_Builder(self, self._network, way, keeps_all=True) for way in (None, deviation))
        return next(whole).build(*readings[0]), next(whole).build(*reading)

    def _endings(self) -> list[tuple[list[_Open], EndPath | None]]:
        """Return the ends of the start rule, two at most."""
        end = len(self._text)
        ways = self.way(end, _ended(0, 0)), self.other_way(end, _ended(0, 0))
        found = (way for way in ways if way is not None and not isinstance(way, _Link))
        return [([_Open(item, end, None)], path) for item, path in found]

    def _open_stacks(self) -> list[list[_Open]]:
        """Return the open rules of one or two readings, the start rule first, what read the last byte last."""
        end = len(self._text)
        position = self._positions[end]
        if not end:
            return [[_Open(position.begun[0], 0, None)]]
        found = []
        for item, links in position.items.items():
            if self._number(end, item) and any(link.rule < 0 for link in links):
                stack = self._stack_above(item, end)
                if stack is not None:
                    found.append(stack)
            if len(found) == MANY:
                break
        return sorted(found, key=len)

    def _stack_above(self, item: Item, at: int) -> list[_Open] | None:
        """Return the shortest stack of an item; None if none of its callers counts."""
        start = self._network.rule_of(item[0]), item[1]
        below: dict[tuple[int, int], _Open] = {}
        todo, seen = [start], {start}
        for rule, origin in todo:  # grows
            if rule == origin == 0:
                stack, call = [], (0, 0)
                while call != start:
                    one = below[call]
                    stack.append(one)
                    call = one.path.rule, one.at  # type: ignore[union-attr]
                return [*stack, _Open(item, at, None)]
            for caller, path in self._positions[origin].callers.get(rule, ()):
                above = self._network.rule_of(caller[0]), caller[1]
                if above not in seen and self._number(origin, caller) and self._holds(path.looks, origin):
                    seen.add(above)
                    below[above] = _Open(caller, origin, path)
                    todo.append(above)
        return None

    def attempts(self, tree: ParseTree) -> tuple[tuple[FailedAttempt, ...], int]:
        """Return what could read the next byte at the end of the text, and how many more there are.

        Args:
            tree: the first tree of the text.
        """
        end = len(self._text)
        is_open = [node.below is None and node.kind is NodeKind.RULE for node in tree]
        nodes = {(node.name, node.start): at for at, node in enumerate(tree) if is_open[at]}
        calls: dict[tuple[int, int], tuple[list[ByteRanges], dict[Span, None], Item]] = {}
        for item in self._positions[end].items:
            expected, spans = self._network.expected(item[0])
            if expected and self._number(end, item):
                known = calls.setdefault((self._network.rule_of(item[0]), item[1]), ([], {}, item))
                known[0].append(expected)
                known[1].update(dict.fromkeys(spans))
        order = sorted(calls, key=lambda call: (call[1] == end, -call[1], call[0]))
        found = []
        for call in order[:_MOST_ATTEMPTS]:
            ranges, parts, item = calls[call]
            above = self._stack_above(item, end) or []
            names = [(self._network.name_of(one.item[0]), one.item[1]) for one in reversed(above)]
            node = next((nodes[name] for name in names if name in nodes), None)
            rules = tuple(name for name, _ in names if name)
            found.append(FailedAttempt(rules, call[1], join_ranges(ranges), tuple(parts), node))
        found.sort(key=lambda one: (one.start == end, -(one.start or 0), -len(one.names)))  # the innermost first
        return tuple(found), len(order) - len(found)

    def way(self, at: int, key: Item) -> _Way | None:
        """Return the way to make an item that has no cycle; None at the beginning of a rule."""
        return self._positions[at].supports.get(key)

    def other_way(self, at: int, key: Item) -> _Way | None:
        """Return another way to make an item; None if there is one way."""
        if self._number(at, key) < MANY:
            return None
        support = self.way(at, key)
        return next((way for way, number in self._ways(at, key) if number and way != support), None)


class _Open(NamedTuple):
    """An open rule: an item of it, its offset, and the path to the call that follows; None for the innermost."""

    item: Item
    at: int
    path: CallPath | None


class _Frame(NamedTuple):
    """A rule whose events are being written: links in order, the end of each, and the marks after them."""

    events: Iterator[tuple[_Link, int]]
    marks: Marks
    at: int
    closes: bool


class _OpenNode(NamedTuple):
    """An open node of a tree under construction.

    Attributes:
        at: its index.
        text: the index of the node directly below it that was closed last, if that is a text; else -1.
        label, passes: the repetition whose passes are directly below it, and the number of the last one.
    """

    at: int
    text: int = -1
    label: int = -1
    passes: int = 0


_Deviation: TypeAlias = "tuple[int, Item, _Way]"
"""An offset, an item there, and another way to make it."""


class _Level(NamedTuple):
    """The state of a builder after it has followed an open rule up to an item; no nodes if it was not kept."""

    rule: _Open
    nodes: list[ParseNode]
    open: list[_OpenNode]
    deviation: _Deviation | None
    deviates: _Deviation | None


class _Builder:
    """Builds trees, with an explicit stack: texts nest deeply. What a stack shares with the last one is built once.

    Attributes:
        deviation: the first item of the last tree that has another way to be made.

    Args:
        chart: the chart.
        network: its grammar.
        deviates: each tree takes this way once; then, and otherwise, the ways that have no cycle.
        keeps_all: whether all nodes are kept. If not, those without text are left out, and alternatives and items with
            one node of the same text; and texts of passes of the same repetition are joined.
    """

    def __init__(
        self,
        chart: ParseChart,
        network: ParseNetwork,
        deviates: _Deviation | None = None,
        *,
        keeps_all: bool = False,
    ) -> None:
        self._chart, self._network, self.deviates, self._keeps_all = chart, network, deviates, keeps_all
        self._pending = deviates  # None once it was taken
        self.deviation: _Deviation | None = None
        self._nodes: list[ParseNode] = []
        self._open: list[_OpenNode] = []
        self._levels: list[_Level] = []

    def build(self, stack: list[_Open], last: EndPath | None) -> ParseTree:
        """Return the tree of a stack.

        Args:
            stack: the open rules.
            last: of a match, the end of the start rule, the only rule of the stack.
        """
        levels, shared = self._levels, 0
        while shared < min(len(levels), len(stack)) and levels[shared].rule == stack[shared]:
            shared += 1
        shared = min(shared, len(stack) - 1)
        events, is_reached = self._from_level(levels[shared], stack[shared]) if shared < len(levels) else ([], False)
        if not is_reached:
            while shared and not levels[shared - 1].nodes:
                shared -= 1  # its state was not kept
            self._restore(levels[shared - 1] if shared else _Level(stack[0], [], [], None, self.deviates))
            if shared:
                self._enter(stack[shared - 1])
            else:
                self._begin(self._network.root, 0)
            events, _ = self._events(stack[shared], None)
        del levels[shared:]
        for depth in range(shared, len(stack)):
            one = stack[depth]
            if depth > shared:
                events, _ = self._events(one, None)
            self._run(_Frame(iter(events), (), one.at, closes=False))
            is_kept = depth >= len(stack) - _KEPT_LEVELS
            nodes, opened = (self._nodes.copy(), self._open.copy()) if is_kept else ([], [])
            levels.append(_Level(one, nodes, opened, self.deviation, self._pending))
            self._enter(one)
        if last is not None:
            self._apply((*last.marks, CLOSE), stack[-1].at)
        else:
            self._apply((CLOSE,) * self._network.closes(stack[-1].item[0]), stack[-1].at)
        return self._tree()

    def _from_level(self, level: _Level, rule: _Open) -> tuple[list[tuple[_Link, int]], bool]:
        """Continue from a level; return the links that lead on from it, and False if it is not on the way."""
        if not level.nodes:
            return [], False
        self._restore(level)
        return self._events(rule, level.rule)

    def _restore(self, level: _Level) -> None:
        self._nodes, self._open = level.nodes.copy(), level.open.copy()
        self.deviation, self._pending = level.deviation, level.deviates

    def _enter(self, one: _Open) -> None:
        if one.path is not None:
            self._apply(one.path.marks, one.at)
            self._begin(one.path.label, one.at)

    def _tree(self) -> ParseTree:
        nodes = self._nodes
        for index, *_ in reversed(self._open):
            is_alone = index + 1 < len(nodes) and nodes[index + 1].below is None
            if is_alone and self._is_thin(index):
                del nodes[index]
        return tuple(nodes)

    def _is_thin(self, index: int) -> bool:
        """Return whether a node adds nothing to the only one below it."""
        node, only = self._nodes[index], self._nodes[index + 1]
        is_wrapper = node.kind in {NodeKind.ALTERNATIVE, NodeKind.ITEM}
        return is_wrapper and not self._keeps_all and (node.start, node.end) == (only.start, only.end)

    def _way(self, at: int, key: Item) -> _Way | None:
        if self._pending is not None and self._pending[:2] == (at, key):
            way, self._pending = self._pending[2], None  # once: it may be a cycle
            return way
        if self.deviation is None and (other := self._chart.other_way(at, key)) is not None:
            self.deviation = at, key, other
        return self._chart.way(at, key)

    def _rule(self, rule: int, origin: int, end: int) -> _Frame:
        item, path = self._way(end, _ended(rule, origin))  # type: ignore[misc]
        events, _ = self._events(_Open(item, end, None), None)
        return _Frame(iter(events), path.marks, end, closes=True)

    def _events(self, one: _Open, known: _Open | None) -> tuple[list[tuple[_Link, int]], bool]:
        """Return the links that lead to an item: from its rule's beginning, or from a known item on the way to it."""
        events: list[tuple[_Link, int]] = []
        item, at, _ = one
        while known is None or item != known.item or at != known.at:
            link = self._way(at, item)
            if not isinstance(link, _Link):
                return events[::-1], False
            events.append((link, at))
            at, item = link.at, link.before
        return events[::-1], True

    def _run(self, frame: _Frame) -> None:
        frames = [frame]
        while frames:
            checkpoint()
            frame = frames[-1]
            for link, end in frame.events:
                if link.marks:
                    self._apply(link.marks, link.at)
                if link.rule >= 0:
                    self._begin(link.label, link.at)
                    frames.append(self._rule(link.rule, link.at, end))
                    break
            else:
                frames.pop()
                self._apply(frame.marks, frame.at)
                if frame.closes:
                    self._close(frame.at)

    def _apply(self, marks: Marks, at: int) -> None:
        for mark in marks:
            if mark == CLOSE:
                self._close(at)
            else:
                self._begin(mark, at)

    def _begin(self, label: int, at: int) -> None:
        kind, name, spans, detail = self._network.labels[label]
        if kind is NodeKind.ITEM:
            above = self._open[-1]
            passes = above.passes + 1 if above.label == label else 1
            self._open[-1] = above._replace(label=label, passes=passes)
            name = str(passes)
        self._open.append(_OpenNode(len(self._nodes)))
        self._nodes.append(ParseNode(kind, name, at, None, spans, (), detail, None))

    def _close(self, at: int) -> None:
        nodes, index = self._nodes, self._open.pop().at
        below = len(nodes) - index - 1
        node = nodes[index] = nodes[index]._replace(end=at, below=below)
        if node.start == at and self._open and (node.kind is NodeKind.TEXT or not self._keeps_all):
            del nodes[index:]
            return
        if below and nodes[index + 1].below == below - 1 and self._is_thin(index):
            del nodes[index]
            node = nodes[index]
        if not self._open:
            return
        text = -1
        if node.kind is NodeKind.TEXT:
            text = self._open[-1].text
            last = nodes[text]
            if text >= 0 and not self._keeps_all and last.spans == node.spans and last.end == node.start:
                nodes[text] = last._replace(end=at)
                del nodes[index]
            else:
                text = index
        if text != self._open[-1].text:
            self._open[-1] = self._open[-1]._replace(text=text)
