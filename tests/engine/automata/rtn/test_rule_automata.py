"""One automaton for each rule, with call edges: the same language, and minimal."""

from __future__ import annotations

from itertools import product

import pytest
from corpora import cases
from grammar_language import grammars, language
from hypothesis import HealthCheck, given, settings
from language import ALPHABET
from rule_interpreter import RuleInterpreter

from engine.automata.nfa.program import assemble
from engine.automata.rtn.rule_automata import RuleAutomata, rule_automata
from engine.automata.rtn.rule_tracker import RuleTracker
from engine.compile import CompiledGrammar, compile_grammar
from engine.compile.compiled import NoFiniteAutomatonError
from engine.grammar import Grammar
from engine.grammar.simplify import simplify_grammar
from engine.source import CancelledError, CancelToken, GrammarError, LimitExceededError, Limits

GRAMMARS = {
    "nested": ('root ::= term ("+" term)*\nterm ::= "a" | "(" root ")"', "a+()"),
    "left recursive": ('root ::= root "+" t | t\nt ::= "a" | "(" root ")"', "a+()"),
    "hidden left recursive": ('root ::= o root "a" | "b"\no ::= "c"?', "abc"),
    "left recursive through another": ('root ::= x "b" | "a"\nx ::= root "c" | "(" x ")"', "abc()"),
    "right recursive": ('root ::= item root | ""\nitem ::= "a" | "(" root ")"', "a()"),
    "right recursive through another": ('root ::= "a" x | "b"\nx ::= "(" root ")" | root | "c" x', "abc()"),
    "nullable": ('root ::= x root x | ""\nx ::= "a" | y\ny ::= "b" | ""', "ab"),
    "nullable cycle": ('root ::= x\nx ::= root | "(" x ")" | "a"?', "a()"),
    "ambiguous": ('root ::= root root | "a" | "(" root ")" | "b"?', "ab("),
    "counted": ('root ::= "(" (root | "a"){2,3} ")" | "b"', "ab()"),
    "more than ASCII": ('root ::= "(" root ")" | [é-ü]', "(é\u00fdü)"),
}


def compiled(text: str) -> CompiledGrammar:
    return compile_grammar("gbnf", text)


def texts(alphabet: str, longest: int) -> list[bytes]:
    return ["".join(chars).encode() for length in range(longest + 1) for chars in product(alphabet, repeat=length)]


@pytest.mark.parametrize("name", GRAMMARS)
def test_the_rules_match_what_the_grammar_does(name: str) -> None:
    text, alphabet = GRAMMARS[name]
    grammar = compiled(text)
    automata = grammar.rule_automata()
    interpreter, match = RuleInterpreter(automata), RuleTracker(automata)
    start = grammar.automaton.start
    for data in texts(alphabet, 6 if len(alphabet) < 5 else 5):
        wanted = grammar.fullmatch(data)
        places = match.positions(data)
        assert (interpreter.accepts(data), places.accepting) == (wanted, wanted), data
        assert (not places.reading) == (grammar.automaton.run(start, data) == 0), data


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(grammars())
def test_random_grammars(grammar: Grammar) -> None:
    program = assemble(simplify_grammar(grammar), Limits())
    if program is None or not program.rules:
        return
    automata = rule_automata(program, 2_000)
    interpreter, match = RuleInterpreter(automata), RuleTracker(automata)
    samples = ["".join(chars) for length in range(5) for chars in product(ALPHABET, repeat=length)]
    wanted = language(grammar, samples)
    for text in samples:
        is_member = text in wanted
        assert (interpreter.accepts(text.encode()), match.positions(text.encode()).accepting) == (is_member, is_member)


@pytest.mark.parametrize("name", ["llama", "xgrammar"])
def test_the_grammars_of_the_corpora(name: str) -> None:
    wrong = []
    for case in cases(name):
        if case["kind"] != "gbnf" or case.get("dialect") == "xgrammar":
            continue
        try:
            grammar = compiled(case["source"])
        except GrammarError:
            continue
        if not grammar.has_rules:
            continue
        match = RuleTracker(grammar.rule_automata())
        texts_of = (*case["accept"], *case["reject"])
        wrong += [
            (case["id"], text)
            for text in texts_of
            if match.positions(text.encode()).accepting != grammar.fullmatch(text)
        ]
    assert wrong == []


def rules_of(text: str) -> dict[str, tuple[int, set[tuple[int, int, str]]]]:
    return {
        rule.name: (len(rule.dfa.states), {(call.source, call.target, call.rule) for call in rule.calls})
        for rule in compiled(text).rule_automata().rules
    }


def test_each_rule_is_minimal_under_its_own_name() -> None:
    found = rules_of('expr ::= term ("+" term)*\nroot ::= expr\nterm ::= "a" | "a" | "(" expr ")"')
    assert list(found) == ["root", "expr", "term"]
    assert found["expr"] == (2, {(0, 1, "term")})  # the start is where `+` leads back to
    assert found["term"] == (4, {(1, 3, "expr")})


def test_left_recursion_is_a_call_from_the_start_to_itself() -> None:
    assert rules_of('root ::= root "+" "a" | "a"')["root"][1] == {(0, 2, "root")}


def test_rules_that_are_of_no_use_are_left_out() -> None:
    assert set(rules_of('root ::= x | never\nx ::= "a" root | "b"\nnever ::= never "a"\nalone ::= "c"')) == {
        "root",
        "x",
    }


def test_states_and_edges_know_their_places() -> None:
    text = 'root ::= "a" x\nx ::= "(" root ")" | "b"'
    grammar = compiled(text)
    root, x = grammar.rule_automata().rules

    def said(spans: object) -> list[str]:
        return [grammar.source.excerpt(span) for span in spans]  # type: ignore[attr-defined]

    assert said((root.span, x.span)) == ["root", "x"]
    assert [said(state.spans) for state in root.dfa.states] == [["a"], ["x"], []]
    assert said(root.calls[0].spans) == ["x"]
    assert said(x.dfa.edges[0].spans) + said(x.dfa.edges[1].spans) == ["(", "b"]


def test_tokens_taken_whole_are_edges_too() -> None:
    (root,) = compiled('root ::= <think> root "a" | !<[7]> | <think> "b"').rule_automata().rules
    assert [(edge.tokens.names, edge.tokens.ids, edge.tokens.negated) for edge in root.tokens] == [
        (("<think>",), (), False),
        ((), (7,), True),
    ]


def test_a_grammar_without_text_has_no_rules() -> None:
    with pytest.raises(NoFiniteAutomatonError):
        compiled('root ::= "a" root').rule_automata()
    assert not compiled('root ::= "a" root').has_rules
    assert not RuleTracker(RuleAutomata(())).positions(b"a").reading


@pytest.mark.parametrize(("notation", "text"), [("json_schema", "{}"), ("regex", "a+")])
def test_what_is_not_made_of_rules_says_so(notation: str, text: str) -> None:
    grammar = compile_grammar(notation, text)
    assert not grammar.has_rules
    with pytest.raises(NoFiniteAutomatonError):
        grammar.rule_automata()


def test_the_limit_counts_all_rules_together() -> None:
    text = 'root ::= "(" root ")" | x\nx ::= "a"{30}'
    size = compiled(text).rule_automata(40).size
    assert size <= 40
    with pytest.raises(LimitExceededError):
        compiled(text).rule_automata(size - 10)


def test_a_cancel_ends_the_work() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        compiled(GRAMMARS["nested"][0]).rule_automata(cancel=cancel)


ARITHMETIC = 'root ::= expr "="\nexpr ::= term ("+" term)*\nterm ::= "a" | "(" expr ")"'


def test_places_are_the_states_that_read_next_and_the_calls_around_them() -> None:
    automata = compiled(ARITHMETIC).rule_automata()
    names = [rule.name for rule in automata.rules]
    match = RuleTracker(automata)

    def told(data: bytes) -> tuple[set[str], set[tuple[str, str]]]:
        places = match.positions(data)
        return {names[rule] for rule, _ in places.reading}, {(names[a], names[b]) for a, _, b in places.waiting}

    assert told(b"") == ({"term"}, {("root", "expr"), ("expr", "term")})
    assert told(b"(") == ({"term"}, {("root", "expr"), ("expr", "term"), ("term", "expr")})
    assert told(b"(a") == ({"expr", "term"}, {("root", "expr"), ("expr", "term"), ("term", "expr")})
    assert told(b"a") == ({"expr", "root"}, {("root", "expr")})
    assert told(b"a=") == ({"root"}, set())
    assert told(b"a=a") == (set(), set())
    assert told(b"(a)") == told(b"a")  # and back


def test_a_text_that_goes_on_is_not_read_again() -> None:
    match = RuleTracker(compiled(ARITHMETIC).rule_automata())
    for data in (b"((a", b"((a+", b"((b", b"((a)", b"", b"(a)=", b"(a)=a", b"(a)="):
        assert match.positions(data) == RuleTracker(compiled(ARITHMETIC).rule_automata()).positions(data)


def test_a_list_written_by_right_recursion_takes_one_return_for_each_item() -> None:
    match = RuleTracker(compiled('root ::= "a" root | "(" root ")" | "b"').rule_automata())
    assert match.positions(b"a" * 20_000).reading
    assert match.positions(b"a" * 20_000 + b"b").accepting


def test_an_ambiguous_text_with_few_items_and_many_steps_is_refused() -> None:
    match = RuleTracker(compiled('root ::= x root?\nx ::= [a-z]+ | "b"').rule_automata())
    assert match.positions(b"abcdefgh" * 10).accepting
    with pytest.raises(LimitExceededError):
        match.positions(b"abcdefgh" * 60)  # 350,000 items, found 37 million times


def test_too_many_ways_are_refused_and_the_next_text_is_followed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.automata.rtn.rule_tracker.MOST_ITEMS", 300)
    match = RuleTracker(compiled('root ::= root root | "a" | "(" root ")"').rule_automata())
    with pytest.raises(LimitExceededError):
        match.positions(b"a" * 100)
    assert match.positions(b"a" * 3).accepting
    with pytest.raises(LimitExceededError):
        match.positions(b"a" * 100)
    assert match.positions(b"").reading
