"""An Earley parser that tracks a text through the automata of its grammar's rules.

Earley's algorithm (CACM 13(2), 1970) over automata instead of dotted rules: an item is a
state and the position at which its rule was called. A rule that may be empty is skipped
where it is called (Aycock and Horspool, *Practical Earley parsing*, The Computer Journal
45(6), 2002), so left recursion, hidden or not, and ambiguity terminate by themselves. A
call with nothing after it returns to where its caller returns (Leo, *A general
context-free parsing algorithm running in linear time on every LR(k) grammar*, TCS 82,
1991), otherwise a list of n items written by right recursion would take n returns for
each. The prefix that a text shares with the last one is not read again.

Rejected: deriving the positions from a configuration of the automaton. It does not
record callers with nothing left to do, nor the path through a rule, so that a rule's
state is not a function of it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

from engine.automata.rtn.rule_automata import RuleAutomata
from engine.automata.rtn.rule_positions import RulePositions
from engine.source import CancelToken, LimitExceededError

MOST_ITEMS = 500_000
"""So many items a text may take, which is a second at most."""
STEPS_PER_ITEM = 8
"""An ambiguous text finds few items many times; so many findings take as long as one item."""

Item: TypeAlias = tuple[int, int, int]
"""A rule, a state of it, and the position at which it was called."""

Call: TypeAlias = tuple[int, int]
"""One use of a rule: the rule, and the position at which it was called."""

_CHECK_EVERY = 64


class OpenRules(NamedTuple):
    """The uses of rules that are open in a text, without those that have read nothing.

    Attributes:
        read: those that read its last byte, whether they have ended or not.
        open: those of them that may continue; the ones that were called earlier come first.
        depth: the greatest nesting depth of `open`; a left-recursive rule counts once.
    """

    read: frozenset[Call] = frozenset()
    open: tuple[Call, ...] = ()
    depth: int = 0


class _Position:
    """The Earley items after a number of bytes."""

    def __init__(self) -> None:
        self.items: dict[Item, None] = {}
        self.steps = 0  # so many times an item was found, for the first time or again
        self.callers: defaultdict[int, list[Item]] = defaultdict(list)  # by the rule that they call here
        self.returns: dict[int, Item] = {}  # where a rule with a single caller here returns to, skipping tail calls

    @property
    def size(self) -> int:
        """Return the work that it took, counted in items."""
        return len(self.items) + self.steps // STEPS_PER_ITEM


class RuleTracker:
    """Follows texts through the automata of one grammar, one after the other."""

    def __init__(self, automata: RuleAutomata) -> None:
        self._automata = automata
        numbers = automata.numbers
        self._calls: list[list[list[tuple[int, int]]]] = [[[] for _ in rule.dfa.states] for rule in automata.rules]
        self._after: dict[tuple[int, int, int], int] = {}  # by rule, state and called rule
        for number, rule in enumerate(automata.rules):
            for call in rule.calls:
                self._calls[number][call.source].append((numbers[call.rule], call.target))
                self._after[number, call.source, numbers[call.rule]] = call.target
        self._epsilons: list[list[list[int]]] = [[[] for _ in rule.dfa.states] for rule in automata.rules]
        for number, rule in enumerate(automata.rules):
            for epsilon in rule.epsilons:
                self._epsilons[number][epsilon.source].append(epsilon.target)
        self._reads = [
            frozenset(
                (
                    *(edge.source for edge in rule.dfa.edges),
                    *(edge.source for edge in rule.tokens),
                    *(edge.source for edge in rule.epsilons),
                )
            )
            for rule in automata.rules
        ]
        self._ends = {
            (number, state.id)
            for number, rule in enumerate(automata.rules)
            for state in rule.dfa.states
            if state.accepting and state.id not in self._reads[number] and not self._calls[number][state.id]
        }
        self._data = b""
        self._positions: list[_Position] = []
        self._size = 0

    def positions(self, data: bytes, cancel: CancelToken | None = None) -> RulePositions:
        """Return the states of a text; none if it is not a prefix of any match.

        Raises:
            LimitExceededError: there are too many items.
            CancelledError: `cancel` was used.
        """
        items = self._read(data, cancel)
        ended = [item for item in items if item[0] == item[2] == 0 and self._accepts(item)]
        current = [item for item in items if item[1] in self._reads[item[0]]] + ended
        waiting: set[tuple[int, int, int]] = set()
        todo, seen = list(current), set[tuple[int, int]]()
        while todo:
            rule, _, origin = todo.pop()
            if (rule, origin) in seen:
                continue
            seen.add((rule, origin))
            callers = self._positions[origin].callers.get(rule, ())
            waiting.update((caller, state, rule) for caller, state, _ in callers)
            todo += callers
        return RulePositions(frozenset((rule, state) for rule, state, _ in current), frozenset(waiting), bool(ended))

    def open_rules(self, data: bytes, cancel: CancelToken | None = None) -> OpenRules:
        """Return the rules that a text is within; none if it is empty or not a prefix of any match.

        Raises:
            LimitExceededError: there are too many items.
            CancelledError: `cancel` was used.
        """
        items = self._read(data, cancel)
        here = len(self._positions) - 1
        if here < len(data) or not data:
            return OpenRules()
        read = self._callers({(rule, origin) for rule, _, origin in items}, here)
        going_on = ((rule, origin) for rule, state, origin in items if self._continues(rule, state))
        is_open = self._callers(set(going_on), here)
        order = sorted(is_open, key=lambda call: (call[1], call[0]))
        return OpenRules(frozenset(read), tuple(order), self._depth(is_open))

    def _continues(self, rule: int, state: int) -> bool:
        return state in self._reads[rule] or bool(self._calls[rule][state])

    def _callers(self, calls: set[Call], here: int) -> dict[Call, list[Call]]:
        """Return some uses of rules and all that they are within, with their callers, except those called just now."""
        found: dict[Call, list[Call]] = {}
        todo, seen = list(calls), set(calls)
        while todo:
            rule, origin = todo.pop()
            above = [(caller, began) for caller, _, began in self._positions[origin].callers.get(rule, ())]
            if origin < here:
                found[rule, origin] = above
            todo += (call for call in above if call not in seen)
            seen.update(above)
        return found

    def _depth(self, callers: dict[Call, list[Call]]) -> int:
        """Return the length of the longest path to the start rule; a path ends where it meets itself."""
        depths: dict[Call, int] = {}
        under_way: set[Call] = set()
        todo = list(callers)
        while todo:
            call = todo[-1]
            missing = [above for above in callers[call] if above not in depths and above not in under_way]
            if call in depths or (call in under_way and not missing):
                todo.pop()
                under_way.discard(call)
                depths.setdefault(call, 1 + max((depths.get(above, 0) for above in callers[call]), default=0))
            else:
                under_way.add(call)
                todo += missing
        return max(depths.values(), default=0)

    def _read(self, data: bytes, cancel: CancelToken | None) -> Iterable[Item]:
        """Return the items after a text."""
        shared = len(self._data)
        if not data.startswith(self._data):
            pairs = enumerate(zip(self._data, data, strict=False))
            shared = next((at for at, (old, new) in pairs if old != new), len(data))
        for position in self._positions[shared + 1 :]:
            self._size -= position.size
        del self._positions[shared + 1 :]
        self._data = data[:shared]
        if not self._positions:
            self._add([(0, 0, 0)] if self._automata.rules else [])
        for at in range(shared, len(data)):
            if cancel is not None and at % _CHECK_EVERY == 0:
                cancel.check()
            items = self._positions[-1].items
            if not items:
                break
            following = ((item, self._automata.rules[item[0]].dfa.step(item[1], data[at])) for item in items)
            self._add([(rule, state, origin) for (rule, _, origin), state in following if state is not None])
            self._data = data[: at + 1]
        return self._positions[-1].items

    def _add(self, items: list[Item]) -> None:
        """Add a position with these items, the rules that they call, and the callers of rules that end."""
        here, position = len(self._positions), _Position()
        self._positions.append(position)
        position.items.update(dict.fromkeys(items))
        todo = items
        while todo:
            item = todo.pop()
            rule, state, origin = item
            found: list[Item] = [(rule, target, origin) for target in self._epsilons[rule][state]]
            for called, target in self._calls[rule][state]:
                position.callers[called].append(item)
                found.append((called, 0, here))
                if self._automata.rules[called].nullable:
                    found.append((rule, target, origin))
            if origin < here and self._accepts(item):
                found += self._after_return(rule, origin)
            position.steps += len(found)
            for other in found:
                if other not in position.items:
                    position.items[other] = None
                    todo.append(other)
            size = self._size + position.size
            if size > MOST_ITEMS:
                self._positions.pop()
                raise LimitExceededError("errors.limit.rule_ways", given=size, limit=MOST_ITEMS)
        self._size += position.size

    def _after_return(self, rule: int, origin: int) -> list[Item]:
        """Return the successors of the callers of a rule that was called at an earlier position and has ended."""
        callers = self._positions[origin].callers.get(rule, [])
        if len(callers) != 1:
            return [(caller, self._after[caller, state, rule], began) for caller, state, began in callers]
        skipped: list[tuple[int, int]] = []
        while True:
            known = self._positions[origin].returns.get(rule)
            if known is not None:
                break
            skipped.append((rule, origin))
            ((caller, state, began),) = callers
            known = caller, self._after[caller, state, rule], began
            callers = self._positions[began].callers.get(caller, [])
            # The start rule's own end is where the match may end, and is not skipped.
            if (caller, known[1]) not in self._ends or caller == began == 0 or len(callers) != 1:
                break
            rule, origin = caller, began
        for rule, origin in skipped:
            self._positions[origin].returns[rule] = known
        return [known]

    def _accepts(self, item: Item) -> bool:
        return self._automata.rules[item[0]].dfa.states[item[1]].accepting
