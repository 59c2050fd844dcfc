"""Construction of a grammar's rules: their names, and which of them are worth a line.

Names are those of the schema in kebab case, since llama.cpp accepts only letters, digits and dashes. A tentative rule
is inlined if it is used once. Whatever becomes of a rule, its source positions move with its text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, TypeAlias

from engine.export.rules.expressions import mapped
from engine.export.rules.right_linear import Namer
from engine.grammar import Grammar, Never, Node, Rule, RuleReference
from engine.grammar.analysis import components, references
from engine.source import Limits, Span

START: Final = "root"
COMMON: Final = (
    "value",
    "object",
    "any-key",
    "array",
    "string",
    "number",
    "integer",
    "boolean",
    "null",
    "char",
    "value-char",
    "escape",
    "value-escape",
    "ws",
)
"""Names for rules that every JSON grammar may share; a schema's own rules get other names."""

_CHARACTERS: Final = "char"
_LONGEST: Final = 40
_HUMP: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NO_NAME: Final = re.compile(r"[^a-z0-9]+")

_Places: TypeAlias = dict[str, dict[Span, None]]


def kebab(text: str) -> str:
    """Return a name for a rule, such as `home-address` for `homeAddress`; empty if no character can be in a name."""
    name = _NO_NAME.sub("-", _HUMP.sub("-", text).lower()).strip("-")[:_LONGEST].strip("-")
    return f"{name}-value" if name == START else name


def _rank(name: str) -> int:
    """Return the sort key of a rule's name: common rules come last, and character classes with them."""
    if name in COMMON:
        return COMMON.index(name)
    return COMMON.index(_CHARACTERS) if name.startswith(f"{_CHARACTERS}-") else -1


def _numbered(plain: str, taken: set[str]) -> str:
    number, name = 1, plain
    while name in taken:
        number += 1
        name = f"{plain}-{number}"
    return name


@dataclass(frozen=True)
class _Entry:
    node: Node
    span: Span
    tentative: bool

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The rules that it refers to, in source order."""
        return tuple(reference.name for reference in references(self.node))


class RuleBuilder:
    """Collects rules.

    Attributes:
        places: for each rule of the last grammar, its source positions: its own first, then those of rules that were
            inlined into it or are equal; empty for rules that no source position requires.
        has_rule_loops: a long loop was written as rules that refer to each other.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._entries: dict[str, _Entry] = {}
        self._taken = set(COMMON)
        self._counts: Counter[str] = Counter()
        self._plain: dict[str, str] = {}
        self._noted: dict[str, dict[Span, None]] = {}
        self.places: dict[str, tuple[Span, ...]] = {}
        self.has_rule_loops = False

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def name(self, *parts: str) -> str:
        """Return a new unique name made of some parts."""
        plain = "-".join(part for part in parts if part)[: 2 * _LONGEST].strip("-") or "rule"
        candidate = plain
        while candidate in self._taken:
            self._counts[plain] += 1
            candidate = f"{plain}-{self._counts[plain] + 1}"
        self._taken.add(candidate)
        self._plain[candidate] = plain
        self._limits.check("errors.limit.rules", len(self._taken), self._limits.threads, "threads")
        return candidate

    def define(self, name: str, node: Node, span: Span, *, tentative: bool = False) -> RuleReference:
        """Define a rule and return a reference to it.

        Args:
            name: the name of the rule.
            node: its body.
            span: its source position.
            tentative: whether to inline it if it is used once.
        """
        self._entries[name] = _Entry(node, span, tentative)
        return RuleReference(name)

    def note(self, name: str, places: Iterable[Span]) -> None:
        """Record further source positions of a rule, which may be defined later."""
        self._noted.setdefault(name, {}).update(dict.fromkeys(place for place in places if place.end))

    def namer(self, span: Span, *parts: str) -> Namer:
        """Return a `Namer` for `right_linear.solve`, with names made of some parts."""
        names: dict[int, str] = {}

        def rule(state: int, node: Node | None) -> Node:
            if state not in names:
                names[state] = self.name(*parts)
            if node is None:
                self.has_rule_loops = True
            else:
                self.define(names[state], node, span)
            return RuleReference(names[state])

        return rule

    def common(self, name: str, make: Callable[[], Node]) -> RuleReference:
        """Return a reference to a rule that is the same in every grammar; define it if needed."""
        if name not in self._entries:
            self.define(name, RuleReference(name), Span(0, 0))  # its body may refer to it
            self.define(name, make(), Span(0, 0))
        return RuleReference(name)

    def recursive_rule(self, start: Node, among: Collection[str]) -> tuple[str, Span] | None:
        """Find a rule that refers to itself among the rules defined so far, from `start`.

        The finished grammar has this recursion, too: later rules only add references. The exception is a sequence that
        is dropped because a rule in it matches nothing, so with such a rule the answer is None.

        Args:
            start: refers to the first rules.
            among: a recursion through none of these rules does not count.

        Returns:
            The rule's name and its place in the source, or None if none is found.
        """
        reached: dict[str, tuple[str, ...]] = {}
        todo = [reference.name for reference in references(start)]
        while todo:
            name = todo.pop()
            entry = self._entries.get(name)
            if name in reached or entry is None:
                continue
            if isinstance(entry.node, Never):
                return None
            reached[name] = entry.names
            todo += reversed(entry.names)
        calls = {name: [used for used in names if used in reached] for name, names in reached.items()}
        wanted = frozenset(among)
        looping = {
            name
            for component in components(calls)
            if not wanted.isdisjoint(component)
            for name in component
            if len(component) > 1 or name in calls[name]
        }
        found = sorted((name for name in reached if name in looping), key=_rank)
        return (self._plain.get(found[0], found[0]), self._entries[found[0]].span) if found else None

    def grammar(self) -> Grammar:
        """Build the grammar: tentative rules that are used once are inlined, equal rules are merged."""
        places = {
            name: dict.fromkeys([*([entry.span] if entry.span.end else ()), *self._noted.get(name, ())])
            for name, entry in self._entries.items()
        }
        return self._sorted(self._without_copies(self._written_out(places), places), places)

    # ------------------------------------------------------------------ cleanup

    def _written_out(self, places: _Places) -> dict[str, _Entry]:
        entries = self._entries
        uses = Counter(used for name in self._reached(entries) for used in entries[name].names)
        done: dict[str, Node] = {}

        def finished(name: str) -> Node:
            if name not in done:
                done[name] = mapped(entries[name].node, lambda node: leaf(node, name))
            return done[name]

        def leaf(node: Node, within: str) -> Node:
            if isinstance(node, RuleReference):
                entry = entries[node.name]
                if isinstance(entry.node, RuleReference) and entry.node.name != node.name:
                    places[entry.node.name].update(places[node.name])
                    return leaf(entry.node, within)
                if entry.tentative and uses[node.name] == 1:
                    whole = finished(node.name)
                    places[within].update(places[node.name])
                    return whole
            return node

        kept = {name: _Entry(finished(name), entries[name].span, tentative=False) for name in self._reached(entries)}
        return {name: kept[name] for name in self._reached(kept)}

    def _without_copies(self, entries: dict[str, _Entry], places: _Places) -> dict[str, _Entry]:
        """Merge equal rules; rules that refer to them may become equal in turn."""
        kept = dict(entries)
        first: dict[Node, str] = {}
        users: dict[str, set[str]] = {}
        for name, entry in entries.items():
            for used in entry.names:
                users.setdefault(used, set()).add(name)
        order = {name: i for i, name in enumerate(entries)}
        fresh = list(entries)
        while fresh:
            same: dict[str, str] = {}
            for name in fresh:
                known = first.setdefault(kept[name].node, name)
                if known != name:
                    same[name] = known
            changed = {user for name in same for user in users.get(name, ())} - same.keys()

            def leaf(node: Node, same: dict[str, str] = same) -> Node:
                return RuleReference(same[node.name]) if isinstance(node, RuleReference) and node.name in same else node

            for name, known in same.items():
                del kept[name]
                places[known].update(places[name])
                users.setdefault(known, set()).update(users.pop(name, ()))
            fresh = sorted((name for name in changed if name in kept), key=order.__getitem__)
            for name in fresh:
                kept[name] = replace(kept[name], node=mapped(kept[name].node, leaf))
        return kept

    def _sorted(self, entries: dict[str, _Entry], places: _Places) -> Grammar:
        """Sort the rules in reading order, and number names without gaps."""
        names = [START, *(name for name in entries if name != START)]
        names.sort(key=_rank)
        final = {name: name for name in (START, *COMMON)}
        taken = set(final)
        for name in names:
            if name not in final:
                final[name] = _numbered(self._plain.get(name, name), taken)
                taken.add(final[name])

        def leaf(node: Node) -> Node:
            if isinstance(node, RuleReference) and final[node.name] != node.name:
                return RuleReference(final[node.name])
            return node

        self.places = {final[name]: tuple(places[name]) for name in names}
        rules = (Rule(final[name], mapped(entries[name].node, leaf), entries[name].span) for name in names)
        return Grammar(tuple(rules), START)

    @staticmethod
    def _reached(entries: dict[str, _Entry]) -> Iterable[str]:
        """Return the rules reachable from the start, in reading order."""
        reached: dict[str, None] = {}
        todo = [START]
        while todo:
            name = todo.pop()
            if name not in reached:
                reached[name] = None
                todo += reversed(entries[name].names)
        return reached
