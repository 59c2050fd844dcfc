"""Changes of a text as values."""

from __future__ import annotations

import pytest

from engine.notations.editing import Edit, apply_edits, offset_after_edits
from engine.source import InvariantError, Span


def test_all_edits_are_of_the_text_before_them() -> None:
    edits = (Edit(Span(3, 4), "XY"), Edit(Span(0, 1), ""), Edit(Span(2, 2), "-"))
    assert apply_edits("abcde", edits) == "b-cXYe"


@pytest.mark.parametrize("edits", [(Edit(Span(0, 2), ""), Edit(Span(1, 3), "")), (Edit(Span(4, 9), ""),)])
def test_what_cannot_be_done_raises(edits: tuple[Edit, ...]) -> None:
    with pytest.raises(InvariantError):
        apply_edits("abcde", edits)


@pytest.mark.parametrize(
    ("before", "edits", "after"),
    [
        ("a¦bc", [Edit(Span(2, 3), "XY")], "a¦bXY"),
        ("ab¦c", [Edit(Span(0, 1), "XYZ")], "XYZb¦c"),
        ("ab¦c", [Edit(Span(2, 2), "--")], "ab--¦c"),  # behind what was inserted
        ("ab¦c", [Edit(Span(1, 3), "XYZ")], "aXYZ¦"),  # behind what was written over it
        ("ab¦c", [Edit(Span(0, 3), "")], "¦"),
        ("abc¦", [Edit(Span(0, 1), ""), Edit(Span(1, 2), "xyz")], "xyzc¦"),
    ],
)
def test_where_a_place_goes(before: str, edits: list[Edit], after: str) -> None:
    text = before.replace("¦", "")
    place = offset_after_edits(before.index("¦"), edits)
    changed = apply_edits(text, edits)
    assert f"{changed[:place]}¦{changed[place:]}" == after
