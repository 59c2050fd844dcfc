"""The tokens of a state: under the labels, as a drawing, as a table."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.modeltest import ModelTester
from pytestqt.qtbot import QtBot

from app.catalogue import ui_text
from app.graph.layout.methods import lay_out
from app.graph.layout.types import LayoutRequest
from app.panes.automaton.pane import AutomatonPane
from app.panes.automaton.view_state import ViewState
from app.workers.requests.decode import TokensAnswer, TokensRequest, TokensTo
from engine.automata.rtn.rule_positions import RulePositions
from engine.compile import compile_grammar
from engine.decoding.values import FirstBytes

DFA = compile_grammar("regex", "[a-c]+(x|y)?z").materialise()
LEFT = Qt.MouseButton.LeftButton
COUNTS = tuple({ord("a"): 7, ord("b"): 2, ord("x"): 1, ord("z"): 3}.get(byte, 0) for byte in range(256))
MASSES = tuple({ord("a"): 0.25, ord("x"): 0.00001}.get(byte, 0.0) for byte in range(256))
GROUPS = (
    TokensTo((b"ab",), ("ab", "a", "b"), 8, 0.25),
    TokensTo((b"z",), ("z",), 1, 0.125),
    TokensTo((b"xz",), ("xz", "yz"), 2, 0.5),
)


class Asked:
    """What a pane asks for; layouts are answered at once."""

    def __init__(self, pane: AutomatonPane) -> None:
        self.pane = pane
        self.tokens: list[TokensRequest] = []
        pane.tokens_wanted.connect(self.tokens.append)
        pane.layout_wanted.connect(self._answer)
        pane.show_dfa(DFA, 4)
        pane.set_live([0])

    def _answer(self, request: LayoutRequest) -> None:
        self.pane.show_layout(lay_out(request))

    def answer(self, **values: object) -> None:
        self.pane.show_tokens(TokensAnswer(self.tokens[-1], **values))  # type: ignore[arg-type]


@pytest.fixture
def pane(qtbot: QtBot) -> AutomatonPane:
    pane = AutomatonPane()
    pane.begin(ViewState(merges=False))
    qtbot.addWidget(pane)
    pane.resize(700, 500)
    pane.show()
    qtbot.waitExposed(pane)
    return pane


def badges(pane: AutomatonPane) -> dict[tuple[int, int], str]:
    return {key: caption.text for key, caption in pane.scene.badges.labels.items()}


def test_how_many_tokens_take_an_edge_stands_under_its_label(pane: AutomatonPane) -> None:
    asked = Asked(pane)
    pane.set_live([0], None, b"", FirstBytes(COUNTS, MASSES))
    assert badges(pane) == {(0, 1): "9 · 25.0%"}
    pane.set_live([1], None, b"a", FirstBytes(COUNTS))
    assert badges(pane) == {(1, 1): "9", (1, 2): "1", (1, 3): "3"}
    pane.set_live([1], None, b"ab")
    assert badges(pane) == {}
    assert not asked.tokens


def test_another_automaton_has_no_badges_until_its_position_comes(pane: AutomatonPane) -> None:
    Asked(pane)
    pane.set_live([0], None, b"", FirstBytes(COUNTS, MASSES))
    pane.show_dfa(DFA, 5)
    pane.set_live([0])
    assert badges(pane) == {}


def test_the_token_view_asks_once_for_each_position_and_model(pane: AutomatonPane, qtbot: QtBot) -> None:
    asked = Asked(pane)
    qtbot.mouseClick(pane.level_bar.tokens_button, LEFT)
    pane.set_live([0])
    assert asked.tokens == [TokensRequest(4)]
    pane.set_live([1], None, b"a")
    assert len(asked.tokens) == 2
    pane.set_token_context("a model")
    pane.set_token_context("a model")
    assert len(asked.tokens) == 3
    pane.set_token_context("another")
    assert asked.tokens == [TokensRequest(4)] * 4


def test_nothing_is_asked_for_during_a_run(pane: AutomatonPane, qtbot: QtBot) -> None:
    asked = Asked(pane)
    qtbot.mouseClick(pane.level_bar.tokens_button, LEFT)
    pane.set_running(True)
    pane.set_live([1], None, b"a")
    pane.set_live([1], None, b"ab")
    assert len(asked.tokens) == 1
    pane.set_running(False)
    assert len(asked.tokens) == 2


def test_the_tokens_of_the_live_state_are_drawn_by_where_they_lead(pane: AutomatonPane, qtbot: QtBot) -> None:
    asked = Asked(pane)
    pane.set_live([1], None, b"a")
    qtbot.mouseClick(pane.level_bar.tokens_button, LEFT)
    assert asked.tokens[-1] == TokensRequest(4, None)
    assert pane.scene.diagram is not None
    assert len(pane.scene.diagram.excerpt.states) == len(DFA.states)  # until the answer is there
    asked.answer(total=11, groups=GROUPS)
    picture = pane.scene.diagram
    assert picture is not None
    assert picture.names == {0: "1", 1: "3"}  # z and xz lead to one state of the automaton
    assert picture.labels == {(0, 1): "z  xz  yz\n3 tokens · 62.5%", (0, 0): "ab  a  b  …\n8 tokens · 25.0%"}
    assert picture.accepting == {1}
    assert pane.level_bar.note.text() == ui_text(
        "automaton.location.tokens", state=ui_text("automaton.location.fragment.live"), total=11
    )
    qtbot.mouseClick(pane.header.table_button, LEFT)
    assert pane.tokens_table.isVisible()
    rows = [[pane.tokens_model.index(row, column).data() for column in range(2, 6)] for row in range(2)]
    assert rows == [["3", "3", "62.50%", "z  xz  yz"], ["1", "8", "25.00%", "ab  a  b  …"]]
    qtbot.mouseClick(pane.header.graph_button, LEFT)
    qtbot.keyClick(pane.view, Qt.Key.Key_Backspace)
    assert pane.scene.diagram is not None
    assert len(pane.scene.diagram.excerpt.states) == len(DFA.states)


def test_another_states_tokens_are_asked_for_by_a_text_that_leads_there(pane: AutomatonPane, qtbot: QtBot) -> None:
    asked = Asked(pane)
    place = pane.view.position_of(2)
    assert place is not None
    qtbot.mouseClick(pane.view.viewport(), LEFT, pos=place.toPoint())
    qtbot.keyClick(pane.view, Qt.Key.Key_T)
    assert asked.tokens[-1] == TokensRequest(4, b"ax")
    asked.answer(total=1, groups=(TokensTo((b"z",), ("z",), 1, None),))
    assert pane.level_bar.note.text() == ui_text("automaton.location.tokens", state="state 2", total=1)
    assert pane.scene.diagram is not None
    assert pane.scene.diagram.labels == {(0, 1): "z\n1 token"}


def test_a_double_click_on_a_state_opens_its_tokens(pane: AutomatonPane, qtbot: QtBot) -> None:
    asked = Asked(pane)
    place = pane.view.position_of(1)
    assert place is not None
    qtbot.mouseDClick(pane.view.viewport(), LEFT, pos=place.toPoint())
    assert asked.tokens[-1] == TokensRequest(4, b"a")


def test_the_tokens_follow_the_match(pane: AutomatonPane, qtbot: QtBot) -> None:
    asked = Asked(pane)
    qtbot.mouseClick(pane.level_bar.tokens_button, LEFT)
    asked.answer(total=8, groups=GROUPS[:1])
    pane.set_live([1], None, b"a")
    asked.answer(total=11, groups=GROUPS)
    assert pane.scene.diagram is not None
    assert pane.scene.diagram.names[0] == "1"


def test_tokens_that_come_with_the_match_are_not_requested(pane: AutomatonPane, qtbot: QtBot) -> None:
    asked = Asked(pane)
    qtbot.mouseClick(pane.level_bar.tokens_button, LEFT)
    asked.answer(total=8, groups=GROUPS[:1])
    pane.set_live([1], None, b"a", None, TokensAnswer(TokensRequest(4), 11, GROUPS))
    assert len(asked.tokens) == 1
    assert pane.scene.diagram is not None
    assert pane.scene.diagram.names[0] == "1"
    pane.set_live([1], None, b"ab", None, TokensAnswer(TokensRequest(3), 11, GROUPS))  # of an older grammar
    assert len(asked.tokens) == 2


def test_an_answer_to_what_nobody_asks_any_more_is_dropped(pane: AutomatonPane, qtbot: QtBot) -> None:
    asked = Asked(pane)
    qtbot.mouseClick(pane.level_bar.tokens_button, LEFT)
    pane.set_live([1], None, b"a")
    pane.navigation.show_tokens_of(2)
    pane.show_tokens(TokensAnswer(asked.tokens[0], 5, GROUPS))
    assert pane.navigation.levels is not None
    assert pane.navigation.levels.tokens is None


def test_where_the_rules_are_drawn_only_the_live_tokens_have_a_place(pane: AutomatonPane) -> None:
    from app.graph.match.rules import rule_charts

    grammar = compile_grammar("gbnf", 'root ::= "(" root ")" | "x"')
    asked = Asked(pane)
    pane.show_dfa(grammar.neighbourhood(b""), 5, None, grammar.source, None, rule_charts(grammar.rule_automata()))
    pane.set_live([0], RulePositions(frozenset({(0, 0)})))
    pane.navigation.show_tokens_of(1)
    assert asked.tokens[-1] == TokensRequest(5, None)
    asked.answer(total=2, groups=(TokensTo((b"(",), ("(",), 1, 0.5), TokensTo((b"x",), ("x",), 1, 0.5)))
    assert pane.scene.diagram is not None
    assert pane.scene.diagram.names == {0: "here", 1: "after (", 2: "after x"}


def test_the_table_is_a_model_as_qt_wants_it(pane: AutomatonPane, qtmodeltester: ModelTester, qtbot: QtBot) -> None:
    asked = Asked(pane)
    qtbot.mouseClick(pane.level_bar.tokens_button, LEFT)
    asked.answer(total=11, groups=GROUPS)
    qtmodeltester.check(pane.tokens_model)


def test_groups_are_shown_by_rule_first_byte_and_target_whatever_their_counters(
    pane: AutomatonPane, qtbot: QtBot
) -> None:
    asked = Asked(pane)
    qtbot.mouseClick(pane.level_bar.tokens_button, LEFT)
    word = TokensTo((b"a", b"ab", b"abc"), ("a", "ab", "abc"), 3, 0.25, "word", "[a-c]", "end, word [a-c]")
    number = TokensTo((b"z",), ("z",), 1, 0.5, "number", "z", "end")
    asked.answer(total=4, groups=(word, number))
    qtbot.mouseClick(pane.header.table_button, LEFT)
    rows = [[pane.tokens_model.index(row, column).data() for column in range(5)] for row in range(2)]
    assert rows == [["number", "z", "end", "1", "50.00%"], ["word", "[a-c]", "1", "3", "25.00%"]]
    assert not pane.tokens_table.isColumnHidden(0)
    asked.answer(total=8, groups=GROUPS[:1])
    assert pane.tokens_table.isColumnHidden(0)
