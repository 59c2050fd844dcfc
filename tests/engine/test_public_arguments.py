"""The public functions of `engine`: an argument of a wrong type is an error that names it."""

from __future__ import annotations

from typing import Any

import pytest

import engine
from engine import (
    CompiledGrammar,
    CompileOptions,
    Limits,
    Matcher,
    SourceText,
    Span,
    Vocabulary,
    compile_grammar,
    dead_ends,
)

WRONG: Any = object()
GRAMMAR = compile_grammar("regex", "a+")
VOCABULARY = Vocabulary([b"a", None], [1])


def matcher() -> Matcher:
    return Matcher(GRAMMAR, VOCABULARY)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: compile_grammar("regex", b"x"), TypeError, "source must be a string or a SourceText, not bytes"),
        (lambda: compile_grammar("regex", None), TypeError, "source must be"),
        (lambda: compile_grammar(3, "x"), TypeError, "notation must be a string, not int"),
        (lambda: compile_grammar("yaml", "x"), ValueError, "there is no notation 'yaml'"),
        (lambda: compile_grammar("regex", "x", {}), TypeError, "options must be a CompileOptions or None, not dict"),
        (lambda: compile_grammar("regex", "x", cancel=1), TypeError, "cancel must be a CancelToken or None, not int"),
        (lambda: SourceText(b"x"), TypeError, "text must be a string, not bytes"),
        (lambda: SourceText("x", 3), TypeError, "name must be a string, not int"),
        (lambda: Span("a", 2), TypeError, "start and end of a span must be integers"),
        (lambda: CompileOptions(dialect="perl"), ValueError, "dialect must be one of 'python', 'ecma', not 'perl'"),
        (lambda: CompileOptions(whitespace=None), ValueError, "whitespace must be one of "),
        (lambda: CompileOptions(draft=5), ValueError, "draft must be one of 4, 6, 7, 2019, 2020, not 5"),
        (lambda: CompileOptions(limits=3), TypeError, "limits must be a Limits, not int"),
        (lambda: Limits(nesting="x"), TypeError, "nesting must be an integer, not str"),
        (lambda: Limits(search=0), ValueError, "search must be at least 1, not 0"),
        (lambda: Vocabulary(b"ab", []), TypeError, "tokens must be a sequence of bytes, one for each id, not bytes"),
        (lambda: Vocabulary("ab", []), TypeError, "tokens must be"),
        (lambda: Vocabulary(3, []), TypeError, "tokens must be"),
        (lambda: Vocabulary([b"a"], 0), TypeError, "eos_ids must be an iterable of ids, not int"),
        (lambda: Vocabulary([b"a"], ["0"]), TypeError, "an id in eos_ids or special must be an integer, not str"),
        (lambda: Vocabulary([b"a"], [], ["x"]), TypeError, "special must be a mapping of ids to names, not list"),
        (lambda: Vocabulary([b"a"], [], {0: 1}), TypeError, "a name in special must be a string, not int"),
        (lambda: Matcher("a+", VOCABULARY), TypeError, "grammar must be a CompiledGrammar"),
        (lambda: Matcher(GRAMMAR, [b"a"]), TypeError, "vocabulary must be a Vocabulary, not list"),
        (lambda: matcher().accept("a"), TypeError, "token_id must be an integer, not str"),
        (lambda: matcher().is_allowed("a"), TypeError, "token_id must be an integer, not str"),
        (lambda: matcher().accept_bytes("a"), TypeError, "data must be bytes, not str"),
        (lambda: matcher().explain("a"), TypeError, "token must be an id or bytes, not str"),
        (lambda: matcher().rollback("a"), TypeError, "n_accepts must be an integer, not str"),
        (lambda: matcher().fill_bitmask([0]), ValueError, "a mask over this vocabulary is"),
        (lambda: GRAMMAR.fullmatch(3), TypeError, "data must be bytes or a string, not int"),
        (lambda: GRAMMAR.materialise("x"), TypeError, "limit must be an integer, not str"),
        (lambda: dead_ends("a+", VOCABULARY), TypeError, "grammar must be a CompiledGrammar, not str"),
        (lambda: dead_ends(GRAMMAR, None), TypeError, "vocabulary must be a Vocabulary, not NoneType"),
    ],
)
def test_a_wrong_argument_is_named(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert message in str(caught.value)


def test_every_public_function_and_class_is_looked_at():
    functions = {name for name in engine.__all__ if callable(getattr(engine, name))}
    errors = {name for name in functions if name.endswith("Error")}
    looked_at = {
        *("compile_grammar", "SourceText", "Span", "CompileOptions", "Limits", "Vocabulary", "Matcher", "dead_ends"),
        *("CompiledGrammar", "Explanation", "Diagnostic", "Severity", "CancelToken"),  # made by the engine, or an enum
        *("clear_caches", "warm"),  # they take no value of the user's
    }
    assert functions - errors == looked_at
    assert isinstance(GRAMMAR, CompiledGrammar)
