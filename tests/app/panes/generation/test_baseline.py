from dataclasses import replace

import pytest
from decode_views import step
from PySide6.QtCore import Qt

from app.panes.generation.baseline_page import BaselinePage, verdict_of
from app.workers.decode_messages import BaselineAnswer
from engine.decoding.values import BaselineRun, Finish, TopToken

LEFT = Qt.MouseButton.LeftButton
A, B, C = step(b"a"), step(b"b"), step(b"c")
FORBIDDEN = replace(B, top=(TopToken(C.token_id, b"c", "", 0.7, False),))


@pytest.fixture
def page(qtbot):
    page = BaselinePage()
    qtbot.addWidget(page)
    page.resize(420, 400)
    page.show()
    return page


def test_it_says_what_it_would_show(qtbot, page):
    assert "without the grammar" in page.verdict.text()
    with qtbot.waitSignal(page.wanted):
        qtbot.mouseClick(page.generate, LEFT)


def test_it_grows_and_can_be_cancelled(qtbot, page):
    page.show_baseline(BaselineAnswer(BaselineRun((A, B), (A,), None), 20))
    assert page.generate.text() == "Cancel"
    assert page.bar.isVisible()
    with qtbot.waitSignal(page.cancelled):
        qtbot.mouseClick(page.generate, LEFT)
    page.stop("Cancelled")
    assert page.verdict.text().startswith("Cancelled.")
    assert page.generate.text() == "Generate again"


def test_it_marks_where_they_part(page):
    page.show_baseline(BaselineAnswer(BaselineRun((A, FORBIDDEN), (A, C, C), 1, Finish.LENGTH), 20))
    assert page.with_grammar._current == 1
    assert page.without._current == 1
    assert "step 2" in page.verdict.text()
    assert page.with_title.text() == "With the grammar · 2 tokens"


def test_verdicts():
    parted = verdict_of(BaselineRun((A, FORBIDDEN), (A, C), 1, Finish.STOP))
    assert "“b” with the grammar, “c” without it" in parted
    assert "did not allow" in parted
    assert "ended by itself" in parted
    assert "You chose" in verdict_of(BaselineRun((replace(B, origin="user"),), (C,), 0))
    assert "alike" in verdict_of(BaselineRun((A,), (A, B), None, Finish.LENGTH))
    assert "nothing to compare" in verdict_of(BaselineRun((), (A,), None))


def test_an_output_that_changed_makes_it_old(page):
    page.set_stale()
    assert "changed" not in page.verdict.text()
    page.show_baseline(BaselineAnswer(BaselineRun((A,), (A,), None, Finish.STOP), 20))
    page.set_stale()
    assert "changed" in page.verdict.text()


def test_where_no_step_is_possible_nothing_is_written(page):
    page.set_refusal("No model")
    assert not page.generate.isEnabled()
    assert page.generate.toolTip() == "No model"
