"""*Why not?* under the candidates."""

from __future__ import annotations

from dataclasses import replace

import pytest
from decode_views import WHY, candidate, position, trace, view
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextDocumentFragment
from PySide6.QtWidgets import QLabel, QToolButton

from app import theme
from app.catalogue import ui_text
from app.widgets.rich_text import prose
from app.workers.requests.decode import WhyAnswer
from engine.compile import compile_grammar
from engine.decoding.stage_texts import stage_title
from engine.decoding.values import SamplerSettings, TokenStage
from engine.matching import Matcher
from engine.matching.byte_descriptions import byte_prose
from engine.matching.explanation import Explanation, Reason, RefusalKind, RefusingKeyword, TokenRefusal
from engine.source import Span
from engine.vocabulary import Vocabulary

LEFT = Qt.MouseButton.LeftButton


def test_why_not_opens_and_points_into_the_grammar(qtbot, pane):
    pane.set_source(r"a|\{")
    pane.show_why(WHY)
    assert pane.why.isVisible()
    button = next(b for b in pane.why.findChildren(type(pane.why.close_button)) if b.text() == r"\{")
    with qtbot.waitSignal(pane.span_wanted) as wanted:
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


def text(name, **fields):
    return ui_text(f"generation.why.fragment.{name}", **fields)


def test_why_not_has_a_row_for_each_stack(qtbot, pane):
    grammar = compile_grammar("gbnf", 'root ::= a | b | c\na ::= "true"\nb ::= "tra"\nc ::= [0-9]+\n')
    vocabulary = Vocabulary([b"trx", b"true"], [])
    explanation = Matcher(grammar, vocabulary).explain(0)
    pane.set_source(grammar.source.text)
    pane.show_why(WhyAnswer(0, explanation, "So it is."))
    rows = [
        label.text() for label in pane.why.findChildren(QLabel) if text("expects") in label.text() and label.isVisible()
    ]
    # Those that went farthest come first; the third never read a byte.
    assert len(rows) == 3
    assert [text("fits") in row for row in rows] == [True, True, False]
    assert [text("at_byte", number=3) in row for row in rows] == [True, True, False]
    buttons = {button.text(): button for button in pane.why.findChildren(QToolButton) if button.isVisible()}
    with qtbot.waitSignal(pane.span_wanted) as wanted:
        qtbot.mouseClick(buttons["c"], LEFT)
    span = wanted.args[0]
    assert grammar.source.text[span.start : span.end] == "[0-9]"


SCHEMA = '{"if": {"required": ["a"]}, "then": {"required": ["b"]}}'


def test_the_keyword_that_refuses_is_added_once_it_is_found_and_points_into_the_grammar(qtbot, pane):
    pane.set_source(SCHEMA)
    pane.show_why(WHY, is_searching=True)
    start = SCHEMA.index('["b"]')
    keyword = RefusingKeyword("/then/required", Span(start, start + 5), ("b",), "/if")
    pane.why.show_refusal(WHY, TokenRefusal(RefusalKind.KEYWORDS, (keyword,)))
    button = next(one for one in pane.why.findChildren(QToolButton) if one.text() == "/then/required")
    with qtbot.waitSignal(pane.span_wanted) as wanted:
        qtbot.mouseClick(button, LEFT)
    assert wanted.args == [keyword.span]
    shown = [label.text() for label in pane.why.findChildren(QLabel)]
    assert any("/if" in one for one in shown)


def test_a_refusal_of_an_earlier_token_is_not_shown(pane):
    pane.show_why(WHY, is_searching=True)
    pane.why.show_refusal(replace(WHY), TokenRefusal(RefusalKind.KEYWORDS, (RefusingKeyword("/late", Span(0, 1)),)))
    assert all(one.text() != "/late" for one in pane.why.findChildren(QToolButton))


@pytest.mark.parametrize("kind", RefusalKind)
def test_every_kind_of_refusal_has_words(pane, kind):
    pane.show_why(WHY, is_searching=True)
    before = {label.text() for label in pane.why.findChildren(QLabel)}
    keywords = tuple(RefusingKeyword(f"/{name}", Span(0, 1)) for name in "abcdef")
    pane.why.show_refusal(WHY, TokenRefusal(kind, keywords, "whitespace"))
    assert {label.text() for label in pane.why.findChildren(QLabel)} - before


def test_every_reason_can_be_shown(pane):
    for reason in Reason:
        pane.show_why(WhyAnswer(5, Explanation(reason, None), "So it is."))
        assert pane.why.isVisible()


def test_in_a_low_window_the_facts_scroll_and_are_not_squeezed(qtbot, pane):
    pane.set_source(r"a|\{")
    pane.resize(500, 380)
    pane.show_why(WHY)
    qtbot.turns()
    button = next(b for b in pane.why.findChildren(QToolButton) if b.text() == r"\{")
    assert button.height() >= button.sizeHint().height()


def test_in_a_high_window_nothing_is_hidden(qtbot, pane):
    pane.set_source(r"a|\{")
    pane.resize(700, 1200)
    pane.show_why(WHY)
    qtbot.turns()
    for button in pane.why.findChildren(QToolButton):
        assert button.visibleRegion().boundingRect() == button.rect()


def test_what_is_expected_is_said_once(qtbot, pane):
    pane.show_why(WHY)
    qtbot.turns()
    texts = [label.text() for label in pane.why.findChildren(QLabel) if label.isVisible()]
    expected = prose(byte_prose(WHY.explanation.expected), theme.Role.ALLOWED)
    assert sum(expected in text for text in texts) == 1
    assert all(prose(WHY.prose) != text for text in texts)


def test_beside_a_long_answer_there_is_room_for_ten_candidates(qtbot, pane):
    pane.resize(640, 592)  # in a window of 1280x720
    rules = "".join(f'r{index} ::= "x" "{letter}"\n' for index, letter in enumerate("abcdefgh"))
    grammar = compile_grammar("gbnf", f"root ::= {' | '.join(f'r{index}' for index in range(8))}\n{rules}")
    explanation = Matcher(grammar, Vocabulary([b"xy"], [])).explain(0)
    candidates = tuple(candidate(100 + index, b"t%d" % index, 0.01, rank=index + 1) for index in range(20))
    pane.show_view(view(trace(()), replace(position(), candidates=candidates)))
    pane.show_why(WhyAnswer(0, explanation, "Why."))
    qtbot.turns()
    table = pane.candidates.table
    seen = table.viewport().height() + pane.candidates.ends.height() * pane.candidates.ends.isVisible()
    assert seen >= 10 * table.verticalHeader().defaultSectionSize()


def test_the_numbers_after_each_stage_end_where_the_token_is_removed(pane):
    stages = (
        TokenStage("", 2.5, 0.4, 1),
        TokenStage("grammar", 2.5, 0.8, 1),
        TokenStage("temperature", 5.0, 0.96, 1),
        TokenStage("top-k", None, None, None, is_removed=True),
    )
    pane.show_why(replace(WHY, stages=stages))
    shown = QTextDocumentFragment.fromHtml(pane.why.stages.text()).toPlainText()
    assert pane.why.stages.isVisible()
    titles = [stage_title(stage.name) for stage in stages[1:]]
    assert [shown.index(title) for title in titles] == sorted(shown.index(title) for title in titles)
    for number in ("2.500", "40.0%", "80.0%", "5.000", "96.0%", ui_text("generation.why.stages.fragment.removed")):
        assert number in shown
    pane.show_why(WHY)
    assert not pane.why.stages.isVisible()
