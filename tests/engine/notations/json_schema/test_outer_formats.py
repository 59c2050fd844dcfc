"""Formats that are narrower here than in the standard: what they leave out is nowhere accepted as their contrary."""

import json

import corpora
import pytest

from engine import compile_grammar
from engine.automata.nfa.lazy_automaton import LazyAutomaton
from engine.automata.nfa.program import assemble
from engine.grammar.simplify import simplify
from engine.notations.json_schema.formats import OUTER, format_node, outer_node
from engine.source import Limits

LONG = "xn--" + "b" * 44 + "-93daaaaaaaaaaa"  # a valid A-label
# Of each format a valid string that is left out here, one that is not valid, and one that is accepted.
STRINGS = {
    "hostname": (LONG, "a_b", "a.b"),
    "idn-hostname": (LONG, "a_b", "b\u00fccher.example"),
    "idn-email": ("a@xn--bck0j.\U00020000", "a", "\u00fc@\u00fc.example"),
    "regex": ("(((a)))", "*a", "(a)"),
}


def automaton(node):
    return LazyAutomaton(assemble(simplify(node), Limits()), Limits())


def runs(machine, text):
    return machine.accepts(machine.run(machine.start, text.encode()))


def accepts(schema, value):
    return compile_grammar("json_schema", json.dumps(schema)).fullmatch(json.dumps(value, ensure_ascii=False))


@pytest.mark.parametrize("name", sorted(OUTER))
def test_the_outer_language_holds_the_inner_one(name):
    inner, outer = automaton(format_node(name)), automaton(outer_node(name))
    todo, seen = [(inner.start, outer.start)], {(inner.start, outer.start)}
    while todo and len(seen) < 300:
        mine, theirs = todo.pop(0)
        assert theirs
        assert not inner.accepts(mine) or outer.accepts(theirs)
        row, other = inner.row(mine), outer.row(theirs)
        for byte in range(256):
            following = row[inner.classes.of_byte[byte]], other[outer.classes.of_byte[byte]]
            if following[0] and following not in seen:
                seen.add(following)
                todo.append(following)


@pytest.mark.parametrize("name", sorted(OUTER))
def test_the_outer_language_holds_what_the_suite_calls_valid(name):
    machine = automaton(outer_node(name))
    for suite in ("jsts_2020_format", "jsts_2020_format_typed", "jsts_7_format", "jsts_7_format_typed"):
        for case in corpora.cases(suite):
            if json.loads(case["source"])["format"] == name:
                for text in map(json.loads, case["accept"]):
                    assert not isinstance(text, str) or runs(machine, text), text


@pytest.mark.parametrize("name", sorted(STRINGS))
def test_what_is_left_out_is_neither(name):
    left_out, wrong, right = STRINGS[name]
    has, lacks = {"format": name}, {"not": {"format": name}}
    assert [accepts(has, value) for value in (left_out, wrong, right, 1)] == [False, False, True, True]
    assert [accepts(lacks, value) for value in (left_out, wrong, right, 1)] == [False, True, False, False]
    assert [accepts({"not": lacks}, value) for value in (left_out, wrong, right, 1)] == [False, False, True, True]


@pytest.mark.parametrize("name", sorted(STRINGS))
@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        ({"if": "F", "then": {"minLength": 1}, "else": {"maxLength": 9}}, (False, True, True)),
        ({"oneOf": [{"type": "string"}, "F"]}, (False, True, False)),
        ({"oneOf": [{"pattern": "^[^ ]*$"}, "F", {"type": "object"}]}, (False, True, False)),
        ({"anyOf": [{"allOf": ["F", {"minLength": 1}]}, {"not": "F"}]}, (False, True, True)),
        ({"not": {"oneOf": [{"type": "string"}, "F"]}}, (False, False, True)),
    ],
)
def test_what_is_left_out_is_refused_where_formats_are_negated(name, schema, expected):
    whole = json.loads(json.dumps({"type": "string", **schema}).replace('"F"', json.dumps({"format": name})))
    assert tuple(accepts(whole, value) for value in STRINGS[name]) == expected


@pytest.mark.parametrize("name", sorted(STRINGS))
def test_within_arrays_and_objects(name):
    left_out, wrong, right = STRINGS[name]
    few = {"type": "array", "contains": {"type": "string", "format": name}, "minContains": 0, "maxContains": 1}
    assert [accepts(few, [right, value]) for value in (left_out, wrong, right)] == [False, True, False]
    keys = {"type": "object", "propertyNames": {"format": name}}
    assert [accepts(keys, {value: 1}) for value in (left_out, wrong, right)] == [False, False, True]
    assert [accepts({"type": "object", "not": keys}, {value: 1}) for value in (left_out, wrong, right)] == [
        False,
        True,
        False,
    ]
    choice = {"oneOf": [{"properties": {"a": {"format": name}}}, {"properties": {"a": {"type": "string"}}}]}
    assert [accepts({"type": "object", **choice}, {"a": value}) for value in (left_out, wrong, right)] == [
        False,
        True,
        False,
    ]


def test_a_choice_that_only_the_wider_language_overlaps():
    # No pattern that is accepted here nests so deeply, yet the standard has such, so both may hold.
    schema = {"type": "string", "oneOf": [{"format": "regex"}, {"pattern": "^\\(\\(\\(\\("}]}
    assert not accepts(schema, "((((a))))")
    assert accepts(schema, "(a)")
