"""The compile group: text in, diagnostics and a drawable automaton out."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from app.graph.folding import fold
from app.workers.exporting import export
from app.workers.messages import (
    CompileAnswer,
    CompileRequest,
    ExportAnswer,
    ExportRequest,
    NeighbourhoodAnswer,
    NeighbourhoodRequest,
)
from engine.source import CancelToken, Diagnostic, GrammarError, LimitExceededError, Severity, Span

if TYPE_CHECKING:
    from app.workers.loop import Emit
    from engine.automata.dfa import ByteDfa
    from engine.compile import CompiledGrammar

MATERIALISE_STATES = 20_000  # beyond, the minimal automaton is not computed at all
DRAWN_STATES = 4_000  # beyond, the window gets the surroundings of the live state instead
DRAWN_EDGES = 20_000  # the same: the window reads them all, and that must not take it longer than a frame
DRAWING_SECONDS = 1.0  # the same beyond this time: findings and steps should not wait for a picture
RADIUS, NODES = 2, 60  # of those surroundings


class _TooSlowError(Exception):
    """A picture takes longer than it is worth."""


class _Deadline(CancelToken):
    """Passes a cancel on, and ends the work by itself when its time is over."""

    def __init__(self, cancel: CancelToken, seconds: float) -> None:
        super().__init__()
        self._outer = cancel
        self._end = time.perf_counter() + seconds

    def check(self) -> None:
        """Raise where the work should stop."""
        self._outer.check()
        if time.perf_counter() > self._end:
            raise _TooSlowError


class CompileHandler:
    """Compiles, and keeps the last grammar for requests about it."""

    def __init__(self) -> None:
        self._request: CompileRequest | None = None
        self._grammar: CompiledGrammar | None = None

    def warm(self) -> None:
        """Import what a compile needs."""
        import engine.compile.compiler  # noqa: F401

    def runs_beside(self, request: Any) -> bool:
        """Compiles follow one another."""
        return False

    def handle(self, request: Any, cancel: CancelToken, emit: Emit) -> Any:
        """Answer a `CompileRequest`, `NeighbourhoodRequest` or `ExportRequest`."""
        match request:
            case CompileRequest():
                return self._compile(request, cancel)
            case NeighbourhoodRequest():
                return self._neighbourhood(request, cancel)
            case ExportRequest():
                return self._export(request, cancel)
        raise TypeError(f"the compile group does not know {type(request).__name__}")

    def _grammar_of(self, request: CompileRequest, cancel: CancelToken) -> CompiledGrammar:
        from engine.compile import compile_grammar

        if self._grammar is None or self._request != request:
            self._grammar = compile_grammar(request.notation, request.text, request.options, cancel=cancel)
            self._request = request
        return self._grammar

    def _compile(self, request: CompileRequest, cancel: CancelToken) -> CompileAnswer:
        self.warm()  # what the first compile imports is no part of its time
        started = time.perf_counter()
        dfa, too_large = None, ""
        try:
            grammar = self._grammar_of(request, cancel)
            diagnostics = grammar.diagnostics
        except GrammarError as error:
            diagnostics = error.diagnostics
        except LimitExceededError as error:
            span = Span(0, len(request.text))
            diagnostics = (Diagnostic("limit-exceeded", Severity.ERROR, span, str(error), "Make the grammar smaller"),)
        else:
            dfa, too_large = _drawable(grammar, cancel)
        elapsed_ms = (time.perf_counter() - started) * 1000
        folded = fold(dfa) if dfa is not None else None
        return CompileAnswer(request.revision, diagnostics, dfa, too_large, elapsed_ms, folded)

    def _neighbourhood(self, request: NeighbourhoodRequest, cancel: CancelToken) -> NeighbourhoodAnswer:
        grammar = self._grammar_of(request.compiled, cancel)
        dfa = grammar.neighbourhood(request.output, radius=RADIUS, limit=NODES)
        return NeighbourhoodAnswer(request.compiled.revision, dfa, fold(dfa))

    def _export(self, request: ExportRequest, cancel: CancelToken) -> ExportAnswer:
        def make() -> str:
            from engine.export.dot import MOST_STATES, to_dot

            grammar = self._grammar_of(request.compiled, cancel)
            return to_dot(grammar.materialise(MOST_STATES, cancel=cancel), grammar.source)

        return export(request, make)


def _drawable(grammar: CompiledGrammar, cancel: CancelToken) -> tuple[ByteDfa, str]:
    """The whole automaton, or its beginning and why not more."""
    if not grammar.is_regular:
        kind = "JSON Schema" if grammar.notation == "json_schema" else "Recursive grammar"
        return grammar.neighbourhood(b"", radius=RADIUS, limit=NODES), f"{kind}: drawn around the live state"
    try:
        dfa = grammar.materialise(MATERIALISE_STATES, cancel=_Deadline(cancel, DRAWING_SECONDS))
        if len(dfa.states) <= DRAWN_STATES and len(dfa.edges) <= DRAWN_EDGES:
            return dfa, ""
        size = f"{len(dfa.states):,} states"
    except LimitExceededError:
        size = f"More than {MATERIALISE_STATES:,} states"
    except _TooSlowError:
        size = "Thousands of states"
    surroundings = grammar.neighbourhood(b"", radius=RADIUS, limit=NODES)
    return surroundings, f"{size}: drawn around the live one only"
