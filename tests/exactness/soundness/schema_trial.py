"""Holds the verdicts of Turnstile on one schema against two oracles.

Three kinds of texts are tried:

- Instances near the values that the schema mentions, spelled as Turnstile writes them. Where any property order is
  allowed, Turnstile has to agree with the oracles. In the declared order it has to refuse what is invalid, and to
  accept what is valid in some order of the members.
- The same instances with numbers spelled in other forms. What is invalid has to be refused. What is valid may only be
  refused where the schema has a keyword that restricts the spelling (`type: integer`, `enum`, `const`).
- Random walks of the automaton, each completed by its shortest completion. Each has to be accepted, and valid.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from engine import CompiledGrammar, CompileOptions, GrammarError, compile_grammar
from engine.automata.byte_automaton import DEAD, ByteAutomaton
from tests.exactness.instances import OrderSearch
from tests.exactness.oracles import UnjudgedError, Verdict, schema_verdict
from tests.exactness.oracles import read_json as read_for_jsonschema
from tests.exactness.soundness.json_values import (
    NAMES,
    PATTERNS,
    any_number,
    changed,
    make_value,
    spell,
    spell_schema,
    values_in,
)
from tests.exactness.soundness.schema_evaluator import Evaluator, UnreadableError, read_exactly
from tests.exactness.soundness.tally import Tally

INSTANCES = 9
WALKS = 4
LONGEST_WALK = 30
EFFORT = 80
"""Steps of the search for a shortest completion."""

_REACH = "a number of over 64 digits, with an exponent or under multipleOf"
_SHORTEST_REACH = 64
_NUMBER = re.compile(r"[0-9][0-9.eE+-]*")
_LONG_EXPONENT = re.compile(rb"[0-9][eE][+-]?[0-9]{2}$")  # which the oracles would have to write out
_DIGIT = re.compile(r"[0-9]")
_SPELLING = ("integer", "enum", "const")
_SEPARATORS = ((",", ":"), (",", ":"), (", ", ": "), (" ,", " :"), (",\n  ", ": "))


def check_schema(
    rng: random.Random,
    tally: Tally,
    schema: Any,
    draft: int,
    names: Sequence[str] = NAMES,
    *,
    depth: int = 3,
    arrays: bool | None = None,
) -> None:
    """Compile a schema and hold verdicts on several texts against the oracles.

    Args:
        rng: the random numbers.
        tally: where the results go.
        schema: the schema, with numbers as `Decimal`.
        draft: the draft that the schema names, or the default draft.
        names: the names of members in instances.
        depth: how deep instances are nested.
        arrays: whether most instances are arrays (True) or objects (False); None for any values.
    """
    source = spell_schema(schema, rng)
    order = "any" if rng.random() < 0.75 else "declared"
    try:
        grammar = compile_grammar("json_schema", source, CompileOptions(property_order=order))
    except GrammarError as error:
        tally.skip(f"refused: {error.diagnostics[0].code}")
        return
    trial = _Trial(tally, source, grammar, draft)
    pool = list(values_in(schema))
    for _ in range(INSTANCES):
        value = make_value(rng, depth, names, pool)
        if arrays is not None and rng.random() < 0.7:
            parts = [make_value(rng, depth - 1, names, pool) for _ in range(rng.choice((0, 1, 1, 2, 3, 4)))]
            value = parts if arrays else dict(zip(rng.sample(names, min(len(names), len(parts))), parts, strict=False))
        for _ in range(rng.choice((0, 0, 1, 2))):
            value = changed(value, rng, names)
        trial.check_instance(value, rng)
    for _ in range(WALKS):
        trial.check_walk(rng)


class _Trial:
    """One compiled schema and its oracles."""

    def __init__(self, tally: Tally, source: str, grammar: CompiledGrammar, draft: int) -> None:
        self._tally = tally
        self._source = source
        self._grammar = grammar
        self._evaluator = Evaluator(read_exactly(source), draft, PATTERNS)
        self._jsonschema: Verdict | None = None
        try:
            self._jsonschema = schema_verdict(read_for_jsonschema(source))
        except UnjudgedError as error:
            tally.skip(f"judged by one oracle: {error}", 0)
        self._any_order = grammar.options.property_order == "any"
        self._restricts_spelling = any(f'"{name}"' in source for name in _SPELLING)

    def check_instance(self, value: Any, rng: random.Random) -> None:
        """Try one instance in the spelling of Turnstile, and maybe in another."""
        text = spell(value, rng.choice(_SEPARATORS))
        valid = self._judge(text)
        if valid is None:
            return
        accepted = self._grammar.fullmatch(text)
        if accepted and not valid:
            self._differ("false accept", text)
        elif accepted == valid:
            self._tally.agree()
        elif self._is_beyond_reach(text):
            self._tally.differ_as_known(_REACH)
        elif self._any_order:
            self._differ("false reject", text)
        else:
            found = OrderSearch(self._grammar).accepts(_for_search(value))
            if found is None:
                self._tally.skip("the search for an order of members was too long")
            elif found:
                self._tally.differ_as_known("another order of properties is declared")
            else:
                self._differ("false reject", text)
        if rng.random() < 0.2:
            self._check_spelling(value, valid, rng)

    def _check_spelling(self, value: Any, valid: bool, rng: random.Random) -> None:
        text = _spell_in_any_form(value, rng)
        if self._judge(text) != valid:
            return self._differ("oracle", text)
        accepted = self._grammar.fullmatch(text)
        if accepted and not valid:
            self._differ("false accept", text)
        elif accepted == valid or not self._any_order:
            self._tally.agree()
        elif self._is_beyond_reach(text):
            self._tally.differ_as_known(_REACH)
        elif self._restricts_spelling:
            self._tally.differ_as_known("Turnstile writes integers and listed numbers in one form")
        else:
            self._differ("false reject", text)
        return None

    def _is_beyond_reach(self, text: str) -> bool:
        """Return whether a text has a number that is longer than the automata of numbers follow (see `numbers`)."""
        return any(
            len(_DIGIT.findall(number)) > _SHORTEST_REACH and ("e" in number.lower() or '"multipleOf"' in self._source)
            for number in _NUMBER.findall(text)
        )

    def check_walk(self, rng: random.Random) -> None:
        """Walk at random, complete the text, and judge it."""
        automaton = self._grammar.automaton
        configuration, text = automaton.start, b""
        if configuration == DEAD:
            return
        for _ in range(rng.randint(0, LONGEST_WALK)):
            byte = None if _LONG_EXPONENT.search(text) else _choose_byte(automaton, configuration, rng)
            if byte is None:
                break
            text += bytes((byte,))
            configuration = automaton.step(configuration, byte)
            if configuration == DEAD:
                self._differ("expected byte is refused", text)
                return
        completion = automaton.shortest_completion(configuration, EFFORT)
        if completion.text is None:
            if completion.is_impossible:
                self._differ("walk without a completion", text)
            else:
                self._tally.skip("the search for a completion was too long")
            return
        text += completion.text
        if not self._grammar.fullmatch(text):
            self._differ("completion is refused", text)
            return
        valid = self._judge(text.decode("utf-8"))
        if valid is False:
            self._differ("false accept", text.decode("utf-8"))
        elif valid:
            self._tally.agree()

    def _judge(self, text: str) -> bool | None:
        """Ask both oracles; None where none can tell or they differ."""
        try:
            valid = self._evaluator.is_valid(read_exactly(text))
        except UnreadableError as error:
            self._tally.skip(str(error))
            return None
        except RecursionError:
            self._tally.skip("a reference leads back to itself on the same instance")
            return None
        except ValueError as error:
            self._differ(f"not JSON: {error}", text)
            return None
        other = self._ask_jsonschema(text)
        if other is None:
            other = valid
        if other == valid:
            return valid
        accepted = self._grammar.fullmatch(text)
        detail = f"jsonschema says {other}, the evaluator {valid}, Turnstile {accepted}; {self._options()}"
        self._tally.oracles_differ("json_schema", self._source, text, detail)
        return None

    def _ask_jsonschema(self, text: str) -> bool | None:
        """Ask jsonschema; None where it cannot tell."""
        try:
            return None if self._jsonschema is None else self._jsonschema(text)
        except UnjudgedError:
            return None
        except (AttributeError, TypeError) as error:  # of what it does with older drafts' `items` and `dependencies`
            self._tally.skip(f"jsonschema raises {type(error).__name__}", 0)
            return None

    def _differ(self, kind: str, text: str | bytes) -> None:
        self._tally.differ(kind, "json_schema", self._source, text, self._options())

    def _options(self) -> str:
        return f"property_order={self._grammar.options.property_order}"


def _for_search(value: Any) -> Any:
    """An instance whose numbers `OrderSearch` spells as Turnstile does."""
    match value:
        case dict():
            return {name: _for_search(item) for name, item in value.items()}
        case list():
            return [_for_search(item) for item in value]
        case Decimal():
            return _Plain(spell(value))
        case _:
            return value


class _Plain(Decimal):
    """A number that is written in plain digits."""

    def __str__(self) -> str:
        return f"{self:f}"


def _spell_in_any_form(value: Any, rng: random.Random) -> str:
    match value:
        case dict():
            return (
                "{" + ",".join(f"{spell(name)}:{_spell_in_any_form(item, rng)}" for name, item in value.items()) + "}"
            )
        case list():
            return "[" + ",".join(_spell_in_any_form(item, rng) for item in value) + "]"
        case Decimal():
            return any_number(value, rng)
        case _:
            return spell(value)


_GROUPS = (b'"', b"[]", b"{}", b",:", b"0123456789", b".-+eE", b"ntf", b"abxyz", b" \n", b"\\", b"\xf0\x9f\xc3")
_ATTEMPTS = 6


def _choose_byte(automaton: ByteAutomaton, configuration: int, rng: random.Random) -> int | None:
    """Choose a group of bytes first, so that quotes and brackets come as often as the many bytes of strings."""
    for _ in range(_ATTEMPTS):
        byte = rng.choice(rng.choice(_GROUPS))
        if automaton.step(configuration, byte) != DEAD:
            return byte
    allowed = [byte for first, last in automaton.expected(configuration) for byte in range(first, last + 1)]
    return rng.choice(allowed) if allowed else None
