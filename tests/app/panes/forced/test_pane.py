"""The pane of forced text by hand: its pages, its tables, and what the mouse and the keys do."""

import math

import pytest
from decode_views import FORCED
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest

from app.catalogue import ui_text
from app.panes.forced.pane import ForcedPane, Page
from app.panes.forced.wording import begins, continuation, part_of
from app.workers.requests.forced import (
    CompareSpellings,
    ForcedAnswer,
    IndexAnswer,
    ListedForm,
    SpellingRow,
    SpellingsAnswer,
    StrategiesAnswer,
    StrategyRow,
)
from engine.decoding.forced.strategies import STRATEGIES

ROWS = (
    SpellingRow((5,), ("name",), -1.5, (0.9, 0.1), 0.0, is_own=True, is_likeliest=True),
    SpellingRow((1, 2), ("n", "ame"), -math.inf, (None, math.nan), 0.0, is_own=False, is_likeliest=False),
)


@pytest.fixture
def pane(qtbot):
    pane = ForcedPane()
    qtbot.addWidget(pane)
    pane.resize(1200, 300)
    pane.show()
    qtbot.waitExposed(pane)
    return pane


def click(widget, at=None):
    if at is None:
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton)
    else:
        QTest.mouseClick(widget, Qt.MouseButton.LeftButton, pos=at)


def click_run(pane, row):
    table = pane.runs.table
    click(table.viewport(), table.visualRect(table.model().index(row, 0)).center())


def answer(before=b"", part="name", most=16, **values):
    request = CompareSpellings(1, before, part, most)
    defaults = {"run": b'{"name":"', "part": (2, 6), "count": 8, "rows": ROWS, "following": (b'John"', b"")}
    return SpellingsAnswer(request, **{**defaults, **values})


def test_it_asks_for_what_comes_into_view(qtbot, pane):
    pane.hide()
    with qtbot.waitSignal(pane.wanted) as wanted:
        pane.show()
    assert wanted.args == [Page.RUNS]
    for page in (Page.STRATEGIES, Page.INDEX, Page.RUNS):
        with qtbot.waitSignal(pane.wanted) as wanted:
            click(pane.switches.button(page))
        assert wanted.args == [page]
        assert pane.page is page


def test_runs_are_listed_by_bytes_and_by_tokens(pane):
    pane.runs.show_forced(FORCED)
    pane.runs.show_here(b'{"name":"')
    rows = pane.runs.table.rows.rows
    assert [(row.text, row.where, row.ways) for row in rows] == [
        ('{"name":"', ui_text("common.fragment.here"), ""),
        ('{"name":"', "0 → 9", "36"),
        ('ohn","age":', "10 → 24", "48"),
        ("0 · }", ui_text("forced.runs.fragment.one_token", state=25), "1"),
    ]
    states, edges = ui_text("common.count.states", count=28), ui_text("common.count.edges", count=28)
    assert pane.runs.summary.text() == ui_text(
        "forced.runs.merged", states=states, edges=edges, merged_states=5, merged_edges=5
    )


def test_the_models_are_sound(qtmodeltester, pane):
    pane.runs.show_forced(FORCED)
    qtmodeltester.check(pane.runs.table.rows)
    pane.runs.spellings.show_answer(answer())
    qtmodeltester.check(pane.runs.spellings.spellings)


def test_a_click_on_a_run_compares_its_first_word(qtbot, pane):
    pane.runs.show_forced(FORCED)
    with qtbot.waitSignal(pane.runs.compare_wanted) as wanted:
        click_run(pane, 0)
    assert wanted.args == [b"", "name", 16]
    assert pane.runs.compare.text() == ui_text("common.button.cancel")
    pane.runs.show_spellings(answer())
    assert pane.runs.compare.text() == ui_text("forced.tokenizations.compare.label")
    total = ui_text("forced.tokenizations.some", total=ui_text("forced.tokenizations.count", count=8), listed=2)
    assert pane.runs.status.text() == ui_text("forced.tokenizations.sorted", total=total)
    model = pane.runs.spellings.spellings
    texts = [[model.index(row, column).data() for column in range(model.columnCount())] for row in range(2)]
    own, likeliest = (ui_text(f"forced.tokenizations.fragment.{mark}") for mark in ("own", "likeliest"))
    assert texts == [
        ["name", f"{own} · {likeliest}", "−1.50", "90.0%", "10.0%"],
        ["n · ame", "", "−∞", "–", "–"],
    ]
    heads = [model.headerData(column, Qt.Orientation.Horizontal) for column in range(5)]
    titles = [ui_text("common.word.tokens"), "", ui_text("forced.tokenizations.column.fragment.log_p")]
    followers = ('John"', ui_text("common.fragment.end"))
    assert heads == titles + [ui_text("forced.tokenizations.column.fragment.next", text=text) for text in followers]
    assert pane.grab().width() == 1200  # it can be painted


def test_more_spellings_are_listed_where_there_are_more(qtbot, pane):
    pane.runs.show_forced(FORCED)
    click_run(pane, 0)
    pane.runs.show_spellings(answer(count=2))
    assert not pane.runs.more.isVisible()
    pane.runs.show_spellings(answer(count=300))
    with qtbot.waitSignal(pane.runs.compare_wanted) as wanted:
        click(pane.runs.more)
    assert wanted.args == [b"", "name", 64]
    assert not pane.runs.more.isVisible()
    pane.runs.show_spellings(answer(count=300, most=64))
    with qtbot.waitSignal(pane.runs.compare_wanted) as wanted:
        click(pane.runs.compare)
    assert wanted.args == [b"", "name", 16]


def test_another_part_is_typed(qtbot, pane):
    pane.runs.show_forced(FORCED)
    click_run(pane, 0)
    pane.runs.show_spellings(answer())
    pane.runs.part.selectAll()
    with qtbot.waitSignal(pane.runs.compare_wanted) as wanted:
        QTest.keyClicks(pane.runs.part, "am")
        QTest.keyClick(pane.runs.part, Qt.Key.Key_Return)
    assert wanted.args == [b"", "am", 16]
    pane.runs.show_spellings(answer())  # of the part before: too late
    assert pane.runs.compare.text() == ui_text("common.button.cancel")
    pane.runs.show_spellings(answer(part="am", why_not="No tokens"))
    assert pane.runs.status.text() == "No tokens"
    assert pane.runs.spellings.spellings.rowCount() == 0


def test_the_arrow_keys_choose_a_run_and_one_token_has_nothing_to_compare(qtbot, pane):
    pane.runs.show_forced(FORCED)
    click_run(pane, 0)
    with qtbot.waitSignal(pane.runs.compare_wanted) as wanted:
        QTest.keyClick(pane.runs.table, Qt.Key.Key_Down)
    assert wanted.args == [b'{"name":"J', "ohn", 16]
    with qtbot.assertNotEmitted(pane.runs.compare_wanted):
        QTest.keyClick(pane.runs.table, Qt.Key.Key_Down)
    assert pane.runs.choose.text() == ui_text("forced.runs.single_token")
    assert pane.runs.choose.isVisible()


def test_a_comparison_can_be_cancelled(qtbot, pane):
    pane.runs.show_forced(FORCED)
    click_run(pane, 0)
    with qtbot.waitSignal(pane.runs.cancelled):
        click(pane.runs.compare)
    pane.runs.stop("Cancelled")
    assert pane.runs.status.text() == "Cancelled"
    with qtbot.waitSignal(pane.runs.compare_wanted):
        click(pane.runs.compare)


def test_what_must_come_here_follows_the_output(pane):
    pane.runs.show_forced(FORCED)
    pane.runs.show_here(b"abc")
    click_run(pane, 0)
    assert pane.runs.part.text() == "abc"
    pane.runs.show_here(b"")
    assert next(row.where for row in pane.runs.table.rows.rows) == "0 → 9"
    assert pane.runs.choose.isVisible()


NEEDS_STACK = ui_text("workers.forced.needs_stack")


def test_why_there_is_no_list(pane):
    pane.runs.show_forced(ForcedAnswer(1, why_not=NEEDS_STACK))
    assert pane.runs.empty.text() == ui_text("forced.runs.failed", reason=NEEDS_STACK)
    assert pane.runs.empty.isVisible()
    pane.runs.show_forced(ForcedAnswer(1, states=(3, 3), edges=(2, 2), form=ListedForm.COMPACT))
    empty, form = ui_text("forced.runs.empty"), ui_text("forced.form.compact.long")
    assert pane.runs.empty.text() == f"{empty}. {form}."
    pane.runs.forget()
    assert pane.runs.empty.text() == ui_text("forced.runs.waiting")


def test_without_a_model_nothing_is_asked(qtbot, pane):
    pane.runs.show_forced(FORCED)
    pane.runs.set_refusal(ui_text("session.refusal.no_model"))
    with qtbot.assertNotEmitted(pane.runs.compare_wanted):
        click_run(pane, 0)
    assert pane.runs.status.text() == ui_text("session.refusal.no_model")
    assert not pane.runs.compare.isEnabled()


def rows_of(*calls):
    return tuple(
        StrategyRow(strategy, 12, count, 12 - count, 0, count / 10, count / 8, "a text")
        for strategy, count in zip(STRATEGIES.names, calls, strict=False)
    )


def test_strategies_are_measured(qtbot, pane):
    click(pane.switches.button(Page.STRATEGIES))
    page = pane.strategies
    assert page.summary.text() == ui_text("forced.strategies.empty")
    assert not page.table.isVisible()
    with qtbot.waitSignal(page.wanted):
        click(page.measure)
    page.begin()
    with qtbot.waitSignal(page.cancelled):
        click(page.measure)
    page.show_answer(StrategiesAnswer(rows_of(12), 4))
    assert page.bar.value() == 1
    page.show_answer(StrategiesAnswer(rows_of(12, 2, 3, 14), 4))
    assert page.summary.text() == ui_text(
        "forced.strategies.saved",
        strategy=STRATEGIES["longest"].title,
        calls=2,
        all_calls=12,
        seconds=0.25,
        all_seconds=1.5,
    )
    cells = [[page.table.item(row, column).text() for column in range(9)] for row in range(4)]
    assert cells[0][:8] == [STRATEGIES["none"].title, "12", "12", "–", "0", "1.20", "1.50", "–"]
    assert cells[1][3] == "10"
    assert cells[3][3] == "-2"
    assert cells[1][7] == "83%"
    page.forget()
    assert not page.table.isVisible()


def test_measuring_that_ends_early_says_why(pane):
    click(pane.switches.button(Page.STRATEGIES))
    pane.strategies.begin()
    pane.strategies.stop("Cancelled")
    assert pane.strategies.summary.text() == "Cancelled"
    pane.strategies.show_answer(StrategiesAnswer(rows_of(12), 4, "The stage `budget` leaves no token"))
    assert pane.strategies.summary.text() == "The stage `budget` leaves no token"
    assert pane.strategies.measure.text() == ui_text("forced.strategies.measure.again")
    pane.strategies.set_refusal(ui_text("session.refusal.no_model"))
    assert not pane.strategies.measure.isEnabled()


def test_a_measurement_that_saves_nothing_says_so(pane):
    pane.strategies.show_answer(StrategiesAnswer(rows_of(12, 12, 12, 13), 4))
    assert pane.strategies.summary.text() == ui_text("forced.strategies.nothing_saved")


def test_the_index_is_shown_and_copied(pane):
    click(pane.switches.button(Page.INDEX))
    assert not pane.index.copy.isEnabled()
    pane.index.show_answer(IndexAnswer(1, "0: {5: 1}   a", "{0: {5: 1}}\n", 2, 1))
    assert pane.index.text.toPlainText() == "0: {5: 1}   a"
    states, transitions = ui_text("common.count.states", count=2), ui_text("common.count.transitions", count=1)
    assert pane.index.summary.text() == ui_text("forced.index.size", states=states, transitions=transitions)
    click(pane.index.copy)
    assert QGuiApplication.clipboard().text() == "{0: {5: 1}}\n"
    pane.index.show_answer(IndexAnswer(1, "0: …", "", 2, 1_000_000))
    assert ui_text("forced.index.too_long") in pane.index.summary.text()
    assert not pane.index.copy.isEnabled()
    pane.index.show_answer(IndexAnswer(1, why_not=NEEDS_STACK))
    assert pane.index.summary.text() == ui_text("forced.index.failed", reason=NEEDS_STACK)
    assert not pane.index.text.isVisible()


def test_the_strategy_is_chosen_by_keys(qtbot, pane):
    pane.strategy.setFocus()
    with qtbot.waitSignal(pane.strategy_chosen) as chosen:
        QTest.keyClick(pane.strategy, Qt.Key.Key_Down)
    assert chosen.args == ["longest"]
    with qtbot.assertNotEmitted(pane.strategy_chosen):
        pane.show_strategy("probable")
    assert pane.strategy.currentText() == STRATEGIES["probable"].title


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b'{"name":"', "name"),
        (b'ohn","age":', "ohn"),
        (b"0}", "0}"),
        (b'","a":', '","a":'),
        ("é日本".encode(), "é日本"),
        (b"\xff\xfe", ""),
    ],
)
def test_the_part_that_is_looked_at_first(data, part):
    assert part_of(data) == part


def test_words():
    assert begins(b"a" * 30) == "a" * 17 + "…"
    assert continuation(b"") == ui_text("common.fragment.end")
