"""Everything in an output that is wrong as JSON or by the schema, with repairs of the output or the schema.

A repair is offered where it is certain: it removes what is not JSON, adds a property with its shortest value, removes a
property that is not allowed, or loosens a bound to the value that was written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from engine.compile import compile_grammar
from engine.diagnosis.case import JudgedOutput
from engine.diagnosis.failures.diagnosis import TextEdit, Violation, ViolationFix
from engine.diagnosis.failures.examination import Examination
from engine.diagnosis.failures.output_rules import defect_text
from engine.diagnosis.failures.rules import names_listed, shown
from engine.diagnosis.failures.schema_check import KeywordViolation, Schema
from engine.diagnosis.failures.tolerant_json import JsonDefect, OutputValue
from engine.notations.json_schema.json_tree import Json, JsonTextError, read_json
from engine.source import EngineError, Span, similar_words
from engine.source.catalogue import catalogue_text, has_text
from engine.source.json_pointer import escape_step, resolve_pointer, unescape_step
from engine.source.text import quoted

MOST: Final = 100
_ADJUSTABLE: Final = frozenset(
    "minimum maximum minLength maxLength minItems maxItems minProperties maxProperties".split()
)


def violations_of(examined: Examination) -> tuple[Violation, ...]:
    """Return the violations of an output, in its order; positions are in the complete output, or in the arguments."""
    read = examined.read
    if read is None or examined.part is None:
        return ()
    # a key may come twice in JSON, but not where the grammar names the properties
    defects = [one for one in read.defects if one.kind != "duplicate-key" or examined.is_illegal]
    found = [_defect(examined, one) for one in defects]
    found += [_violation(examined, one) for one in examined.keyword_violations]
    shift = _code_points_before(examined, examined.part)
    return tuple(_shifted(one, shift) for one in sorted(found, key=lambda one: one.start)[:MOST])


def first_beginning(examined: Examination, second: int) -> tuple[Violation, ...]:
    """Return the beginning that an output has before its complete text, with the repair that removes it.

    Args:
        examined: an output that begins twice.
        second: the code point at which it begins again, in the complete output.
    """
    part = examined.part
    if part is None:
        return ()
    size = second - len(examined.complete_output[: part.start].decode("utf-8", "ignore"))
    fix = ViolationFix(catalogue_text("failures.repair.twice"), (TextEdit(0, size, ""),))
    sentence = catalogue_text("failures.violation.twice", text=shown(examined.text[:size]))
    return (_shifted(Violation("twice", sentence, 0, size, fixes=(fix,)), _code_points_before(examined, part)),)


def _code_points_before(examined: Examination, part: JudgedOutput) -> int:
    """Return the number of code points before the judged part; negative if the part begins with the prefill."""
    prefill = examined.case.prefill
    if part.zone == "arguments":
        return 0
    if prefill and part.data == prefill.encode() + examined.complete_output:
        return -len(prefill)
    return len(examined.complete_output[: part.start].decode("utf-8", "surrogateescape"))


def _shifted(found: Violation, shift: int) -> Violation:
    """Return a violation in another coordinate; without repairs of the output if they would begin before it."""
    if not shift:
        return found
    fixes = []
    for fix in found.fixes:
        edits = tuple(replace(edit, start=edit.start + shift, end=edit.end + shift) for edit in fix.edits)
        if fix.of_schema:
            fixes.append(fix)
        elif all(edit.start >= 0 for edit in edits):
            fixes.append(replace(fix, edits=edits))
    start, end = max(0, found.start + shift), max(0, found.end + shift)
    return replace(found, start=start, end=end, fixes=tuple(fixes))


def _defect(examined: Examination, defect: JsonDefect) -> Violation:
    what = defect_text(defect.kind)
    fixes: tuple[ViolationFix, ...] = ()
    if defect.edits:
        fixes = (ViolationFix(catalogue_text(f"failures.repair.defect.{defect.kind}"), defect.edits),)
    text = examined.text[defect.start : defect.end]
    sentence = (
        catalogue_text("failures.violation.json", what=what, text=shown(text))
        if text
        else catalogue_text("failures.violation.json_nothing", what=what)
    )
    return Violation(defect.kind, sentence, defect.start, defect.end, fixes=fixes)


def _violation(examined: Examination, found: KeywordViolation) -> Violation:
    expected = json.dumps(found.expected, ensure_ascii=False, default=str)
    fields = {
        "where": quoted(found.instance or "/"),
        "keyword": quoted(found.keyword),
        "expected": shown(expected),
        "pointer": quoted(found.pointer),
    }
    names = names_listed(found.names)
    if not found.names:
        text = shown(examined.text[found.start : found.end])
        # A value may meet `if`, and not the `then` that follows.
        key = "condition" if found.keyword == "if" else "value"
        sentence = catalogue_text(f"failures.violation.{key}", **fields, text=text)
    elif has_text(f"failures.violation.{found.detail}"):
        sentence = catalogue_text(f"failures.violation.{found.detail}", **fields, names=names, count=len(found.names))
    else:
        sentence = catalogue_text("failures.violation.names", **fields, names=names)
    fixes = (*_output_fixes(examined, found), *_schema_fixes(examined, found))
    return Violation(
        found.detail, sentence, found.start, found.end, found.instance, found.pointer, found.keyword, fixes
    )


# --- repairs of the output


def _output_fixes(examined: Examination, found: KeywordViolation) -> tuple[ViolationFix, ...]:
    if found.keyword == "required":
        return _added(examined, found)
    if found.detail == "extra-property" and found.names and found.keyword != "propertyNames":
        edit = _removal(examined.text, found.value, found.names[0])
        if edit is not None:
            return (ViolationFix(catalogue_text("failures.repair.remove", name=quoted(found.names[0])), (edit,)),)
    if found.keyword == "const" or (found.keyword == "enum" and isinstance(found.expected, list) and found.expected):
        value = found.expected if found.keyword == "const" else _nearest(found)
        return (_replaced(found, value),)
    if found.keyword in _ADJUSTABLE and isinstance(found.value.value, Fraction):
        return (_replaced(found, found.expected),)
    return ()


def _nearest(found: KeywordViolation) -> Any:
    given = found.value.value
    texts = [one for one in found.expected if isinstance(one, str)]
    if isinstance(given, str):
        same = next((one for one in texts if one.lower() == given.strip().lower()), None)
        return same or next(iter(similar_words(given, iter(texts), most=1)), found.expected[0])
    return found.expected[0]


def _replaced(found: KeywordViolation, value: Any) -> ViolationFix:
    new = json.dumps(value, ensure_ascii=False)
    edit = TextEdit(found.value.start, found.value.end, new)
    return ViolationFix(catalogue_text("failures.repair.replace", text=shown(new)), (edit,))


def _added(examined: Examination, found: KeywordViolation) -> tuple[ViolationFix, ...]:
    """Return the repair that adds the missing properties, each with its shortest value."""
    members = found.value.value
    if not isinstance(members, dict):
        return ()
    above = found.pointer.rpartition("/")[0]
    parts = []
    for name in found.names:
        value = shortest_value(examined, f"{above}/properties/{escape_step(name)}")
        if value is None:
            return ()
        parts.append(f"{json.dumps(name, ensure_ascii=False)}: {value}")
    text, at = examined.text, found.value.end - 1
    at = len(text[:at].rstrip()) if members else found.value.start + 1
    new = (", " if members else "") + ", ".join(parts)
    title = catalogue_text("failures.repair.add", names=names_listed(found.names))
    return (ViolationFix(title, (TextEdit(at, at, new),)),)


def shortest_value(examined: Examination, pointer: str) -> str | None:
    """Return the shortest value of a subschema; `null` if it is not declared, None if none was found."""
    subschema = resolve_pointer(examined.schema, pointer)
    if subschema is None:
        return "null"
    holder: Schema = examined.schema if isinstance(examined.schema, dict) else {}
    kept = {name: holder[name] for name in ("$schema", "$defs", "definitions") if name in holder}
    whole = {**kept, "allOf": [subschema]} if kept else subschema
    try:
        assert examined.constraint is not None
        grammar = compile_grammar(examined.constraint.notation, json.dumps(whole), examined.constraint.options)
        text = grammar.automaton.shortest_completion(grammar.automaton.start, 2_000).text
        return None if text is None else text.decode("utf-8", "replace")
    except EngineError:
        return None


def _removal(text: str, holder: OutputValue, name: str) -> TextEdit | None:
    """Return the edit that removes a member of an object with its comma."""
    if not isinstance(holder.value, dict) or name not in holder.keys:
        return None
    start, end = holder.keys[name][0], holder.value[name].end
    behind = len(text[end:]) - len(text[end:].lstrip())
    if text[end + behind : end + behind + 1] == ",":
        after = text[end + behind + 1 :]
        return TextEdit(start, end + behind + 1 + len(after) - len(after.lstrip()), "")
    before = text[:start].rstrip()
    return TextEdit(len(before) - 1, end, "") if before.endswith(",") else TextEdit(start, end, "")


# --- repairs of the schema


def _schema_fixes(examined: Examination, found: KeywordViolation) -> tuple[ViolationFix, ...]:
    new = _loosened(found)
    if new is None or examined.constraint is None:
        return ()
    span = spans_at(examined.constraint.text, (found.pointer,)).get(found.pointer)
    if span is None:
        return ()
    title = catalogue_text("failures.repair.loosen", keyword=quoted(found.keyword), text=shown(new))
    return (ViolationFix(title, (TextEdit(span.start, span.end, new),), of_schema=True),)


def _loosened(found: KeywordViolation) -> str | None:
    """Return the value of a keyword that allows what was written; None if that is not certain."""
    given = found.value.value
    if found.keyword in ("minimum", "maximum") and isinstance(given, Fraction):
        return str(given.numerator) if given.denominator == 1 else json.dumps(float(given))
    if found.keyword[3:] in ("Length", "Items", "Properties") and isinstance(given, str | list | dict):
        return str(len(given))
    if found.keyword == "enum" and isinstance(given, str) and isinstance(found.expected, list):
        return json.dumps([*found.expected, given], ensure_ascii=False)
    if found.keyword == "required" and isinstance(found.expected, list):
        return json.dumps([name for name in found.expected if name not in found.names], ensure_ascii=False)
    if found.keyword in ("additionalProperties", "unevaluatedProperties") and found.expected is False:
        return "true"
    return None


def spans_at(text: str, pointers: Iterable[str]) -> dict[str, Span]:
    """Return the spans of the parts of a JSON text at JSON Pointers; those without a part are left out."""
    try:
        root = read_json(text)
    except JsonTextError:
        return {}
    parts = ((pointer, part_at(root, pointer)) for pointer in pointers)
    return {pointer: part.span for pointer, part in parts if part is not None}


def part_at(here: Json, pointer: str) -> Json | None:
    """Return the part of a JSON value at a JSON Pointer; None if there is none."""
    for step in pointer.split("/")[1:]:
        name = unescape_step(step)
        below = here.members.get(name) if here.members else None
        if below is None and name.isdigit() and int(name) < len(here.items):
            below = here.items[int(name)]
        if below is None:
            return None
        here = below
    return here
