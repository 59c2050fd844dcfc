"""Which requests a step sends to the worker processes, and what its answer brings."""

from dataclasses import replace

import pytest

from app.window.panes import PANES
from app.workers.requests.decode import Assessment, ForcedText, StepOnce, Take, TokensRequest
from engine.decoding.values import FirstBytes

RECURSIVE = 'root ::= "(" root ")" | "a"'
GRAMMARS = [
    ("gbnf", RECURSIVE),
    ("regex", "[a-c]+x{20}"),
    ("json_schema", '{"properties": {"a": {"items": {"type": "integer"}}}, "required": ["a"]}'),
]


def is_settled(desk) -> bool:
    """Return whether everything that a step leads to has come."""
    pool, decoding = desk.session.worker_pool, desk.session.decoding
    is_idle = not any(group.pending for group in pool) and not desk.session.test_runs.is_waiting
    return is_idle and decoding.queries.forced_text is not None


@pytest.mark.parametrize(("notation", "text"), GRAMMARS)
def test_a_step_is_one_request_with_every_pane_open(desk, monkeypatch, notation, text):
    for spec in PANES:
        desk.window.commands[f"view.{spec.id}"].trigger()
    desk.open(text, notation=notation)
    decoding, compiling = desk.session.decoding, desk.session.compiling
    desk.wait(lambda: decoding.has_grammar and not decoding.is_reading_grammar)
    desk.wait(lambda: is_settled(desk))
    asked, assessed = [], []
    decoding.queries.assessed.connect(assessed.append)
    for group in (desk.session.worker_pool.compile, desk.session.worker_pool.decode):
        ask = group.ask
        monkeypatch.setattr(group, "ask", lambda request, owner, ask=ask: asked.append(request) or ask(request, owner))
    decoding.step()
    desk.wait(lambda: len(decoding.view.trace.path) == 1)
    desk.wait(lambda: desk.panes.automaton.navigation.output == decoding.view.position.output)
    desk.wait(lambda: is_settled(desk) and bool(assessed) and assessed[-1].is_about(decoding.view))
    assert asked == [StepOnce()]
    position = decoding.view.grammar_position
    assert position.output == decoding.view.position.output
    assert (position.rule_positions is not None) == (compiling.last_good.rules is not None)
    assert (compiling.last_good.output == position.output) or compiling.last_good.is_whole
    assert desk.panes.automaton.stacks.count == len(position.stacks)
    assert desk.panes.automaton.token_watch.first_bytes == decoding.view.position.first_bytes
    assert assessed[-1].verdict.data == decoding.view.position.output
    desk.window.commands["automaton.tokens"].trigger()
    desk.wait(lambda: any(isinstance(request, TokensRequest) for request in asked) and is_settled(desk))
    asked.clear()
    decoding.step()
    desk.wait(lambda: len(decoding.view.trace.path) == 2 and is_settled(desk))
    desk.wait(lambda: desk.panes.automaton.navigation.output == decoding.view.position.output)
    assert asked == [StepOnce(lists_tokens=True)]
    listed = decoding.view.tokens
    assert desk.panes.automaton.navigation.levels.tokens.total == listed.total
    assert (listed.total > 0) == (decoding.view.position.finish is None)
    decoding.back()
    desk.wait(lambda: decoding.view.position.index == 1 and is_settled(desk))
    asked.clear()
    token_id = next(one.token_id for one in decoding.view.position.candidates if one.allowed)
    decoding.choose(token_id)
    desk.wait(lambda: decoding.view.position.index == 2 and is_settled(desk))
    desk.wait(lambda: desk.panes.automaton.navigation.output == decoding.view.position.output)
    assert asked == [Take(token_id, lists_tokens=True)]


def test_a_notice_about_another_grammar_or_step_changes_nothing(desk):
    desk.open("[a-c]+x")
    decoding, group = desk.session.decoding, desk.session.worker_pool.decode
    found = []
    decoding.queries.assessed.connect(found.append)
    decoding.step()
    desk.wait(lambda: len(decoding.view.trace.path) == 1)
    desk.wait(lambda: bool(found) and found[-1].is_about(decoding.view))
    desk.wait(lambda: decoding.queries.forced_text is not None)
    (last, known), shown = (found[-1], decoding.queries.forced_text), desk.panes.generation.headline.toolTip()
    found.clear()
    for late in (replace(last, revision=last.revision - 1), replace(last, at=None)):
        group.noticed.emit(late)
        group.noticed.emit(ForcedText(late.revision, late.at, b"zzz"))
    assert not found
    assert decoding.queries.forced_text == known
    assert desk.panes.generation.headline.toolTip() == shown
    group.noticed.emit(last)
    assert [type(one) for one in found] == [Assessment]


def test_a_position_in_another_grammar_is_not_shown(desk, monkeypatch):
    desk.open(RECURSIVE, notation="gbnf")
    decoding, compiling = desk.session.decoding, desk.session.compiling
    desk.wait(lambda: not desk.session.step_refusal and decoding.has_grammar and not decoding.is_reading_grammar)
    pane, revisions = desk.panes.automaton, []
    show_stacks = pane.show_stacks

    def record(position):
        revisions.append((compiling.last_good.request.revision, decoding.view.grammar_revision))
        show_stacks(position)

    monkeypatch.setattr(pane, "show_stacks", record)
    before = decoding.view.grammar_revision
    desk.panes.editor.edit.setPlainText('root ::= "[" root "]" | "b"')
    desk.wait(lambda: any(drawn != before for drawn, _ in revisions))
    assert all(drawn == decoded for drawn, decoded in revisions)
    assert pane.stacks.count == len(decoding.view.grammar_position.stacks)


def test_counts_of_another_grammar_are_no_badges(desk):
    desk.open("[a-c]+x")
    decoding, watch = desk.session.decoding, desk.panes.automaton.token_watch
    desk.wait(lambda: isinstance(watch.first_bytes, FirstBytes))
    view = decoding.view
    desk.panes.editor.edit.setPlainText("[a-z]+y")
    desk.wait(lambda: desk.session.compiling.last_good.request.revision != view.grammar_revision)
    desk.wait(lambda: decoding.view.grammar_revision == desk.document.revision and desk.is_ready())
    desk.wait(lambda: watch.first_bytes == decoding.view.position.first_bytes)
    decoding.view_changed.emit(view)  # a late one
    assert watch.first_bytes == decoding.view.position.first_bytes != view.position.first_bytes
