"""The judge group: test strings checked against the grammar while the user types, and conversions of the grammar.

A process of its own, started with the first of these requests: a text that takes long must delay neither diagnostics
nor a step. Results are kept as long as the grammar stays, so that another test string costs no more than itself.
"""

from __future__ import annotations

import time
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal, cast

from app.catalogue import capitalised, ui_text
from app.licences import installed_distributions
from app.workers.batches import BatchHandler, BatchReader
from app.workers.bounded_work import TooMuchWorkError, bounded_work
from app.workers.loop import Handler, Job, handles
from app.workers.protocol import sentence
from app.workers.requests.compile import CompileRequest
from app.workers.requests.equivalence import CompareTexts, RefactorAnswer, RefactorGrammar, TextsAnswer
from app.workers.requests.judge import (
    AutomatonText,
    ConvertAnswer,
    ConvertRequest,
    CoverAnswer,
    CoverRequest,
    FindAmbiguousText,
    FindRefusal,
    FollowLog,
    GenerateAnswer,
    GeneratedRule,
    GenerateRequest,
    InferAnswer,
    InferGrammar,
    IntakeAnswer,
    IntakeRequest,
    JudgeAnswer,
    JudgeRequest,
    JudgeSample,
    LicensedPart,
    LogAnswer,
    LogState,
    ParsedText,
    ParseText,
    PriceAnswer,
    PriceOutput,
    ReadAnswer,
    ReadAutomaton,
    ReadLicences,
    ReadRequest,
    SampleAnswer,
    SampleMode,
    SampleVerdict,
    SuggestAnswer,
    SuggestRequest,
    sample_texts,
)
from engine.automata.byte_automaton import DEAD
from engine.compile import compile_grammar
from engine.diagnosis.batch.entries import count_of_records
from engine.diagnosis.batch.logged_outputs import logged_output
from engine.diagnosis.failures.refusal import refusal_of
from engine.diagnosis.intake import (
    IntakeError,
    as_pasted_text,
    call_grammars,
    read_intake,
    remarks_of,
    remove_secrets,
)
from engine.diagnosis.parse_trees.ambiguity import shortest_ambiguous_text
from engine.diagnosis.parse_trees.parser import TextParser
from engine.diagnosis.parse_trees.values import AmbiguityAnswer, AmbiguityVerdict, ParseTree
from engine.diagnosis.scores.grammar_price import grammar_price
from engine.diagnosis.test_strings import suggestions
from engine.diagnosis.test_strings.coverage import WeighedUses, automata_of, uses_of, weighed_coverage
from engine.diagnosis.test_strings.matches import find_matches
from engine.diagnosis.test_strings.values import TEXT_END, CountedText, Coverage, Suggestion, SuggestionKind
from engine.diagnosis.verdicts.replay import replay_text
from engine.diagnosis.verdicts.verdict import Verdict, VerdictOutcome
from engine.export import (
    NumberSpelling,
    close_objects,
    offsets_without_white_space,
    open_objects,
    to_gbnf,
    without_white_space,
)
from engine.export.automaton_files import NOTATION, AutomatonFileError, read_automaton_file
from engine.export.conversion_preview import ConvertOptions
from engine.export.conversion_preview import convert as convert_grammar
from engine.grammar.options import CompileOptions
from engine.inference.infer import infer, likely_notation
from engine.inference.samples import InferenceError, SampleForm, read_samples
from engine.matching.explanation import RefusalKind, TokenRefusal
from engine.notations.json_schema.json_tree import pointers
from engine.refactoring import REFACTORINGS
from engine.refactoring.difference import line_difference
from engine.refactoring.refactoring import GrammarSelection, refactored
from engine.source import (
    CancelledError,
    CancelToken,
    Diagnostic,
    EngineError,
    GrammarError,
    LimitExceededError,
    Span,
    diagnostic,
)
from engine.source.text import common_length

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine.automata.dfa.dfa import ByteDfa
    from engine.automata.rtn.rule_automata import RuleAutomata
    from engine.compile import CompiledGrammar
    from engine.diagnosis.batch.entries import BatchEntry

    Take = Callable[[CompileRequest, CancelToken], CompiledGrammar]


DRAWN_STATES = 4_000
COVERAGE_WORK = 2_000_000
"""Beyond this many states, or units of work (about two seconds), there is no coverage."""
RANDOM_TEXTS = 5
MOST_EDGES, MOST_LISTED = 2_000, 400  # beyond MOST_EDGES edges, only MOST_LISTED uncovered ones are sent
_MOST_BYTES = 64 << 20  # of a file with samples
_SECONDS = 0.15  # that a log is followed before other requests have their turn
MOST_ROWS = 10_000
"""The rows of a log that are followed."""
MOST_FOLLOWED = 4_000  # bytes of an output that are followed for the coverage
FOLLOWED_AT_ONCE = 8_000  # bytes of outputs that one answer follows, so that a test string does not wait for more


class _FollowedLog:
    """A log that is being followed, between two requests."""

    def __init__(self, request: FollowLog) -> None:
        self.request = replace(request, begins=False)
        self.reader = BatchReader(request.paths)
        self.state = LogState()
        self.counts = Counter[CountedText]()
        self.uses: dict[CountedText, WeighedUses] = {}
        self.is_read = False

    def add(self, entry: BatchEntry, grammar: CompiledGrammar, cancel: CancelToken) -> CountedText | None:
        """Count a row; return its output if it is a new one."""
        state = replace(self.state, rows=self.state.rows + 1)
        try:
            found = logged_output(entry, grammar, cancel)
        except EngineError:
            cancel.check()
            self.state = replace(state, unread=state.unread + 1)
            return None
        if found.text is None:
            self.state = replace(state, empty=state.empty + 1)
            return None
        self.state = replace(state, illegal=state.illegal + (not found.is_legal))
        self.counts[found.text] += 1
        return found.text if self.counts[found.text] == 1 else None


class StringTestHandler(Handler):
    """Judges and suggests test strings; keeps the last grammar and the result for each text."""

    def __init__(self) -> None:
        super().__init__(BatchHandler())
        self._request: CompileRequest | None = None
        self._grammar: CompiledGrammar | None = None
        self._automata: RuleAutomata | None = None
        self._why_not = ""  # why there are no automata
        self._dfa: ByteDfa | None = None
        self._has_no_dfa = False
        self._verdicts: dict[str, Verdict] = {}
        self._sample_verdicts: dict[str, SampleVerdict] = {}
        self._uses: dict[bytes, WeighedUses] = {}
        self._output_uses: dict[CountedText, WeighedUses] = {}
        self._log: _FollowedLog | None = None
        self._parser: TextParser | None = None
        self._sent: tuple[int, ParseTree] = 0, ()  # the number of the last parse, and its first tree

    def _take(self, request: CompileRequest, cancel: CancelToken) -> CompiledGrammar:
        """Return the compiled grammar; drop everything that belongs to another one."""
        if self._grammar is None or self._request != request:
            self._sample_verdicts = {}
            self._verdicts, self._uses, self._automata, self._why_not = {}, {}, None, ""
            self._dfa, self._has_no_dfa = None, False
            self._grammar, self._output_uses, self._parser = None, {}, None
            self._grammar = compile_grammar(request.notation, request.text, request.options, cancel=cancel)
            self._request = request
        return self._grammar

    @handles(FollowLog)
    def _follow_log(self, request: FollowLog, job: Job) -> LogAnswer:
        """Follow some outputs of a log; count all of them once it is read."""
        log, self._log = self._log, None  # a log that was stopped is read again
        try:
            grammar = self._take(request.compiled, job.cancel)
            automata = self._rule_automata(grammar, job.cancel)
            whole = None if automata is None else self._dfa_of(grammar, job.cancel)
            if automata is None:
                return LogAnswer(request, Coverage(reason=self._why_not), is_complete=True)
            if log is None or request.begins or log.request != request:
                log = _FollowedLog(request)
            log.reader.progress.present = job.cancel
            end = time.monotonic() + _SECONDS
            for entry in log.reader.entries:
                if (output := log.add(entry, grammar, job.cancel)) is not None:
                    log.uses[output] = _followed(grammar, automata, whole, output, job.cancel)
                if log.state.rows == MOST_ROWS or time.monotonic() > end:
                    break
            else:
                log.is_read = True
        except EngineError as error:
            if job.cancel.is_cancelled:
                raise
            return LogAnswer(request, Coverage(reason=sentence(error)), is_complete=True)
        progress = log.reader.progress
        is_complete = log.is_read or log.state.rows == MOST_ROWS
        state = replace(log.state, done=progress.done, total=progress.total, is_cut=not log.is_read)
        if not is_complete:
            self._log = log
            return LogAnswer(request, state=state)
        uses = [one._replace(text=replace(one.text, count=log.counts[text])) for text, one in log.uses.items()]
        covered = weighed_coverage(automata, uses, has_whole=whole is not None)
        return LogAnswer(request, _listed(grammar, covered), state, is_complete=True)

    @handles(JudgeRequest)
    def _judge(self, request: JudgeRequest, job: Job) -> JudgeAnswer:
        revision = request.compiled.revision
        try:
            grammar = self._take(request.compiled, job.cancel)
            verdicts = tuple(self._verdict(grammar, text, job.cancel) for text in request.texts)
        except GrammarError:
            return JudgeAnswer(revision, request.texts, error=ui_text("common.grammar.not_compiled"))
        except EngineError as error:
            if job.cancel.is_cancelled:
                raise
            return JudgeAnswer(revision, request.texts, error=sentence(error))
        covered = _listed(grammar, self._coverage(grammar, request, job.cancel))
        return JudgeAnswer(revision, request.texts, verdicts, covered)

    @handles(JudgeSample)
    def _judge_sample(self, request: JudgeSample, job: Job) -> SampleAnswer:
        try:
            grammar = self._take(request.compiled, job.cancel)
            if request.mode is SampleMode.SEARCH:
                data = request.text.encode("utf-8", "surrogatepass")
                found = find_matches(grammar, data, cancel=job.cancel)
                return SampleAnswer(request, matches=found.ranges, searched=found.searched)
            texts = sample_texts(request.text, request.mode)
            known = self._sample_verdicts
            self._sample_verdicts = {text: known[text] for text in texts if text in known}
            for text in texts:
                if text not in self._sample_verdicts:
                    self._sample_verdicts[text] = SampleVerdict.of(self._judged(grammar, text, job.cancel))
            return SampleAnswer(request, tuple(self._sample_verdicts[text] for text in texts))
        except GrammarError:
            return SampleAnswer(request, error=ui_text("common.grammar.not_compiled"))
        except LimitExceededError as error:
            return SampleAnswer(request, error=sentence(error))

    @handles(CoverRequest)
    def _cover(self, request: CoverRequest, job: Job) -> CoverAnswer:
        """Follow some more outputs; the result for an output is kept as long as it is requested."""
        revision = request.compiled.revision
        try:
            grammar = self._take(request.compiled, job.cancel)
            automata = self._rule_automata(grammar, job.cancel)
            whole = None if automata is None else self._dfa_of(grammar, job.cancel)
        except EngineError as error:
            if job.cancel.is_cancelled:
                raise
            return CoverAnswer(revision, Coverage(reason=sentence(error)))
        if automata is None:
            return CoverAnswer(revision, Coverage(reason=self._why_not))
        known = self._output_uses = {one: self._output_uses[one] for one in request.outputs if one in self._output_uses}
        followed = 0
        for output in request.outputs:
            if output not in known and followed < FOLLOWED_AT_ONCE:
                known[output] = _followed(grammar, automata, whole, output, job.cancel)
                followed += len(output.data[:MOST_FOLLOWED])
        covered = weighed_coverage(automata, known.values(), has_whole=whole is not None)
        return CoverAnswer(revision, _listed(grammar, covered), len(set(request.outputs)) - len(known))

    @handles(PriceOutput)
    def _price(self, request: PriceOutput, job: Job) -> PriceAnswer:
        try:
            grammar = self._take(request.compiled, job.cancel)
            return PriceAnswer(grammar_price(grammar, [request.output], job.cancel))
        except (GrammarError, LimitExceededError):
            return PriceAnswer(None)

    def _verdict(self, grammar: CompiledGrammar, text: str, cancel: CancelToken) -> Verdict:

        known = self._verdicts.get(text)
        if known is None:
            known = self._verdicts[text] = self._judged(grammar, text, cancel)
        return known

    def _judged(self, grammar: CompiledGrammar, text: str, cancel: CancelToken) -> Verdict:
        cancel.check()
        data = text.encode("utf-8", "surrogatepass")
        try:
            found = replay_text(grammar, data, advise=False, cancel=cancel)
        except LimitExceededError as error:
            return Verdict(VerdictOutcome.ILLEGAL, f"{ui_text('workers.judge.not_judged', reason=error)}.", data=data)
        # The window receives all verdicts at every key, so send only what it shows.
        failure = found.failure and replace(found.failure, stacks=found.failure.stacks[:1])
        return replace(found, diagnostics=(), failure=failure)

    def _coverage(self, grammar: CompiledGrammar, request: JudgeRequest, cancel: CancelToken) -> Coverage:

        automata = self._rule_automata(grammar, cancel)
        if automata is None:
            return Coverage(reason=self._why_not)
        texts = [request.texts[index].encode("utf-8", "surrogatepass") for index in request.counted]
        whole = self._dfa_of(grammar, cancel)
        for text in texts:
            if text not in self._uses:
                self._uses[text] = _followed(grammar, automata, whole, CountedText(text), cancel, is_test=True)
        return weighed_coverage(automata, [self._uses[text] for text in texts], has_whole=whole is not None)

    def _dfa_of(self, grammar: CompiledGrammar, cancel: CancelToken) -> ByteDfa | None:
        """Return the complete automaton of a grammar with rules, which the window may draw instead of them."""
        if self._dfa is None and not self._has_no_dfa:
            self._has_no_dfa = True
            if grammar.is_regular and (grammar.has_rules or grammar.describes_json):
                with suppress(LimitExceededError, TooMuchWorkError):
                    fresh = _unused(grammar, cancel)
                    with bounded_work(COVERAGE_WORK):
                        self._dfa = fresh.materialise(DRAWN_STATES, cancel=cancel)
        return self._dfa

    def _rule_automata(self, grammar: CompiledGrammar, cancel: CancelToken) -> RuleAutomata | None:
        if self._automata is None and not self._why_not:
            try:
                fresh = _unused(grammar, cancel)
                with bounded_work(COVERAGE_WORK):
                    self._automata = automata_of(fresh, DRAWN_STATES, cancel=cancel)
            except TooMuchWorkError:
                self._why_not = ui_text("workers.judge.fragment.work")
            except LimitExceededError:
                self._why_not = ui_text("workers.judge.fragment.states", limit=DRAWN_STATES)
            except GrammarError as error:
                self._why_not = error.diagnostics[0].message
        return self._automata

    @handles(SuggestRequest)
    def _suggest(self, request: SuggestRequest, job: Job) -> SuggestAnswer:
        try:
            grammar = self._take(request.compiled, job.cancel)
            if grammar.automaton.token_elements:
                return SuggestAnswer(request.kind, error=ui_text("workers.judge.names_tokens"))
            if grammar.is_empty:
                return SuggestAnswer(request.kind, error=ui_text("common.grammar.no_text"))
            found = self._suggestions(grammar, request, job.cancel)
        except GrammarError:
            return SuggestAnswer(request.kind, error=ui_text("workers.judge.fix_first"))
        except LimitExceededError as error:
            return SuggestAnswer(request.kind, error=sentence(error))
        fresh = tuple(one for one in found if one.text not in request.known)
        if fresh:
            return SuggestAnswer(request.kind, fresh)
        if self._why_not:
            return SuggestAnswer(request.kind, error=ui_text("automaton.coverage.reason", reason=self._why_not))
        return SuggestAnswer(request.kind, error=ui_text("workers.judge.no_more"))

    def _suggestions(
        self, grammar: CompiledGrammar, request: SuggestRequest, cancel: CancelToken
    ) -> tuple[Suggestion, ...]:

        match request.kind:
            case SuggestionKind.SHORTEST:
                return suggestions.shortest_text(grammar, cancel)
            case SuggestionKind.RANDOM:
                return suggestions.random_texts(grammar, RANDOM_TEXTS, request.seed, cancel)
            case SuggestionKind.NEAR_MISS:
                texts = [text for text in request.known if grammar.fullmatch(text)]
                texts += [one.text for one in suggestions.shortest_text(grammar, cancel)]
                return suggestions.near_misses(grammar, texts)
        automata = self._rule_automata(grammar, cancel)
        if automata is None:
            return ()
        counted = tuple(index for index, text in enumerate(request.known) if grammar.fullmatch(text))
        covered = self._coverage(grammar, JudgeRequest(request.compiled, request.known, counted), cancel)
        return suggestions.texts_of_rules(grammar, automata, covered.rules, covered.edges, cancel)

    @handles(FindRefusal)
    def _find_refusal(self, request: FindRefusal, job: Job) -> TokenRefusal:
        try:
            return refusal_of(self._take(request.compiled, job.cancel), request.read, request.token, job.cancel)
        except (GrammarError, LimitExceededError):
            return TokenRefusal(RefusalKind.UNKNOWN)

    @handles(ParseText)
    def _parse(self, request: ParseText, job: Job) -> ParsedText:
        """Parse a text; send the nodes of its first tree that differ from those of the last answer."""
        try:
            grammar = self._take(request.compiled, job.cancel)
            if self._parser is None:
                self._parser = TextParser(grammar)
            parse = self._parser.parse(request.text, job.cancel)
        except (GrammarError, LimitExceededError) as error:
            return ParsedText(error=sentence(error))
        known = self._sent[1] if request.known and request.known == self._sent[0] else ()
        tree = parse.trees[0] if parse.trees else ()
        kept = common_length(known, tree)
        self._sent = self._sent[0] + 1, tree
        sent = replace(parse, trees=(tree[kept:], *parse.trees[1:])) if parse.trees else parse
        return ParsedText(self._sent[0], kept, sent)

    @handles(FindAmbiguousText)
    def _find_ambiguous(self, request: FindAmbiguousText, job: Job) -> AmbiguityAnswer:
        try:
            grammar = self._take(request.compiled, job.cancel)
            with job.cancel.scope():
                return shortest_ambiguous_text(grammar, cancel=job.cancel)
        except (GrammarError, LimitExceededError) as error:
            return AmbiguityAnswer(AmbiguityVerdict.UNKNOWN, reason=sentence(error))

    @handles(GenerateRequest)
    def _generate(self, request: GenerateRequest, job: Job) -> GenerateAnswer:
        return generate(request, self._take(request.compiled, job.cancel), job.cancel)

    @handles(ConvertRequest)
    def _convert(self, request: ConvertRequest, job: Job) -> ConvertAnswer:
        return convert(request, self._take, job.cancel)

    @handles(CompareTexts)
    def _compare_texts(self, request: CompareTexts, _job: Job) -> TextsAnswer:
        return TextsAnswer(request, line_difference(request.before, request.after))

    @handles(RefactorGrammar)
    def _refactor(self, request: RefactorGrammar, job: Job) -> RefactorAnswer:
        with job.cancel.scope():
            return refactored_grammar(request)

    @handles(InferGrammar)
    def _infer(self, request: InferGrammar, job: Job) -> InferAnswer:
        return inferred_grammar(request, job.cancel)

    @handles(ReadRequest)
    def _read(self, request: ReadRequest, job: Job) -> ReadAnswer:
        return read(request, job.cancel)

    @handles(ReadAutomaton)
    def _read_automaton(self, request: ReadAutomaton, job: Job) -> AutomatonText:
        try:
            with job.cancel.scope():
                return AutomatonText(NOTATION, read_automaton_file(request.data, request.name))
        except AutomatonFileError as error:
            return AutomatonText(error=str(error))  # it begins with the name of the file

    @handles(ReadLicences)
    def _read_licences(self, _request: ReadLicences, job: Job) -> tuple[LicensedPart, ...]:
        parts = []
        for one in installed_distributions():
            job.cancel.check()
            texts = [path.read_text("utf-8", errors="replace") for path in one.files if path.is_file()]
            parts.append(LicensedPart(one.name, one.version, one.licence, "\n\n".join(texts)))
        return tuple(parts)

    @handles(IntakeRequest)
    def _take_in(self, request: IntakeRequest, _job: Job) -> IntakeAnswer:
        text = ""
        try:
            if isinstance(request.data, bytes):
                text, _ = remove_secrets(as_pasted_text(request.data))
            intake = read_intake([request.data], dict(request.answers))
        except IntakeError as error:
            return IntakeAnswer(request, text=text, error=f"{sentence(error)}.")
        count = count_of_records(as_pasted_text(request.data))
        return IntakeAnswer(request, intake, remarks_of(intake.case), call_grammars(intake.case), text, count)


def inferred_grammar(request: InferGrammar, cancel: CancelToken) -> InferAnswer:
    """Return a grammar from samples, or why there is none.

    Args:
        request: the samples.
        cancel: cancels the work.

    Raises:
        CancelledError: the work was cancelled.
    """
    try:
        text = _text_of(Path(request.path)) if request.path else request.samples
        samples = read_samples(text, SampleForm(request.form))
        found = infer(request.notation or likely_notation(samples), samples, cancel=cancel)
    except CancelledError:
        raise
    except EngineError as error:
        return InferAnswer(request, error=sentence(error))
    return InferAnswer(request, found.notation, found.text, found.count, found.notes)


def _text_of(path: Path) -> str:
    try:
        if path.stat().st_size > _MOST_BYTES:
            raise InferenceError("errors.inference.large", name=path.name, limit=_MOST_BYTES >> 20)
        return path.read_text("utf-8-sig")
    except (OSError, ValueError) as error:
        raise InferenceError("errors.inference.unreadable_file", name=path.name, reason=error) from error


def refactored_grammar(request: RefactorGrammar) -> RefactorAnswer:
    """Return the result of a refactoring, or why there is none."""
    compiled = request.compiled
    selection = GrammarSelection(compiled.notation, compiled.text, request.selected, compiled.options, request.name)
    try:
        text, rewrite = refactored(REFACTORINGS[request.refactoring], selection)
    except CancelledError:
        raise
    except EngineError as error:
        return RefactorAnswer(request, error=sentence(error))
    difference = line_difference(compiled.text, text)
    return RefactorAnswer(request, rewrite.edits, text, difference, rewrite.notes, rewrite.name)


def path_of(dfa: ByteDfa, text: bytes) -> tuple[tuple[int, int], ...]:
    """Return the transitions of an automaton that a text takes, one for each byte, as far as it goes."""
    found, state = [], dfa.start
    for byte in text:
        after = None if state is None else dfa.step(state, byte)
        if state is None or after is None:
            break
        found.append((state, after))
        state = after
    return tuple(found)


def _followed(
    grammar: CompiledGrammar,
    automata: RuleAutomata,
    whole: ByteDfa | None,
    output: CountedText,
    cancel: CancelToken,
    *,
    is_test: bool = False,
) -> WeighedUses:
    """Return what a text uses.

    Args:
        grammar: the grammar.
        automata: the automata of its rules.
        whole: its complete automaton; None without one.
        output: the text.
        cancel: checked regularly.
        is_test: whether it must match; an output counts as far as it is followed.
    """
    part = output.data if is_test else output.data[:MOST_FOLLOWED]
    matches = part == output.data and grammar.fullmatch(part)
    counts = matches or not is_test
    starts = {step.start for step in output.masses.unpack() if step.start <= len(part)}
    moved = offsets_without_white_space(part, starts) if grammar.describes_json else {start: start for start in starts}
    uses = uses_of(
        automata,
        without_white_space(part) if grammar.describes_json else part,
        is_whole=is_test or matches,
        offsets=set(moved.values()),
        cancel=cancel,
    )
    uses = replace(uses, readers={start: uses.readers[at] for start, at in moved.items() if at in uses.readers})
    path = path_of(whole, part) if whole is not None and counts else ()
    if whole is not None and whole.start is not None and len(path) == len(part) and counts:
        path = (*path, (path[-1][1] if path else whole.start, TEXT_END))
    return WeighedUses(output, uses, path, _parts_in(grammar, part) if counts else ())


def _parts_in(grammar: CompiledGrammar, text: bytes) -> tuple[tuple[Span, ...], ...] | None:
    """Return the keywords of a schema that a text is in before each of its bytes and at its end; None for others."""
    if not grammar.describes_json:
        return None
    automaton, known = grammar.automaton, dict[int, tuple[Span, ...]]()
    found, configuration = [], automaton.start
    for at in range(len(text) + 1):
        if configuration == DEAD:
            break
        if configuration not in known:
            known[configuration] = tuple(dict.fromkeys(automaton.spans(configuration)))
        found.append(known[configuration])
        configuration = automaton.run(configuration, text[at : at + 1])
    return tuple(found)


def _listed(grammar: CompiledGrammar, covered: Coverage) -> Coverage:
    """Return a coverage whose numbers of edges and parts the window can list, and with names of the parts."""
    if len(covered.edges) > MOST_EDGES:
        uncovered = tuple(edge for edge in covered.edges if not edge.covered)[:MOST_LISTED]
        covered = replace(covered, edges=uncovered, lost={}, users={})
    hottest = sorted(covered.parts, key=lambda part: (-part.lost.least, -part.texts, part.span))[:MOST_EDGES]
    return replace(
        covered,
        parts=tuple(
            replace(part, name=_name_of(grammar, part.span)) for part in sorted(hottest, key=lambda one: one.span)
        ),
    )


def _name_of(grammar: CompiledGrammar, span: Span) -> str:
    """Return the JSON Pointer of a keyword of a schema, or the line, the column and the text of another part."""
    found = pointers(grammar.source, [span]) if grammar.describes_json else ()
    line, column = grammar.source.line_column(span.start)
    return found[0] if found else f"{line}:{column}  {grammar.source.excerpt(span)}"


def _unused(grammar: CompiledGrammar, cancel: CancelToken) -> CompiledGrammar:
    """Compile a regular grammar again: the texts judged so far would change how much work its automaton takes."""
    if not grammar.is_regular:
        return grammar
    return compile_grammar(grammar.notation, grammar.source, grammar.options, cancel=cancel)


LONGEST = 2_000_000  # characters of a generated text; a longer one would take the window too long to show


def generate(request: GenerateRequest, compiled: CompiledGrammar, cancel: CancelToken) -> GenerateAnswer:
    """Convert a grammar to GBNF.

    Args:
        request: the revision, and the spelling of strings and numbers.
        compiled: the grammar.
        cancel: checked regularly.
    """
    revision = request.compiled.revision
    try:
        written = to_gbnf(compiled, NumberSpelling(request.spelling), cancel=cancel)
    except CancelledError:
        raise
    except GrammarError as error:
        found = error.diagnostics[0]
        return GenerateAnswer(revision, request.spelling, error=_error_sentence(found), error_span=found.span)
    except EngineError as error:
        return GenerateAnswer(revision, request.spelling, error=f"{sentence(error)}.")
    if len(written.text) > LONGEST:
        too_long = ui_text("workers.convert.too_long", count=len(written.text))
        return GenerateAnswer(revision, request.spelling, error=too_long)
    rules = tuple(GeneratedRule(rule.name, rule.span, rule.places) for rule in written.rules)
    return GenerateAnswer(revision, request.spelling, written.text, rules, written.notes)


def convert(request: ConvertRequest, take: Take, cancel: CancelToken) -> ConvertAnswer:
    """Convert the grammar that `take` compiles to another notation.

    Args:
        request: the grammar's text and the target notation.
        take: compiles the text.
        cancel: checked regularly.
    """
    options = ConvertOptions(
        NumberSpelling(request.spelling), request.depth, cast("Literal['python', 'ecma']", request.dialect)
    )
    try:
        compiled = take(request.compiled, cancel)
    except GrammarError as error:
        reason = _error_sentence(error.diagnostics[0])
        return ConvertAnswer(request.number, error=ui_text("workers.convert.error", reason=reason))
    try:
        found = convert_grammar(compiled, request.notation, options, cancel)
    except CancelledError:
        raise
    except GrammarError as refused:
        first = refused.diagnostics[0]
        if first.code in ("export-recursive", "export-open"):
            can_close = first.code == "export-open"
            why = capitalised(first.message.replace(close_objects(), open_objects()))  # the dialog has a button for it
            advice = ui_text("workers.convert.cut_or_close" if can_close else "workers.convert.cut", reason=why)
            return ConvertAnswer(request.number, error=advice, can_close=can_close)
        return ConvertAnswer(request.number, error=_error_sentence(first))
    except EngineError as error:
        return ConvertAnswer(request.number, error=f"{sentence(error)}.")
    read_as = CompileOptions(dialect=found.dialect)
    compared = CompileRequest(request.compiled.revision, found.notation, found.content, read_as)
    return ConvertAnswer(request.number, found.text, found.losses, found.check.sentence, compared)


def read(request: ReadRequest, cancel: CancelToken) -> ReadAnswer:
    """Diagnose a text in the requested notation."""
    compiled = request.compiled
    try:
        found = compile_grammar(compiled.notation, compiled.text, compiled.options, cancel=cancel).diagnostics
    except CancelledError:
        raise
    except GrammarError as error:
        found = error.diagnostics
    except EngineError as error:
        found = (diagnostic("limit-exceeded.other", Span(0, len(compiled.text)), error=error),)
    return ReadAnswer(request.number, found)


def _error_sentence(found: Diagnostic) -> str:
    text = f"{capitalised(found.message)}. {found.hint}".rstrip(". ")
    return f"{text}."
