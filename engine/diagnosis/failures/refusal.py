"""The keywords for which a schema does not allow a token, proved by leaving them out.

The match knows what may come next, and not what forbids the rest: after `{` it expects the name of a property, whoever
asks for it. A keyword is a cause exactly if the text with the token begins a legal one without it. So each keyword is
left out in turn, then the order of properties, then other options, then all keywords together, of which as many are put
back as possible. Where nothing helps, the cause is unknown, and is called so.

In a large schema, subschemas that judge no part of the text, or a part that is complete, are left out first. What is
found there is proved on the whole schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from engine.compile import CompiledGrammar, CompileOptions, compile_grammar
from engine.diagnosis.failures.counterfactual import ORDER, KeywordSearch, without_keywords
from engine.diagnosis.failures.schema_check import Schema, applied_subschemas, violated_keywords
from engine.diagnosis.failures.tolerant_json import read_output
from engine.diagnosis.failures.violations import spans_at
from engine.diagnosis.verdicts.replay_walk import reach
from engine.matching.explanation import RefusalKind, RefusingKeyword, TokenRefusal
from engine.source import CancelToken, GrammarError, LimitExceededError, Span
from engine.source.json_pointer import NAMED_SUBSCHEMAS, escape_step, resolve_pointer
from engine.source.json_scanner import open_path

_LISTS: Final = frozenset(("allOf", "anyOf", "oneOf", "prefixItems", "items"))
_BRANCHES: Final = frozenset(("then", "else"))
_CONDITIONS: Final = frozenset(
    ("if", "then", "else", "anyOf", "oneOf", "not", "contains", "dependentSchemas", "dependencies")
)
"""Keywords whose subschemas may also decide about a value that is complete."""
_ANNOTATIONS: Final = frozenset(
    "$id id $schema $anchor $dynamicAnchor $comment title description default examples deprecated readOnly writeOnly"
    " $ref $dynamicRef $recursiveRef $vocabulary".split()
)
_DATA: Final = frozenset(("enum", "const"))
_OPTIONS: Final[dict[str, Any]] = {"whitespace": "any", "escapes": "any", "numbers": "any", "additional": "open"}
_LARGE: Final = 20_000  # characters of a schema
_MOST_KEYWORDS: Final = 140
_MOST_PROVED: Final = 3  # of a large schema
MOST_EFFORT_ALONE: Final = 4_000_000
"""More than `MOST_EFFORT` of a diagnosis: the card is shown meanwhile."""


def refusal_of(
    grammar: CompiledGrammar,
    text: bytes,
    token: bytes,
    cancel: CancelToken | None = None,
    *,
    most_effort: int = MOST_EFFORT_ALONE,
) -> TokenRefusal:
    """Return why a schema does not allow a token.

    Args:
        grammar: a grammar that describes JSON.
        text: what the grammar has read.
        token: the bytes that may not come next.
        cancel: cancels the search.
        most_effort: the limit of each search, in estimated microseconds.
    """
    unknown = TokenRefusal(RefusalKind.UNKNOWN)
    automaton = grammar.automaton
    legal = reach(automaton, text + token)
    if not len(text) <= legal < len(text) + len(token):
        return unknown
    try:
        schema = json.loads(grammar.source.text)
    except ValueError:
        return unknown
    search = _Refusal(schema, grammar.options, text, cancel, most_effort)
    # A token may go on with what no text has; then the part that is refused first is explained.
    for data in dict.fromkeys((text + token, text + token[: legal - len(text) + 1])):
        if search.is_json(data):
            found = search.found(data)
            return replace(found, keywords=_with_spans(grammar.source.text, found.keywords))
    return TokenRefusal(RefusalKind.NOT_JSON)


class _Refusal:
    """The search for the keywords that refuse what comes after a text."""

    def __init__(
        self, schema: Schema, options: CompileOptions, text: bytes, cancel: CancelToken | None, most_effort: int
    ) -> None:
        self._schema, self._options, self._text, self._cancel = schema, options, text, cancel
        self._most_effort = most_effort

    def is_json(self, data: bytes) -> bool:
        """Return whether some JSON text in any form begins with data."""
        free = compile_grammar("json_schema", "{}", replace(self._options, **_OPTIONS))
        return reach(free.automaton, data) == len(data)

    def found(self, data: bytes) -> TokenRefusal:
        """Return what refuses data."""
        read = read_output(data.decode("utf-8", "ignore"))
        if read.root is None:
            return TokenRefusal(RefusalKind.UNKNOWN)
        applied, paths = applied_subschemas(self._schema, read.root, self._options), self._paths(data)
        schema, is_part = self._schema, len(json.dumps(self._schema)) > _LARGE
        if is_part:
            schema = _part_of(schema, _kept(applied, paths))
            is_part = not self._allows(schema, self._options, data)
            schema = schema if is_part else self._schema
        if self._allows(schema, self._options, data):  # it has parts that JSON data does not keep, such as huge numbers
            return TokenRefusal(RefusalKind.UNKNOWN)
        keywords = sorted(_keywords_of(schema), key=lambda one: _rank(one, applied, paths))[:_MOST_KEYWORDS]
        refusal = self._searched(schema, keywords, data, is_part=is_part)
        if refusal.kind is RefusalKind.UNKNOWN and _writes_twice(data):
            return TokenRefusal(RefusalKind.PRESENT)
        if refusal.kind is RefusalKind.KEYWORDS:
            missing = {one.pointer: one.names for one in violated_keywords(self._schema, read.root, self._options)}
            named = (replace(one, names=missing.get(one.pointer, ())) for one in refusal.keywords)
            return replace(refusal, keywords=tuple(named))
        return refusal

    def _searched(self, schema: Schema, keywords: Sequence[str], data: bytes, *, is_part: bool) -> TokenRefusal:
        search = KeywordSearch(lambda removed: self._without(schema, removed), data, most_effort=self._most_effort)
        proof = search
        if is_part:
            proof = KeywordSearch(
                lambda removed: self._without(self._schema, removed), data, most_effort=self._most_effort
            )

        def proved(sets: list[frozenset[str]]) -> list[frozenset[str]]:
            found = [one for one in sets if search.may_check and search.is_legal(one)]
            if not is_part:
                return found
            return [one for one in found[:_MOST_PROVED] if proof.may_check and proof.is_legal(one)]

        for beside in (frozenset[str](), frozenset((ORDER,))):
            option = "property_order" if beside else ""
            if beside and proved([beside]):
                return TokenRefusal(RefusalKind.OPTION, option=option)
            single = proved([beside | {one} for one in keywords])
            if single:
                pointers = [one for one in keywords if beside | {one} in single]
                return TokenRefusal(RefusalKind.KEYWORDS, tuple(map(self._keyword, _innermost(pointers))), option)
            if not beside:
                changed = ((name, replace(self._options, **{name: value})) for name, value in _OPTIONS.items())
                allowing = (name for name, options in changed if self._allows(self._schema, options, data))
                if option := next(allowing, ""):
                    return TokenRefusal(RefusalKind.OPTION, option=option)
        smallest = search.smallest(tuple(reversed(keywords)))
        # Without effort left, some that are not necessary may be among them.
        if smallest is None or not search.may_check or not proved([frozenset(smallest.removed)]):
            return TokenRefusal(RefusalKind.UNKNOWN)
        return TokenRefusal(RefusalKind.TOGETHER, tuple(map(self._keyword, smallest.removed)))

    def _keyword(self, pointer: str) -> RefusingKeyword:
        """Describe a keyword, with the condition under which it applies."""
        steps = pointer.split("/")
        for at in range(len(steps) - 1, 0, -1):
            holder = resolve_pointer(self._schema, "/".join(steps[:at]))
            if (
                steps[at] in _BRANCHES
                and steps[at - 1] not in NAMED_SUBSCHEMAS
                and isinstance(holder, dict)
                and "if" in holder
            ):
                condition = "/".join((*steps[:at], "if"))
                return RefusingKeyword(pointer, Span(0, 0), (), condition, steps[at] == "then")
        return RefusingKeyword(pointer, Span(0, 0))

    def _without(self, schema: Schema, removed: frozenset[str]) -> CompiledGrammar:
        options = replace(self._options, property_order="any") if ORDER in removed else self._options
        return self._compiled(without_keywords(schema, removed - {ORDER}), options)

    def _compiled(self, schema: Schema, options: CompileOptions) -> CompiledGrammar:
        return compile_grammar("json_schema", json.dumps(schema, ensure_ascii=False), options, cancel=self._cancel)

    def _allows(self, schema: Schema, options: CompileOptions, data: bytes) -> bool:
        try:
            return reach(self._compiled(schema, options).automaton, data) == len(data)
        except (GrammarError, LimitExceededError):
            return False

    def _paths(self, data: bytes) -> frozenset[str]:
        """Return the pointers of the values that are open before or after the token, which it may concern."""
        found = set[str]()
        for part in (self._text, data):
            pointer = ""
            found.add(pointer)
            for step in open_path(part):
                pointer += f"/{escape_step(str(step))}"
                found.add(pointer)
        return frozenset(found)


def _keywords_of(schema: Schema, pointer: str = "") -> Iterator[str]:
    """Yield the pointers of the keywords, and of the subschemas that are `false`, which may be left out."""
    if schema is False:
        yield pointer
    if not isinstance(schema, dict):
        return
    for keyword, value in schema.items():
        at = f"{pointer}/{escape_step(keyword)}"
        if keyword in _ANNOTATIONS:
            continue
        if keyword in NAMED_SUBSCHEMAS and isinstance(value, dict):
            for name, inner in value.items():
                yield from _keywords_of(inner, f"{at}/{escape_step(name)}")
        elif keyword in _LISTS and isinstance(value, list):
            yield at
            for index, inner in enumerate(value):
                yield from _keywords_of(inner, f"{at}/{index}")
        else:
            yield at
            if isinstance(value, dict) and keyword not in _DATA:
                yield from _keywords_of(value, at)


def _part_of(schema: Schema, kept: frozenset[str], pointer: str = "") -> Schema:
    """Return a schema without the subschemas that are not kept; those that are `false` stay."""
    if not isinstance(schema, dict):
        return schema
    if pointer not in kept:
        return True
    changed: dict[str, Any] = {}
    for keyword, value in schema.items():
        at = f"{pointer}/{escape_step(keyword)}"
        if keyword in _CONDITIONS or keyword in _DATA:
            changed[keyword] = value
        elif keyword in NAMED_SUBSCHEMAS and isinstance(value, dict):
            changed[keyword] = {name: _part_of(one, kept, f"{at}/{escape_step(name)}") for name, one in value.items()}
        elif keyword in _LISTS and isinstance(value, list):
            changed[keyword] = [_part_of(one, kept, f"{at}/{index}") for index, one in enumerate(value)]
        elif isinstance(value, dict) and keyword not in _ANNOTATIONS:
            changed[keyword] = _part_of(value, kept, at)
        else:
            changed[keyword] = value
    return changed


def _kept(applied: dict[str, str], paths: frozenset[str]) -> frozenset[str]:
    """Return the subschemas that judge an open value, and those in which they are."""
    kept = set[str]()
    for pointer, instance in applied.items():
        if instance in paths:
            steps = pointer.split("/")
            kept.update("/".join(steps[:count]) for count in range(1, len(steps) + 1))
    return frozenset(kept)


def _rank(pointer: str, applied: dict[str, str], paths: frozenset[str]) -> tuple[bool, int]:
    """Return the order of a keyword: those of the innermost open value come first."""
    instance = applied.get(pointer, applied.get(pointer.rpartition("/")[0]))
    return instance not in paths, -len(instance or "")


def _innermost(pointers: list[str]) -> list[str]:
    """Leave out keywords that contain another one, and conditions of a branch that contains one."""

    def contains(outer: str, inner: str) -> bool:
        above, _, keyword = outer.rpartition("/")
        within = inner.startswith(f"{outer}/")
        return within or (keyword == "if" and any(inner.startswith(f"{above}/{one}") for one in _BRANCHES))

    def conditions(pointer: str) -> Iterator[str]:
        steps = pointer.split("/")
        return ("/".join(steps[: index + 1]) for index, step in enumerate(steps) if step == "if")

    whole = [one for one in pointers if not any(contains(one, other) for other in pointers)]
    return [one for one in whole if not any(contains(cond, other) for cond in conditions(one) for other in whole)]


def _writes_twice(data: bytes) -> bool:
    """Return whether the last key of a text is one that its object has already."""
    read = read_output(f"{data.decode('utf-8', 'ignore')}: 0")
    return data.endswith(b'"') and any(one.kind == "duplicate-key" for one in read.defects)


def _with_spans(text: str, keywords: Sequence[RefusingKeyword]) -> tuple[RefusingKeyword, ...]:
    spans = spans_at(text, (one.pointer for one in keywords))
    return tuple(replace(one, span=spans.get(one.pointer, one.span)) for one in keywords)
