"""The pane as a user meets it: values in, clicks and keys, signals out."""

from __future__ import annotations

from dataclasses import replace

import pytest
from decode_views import CANDIDATES, MODEL, candidate, position, step, trace, view
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QToolButton

from app import theme
from app.models.candidates import Column
from app.panes.generation import GenerationPane
from app.workers.decode_messages import DecodeView, LookupAnswer, ManyAnswer, WhyAnswer
from engine.automata.dfa import ByteDfa, DfaEdge, DfaState
from engine.compile import compile_grammar
from engine.decoding.values import Chat, EosState, Finish, FormerBranch, SampleOutcome, SamplerSettings, Trace
from engine.masking import Matcher
from engine.masking.explanation import Explanation, Reason
from engine.source import Span
from engine.vocabulary import Vocabulary

LEFT = Qt.MouseButton.LeftButton


@pytest.fixture
def pane(qtbot):
    pane = GenerationPane()
    qtbot.addWidget(pane)
    pane.resize(520, 800)
    pane.show_view(view())
    pane.set_refusal("")
    pane.show()
    return pane


def click_row(qtbot, table, token_id):
    box = table.visualRect(table.candidates.index(table.candidates.row_of(token_id), Column.TOKEN))
    qtbot.mouseClick(table.viewport(), LEFT, pos=box.center())


# --- candidates ------------------------------------------------------------------------------------------------------


def test_a_click_takes_an_allowed_token(qtbot, pane):
    with qtbot.waitSignal(pane.token_taken, timeout=1000) as taken, qtbot.assertNotEmitted(pane.why_wanted):
        click_row(qtbot, pane.candidates.table, 12)
    assert taken.args == [12]


def test_a_click_on_a_forbidden_token_asks_why(qtbot, pane):
    with qtbot.waitSignal(pane.why_wanted, timeout=1000) as asked, qtbot.assertNotEmitted(pane.token_taken):
        click_row(qtbot, pane.candidates.table, 10)
    assert asked.args == [10]


def test_the_end_is_pinned_and_answers_too(qtbot, pane):
    assert pane.candidates.table.candidates.row_of(0) == -1
    with qtbot.waitSignal(pane.why_wanted, timeout=1000) as asked:
        click_row(qtbot, pane.candidates.ends, 0)
    assert asked.args == [0]


def test_pinned_columns_stand_under_the_others(pane):
    table, ends = pane.candidates.table, pane.candidates.ends
    assert [table.columnWidth(c) for c in Column] == [ends.columnWidth(c) for c in Column]


def test_a_vocabulary_without_an_end_says_how_it_stops(pane):
    assert pane.candidates.no_ends.isHidden()
    pane.show_view(view(at=position(CANDIDATES[:4], eos=EosState.NO_EOS)))
    assert pane.candidates.no_ends.isVisible()
    assert pane.candidates.ends.isHidden()


def test_arrows_choose_and_enter_takes(qtbot, pane):
    table = pane.candidates.table
    table.setFocus()
    qtbot.keyClick(table, Qt.Key.Key_Down)
    qtbot.keyClick(table, Qt.Key.Key_Down)
    qtbot.keyClick(table, Qt.Key.Key_Down)
    with qtbot.waitSignal(pane.token_taken, timeout=1000) as taken:
        qtbot.keyClick(table, Qt.Key.Key_Return)
    assert taken.args == [12]


def test_f1_asks_about_the_chosen_row(qtbot, pane):
    pane.candidates.table.choose(0)
    with qtbot.waitSignal(pane.why_wanted, timeout=1000) as asked:
        qtbot.keyClick(pane.candidates.table, Qt.Key.Key_F1)
    assert asked.args == [11]


def test_the_arrows_go_from_the_search_through_the_table_to_the_end(qtbot, pane):
    parts = pane.candidates
    parts.search.setFocus()
    qtbot.keyClick(parts.search, Qt.Key.Key_Down)
    assert parts.chosen().token_id == 11
    for _ in range(4):
        qtbot.keyClick(parts.table, Qt.Key.Key_Down)
    assert parts.ends.chosen().token_id == 0
    qtbot.keyClick(parts.ends, Qt.Key.Key_Up)
    assert parts.table.chosen().token_id == 13


def test_without_a_choice_why_is_about_what_the_model_wanted(qtbot, pane):
    with qtbot.waitSignal(pane.why_wanted, timeout=1000) as asked:
        pane.explain_selected()
    assert asked.args == [10]


def test_nothing_is_taken_while_a_step_is_refused(qtbot, pane):
    pane.set_refusal("The pattern is broken: mend it to go on")
    with qtbot.waitSignal(pane.why_wanted, timeout=1000), qtbot.assertNotEmitted(pane.token_taken):
        click_row(qtbot, pane.candidates.table, 12)
    assert not pane.controls.step.isEnabled()
    assert "broken" in pane.controls.step.toolTip()
    assert "broken" in pane.headline.text


def test_a_click_on_a_title_sorts(qtbot, pane):
    header = pane.candidates.table.horizontalHeader()
    x = header.sectionViewportPosition(Column.RANK) + 5
    qtbot.mouseClick(header.viewport(), LEFT, pos=QPoint(x, 8))
    assert pane.candidates.table.candidates.candidate(0).token_id in (10, 13)


def test_only_allowed(qtbot, pane):
    qtbot.mouseClick(pane.candidates.only_allowed, LEFT)
    assert pane.candidates.table.candidates.rowCount() == 2


def test_a_narrow_pane_keeps_the_token_and_its_probabilities(pane):
    pane.show_drawn(ByteDfa(0, (DfaState(0, False),), ()), 0)
    pane.resize(360, 800)
    table = pane.candidates.table
    assert table.isColumnHidden(Column.CHANGE)
    assert not table.isColumnHidden(Column.TOKEN)
    assert not table.isColumnHidden(Column.PROBABILITY)
    pane.resize(900, 800)
    assert not any(table.isColumnHidden(column) for column in Column)


def test_target_states_are_those_of_the_drawing(pane):
    states = (DfaState(0, False), DfaState(1, True))
    pane.show_drawn(ByteDfa(0, states, (DfaEdge(0, 1, ((0x7B, 0x7B),)),)), 0)
    rows = pane.candidates.table.candidates
    assert rows.index(rows.row_of(11), Column.STATE).data() == "1"
    assert rows.index(rows.row_of(12), Column.STATE).data() == "…"  # its space leads beyond what is drawn
    pane.show_drawn(None, None)
    assert pane.candidates.table.isColumnHidden(Column.STATE)


# --- search ----------------------------------------------------------------------------------------------------------


def test_any_token_can_be_looked_up(qtbot, pane):
    with qtbot.waitSignal(pane.lookup_wanted, timeout=2000) as wanted:
        qtbot.keyClicks(pane.candidates.search, "zeb")
    assert wanted.args == ["zeb"]
    assert pane.candidates.table.candidates.rowCount() == 0
    pane.show_lookup(LookupAnswer("zeb", (candidate(77, b"zebra", 1e-7, allowed=False, rank=800),)))
    assert pane.candidates.table.candidates.row_of(77) == 0
    with qtbot.waitSignal(pane.why_wanted, timeout=1000) as asked:
        click_row(qtbot, pane.candidates.table, 77)
    assert asked.args == [77]


def test_a_late_answer_to_an_older_search_is_dropped(qtbot, pane):
    qtbot.keyClicks(pane.candidates.search, "ze")
    pane.show_lookup(LookupAnswer("z", (candidate(77, b"z", 0.1),)))
    assert pane.candidates.table.candidates.row_of(77) == -1


def test_a_search_goes_on_after_a_step(qtbot, pane):
    qtbot.keyClicks(pane.candidates.search, "z")
    qtbot.waitSignal(pane.lookup_wanted, timeout=2000).wait()
    with qtbot.waitSignal(pane.lookup_wanted, timeout=2000):
        pane.show_view(view(trace((b"a",)), position(output=b"a")))


def test_escape_clears_the_search(qtbot, pane):
    qtbot.keyClicks(pane.candidates.search, "Sure")
    assert pane.candidates.table.candidates.rowCount() == 1
    qtbot.keyClick(pane.candidates.search, Qt.Key.Key_Escape)
    assert pane.candidates.search.text() == ""
    assert pane.candidates.table.candidates.rowCount() == 4


# --- why not ---------------------------------------------------------------------------------------------------------

WHY = WhyAnswer(
    10,
    Explanation(Reason.DEAD_BYTE, b"Sure", 0, ((0x7B, 0x7B),), (Span(2, 4),)),
    "`Sure` is not allowed here: it begins with `S`. Expected here: `{`.",
)


def test_why_not_opens_and_points_into_the_grammar(qtbot, pane):
    pane.set_source(r"a|\{")
    pane.show_why(WHY)
    assert pane.why.isVisible()
    button = next(b for b in pane.why.findChildren(type(pane.why.close_button)) if b.text() == r"\{")
    with qtbot.waitSignal(pane.span_wanted, timeout=1000) as wanted:
        qtbot.mouseClick(button, LEFT)
    assert wanted.args == [Span(2, 4)]


def test_why_not_closes_with_its_cross_with_escape_and_with_the_next_step(qtbot, pane):
    pane.show_why(WHY)
    qtbot.mouseClick(pane.why.close_button, LEFT)
    assert pane.why.isHidden()
    pane.show_why(WHY)
    qtbot.keyClick(pane, Qt.Key.Key_Escape)
    assert pane.why.isHidden()
    pane.show_why(WHY)
    pane.show_view(view(trace((b"{",)), position(output=b"{")))
    assert pane.why.isHidden()


def test_why_not_survives_a_view_that_changes_nothing(pane):
    pane.show_why(WHY)
    pane.show_view(replace(view(), sampler=SamplerSettings(seed=4)))
    assert pane.why.isVisible()


def test_why_not_tells_each_stack_by_itself(qtbot, pane):
    grammar = compile_grammar("gbnf", 'root ::= a | b | c\na ::= "true"\nb ::= "tra"\nc ::= [0-9]+\n')
    vocabulary = Vocabulary([b"trx", b"true"], [])
    explanation = Matcher(grammar, vocabulary).explain(0)
    pane.set_source(grammar.source.text)
    pane.show_why(WhyAnswer(0, explanation, "So it is."))
    rows = [label.text() for label in pane.why.findChildren(QLabel) if "expects" in label.text() and label.isVisible()]
    # Those that went farthest come first; the third never read a byte.
    assert len(rows) == 3
    assert ["fits, then" in row for row in rows] == [True, True, False]
    assert ["at byte 3" in row for row in rows] == [True, True, False]
    buttons = {button.text(): button for button in pane.why.findChildren(QToolButton) if button.isVisible()}
    with qtbot.waitSignal(pane.span_wanted, timeout=1000) as wanted:
        qtbot.mouseClick(buttons["c"], LEFT)
    span = wanted.args[0]
    assert grammar.source.text[span.start : span.end] == "[0-9]"


def test_every_reason_can_be_shown(pane):
    for reason in Reason:
        pane.show_why(WhyAnswer(5, Explanation(reason, None), "So it is."))
        assert pane.why.isVisible()


# --- output and steps ------------------------------------------------------------------------------------------------


def test_the_buttons_say_what_the_user_wants(qtbot, pane):
    pane.show_view(view(trace((b"a",))))
    for button, signal in (
        (pane.controls.step, pane.step_clicked),
        (pane.controls.back, pane.back_clicked),
        (pane.controls.restart, pane.restart_clicked),
    ):
        with qtbot.waitSignal(signal, timeout=1000):
            qtbot.mouseClick(button, LEFT)


def test_run_becomes_pause(qtbot, pane):
    with qtbot.waitSignal(pane.run_toggled, timeout=1000) as wanted:
        qtbot.mouseClick(pane.controls.run, LEFT)
    assert wanted.args == [True]
    pane.set_running(True)
    assert pane.controls.run.text() == "Pause"
    assert not pane.controls.step.isEnabled()
    with qtbot.waitSignal(pane.run_toggled, timeout=1000) as wanted:
        qtbot.mouseClick(pane.controls.run, LEFT)
    assert wanted.args == [False]


def test_a_step_does_not_run_ahead_of_the_prompt(qtbot, pane):
    heard = []
    pane.prompt_edited.connect(heard.append)
    pane.step_clicked.connect(lambda: heard.append("step"))
    pane.prompt.fold.setChecked(True)
    qtbot.keyClicks(pane.prompt.text, "Paul")
    qtbot.mouseClick(pane.controls.step, LEFT)
    assert heard == ["Paul", "step"]


def test_a_chip_goes_to_its_step(qtbot, pane):
    pane.show_view(view(trace((b"a", b"b", b"c"))))
    with qtbot.waitSignal(pane.node_clicked, timeout=1000) as gone:
        qtbot.mouseClick(pane.output.chips.viewport(), LEFT, pos=pane.output.chips.rect_of(0).center().toPoint())
    assert gone.args == [0]


def test_back_needs_a_step(pane):
    assert not pane.controls.back.isEnabled()
    shown = trace((b"a",))
    pane.show_view(view(shown))
    assert pane.controls.back.isEnabled()
    pane.show_view(view(Trace(shown.nodes, shown.path, None)))
    assert not pane.controls.back.isEnabled()


def test_the_output_can_be_copied(qtbot, pane):
    pane.show_view(view(trace((b"a", b" b")), position(output=b"a b")))
    qtbot.mouseClick(pane.output.copy, LEFT)
    assert QGuiApplication.clipboard().text() == "a b"


def test_a_finished_output(pane):
    pane.show_view(view(trace((b"a",)), position((), finish=Finish.STOP, accepting=True)))
    pane.set_refusal("The text is complete: go back, or restart")
    assert pane.headline.text == "✓ Finished: the output matches in full"
    assert pane.candidates.search.isHidden()


def test_a_pane_without_a_model_says_so(qtbot):
    pane = GenerationPane()
    qtbot.addWidget(pane)
    assert pane.headline.text == "No model is loaded yet"
    assert not pane.controls.step.isEnabled()
    pane.set_refusal("The model is still loading")
    pane.show_view(DecodeView())
    assert pane.headline.text == "The model is still loading"


def test_a_chat_shows_where_the_model_has_a_template(pane):
    pane.show_view(replace(view(), prompt=Chat((("user", "Hello"),))))
    assert not pane.prompt.as_chat.isHidden()
    pane.show_view(replace(view(), model=replace(MODEL, has_chat=False), prompt=""))
    assert pane.prompt.as_chat.isHidden()


def test_the_sampler_is_reported(qtbot, pane):
    with qtbot.waitSignal(pane.sampler_edited, timeout=1000) as edited:
        pane.controls.sampler.popover.seed.setValue(5)
    assert edited.args == [SamplerSettings(seed=5)]


# --- trouble ---------------------------------------------------------------------------------------------------------


def test_the_budget_is_reported_and_shown(qtbot, pane):
    budget = pane.controls.budget
    with qtbot.waitSignal(pane.budget_edited, timeout=1000) as edited:
        budget.selectAll()
        qtbot.keyClicks(budget, "12")
        qtbot.keyClick(budget, Qt.Key.Key_Return)
    assert edited.args == [12]
    with qtbot.assertNotEmitted(pane.budget_edited):
        pane.show_view(replace(view(), max_tokens=200_000))
    assert budget.value() == 200_000


def test_a_budget_that_is_being_typed_stays(qtbot, pane):
    budget = pane.controls.budget
    budget.selectAll()
    qtbot.keyClicks(budget, "12")
    pane.show_view(replace(view(), max_tokens=99))
    assert "12" in budget.lineEdit().text()


# --- what earlier prompts and models made ----------------------------------------------------------------------------

FORMER = FormerBranch("A model", "hi", (step(b"x"), step(b"yz", by="user")))


def test_an_earlier_output_is_read_and_left_again(qtbot, pane):
    pane.show_view(view(trace((b"a",))))
    pane.show_former((FORMER,))
    (button,) = pane.output.branches.buttons
    assert "to read only" in button.toolTip()
    qtbot.mouseClick(button, LEFT)
    assert [chip.text for chip in pane.output.chips._chips] == ["x", "yz"]
    assert pane.output.tally.text() == "read-only · 2 tokens · A model · prompt “hi”"
    pane.output.copy.click()
    assert QGuiApplication.clipboard().text() == "xyz"
    with qtbot.assertNotEmitted(pane.node_clicked):
        qtbot.mouseClick(pane.output.chips.viewport(), LEFT, pos=pane.output.chips.rect_of(0).center().toPoint())
    pane.output.resume.click()
    assert [chip.text for chip in pane.output.chips._chips] == ["a"]
    assert pane.output.title.text() == "Output"


def test_a_step_ends_reading(pane):
    pane.show_view(view(trace((b"a",))))
    pane.show_former((FORMER,))
    pane.output.read(FORMER)
    pane.show_view(view(trace((b"a",))))
    assert not pane.output.resume.isHidden()
    pane.show_view(view(trace((b"a", b"b"))))
    assert pane.output.resume.isHidden()
    assert len(pane.output.chips._chips) == 2


def test_another_document_takes_its_earlier_outputs_along(pane):
    pane.show_former((FORMER,))
    pane.output.read(FORMER)
    pane.show_former(())
    assert pane.output.branches.isHidden()
    assert pane.output.title.text() == "Output"


def test_a_refused_request_is_told_until_the_next_one_goes_well(pane):
    pane.show_view(replace(view(), error="The prompt holds é, which this model does not know"))
    assert pane.banner.isVisible()
    pane.show_view(view())
    assert pane.banner.isHidden()


def test_a_refused_prompt_stays_to_be_mended(qtbot, pane):
    pane.prompt.text.setPlainText("é")
    pane.commit_prompt()
    pane.show_view(replace(view(), error="The prompt holds é"))
    assert pane.prompt.prompt() == "é"


def test_a_remark_does_not_take_a_way_on_away(qtbot, pane):
    pressed = []
    pane.show_banner("SmolLM2 did not load", "No network", button="Try again", action=lambda: pressed.append(1))
    pane.show_view(replace(view(), error="No network"))
    qtbot.mouseClick(pane.banner.button, LEFT)
    assert pressed == [1]
    assert pane.banner.isHidden()


def test_a_banner_can_be_dismissed(qtbot, pane):
    pane.show_banner("Press Step. Click a struck-through token to see why.", severity="hint")
    with qtbot.waitSignal(pane.banner_dismissed, timeout=1000):
        qtbot.mouseClick(pane.banner.close_button, LEFT)
    assert pane.banner.isHidden()


def test_a_model_on_its_way_shows_how_far_and_can_be_cancelled(qtbot, pane):
    pane.show_loading("Fetching SmolLM2", 45_300_000, 98_000_000)
    assert pane.loading.text == "Fetching SmolLM2 · 45 of 98 MB"
    button = pane.loading.findChild(type(pane.controls.step))
    with qtbot.waitSignal(pane.loading_cancelled, timeout=1000):
        qtbot.mouseClick(button, LEFT)
    pane.show_loading("Reading", 3, 10)
    assert pane.loading.text == "Reading · 3 of 10"
    pane.show_loading("")
    assert pane.loading.isHidden()


# --- many seeds ------------------------------------------------------------------------------------------------------


def test_many_seeds(qtbot, pane):
    pane.pages.setCurrentWidget(pane.many)
    pane.many.count.setValue(2)
    with qtbot.waitSignal(pane.many_wanted, timeout=1000) as wanted:
        qtbot.mouseClick(pane.many.sample, LEFT)
    assert wanted.args == [2]
    outcomes = (SampleOutcome(0, "ab", Finish.STOP, True, 2), SampleOutcome(1, "a", Finish.LENGTH, False, 9))
    pane.show_many(ManyAnswer(outcomes[:1], 2, done=False))
    assert pane.many.cancel.isVisible()
    pane.show_many(ManyAnswer(outcomes, 2, done=True))
    assert pane.many.summary.text() == "2 outputs · 1 finished · 1 match · 2 distinct"
    assert pane.many.cancel.isHidden()


def test_many_seeds_can_be_cancelled(qtbot, pane):
    pane.pages.setCurrentWidget(pane.many)
    qtbot.mouseClick(pane.many.sample, LEFT)
    with qtbot.waitSignal(pane.many_cancelled, timeout=1000):
        qtbot.mouseClick(pane.many.cancel, LEFT)
    assert pane.many.sample.isVisible()


def test_many_seeds_end_with_a_refusal_or_a_lost_worker(qtbot, pane):
    pane.pages.setCurrentWidget(pane.many)
    for ending in (replace(view(), error="The prompt is too long"), DecodeView()):
        qtbot.mouseClick(pane.many.sample, LEFT)
        assert pane.many.cancel.isVisible()
        with qtbot.assertNotEmitted(pane.many_cancelled):
            pane.show_view(ending)
        assert pane.many.sample.isVisible()


def test_outputs_can_be_copied(qtbot, pane):
    pane.pages.setCurrentWidget(pane.many)
    pane.show_many(ManyAnswer((SampleOutcome(0, "a b", Finish.STOP, True, 2),), 1, done=True))
    pane.many.table.selectRow(0)
    qtbot.keyClick(pane.many.table, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == "a b"


# --- looks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["light", "dark"])
def test_it_paints_in_both_themes(qapp, pane, name):
    before = theme.current().name
    theme.apply(qapp, name)
    pane.show_view(view(trace((b"a", b"\n", b"c"), illegal=(2,), forced=(1,)), position(output=b"a\nc")))
    pane.show_why(WHY)
    image = pane.grab().toImage()
    assert image.pixelColor(2, image.height() - 2) == theme.colour(theme.Role.PANEL)
    theme.apply(qapp, before)
