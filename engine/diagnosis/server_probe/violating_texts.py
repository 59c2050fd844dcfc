"""Texts that violate one keyword of a schema, or one rule of a grammar, and nothing else.

The schema without the keyword has other texts, and those that the schema itself does not have violate the keyword
alone. They are drawn at random. If none is, the shortest one is found by a comparison of the two languages, which takes
ten times as long; there is none if the comparison is exact and finds none: other keywords imply this one.

A text that violates a rule is the shortest one that uses it, in which the part of the rule is changed by a character.

Rejected: mutants of legal texts that are judged keyword by keyword. Most violate several, and a bound between two other
bounds is rarely met.
"""

from __future__ import annotations

import copy
import json
from dataclasses import dataclass, replace
from typing import Any, Final

from engine.analysis.equivalence import compare_languages
from engine.compile import CompiledGrammar, CompileOptions, compile_grammar
from engine.diagnosis.failures.schema_check import COMPOSITE, DETAILS, parts_of
from engine.diagnosis.test_strings.coverage import automata_of
from engine.diagnosis.test_strings.suggestions import ShortestWitnesses, near_misses, random_texts, shortest_text
from engine.source import CancelToken, GrammarError, LimitExceededError
from engine.source.json_pointer import NAMED_SUBSCHEMAS, resolve_pointer, unescape_step

_EFFORT: Final = 5_000
_MOST_STATES: Final = 20_000
_DRAWN: Final = 12
_MOST: Final = 4
_LONGEST: Final = 80
_DATA: Final = frozenset(("enum", "const", "default", "examples"))
_TURNED: Final = frozenset(("not", "if"))
"""Keywords whose schema a value should or may fail: without a keyword in it, there are fewer texts and not more."""
_JUDGED: Final = (DETAILS.keys() | COMPOSITE | {"uniqueItems", "minContains", "maxContains"}) - {"allOf"}
_APPLIED: Final = frozenset(
    """items prefixItems additionalItems additionalProperties unevaluatedItems unevaluatedProperties""".split()
)
"""Keywords that a value violates itself only if they are `false`; otherwise the keywords in them are listed."""


@dataclass(frozen=True, slots=True)
class SchemaKeyword:
    """A keyword that a value can violate.

    Attributes:
        pointer: its place in the schema.
        keyword: its name.
    """

    pointer: str
    keyword: str


@dataclass(frozen=True, slots=True)
class TriedConstraint:
    """A keyword or a rule, with the texts that show whether it is in force.

    Attributes:
        pointer: the place of the keyword; empty for a rule.
        name: the name of the keyword or the rule; empty for a regex.
        violating: texts that violate it alone; none if other constraints imply it, None if unknown.
        legal: a legal text beside them; empty if there is none.
    """

    pointer: str
    name: str
    violating: tuple[str, ...] | None
    legal: str


def keywords_of(schema: Any) -> tuple[SchemaKeyword, ...]:
    """Return the keywords of a schema that a value can violate, in the order of the text."""
    found = []
    for pointer, value in parts_of(schema):
        steps = _keywords_on(pointer)
        if not steps or steps[-1] not in _JUDGED or not (_DATA | _TURNED).isdisjoint(steps[:-1]):
            continue
        if steps[-1] not in _APPLIED or value is False:
            found.append(SchemaKeyword(pointer, steps[-1]))
    return tuple(found)


def _keywords_on(pointer: str) -> list[str]:
    """Return the steps of a pointer; an empty text for the name of a property or a definition."""
    found: list[str] = []
    for step in pointer.split("/")[1:]:
        found.append("" if found and found[-1] in NAMED_SUBSCHEMAS else unescape_step(step))
    return found


class ViolatingTexts:
    """Finds texts that violate one keyword of a schema alone.

    Args:
        schema: the schema, as text.
        options: the options of the compile.
        cancel: cancels the work.

    Attributes:
        legal: the shortest legal text; empty if there is none.

    Raises:
        GrammarError: the schema does not compile.
    """

    def __init__(self, schema: str, options: CompileOptions, cancel: CancelToken) -> None:
        self._root = json.loads(schema)
        self._options, self._cancel = replace(options, whitespace="compact"), cancel
        self._text = schema
        grammar = self._compiled(schema)
        self.legal = next((one.text for one in shortest_text(grammar, cancel)), "")

    def of(self, keyword: SchemaKeyword) -> tuple[str, ...] | None:
        """Return texts that violate a keyword alone, shorter ones first; none if others imply it, None if unknown.

        Raises:
            CancelledError: the work was cancelled.
        """
        relaxed = copy.deepcopy(self._root)
        holder = resolve_pointer(relaxed, keyword.pointer.rpartition("/")[0])
        if not isinstance(holder, dict):
            return None
        del holder[keyword.keyword]
        try:
            wider, schema = self._compiled(json.dumps(relaxed)), self._compiled(self._text)
            drawn = random_texts(wider, _DRAWN, 0, self._cancel, longest=_LONGEST)
            others = [one.text for one in drawn if not schema.fullmatch(one.text)]
            if others:
                return tuple(sorted(others, key=lambda one: (len(one), one))[:_MOST])
            compared = compare_languages(wider, schema, effort=_EFFORT, cancel=self._cancel)
        except (GrammarError, LimitExceededError):
            return None
        if compared.only_first is None:
            return () if compared.is_exact else None
        return (compared.only_first.decode("utf-8", "replace"),)

    def _compiled(self, schema: str) -> CompiledGrammar:
        return compile_grammar("json_schema", schema, self._options, cancel=self._cancel)


def tried_rules(grammar: CompiledGrammar, cancel: CancelToken) -> tuple[TriedConstraint, ...]:
    """Return the rules of a grammar that a text can use, with texts that violate them; a regex is one rule.

    Args:
        grammar: the grammar.
        cancel: cancels the work.

    Raises:
        LimitExceededError: the automaton of a rule is too large.
        CancelledError: the work was cancelled.
    """
    automata = automata_of(grammar, _MOST_STATES, cancel=cancel)
    witnesses, found = ShortestWitnesses(automata), []
    for number, rule in enumerate(automata.rules):
        cancel.check()
        parts = witnesses.parts_of(number)
        if parts is None:
            found.append(TriedConstraint("", rule.name, None, ""))
            continue
        before, inner, behind = (part.decode("utf-8", "replace") for part in parts)
        broken = [one.text for one in near_misses(grammar, [inner], before=before, behind=behind)]
        found.append(TriedConstraint("", rule.name, tuple(broken[:_MOST]) or None, before + inner + behind))
    return tuple(found)
