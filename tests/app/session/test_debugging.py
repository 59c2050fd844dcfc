"""Runs that stop by themselves, with real workers."""

import re
from dataclasses import replace

import pytest
from catalogue_texts import shows
from model_doubles import decode_handler

from app.catalogue import capitalised, ui_text
from app.document import Autosave, Document, DocumentFile, GrammarPart, ModelPart
from app.session import Session, WorkerPool
from engine.decoding.debugging.breakpoints import Breakpoint, BreakpointKind, ConditionBreakpoint
from engine.decoding.debugging.run_until import Goal, RunUntil
from engine.decoding.values import Finish

A, B = ord("a") - 0x20, ord("b") - 0x20
GBNF = 'root ::= "(" word ")" tail\nword ::= [ab]{3} more\nmore ::= "c" [x]\ntail ::= "z" [yz]*\n'


@pytest.fixture
def session(workers, qtbot, tmp_path):
    session = Session(Document(Autosave(tmp_path / "autosave")), WorkerPool(decode_handler=decode_handler))
    session.start()
    yield session
    session.close()


@pytest.fixture
def opened(session, qtbot):
    def open_(text, notation="gbnf", **more):
        grammar = GrammarPart(text=text, notation=notation)
        session.document.replace(DocumentFile(grammar=grammar, model=ModelPart("letters"), **more))
        qtbot.waitUntil(lambda: session.step_refusal == "")
        return session

    return open_


def output(session):
    position = session.decoding.view.position
    return position.output.decode() if position else None


def run(session, qtbot, until=None):
    """Run, and why it stopped; empty at the end of the generation."""
    ended = []
    heard = session.decoding.run_ended.connect(ended.append)
    session.debugging.run_until(until)
    qtbot.waitUntil(lambda: not session.decoding.is_running)
    session.decoding.run_ended.disconnect(heard)
    return ended[0] if ended else ""


def take(session, qtbot, text):
    for letter in text:
        before = output(session)
        session.decoding.take(ord(letter) - 0x20)
        qtbot.waitUntil(lambda before=before, letter=letter: output(session) == before + letter)


def test_a_run_stops_at_a_rule_and_goes_on_from_there(opened, qtbot):
    session = opened(GBNF, breakpoints=(Breakpoint(BreakpointKind.RULE, "more", label="more"),))
    assert run(session, qtbot) == ui_text("session.run.breakpoint_before", token="c", names="the rule more")
    assert re.fullmatch(r"\([ab]{3}", output(session))
    session.debugging.toggle(Breakpoint(BreakpointKind.RULE, "tail"))
    assert "tail" in run(session, qtbot)
    assert output(session).endswith("cx)")
    assert [one.name for one in session.document.content.breakpoints] == ["more", "tail"]
    assert session.document.is_modified


def test_a_run_says_which_condition_stopped_it(opened, qtbot):
    budget = ConditionBreakpoint("budget", 200)
    session = opened(GBNF, conditions=(budget,), max_tokens=200)
    hits = []
    session.debugging.condition_hit.connect(hits.append)
    assert shows(run(session, qtbot), "session.run.condition_before")
    assert (len(output(session)), hits) == (1, [budget])
    session.debugging.set_stop_points((replace(budget, enabled=False),))
    assert session.document.content.conditions == (replace(budget, enabled=False),)
    run(session, qtbot)
    assert session.decoding.view.position.finish is Finish.STOP


def test_one_that_is_switched_off_stops_nothing(opened, qtbot):
    off = Breakpoint(BreakpointKind.RULE, "more", enabled=False)
    session = opened(GBNF, breakpoints=(off,))
    assert run(session, qtbot, RunUntil(Goal.RULE_EXIT, "word")) == capitalised(
        ui_text("decoding.run.rule_exit", name="word")
    )


def test_over_and_out(opened, qtbot):
    session = opened(GBNF)
    take(session, qtbot, "(")
    assert shows(run(session, qtbot, RunUntil(Goal.OVER)), "decoding.run.over")
    assert output(session).endswith("cx")
    session.decoding.restart()
    qtbot.waitUntil(lambda: output(session) == "")
    take(session, qtbot, "(a")
    assert shows(run(session, qtbot, RunUntil(Goal.OUT)), "decoding.run.out")
    assert output(session).endswith("cx")


def test_a_place_in_a_regular_expression(opened, qtbot):
    session = opened("[ab]{5}x[yz]{2}", "regex")
    session.debugging.toggle_at(7)
    qtbot.waitUntil(lambda: bool(session.debugging.breakpoints))
    assert run(session, qtbot) == ui_text("session.run.breakpoint_before", token="x", names="x")
    assert len(output(session)) == 5
    session.debugging.toggle_at(7)
    qtbot.waitUntil(lambda: not session.debugging.breakpoints)


def test_a_state_of_the_whole_automaton(opened, qtbot):
    session = opened("[ab]{5}x[yz]{2}", "regex")
    state = session.compiling.last_good.dfa.run(b"aaa")
    why = run(session, qtbot, RunUntil(Goal.STATE, state=state, label="the middle"))
    assert (why, len(output(session))) == (capitalised(ui_text("decoding.run.state", name="the middle")), 3)
    session.debugging.toggle(Breakpoint(BreakpointKind.STATE, state=session.compiling.last_good.dfa.run(b"aaaaa")))
    assert run(session, qtbot).startswith("Breakpoint")
    assert len(output(session)) == 5


def test_a_state_of_a_rule_waits_until_the_places_are_known(opened, qtbot):
    session = opened('root ::= "(" root ")" | "[" root "]" | num\nnum ::= [0-9]{3}\n')
    rules = session.compiling.last_good.rules
    assert rules is not None
    middle = rules.rules[rules.names.index("num")].dfa.run(b"1")
    why = run(session, qtbot, RunUntil(Goal.STATE, "num", state=middle))
    assert why
    assert re.fullmatch(r"[(\[]*[0-9]", output(session))


def test_the_end_and_a_count(opened, qtbot):
    session = opened("[ab]{9}", "regex")
    assert run(session, qtbot, RunUntil(Goal.TOKENS, count=4)) == ui_text("decoding.run.tokens", count=4)
    assert run(session, qtbot) == ""
    assert session.decoding.view.position.finish is Finish.STOP or session.decoding.view.position.accepting


def test_nothing_is_over_where_the_grammar_has_no_say(opened, qtbot):
    session = opened(GBNF)
    session.decoding.force(B)
    qtbot.waitUntil(lambda: output(session) == "b")
    assert "forced" in run(session, qtbot, RunUntil(Goal.OUT))


def test_where_nothing_is_read_there_is_no_breakpoint(opened, qtbot):
    session = opened("(?x)a  # nothing\n", "regex")
    with qtbot.waitSignal(session.debugging.breakpoint_refused) as refused:
        session.debugging.toggle_at(10)
    assert ui_text("workers.decode.nothing_read") in refused.args[0]


def test_the_baseline_is_generated_and_can_be_cancelled(opened, qtbot):
    session = opened("[ab]{6}", "regex")
    answers = []
    session.debugging.baseline_written.connect(answers.append)
    session.debugging.run_baseline()
    qtbot.waitUntil(lambda: bool(answers) and answers[-1].run.finish is not None)
    session.decoding.set_max_tokens(100_000)
    with qtbot.waitSignal(session.debugging.baseline_stopped) as stopped:
        session.debugging.run_baseline()
        session.debugging.cancel_baseline()
    assert stopped.args == ["Cancelled"]
    assert not session.debugging.is_running_baseline


def test_an_edit_switches_off_what_has_other_numbers_now(opened, qtbot):
    rule = Breakpoint(BreakpointKind.RULE, "root")
    state = Breakpoint(BreakpointKind.STATE, state=2, label="state 2")
    session = opened("[ab]{5}x", "regex", breakpoints=(rule, state))
    assert session.debugging.breakpoints == (rule, state)
    session.document.set_text("[ab]{4}x")
    qtbot.waitUntil(lambda: session.debugging.breakpoints != (rule, state))
    kept, outdated = session.debugging.breakpoints
    assert kept == rule
    assert (outdated.enabled, outdated.label) == (False, "state 2 " + ui_text("session.run.fragment.outdated"))


def test_a_part_of_a_schema(opened, qtbot):
    schema = '{"type": "array", "items": {"enum": [1, 2]}, "minItems": 3, "maxItems": 3}'
    session = opened(schema, "json_schema")
    session.debugging.toggle_at(schema.index("enum"))
    qtbot.waitUntil(lambda: bool(session.debugging.breakpoints))
    assert session.debugging.breakpoints[0].name == "/items"
    for items in (0, 1, 2):
        assert shows(run(session, qtbot), "session.run.breakpoint_before", names="/items")
        assert len(re.findall("[12]", output(session))) == items
    session.debugging.set_stop_points(())
    assert run(session, qtbot, RunUntil(Goal.RULE_EXIT, "/items")) == capitalised(
        ui_text("decoding.run.rule_exit", name="/items")
    )
