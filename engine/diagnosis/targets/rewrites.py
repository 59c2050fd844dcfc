"""Rewrites of a schema or a pattern to a form that more engines read, each checked with our own engine.

A pattern is rewritten by its classes (`\\d` to `[0-9]`), its anchors, or its automaton, which has no look-around. Both
are compiled, and their languages are compared.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

from engine.analysis.equivalence import compare_languages
from engine.analysis.language_comparison import Relation
from engine.compile import CompiledGrammar, CompileOptions, compile_grammar
from engine.diagnosis.targets.findings import TargetRewrite
from engine.export.text.conversion import to_regex
from engine.export.text.print_regex import Dialect
from engine.notations.editing import Edit, apply_edits
from engine.notations.json_schema.outline import OutlinePart
from engine.refactoring import REFACTORINGS
from engine.refactoring.refactoring import GrammarSelection, RefactoringError, refactored
from engine.source import EngineError, Span
from engine.source.catalogue import catalogue_text

_MOST_PAIRS: Final = 4_000
_LONGEST: Final = 400  # code points of a rewritten pattern; a longer one helps nobody
_CLASSES: Final = {"d": "0-9", "w": "A-Za-z0-9_"}
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_MEANT: Final = frozenset(r"^$\.*+?()[]{}|/-")
_ANY: Final = (".*", "(.|[^.])*")  # `.` is no line end; the other is any character


def pattern_candidates(pattern: str, dialect: Dialect = "ecma") -> Iterator[str]:
    """Yield other forms of a pattern that is searched for, the simplest first; they need not be equivalent."""
    plain = _with_plain_escapes(pattern)
    shorter = plain.replace(r"\b", "")
    for form in dict.fromkeys((plain, shorter)):
        yield form
        if not (form.startswith("^") and form.endswith("$")):
            yield from (_anchored(form, some) for some in _ANY)
    automatic = _without_lookaround(pattern, dialect)
    if automatic is not None:
        yield automatic


def verified_pattern(pattern: str, other: str) -> bool:
    """Return whether two patterns of a schema have the same strings; False if that is too much work."""
    return pattern != other and _same(
        json.dumps({"type": "string", "pattern": pattern}), json.dumps({"type": "string", "pattern": other}), exact=True
    )


def verified_expression(text: str, other: str, options: CompileOptions) -> bool:
    """Return whether two regular expressions match the same texts; False if that is too much work.

    Args:
        text: an expression.
        other: the other expression.
        options: the compile options of both.
    """
    try:
        first, second = compile_grammar("regex", text, options), compile_grammar("regex", other, options)
        return text != other and _has_no_difference(first, second, exact=True)
    except EngineError:
        return False


def schema_rewrites(
    text: str, part: OutlinePart, data: dict[str, Any], keyword: str, is_taken: Callable[[dict[str, Any]], bool]
) -> TargetRewrite | None:
    """Return a rewrite of a subschema for one of its keywords, if our engine finds no difference.

    Args:
        text: the whole schema.
        part: the subschema in the text.
        data: the subschema.
        keyword: the keyword that an engine treats otherwise.
        is_taken: whether the engine treats a subschema as written.
    """
    if keyword == "items" and isinstance(data.get("items"), list):
        title = catalogue_text("targets.rewrite.prefix_items")
        edits: tuple[Edit, ...] = (Edit(part.span, json.dumps(_with_prefix_items(data), ensure_ascii=False)),)
    elif keyword == "allOf":
        title = catalogue_text("targets.rewrite.all_of")
        selection = GrammarSelection("json_schema", text, Span(part.span.start, part.span.start))
        try:
            edits = refactored(REFACTORINGS["merge-all-of"], selection)[1].edits
        except RefactoringError:
            return None
    else:
        return None
    whole = apply_edits(text, edits)
    changed, _ = json.JSONDecoder().raw_decode(whole, part.span.start)
    if "allOf" in changed and keyword == "allOf":  # it was merged in part alone
        return None
    return TargetRewrite(title, edits) if is_taken(changed) and _same(text, whole, exact=False) else None


def _with_plain_escapes(pattern: str) -> str:
    """Return a pattern with classes in place of `\\d` and `\\w`, and without escapes of ordinary characters."""
    pieces, at, is_inside = [], 0, False
    while at < len(pattern):
        found = _ESCAPE.match(pattern, at)
        if found is None:
            character = pattern[at]
            is_inside = (character == "[" or is_inside) and character != "]"
            pieces.append(character)
            at += 1
            continue
        at = found.end()
        pieces.append(_plain_escape(found[1], is_inside=is_inside))
    return "".join(pieces)


def _plain_escape(character: str, *, is_inside: bool) -> str:
    if character in _CLASSES:
        return _CLASSES[character] if is_inside else f"[{_CLASSES[character]}]"
    if character == "D" and not is_inside:
        return "[^0-9]"
    if character == "W" and not is_inside:
        return "[^A-Za-z0-9_]"
    if character == "s":
        return r" \t\n\r\f\v" if is_inside else r"[ \t\n\r\f\v]"
    is_needed = character.isalnum() or character in _MEANT
    return f"\\{character}" if is_needed else character


def _anchored(pattern: str, some: str) -> str:
    is_choice = "|" in pattern
    body = pattern.removeprefix("^")
    body = body.removesuffix("$") if not body.endswith(r"\$") else body
    body = f"({body})" if is_choice else body
    before = "" if pattern.startswith("^") and not is_choice else some
    behind = "" if pattern.endswith("$") and not pattern.endswith(r"\$") and not is_choice else some
    return f"^{before}{body}{behind}$"


def _without_lookaround(pattern: str, dialect: Dialect) -> str | None:
    """Return a pattern that is made from the automaton of another with look-around; None if there is none."""
    if not re.search(r"\(\?<?[=!]", pattern):
        return None
    body = pattern
    body = body.removeprefix("^") if body.startswith("^") else f".*(?:{body})"
    body = body.removesuffix("$") if body.endswith("$") else f"(?:{body}).*"
    try:
        found = to_regex(compile_grammar("regex", body, CompileOptions(dialect=dialect)), dialect=dialect).text
    except EngineError:
        return None
    return f"^({found})$" if len(found) <= _LONGEST else None


def _with_prefix_items(data: dict[str, Any]) -> dict[str, Any]:
    changed: dict[str, Any] = {}
    for key, value in data.items():
        if key == "items":
            changed["prefixItems"] = value
        elif key == "additionalItems":
            changed["items"] = value
        else:
            changed[key] = value
    return changed


def _same(text: str, other: str, *, exact: bool) -> bool:
    """Return whether two schemas have the same texts, as far as the walk goes.

    Args:
        text: a schema.
        other: the other schema.
        exact: whether all pairs of states must be compared, and not only the first ones.
    """
    try:
        first, second = compile_grammar("json_schema", text), compile_grammar("json_schema", other)
        return _has_no_difference(first, second, exact=exact)
    except EngineError:
        return False


def _has_no_difference(first: CompiledGrammar, second: CompiledGrammar, *, exact: bool) -> bool:
    comparison = compare_languages(first, second, effort=_MOST_PAIRS)
    return comparison.relation in ((Relation.EQUAL,) if exact else (Relation.EQUAL, Relation.UNKNOWN))
