from dataclasses import replace

import pytest
from decode_views import CANDIDATES, candidate, partial_position, position

from app.catalogue import ui_text
from app.display_text import unmarked
from app.panes.generation.headline import Headline, assessment_of, headline_of, second_line_of
from app.theme import Role
from app.theme.labels import plain_text
from app.widgets.rich_text import prose
from engine.compile import compile_grammar
from engine.decoding.stage_texts import stage_title
from engine.decoding.values import ContextState, EosState, Finish
from engine.diagnosis.verdicts.replay import TokenSource, replay_ids
from engine.vocabulary import Vocabulary


def headline(at, **options):
    return "".join(part.text for part in headline_of(at, **options)).replace("\N{NO-BREAK SPACE}", " ")


def text(name, **fields):
    """Return a text of the headline without its marks."""
    return ui_text(f"generation.headline.{name}", **fields).replace("*", "").replace("\N{NO-BREAK SPACE}", " ")


def test_a_step():
    at = position(allowed=12, size=49_152, z=0.031)
    top_choice = text("fragment.top_choice", token="Sure")
    assert headline(at) == f"{text('mass', allowed=12, total=49_152, mass='3.1%')} · {top_choice}"
    assert headline_of(at)[-1].struck


def test_a_mass_that_is_not_known_has_bounds():
    top_choice = text("fragment.top_choice", token="Sure")
    assert headline(partial_position()) == f"{text('mass', allowed=2, total=1_000, mass='40.0–50.0%')} · {top_choice}"
    forced = replace(partial_position(), forced=True, allowed=1)
    assert text("forced.mass", token="{", mass="40.0–50.0%") in headline(forced)


def test_the_tip_says_how_much_the_source_returned(qtbot):
    shown = Headline()
    qtbot.addWidget(shown)
    shown.show_position(partial_position())
    assert plain_text(ui_text("generation.headline.tip_partial", known=20, total=1_000)) in shown.toolTip()
    shown.show_position(position())
    assert "1,000" not in shown.toolTip()


def test_a_tokenizer_alone_has_no_probabilities_and_no_top_choice():
    assert headline(position(allowed=12), has_model=False) == text("no_model", allowed=12, total=1000)
    only = position((candidate(11, b" ", 0.012),), forced=True, allowed=1)
    assert headline(only, has_model=False) == text("forced.token", token="␣")


def test_a_context_that_is_nearly_full_is_reported():
    assert second_line_of(replace(position(), context=ContextState(512, 33))) == text("may_not_end")
    nearly = second_line_of(replace(position(), context=ContextState(512, 1)))
    assert nearly.endswith(ui_text("common.fragment.context_left", count=1))


def test_an_allowed_top_choice_is_not_struck_through():
    at = position(CANDIDATES[1:])
    assert headline(at).endswith(text("fragment.top_choice", token="{") + " ✓")
    assert not any(part.struck for part in headline_of(at))


def test_a_forced_step():
    only = candidate(11, b" ", 0.012, z=0.012)
    forced = headline_of(position((only,), forced=True, allowed=1, z=0.012))
    assert "".join(part.text for part in forced) == text("forced.mass", token="␣", mass="1.2%")
    assert [(part.text, part.role) for part in forced if part.strong] == [("Forced", Role.FORCED), ("1.2%", Role.TEXT)]
    assert [part.text for part in forced if part.is_code] == ["␣"]


def test_a_forced_token_beyond_the_table_is_reported_without_its_text():
    assert headline(position(CANDIDATES[:1], forced=True, allowed=1)) == text("forced.any")


def test_a_token_that_looks_like_markup_stays_as_it_is():
    only = candidate(11, b"*a*", 0.012)
    assert headline(position((only,), forced=True, allowed=1), has_model=False) == ui_text(
        "generation.headline.forced.token", token="\0"
    ).replace("*", "").replace("\0", "*a*")


@pytest.mark.parametrize(
    ("finish", "accepting", "name"),
    [
        (Finish.STOP, True, "finished.complete"),
        (Finish.STOP, False, "finished.incomplete"),
        (Finish.LENGTH, False, "budget.incomplete"),
        (Finish.LENGTH, True, "budget.complete"),
        (Finish.CONTEXT, False, "context.incomplete"),
        (Finish.CONTEXT, True, "context.complete"),
    ],
)
def test_an_end(finish, accepting, name):
    at = replace(position((), finish=finish, accepting=accepting), index=3, context=ContextState(512, 0))
    context = {"context": ui_text("common.generation.context_of_full", tokens=512)} if "context" in name else {}
    assert headline(at) == text(name, **context)
    assert second_line_of(at) == ""


def test_a_dead_end_says_what_to_do_at_once(qtbot):
    widget = Headline()
    qtbot.addWidget(widget)
    at = replace(position((), finish=Finish.DEAD_END, forced_bytes=b"{"), index=3)
    widget.show_position(at)
    hint = text("must_continue", text="{", hint=text("dead_end_hint"))
    assert widget.text == f"{text('finished.dead_end')}\n{hint}"
    widget.show_position(replace(at, index=0), "the stage “top-k” left no token")
    assert "\n" not in widget.text


def test_an_assessment_stays_when_the_same_position_is_shown_again(qtbot):
    widget = Headline()
    qtbot.addWidget(widget)
    at = position(output=b"a")
    widget.show_position(at)
    widget.show_assessment(replay_ids(compile_grammar("regex", "aé"), list(b"a"), TokenSource(LETTERS), budget=9))
    assert text("fragment.no_ending") in widget.text
    widget.show_position(at)
    assert text("fragment.no_ending") in widget.text
    widget.show_position(replace(at, output=b"b"))
    assert text("fragment.no_ending") not in widget.text


def test_an_end_before_anything_is_no_success_of_the_model():
    at = position((), finish=Finish.STOP, accepting=True)
    assert headline(at) == text("finished.empty")


def test_the_second_line_says_whether_the_output_may_end_and_what_is_forced():
    assert second_line_of(position(eos=EosState.ALLOWED)) == text("may_end")
    assert second_line_of(position(eos=EosState.NO_EOS, accepting=True)) == text("matches")
    continues = text("fragment.continues", text=':␣"')
    assert second_line_of(position(forced_bytes=b': "')) == f"{text('may_not_end')} · {continues}"
    within = second_line_of(replace(position(), parts=("key", "value")))
    assert within.endswith("in the key or the value")


def test_prose_marks_code_and_escapes_the_rest():
    assert "<b>" not in prose("<b> `x<y`")
    assert "x&lt;y" in prose("<b> `x<y`")
    assert "&nbsp;```&nbsp;" in prose("not ```` ``` ```` here")
    assert prose("plain") == "plain"


def test_long_code_breaks_at_its_single_spaces():
    short, long = "a  b c", "a  b c" * 10
    assert "a&nbsp;&nbsp;b&nbsp;c" in prose(f"`{short}`")
    assert "a&nbsp;&nbsp;b c" in prose(f"`{long}`")


# --- a moment later: how far the end is, and why it ended ------------------------------------------------------------

LETTERS = Vocabulary([bytes((byte,)) for byte in range(128)] + [b"ab", None], [129], {129: "<end>"})


def assessed(pattern, ids, budget, *, finish=None, notation="regex"):
    grammar = compile_grammar(notation, pattern)
    found = replay_ids(grammar, ids, TokenSource(LETTERS), budget=budget, finish=finish or "")
    at = position(output=found.data, finish=finish, accepting=found.is_complete)
    return assessment_of(at, found)


def test_how_far_the_end_is():
    ending = text("fragment.left", ending=text("fragment.ending_exact", count=7), left=18)
    assert assessed("a{9}", b"aa", 20) == (f"{text('may_not_end')} · {ending}", False)


def test_an_end_out_of_reach_is_a_warning():
    line, is_warning = assessed("a{9}", b"aa", 5)
    assert line.endswith(text("fragment.left", ending=text("fragment.ending_exact", count=7), left=3))
    assert is_warning


def test_why_it_was_cut_off():
    grammar = compile_grammar("regex", "a{9}")
    found = replay_ids(grammar, list(b"aaa"), TokenSource(LETTERS), budget=3, finish=Finish.LENGTH)
    line, is_warning = assessed("a{9}", b"aaa", 3, finish=Finish.LENGTH)
    assert line.startswith(unmarked(found.sentence))
    assert is_warning


def test_why_it_stopped():
    by_token = text("stopped.token", token="<end>")
    assert assessed("a+", [*b"aa", 129], 9, finish=Finish.STOP) == (by_token, False)
    assert assessed("aa", b"aa", 9, finish=Finish.STOP)[0] == text("stopped.maximal")


def test_a_loop_at_the_end_is_a_warning():
    line, is_warning = assessed('root ::= "a" [ ]* "b"', b"a" + b" " * 12, 50, notation="gbnf")
    assert line.endswith(text("fragment.loop_blank", length=12))
    assert is_warning


def test_a_dead_end_of_the_vocabulary():
    assert text("fragment.no_ending") in assessed("aé", b"a", 9)[0]


def test_a_trap_is_a_warning_although_tokens_are_allowed():
    line, is_warning = assessed("ab*é", b"ab", 9)
    assert text("fragment.no_ending") in line
    assert is_warning


def test_at_a_dead_end_the_second_line_says_what_to_do_and_not_the_same_again():
    grammar = compile_grammar("regex", "aé")
    found = replay_ids(grammar, list(b"a"), TokenSource(LETTERS), budget=9)
    at = position(output=b"a", finish=Finish.DEAD_END, forced_bytes="é".encode())
    line, is_warning = assessment_of(replace(at, index=1), found)
    assert line == text("must_continue", text="é", hint=text("dead_end_hint"))
    assert is_warning


def test_another_tokenization_than_the_tokenizers_is_reported():
    grammar = compile_grammar("regex", "[ab]+c")
    found = replay_ids(grammar, list(b"ab"), TokenSource(LETTERS, lambda text: [128] if text == "ab" else []), budget=9)
    line, _ = assessment_of(position(output=b"ab"), found)
    assert line.endswith(text("fragment.divergence", token=1))


def test_processors_that_leave_no_token_are_named_instead_of_what_the_mask_leaves(qtbot):
    widget = Headline()
    qtbot.addWidget(widget)
    at = replace(position(allowed=12), emptied_by="grammar")
    assert headline(at) == text("emptied", stage=stage_title("grammar"))
    widget.show_position(at, "the stage `grammar` leaves no token: it expects `c`")
    start, _, _ = text("emptied", stage=stage_title("grammar")).partition(":")
    assert widget.text == f"{start}: the stage “grammar” leaves no token: it expects “c”"
