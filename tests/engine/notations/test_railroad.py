"""Tracks of railroad diagrams: every notation's, and what they may not leave out."""

import re
from itertools import product

import pytest

from engine.grammar.options import CompileOptions
from engine.notations import NOTATIONS
from engine.notations.railroad import Railroad, Track, TrackKind, group_at
from engine.source import SourceText

SCHEMA = """{"type": "object", "properties": {
  "a": {"type": "string", "minLength": 2}, "b": {"enum": ["x", 3]}, "c": {"$ref": "#/$defs/n"}},
  "required": ["a"], "additionalProperties": false, "minProperties": 2, "not": {"required": ["b"]},
  "$defs": {"n": {"type": "array", "prefixItems": [{"const": 1}], "items": {"type": "number"}, "maxItems": 3}}}"""


def railroad(notation: str, text: str) -> Railroad:
    return NOTATIONS[notation].railroad(SourceText(text), CompileOptions())


def leaves(track: Track) -> list[Track]:
    inner = track.inner()
    return [leaf for part in inner for leaf in leaves(part)] if inner else [track]


def texts(track: Track, calls: dict[str, Track]) -> set[str]:
    """Return the shortest texts of a track without sets: loops run at most twice."""
    match track.kind:
        case TrackKind.TEXT:
            return {track.label}
        case TrackKind.CALL:
            return texts(calls[track.target], calls)
        case TrackKind.CHOICE:
            return set().union(*(texts(part, calls) for part in track.inner()))
        case TrackKind.REPEAT:
            once = texts(track.inner()[0], calls)
            most = min(track.minimum + 2, 2 if track.maximum is None else track.maximum)
            counts = range(track.minimum, most + 1)
            return {"".join(parts) for count in counts for parts in product(once, repeat=count)}
        case TrackKind.EMPTY | TrackKind.CONDITION:
            return {""}
        case _:
            return {"".join(parts) for parts in product(*(texts(part, calls) for part in track.inner()))}


@pytest.mark.parametrize("pattern", ["a(b|c)*d?", "(?P<x>ab|)c{2}", "(?:a|b(c|d)+){1,2}", "x(?:|y)z"])
def test_the_texts_of_a_diagram_match_the_pattern(pattern):
    found = texts(railroad("regex", pattern).rules[0].track(), {})
    assert found
    assert all(re.fullmatch(pattern, text) for text in found)


def test_the_diagram_of_a_rule_leads_to_those_of_others():
    rules = railroad("gbnf", 'root ::= "a" (item ",")* end?\nitem ::= "b" | "c"\nend ::= "."\n').rules
    assert [rule.name for rule in rules] == ["root", "item", "end"]
    found = texts(rules[0].track(), {rule.name: rule.track() for rule in rules})
    assert {"a", "a.", "ab,", "ac,b,."} <= found


def test_a_literal_of_a_rule_is_one_box_with_its_quotes():
    (text,) = leaves(railroad("gbnf", 'root ::= "say \\"x"\n').rules[0].track())
    assert (text.label, text.span.start, text.span.end) == ('say␣"x', 9, 18)


def test_what_a_pattern_only_checks_is_a_condition():
    kinds = {leaf.kind for leaf in leaves(railroad("regex", "^a\\b").rules[0].track())}
    assert kinds == {TrackKind.CONDITION, TrackKind.TEXT}
    ahead = next(t for t in railroad("regex", "(?=ab)a").rules[0].track().inner() if t.kind is TrackKind.CONDITION)
    assert [leaf.label for leaf in leaves(ahead)] == ["ab"]


def test_a_schema_shows_its_members_and_everything_else_as_conditions():
    found = railroad("json_schema", SCHEMA)
    assert [rule.name for rule in found.rules] == ["#", "#/$defs/n"]
    track = found.rules[0].track()
    shown = leaves(track)
    assert {'"a":', '"b":', '"c":', '"x"', "3"} <= {leaf.label for leaf in shown if leaf.kind is TrackKind.TEXT}
    assert [leaf.target for leaf in shown if leaf.kind is TrackKind.CALL] == ["#/$defs/n"]
    sources = [SCHEMA[part.span.start : part.span.end] for part in track.inner() if part.kind is TrackKind.CONDITION]
    assert sources == ['"minProperties": 2', '{"required": ["b"]}']


def test_the_items_of_an_array_may_end_early():
    array = railroad("json_schema", SCHEMA).rules[1].track()
    loops = [(one.minimum, one.maximum) for one in walk(array) if one.kind is TrackKind.REPEAT]
    assert loops == [(0, 1), (0, 2)]


@pytest.mark.parametrize("keyword", ["allOf", "anyOf", "oneOf"])
def test_a_combination_beside_properties_is_not_left_out(keyword):
    parts = '[{"required": ["a"]}, {"maxProperties": 1}]'
    text = f'{{"type": "object", "properties": {{"a": true}}, "{keyword}": {parts}}}'
    track = railroad("json_schema", text).rules[0].track()
    conditions = [one for one in track.inner() if one.kind is TrackKind.CONDITION]
    assert conditions
    assert all(text.index(keyword) < one.span.start for one in conditions)


def walk(track: Track) -> list[Track]:
    return [track, *(one for part in track.inner() for one in walk(part))]


def test_the_rule_at_an_offset_is_the_innermost_one():
    found = railroad("json_schema", SCHEMA)
    names = [found.rule_at(SCHEMA.index(text)) for text in ('"minLength"', '"const"')]
    assert [rule and rule.name for rule in names] == ["#", "#/$defs/n"]


def test_the_part_at_an_offset_is_the_smallest_choice_or_repetition():
    pattern = "a(b|c(d|e))f"
    track = railroad("regex", pattern).rules[0].track()
    parts = (group_at(track, offset) for offset in (0, pattern.index("c"), pattern.index("e")))
    sources = [pattern[part.span.start : part.span.end] for part in parts]
    assert sources == [pattern, "(b|c(d|e))", "(d|e)"]


def test_deeply_nested_groups_are_not_expanded():
    assert railroad("regex", "(" * 1_000 + "a" + ")" * 1_000).rules[0].track().kind is TrackKind.GROUP
