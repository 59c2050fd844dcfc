import math
import subprocess
import sys
from dataclasses import replace

import pytest
from decode_views import CANDIDATES, PARTIAL_CANDIDATES, candidate, partial_position, position
from PySide6.QtCore import Qt

from app.catalogue import ui_text
from app.panes.probabilities.pane import MOST_BARS, ProbabilitiesPane, axis_label, most_probable, rank_curves
from engine.decoding.stage_texts import stage_title
from engine.decoding.values import mask_shift


@pytest.fixture
def pane(qtbot):
    pane = ProbabilitiesPane()
    qtbot.addWidget(pane)
    pane.resize(480, 400)
    pane.show()
    return pane


def facts(removed, z, kl, shift, entropy, choices):
    names = ui_text("probabilities.facts.removed"), ui_text("common.measure.z.name")
    names += ui_text("probabilities.facts.kl"), ui_text("probabilities.facts.shift")
    names += ui_text("common.measure.entropy.name"), ui_text("probabilities.facts.choices")
    values = removed, z, kl, shift, entropy, choices
    return " · ".join(f"{name} {value}" for name, value in zip(names, values, strict=True))


def test_it_starts_empty(pane):
    assert pane.plot is None
    assert pane.facts.isHidden()


def test_it_draws_the_most_probable_tokens(qtbot, pane):
    pane.show_position(position())
    qtbot.waitUntil(lambda: pane.plot is not None)
    assert [c.token_id for c in pane.plot.rows] == [11, 10, 12, 13, 0]
    assert pane.facts.text == facts("50.0%", "50.0%", "0.693 nats", "0.216 nats", "1.50 → 0.75 nats", "4.5 → 2.1")


def test_it_draws_again_and_clears(qtbot, pane):
    pane.show_position(position())
    qtbot.waitUntil(lambda: pane.plot is not None)
    pane.show_position(position(CANDIDATES[:2]))
    qtbot.waitUntil(lambda: len(pane.plot.rows) == 2)
    pane.show_position(None)
    assert pane.facts.isHidden()


def test_a_hidden_pane_imports_nothing(qtbot):
    pane = ProbabilitiesPane()
    qtbot.addWidget(pane)
    pane.show_position(position())
    qtbot.turns()
    assert pane.plot is None


def test_no_mass_at_all_is_an_infinite_divergence(pane):
    pane.show_position(position(z=0.0, kl=math.inf))
    assert pane.facts.text == facts("100%", "0%", "∞", "0.693 nats", "1.50 → 0.75 nats", "4.5 → 2.1")


def test_values_without_a_model_are_not_shown_as_zero(pane):
    pane.show_position(replace(position(), z=None, kl=None, entropy=None, entropy_masked=None))
    assert pane.facts.text == facts("–", "–", "–", "–", "–", "–")


def test_there_are_at_most_so_many_bars():
    many = tuple(candidate(i, b"a", 1 / (i + 2), rank=i) for i in range(100))
    assert len(most_probable(many)) == MOST_BARS
    assert most_probable(many)[0].token_id == 0


def test_a_masked_token_has_a_cross_and_a_long_one_is_cut():
    assert axis_label(CANDIDATES[0]) == "✗ Sure"
    assert axis_label(candidate(1, b"internationalization", 0.1)) == "internationaliz…"


def test_importing_the_panes_loads_neither_pyqtgraph_nor_what_runs_models():
    code = (
        "import sys, app.panes.generation, app.panes.probabilities\n"
        "heavy = {'pyqtgraph', 'torch', 'transformers', 'numba'} & set(sys.modules)\n"
        "sys.exit(', '.join(heavy) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_unknown_numbers_have_bounds(pane):
    pane.show_position(partial_position())
    kl = f"0.693–{ui_text('probabilities.facts.nats', value=-math.log(0.4))}"
    entropy = ui_text("probabilities.facts.entropy", before="1.25–2.50", after="?")
    shift = f"0.216–{ui_text('probabilities.facts.nats', value=mask_shift(0.4))}"
    assert pane.facts.text == facts("50.0–60.0%", "40.0–50.0%", kl, shift, entropy, "3.5–12.2 → ?")
    model = pane.waterfall.model
    assert [model.index(0, column).data() for column in range(1, 4)] == ["?", "? · ?", "?"]
    tip = model.index(0, 0).data(Qt.ItemDataRole.ToolTipRole)
    assert ui_text("probabilities.tip.unknown", stage="mask") in tip


def test_tokens_with_unknown_probabilities_have_no_bars():
    assert [row.token_id for row in most_probable(PARTIAL_CANDIDATES)] == [11, 10]


def test_the_waterfall_shows_what_each_stage_removed(pane, qtmodeltester):
    pane.show_position(position())
    model = pane.waterfall.model
    qtmodeltester.check(model)
    rows = [[model.index(row, column).data() for column in range(4)] for row in range(model.rowCount())]
    assert rows == [
        ["mask", "50.0%", "998 · 50.0%", "50.0%"],
        [stage_title("temperature"), "50.0%", "–", "10.0%"],
        [stage_title("top-k"), "37.5%", "1 · 25.0%", "25.0%"],
    ]
    assert not pane.waterfall.isHidden()
    pane.show_position(None)
    assert pane.waterfall.isHidden()


def test_the_curves_by_rank_have_no_gaps():
    listed = (candidate(1, b"a", 0.5, rank=1), candidate(2, b"b", 0.25, allowed=False, rank=2))
    before, after = rank_curves((*listed, candidate(0, None, 0.01, rank=90, is_eos=True)))
    assert before == [0.5, 0.25]
    assert after == [1.0, 0.02]


def test_the_curve_is_drawn_with_the_bars(qtbot, pane):
    pane.show_position(position())
    qtbot.waitUntil(lambda: pane.plot is not None)
    assert pane.plot.curve.isVisible()
    assert [len(curve.yData) for curve in pane.plot.curve.getPlotItem().listDataItems()] == [4, 2]
