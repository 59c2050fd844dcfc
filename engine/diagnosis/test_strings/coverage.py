"""Coverage: the rules and edges of a grammar that texts use.

Earley's algorithm over the rules' automata (CACM 13(2), 1970), as in `engine.automata.rtn.rule_tracker`, with a link
from every item to the items it was made from. A text uses what its links reach backwards from its end (Scott,
*SPPF-style parsing from Earley recognisers*, ENTCS 203, 2008); an ambiguous text uses all of its derivations. A text
that only begins a match uses what the links of all open items reach.

Rejected: the edges that were live at some byte. A rule that was only tried, and died later, is not covered by that
text.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Hashable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeVar

from engine.automata.dfa.dfa import ByteDfa
from engine.automata.rtn.rule_automata import RuleAutomata, RuleAutomaton
from engine.compile import CompiledGrammar
from engine.diagnosis.test_strings.values import (
    TEXT_END,
    CountedText,
    Coverage,
    EdgeKey,
    EdgeRow,
    LostMass,
    PartRow,
    RuleRow,
)
from engine.export import drawable_automata
from engine.source import CancelToken, LimitExceededError, Span

MOST_ITEMS = 200_000
MOST_EXACT = 1_000
"""Of more different texts, it is not said which of them use an edge."""
_CHECK_EVERY = 64

Key = TypeVar("Key", bound=Hashable)

Item = tuple[int, int, int]
"""A rule, one of its states, and the offset of its call."""
_Node = tuple[int, Item]


class _Link(NamedTuple):
    """One derivation of an item: its edge, the item before it, and the completed item of a call."""

    edge: EdgeKey
    before: _Node
    inner: _Node | None


def automata_of(grammar: CompiledGrammar, limit: int, *, cancel: CancelToken | None = None) -> RuleAutomata:
    """Return the automata whose rules and edges texts can cover; a regular grammar without rules is one rule.

    Args:
        grammar: the grammar.
        limit: the most states of one automaton.
        cancel: cancels the computation.

    Raises:
        LimitExceededError: there are more states.
        GrammarError: the rules of a JSON Schema cannot be drawn.
        CancelledError: `cancel` was used.
    """
    if grammar.has_rules:
        return grammar.rule_automata(limit, cancel=cancel)
    if grammar.describes_json:
        return drawable_automata(grammar, limit, cancel=cancel).automata
    return single_rule(grammar.materialise(limit, cancel=cancel), Span(0, len(grammar.source.text)))


def single_rule(dfa: ByteDfa, span: Span) -> RuleAutomata:
    """Return a regular grammar that is one expression as a rule without a name."""
    if dfa.start is None:
        return RuleAutomata(())
    return RuleAutomata((RuleAutomaton("", span, dfa.states[dfa.start].accepting, dfa),))


@dataclass(frozen=True, slots=True)
class GrammarUses:
    """The parts of a grammar that one text uses.

    Attributes:
        rules, edges: the rules (by index) and edges; both None if the text has too many derivations.
        readers: the edges that read the byte at an offset, by the offsets that were asked for; at its end, edges to
            `TEXT_END`.
    """

    rules: frozenset[int] | None = frozenset()
    edges: frozenset[EdgeKey] | None = frozenset()
    readers: Mapping[int, frozenset[EdgeKey]] = field(default_factory=dict)


def uses_of(
    automata: RuleAutomata,
    text: bytes,
    *,
    is_whole: bool = True,
    offsets: Collection[int] = (),
    cancel: CancelToken | None = None,
) -> GrammarUses:
    """Return what a text uses: nothing if it does not match.

    Args:
        automata: the grammar.
        text: the text.
        is_whole: whether it should match completely; else it is a prefix of a match, such as the trace of a generation.
        offsets: where it matters which edges read.
        cancel: cancels the computation.

    Raises:
        CancelledError: `cancel` was used.
    """
    try:
        return _Chart(automata, cancel).uses(text, is_whole=is_whole, offsets=offsets)
    except LimitExceededError:
        return GrammarUses(None, None)


def coverage(automata: RuleAutomata, uses: Iterable[GrammarUses], counts: Iterable[int] | None = None) -> Coverage:
    """Return what several texts use together.

    Args:
        automata: the grammar.
        uses: what each text uses.
        counts: how often there is each text; once by default.
    """
    used = list(uses)
    weights = [1] * len(used) if counts is None else list(counts)
    rules, edges, users = Counter[int](), Counter[EdgeKey](), defaultdict[EdgeKey, int](int)
    is_exact = len(used) <= MOST_EXACT
    for number, (one, weight) in enumerate(zip(used, weights, strict=True)):
        for edge in (one.edges or ()) if is_exact else ():
            users[edge] |= 1 << number
        rules.update(dict.fromkeys(one.rules or (), weight))
        edges.update(dict.fromkeys(one.edges or (), weight))
    has_names = any(rule.name for rule in automata.rules)
    rows = tuple(_edge_rows(automata, edges))
    return Coverage(
        tuple(
            RuleRow(rule.name, rule.span, n in rules, rules[n]) for n, rule in enumerate(automata.rules) if has_names
        ),
        rows,
        len(rows),
        sum(row.covered for row in rows),
        sum(weight for one, weight in zip(used, weights, strict=True) if one.rules),
        sum(weight for one, weight in zip(used, weights, strict=True) if one.rules is None),
        weights=tuple(weights) if is_exact else (),
        users=dict(users),
    )


class WeighedUses(NamedTuple):
    """The parts of a grammar that one output uses, with the lost masses of its steps.

    Attributes:
        text: the output.
        uses: what it uses.
        path: the transitions of the complete automaton that it takes, one for each byte; empty without one.
        parts: the parts of the grammar's text that read at each offset; None for those of the edges.
    """

    text: CountedText
    uses: GrammarUses
    path: tuple[tuple[int, int], ...] = ()
    parts: tuple[tuple[Span, ...], ...] | None = None


def weighed_coverage(automata: RuleAutomata, outputs: Collection[WeighedUses], *, has_whole: bool) -> Coverage:
    """Return what several outputs use together, and what their steps lost there.

    Args:
        automata: the grammar.
        outputs: what each output uses.
        has_whole: whether there is a complete automaton, in which they have paths.
    """
    outputs = sorted(outputs, key=lambda one: (one.text.data, one.text.masses))  # sums depend on the order
    counts = [one.text.count for one in outputs]
    found = coverage(automata, [one.uses for one in outputs], counts)
    spans = _spans_of(automata)
    texts, whole, lost = Counter[Span](), Counter[tuple[int, int]](), _Lost()
    whole_users = defaultdict[tuple[int, int], int](int)
    for number, one in enumerate(outputs):
        used = {span for edge in one.uses.edges or () for span in spans[edge]}
        if one.parts is not None:
            used = {span for parts in one.parts for span in parts}
        texts.update(dict.fromkeys(used, one.text.count))
        path = {edge for edge in one.path if edge[1] != TEXT_END}
        whole.update(dict.fromkeys(path, one.text.count))
        for transition in path if found.weights else ():
            whole_users[transition] |= 1 << number
        lost.add(one, spans)
    return replace(
        found,
        rules=tuple(replace(row, lost=lost.rules.get(n, row.lost)) for n, row in enumerate(found.rules)),
        whole_users=dict(whole_users),
        parts=tuple(PartRow(span, "", texts[span], lost.parts.get(span, LostMass())) for span in sorted(texts)),
        lost=lost.edges,
        whole=dict(whole) if has_whole else None,
        whole_lost=lost.whole,
        total=lost.total,
        unknown=sum(one.text.count for one in outputs if not one.text.masses.tokens),
    )


class _Lost:
    """Sums of lost mass by edge, transition, rule and part."""

    def __init__(self) -> None:
        self.edges: dict[EdgeKey, LostMass] = {}
        self.whole: dict[tuple[int, int], LostMass] = {}
        self.rules: dict[int, LostMass] = {}
        self.parts: dict[Span, LostMass] = {}
        self.total = LostMass()

    def add(self, output: WeighedUses, spans: Mapping[EdgeKey, tuple[Span, ...]]) -> None:
        """Add the steps of an output; those that it has beyond what was followed are nowhere."""
        for step in output.text.masses.unpack():
            edges = output.uses.readers.get(step.start, frozenset())
            if not edges:
                continue
            lost = LostMass.of(step, output.text.count, output.text.data)
            self.total += lost
            parts = {span for edge in edges for span in spans.get(edge, ())}
            if output.parts is not None:
                parts = set(output.parts[step.start]) if step.start < len(output.parts) else set()
            _add(self.edges, edges, lost)
            _add(self.rules, {edge.rule for edge in edges}, lost)
            _add(self.parts, parts, lost)
            _add(self.whole, output.path[step.start : step.start + 1], lost)


def _add(known: dict[Key, LostMass], keys: Iterable[Key], lost: LostMass) -> None:
    for key in keys:
        known[key] = known[key] + lost if key in known else lost


def _spans_of(automata: RuleAutomata) -> dict[EdgeKey, tuple[Span, ...]]:
    found: dict[EdgeKey, tuple[Span, ...]] = {}
    for number, rule in enumerate(automata.rules):
        found |= {EdgeKey(number, edge.source, edge.target): edge.spans for edge in rule.dfa.edges}
        found |= {EdgeKey(number, call.source, call.target, call.rule): call.spans for call in rule.calls}
    return found


def _edge_rows(automata: RuleAutomata, used: Mapping[EdgeKey, int]) -> Iterable[EdgeRow]:
    """Yield every edge, rule by rule."""
    for number, rule in enumerate(automata.rules):
        for edge in rule.dfa.edges:
            key = EdgeKey(number, edge.source, edge.target)
            yield EdgeRow(key, rule.name, edge.ranges, min(edge.spans, default=None), key in used, used.get(key, 0))
        for call in rule.calls:
            key = EdgeKey(number, call.source, call.target, call.rule)
            yield EdgeRow(key, rule.name, (), min(call.spans, default=None), key in used, used.get(key, 0))


class _Chart:
    """The items of one text, offset by offset."""

    def __init__(self, automata: RuleAutomata, cancel: CancelToken | None) -> None:
        self._automata, self._cancel = automata, cancel
        self._numbers = automata.numbers
        self._calls: defaultdict[tuple[int, int], list[tuple[int, int]]] = defaultdict(list)
        for number, rule in enumerate(automata.rules):
            for call in rule.calls:
                self._calls[number, call.source].append((self._numbers[call.rule], call.target))
        self._positions: list[dict[Item, list[_Link]]] = []
        self._callers: list[defaultdict[int, list[Item]]] = []
        self._size = 0

    def uses(self, text: bytes, *, is_whole: bool, offsets: Collection[int]) -> GrammarUses:
        """Return what a text uses; nothing if it does not match, or is no prefix of a match."""
        if not self._automata.rules:
            return GrammarUses()
        self._add({(0, self._start(0), 0): []})
        for at, byte in enumerate(text):
            if self._cancel is not None and at % _CHECK_EVERY == 0:
                self._cancel.check()
            self._add(self._read(byte))
            if not self._positions[-1]:
                return GrammarUses()
        end, wanted = len(text), frozenset(offsets)
        if is_whole:
            items = [item for item in self._positions[end] if item[0] == item[2] == 0 and self._accepts(item)]
            found = self._trace_back(((end, item) for item in items), wanted)
        else:
            found = self._trace_back(self._open(end), wanted)
            # What would have come next is not known, so all that could read it are meant.
            items = [item for item in self._positions[end] if self._reads(item)] if end in wanted else []
        if end not in wanted or not items:
            return found
        ends = frozenset(EdgeKey(rule, state, TEXT_END) for rule, state, _ in items)
        return replace(found, readers={**found.readers, end: ends})

    def _open(self, end: int) -> set[_Node]:
        """Return the open items at the end of a text: rules that read some of it, and their callers."""
        # a rule that was only called has read nothing yet
        todo = [(end, item) for item in self._positions[end] if item[2] < end]
        found = set[_Node]()
        while todo:
            node = todo.pop()
            if node not in found:
                found.add(node)
                rule, _, origin = node[1]
                todo += ((origin, caller) for caller in self._callers[origin][rule])
        return found

    def _start(self, rule: int) -> int:
        return self._automata.rules[rule].dfa.start or 0

    def _accepts(self, item: Item) -> bool:
        return self._automata.rules[item[0]].dfa.states[item[1]].accepting

    def _reads(self, item: Item) -> bool:
        is_end = item[0] == item[2] == 0 and self._accepts(item)
        return is_end or any(edge.source == item[1] for edge in self._automata.rules[item[0]].dfa.edges)

    def _read(self, byte: int) -> dict[Item, list[_Link]]:
        here = len(self._positions) - 1
        found: dict[Item, list[_Link]] = {}
        for item in self._positions[here]:
            rule, state, origin = item
            after = self._automata.rules[rule].dfa.step(state, byte)
            if after is not None:
                link = _Link(EdgeKey(rule, state, after), (here, item), None)
                found.setdefault((rule, after, origin), []).append(link)
        return found

    def _add(self, items: dict[Item, list[_Link]]) -> None:
        """Add an offset: these items, the rules that they call, and the callers that continue where they end."""
        here = len(self._positions)
        self._positions.append(items)
        self._callers.append(defaultdict(list))
        todo = list(items)
        while todo:
            item = todo.pop()
            for made, link in self._following(item, here):
                if made not in items:
                    items[made] = []
                    todo.append(made)
                if link is not None:
                    items[made].append(link)
            if self._size + len(items) > MOST_ITEMS:
                raise LimitExceededError("errors.limit.followed_ways", given=self._size + len(items), limit=MOST_ITEMS)
        self._size += len(items)

    def _following(self, item: Item, here: int) -> Iterable[tuple[Item, _Link | None]]:
        rule, state, origin = item
        for called, target in self._calls[rule, state]:
            self._callers[here][called].append(item)
            yield (called, self._start(called), here), None
            callee = self._automata.rules[called]
            if callee.nullable:
                empty = here, (called, self._start(called), here)
                yield (rule, target, origin), _Link(EdgeKey(rule, state, target, callee.name), (here, item), empty)
        if origin < here and self._accepts(item):
            name = self._automata.rules[rule].name
            for caller in self._callers[origin][rule]:
                for called, target in self._calls[caller[0], caller[1]]:
                    if called == rule:
                        edge = EdgeKey(caller[0], caller[1], target, name)
                        yield (caller[0], target, caller[2]), _Link(edge, (origin, caller), (here, item))

    def _completed(self, inner: _Node) -> Iterable[_Node]:
        """Yield the end items of a called rule: for one that read nothing, all items where it may end at once."""
        position, (rule, _, origin) = inner
        yield inner
        if origin == position:
            for item in self._positions[position]:
                if item[0] == rule and item[2] == position and self._accepts(item):
                    yield position, item

    def _trace_back(self, ends: Iterable[_Node], offsets: frozenset[int]) -> GrammarUses:
        rules, edges = set[int](), set[EdgeKey]()
        readers: defaultdict[int, set[EdgeKey]] = defaultdict(set)
        todo, seen = list(ends), set[_Node]()
        while todo:
            node = todo.pop()
            if node in seen:
                continue
            seen.add(node)
            position, item = node
            rules.add(item[0])
            for edge, before, inner in self._positions[position][item]:
                edges.add(edge)
                todo.append(before)
                if inner is not None:
                    todo += self._completed(inner)
                elif before[0] in offsets:
                    readers[before[0]].add(edge)
        frozen = {offset: frozenset(found) for offset, found in readers.items()}
        return GrammarUses(frozenset(rules), frozenset(edges), frozen)
