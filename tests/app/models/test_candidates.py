import pytest
from decode_views import CANDIDATES, PARTIAL_CANDIDATES, candidate
from PySide6.QtCore import QPersistentModelIndex, Qt

from app.catalogue import ui_text
from app.models.candidates import CandidateColumn, CandidateModel, EngineColumn, GivenColumn
from app.theme.labels import plain_text
from app.workers.requests.engine_masks import EngineChoice, EngineMask
from engine.decoding.strategies.given_values import GivenShare, GivenShares
from engine.source.number_format import percent_between

DESCENDING = Qt.SortOrder.DescendingOrder


@pytest.fixture
def model(qapp):
    model = CandidateModel()
    model.show_candidates(CANDIDATES)
    return model


def ids(model):
    return [model.candidate(row).token_id for row in range(model.rowCount())]


def text(model, row, column):
    return model.index(row, column).data()


@pytest.mark.usefixtures("qapp")
def test_qt_finds_no_fault(model, qtmodeltester):
    qtmodeltester.check(model)
    model.sort(CandidateColumn.RANK)
    model.set_allowed_only(True)
    qtmodeltester.check(model)
    model.show_candidates(())
    qtmodeltester.check(model)


def test_the_order_is_by_the_larger_probability_before_or_after_the_mask(model):
    assert ids(model) == [11, 10, 12, 13, 0]  # 0.3 → 0.6, then 0.4 forbidden, then 0.2 → 0.4


def test_equal_weights_keep_the_order_of_the_model(qapp):
    model = CandidateModel()
    model.show_candidates([candidate(i, b"a", 0.1, rank=9 - i) for i in range(5)])
    assert [model.candidate(row).rank for row in range(5)] == [5, 6, 7, 8, 9]


def test_unknown_numbers_are_question_marks_and_bounds_and_come_last(qapp, qtmodeltester):
    model = CandidateModel()
    model.show_candidates(PARTIAL_CANDIDATES)
    qtmodeltester.check(model)
    assert ids(model) == [11, 10, 12, 0]
    assert [text(model, row, CandidateColumn.PROBABILITY) for row in range(4)] == [
        "30.00% → ≥60.00%",
        "40.00% → –",
        "? → ?",
        "? → –",
    ]
    assert [text(model, row, CandidateColumn.RANK) for row in range(4)] == ["2", "1", "?", "?"]
    assert text(model, 0, CandidateColumn.CHANGE) == text(model, 2, CandidateColumn.CHANGE) == "?"
    assert model.peak == 0.6
    for column in CandidateColumn:
        for order in Qt.SortOrder:
            model.sort(column, order)
            assert sorted(ids(model)) == [0, 10, 11, 12]


def test_the_tip_of_an_unknown_token_says_why_and_what_it_is_at_most(qapp):
    model = CandidateModel()
    model.show_candidates(PARTIAL_CANDIDATES)
    tips = {model.candidate(row).token_id: model.index(row, 1).data(Qt.ItemDataRole.ToolTipRole) for row in range(4)}
    assert plain_text(ui_text("models.candidates.tip.unknown", most="10.0%")) in tips[12]
    assert plain_text(ui_text("models.candidates.tip.bounds")) in tips[11]
    assert "60.0–75.0%" in tips[11]
    assert ui_text("models.candidates.tip.masked", p="?") in tips[0]


@pytest.mark.parametrize(
    ("column", "order", "first"),
    [
        (CandidateColumn.RANK, Qt.SortOrder.AscendingOrder, 10),
        (CandidateColumn.ID, DESCENDING, 13),
        (CandidateColumn.CHANGE, DESCENDING, 11),
        (CandidateColumn.STATE, DESCENDING, 11),
        (CandidateColumn.TOKEN, DESCENDING, 12),
    ],
)
def test_every_column_sorts(model, column, order, first):
    model.sort(column, order)
    assert ids(model)[0] == first


def test_states_sort_by_their_numbers_and_follow_the_drawing(qapp):
    model = CandidateModel()
    model.show_candidates([candidate(i, b"a", 0.1, rank=i + 1, allowed=i != 4) for i in range(5)])
    model.sort(CandidateColumn.STATE, Qt.SortOrder.AscendingOrder)
    assert ids(model) == [4, 3, 2, 1, 0]  # none is drawn
    names = {0: "10", 1: "9", 2: "10"}
    model.set_states(lambda one: names.get(one.token_id))
    assert ids(model) == [4, 1, 2, 0, 3]


def test_sorting_keeps_what_is_selected(model):
    kept = QPersistentModelIndex(model.index(0, CandidateColumn.TOKEN))
    model.sort(CandidateColumn.RANK)
    assert model.candidate(kept.row()).token_id == 11
    assert kept.row() == 1


def test_forbidden_ones_can_be_left_out(model):
    model.set_allowed_only(True)
    assert ids(model) == [11, 12]
    model.set_allowed_only(False)
    assert len(ids(model)) == 5


def test_what_the_cells_say(model):
    model.set_states(lambda candidate: {11: "4"}.get(candidate.token_id))
    assert [text(model, 0, column) for column in CandidateColumn] == ["2", "{", "11", "30.00% → 60.00%", "+30.0", "4"]
    assert [text(model, 1, column) for column in CandidateColumn] == ["1", "Sure", "10", "40.00% → –", "−40.0", "–"]
    assert text(model, 2, CandidateColumn.STATE) == "…"
    assert "not allow" in model.index(1, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert model.index(1, 2).data(Qt.ItemDataRole.AccessibleDescriptionRole) == "not allowed"
    told = [model.index(1, column).data(Qt.ItemDataRole.AccessibleDescriptionRole) for column in (0, 1)]
    assert told[0] == "not allowed, Token Sure, Id 10, Model → masked 40.00% → –, Change (pp) −40.0, State –"
    assert told[1] == "not allowed, # 1, Id 10, Model → masked 40.00% → –, Change (pp) −40.0, State –"


def test_an_allowed_end_leads_to_the_end(qapp):
    model = CandidateModel()
    model.show_candidates([candidate(0, None, 0.1, name="<|end|>", is_eos=True)])
    assert text(model, 0, CandidateColumn.STATE) == "end"


def test_a_bar_is_filled_by_the_largest_probability_of_the_step(model):
    assert model.peak == pytest.approx(0.6)
    model.show_candidates(CANDIDATES[:1], peak=0.9)
    assert model.peak == 0.9


def test_finding_rows(model):
    assert model.row_of(12) == 2
    assert model.row_of(999) == -1
    assert model.first_allowed() == 0
    assert model.candidate(-1) is None
    assert model.candidate(5) is None


def test_the_column_of_an_engine_has_a_sign_a_word_and_an_order(model):
    engine = EngineChoice("other")
    mask = EngineMask(
        engine, "Other", "1.0", (0b1101 << 10).to_bytes(2, "little"), gained=frozenset({12}), lost=frozenset({11})
    )
    column = EngineColumn("Other", mask)
    model.set_engines((column,))
    number = len(CandidateColumn)
    rows = [model.candidate(row) for row in range(model.rowCount())]
    signs = {one.token_id: column.sign(one) for one in rows}
    assert tuple(signs[token_id] for token_id in range(10, 14)) == ("✓", "≠ ✗", "≠ ✓", "✓")
    assert model.headerData(number, Qt.Orientation.Horizontal) == "Other"
    assert all(not set(text(model, row, number)) & set("✓✗≠?") for row in range(model.rowCount()))
    model.sort(number, DESCENDING)
    assert {model.candidate(row).token_id for row in (0, 1)} == {11, 12}
    model.set_engines((EngineColumn("Other"),))
    assert {column.sign(one) for column in model.engines for one in rows} == {"…"}
    model.set_engines(())
    assert model.columnCount() == number
    assert model.candidate(0) is not None


def test_what_is_not_known_of_an_engine_is_no_difference():
    column = EngineColumn("Other", EngineMask(EngineChoice("other"), "Other", words=b"", reason="it is silent"))
    assert {column.sign(one) for one in CANDIDATES} == {"?"}
    assert not any(column.differs(one) for one in CANDIDATES)


def test_probabilities_given_the_grammar_are_exact_estimated_or_bounded(model):
    shares = {11: GivenShare(0.25, 0.25), 12: GivenShare(0.1, 0.9, 0.7, 0.05)}
    column = len(CandidateColumn)
    model.set_engines((GivenColumn(),))
    assert GivenColumn().sign(model.candidate(0)) == "…"
    model.set_engines((GivenColumn(GivenShares(shares, draws=9)),))
    given = model.engines[0]
    signs = {candidate.token_id: given.sign(candidate) for candidate in CANDIDATES}
    assert (signs[11], signs[12]) == ("25.0%", "≈ 70.0%")
    assert signs[10] == "–"  # masked
    model.sort(column, DESCENDING)
    assert ids(model)[:2] == [12, 11]
    for part in ("70.0%", percent_between(0.1, 0.9)):
        assert part in text(model, 0, column)
    assert GivenColumn(GivenShares({12: GivenShare(0.1, 0.9)})).sign(model.candidate(0)) == percent_between(0.1, 0.9)
    assert "why" in GivenColumn(GivenShares(why_not="why")).tip
