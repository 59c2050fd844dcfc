"""From text to automaton: what compiles, what is refused and how, and the source map."""

from __future__ import annotations

import re

import pytest
from catalogue_texts import text_pattern

from engine import (
    CancelledError,
    CancelToken,
    CompileOptions,
    GrammarError,
    LimitExceededError,
    Limits,
    compile_grammar,
)
from engine.automata.byte_automaton import DEAD
from engine.source import Severity, Span
from engine.source.catalogue import catalogue_text


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ("[A-Z]+: [a-z]+\n", ["A: a\n", "AB: xyz\n"], ["", "A: a", "a: a\n", "A:a\n"]),
        ("(a|a)*b", ["b", "aab"], ["", "a", "ba"]),
        (r"(?=.*[0-9])(?=.*[a-z]).{8,64}", ["abcdefg1", "1" * 63 + "a"], ["abcdefgh", "12345678", "a1", "a1" * 33]),
        (r"\bfoo\b.*\bbar\b", ["foo bar", "foo-bar"], ["foobar", "foo barx"]),
        (r"(?<=a)b|c", ["c"], ["b", "ab"]),
        (r"a(?<=a)b", ["ab"], ["b"]),
        (r"(?<!a)b", ["b"], ["ab"]),
        (r"(?:(?<!a)b|a)+", ["a", "b", "ba", "bba"], ["ab", ""]),
        (r"(?<=\bfoo)-x|foo-x", ["foo-x"], ["-x"]),
        (r".{2,3}", ["ab", "éü", "日本語"], ["a", "abcd", "a\nb"]),
        (r"(?m)(^\w+$\n?)+", ["ab", "ab\ncd", "ab\n"], ["", "\nab"]),
        (r"(?!.*foo).*", ["", "fo", "bar"], ["foo", "xfoox"]),
        (r"(a?b?){3}", ["", "ab", "ababab", "bbb"], ["bbbb", "abababa"]),
        (r"(?:\b|a){3}-?", ["a-", "aaa", "a"], ["aaaa"]),
    ],
)
def test_whole_texts(pattern: str, yes: list[str], no: list[str]) -> None:
    grammar = compile_grammar("regex", pattern)
    assert [text for text in yes if not grammar.fullmatch(text)] == []
    assert [text for text in no if grammar.fullmatch(text)] == []
    for text in (*yes, *no):
        assert bool(re.fullmatch(pattern, text)) == grammar.fullmatch(text), text


def test_bytes_that_are_no_text_never_match() -> None:
    grammar = compile_grammar("regex", r"[^a]*")
    assert grammar.fullmatch(b"\xc3\xa9")
    assert not grammar.fullmatch(b"\xc3")
    assert not grammar.fullmatch(b"\xff")
    assert not grammar.fullmatch("\ud800")


@pytest.mark.parametrize("pattern", ["(a|a)*b", r"\p{L}{1,500}", r"(?=.*[0-9])(?=.*[a-z]).{8,64}", "(a{1,300}){1,300}"])
def test_what_must_compile(pattern: str) -> None:
    grammar = compile_grammar("regex", pattern)
    assert not grammar.is_empty
    assert grammar.is_regular
    assert grammar.diagnostics == ()


def test_only_what_can_be_completed_may_come_next() -> None:
    automaton = compile_grammar("regex", "(?!ab)a[a-c]|x(?=y)z").automaton
    after_a = automaton.run(automaton.start, b"a")
    assert automaton.expected(after_a) == ((ord("a"), ord("a")), (ord("c"), ord("c")))
    assert automaton.run(automaton.start, b"x") == DEAD


def test_an_empty_language_compiles_with_a_warning() -> None:
    grammar = compile_grammar("regex", "a(?!b)(?=b)")
    assert grammar.is_empty
    assert [d.code for d in grammar.diagnostics] == ["matches-nothing"]
    assert grammar.materialise().start is None
    assert grammar.neighbourhood(b"").start is None


@pytest.mark.parametrize("text", ["root ::= [b-a]", "root ::= root", 'root ::= "a" x\nx ::= x "b"'])
def test_an_empty_gbnf_grammar_is_told_of_by_its_rules_alone(text: str) -> None:
    grammar = compile_grammar("gbnf", text)
    assert grammar.is_empty
    warnings = [d for d in grammar.diagnostics if d.severity is Severity.WARNING]
    assert "matches-nothing" not in {d.code for d in warnings}
    assert len([d for d in warnings if text[d.span.start : d.span.end] == "root"]) == 1


@pytest.mark.parametrize(
    ("notation", "text"),
    [
        ("regex", "a(?!b)(?=b)"),
        ("regex", "(a{1000}){1000}"),
        ("regex", "(" * 300),
        ("regex", "a" * 1_000_001),
        ("gbnf", 'root ::= ("a"{1000}){1000}'),
        ("gbnf", "root ::= " + "(" * 300),
        ("json_schema", '{"allOf": [{"type": "string"}, {"type": "null"}]}'),
        ("json_schema", '{"type": "nothing"}'),
        ("json_schema", '{"$ref": "https://example.org/x"}'),
        ("json_schema", '{"$ref": "#"}'),
        ("json_schema", "{"),
    ],
)
def test_a_hint_is_something_to_do_and_ends_without_a_full_stop(notation: str, text: str) -> None:
    try:
        found = compile_grammar(notation, text).diagnostics
    except GrammarError as error:
        found = error.diagnostics
    assert found
    for finding in found:
        assert finding.hint
        assert not finding.hint.endswith(".")
        assert "limit" not in finding.hint or "--limit " in finding.hint, "a limit is named with what raises it"


def test_a_limit_is_a_diagnostic_with_its_numbers() -> None:
    with pytest.raises(GrammarError, match=text_pattern("errors.limit.more", what="instructions", limit=10)):
        compile_grammar("regex", "abcdefghijkl", CompileOptions(limits=Limits(instructions=10)))
    grammar = compile_grammar("regex", ".{1,255}")
    with pytest.raises(LimitExceededError, match=text_pattern("errors.limit.more", limit=100)):
        grammar.materialise(100)


def test_a_million_repetitions_meet_a_limit_and_do_not_hang() -> None:
    with pytest.raises(GrammarError, match=r"1,000,000"):
        compile_grammar("regex", "(x{1000}){1000}")


def test_a_step_that_outgrows_a_limit_says_so() -> None:
    grammar = compile_grammar("regex", "(?:a|b)*a(?:a|b){30}", CompileOptions(limits=Limits(configurations=500)))
    with pytest.raises(LimitExceededError, match="configurations"):
        grammar.materialise()


def test_cancelling() -> None:
    cancel = CancelToken()
    cancel.cancel()
    with pytest.raises(CancelledError):
        compile_grammar("regex", "a", cancel=cancel)
    grammar = compile_grammar("regex", "a")
    with pytest.raises(CancelledError):
        grammar.materialise(cancel=cancel)


def test_progress_is_told() -> None:
    heard = []
    compile_grammar("regex", "a", cancel=CancelToken(lambda what, _done, _total: heard.append(what)))
    assert heard[:2] == ["parsing", "assembling"]


def test_there_is_no_such_notation() -> None:
    with pytest.raises(ValueError, match="regex"):
        compile_grammar("prolog", "a")


def excerpts(grammar, spans) -> list[str]:  # type: ignore[no-untyped-def]
    return [grammar.source.excerpt(span) for span in spans]


def test_the_source_map_of_configurations_and_edges() -> None:
    grammar = compile_grammar("regex", "[A-Z]+: [a-z]+")
    automaton = grammar.automaton
    assert excerpts(grammar, automaton.spans(automaton.start)) == ["[A-Z]"]
    after = automaton.run(automaton.start, b"A")
    assert excerpts(grammar, automaton.spans(after)) == ["[A-Z]", ":"]
    colon = automaton.classes.of_byte[ord(":")]
    assert excerpts(grammar, automaton.edge_spans(after, colon)) == [":"]


def test_a_merged_state_carries_every_place() -> None:
    grammar = compile_grammar("regex", "xb|yb")
    dfa = grammar.materialise()
    state = dfa.run(b"x")
    assert state is not None
    assert state == dfa.run(b"y")
    assert [span.start for span in dfa.states[state].spans] == [1, 4]
    (edge,) = [e for e in dfa.edges if e.source == state]
    assert [span.start for span in edge.spans] == [1, 4]


def test_a_condition_points_at_itself() -> None:
    grammar = compile_grammar("regex", "(?=.*7)[0-9]+")
    dfa = grammar.materialise()
    assert dfa.start is not None
    assert "7" in excerpts(grammar, dfa.states[dfa.start].spans)


def test_a_neighbourhood_knows_its_rim() -> None:
    grammar = compile_grammar("regex", "abcdef")
    part = grammar.neighbourhood(b"ab", radius=2)
    assert len(part.states) == 3
    assert part.boundary == {2}
    assert part.run(b"cd") == 2


def test_deep_nesting_is_refused_with_its_number_or_compiles() -> None:
    assert compile_grammar("regex", "(" * 150 + "a" + ")*" * 150).fullmatch("aaa")
    with pytest.raises(GrammarError, match="2,500"):
        compile_grammar("regex", "(" * 5000 + "a" + ")" * 5000)


def test_a_long_pattern_compiles() -> None:
    assert compile_grammar("regex", "(?:abc|[d-f]x)" * 5_000).automaton.start != DEAD


def test_a_search_for_a_match_does_not_go_round_as_often_as_a_count_lets_it() -> None:
    grammar = compile_grammar("regex", r"(?=.{1,1024}$)(?=[a-z.]+@[a-z]+\.[a-z]{2}$).*")
    assert grammar.automaton.size < 50


def test_the_indentation_of_a_schema_does_not_count_as_its_length() -> None:
    options = CompileOptions(limits=Limits(source_length=20))
    assert compile_grammar("json_schema", '{\n          "type":\n          "null"\n}', options).fullmatch("null")


@pytest.mark.parametrize("notation", ["regex", "gbnf", "json_schema"])
def test_a_text_that_is_too_long_is_marked_at_its_first_line_and_told_what_counts(notation: str) -> None:
    options = CompileOptions(limits=Limits(source_length=20))
    with pytest.raises(GrammarError) as caught:
        compile_grammar(notation, "first\n" + "x" * 30, options)
    (finding,) = caught.value.diagnostics
    assert (finding.code, finding.span) == ("limit-exceeded", Span(0, 5))
    length = "schema-length" if notation == "json_schema" else "length"
    assert finding.hint == catalogue_text(
        f"diagnostics.limit-exceeded.{length}.hint",
        remedy=catalogue_text("errors.limit.remedy", name="source_length", value=40),
    )
