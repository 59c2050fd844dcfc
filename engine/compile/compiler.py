"""`compile_grammar`: parse a text in any notation and build its automaton."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from types import NoneType
from typing import Final

from engine.automata.byte_automaton import DEAD
from engine.compile.compiled import CompiledGrammar
from engine.grammar.options import CompileOptions
from engine.notations import NOTATIONS
from engine.source import (
    CancelToken,
    Diagnostic,
    GrammarError,
    LimitExceededError,
    SourceText,
    Span,
    diagnostic,
)
from engine.source.arguments import require
from engine.source.collection import no_collection

# A group has three nodes, and a node needs one or two Python frames; see `Limits.nesting`.
_FRAMES_PER_NESTING = 12
_DEFAULTS: Final = CompileOptions()
_NEVER: Final = CancelToken()
"""The token of a compile that cannot be cancelled."""
_EMPTINESS_CODE = "gbnf-unproductive-rule"  # this diagnostic says already why no text matches


def compile_grammar(
    notation: str,
    source: str | SourceText,
    options: CompileOptions | None = None,
    *,
    cancel: CancelToken | None = None,
) -> CompiledGrammar:
    """Compile a grammar.

    The compile parses the text and finds diagnostics and emptiness; the tables of the automaton are filled with use.

    Args:
        notation: one of `NOTATIONS`.
        source: the grammar's text.
        options: dialect, limits and other options; `CompileOptions()` by default.
        cancel: checked every few milliseconds; receives the progress.

    Raises:
        GrammarError: the text is malformed, not supported by automata, or exceeds a limit.
        CancelledError: `cancel` was used.
        ValueError: the notation is unknown.
        TypeError: an argument has the wrong type.
    """
    require("source", source, (str, SourceText), "a string or a SourceText")
    require("options", options, (CompileOptions, NoneType), "a CompileOptions or None")
    require("cancel", cancel, (CancelToken, NoneType), "a CancelToken or None")
    require("notation", notation, str, "a string")
    if notation not in NOTATIONS:
        raise ValueError(f"there is no notation {notation!r}; there is {', '.join(NOTATIONS)}")
    options = options or _DEFAULTS
    text = source if isinstance(source, SourceText) else SourceText(source)
    cancel_scope = nullcontext() if cancel is None else cancel.scope()
    try:
        with _deep_recursion(options.limits.nesting), no_collection(), cancel_scope:
            return _compile(notation, text, options, cancel or _NEVER)
    except LimitExceededError as error:
        found = _too_large(error, text, is_schema=NOTATIONS[notation].describes_json)
        raise GrammarError((found,), text) from error


def _compile(notation: str, text: SourceText, options: CompileOptions, cancel: CancelToken) -> CompiledGrammar:
    built = NOTATIONS[notation].build(text, options, cancel)
    is_empty, found = built.automaton.start == DEAD, built.diagnostics

    def late_diagnostics() -> tuple[Diagnostic, ...]:
        return _add_emptiness(found() if callable(found) else found, is_empty, text)

    diagnostics = late_diagnostics if callable(found) else late_diagnostics()
    return CompiledGrammar(
        notation,
        text,
        options,
        diagnostics,
        built.automaton,
        is_regular=built.is_regular,
        grammar=built.grammar,
        program=built.program,
    )


@contextmanager
def _deep_recursion(nesting: int) -> Iterator[None]:
    """Raise the recursion limit for a tree of that depth. Since Python 3.11, Python frames use no C stack."""
    previous = sys.getrecursionlimit()
    sys.setrecursionlimit(previous + _FRAMES_PER_NESTING * nesting)
    try:
        yield
    finally:
        sys.setrecursionlimit(previous)


def _too_large(error: LimitExceededError, text: SourceText, *, is_schema: bool) -> Diagnostic:
    """Return the diagnostic of an exceeded limit, at its span or else at the first line of the text."""
    if error.name == "source_length":
        key = "limit-exceeded.schema-length" if is_schema else "limit-exceeded.length"
        return diagnostic(key, _first_line(text), error=error, remedy=error.remedy)
    advice = "here" if error.span else "anywhere"
    span = error.span or _first_line(text)
    if error.remedy:
        return diagnostic(f"limit-exceeded.{advice}-raised", span, error=error, remedy=error.remedy)
    return diagnostic(f"limit-exceeded.{advice}", span, error=error)


def _first_line(text: SourceText) -> Span:
    return Span(0, len(text.text.partition("\n")[0]))


def _add_emptiness(diagnostics: tuple[Diagnostic, ...], is_empty: bool, text: SourceText) -> tuple[Diagnostic, ...]:
    """Return the diagnostics with one more that says that no text matches, unless one says so already."""
    if not is_empty or any(found.code == _EMPTINESS_CODE for found in diagnostics):
        return diagnostics
    return (*diagnostics, diagnostic("matches-nothing", Span(0, len(text.text))))
