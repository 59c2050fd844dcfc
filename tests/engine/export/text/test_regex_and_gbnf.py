"""A regex as GBNF, and GBNF as a regex."""

from __future__ import annotations

import pytest
from catalogue_texts import text_pattern
from lockstep import difference

from engine.compile import compile_grammar
from engine.export import to_gbnf, to_regex
from engine.export.text.conversion import NotConvertibleError
from engine.source import GrammarError
from engine.source.catalogue import catalogue_text


@pytest.mark.parametrize(
    "pattern", [r"[A-Z]+: [a-z]+\n", r"(?=.*b)[ab]{2,6}", r"\bfoo\b|x{3000}", "", r"[^a]\B.", "é|[€😀]"]
)
def test_a_regex_as_gbnf(pattern):
    regex = compile_grammar("regex", pattern)
    written = compile_grammar("gbnf", to_gbnf(regex).text)
    assert difference(regex, written) == ""
    assert written.diagnostics == ()


def test_an_empty_language_stays_one():
    assert compile_grammar("gbnf", to_gbnf(compile_grammar("regex", r"a\bb")).text).is_empty


def test_gbnf_as_a_regex():
    gbnf = compile_grammar("gbnf", 'root ::= x+ ("-" | x)\nx ::= [a-z\\n] "]"{2,3} | "\\\\"\n')
    conversion = to_regex(gbnf)
    assert difference(gbnf, compile_grammar("regex", conversion.text)) == ""
    assert conversion.notes == ()
    cut = to_regex(compile_grammar("gbnf", 'root ::= "(" root? ")"'), depth=2)
    assert cut.text == r"\((?:\(\))?\)"
    assert cut.notes == (catalogue_text("export.note.fragment.cut", depth=2),)


def test_recursion_that_needs_no_stack_becomes_a_loop():
    for source, text in (('root ::= "a" root?', "a+"), ('root ::= root "a" | "b"', "ba*")):
        assert to_regex(compile_grammar("gbnf", source)).text == text


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ('root ::= "(" root ")" | "a"', text_pattern("errors.export.recursive", name="root")),
        ("root ::= <think>", "no tokenset"),
    ],
)
def test_gbnf_that_no_regex_can_say(source, message):
    with pytest.raises(GrammarError, match=message):
        to_regex(compile_grammar("gbnf", source))


def test_what_is_written_in_a_notation_is_not_converted_to_it():
    with pytest.raises(NotConvertibleError):
        to_gbnf(compile_grammar("gbnf", 'root ::= "a"'))
    with pytest.raises(NotConvertibleError):
        to_regex(compile_grammar("regex", "a"))
