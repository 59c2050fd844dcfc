"""The forgiving reader of JSON: what is well-formed is read as `json` reads it, and nothing makes it fail."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from engine.notations import NOTATIONS
from engine.notations.editing import name_at
from engine.notations.json_schema.json_tree import read_json
from engine.notations.json_schema.outline import Outline, OutlinePart

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=12,
)
BROKEN = st.text(alphabet='{}[]:,"\\ \nab1$#/|()*:=<>-', max_size=40)


def value(part: OutlinePart, text: str) -> Any:
    if part.is_object:
        return {key: value(inner, text) for key, inner in part.members.items()}
    if part.is_array:
        return [value(item, text) for item in part.items]
    return json.loads(text[part.span.start : part.span.end])


@given(VALUES, st.sampled_from([None, 1]))
def test_json_is_read_as_json_reads_it(given_value: Any, indent: int | None) -> None:
    text = json.dumps(given_value, indent=indent)
    root = Outline(text).root
    assert root is not None
    assert value(root, text) == given_value
    theirs = read_json(text)
    todo = [(root, theirs)]
    while todo:
        mine, other = todo.pop()
        assert mine.span == other.span
        assert mine.keys == other.key_spans
        todo += zip(mine.members.values(), other.members.values(), strict=True)
        todo += zip(mine.items, other.items, strict=True)


@given(BROKEN, st.integers(0, 40))
def test_nothing_makes_it_fail(text: str, offset: int) -> None:
    at = min(offset, len(text))
    for notation in ("json_schema", "gbnf", "regex"):
        found = NOTATIONS[notation].propose(text, at)
        assert found.span.start <= at <= len(text)
        assert found.span.end <= len(text)
        for name in NOTATIONS[notation].names(text):
            assert all(span.end <= len(text) for span in name.occurrences)
        name_at(NOTATIONS[notation].names(text), at)


def test_a_doubled_key_is_noted() -> None:
    root = Outline('{"a": 1, "a": 2}').root
    assert root is not None
    assert [name for name, _ in root.earlier] == ["a"]
    assert root.members["a"].span.start == 14
