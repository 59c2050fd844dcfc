"""The compile group: grammar text in, diagnostics and a drawable automaton out.

Exports are imported with their first request, since the user waits for the first diagnostics: importing them takes a
seventh of the time in which this process starts.
"""

from __future__ import annotations

import codecs
import pickle
import time
from itertools import accumulate
from typing import TYPE_CHECKING

from app.graph.match.counters import merge
from app.graph.match.folding import fold_characters
from app.graph.match.regions import FOLDED_BEYOND, regions_of
from app.graph.match.rules import UnfoldedCalls, unfold_calls
from app.workers.bounded_work import TooMuchWorkError, bounded_work
from app.workers.grammar_position import DRAWING_WORK, PositionReader
from app.workers.loop import Handler, Job, handles
from app.workers.requests.compile import (
    CompileAnswer,
    CompileRequest,
    CountStacks,
    DescribeAnswer,
    DescribeRequest,
    Diagnosed,
    DrawNfa,
    DrawRailroad,
    FindNfaStates,
    FormatAnswer,
    FormatRequest,
    LintAnswer,
    LintRequest,
    Mapped,
    NfaDrawing,
    StackCounts,
    UnfoldCalls,
)
from app.workers.requests.export import ExportRequest, ListExports
from engine.compile import compile_grammar
from engine.grammar.options import CompileOptions
from engine.notations import NOTATIONS
from engine.notations.editing import apply_edits
from engine.source import (
    CancelledError,
    CancelToken,
    GrammarError,
    LimitExceededError,
    Severity,
    SourceText,
    Span,
    diagnostic,
)
from engine.source.collection import no_collection

if TYPE_CHECKING:
    from app.graph.layout.railroad import RailroadDrawing
    from app.workers.nfa import NfaReader
    from app.workers.requests.export import ExportAnswer, ExportList
    from engine.automata.rtn.rule_positions import RulePositions
    from engine.compile import CompiledGrammar
    from engine.diagnosis.targets.llama_stacks import StackCounter
    from engine.notations.notation import FindingsReader
    from engine.notations.railroad import Railroad
    from engine.source import Diagnostic


class CompileHandler(Handler):
    """Compiles grammars, and keeps the last one for requests about it."""

    def __init__(self) -> None:
        super().__init__()
        self._request: CompileRequest | None = None
        self._readers: dict[str, FindingsReader | None] = {}  # by notation
        self._positions: PositionReader | None = None  # of the last grammar that compiled
        self._railroad: tuple[CompileRequest, Railroad] | None = None  # of the last text that was drawn
        self._nfa: NfaReader | None = None  # of the last grammar whose nondeterministic automaton was drawn
        self._counted: CompileRequest | None = None  # the grammar of the counter
        self._counter: StackCounter | None = None

    def _positions_of(self, request: CompileRequest, cancel: CancelToken) -> PositionReader:
        if self._positions is None or self._request != request:
            # A text that does not compile keeps the last good grammar: the window still shows it.
            grammar = compile_grammar(request.notation, request.text, request.options, cancel=cancel)
            self._positions, self._request = PositionReader(grammar), request
        return self._positions

    def _grammar_of(self, request: CompileRequest, cancel: CancelToken) -> CompiledGrammar:
        return self._positions_of(request, cancel).grammar

    @handles(CompileRequest)
    def _compile(self, request: CompileRequest, job: Job) -> CompileAnswer:
        try:
            with job.cancel.scope(), no_collection():  # the next text waits until this one has ended
                return self._compiled(request, job)
        except CancelledError:
            self._positions = self._request = None  # its automaton was left in the middle of a step
            raise

    def _compiled(self, request: CompileRequest, job: Job) -> CompileAnswer:
        cancel = job.cancel
        started = time.perf_counter()
        dfa, too_large, rules, why_no_rules, rule_positions, regions = None, "", None, "", None, None
        rule_automata, positions = b"", None
        early = self._emit_early_findings(request, job)
        try:
            if early is not None and any(one.severity is Severity.ERROR for one in early):
                diagnostics = early  # a compile would read all of the text again, and find the same
            else:
                positions = self._positions_of(request, cancel)
                grammar = positions.grammar
                diagnostics = grammar.diagnostics
        except GrammarError as error:
            diagnostics = error.diagnostics
        except LimitExceededError as error:
            span = Span(0, len(request.text))
            diagnostics = (diagnostic("limit-exceeded.other", span, error=error),)
        if diagnostics != early:
            job.emit(Diagnosed(request.revision, diagnostics))
        self._emit_map(request, job)
        if positions is not None:
            dfa, too_large = positions.drawable_automaton(cancel)
            if too_large or (grammar.has_rules and len(dfa.states) > FOLDED_BEYOND):
                rules, why_no_rules = positions.rule_charts(cancel)
                rule_positions = positions.rule_positions(b"", cancel)
                if positions.rule_automata is not None:
                    rule_automata = pickle.dumps(positions.rule_automata, pickle.HIGHEST_PROTOCOL)
        elapsed_ms = (time.perf_counter() - started) * 1000
        character_dfa = fold_characters(dfa) if dfa is not None else None
        if dfa is not None and not too_large and rules is None and grammar.grammar is not None:
            regions = regions_of(dfa, character_dfa, grammar.grammar.rules[0].node, grammar.source)
        return CompileAnswer(
            request.revision,
            diagnostics,
            dfa,
            too_large,
            elapsed_ms,
            character_dfa,
            rules,
            rule_positions,
            regions,
            why_no_rules,
            rule_automata,
            None if dfa is None else merge(dfa, character_dfa),
        )

    def _emit_early_findings(self, request: CompileRequest, job: Job) -> tuple[Diagnostic, ...] | None:
        """Send what reading the text finds, where that takes a part of the time of a compile; else return None."""
        if request.notation not in self._readers:
            self._readers[request.notation] = NOTATIONS[request.notation].findings_reader()
        reader = self._readers[request.notation]
        if reader is None:
            return None
        try:
            found = reader.findings(SourceText(request.text), request.options.limits)
        except LimitExceededError:  # the compile reports it
            return None
        job.emit(Diagnosed(request.revision, found))
        return found

    def _emit_map(self, request: CompileRequest, job: Job) -> None:
        """Send the map of a schema."""
        found = NOTATIONS[request.notation].schema_map(request.text, request.options)
        job.emit(Mapped(request.revision, found))

    @handles(ListExports)
    def _list_exports(self, request: ListExports, job: Job) -> ExportList:
        from app.workers.exporting import list_exports  # start-up time: 40 ms

        return list_exports(request, self._grammar_of(request.compiled, job.cancel), job.cancel)

    @handles(ExportRequest)
    def _export(self, request: ExportRequest, job: Job) -> ExportAnswer:
        from app.workers.exporting import export  # start-up time: 40 ms

        return export(request, self._grammar_of(request.compiled, job.cancel), None, job.cancel)

    @handles(DescribeRequest)
    def _describe(self, request: DescribeRequest, job: Job) -> DescribeAnswer:
        compiled = request.compiled
        with job.cancel.scope():
            found = NOTATIONS[compiled.notation].explain(SourceText(compiled.text), compiled.options)
        return DescribeAnswer(compiled.revision, found)

    @handles(DrawRailroad)
    def _draw_railroad(self, request: DrawRailroad, job: Job) -> RailroadDrawing | None:
        from app.graph.layout.railroad import lay_out_railroad  # start-up time: many windows draw none
        from engine.notations.railroad import group_at  # start-up time: as above

        compiled = request.compiled
        with job.cancel.scope():
            if self._railroad is None or self._railroad[0] != compiled:
                text = SourceText(compiled.text)
                self._railroad = compiled, NOTATIONS[compiled.notation].railroad(text, compiled.options)
            railroad = self._railroad[1]
            rule = railroad.rule_at(request.offset)
            if rule is None:
                return None
            track = rule.track()
            part = group_at(track, request.offset) if request.is_part else track
            return lay_out_railroad(railroad, rule, part, request.opened, request.style)

    def _nfa_of(self, request: CompileRequest, cancel: CancelToken) -> NfaReader:
        grammar = self._grammar_of(request, cancel)
        if self._nfa is None or self._nfa.grammar is not grammar:
            from app.workers.nfa import NfaReader  # start-up time: many windows draw none

            self._nfa = NfaReader(grammar, cancel)
        return self._nfa

    @handles(DrawNfa)
    def _draw_nfa(self, request: DrawNfa, job: Job) -> NfaDrawing:
        reader = self._nfa_of(request.compiled, job.cancel)
        dfa, too_large = self._positions_of(request.compiled, job.cancel).drawable_automaton(job.cancel)
        return reader.drawing(None if too_large else dfa, job.cancel)

    @handles(FindNfaStates)
    def _find_nfa_states(self, request: FindNfaStates, job: Job) -> RulePositions | None:
        return self._nfa_of(request.compiled, job.cancel).positions(request.output, job.cancel)

    @handles(UnfoldCalls)
    def _unfold_calls(self, request: UnfoldCalls, job: Job) -> UnfoldedCalls | None:
        if request.is_nfa:
            rules = self._nfa_of(request.compiled, job.cancel).drawing(None, job.cancel).charts
        else:
            positions = self._positions_of(request.compiled, job.cancel)
            rules = positions.charts or positions.rule_charts(job.cancel)[0]
        with job.cancel.scope():
            return None if rules is None else unfold_calls(rules, request.unfolding)

    @handles(FormatRequest)
    def _format(self, request: FormatRequest, job: Job) -> FormatAnswer:
        with job.cancel.scope():
            change = NOTATIONS[request.notation].format(request.text, CompileOptions(dialect=request.dialect))
        return FormatAnswer(change, apply_edits(request.text, change.edits))

    @handles(LintRequest)
    def _lint(self, request: LintRequest, job: Job) -> LintAnswer:
        from engine.diagnosis.targets.lint import lint_grammar  # start-up time: most documents have no target

        options = CompileOptions(dialect=request.dialect)
        with job.cancel.scope():
            found = lint_grammar(
                request.notation,
                request.text,
                request.target,
                request.version,
                options=options,
                rewrites=request.rewrites,
            )
        return LintAnswer(found)

    @handles(CountStacks)
    def _count_stacks(self, request: CountStacks, job: Job) -> StackCounts:
        with job.cancel.scope():
            if self._counted != request.compiled:
                self._counter, self._counted = _stack_counter(request.compiled), request.compiled
            if self._counter is None:
                return StackCounts(())
            decoder = codecs.getincrementaldecoder("utf-8")("replace")
            texts = [decoder.decode(token) for token in request.tokens]
            counts = self._counter.counts("".join(texts))
        ends = accumulate(map(len, texts))
        return StackCounts(tuple(counts[end] if end < len(counts) else None for end in ends))


def _stack_counter(compiled: CompileRequest) -> StackCounter | None:
    """Return a counter of the stacks of llama.cpp; None if it cannot have the grammar, or if that is much work."""
    from engine.diagnosis.targets.cost import stack_counter  # start-up time: for the first timeline

    try:
        with bounded_work(DRAWING_WORK):
            # Compiled anew, because what a used grammar has computed already would count no turns.
            return stack_counter(compile_grammar(compiled.notation, compiled.text, compiled.options))
    except TooMuchWorkError:
        return None
