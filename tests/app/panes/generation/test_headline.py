from dataclasses import replace

import pytest
from decode_views import CANDIDATES, candidate, position

from app.panes.generation.headline import Headline, assessment_of, headline_of, second_line_of
from app.widgets.rich_text import prose
from engine.compile import compile_grammar
from engine.decoding.values import ContextState, EosState, Finish
from engine.diagnosis.verdicts.replay import TokenSource, replay_ids
from engine.vocabulary import Vocabulary


def said(at):
    return "".join(part.text for part in headline_of(at)).replace("\N{NO-BREAK SPACE}", " ")


def test_a_step():
    at = position(allowed=12, size=49_152, z=0.031)
    assert said(at) == "12 of 49,152 allowed · allowed mass 3.1% · top choice Sure"
    assert headline_of(at)[-1].struck


def test_a_tokenizer_alone_gives_and_wants_nothing():
    text = "".join(part.text for part in headline_of(position(allowed=12), has_model=False))
    assert text == "12 of 1,000 allowed · no model: all tokens equally likely"
    only = position((candidate(11, b" ", 0.012),), forced=True, allowed=1)
    assert "".join(part.text for part in headline_of(only, has_model=False)) == "Forced: only ␣ may come next"


def test_a_context_that_is_nearly_full_is_told():
    assert second_line_of(replace(position(), context=ContextState(512, 33))).endswith("end here")
    nearly = second_line_of(replace(position(), context=ContextState(512, 1)))
    assert nearly.endswith("the model's context takes 1 more token")


def test_a_wish_that_is_granted_is_not_struck_through():
    at = position(CANDIDATES[1:])
    assert said(at).endswith("top choice { ✓")
    assert not any(part.struck for part in headline_of(at))


def test_a_forced_step():
    only = candidate(11, b" ", 0.012, z=0.012)
    assert said(position((only,), forced=True, allowed=1, z=0.012)) == (
        "Forced: only ␣ may come next · probability 1.2%"
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
        (Finish.CONTEXT, False, "The model's context of 512 tokens is full, and the output is not complete"),
        (Finish.CONTEXT, True, "The model's context of 512 tokens is full, but the output matches in full"),
    ],
)
def test_an_end(finish, accepting, text):
    at = replace(position((), finish=finish, accepting=accepting), index=3, context=ContextState(512, 0))
    assert said(at) == text
    assert second_line_of(at) == ""


def test_a_dead_end_says_what_to_do_at_once(qtbot):
    headline = Headline()
    qtbot.addWidget(headline)
    at = replace(position((), finish=Finish.DEAD_END, forced_bytes=b"{"), index=3)
    headline.show_position(at)
    assert headline.text == (
        "Dead end: the output is not complete, and no token of this vocabulary continues it\n"
        "It must continue with “{”. Go back, or choose another model, or change the grammar"
    )
    headline.show_position(replace(at, index=0), "the stage “top-k” left no token")
    assert "another model" not in headline.text


def test_an_assessment_outlives_a_drawing_that_is_late(qtbot):
    headline = Headline()
    qtbot.addWidget(headline)
    at = position(output=b"a")
    headline.show_position(at)
    headline.show_assessment(replay_ids(compile_grammar("regex", "aé"), list(b"a"), TokenSource(LETTERS), budget=9))
    assert "no tokens of this vocabulary complete it" in headline.text
    headline.show_position(at)
    assert "no tokens of this vocabulary complete it" in headline.text
    headline.show_position(replace(at, output=b"b"))
    assert "complete it" not in headline.text


def test_an_end_before_anything_is_no_success_of_the_model():
    at = position((), finish=Finish.STOP, accepting=True)
    assert said(at) == "Nothing to generate: the empty text matches already"


def test_the_second_line_tells_of_the_end_and_of_what_is_forced():
    assert second_line_of(position(eos=EosState.ALLOWED)) == "✓ It may end here"
    assert second_line_of(position(eos=EosState.NO_EOS, accepting=True)) == "✓ Matches so far"
    assert second_line_of(position(forced_bytes=b': "')) == (
        'Not complete: it may not end here · it must continue with “:␣"”'
    )


def test_prose_holds_code_and_escapes_the_rest():
    assert "<b>" not in prose("<b> `x<y`")
    assert "x&lt;y" in prose("<b> `x<y`")
    assert "&nbsp;```&nbsp;" in prose("not ```` ``` ```` here")
    assert prose("plain") == "plain"


# --- a moment later: how far the end is, and why it ended ------------------------------------------------------------

LETTERS = Vocabulary([bytes((byte,)) for byte in range(128)] + [b"ab", None], [129], {129: "<end>"})


def assessed(pattern, ids, budget, *, finish=None, notation="regex"):
    grammar = compile_grammar(notation, pattern)
    found = replay_ids(grammar, ids, TokenSource(LETTERS), budget=budget, finish=finish or "")
    at = position(output=found.data, finish=finish, accepting=found.is_complete)
    return assessment_of(at, found)


def test_how_far_the_end_is():
    assert assessed("a{9}", b"aa", 20) == (
        "Not complete: it may not end here · the shortest ending needs 7 tokens, 18 left",
        False,
    )


def test_an_end_out_of_reach_is_a_worry():
    text, worries = assessed("a{9}", b"aa", 5)
    assert text.endswith("the shortest ending needs 7 tokens, 3 left")
    assert worries


def test_why_it_was_cut_off():
    text, worries = assessed("a{9}", b"aaa", 3, finish=Finish.LENGTH)
    assert text.startswith("Cut off at token 3: the shortest legal ending needed 6 more, the budget had 0.")
    assert worries


def test_why_it_stopped():
    assert assessed("a+", [*b"aa", 129], 9, finish=Finish.STOP) == (
        "It stopped because <end> was taken, which the grammar allows here",
        False,
    )
    assert assessed("aa", b"aa", 9, finish=Finish.STOP)[0] == "It stopped because the grammar is satisfied"


def test_circles_are_told_of():
    text, worries = assessed('root ::= "a" [ ]* "b"', b"a" + b" " * 12, 50, notation="gbnf")
    assert text.endswith("it loops: the last 12 bytes repeat white space")
    assert worries


def test_a_dead_end_of_the_vocabulary():
    assert "no tokens of this vocabulary complete it" in assessed("aé", b"a", 9)[0]


def test_at_a_dead_end_the_second_line_says_what_to_do_and_not_the_same_again():
    grammar = compile_grammar("regex", "aé")
    found = replay_ids(grammar, list(b"a"), TokenSource(LETTERS), budget=9)
    at = position(output=b"a", finish=Finish.DEAD_END, forced_bytes="é".encode())
    said_of_it, worries = assessment_of(replace(at, index=1), found)
    assert said_of_it == "It must continue with “é”. Go back, or choose another model, or change the grammar"
    assert worries


def test_a_spelling_of_ones_own_is_told_of():
    grammar = compile_grammar("regex", "[ab]+c")
    found = replay_ids(grammar, list(b"ab"), TokenSource(LETTERS, lambda text: [128] if text == "ab" else []), budget=9)
    text, _ = assessment_of(position(output=b"ab"), found)
    assert text.endswith("the tokenizer encodes it differently from token 1 on")


def test_processors_that_leave_no_token_are_said_instead_of_what_the_mask_leaves(qtbot):
    headline = Headline()
    qtbot.addWidget(headline)
    at = replace(position(allowed=12), emptied_by="grammar")
    assert said(at).startswith("No token can be drawn: the stage “grammar” removes")
    headline.show_position(at, "the stage `grammar` leaves no token: it expects `c`")
    assert headline.text == "No token can be drawn: the stage “grammar” leaves no token: it expects “c”"
