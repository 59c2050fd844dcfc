"""What a window builds only when it is looked at, or has something to say."""

from PySide6.QtCore import Qt

from app.catalogue import ui_text
from app.document import DocumentFile, GrammarPart, ModelPart
from engine.decoding.values import SamplerSettings
from engine.document.content import ExpectedText


def lates(desk):
    generation = desk.panes.generation
    pages = generation.lazy_many, generation.lazy_baseline, generation.lazy_run_until
    panes = (desk.panes[name].view for name in ("tests", "timeline", "breakpoints"))
    return [late.built for late in (*panes, *pages)]


def click_tab(desk, tabs, title):
    bar = tabs.tabBar()
    (index,) = (index for index in range(bar.count()) if bar.tabText(index).startswith(title))
    desk.qtbot.mouseClick(bar, Qt.MouseButton.LeftButton, pos=bar.tabRect(index).center())


def test_a_step_builds_none_of_them(desk):
    desk.open("a+b")
    desk.window.commands["run.step"].trigger()
    desk.wait(lambda: bool(desk.output))
    desk.qtbot.keyClick(desk.panes.editor.edit, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert lates(desk) == [None] * 6


def test_a_page_that_is_opened_late_shows_what_was_before(desk):
    desk.open("[p-z]{5}")
    for _ in range(2):
        before = desk.output
        desk.window.commands["run.step"].trigger()
        desk.wait(lambda before=before: desk.output != before)
    click_tab(desk, desk.window.dock_layout.bottom, "Timeline")
    desk.wait(lambda: "2 steps" in desk.window.panes.view("timeline").facts.text())
    click_tab(desk, desk.panes.generation.pages, ui_text("commands.view.probabilities.title"))
    assert desk.panes.view("probabilities").isVisible()
    assert ui_text("common.measure.z.name") in desk.panes.view("probabilities").facts.text


def test_verdicts_build_the_tests_behind_the_tab_that_is_shown(desk):
    desk.session.start()
    tests = (ExpectedText("aab"), ExpectedText("c"))
    grammar, model = GrammarPart(text="a+b"), ModelPart("letters")
    desk.document.replace(DocumentFile(grammar=grammar, model=model, test_strings=tests))
    bottom = desk.window.dock_layout.bottom
    desk.wait(lambda: any(bottom.tabText(i) == "Tests (1 failing)" for i in range(bottom.count())))
    assert bottom.currentWidget() is desk.panes.problems


def test_the_sampler_opens_with_what_is_in_force(desk):
    desk.open("a+b")
    desk.session.decoding.set_sampler(SamplerSettings(seed=41, top_k=3))
    desk.wait(lambda: desk.session.decoding.view.sampler.seed == 41)
    button = desk.panes.generation.sampler
    desk.qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert (button.popover.seed.value(), button.popover.numbers["top_k"].value()) == (41, 3)
    button.popover.hide()
