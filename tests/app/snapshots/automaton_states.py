"""The automaton at all its levels, and what opens in its pane."""

from __future__ import annotations

from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from app.catalogue import ui_text
from app.graph.layout.methods import lay_out
from app.graph.match.counters import merge
from app.graph.match.folding import fold_characters
from app.graph.match.regions import regions_of
from app.graph.match.rules import rule_charts
from app.panes.automaton.pane import AutomatonPane
from app.workers.grammar_position import stack_report
from app.workers.requests.decode import TokensAnswer, TokensRequest, TokensTo
from app.workers.requests.grammar_position import GrammarPosition
from engine.automata.rtn.rule_tracker import RuleTracker
from engine.compile import compile_grammar
from engine.diagnosis.test_strings.coverage import coverage, single_rule, uses_of
from engine.source import Span
from tests.app.snapshots.making import POLL_MS, State, shown

RULES = 'root ::= expr "="\nexpr ::= term ("+" term)*\nterm ::= "a" | "(" expr ")"'
MANY = RULES + ' | long\nlong ::= ("b" "c"?){50}'
PATTERN = r"(19|20)[0-9]{2}-(0[1-9]|1[0-2])"
LONG = "[ab]{60}(x|y)z"
TOKENS = "[a-c]+(x|y)?z"


def pane() -> AutomatonPane:
    """An empty pane; layouts are answered at once."""
    made = AutomatonPane()
    shown(made, 680, 440)
    made.layout_wanted.connect(lambda request: made.show_layout(lay_out(request)))
    return made


def rules(text: str, output: bytes, *, live: bool = False, stacks: bool = False, rule: str = "") -> QWidget:
    """A grammar whose rules nest, and where an output stands in it."""
    made, grammar = pane(), compile_grammar("gbnf", text)
    automata = grammar.rule_automata()
    made.show_dfa(grammar.neighbourhood(output), 1, None, grammar.source, None, rule_charts(automata))
    made.show_too_large(ui_text("session.excerpt.part", size=ui_text("workers.compile.size.recursive")))
    places = RuleTracker(automata).positions(output)
    made.set_live([0], places, output)
    open_, more = stack_report(grammar, output)
    made.show_stacks(GrammarPosition(output, open_, more, places))
    if live:
        made.level_bar.live_button.click()
    if stacks:
        made.footer.stacks_button.click()
    if rule:
        made.level_bar.rule_box.setCurrentText(rule)
        made.level_bar.rule_wanted.emit(rule)
    QTest.qWait(POLL_MS)
    return made


def regular(
    pattern: str, output: bytes, *, find: str = "", minimap: bool = False, covered: tuple[str, ...] = ()
) -> QWidget:
    """A regular expression, and where an output stands in it."""
    made, grammar = pane(), compile_grammar("regex", pattern)
    dfa = grammar.materialise(1_000)
    folded = fold_characters(dfa)
    regions = regions_of(dfa, folded, grammar.grammar.rules[0].node, grammar.source)
    made.show_dfa(dfa, 1, None, grammar.source, folded, None, regions, merge(dfa, folded))
    state = dfa.run(output)
    made.set_live([] if state is None else [state], None, output)
    if covered:
        automata = single_rule(dfa, Span(0, len(pattern)))
        made.show_coverage(coverage(automata, [uses_of(automata, text.encode()) for text in covered]), 1)
        made.footer.coverage_button.click()
    if minimap:
        made.footer.map_button.click()
        for _ in range(4):
            made.view.zoom_in()
    if find:
        made.find_bar.open_bar()
        made.find_bar.field.setText(find)
    QTest.qWait(POLL_MS)
    return made


def tokens(*, as_table: bool = False) -> QWidget:
    """Where the tokens of a state lead."""
    made, grammar = pane(), compile_grammar("regex", TOKENS)
    made.show_dfa(grammar.materialise(), 4, None, grammar.source)
    made.set_live([1], None, b"a")
    groups = (
        TokensTo((b"ab",), ("ab", "a", "b", "ca"), 8, 0.25),
        TokensTo((b"z",), ("z",), 1, 0.125),
        TokensTo((b"x",), ("x", "y", "bx"), 3, 0.5),
    )
    made.level_bar.tokens_button.click()
    made.show_tokens(TokensAnswer(TokensRequest(4, None), total=12, groups=groups))
    if as_table:
        made.header.table_button.click()
    QTest.qWait(POLL_MS)
    return made


def empty_language() -> QWidget:
    """A grammar that no text matches."""
    made, grammar = pane(), compile_grammar("regex", "[^\\s\\S]")
    made.show_dfa(grammar.materialise(), 1, None, grammar.source)
    QTest.qWait(POLL_MS)
    return made


STATES: dict[str, State] = {
    "automaton-rules": lambda: rules(RULES, b"(a"),
    "automaton-overview": lambda: rules(MANY, b"(a"),
    "automaton-one-rule": lambda: rules(MANY, b"(a", rule="term"),
    "automaton-neighbourhood": lambda: rules(RULES, b"(a", live=True),
    "automaton-stacks": lambda: rules(RULES, b"(a", stacks=True),
    "automaton-regions": lambda: regular(LONG, b"abab"),
    "automaton-found": lambda: regular(PATTERN, b"20", find="-"),
    "automaton-found-nothing": lambda: regular(PATTERN, b"20", find="ü"),
    "automaton-minimap": lambda: regular(PATTERN, b"20", minimap=True),
    "automaton-coverage": lambda: regular(PATTERN, b"20", covered=("2024-01",)),
    "automaton-tokens": tokens,
    "automaton-tokens-table": lambda: tokens(as_table=True),
    "automaton-nothing": empty_language,
}
