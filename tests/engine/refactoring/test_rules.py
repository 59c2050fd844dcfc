"""Refactorings of rules and expressions: what each does and refuses, and random grammars against all short texts."""

from __future__ import annotations

from itertools import product

import pytest
from error_keys import raises_key
from fuzzing import fuzz
from grammar_language import grammars, language
from hypothesis import given
from hypothesis import strategies as st
from language import ALPHABET

from engine import compile_grammar
from engine.analysis.equivalence import compare_languages
from engine.grammar import Grammar
from engine.grammar.analysis import left_recursion
from engine.grammar.print_gbnf import print_gbnf
from engine.notations import NOTATIONS
from engine.refactoring import REFACTORINGS
from engine.refactoring.proof import ProofKind, proof_of
from engine.refactoring.refactoring import GrammarSelection, RefactoringError, refactored
from engine.source import SourceText, Span

_MARK = "§"  # the cursor, or both ends of the selection
_TEXTS = ["".join(text) for length in range(4) for text in product(ALPHABET, repeat=length)]


def rewritten(refactoring: str, marked: str, notation: str = "gbnf", name: str = "") -> str:
    """Return a text with a marked position after a refactoring; regular languages are compared."""
    before, *others = marked.split(_MARK)
    start = len(before) if others else 0
    end = start + (len(others[0]) if len(others) == 2 else 0)
    text, rule = marked.replace(_MARK, ""), REFACTORINGS[refactoring]
    after, _ = refactored(rule, GrammarSelection(notation, text, Span(start, end), name=name))
    before, changed = compile_grammar(notation, text), compile_grammar(notation, after)
    if before.is_regular and changed.is_regular:  # the random grammars below are compared in another way
        compared = compare_languages(before, changed)
        assert proof_of(compared, keeps_language=False) is ProofKind.AUTOMATA
    return after


@pytest.mark.parametrize(
    ("marked", "after"),
    [
        # A use with a quantifier needs parentheses, a sequence without one does not.
        ('root ::= §a* "x" # c\na ::= "b" | "c"\n', 'root ::= ("b" | "c")* "x" # c\n'),
        ('root ::= §a* "x"\na ::= "b"+\n', 'root ::= ("b"+)* "x"\n'),
        ('root ::= §a "x"\na ::= "b" "c"\n', 'root ::= "b" "c" "x"\n'),
        ('root ::= §a "x"\na ::= [bc]\n', 'root ::= [bc] "x"\n'),
        ('root ::= "y" §a\na ::=\n', 'root ::= "y" ""\n'),
        # One use: the rule stays for the others. The definition: all uses.
        ('root ::= §a a\na ::= "b"\n', 'root ::= "b" a\na ::= "b"\n'),
        ('root ::= a a\n§a ::= "b"\n', 'root ::= "b" "b"\n'),
        # Comments: those of the body come along, the one after the rule stays.
        (
            'root ::= a\n# of a\n§a ::= ("b" | # inner\n  "c") # last\n',
            'root ::= ("b" | # inner\n  "c")\n# of a\n# last\n',
        ),
        # The use within another rule of a cycle
        ('root ::= b\n§a ::= "x" b | "y"\nb ::= "(" a ")"\n', 'root ::= b\nb ::= "(" ("x" b | "y") ")"\n'),
    ],
)
def test_a_rule_is_inlined(marked, after):
    assert rewritten("inline-rule", marked) == after


@pytest.mark.parametrize(
    ("marked", "after"),
    [
        ('root ::= "a" §"b" "c"§ "d"\n', 'root ::= "a" root-part "d"\nroot-part ::= "b" "c"\n'),
        ('root ::= "a" §("b" | "c")*§', 'root ::= "a" root-part\nroot-part ::= ("b" | "c")*'),
        ('root ::= "a" ("b"§ | "c")* # x\nq ::= ""', 'root ::= "a" root-part* # x\nroot-part ::= "b" | "c"\nq ::= ""'),
        ('root ::= "a" | §"b" | "c" §| "d"\n', 'root ::= "a" | root-part | "d"\nroot-part ::= "b" | "c"\n'),
        ('root ::= a§[b]§a\na ::= "x"\n', 'root ::= a root-part a\nroot-part ::= [b]\na ::= "x"\n'),
        ('root ::= ("a" §"b"\n "c"§)\n', 'root ::= ("a" root-part)\nroot-part ::= ("b"\n "c")\n'),
        (
            'root ::= §"a"§ root-part\nroot-part ::= "b"\n',
            'root ::= root-part-2 root-part\nroot-part-2 ::= "a"\nroot-part ::= "b"\n',
        ),
    ],
)
def test_a_selection_becomes_a_rule(marked, after):
    assert rewritten("extract-rule", marked) == after


def test_the_new_rule_has_the_given_name():
    assert rewritten("extract-rule", 'root ::= §"a"§ "b"\n', name="first") == 'root ::= first "b"\nfirst ::= "a"\n'


@pytest.mark.parametrize(
    ("notation", "marked", "after"),
    [
        ("gbnf", 'root ::= "abc" | "q" | "abd" | "ab"\n', 'root ::= "ab" ("c" | "d")? | "q"\n'),
        (
            "gbnf",
            'root ::= x "a" |\n  "q" | # why\n  "p" | x\nx ::= "x"\n',
            'root ::= x ("a")? |\n  "q" | # why\n  "p"\nx ::= "x"\n',
        ),
        ("gbnf", 'root ::= "a" ("bc"§ | "bd") | "a"\n', 'root ::= "a" ("b" ("c" | "d")) | "a"\n'),
        ("gbnf", 'root ::= "a"* "b" | "a"* "c" | "a"\n', 'root ::= "a"* ("b" | "c") | "a"\n'),
        ("gbnf", 'root ::= "a" | "a"\n', 'root ::= "a"\n'),
        ("gbnf", r'root ::= "\x41\n" | "\x41b"', r'root ::= "\x41" ("\n" | "b")'),
        ("regex", "abc|abd|ab|x+y|x+z", "ab(?:c|d)?|x+(?:y|z)"),
        ("regex", r"(\d-a§|\d-b)|c", r"(\d-(?:a|b))|c"),
        ("regex", "[ab]c|[ab]d|a{2}b|a{2}c", "[ab](?:c|d)|a{2}(?:b|c)"),
    ],
)
def test_common_prefixes_are_factored_out(notation, marked, after):
    assert rewritten("factor-prefixes", marked, notation) == after


@pytest.mark.parametrize(
    ("marked", "after"),
    [
        ('root ::= root "+" t | t # sum\nt ::= [0-9]\n', 'root ::= t ("+" t)* # sum\nt ::= [0-9]\n'),
        ('root ::= root | root "x" | root "y" | "a" | "b"', 'root ::= ("a" | "b") ("x" | "y")*'),
        ('root ::= root "x"* | "a"', 'root ::= "a" ("x"*)*'),
        # The cycle through another rule, an optional item before it, a group around it, and a repetition of it.
        ('root ::= b "x" | "y"\nb ::= root "z" | "w"', 'root ::= ("w" "x" | "y") ("z" "x")*\nb ::= root "z" | "w"'),
        ('root ::= "q"? root "x" | "y"', 'root ::= ("q" root "x" | "y") "x"*'),
        ('root ::= (root | "q") "x"', 'root ::= "q" "x" "x"*'),
        # All cycles, or the one at the cursor.
        ('root ::= a b\na ::= a "x" | "y"\nb ::= b "x" | "y"', 'root ::= a b\na ::= "y" "x"*\nb ::= "y" "x"*'),
        ('root ::= a b\na ::= a "x" | "y"\nb ::= §b "x" | "y"', 'root ::= a b\na ::= a "x" | "y"\nb ::= "y" "x"*'),
    ],
)
def test_left_recursion_is_removed(marked, after):
    found = rewritten("remove-left-recursion", marked)
    assert found == after
    if _MARK not in marked:
        assert not left_recursion(NOTATIONS["gbnf"].parse(SourceText(found), compile_grammar("gbnf", found).options)[0])


@pytest.mark.parametrize(
    ("refactoring", "marked", "key"),
    [
        ("inline-rule", '§root ::= "x"', "start_rule"),
        ("inline-rule", 'root ::= §a\na ::= "b" a | ""', "recursive"),
        ("inline-rule", 'root ::= "b"\n§a ::= "b"', "unused"),
        ("inline-rule", 'root ::= §"b"', "no_rule"),
        ("inline-rule", 'root ::= §a\na ::= "b"\na ::= "c"', "defined_twice"),
        ("inline-rule", "root ::= §a\na ::= (", "invalid"),
        ("extract-rule", 'root ::= "a§b" | "c"§', "select"),
        ("extract-rule", 'root ::= "a§"', "select"),
        ("extract-rule", 'root ::= ("a" §| "b") "c"§', "select"),
        ("factor-prefixes", 'root ::= "a" | "b"', "no_prefix"),
        ("factor-prefixes", 'root ::= "a" |\n "c" | # lost\n "ab"', "comment"),
        ("remove-left-recursion", 'root ::= "a" root | "b"', "no_left_recursion"),
        ("remove-left-recursion", 'root ::= n root "x" | "y"\nn ::= "n" | ""', "hidden_left_recursion"),
        ("remove-left-recursion", 'root ::= "a" | b\nb ::= b "x"', "no_left_recursion"),
        ("remove-left-recursion", 'root ::= root "x" | # lost\n "a"', "comment"),
        ("remove-left-recursion", 'root ::= ("n"?)* root "x" | "y"', "left_recursion_size"),
    ],
)
def test_what_cannot_be_done_is_refused(refactoring, marked, key):
    with raises_key(RefactoringError, f"errors.refactoring.{key}"):
        rewritten(refactoring, marked)


@pytest.mark.parametrize(("name", "key"), [("a b", "rule_name"), ("root", "name_taken")])
def test_a_name_that_is_none_is_refused(name, key):
    with raises_key(RefactoringError, f"errors.refactoring.{key}"):
        rewritten("extract-rule", 'root ::= §"a"§', name=name)


def test_a_refactoring_of_rules_does_not_apply_to_an_expression():
    with raises_key(RefactoringError, "errors.refactoring.notation"):
        rewritten("inline-rule", "a", "regex")


def parsed(text: str) -> Grammar:
    return NOTATIONS["gbnf"].parse(SourceText(text), compile_grammar("gbnf", text).options)[0]


@pytest.mark.parametrize("refactoring", ["inline-rule", "extract-rule", "factor-prefixes", "remove-left-recursion"])
@fuzz(6)
@given(grammar=grammars(), where=st.integers(0, 10_000))
def test_random_grammars_keep_their_short_texts(refactoring, grammar, where):
    text = print_gbnf(grammar)
    offset = where % (len(text) + 1)
    try:
        after, _ = refactored(REFACTORINGS[refactoring], GrammarSelection("gbnf", text, Span(offset, offset)))
    except RefactoringError:
        return
    assert language(parsed(after), _TEXTS) == language(grammar, _TEXTS)
