"""Formulas over strings, drawn and judged by Python's `re`."""

import re
from functools import cache
from itertools import product

from hypothesis import strategies as st

from engine.notations.json_schema.string_languages import search
from engine.notations.regex.parser import parse
from engine.source import Limits, SourceText, Span

HERE = Span(0, 1)
LENGTH = 4
# Every condition below is decided within so many characters, and tells no others apart than these.
TEXTS = ["".join(letters) for length in range(LENGTH + 1) for letters in product("abé", repeat=length)]
PATTERNS = [
    "a",
    "b",
    "^a",
    "b$",
    "^[ab]{1,3}$",
    "ab",
    "^(a|b)*$",
    r"^a\b",
    "^(?!ab)",
    "(?=.b)a",
    "é",
    "a{2}",
    "^.?$",
    "",
]
PIECES = [
    b"a",
    b"b",
    b"ab",
    "é".encode(),
    b"\\u006",
    b"1",
    b"\\u00E9",
    b"\\",
    b"\\n",
    b"x",
    "日".encode(),
    b" ",
    b"\\ud83d",
]
"""What a walk through a string is made of: characters, and pieces of their other spellings."""

leaves = st.one_of(
    st.sampled_from(PATTERNS).map(lambda text: ("pattern", text)),
    st.tuples(st.integers(0, 2), st.one_of(st.none(), st.integers(0, 3))).map(lambda pair: ("length", *pair)),
    st.lists(st.sampled_from(TEXTS), min_size=1, max_size=4).map(lambda texts: ("among", *texts)),
)
formulas = st.recursive(
    leaves,
    lambda inner: st.one_of(
        inner.map(lambda one: ("not", one)),
        st.lists(inner, min_size=2, max_size=4).map(lambda some: ("all", *some)),
        st.lists(inner, min_size=2, max_size=4).map(lambda some: ("some", *some)),
    ),
    max_leaves=6,
)


@cache
def node_of(text):
    return search(parse(SourceText(text), "ecma", Limits())[0])


def build(arena, formula):
    match formula:
        case ("pattern", text):
            return arena.text(lambda: node_of(text), ("pattern", text), HERE)
        case ("length", least, most):
            return arena.length(least, most, HERE)
        case ("among", *texts):
            return arena.enum(texts, HERE)
        case ("not", inner):
            return arena.negate(build(arena, inner))
        case ("all", *items):
            return arena.all_of(build(arena, item) for item in items)
        case ("some", *items):
            return arena.any_of(build(arena, item) for item in items)


def holds(formula, text):
    match formula:
        case ("pattern", pattern):
            return re.search(pattern.replace(r"\b", r"(?a:\b)"), text) is not None
        case ("length", least, most):
            return least <= len(text) and (most is None or len(text) <= most)
        case ("among", *texts):
            return text in texts
        case ("not", inner):
            return not holds(inner, text)
        case ("all", *items):
            return all(holds(item, text) for item in items)
        case ("some", *items):
            return any(holds(item, text) for item in items)
