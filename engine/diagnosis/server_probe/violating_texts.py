"""Texts that violate one keyword of a schema and nothing else.

The schema without the keyword has other texts, and those that the schema itself does not have violate the keyword
alone. The shortest one is found by a comparison of the two languages, so there is none if the comparison is exact and
finds none: other keywords imply this one.

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
from engine.diagnosis.failures.schema_check import COMPOSITE, DETAILS, parts_of, resolve_pointer
from engine.diagnosis.test_strings.suggestions import random_texts, shortest_text
from engine.source import CancelToken, GrammarError, LimitExceededError
from engine.source.json_pointer import unescape_step

_EFFORT: Final = 5_000
_DRAWN: Final = 12
_MOST: Final = 4
_LONGEST: Final = 80
_NAMED: Final = frozenset(("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"))
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
        found.append("" if found and found[-1] in _NAMED else unescape_step(step))
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
        """Return texts that violate a keyword alone, the shortest first; none if others imply it, None if unknown.

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
            compared = compare_languages(wider, schema, effort=_EFFORT, cancel=self._cancel)
            drawn = random_texts(wider, _DRAWN, 0, self._cancel, longest=_LONGEST)
            others = [one.text for one in drawn if not schema.fullmatch(one.text)]
        except (GrammarError, LimitExceededError):
            return None
        if compared.only_first is None and not others:
            return () if compared.is_exact else None
        shortest = [] if compared.only_first is None else [compared.only_first.decode("utf-8", "replace")]
        return tuple(dict.fromkeys([*shortest, *sorted(others, key=lambda one: (len(one), one))]))[:_MOST]

    def _compiled(self, schema: str) -> CompiledGrammar:
        return compile_grammar("json_schema", schema, self._options, cancel=self._cancel)
