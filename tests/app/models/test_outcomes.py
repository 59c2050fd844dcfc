import pytest
from PySide6.QtCore import QPersistentModelIndex, Qt

from app.catalogue import ui_text
from app.models.outcomes import OutcomeColumn, OutcomeModel, summary
from engine.decoding.values import Finish, SampleOutcome

OUTCOMES = (
    SampleOutcome(0, "ROMEO: thy\n", Finish.STOP, True, 11),
    SampleOutcome(1, "ROMEO: thy\n", Finish.STOP, True, 11),
    SampleOutcome(2, "R", Finish.LENGTH, False, 256, 0.0312, 4),
)


@pytest.fixture
def model(qapp):
    return OutcomeModel()


@pytest.mark.usefixtures("qapp")
def test_qt_finds_no_fault(model, qtmodeltester):
    model.show_outcomes(OUTCOMES)
    qtmodeltester.check(model)


def test_what_the_cells_say(model):
    model.show_outcomes(OUTCOMES)
    cells = [[model.index(row, column).data() for column in OutcomeColumn] for row in (0, 2)]
    assert cells[0] == ["0", "ROMEO: thy↵", "11", "–", "stop", ui_text("models.outcomes.match")]
    place = ui_text("models.outcomes.fragment.least_z", mass="3.1%", step=5)
    assert cells[1] == ["2", "R", "256", place, "length", ui_text("models.outcomes.no_match")]


def test_answers_that_continue_add_rows(model, qtbot):
    model.show_outcomes(OUTCOMES[:1])
    with qtbot.waitSignal(model.rowsInserted), qtbot.assertNotEmitted(model.modelReset):
        model.show_outcomes(OUTCOMES)
    assert model.rowCount() == 3


def test_other_answers_begin_anew(model, qtbot):
    model.show_outcomes(OUTCOMES)
    with qtbot.waitSignal(model.modelReset):
        model.show_outcomes(OUTCOMES[1:])
    assert model.rowCount() == 2


def test_the_summary():
    assert summary(OUTCOMES) == "3 outputs · 2 finished · 2 match · 2 distinct"


def test_rows_are_sorted_and_stay_so_as_more_arrive(model):
    model.show_outcomes(OUTCOMES[:2])
    model.sort(OutcomeColumn.LEAST_Z)
    chosen = QPersistentModelIndex(model.index(1, 0))
    model.show_outcomes(OUTCOMES)
    assert [model.outcome(row).seed for row in range(3)] == [2, 0, 1]
    assert (chosen.row(), model.outcome(chosen.row()).seed) == (2, 1)
    model.sort(OutcomeColumn.TOKENS, Qt.SortOrder.DescendingOrder)
    assert [model.outcome(row).seed for row in range(3)] == [2, 0, 1]
    model.sort(OutcomeColumn.SEED)
    assert model.outcomes == OUTCOMES == tuple(map(model.outcome, range(3)))
