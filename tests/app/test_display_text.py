"""Numbers, sizes and tokens as texts."""

import pytest
from decode_views import candidate

from app.display_text import candidate_text, change_column, megabytes, percent, percent_column, prompt_text
from engine.decoding.values import Chat


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (0.0, "0%"),
        (1.0, "100%"),
        (0.031, "3.1%"),
        (0.456, "45.6%"),
        (0.0031, "0.31%"),
        (0.000042, "0.0042%"),
        (1e-9, "<0.0001%"),
        (0.99999, ">99.9%"),
        (0.009999, "1.00%"),
    ],
)
def test_prose_never_rounds_to_a_false_nought_or_a_false_whole(p, text):
    assert percent(p) == text


def test_columns_have_two_decimals_always():
    assert [percent_column(p) for p in (0.0, 1e-6, 0.0312, 1.0)] == ["0.00%", "<0.01%", "3.12%", "100.00%"]


def test_a_change_has_a_sign_unless_it_rounds_to_nothing():
    assert change_column(0.1, 0.35) == "+25.0"
    assert change_column(0.6, 0.0) == "−60.0"
    assert change_column(0.0004, 0.0) == "0.0"


def test_a_token_is_its_text_or_its_name_or_its_id():
    assert candidate_text(candidate(1, b" a\n", 0.1)) == "␣a↵"
    assert candidate_text(candidate(1, None, 0.1, name="<|end|>")) == "<|end|>"
    assert candidate_text(candidate(31, None, 0.1)) == "#31"
    assert candidate_text(candidate(31, b"", 0.1)) == "#31"


def test_sizes_have_one_decimal_below_ten_megabytes():
    assert megabytes(98_000_000) == "98"
    assert megabytes(4_240_000) == "4.2"


def test_a_prompt_is_one_line():
    assert prompt_text("  two\nlines ") == "two lines"
    assert prompt_text(Chat((("user", "hi"),))) == "user: hi"
    assert prompt_text(Chat((("system", "be brief"), ("user", "hi")), "Sure")) == (
        "system: be brief · user: hi · assistant: Sure"
    )
    assert prompt_text(Chat(())) == ""
