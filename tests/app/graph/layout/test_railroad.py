"""The layout of railroad diagrams: nothing overlaps, lines meet their boxes, and large parts are folded."""

from itertools import pairwise

import pytest

from app.graph.layout.railroad import MOST_BOXES, RailroadDrawing, RailroadStyle, lay_out_railroad
from engine.grammar.options import CompileOptions
from engine.notations import NOTATIONS
from engine.source import SourceText

STYLE = RailroadStyle(600, 8, 16)
GBNF = """root ::= "{" ws (pair ("," ws pair)*)? "}" ws ("end" | "stop" [0-9]{2,5} | [a-z]{0,300} "x"?)
pair ::= "\\"" [^"]* "\\"" ":" ws value
value ::= "alpha" | pair | ("a" | "b" ("c" | "d")+ | "")*
ws ::= " "?
"""
SCHEMA = """{"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}, {"type": "null"}]},
 "b": {"items": {"type": "integer"}, "minItems": 2}}, "not": {"required": ["a", "b"]}}"""


def drawn(notation: str, text: str, offset: int = 0, opened=(), style: RailroadStyle = STYLE) -> RailroadDrawing:
    railroad = NOTATIONS[notation].railroad(SourceText(text), CompileOptions())
    rule = railroad.rule_at(offset)
    return lay_out_railroad(railroad, rule, rule.track(), opened, style)


def overlaps(first, second) -> bool:
    (left, top, width, height), (x, y, w, h) = first, second
    return left < x + w - 0.1 and x < left + width - 0.1 and top < y + h - 0.1 and y < top + height - 0.1


@pytest.mark.parametrize("width", [300, 600, 2_000])
@pytest.mark.parametrize(
    ("notation", "text", "opened"),
    [
        ("gbnf", GBNF, (".1", ".2.0.0")),
        ("gbnf", GBNF, ()),
        ("json_schema", SCHEMA, ()),
        ("regex", "(a|b(?=c)){3,}$", ()),
    ],
)
def test_no_box_covers_another_and_no_line_crosses_one(notation, text, opened, width):
    picture = drawn(notation, text, opened=opened, style=RailroadStyle(width, 8, 16))
    boxes = [box for box in picture.boxes if not box.is_frame]
    for at, box in enumerate(boxes):
        assert not any(overlaps(box.rect, other.rect) for other in boxes[at + 1 :])
        left, top, width_of, height = box.rect
        assert left >= 0 <= top
        assert left + width_of <= picture.width
        assert top + height <= picture.height
    for line in picture.lines:
        for (x0, y0), (x1, y1) in pairwise(line):
            assert x0 == x1 or y0 == y1
            piece = min(x0, x1), min(y0, y1) - 0.5, abs(x1 - x0), abs(y1 - y0) + 1
            assert not any(overlaps(piece, box.rect) for box in boxes if not box.is_caption)


def test_every_box_is_joined_to_a_line_at_both_sides():
    picture = drawn("gbnf", GBNF)
    ends = {(round(x, 3), round(y, 3)) for line in picture.lines for x, y in (line[0], line[-1])}
    for box in picture.boxes:
        if not box.is_caption:
            left, top, width, height = box.rect
            assert {
                (round(left, 3), round(top + height / 2, 3)),
                (round(left + width, 3), round(top + height / 2, 3)),
            } <= ends


def test_a_sequence_is_wrapped_to_the_width():
    text = "root ::= " + " ".join(f'"word{number}" [a-z]' for number in range(40))
    assert drawn("gbnf", text).width <= STYLE.width
    assert drawn("gbnf", text).height > 5 * STYLE.line


def test_a_large_choice_is_folded_and_opens():
    text = "root ::= " + " | ".join(f'"w{number}"' for number in range(50))
    folded = drawn("gbnf", text)
    (more,) = [box for box in folded.boxes if box.can_open]
    assert len(folded.boxes) == 11
    assert "40" in more.label
    opened = drawn("gbnf", text, opened=(more.key,))
    assert len(opened.boxes) == 51
    assert sum(box.can_open for box in opened.boxes) == 1


def test_a_call_opens_in_place_also_within_itself():
    text = 'root ::= "a" root?\n'
    (call,) = [box for box in drawn("gbnf", text).boxes if box.can_open]
    twice = drawn("gbnf", text, opened=(call.key,))
    assert [box.is_frame for box in twice.boxes if box.can_open] == [True, False]
    assert [box.label for box in twice.boxes].count("a") == 2


def test_a_diagram_has_a_limit_and_says_what_it_leaves_out():
    text = "root ::= " + " ".join(f'("a{number}" | "b{number}")' for number in range(2_000))
    picture = drawn("gbnf", text)
    assert len([box for box in picture.boxes if box.kind is not None]) <= MOST_BOXES + 2
    assert any(box.can_open for box in picture.boxes)


def test_what_is_nested_deeply_is_folded():
    picture = drawn("regex", "(" * 100 + "a" + ")" * 100)
    assert picture.boxes[-1].can_open
    assert len(picture.boxes) < 50
