"""Automata of JFLAP and Graphviz open as grammars with the same texts; other files are refused with their place."""

from __future__ import annotations

import pytest
from error_keys import raises_key

from engine.analysis.equivalence import compare_languages
from engine.analysis.language_comparison import Relation
from engine.compile import CompiledGrammar, compile_grammar
from engine.export import TARGETS, ExportJob
from engine.export.automaton_files import AutomatonFileError, read_automaton_file

STATE = '<state id="{0}" name="q{0}">{1}</state>'
STEP = "<transition><from>{}</from><to>{}</to><read>{}</read></transition>"


def jff(*parts: str, kind: str = "fa") -> bytes:
    return f"<structure><type>{kind}</type><automaton>{''.join(parts)}</automaton></structure>".encode()


def exported(grammar: CompiledGrammar, target: str) -> bytes:
    return TARGETS[target].make(ExportJob(grammar)).content


def matches(grammar: str, text: str) -> bool:
    return compile_grammar("gbnf", grammar).fullmatch(text)


SMALL = jff(
    STATE.format(0, "<initial/>"),
    STATE.format(1, ""),
    STATE.format(2, "<final/>"),
    STATE.format(3, ""),
    STEP.format(0, 1, "ab"),
    STEP.format(1, 2, "[0-9]"),
    STEP.format(2, 1, ""),
    STEP.format(1, 1, "&lt;"),
    STEP.format(2, 3, "z"),
)


def test_labels_of_jflap_are_texts_ranges_and_nothing() -> None:
    grammar = read_automaton_file(SMALL, "a.jff")
    for text, is_legal in (("ab7", True), ("ab<<7<8", True), ("ab", False), ("ab7z", False), ("a7", False)):
        assert matches(grammar, text) == is_legal, text


@pytest.mark.parametrize(
    "pattern",
    ["x(a|b)(c|[d-f]y)z?", "(?:ab|[a-c]+é|c{3})*x?", r"[A-Z]{2,4}-[0-9]+(?:,\[\"\\ \])?", "[\U0001f600-\U0001f64f]+"],
)
@pytest.mark.parametrize("target", ["dot", "jflap"])
def test_what_is_exported_is_read_back_with_the_same_texts(pattern: str, target: str) -> None:
    grammar = compile_grammar("regex", pattern)
    if target == "jflap" and "\U0001f600" in pattern:
        return  # JFLAP has no such characters
    text = read_automaton_file(exported(grammar, target), f"a{'.jff' if target == 'jflap' else '.dot'}")
    found = compare_languages(grammar, compile_grammar("gbnf", text))
    assert found.is_exact
    assert found.relation is Relation.EQUAL


def test_rules_and_their_calls_are_read_back() -> None:
    grammar = compile_grammar("gbnf", 'root ::= "<" item ("," item)* ">"\nitem ::= [0-9]{2} | "(" item ")"')
    text = read_automaton_file(exported(grammar, "dot"), "a.dot")
    again = compile_grammar("gbnf", text)
    assert not again.is_regular
    for sample, is_legal in (("<00>", True), ("<((12)),34>", True), ("<(12>", False), ("<>", False)):
        assert again.fullmatch(sample) == is_legal, sample


FSM = b"""// as in the gallery of Graphviz
digraph "finite state machine" {
  rankdir=LR; size="8,5"
  node [shape = point]; begin
  node [shape = doublecircle]; s0 "s 3";
  node [shape = circle];
  begin -> s0;
  s0 -> s1 -> "s 3" [label = "a, b"];
# a comment
  s1 -> s1 [label="[x-z_]"] /* another */
  "s 3" -> s0 [label="0-9"];
  "s 3" -> s1 [label="\xce\xb5"];
  subgraph cluster_a { label = "box"; s1; }
}
"""


def test_dot_of_others_is_read_with_its_defaults() -> None:
    grammar = read_automaton_file(FSM, "fsm.gv")
    for text, is_legal in (
        ("", True),
        ("aa", True),
        ("bx_b", True),
        ("aa7", True),
        ("aaxb", True),
        ("a", False),
        ("a,", False),
    ):
        assert matches(grammar, text) == is_legal, text


@pytest.mark.parametrize(
    ("data", "name", "key"),
    [
        (jff(STATE.format(0, "<initial/>")), "a.jff", "no_final"),
        (jff(STATE.format(0, "<final/>")), "a.jff", "no_start"),
        (jff(STATE.format(0, "<initial/><final/>"), STATE.format(1, "<initial/>")), "a.jff", "starts"),
        (jff(STATE.format(0, "<initial/>"), STATE.format(1, "<final/>")), "a.jff", "no_text"),
        (jff(STATE.format(0, "<initial/><final/>"), STATE.format(0, "")), "a.jff", "state_id"),
        (jff(STATE.format(0, "<initial/><final/>"), STEP.format(0, 7, "a")), "a.jff", "no_state"),
        (jff(STATE.format(0, "<initial/><final/>"), STEP.format(0, 0, "[ab]")), "a.jff", "label"),
        (jff(kind="pda"), "a.jff", "kind"),
        (b"<structure><type>fa</type>", "a.jff", "xml"),
        (b"<html/>", "a.jff", "no_jff"),
        (b'<!DOCTYPE s [<!ENTITY a "b">]><structure><type>&a;</type></structure>', "a.jff", "doctype"),
        (b"graph { a -- b }", "a.dot", "no_digraph"),
        (b"digraph { a -> b ", "a.dot", "dot_end"),
        (b"digraph { a => b }", "a.dot", "dot"),
        (b"digraph { a -> {b c} }", "a.dot", "dot_group"),
        (b"digraph { a [label=<b>] }", "a.dot", "html"),
        (b"digraph { a -> b [label=x]; b [shape=doublecircle] }", "a.dot", "no_start"),
        (b"digraph { s [shape=point] a [shape=doublecircle] a -> s }", "a.dot", "dot_mark"),
        (b'digraph { s0 [label=0] s0 -> s0 [bytes="zz"] }', "a.dot", "exact"),
        (b"digraph \xff", "a.dot", "no_utf8"),
    ],
)
def test_other_files_are_refused_with_a_reason(data: bytes, name: str, key: str) -> None:
    with raises_key(AutomatonFileError, f"errors.automaton_file.{key}"):
        read_automaton_file(data, name)


def test_the_place_of_an_error_is_its_line() -> None:
    with raises_key(AutomatonFileError, "errors.automaton_file.dot", line=3):
        read_automaton_file(b"digraph {\n a -> b\n => }", "a.dot")


def test_a_megabyte_is_read_in_time() -> None:
    steps = "".join(f's{n} -> s{n + 1} [label="{n % 10}"];\n' for n in range(15_000))
    text = (
        f"digraph {{ i [shape=point] i -> s0; s15000 [shape=doublecircle]; {steps} {'/* ' + 'x' * 600_000 + ' */'} }}"
    )
    assert read_automaton_file(text.encode(), "a.dot").count("::=") == 15_001
