"""Files of automata, opened and dropped, in a whole window with real workers."""

from __future__ import annotations


def test_an_automaton_of_another_program_opens_as_a_grammar_and_a_bad_one_says_why(desk, tmp_path):
    files = desk.window.files
    desk.open("abc")
    good = tmp_path / "fsm.dot"
    good.write_text('digraph { i [shape=point]; i -> a; a -> b [label="x"]; b [shape=doublecircle] }')
    assert files.open(good)
    desk.wait(lambda: desk.document.content.title == "fsm")
    assert desk.document.content.grammar.text.startswith("root ::= ")
    desk.wait(lambda: desk.session.compiling.last_good is not None)
    assert desk.session.compiling.last_good.dfa.run(b"x") is not None
    alarms = []
    desk.session.notification_raised.connect(alarms.append)
    bad = tmp_path / "bad.jff"
    bad.write_text("<structure>")
    files.open_dropped(bad)
    desk.wait(lambda: bool(alarms))
    assert "bad.jff" in alarms[0].text
    assert desk.document.content.title == "fsm"
