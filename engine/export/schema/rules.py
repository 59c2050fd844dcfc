"""A JSON Schema as a grammar: its normal form over typed cases, a rule for each.

A goal is the formula that a value must satisfy; `SchemaSolver` returns its alternatives by type, and what an array or
object case requires of its members is again a goal. So a goal is a rule, recursion is a recursive rule, and an array or
object is the expression of its automaton (`sequence_automata`).

After Attouche et al., *Witness Generation for JSON Schema* (VLDB 2022), where such a normal form is used to decide
emptiness.

Rejected: a translation keyword by keyword, like llama.cpp's converter. It is short, but has no `not`, no exclusive
`oneOf`, and no combination of keywords.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from engine.export.rules.expressions import choice, literal, one_of, repeat, sequence
from engine.export.rules.flatten import RecursiveError
from engine.export.rules.right_linear import Namer, System, solve
from engine.export.rules.rule_builder import START, RuleBuilder, kebab
from engine.export.schema.names import FormulaClasses, SchemaNames
from engine.export.schema.numbers import any_integer, any_number, bounded_number, counts_digits, is_any
from engine.export.schema.sequence_automata import array_system, object_system
from engine.export.schema.settings import NumberSpelling, SchemaRuleSettings
from engine.export.schema.strings import StringRules
from engine.grammar import EMPTY, NEVER, Chars, Grammar, Node, RuleReference, Sequence
from engine.schema_automaton.formula.nodes import And, ExactlyOne, Formula, Or, Ref
from engine.schema_automaton.formula.values import WORDS, JsonType
from engine.schema_automaton.lexing.whitespace import Whitespace
from engine.schema_automaton.number_languages.language import NumberLanguage
from engine.schema_automaton.number_languages.listed import ListedNumbers
from engine.schema_automaton.solver.array_machine import ArrayMachine, ArrayState
from engine.schema_automaton.solver.number_solver import NumberPiece
from engine.schema_automaton.solver.object_machine import ObjectMachine, ObjectState
from engine.schema_automaton.solver.solver import SchemaSolver
from engine.source import Span

_MOST_INDENT: Final = 32
_FIRST_LOOK: Final = 16
"""So many objects and arrays are written before a recursive rule is looked for among their rules."""
_FEW: Final = 3
"""The largest number of members of an object that share one line; of more, each gets its own line."""

_Case = ArrayMachine | ObjectMachine


class SchemaRules:
    """Writes the rules of one schema.

    Attributes:
        at: the position in the schema that is being written.
        counted: whether multiples were written with a limited number of digits.
    """

    def __init__(self, solver: SchemaSolver, names: SchemaNames, settings: SchemaRuleSettings) -> None:
        self._solver = solver
        self._names = names
        self._settings = settings
        self.at = Span(0, 0)
        self.counted = False
        self._builder = RuleBuilder(settings.limits)
        self._strings = StringRules(solver, self._builder, settings)
        self._key_of = FormulaClasses(solver.arena).number if settings.merges_copies else _itself
        self._values: dict[object, Node] = {}
        self._cases: dict[_Case, str] = {}
        self._todo: deque[tuple[_Case, str, Span]] = deque()
        self._case_names: dict[_Case, tuple[str, Span]] = {}
        self._case_spans: dict[_Case, Span] = {}
        self._case_places: dict[_Case, dict[Span, None]] = {}
        self._keys: dict[tuple[Formula, tuple[str, ...]], Node] = {}

    def write(self, goal: Formula) -> Grammar:
        """Return the grammar of a goal.

        Raises:
            NotContextFreeError: no grammar can express it.
            RecursiveError: an array or object contains itself, and the settings forbid it; small schemas are not
                checked.
            LimitExceededError: it is too large.
            CancelledError: it was cancelled.
        """
        node = self._value(goal, START)
        look_at = _FIRST_LOOK
        while self._todo:
            if not self._settings.may_recurse and len(self._cases) - len(self._todo) >= look_at:
                look_at *= 2  # so all looks together cost no more than the last two
                if found := self._builder.recursive_rule(node, self._cases.values()):
                    raise RecursiveError(*found)
            case, name, span = self._todo.popleft()
            self._settings.cancel.report("progress.writing_rules", len(self._cases) - len(self._todo), len(self._cases))
            self.at = span
            body = self._array(case, name, span) if isinstance(case, ArrayMachine) else self._object(case, name, span)
            self._builder.define(name, body, span)
        if START not in self._builder:
            self._builder.define(START, node, self._names.span(goal))
        for case, name in self._cases.items():
            self._builder.note(name, self._case_places.get(case, ()))
        return self._builder.grammar()

    @property
    def has_rule_loops(self) -> bool:
        """Return whether `loops_as_rules` made a difference."""
        return self._builder.has_rule_loops

    @property
    def places(self) -> dict[str, tuple[Span, ...]]:
        """For each rule, the schemas that it represents, each with its key; its own first."""
        with_key = self._names.with_key
        return {name: tuple(dict.fromkeys(map(with_key, places))) for name, places in self._builder.places.items()}

    @property
    def approximate_formats(self) -> tuple[str, ...]:
        """The formats that were written in their approximate form."""
        return tuple(sorted(self._strings.approximate_formats))

    # ------------------------------------------------------------------ values

    def _value(self, goal: Formula, context: str) -> Node:
        """Return the text of the values that satisfy a goal, as a reference or a short expression."""
        places = self._names.places(goal)
        goal = self._names.resolved(goal)
        key = self._key_of(goal)
        node = self._values.get(key)
        if node is None:
            name = context if context == START else self._names.name(goal, context)
            node = self._values[key] = self._write_value(goal, name)
        if isinstance(node, RuleReference):
            self._builder.note(node.name, places)
        return node

    def _write_value(self, goal: Formula, name: str) -> Node:
        if goal is self._solver.arena.true and name != START:
            return self._builder.common("value", self._any_value)
        span = self._names.span(goal)
        self.at = span if span.end else self.at
        parts = [(kind, start) for kind in JsonType for start in self._parts(goal, kind)]
        if len(parts) == 1:
            return self._part(goal, *parts[0], name, span)
        self._name_cases(goal)
        if not any(isinstance(part, ArrayMachine | ObjectMachine) for _, part in parts) and name != START:
            short = self._short_union(goal, parts)
            if short is not None:
                return short
        name = self._builder.name(name)
        self._values[self._key_of(goal)] = RuleReference(name)
        own = "" if name == START else name
        ways = [
            self._part(goal, kind, part, "-".join(filter(None, (own, kind.name.lower()))), span) for kind, part in parts
        ]
        return self._builder.define(name, self._with_boolean(ways), span)

    def _any_value(self) -> Node:
        true = self._solver.arena.true
        kinds = (JsonType.OBJECT, JsonType.ARRAY, JsonType.STRING, JsonType.NUMBER)
        ways = [
            self._part(true, kind, part, kind.name.lower(), Span(0, 0))
            for kind in kinds
            for part in self._parts(true, kind)
        ]
        return choice(*ways, self._boolean(), self._word(JsonType.NULL))

    def _short_union(self, goal: Formula, parts: list[tuple[JsonType, object]]) -> Node | None:
        """Return several types without a separate rule, if each of them is a common rule."""
        ways = [self._common(goal, kind, part) for kind, part in parts]
        if None in ways:
            return None
        whole = self._with_boolean([way for way in ways if way is not None])
        return whole if isinstance(whole, RuleReference) else None

    def _parts(self, goal: Formula, kind: JsonType) -> list[object]:
        """Return the alternatives of a type: a literal, a formula over strings, number languages, cases."""
        starts = self._solver.entry_states(goal, kind)
        if not starts:
            return []
        if kind is JsonType.STRING:
            return [self._solver.strings.project(goal)]
        found: dict[object, None] = {}
        for start in starts:
            match start:
                case ArrayState() | ObjectState():
                    found[start.machine] = None
                case _:
                    found[start] = None
        return list(found)

    def _common(self, goal: Formula, kind: JsonType, part: object) -> Node | None:
        """Return the common rule for all values of a type, if a part is that."""
        true = self._solver.arena.true
        match part:
            case JsonType():
                return self._word(part)
            case NumberPiece(language=NumberLanguage() as language) if is_any(language):
                name, make = ("integer", any_integer) if language.integer else ("number", self._any_number)
                return self._builder.common(name, make)
            case _ if part is true:
                return self._strings.strings(true, "", Span(0, 0))
            case _:
                return None

    def _part(self, goal: Formula, kind: JsonType, part: object, name: str, span: Span) -> Node:
        common = self._common(goal, kind, part)
        if common is not None:
            return common
        match part:
            case ArrayMachine() | ObjectMachine():
                return self._case(part, name, span)
            case NumberPiece(language=NumberLanguage() as language):
                plain = self._settings.spelling is NumberSpelling.PLAIN
                self.counted = self.counted or (plain and counts_digits(language))
                name = self._builder.name(name)
                node = bounded_number(
                    language,
                    self._settings.spelling,
                    self._builder.namer(span, name, "rest"),
                    self._settings.limits,
                    loops_as_rules=self._settings.loops_as_rules,
                )
                return self._builder.define(name, node, span) if node != NEVER else NEVER
            case _:
                if isinstance(part, NumberPiece) and isinstance(part.language, ListedNumbers):
                    node = choice(*map(literal, part.language.texts))
                else:
                    node = self._strings.strings(self._solver.strings.project(goal), name, span)
                if _is_literal(node) and name != START:
                    return node
                return self._builder.define(self._builder.name(name), node, span)

    def _any_number(self) -> Node:
        return any_number(self._settings.spelling)

    def _word(self, kind: JsonType) -> Node:
        word = literal(WORDS[kind].decode())
        return self._builder.common("null", lambda: word) if kind is JsonType.NULL else word

    def _boolean(self) -> Node:
        words = choice(*(literal(WORDS[kind].decode()) for kind in (JsonType.TRUE, JsonType.FALSE)))
        return self._builder.common("boolean", lambda: words)

    def _with_boolean(self, ways: list[Node]) -> Node:
        """Return the alternatives, with `true` and `false` merged if both are there."""
        words = [self._word(JsonType.FALSE), self._word(JsonType.TRUE)]
        if not all(word in ways for word in words):
            return choice(*ways)
        ways[ways.index(words[0])] = self._boolean()
        ways.remove(words[1])
        return choice(*ways)

    # ------------------------------------------------------------------ arrays and objects

    def _case(self, case: _Case, name: str, span: Span) -> Node:
        known = self._cases.get(case)
        if known is None:
            is_common = case in (self._solver.machine((), JsonType.ARRAY), self._solver.machine((), JsonType.OBJECT))
            if is_common:
                known, span = "array" if isinstance(case, ArrayMachine) else "object", Span(0, 0)
            else:
                own, span = self._case_names.get(case, (name, self._case_spans.get(case, span)))
                known = self._builder.name(name if name == START else own)
            self._cases[case] = known
            if is_common:  # first, since any value contains it, so that this recursion is found early
                self._todo.appendleft((case, known, span))
            else:
                self._todo.append((case, known, span))
        return RuleReference(known)

    def _name_cases(self, goal: Formula) -> None:
        """Name the cases of a choice between definitions after the definitions."""
        todo = [goal]
        seen: set[Formula] = set()
        while todo:
            part = todo.pop()
            if part in seen:
                continue
            seen.add(part)
            if isinstance(part, And | Or | ExactlyOne):
                todo += part.items
            elif isinstance(part, Ref):
                meant = self._names.resolved(part)
                name = self._names.name(meant, "") or self._names.title(meant)
                for kind in (JsonType.ARRAY, JsonType.OBJECT):
                    cases = self._parts(meant, kind)
                    for case in cases:
                        if not isinstance(case, ArrayMachine | ObjectMachine):
                            continue
                        if len(cases) == 1:
                            self._case_spans.setdefault(case, self._names.span(meant))
                        if name:
                            self._case_names.setdefault(case, (name, self._names.span(meant)))
                            self._case_places.setdefault(case, {}).update(dict.fromkeys(self._names.places(part)))
                definition = self._solver.arena.definitions[part.number]
                assert definition is not None
                todo.append(definition)

    def _array(self, case: ArrayMachine, name: str, span: Span) -> Node:
        own = "" if name in (START, "array") else name

        def item(goal: Formula) -> Node:
            return sequence(self._value(goal, "-".join(filter(None, (own, "item")))), self._blank)

        system = array_system(case, self._solver, item, sequence(literal(","), self._behind))
        return self._bracketed("[", system, self._builder.namer(span, name, "rest"), "]")

    def _object(self, case: ObjectMachine, name: str, span: Span) -> Node:
        own = "" if name in (START, "object") else name
        members: dict[tuple[int, int, Formula], Node] = {}
        is_long = len(case.names) > _FEW

        def member(number: int, cell: int, goal: Formula) -> Node:
            key = (number, cell, goal)
            if key not in members:
                short = (kebab(case.names[number]) or "member") if number >= 0 else "other"
                node = sequence(
                    self._strings.text(case.names[number]) if number >= 0 else self._key(case, cell, own),
                    self._blank,
                    literal(":"),
                    self._behind,
                    self._value(goal, short if number >= 0 else "-".join(filter(None, (own, "value")))),
                    self._blank,
                )
                rule = self._builder.name(own or name, short)
                members[key] = self._builder.define(rule, node, self._names.span(goal), tentative=not is_long)
                self._builder.note(rule, self._names.places(goal, follows=False))
            return members[key]

        system = object_system(case, self._solver, member, sequence(literal(","), self._behind))
        return self._bracketed("{", system, self._builder.namer(span, name, "rest"), "}")

    def _key(self, case: ObjectMachine, cell: int, own: str) -> Node:
        """Return the keys of a key class that are not declared names."""
        solver, keys = self._solver, case.key_classes[cell].keys
        names = tuple(name for name in case.key_classes[cell].names if solver.strings.holds(keys, name))
        node = self._keys.get((keys, names))
        if node is None:
            arena = solver.arena
            span = self._names.span(keys)
            short = "-".join(filter(None, (own, "key")))
            if keys is arena.true and names:
                node = self._strings.others(names, short, span)
            else:
                formula = arena.all_of((keys, arena.negate(arena.enum(names, span)))) if names else keys
                node = self._strings.strings(formula, short, span, is_key=True)
            if not isinstance(node, RuleReference) and not _is_literal(node):
                node = self._builder.define(self._builder.name(short), node, span)
            self._keys[keys, names] = node
        return node

    def _bracketed(self, opening: str, system: System, namer: Namer, closing: str) -> Node:
        inner = solve(system, 0, namer, self._settings.limits, loops_as_rules=self._settings.loops_as_rules)
        return sequence(literal(opening), self._blank, inner, literal(closing))

    # ------------------------------------------------------------------ white space

    @property
    def _blank(self) -> Node:
        """White space where it is permitted."""
        if self._settings.whitespace in (Whitespace.COMPACT, Whitespace.ONE_SPACE):
            return EMPTY
        return self._builder.common("ws", lambda: _blanks(self._settings.whitespace))

    @property
    def _behind(self) -> Node:
        """White space after a comma or a colon."""
        return literal(" ") if self._settings.whitespace is Whitespace.ONE_SPACE else self._blank


def _itself(goal: Formula) -> object:
    return goal


def _blanks(whitespace: Whitespace) -> Node:
    if whitespace is Whitespace.ANY:
        return repeat(one_of(" \t\n\r"), 0, None)
    line = sequence(literal("\n"), repeat(one_of(" \t"), 0, _MOST_INDENT))
    return repeat(choice(literal(" "), line), 0, 1)


def _is_literal(node: Node) -> bool:
    """Return whether a node is one text."""
    return isinstance(node, Sequence) and all(isinstance(item, Chars) and len(item.set) == 1 for item in node.items)
