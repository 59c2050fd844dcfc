"""The one way from text to automaton."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from engine.automata.lazy import LazyAutomaton
from engine.automata.program import assemble
from engine.automata.recursion import nests_without_bound
from engine.automata.runtime import DEAD, Runtime
from engine.compile.compiled import CompiledGrammar
from engine.compile.options import NOTATIONS, CompileOptions
from engine.compile.schema import schema_automaton
from engine.grammar import Grammar, Rule
from engine.grammar.simplify import simplify_grammar
from engine.notations.gbnf import parse as parse_gbnf
from engine.notations.regex import parse as parse_regex
from engine.source import CancelToken, Diagnostic, GrammarError, LimitExceededError, Severity, SourceText, Span

# A group takes three nodes and a node takes a frame or two; see `Limits.nesting`.
_FRAMES_PER_NESTING = 12
# Where it is there, it says of the first rule why no text matches.
_TELLS_OF_EMPTINESS = "gbnf-unproductive-rule"


def compile_grammar(
    notation: str,
    source: str | SourceText,
    options: CompileOptions | None = None,
    *,
    cancel: CancelToken | None = None,
) -> CompiledGrammar:
    """Compile a grammar.

    Parsing, diagnostics and emptiness are decided here; tables are filled as the grammar is used.

    Args:
        notation: one of `NOTATIONS`.
        source: the grammar's text.
        options: dialect and limits; defaults are those of `CompileOptions()`.
        cancel: asked between the stages, and told how far the work is.

    Raises:
        GrammarError: the text is malformed, asks for what no automaton can do, or outgrows a limit.
        CancelledError: `cancel` was used.
        ValueError: there is no such notation.
    """
    if notation not in NOTATIONS:
        raise ValueError(f"there is no notation {notation!r}; there is {', '.join(NOTATIONS)}")
    options = options or CompileOptions()
    text = source if isinstance(source, SourceText) else SourceText(source)
    cancel = cancel or CancelToken()
    try:
        with _deep_recursion(options.limits.nesting):
            automaton, is_regular, diagnostics = _run(notation, text, options, cancel)
    except LimitExceededError as error:
        raise GrammarError((_too_large(error, text),), text) from error
    if automaton.start == DEAD and not any(found.code == _TELLS_OF_EMPTINESS for found in diagnostics):
        diagnostics = (*diagnostics, _matches_nothing(text))
    return CompiledGrammar(notation, text, options, diagnostics, automaton, is_regular=is_regular)


def _run(
    notation: str, text: SourceText, options: CompileOptions, cancel: CancelToken
) -> tuple[Runtime, bool, tuple[Diagnostic, ...]]:
    """What runs the grammar, whether it is regular, and the findings."""
    if notation == "json_schema":
        schema, diagnostics = schema_automaton(text, options, cancel)
        return schema, False, diagnostics
    cancel.report("parsing", 0)
    if notation == "gbnf":
        grammar, diagnostics = parse_gbnf(text, options.limits)
    else:
        node, diagnostics = parse_regex(text, options.dialect, options.limits)
        grammar = Grammar((Rule("root", node, node.span),), "root")
    cancel.report("assembling", 0)
    program = assemble(simplify_grammar(grammar), options.limits)
    is_regular = program is None or not nests_without_bound(program)
    cancel.report("looking for a match", 0)
    return LazyAutomaton(program, options.limits, cancel), is_regular, diagnostics


@contextmanager
def _deep_recursion(nesting: int) -> Iterator[None]:
    """Room for recursion over a tree of that depth; since 3.11 Python's own frames take no C stack."""
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(before + _FRAMES_PER_NESTING * nesting)
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _too_large(error: LimitExceededError, text: SourceText) -> Diagnostic:
    return Diagnostic(
        "limit-exceeded",
        Severity.ERROR,
        Span(0, len(text.text)),
        f"the grammar is too large: {error}",
        "Use smaller counts, or fewer alternatives and conditions",
    )


def _matches_nothing(text: SourceText) -> Diagnostic:
    return Diagnostic(
        "matches-nothing",
        Severity.WARNING,
        Span(0, len(text.text)),
        "no text matches this grammar, so no token is ever allowed",
        "Look for conditions that contradict each other, such as text after $ or an empty class",
    )
