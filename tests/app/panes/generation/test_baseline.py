from dataclasses import replace

import pytest
from decode_views import step
from PySide6.QtCore import Qt

from app.catalogue import ui_text
from app.display_text import percent
from app.panes.generation.baseline_page import BaselinePage, verdict_of
from app.workers.requests.decode import BaselineAnswer
from engine.decoding.values import BaselineRun, Finish, StepOrigin, TopToken

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


def test_an_empty_page_says_what_it_would_show(qtbot, page):
    assert page.verdict.text() == ui_text("generation.baseline.empty")
    with qtbot.waitSignal(page.wanted):
        qtbot.mouseClick(page.generate, LEFT)


def test_it_grows_and_can_be_cancelled(qtbot, page):
    page.show_baseline(BaselineAnswer(BaselineRun((A, B), (A,), None), 20))
    assert page.generate.text() == ui_text("common.button.cancel")
    assert page.bar.isVisible()
    with qtbot.waitSignal(page.cancelled):
        qtbot.mouseClick(page.generate, LEFT)
    page.stop("Cancelled")
    assert page.verdict.text().startswith("Cancelled.")
    assert page.generate.text() == ui_text("generation.baseline.again")


def test_the_first_token_that_differs_is_marked(page):
    page.show_baseline(BaselineAnswer(BaselineRun((A, FORBIDDEN), (A, C, C), 1, Finish.LENGTH), 20))
    assert page.with_grammar.current == 1
    assert page.without.current == 1
    assert differ(2, "b", "c") in page.verdict.text()
    assert page.with_title.text() == f"{ui_text('generation.baseline.constrained')} · 2 tokens"


def differ(step, mine, free):
    return ui_text("generation.baseline.differ", step=step, mine=mine, free=free)


def sentences(baseline):
    return verdict_of(baseline).removesuffix(".").split(". ")


def reason(name, **fields):
    return ui_text(f"generation.baseline.reason.{name}", **fields)


def test_a_verdict_names_the_difference_its_reason_and_the_end():
    assert sentences(BaselineRun((A, FORBIDDEN), (A, C), 1, Finish.STOP)) == [
        differ(2, "b", "c"),
        reason("masked", mass=percent(FORBIDDEN.z)),
        ui_text("generation.baseline.end.stop"),
    ]
    assert sentences(BaselineRun((A, B), (A, C), 1))[1] == reason("mass", mass=percent(B.z))
    assert sentences(BaselineRun((A,), (A, B), None, Finish.LENGTH)) == [
        ui_text("generation.baseline.equal", count=1),
        ui_text("generation.baseline.end.length"),
    ]
    assert sentences(BaselineRun((), (A,), None)) == [ui_text("generation.baseline.nothing")]


@pytest.mark.parametrize(
    ("origin", "name"),
    [
        (StepOrigin.USER, "user"),
        (StepOrigin.FORCED_BY_USER, "user"),
        (StepOrigin.FAST_FORWARDED, "forced"),
        (StepOrigin.REPLAYED, "replayed"),
    ],
)
def test_a_token_that_was_not_sampled_has_its_own_reason(origin, name):
    assert sentences(BaselineRun((replace(B, origin=origin),), (C,), 0))[1] == reason(name)


@pytest.mark.parametrize("finish", Finish)
def test_every_end_has_a_sentence(finish):
    assert verdict_of(BaselineRun((A,), (A,), None, finish)).count(".") == 2


def test_an_output_that_changed_makes_the_baseline_stale(page):
    page.set_stale()
    assert page.verdict.text() == ui_text("generation.baseline.empty")
    baseline = BaselineRun((A,), (A,), None, Finish.STOP)
    page.show_baseline(BaselineAnswer(baseline, 20))
    page.set_stale()
    assert page.verdict.text() == ui_text("generation.baseline.stale", verdict=verdict_of(baseline))


def test_where_no_step_is_possible_nothing_is_generated(page):
    page.set_refusal("No model")
    assert not page.generate.isEnabled()
    assert page.generate.toolTip() == "No model"
