import pytest
from decode_views import CANDIDATES, candidate, position

from app.panes.generation.headline import headline_of, second_line_of
from app.panes.generation.rich import prose
from engine.decoding.values import EosState, Finish


def said(at):
    return "".join(part.text for part in headline_of(at)).replace("\N{NO-BREAK SPACE}", " ")


def test_a_step():
    at = position(allowed=12, size=49_152, z=0.031)
    assert said(at) == "12 of 49,152 allowed · the model gave them 3.1% · it wanted Sure"
    assert headline_of(at)[-1].struck


def test_a_wish_that_is_granted_is_not_struck_through():
    at = position(CANDIDATES[1:])
    assert said(at).endswith("it wanted { ✓")
    assert not any(part.struck for part in headline_of(at))


def test_a_forced_step():
    only = candidate(11, b" ", 0.012, z=0.012)
    assert said(position((only,), forced=True, allowed=1, z=0.012)) == (
        "Forced: only ␣ may come next · the model gave it 1.2%"
    )


def test_a_forced_token_beyond_the_table_is_still_told():
    assert said(position(CANDIDATES[:1], forced=True, allowed=1)) == "Forced: only one token may come next"


@pytest.mark.parametrize(
    ("finish", "accepting", "text"),
    [
        (Finish.STOP, True, "✓ Finished: the output matches in full"),
        (Finish.STOP, False, "Finished, though the output is no full match"),
        (Finish.LENGTH, False, "Out of budget: the tokens are used up before the output was complete"),
        (Finish.LENGTH, True, "Out of budget: the tokens are used up, but the output matches in full"),
        (Finish.DEAD_END, False, "Dead end: the output is not complete, and no token of this vocabulary continues it"),
    ],
)
def test_an_end(finish, accepting, text):
    at = position((), finish=finish, accepting=accepting)
    assert said(at) == text
    assert second_line_of(at) == ""


def test_the_second_line_tells_of_the_end_and_of_what_is_forced():
    assert second_line_of(position(eos=EosState.ALLOWED)) == "✓ It may end here"
    assert second_line_of(position(eos=EosState.NO_EOS, accepting=True)) == "✓ Matches so far"
    assert second_line_of(position(forced_bytes=b': "')) == (
        'Not complete: it may not end here · it must go on with “:␣"”'
    )


def test_prose_holds_code_and_escapes_the_rest():
    assert "<b>" not in prose("<b> `x<y`")
    assert "x&lt;y" in prose("<b> `x<y`")
    assert "&nbsp;```&nbsp;" in prose("not ```` ``` ```` here")
    assert prose("plain") == "plain"
