"""The candidates as a user meets them: clicks, keys, sorting, and the search for any token."""

from __future__ import annotations

from dataclasses import replace

from decode_views import CANDIDATES, candidate, position, trace, view
from PySide6.QtCore import QPoint, Qt

from app.models.candidates import CandidateColumn
from app.workers.requests.decode import LookupAnswer
from engine.automata.dfa.dfa import ByteDfa, DfaEdge, DfaState
from engine.decoding.values import Bounds, ContinuationMass, EosState, TextContinuation

LEFT = Qt.MouseButton.LeftButton


def click_row(qtbot, table, token_id):
    box = table.visualRect(table.candidates.index(table.candidates.row_of(token_id), CandidateColumn.TOKEN))
    qtbot.mouseClick(table.viewport(), LEFT, pos=box.center())


def test_a_click_takes_an_allowed_token(qtbot, pane):
    with qtbot.waitSignal(pane.token_taken) as taken, qtbot.assertNotEmitted(pane.why_wanted):
        click_row(qtbot, pane.candidates.table, 12)
    assert taken.args == [12]


def test_a_click_on_a_forbidden_token_asks_why(qtbot, pane):
    with qtbot.waitSignal(pane.why_wanted) as asked, qtbot.assertNotEmitted(pane.token_taken):
        click_row(qtbot, pane.candidates.table, 10)
    assert asked.args == [10]


def test_the_end_token_is_pinned_and_can_be_clicked(qtbot, pane):
    assert pane.candidates.table.candidates.row_of(0) == -1
    with qtbot.waitSignal(pane.why_wanted) as asked:
        click_row(qtbot, pane.candidates.ends, 0)
    assert asked.args == [0]


def test_pinned_columns_are_below_the_others(pane):
    table, ends = pane.candidates.table, pane.candidates.ends
    assert [table.columnWidth(c) for c in CandidateColumn] == [ends.columnWidth(c) for c in CandidateColumn]


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
    with qtbot.waitSignal(pane.token_taken) as taken:
        qtbot.keyClick(table, Qt.Key.Key_Return)
    assert taken.args == [12]


def test_f1_asks_about_the_chosen_row(qtbot, pane):
    pane.candidates.table.choose(0)
    with qtbot.waitSignal(pane.why_wanted) as asked:
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


def test_without_a_selection_why_is_about_the_top_choice(qtbot, pane):
    with qtbot.waitSignal(pane.why_wanted) as asked:
        pane.explain_selected()
    assert asked.args == [10]


def test_nothing_is_taken_while_a_step_is_refused(qtbot, pane):
    pane.set_refusal("The pattern is broken. Fix it to continue")
    with qtbot.waitSignal(pane.why_wanted), qtbot.assertNotEmitted(pane.token_taken):
        click_row(qtbot, pane.candidates.table, 12)
    assert "broken" in pane.headline.text


def test_a_click_on_a_title_sorts(qtbot, pane):
    header = pane.candidates.table.horizontalHeader()
    x = header.sectionViewportPosition(CandidateColumn.RANK) + 5
    qtbot.mouseClick(header.viewport(), LEFT, pos=QPoint(x, 8))
    assert pane.candidates.table.candidates.candidate(0).token_id in (10, 13)


def test_only_allowed(qtbot, pane):
    qtbot.mouseClick(pane.candidates.only_allowed, LEFT)
    assert pane.candidates.table.candidates.rowCount() == 2


def test_a_narrow_pane_keeps_the_token_and_its_probabilities(pane):
    pane.show_drawn(ByteDfa(0, (DfaState(0, False),), ()), 0)
    pane.resize(360, 800)
    table = pane.candidates.table
    assert table.isColumnHidden(CandidateColumn.CHANGE)
    assert not table.isColumnHidden(CandidateColumn.TOKEN)
    assert not table.isColumnHidden(CandidateColumn.PROBABILITY)
    pane.resize(900, 800)
    assert not any(table.isColumnHidden(column) for column in CandidateColumn)


def test_target_states_are_those_of_the_drawing(pane):
    states = (DfaState(0, False), DfaState(1, True))
    pane.show_drawn(ByteDfa(0, states, (DfaEdge(0, 1, ((0x7B, 0x7B),)),)), 0)
    rows = pane.candidates.table.candidates
    assert rows.index(rows.row_of(11), CandidateColumn.STATE).data() == "1"
    assert rows.index(rows.row_of(12), CandidateColumn.STATE).data() == "…"  # its space leads beyond what is drawn
    pane.show_drawn(None, None)
    assert pane.candidates.table.isColumnHidden(CandidateColumn.STATE)


def test_any_token_can_be_looked_up(qtbot, pane):
    with qtbot.waitSignal(pane.lookup_wanted) as wanted:
        qtbot.keyClicks(pane.candidates.search, "zeb")
    assert wanted.args == ["zeb"]
    assert pane.candidates.table.candidates.rowCount() == 0
    pane.show_lookup(LookupAnswer("zeb", (candidate(77, b"zebra", 1e-7, allowed=False, rank=800),)))
    assert pane.candidates.table.candidates.row_of(77) == 0
    with qtbot.waitSignal(pane.why_wanted) as asked:
        click_row(qtbot, pane.candidates.table, 77)
    assert asked.args == [77]


def test_a_late_answer_to_an_older_search_is_dropped(qtbot, pane):
    qtbot.keyClicks(pane.candidates.search, "ze")
    pane.show_lookup(LookupAnswer("z", (candidate(77, b"z", 0.1),)))
    assert pane.candidates.table.candidates.row_of(77) == -1


def test_a_search_goes_on_after_a_step(qtbot, pane):
    qtbot.keyClicks(pane.candidates.search, "z")
    qtbot.waitSignal(pane.lookup_wanted).wait()
    with qtbot.waitSignal(pane.lookup_wanted):
        pane.show_view(view(trace((b"a",)), position(output=b"a")))


def test_escape_clears_the_search(qtbot, pane):
    qtbot.keyClicks(pane.candidates.search, "Sure")
    assert pane.candidates.table.candidates.rowCount() == 1
    qtbot.keyClick(pane.candidates.search, Qt.Key.Key_Escape)
    assert pane.candidates.search.text() == ""
    assert pane.candidates.table.candidates.rowCount() == 4


def test_stored_candidates_are_marked_until_the_model_answers(pane):
    pane.show_view(view(at=replace(position(), is_remembered=True)))
    assert pane.candidates.stored.isVisible()
    pane.show_view(view(at=position()))
    assert pane.candidates.stored.isHidden()


def test_states_are_named_only_where_they_are_seen(qtbot, pane):
    asked = []
    many = tuple(candidate(i, b"%d" % i, 0.001) for i in range(100, 350))
    pane.show_view(view(at=position(candidates=many)))
    pane.candidates.set_states(lambda one: asked.append(one.token_id) or "7")
    pane.resize(900, 800)
    pane.grab()
    assert 0 < len(asked) < 100


def test_a_search_of_the_candidates_matches_as_that_of_the_vocabulary(qtbot, pane):
    """Return may come before the answer, and takes what is on top by then."""
    parts, first = pane.candidates, CANDIDATES[0]
    rows = parts.table.candidates
    for typed, ids in ((f"#{first.token_id}", [first.token_id]), ("#", None), ('"zz"', [])):
        parts.search.clear()
        qtbot.keyClicks(parts.search, typed)
        if ids is not None:
            assert [rows.candidate(row).token_id for row in range(rows.rowCount())] == ids
    longest = max((c for c in CANDIDATES if c.token), key=lambda c: len(c.token))
    parts.search.clear()
    qtbot.keyClicks(parts.search, f'"{longest.token.decode()}"')
    assert [rows.candidate(row).token_id for row in range(rows.rowCount())] == [longest.token_id]
    parts.search.setText(f'"{longest.token.decode()[:-1]}"')
    assert not rows.rowCount()


def test_a_large_vocabulary_loads_the_fonts_of_its_scripts_once(qtbot, pane):
    fonts = pane.candidates.fonts
    pane.show_view(view(at=position(size=100)))
    assert fonts.is_done
    pane.show_view(view(at=position(size=50_000)))
    assert not fonts.is_done
    qtbot.waitUntil(lambda: not fonts.is_running)
    pane.show_view(view(at=position(size=50_000, z=0.4)))
    assert fonts.is_done


def test_the_probability_of_a_typed_text_is_requested_shown_and_cancelled(qtbot, pane):
    table = pane.candidates
    assert not table.continuation_button.isVisible()
    qtbot.keyClicks(table.search, "#12")
    assert not table.continuation_button.isVisible()
    table.search.clear()
    qtbot.keyClicks(table.search, " no")
    with qtbot.waitSignal(table.continuation_wanted) as wanted:
        qtbot.mouseClick(table.continuation_button, Qt.MouseButton.LeftButton)
    assert wanted.args == [" no"]
    assert table.continuation.isVisible()
    with qtbot.waitSignal(table.continuation_cancelled):
        qtbot.mouseClick(table.continuation_button, Qt.MouseButton.LeftButton)
    table.stop_continuation("cancelled")
    assert not table.continuation.isVisible()
    qtbot.mouseClick(table.continuation_button, Qt.MouseButton.LeftButton)
    mass = ContinuationMass(Bounds(0.25, 0.25), Bounds(0.5, 0.625))
    table.show_continuation(TextContinuation(b" no", mass, mass, 3, 5))
    assert not table.continuation_button.isChecked()
    assert table.continuation.text().count("25.0%") == 2
    assert table.continuation.text().count("50.0–62.5%") == 2
    qtbot.keyClicks(table.search, "t")
    assert not table.continuation.isVisible()
