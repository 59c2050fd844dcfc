"""Which requests a step sends to the worker processes."""

from app.workers.requests.decode import StepOnce


def test_a_step_is_answered_by_the_decode_process_alone(desk, monkeypatch):
    desk.open('root ::= "(" root ")" | "a"', notation="gbnf")
    decoding, compiling = desk.session.decoding, desk.session.compiling
    desk.wait(lambda: not desk.session.step_refusal and decoding.has_grammar and not decoding.is_reading_grammar)
    assert compiling.last_good.rules is not None
    asked = []
    for group in (desk.session.worker_pool.compile, desk.session.worker_pool.decode):
        ask = group.ask
        monkeypatch.setattr(group, "ask", lambda request, owner, ask=ask: asked.append(request) or ask(request, owner))
    decoding.step()
    desk.wait(lambda: len(decoding.view.trace.path) == 1)
    desk.wait(lambda: desk.panes.automaton.navigation.output == decoding.view.position.output)
    assert sum(isinstance(request, StepOnce) for request in asked) == 1
    assert all(type(request).__module__ == "app.workers.requests.decode" for request in asked)
    position = decoding.view.grammar_position
    assert position.output == decoding.view.position.output
    assert position.rule_positions is not None
    assert compiling.last_good.output == position.output
    assert desk.panes.automaton.stacks.count == len(position.stacks)


def test_a_position_in_another_grammar_is_not_shown(desk, monkeypatch):
    desk.open('root ::= "(" root ")" | "a"', notation="gbnf")
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
