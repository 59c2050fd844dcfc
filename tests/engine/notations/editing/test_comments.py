"""Comments, there and back."""

from __future__ import annotations

import pytest

from engine.notations import NOTATIONS
from engine.notations.editing import apply_edits
from engine.source import Span


@pytest.mark.parametrize(
    ("notation", "text", "span", "after"),
    [
        ("gbnf", "a ::= b\n\n  c ::= d\ne", Span(0, 12), "# a ::= b\n\n#   c ::= d\ne"),
        ("gbnf", "a ::= b\nc", Span(3, 3), "# a ::= b\nc"),
        ("gbnf", "a\nb", Span(0, 2), "# a\nb"),  # up to the beginning of the second line
        ("gbnf", "a\nb", Span(3, 3), "a\n# b"),
        ("regex", "(?x) a\n b", Span(8, 8), "(?x) a\n # b"),
    ],
)
def test_there_and_back(notation: str, text: str, span: Span, after: str) -> None:
    changed = apply_edits(text, NOTATIONS[notation].toggle_comment(text, span).edits)
    assert changed == after
    whole = Span(span.start, span.end + len(changed) - len(text)) if span.start < span.end else span
    assert apply_edits(changed, NOTATIONS[notation].toggle_comment(changed, whole).edits) == text


@pytest.mark.parametrize(
    ("notation", "text", "word"), [("json_schema", "{}", "$comment"), ("regex", "a", "(?x)"), ("gbnf", " \n", "empty")]
)
def test_what_has_no_comments_says_so(notation: str, text: str, word: str) -> None:
    refused = NOTATIONS[notation].toggle_comment(text, Span(0, 0))
    assert not refused.edits
    assert word in refused.refusal
