"""Which coverage the panes show: by the test strings or by generated outputs."""

import pytest
from PySide6.QtCore import QObject, Signal

from app.session.coverage import ShownCoverage
from app.workers.requests.judge import CoverAnswer, JudgeAnswer
from engine.diagnosis.test_strings.values import Coverage, CoverageSource

BY_TESTS, BY_OUTPUTS = Coverage(followed=1), Coverage(followed=2)


class Runs(QObject):
    judged, covered, log_followed, replaced = Signal(object), Signal(object), Signal(object), Signal()

    def __init__(self):
        super().__init__()
        self.watched = []

    def watch(self, is_watched):
        self.watched.append(is_watched)


@pytest.fixture
def runs(qapp):
    return Runs()


@pytest.fixture
def coverage(runs):
    return ShownCoverage(runs, runs, runs)


def test_the_tests_count_until_the_user_chooses_generated_outputs(runs, coverage, qtbot):
    runs.judged.emit(JudgeAnswer(1, (), coverage=BY_TESTS))
    runs.covered.emit(CoverAnswer(1, BY_OUTPUTS, 0))
    assert coverage.shown == (1, BY_TESTS)
    with qtbot.waitSignals([coverage.changed, coverage.choice_changed]):
        coverage.choose(CoverageSource.GENERATED)
    assert coverage.shown == (1, BY_OUTPUTS)


def test_the_coverage_of_outputs_of_another_grammar_is_forgotten(runs, coverage):
    runs.covered.emit(CoverAnswer(1, BY_OUTPUTS, 0))
    runs.judged.emit(JudgeAnswer(2, (), coverage=BY_TESTS))
    assert coverage.of(CoverageSource.GENERATED) == (-1, None)
    assert coverage.shown == (2, BY_TESTS)


def test_another_document_has_no_coverage_yet(runs, coverage):
    runs.judged.emit(JudgeAnswer(1, (), coverage=BY_TESTS))
    runs.replaced.emit()
    assert coverage.shown == (-1, None)


def test_coverage_is_computed_while_any_pane_shows_it(runs, coverage):
    coverage.watch("tests", True)
    coverage.watch("automaton", True)
    coverage.watch("tests", False)
    coverage.watch("automaton", False)
    assert runs.watched == [True, True, True, False]
