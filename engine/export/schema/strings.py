r"""Strings of a schema as grammar text: patterns, formats, lengths, names and strings that are none of them.

A language that was written as an expression stays one, with its classes encoded for JSON. If it has conditions (a
conjunction, a complement, lookaround), its minimal automaton over characters is written instead.

With `Escapes.ANY` a character has all encodings of JSON: `n` is also `\u006e`. With `Escapes.SHORTEST` it has one: the
character itself, or else a backslash and a letter, or else four lower-case digits, as Python's `json.dumps(…,
ensure_ascii=False)` writes it. Then a name in the schema appears unchanged in the grammar.
"""

from __future__ import annotations

from functools import partial
from typing import Final

from engine.automata.utf8 import FINAL
from engine.export.rules.character_automaton import character_system
from engine.export.rules.expressions import choice, literal, mapped, one_of, repeat, sequence
from engine.export.rules.right_linear import System, solve
from engine.export.rules.rule_builder import RuleBuilder
from engine.export.schema.formats import FORMATS, ExactFormats, approximate_format
from engine.export.schema.settings import NumberSpelling, SchemaRuleSettings
from engine.grammar import NEVER, Chars, CharSet, Lookaround, Node, RuleReference
from engine.grammar.charset import EVERY_SCALAR
from engine.grammar.nodes import parts
from engine.grammar.simplify import simplify
from engine.schema_automaton.formula.nodes import And, EnumValues, Formula, Or, Text
from engine.schema_automaton.json_encoding.class_encoder import json_automaton
from engine.schema_automaton.json_encoding.encoder import RAW, SHORT, Escapes
from engine.schema_automaton.solver.solver import SchemaSolver
from engine.schema_automaton.string_languages.names import NameTrie
from engine.schema_automaton.string_languages.nodes import to_node
from engine.source import Limits, Span

MOST_STATES: Final = 2_000
"""The largest number of states of a string's automaton; a larger one is unreadable as text."""

_SURROGATES: Final = CharSet(((0xD800, 0xDFFF),))
_BACKSLASH: Final = "\\"
_QUOTE: Final = literal('"')
_MOST_RANGES: Final = 3


class StringRules:
    """Writes the strings of one grammar.

    Attributes:
        approximate_formats: the formats that were written in their approximate form.
    """

    def __init__(self, solver: SchemaSolver, builder: RuleBuilder, settings: SchemaRuleSettings) -> None:
        self._solver = solver
        self._builder = builder
        self._settings = settings
        self._classes: dict[tuple[CharSet, Escapes], Node] = {}
        self._literals: dict[str, Node] = {}
        self._systems: dict[Node, Node | System] = {}  # the same condition often occurs several times
        self._decoded_forms: dict[Formula, Node | System] = {}
        self._formats = ExactFormats(builder, self._spelled)
        self.approximate_formats: set[str] = set()

    # ------------------------------------------------------------------ strings with their quotes

    def text(self, value: str) -> Node:
        """Return one string, with its quotes."""
        known = self._literals.get(value)
        if known is None:
            known = self._literals[value] = sequence(_QUOTE, self._spelled(literal(value)), _QUOTE)
        return known

    def strings(self, formula: Formula, name: str, span: Span, *, is_key: bool = False) -> Node:
        """Return the strings that satisfy a formula of `StringSolver.project`, with their quotes.

        Args:
            formula: the formula.
            name: a name for its rules.
            span: its source position.
            is_key: whether they are keys.
        """
        if formula is self._solver.arena.true:
            return self._any_key() if is_key else self._builder.common("string", self._any_string)
        listed, rest = self._listed(formula)
        ways = [self.text(value) for value in listed]
        if rest:
            decoded = self._decoded(self._solver.arena.any_of(rest), name, span)
            ways.append(sequence(_QUOTE, decoded, _QUOTE))
        return choice(*ways)

    def _any_string(self) -> Node:
        free = self._settings.free_escapes
        return sequence(_QUOTE, repeat(self._class(EVERY_SCALAR, free), 0, None), _QUOTE)

    def _any_key(self) -> Node:
        if self._settings.free_escapes is self._settings.escapes:
            return self._builder.common("string", self._any_string)
        return self._builder.common(
            "any-key", lambda: sequence(_QUOTE, repeat(self._class(EVERY_SCALAR), 0, None), _QUOTE)
        )

    def _listed(self, formula: Formula) -> tuple[list[str], list[Formula]]:
        """Return the strings that a formula enumerates, and the alternatives that enumerate none."""
        listed: dict[str, None] = {}
        rest: list[Formula] = []
        for alternative in formula.items if isinstance(formula, Or) else (formula,):
            items = alternative.items if isinstance(alternative, And) else (alternative,)
            values = next((item.values for item in items if isinstance(item, EnumValues)), None)
            if values is None:
                rest.append(alternative)
                continue
            for value in values:
                if isinstance(value, str) and all(self._solver.strings.holds(item, value) for item in items):
                    listed[value] = None
        return list(listed), rest

    def others(self, names: tuple[str, ...], name: str, span: Span) -> Node:
        """Return every string except some names, with its quotes: after a mismatch anything may follow.

        Args:
            names: the names.
            name: a name for the rules.
            span: their source position.
        """
        trie = NameTrie(names, self._settings.escapes)
        system = System()
        for end in trie.ends:
            system.add(accepting=end < 0)
        anything = system.add(accepting=True)
        system.connect(anything, Chars(EVERY_SCALAR), anything)
        for node, edges in enumerate(trie.edges):
            for code, target in edges.items():
                system.connect(node, Chars(CharSet(((code, code),))), target)
            system.connect(node, Chars(EVERY_SCALAR - CharSet.of((code, code) for code in edges)), anything)
        return sequence(_QUOTE, self._written(system, name, span), _QUOTE)

    # ------------------------------------------------------------------ contents of strings

    def _decoded(self, formula: Formula, name: str, span: Span) -> Node:
        if self._settings.spelling is NumberSpelling.PLAIN:
            formula = self._with_approximate_formats(formula)
        elif self._settings.loops_as_rules:
            whole = self._whole(formula, name, span)
            if whole is not None:
                return whole
        if formula not in self._decoded_forms:
            self._decoded_forms[formula] = self._node_or_system(formula)
        system = self._decoded_forms[formula]
        if not isinstance(system, System):
            return system
        self._settings.limits.check("errors.limit.string_states", len(system.edges), MOST_STATES)
        return self._written(system, name, span)

    def _node_or_system(self, formula: Formula) -> Node | System:
        """Return the expression of a formula, or its automaton if it has conditions."""
        node = simplify(to_node(formula))
        if not any(isinstance(part, Lookaround) for part in parts(node)):
            return self._spelled(node)
        if node not in self._systems:
            system = character_system(node, self._settings.limits, cancel=self._settings.cancel)
            self._systems[node] = NEVER if system is None else system
        return self._systems[node]

    def _whole(self, formula: Formula, name: str, span: Span) -> Node | None:
        """Return a format that is counted by rules, or a choice that contains one; else None."""
        match formula:
            case Text(key=("format", str() as format_name)) if format_name in FORMATS:
                return self._formats.node(format_name)
            case Or() if any(self._whole(item, name, span) is not None for item in formula.items):
                return choice(*(self._decoded(item, name, span) for item in formula.items))
            case _:
                return None

    def _written(self, system: System, name: str, span: Span) -> Node:
        """Return the expression of an automaton over characters, its longer parts in separate rules."""
        names: dict[int, str] = {}

        def rule(state: int, node: Node | None) -> Node:
            if state not in names:
                names[state] = self._builder.name(name, "rest")
            if node is None:
                self._builder.has_rule_loops = True
            else:
                self._builder.define(names[state], self._spelled(node), span)
            return RuleReference(names[state])

        return self._spelled(
            solve(system, 0, rule, self._settings.limits, loops_as_rules=self._settings.loops_as_rules)
        )

    def _with_approximate_formats(self, formula: Formula) -> Formula:
        """Return the same or a smaller language, with approximate formats except where negated."""
        arena = self._solver.arena
        match formula:
            case Text(key=("format", str() as name)) if name in FORMATS:
                self.approximate_formats.add(name)
                return arena.text(partial(approximate_format, name), ("approximate", name), Span(0, 0))
            case And():
                return arena.all_of(self._with_approximate_formats(item) for item in formula.items)
            case Or():
                return arena.any_of(self._with_approximate_formats(item) for item in formula.items)
            case _:
                return formula

    def _spelled(self, node: Node) -> Node:
        return mapped(node, lambda leaf: self._class(leaf.set) if isinstance(leaf, Chars) else leaf)

    def _class(self, characters: CharSet, escapes: Escapes | None = None) -> Node:
        """Return the encodings of a set of characters; by default with the escapes of names and constrained strings."""
        escapes = escapes or self._settings.escapes
        characters &= EVERY_SCALAR
        known = self._classes.get((characters, escapes))
        if known is None:
            known = self._classes[characters, escapes] = self._write_class(characters, escapes)
        return known

    def _write_class(self, characters: CharSet, escapes: Escapes) -> Node:
        behind = escaped(characters, escapes, self._settings.limits)
        # Rules of unconstrained values have other names than those of names.
        prefix = "" if escapes is self._settings.escapes else "value-"
        if behind == escaped(EVERY_SCALAR, escapes, self._settings.limits):
            whole = behind
            behind = self._builder.common(f"{prefix}escape", lambda: whole)
        node = choice(raw(characters), behind)
        if characters == EVERY_SCALAR:
            return self._builder.common(f"{prefix}char", lambda: node)
        if escapes is Escapes.SHORTEST or isinstance(node, Chars):
            return node
        return self._builder.define(self._builder.name("char", _described(characters)), node, Span(0, 0))


def _described(characters: CharSet) -> str:
    """Return words for a class that can be part of a rule's name."""
    for prefix, ranges in (("", characters.ranges), ("not", (EVERY_SCALAR - characters).ranges)):
        if len(ranges) <= _MOST_RANGES and all(_is_plain(first, last) for first, last in ranges):
            edges = [chr(first) if first == last else f"{chr(first)}-{chr(last)}" for first, last in ranges]
            return "-".join((prefix, *edges)).strip("-")
    if len(characters) == 1:
        return f"u{characters.ranges[0][0]:04x}"
    return "class"


def _is_plain(first: int, last: int) -> bool:
    both = chr(first) + chr(last)
    return last < 0x80 and (both.isdigit() or both.islower() or both.isupper())


# ---------------------------------------------------------------------- encodings of characters


def raw(characters: CharSet) -> Node:
    """Return the characters of a set that may be unescaped in a JSON string."""
    these = characters & RAW
    before, behind = _SURROGATES.ranges[0]
    if before - 1 in these and behind + 1 in these:
        these |= _SURROGATES  # no text contains a surrogate: without the gap the class is easier to read
    return Chars(these) if these else NEVER


def escaped(characters: CharSet, escapes: Escapes, limits: Limits) -> Node:
    """Return the escaped JSON encodings of a set of characters.

    Args:
        characters: the characters; surrogates are ignored.
        escapes: which escapes a string may use.
        limits: the limits of the grammar.
    """
    characters &= EVERY_SCALAR
    if escapes is Escapes.SHORTEST:
        return _shortest(characters - RAW)
    return _every_way(characters, escapes, limits)


def _shortest(characters: CharSet) -> Node:
    """Return the shortest escapes of characters that must be escaped."""
    letters = "".join(chr(SHORT[code][0]) for code in characters if code in SHORT)
    digits: dict[str, list[str]] = {}
    for code in characters:
        if code not in SHORT:
            pair = f"{code:02x}"
            digits.setdefault(pair[0], []).append(pair[1])
    short = sequence(literal(_BACKSLASH), one_of(letters)) if letters else NEVER
    pairs = choice(*(sequence(literal(first), one_of("".join(rest))) for first, rest in digits.items()))
    return choice(short, sequence(literal(f"{_BACKSLASH}u00"), pairs))


def _every_way(characters: CharSet, escapes: Escapes, limits: Limits) -> Node:
    """Return all escapes of a set of characters: the automaton of JSON's encodings after the backslash."""
    automaton = json_automaton(characters, escapes)
    system = System()
    number: dict[int, int] = {}

    def state(node: int) -> int:
        if node not in number:
            number[node] = system.add(accepting=node == FINAL)
            if node != FINAL:
                targets: dict[int, list[tuple[int, int]]] = {}
                for first, last, target in automaton.nodes[node]:
                    targets.setdefault(target, []).append((first, last))
                for target, pairs in targets.items():
                    system.connect(number[node], Chars(CharSet.of(pairs)), state(target))
        return number[node]

    behind = automaton.step(0, ord(_BACKSLASH))
    if behind is None:
        return NEVER
    # All encodings are short, so nothing becomes a rule.
    return sequence(literal(_BACKSLASH), solve(system, state(behind), _no_rules, limits, loops_as_rules=False))


def _no_rules(_: int, node: Node | None) -> Node:
    assert node is not None
    return node
