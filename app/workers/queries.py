"""Work of the decode group beside its session: queries about it, replays of pasted outputs, and shared pages.

The modules that write pages are imported with the first request, to save time at the start of the process.
"""

from __future__ import annotations

import pickle
from bisect import bisect_right
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import numpy as np

from app.catalogue import ui_text
from app.graph.match.folding import edge_label
from app.workers.decode_state import model_token_text
from app.workers.diagnosing import with_diagnosis
from app.workers.loop import Job, handles
from app.workers.protocol import Progress, sentence
from app.workers.requests.decode import (
    Assessment,
    BaselineAnswer,
    BreakpointAnswer,
    FindBreakpoint,
    Lookup,
    LookupAnswer,
    ManyAnswer,
    ModelSummary,
    ReplayAnswer,
    ReplayOutput,
    RunBaseline,
    SampleMany,
    ShareAnswer,
    ShareTrace,
    ShowTokens,
    TokensAnswer,
    TokensRequest,
    TokensTo,
    Why,
    WhyAnswer,
)
from app.workers.requests.engine_masks import PackedVocabulary, PackVocabulary
from app.workers.requests.export import ExportAnswer, ExportWithModel
from engine.compile import compile_grammar
from engine.decoding.candidates import searched_bytes
from engine.decoding.constraints.zones import ZoneGrammars
from engine.decoding.debugging.breakpoint_positions import breakpoint_at
from engine.decoding.generate import run_baseline, sample_many
from engine.decoding.stage_texts import stage_title
from engine.decoding.values import NO_MASSES, Finish, StepOrigin
from engine.diagnosis.verdicts.replay import TokenSource, replay_ids, replay_saved, replay_text, verdict_on_error
from engine.document.content import DocumentFile, GrammarPart
from engine.masking.bitmask import unpack_mask
from engine.matching import Matcher
from engine.matching.byte_descriptions import byte_name, byte_prose
from engine.matching.explanation import Explanation, Reason
from engine.matching.token_groups import position_groups
from engine.models import ModelError
from engine.models.source import WaitingSource
from engine.models.text_encoder import encode_exactly, text_encoder_of
from engine.models.uniform import UniformSource
from engine.notations import NOTATIONS
from engine.notations.json_schema.json_tree import pointers
from engine.source import CancelledError, EngineError, GrammarError, LimitExceededError
from engine.source.json_pointer import unescape_step
from engine.vocabulary.visible import visible

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.workers.decode_state import DecodeState
    from engine.compile import CompiledGrammar
    from engine.decoding.session import DecodeSession
    from engine.matching.token_groups import PositionGroup
    from engine.models import LogitSource
    from engine.source import CancelToken, Span
    from engine.vocabulary import Vocabulary

PROMPT_TOKENS = 512  # the window summarises the others
_BASELINE_STEPS = 4  # of a baseline run between two answers: the window need not draw each
_MOST_VERDICTS = 64
_STEP_ADVANCES = 10_000  # steps of the automaton to list the tokens within a step: 10 to 100 ms
_APPLICATORS = frozenset(("anyOf", "oneOf", "allOf", "then", "else", "if", "not"))
_ROOT = "#"  # the name of the whole schema
_MOST_FOLLOWING = 3  # parts that may come next
_LONGEST_EXPECTATION = 80  # characters


class QueryHandler:
    """Answers queries about the state of the decode group, which do not change it."""

    def __init__(self, state: DecodeState) -> None:
        self._state = state

    def assessment(self, cancel: CancelToken) -> Assessment | None:
        """Return the verdict on the output so far; None without a grammar that has texts.

        Raises:
            EngineError: there is no session, or a limit is exceeded.
            CancelledError: `cancel` was used.
        """
        session = self._state.need_session()
        language = session.language
        if language is None or language.is_empty:
            return None
        ids = tuple(step.token_id for step in session.steps)
        token_source = TokenSource(session.model.vocabulary, text_encoder_of(session.model))
        finish = session.finish.value if session.finish in (Finish.LENGTH, Finish.CONTEXT) else ""
        found = replay_ids(
            language, ids, token_source, budget=session.token_limit, finish=finish, advise=False, cancel=cancel
        )
        return Assessment(self._state.grammar_revision, session.trace.current, found)

    @handles(ReplayOutput)
    def _replay(self, request: ReplayOutput, job: Job) -> ReplayAnswer:
        """Find the cause of a failure, and judge its output by the grammar."""
        session = self._state.session
        token_source = (
            None if session is None else TokenSource(session.model.vocabulary, text_encoder_of(session.model))
        )
        answer = self._verdict_on(request, job, token_source)
        zones = None if session is None else session.pipeline.zones
        return with_diagnosis(answer, request.compiled, token_source, zones, job.cancel)

    def _verdict_on(self, request: ReplayOutput, job: Job, token_source: TokenSource | None) -> ReplayAnswer:
        """Judge a pasted output by the active grammar if its revision is the request's; otherwise compile the text."""
        compiled, question, cancel = request.compiled, request.question, job.cancel
        session, grammar = self._state.session, self._state.grammar
        if not question.text and question.ids is None and question.saved is None:
            return ReplayAnswer(question)
        name = "" if session is None else session.model.name
        budget, finish = question.budget, question.finish
        try:
            if grammar is None or self._state.grammar_revision != compiled.revision:
                grammar = compile_grammar(compiled.notation, compiled.text, compiled.options, cancel=cancel)
            grammar = _with_zones(grammar, session)
            if question.saved is not None:
                found = replay_saved(grammar, question.saved, token_source, budget=budget, finish=finish, cancel=cancel)
                return ReplayAnswer(
                    question, found, name if token_source and question.saved.is_of(token_source.vocabulary) else ""
                )
            if question.ids is None:
                data = question.text.encode("utf-8", "surrogatepass")
                found = replay_text(grammar, data, token_source, budget=budget, finish=finish, cancel=cancel)
                return ReplayAnswer(question, found, name)
            if token_source is None:
                return ReplayAnswer(question, error=ui_text("workers.decode.ids_need_model"))
            found = replay_ids(grammar, question.ids, token_source, budget=budget, finish=finish, cancel=cancel)
            return ReplayAnswer(question, found, name)
        except GrammarError as error:
            return ReplayAnswer(question, verdict_on_error(error, question.text.encode("utf-8", "surrogatepass")), name)
        except EngineError as error:
            if cancel.is_cancelled:
                raise
            return ReplayAnswer(question, error=sentence(error))

    @handles(TokensRequest)
    def _tokens(self, request: TokensRequest, job: Job) -> TokensAnswer:
        with job.cancel.scope():
            return self._grouped_tokens(request)

    def tokens_of_step(self) -> TokensAnswer | None:
        """Return the tokens that are allowed at the position of the session; None if that takes too long."""
        try:
            return self._grouped_tokens(TokensRequest(self._state.grammar_revision), _STEP_ADVANCES)
        except LimitExceededError:
            return None

    def _grouped_tokens(self, request: TokensRequest, most_advances: int | None = None) -> TokensAnswer:
        """Group tokens; the answer is empty if the grammar has changed or does not match the text."""
        session = self._state.need_session()
        matcher = _matcher(session, request) if self._state.grammar_revision == request.revision else None
        if matcher is None:
            return TokensAnswer(request)
        p = session.probabilities() if request.output is None else None
        targets = _described(matcher, position_groups(matcher, p, most_advances))
        total = int(np.count_nonzero(unpack_mask(matcher.bitmask(), matcher.vocabulary.size)))
        return TokensAnswer(request, total, targets)

    @handles(Why)
    def _why(self, request: Why, _job: Job) -> WhyAnswer:
        return why(self._state.need_session(), request.token_id)

    @handles(Lookup)
    def _look_up(self, request: Lookup, _job: Job) -> LookupAnswer:
        session = self._state.need_session()
        found = session.lookup(request.text)
        data = searched_bytes(request.text)
        if not found and data:
            return _several(session, request.text, data)
        verdicts = tuple(verdict_on(session, one.token_id) for one in found[:_MOST_VERDICTS])
        return LookupAnswer(request.text, found, verdicts)

    @handles(ShowTokens)
    def _show_tokens(self, request: ShowTokens, _job: Job) -> LookupAnswer:
        return LookupAnswer("", self._state.need_session().preferred(request.ids, request.most))

    @handles(PackVocabulary)
    def _pack_vocabulary(self, _request: PackVocabulary, _job: Job) -> PackedVocabulary:
        vocabulary = self._state.need_session().model.vocabulary
        return PackedVocabulary(vocabulary.fingerprint, pickle.dumps(vocabulary))

    @handles(SampleMany)
    def _sample_many(self, request: SampleMany, job: Job) -> ManyAnswer:
        session, seeds = self._state.need_session(), range(request.first_seed, request.first_seed + request.n)
        outcomes = []
        runs = sample_many(
            session.grammar,
            session.model,
            prompt=session.prompt,
            sampler=session.sampler,
            max_tokens=session.max_tokens,
            seeds=seeds,
            pipeline=session.pipeline,
            cancel=job.cancel,
        )
        for outcome in runs:
            outcomes.append(replace(outcome, masses=NO_MASSES))
            job.emit(Progress(ui_text("session.activity.sample_many"), len(outcomes), len(seeds)))
            job.emit(ManyAnswer(tuple(outcomes), len(seeds), done=False, masses=outcome.masses))
        return ManyAnswer(tuple(outcomes), len(seeds), done=True)

    @handles(FindBreakpoint)
    def _find_breakpoint(self, request: FindBreakpoint, _job: Job) -> BreakpointAnswer:
        self._state.need_session()
        if self._state.grammar is None:
            return BreakpointAnswer(None, ui_text("workers.no_grammar"))
        found = breakpoint_at(self._state.grammar, request.offset)
        return BreakpointAnswer(found, "" if found is not None else ui_text("workers.decode.nothing_read"))

    @handles(RunBaseline)
    def _run_baseline(self, _request: RunBaseline, job: Job) -> BaselineAnswer:
        session = self._state.need_session()
        if session.grammar is None:
            raise EngineError("workers.no_grammar")
        runs = run_baseline(
            session.model,
            session.steps,
            prompt=session.prompt,
            sampler=session.sampler,
            max_tokens=session.max_tokens,
            cancel=job.cancel,
        )
        for now in runs:
            if now.finish is None and len(now.free) % _BASELINE_STEPS == 0:
                job.emit(BaselineAnswer(now, session.max_tokens))
        return BaselineAnswer(now, session.max_tokens)

    @handles(ShareTrace)
    def _share(self, request: ShareTrace, job: Job) -> ShareAnswer:
        from engine.diagnosis.share_page.page import page, write_page  # start-up time: 30 ms
        from engine.diagnosis.share_page.page_data import build_page_data  # start-up time

        session, grammar = self._state.session, self._state.grammar
        work, language, vocabulary = request.work, grammar, None
        if request.is_own and session is not None:
            work = msgspec.structs.replace(work, trace=session.trace)
            language, vocabulary = session.language, session.model.vocabulary
        elif work.pipeline.zones is not None:
            language = None
        if grammar is not None:  # the last one that compiled is the one of the trace
            work = msgspec.structs.replace(work, grammar=GrammarPart.of(grammar))
        if request.as_bundle:
            return _bundled(request, work, language, vocabulary, job.cancel)
        try:
            document = build_page_data(work, language, vocabulary, job.cancel)
            size = write_page(Path(request.path), page(document))
        except CancelledError:
            raise
        except EngineError as error:
            return ShareAnswer(request.path, error=ui_text("workers.decode.not_shared", reason=sentence(error)))
        return ShareAnswer(request.path, size, len(document["steps"]))

    @handles(ExportWithModel)
    def _export(self, request: ExportWithModel, job: Job) -> ExportAnswer:
        session = self._state.need_session()
        if session.grammar is None:
            return ExportAnswer(request.target, request.path, request.number, error=ui_text("workers.no_grammar"))
        from app.workers.exporting import export  # start-up time: 40 ms

        return export(request, session.grammar, session.model.vocabulary, job.cancel)


def _bundled(
    request: ShareTrace,
    work: DocumentFile,
    language: CompiledGrammar | None,
    vocabulary: Vocabulary | None,
    cancel: CancelToken,
) -> ShareAnswer:
    """Write a bug bundle.

    Args:
        request: its file, and what a server said.
        work: the document.
        language: what the complete output must match; None if unknown.
        vocabulary: the vocabulary of the trace; None if it is not available.
        cancel: cancels it.
    """
    from engine.diagnosis.bundle import bundle_parts, write_bundle  # start-up time

    try:
        parts = bundle_parts(work, language, vocabulary, server_report=request.server_report, cancel=cancel)
        size = write_bundle(Path(request.path), parts)
    except CancelledError:
        raise
    except EngineError as error:
        reason = ui_text("workers.decode.not_bundled", reason=sentence(error))
        return ShareAnswer(request.path, error=reason, as_bundle=True)
    return ShareAnswer(request.path, size, len(parts.files), left_out=tuple(parts.left_out), as_bundle=True)


def _with_zones(grammar: CompiledGrammar, session: DecodeSession | None) -> CompiledGrammar:
    """Return what a complete output must match: the grammar, or the session's zones with it."""
    zones = None if session is None else session.pipeline.zones
    if session is None or zones is None:
        return grammar
    return ZoneGrammars(zones).around(grammar, session.model.vocabulary)


def _matcher(session: DecodeSession, request: TokensRequest) -> Matcher | None:
    """Return a new matcher at the requested position; None if the grammar does not apply there."""
    if session.grammar is None:
        return None
    output = request.output
    if output is None and session.pipeline.zones is None:
        return session.matcher()
    matcher = Matcher(session.grammar, session.model.vocabulary)
    if output is None:  # the grammar applies to a part of the output, and here perhaps to none
        output = session.position().grammar_text
    return matcher if output is not None and (not output or matcher.accept_bytes(output)) else None


def _described(matcher: Matcher, groups: tuple[PositionGroup, ...]) -> tuple[TokensTo, ...]:
    """Return groups of tokens as values for the window."""
    grammar, tokens = matcher.grammar, matcher.vocabulary.tokens
    source, starts = grammar.source, tuple(NOTATIONS[grammar.notation].rule_starts(grammar.source.text))

    def name_of(span: Span) -> str:
        if grammar.describes_json:
            return next(map(_schema_name, pointers(source, (span,))), "")
        at = bisect_right(starts, span.start, key=itemgetter(1))
        return starts[at - 1][0] if at else ""

    def follows(group: PositionGroup) -> str:
        """Return the parts that may come next, with the rule where it is another one."""
        found = [ui_text("models.candidates.fragment.end")] if group.may_end else []
        for span in group.follows:
            name = name_of(span)
            found.append(name if name and grammar.describes_json else f"{name} {source.excerpt(span)}".strip())
        kept = [one for one in dict.fromkeys(found) if one != _ROOT] or found[:1]
        more = f" {ui_text('common.fragment.and_more', count=len(kept) - _MOST_FOLLOWING)}"
        return ", ".join(kept[:_MOST_FOLLOWING]) + (more if len(kept) > _MOST_FOLLOWING else "")

    return tuple(
        TokensTo(
            tuple(tokens[one] or b"" for one in group.targets),
            tuple(visible(tokens[one] or b"") for one in group.tokens.examples),
            group.tokens.count,
            group.tokens.mass,
            _names(map(name_of, group.reads)),
            edge_label(group.first, (), _LONGEST_EXPECTATION),
            follows(group),
        )
        for group in groups
    )


def _schema_name(pointer: str) -> str:
    """Return what a person calls the schema around a pointer: `who.tags[]` for the items of `tags` in `who`."""
    found, steps = "", iter(pointer.split("/")[1:])
    for step in steps:
        if step in ("properties", "$defs", "definitions"):
            name = unescape_step(next(steps, ""))
            found = f"{found}.{name}" if found and step == "properties" else name or found
        elif step in ("items", "prefixItems"):
            found += "[]"
        elif not step.isdigit() and step not in _APPLICATORS:
            break
    return found or _ROOT


def _names(names: Iterable[str]) -> str:
    """Return different names, that of the whole schema only if there is no other."""
    found = [name for name in dict.fromkeys(names) if name]
    return ", ".join([name for name in found if name != _ROOT] or found)


def _several(session: DecodeSession, text: str, data: bytes) -> LookupAnswer:
    """Return the first token of a text that is no token itself, and why the text may come next or not."""
    explanation = session.explain(data)
    encode = text_encoder_of(session.model)
    ids = None if encode is None else encode_exactly(data, session.model.vocabulary, encode)
    first = session.preferred(ids[:1], 1) if ids else ()
    answer = WhyAnswer(None, explanation, explanation.sentence, None, len(session.steps), session.grammar_text)
    return LookupAnswer(text, first, (short_verdict(explanation),), len(ids or ()), answer)


def why(session: DecodeSession, token_id: int) -> WhyAnswer:
    """Explain why a token may or may not come next in a session."""
    explanation = session.explain(token_id)
    removed_by = session.removed_by(token_id)
    prose = "" if removed_by else explanation.sentence
    try:
        stages = session.token_stages(token_id)
    except ModelError:  # a server that does not answer: the verdict needs no model
        stages = ()
    return WhyAnswer(token_id, explanation, prose, removed_by, len(session.steps), session.grammar_text, stages)


def summary_of(model: LogitSource, spec: str) -> ModelSummary:
    """Return the facts about a model that the window needs."""
    vocabulary = model.vocabulary
    return ModelSummary(
        name=model.name,
        spec=spec,
        vocabulary_size=vocabulary.size,
        has_chat=bool(model.chat_template),
        context_length=model.context_length,
        fingerprint=model.fingerprint,
        vocabulary_fingerprint=vocabulary.fingerprint,
        is_tokenizer=isinstance(model, UniformSource),
        waits=isinstance(model, WaitingSource),
    )


def shown_prompt(session: DecodeSession) -> tuple[tuple[int, str], ...]:
    """Return how the model sees the prompt: pairs of token id and displayed text, the first `PROMPT_TOKENS` of them."""
    return tuple((token_id, model_token_text(session, token_id)) for token_id in session.prompt_ids[:PROMPT_TOKENS])


def force(session: DecodeSession, token_id: int) -> str:
    """Take a token even if the grammar does not allow it; return a note about it.

    Raises:
        EngineError: there is no such token, or the generation is over.
    """
    verdict = verdict_on(session, token_id)
    held_by = "processors" if session.removed_by(token_id) else "grammar"
    step = session.force(token_id)
    if step.origin != StepOrigin.FORCED_BY_USER:
        return ""
    token = step.name or visible(step.token or b"") or f"#{token_id}"
    return ui_text(f"workers.decode.forced_against.{held_by}", token=token, verdict=verdict)


def verdict_on(session: DecodeSession, token_id: int) -> str:
    """Return why a token may or may not come next, whichever stage decides, in a few words."""
    removed_by = session.removed_by(token_id)
    if removed_by is None:
        return short_verdict(session.explain(token_id))
    stage, why = removed_by
    return ui_text("workers.verdict.fragment.removed", stage=stage_title(stage), reason=why)


def short_verdict(explanation: Explanation) -> str:
    """Return why a token may or may not come next, in a few words."""
    match explanation.reason:
        case Reason.ALLOWED:
            return ui_text("generation.why.fragment.allowed")
        case Reason.DEAD_BYTE if explanation.token and explanation.offset is not None:
            wanted = byte_prose(explanation.expected)
            wanted = wanted if len(wanted) <= _LONGEST_EXPECTATION else wanted[: _LONGEST_EXPECTATION - 1] + "…"
            byte = byte_name(explanation.token[explanation.offset])
            if len(explanation.token) == 1:
                return ui_text("workers.verdict.fragment.stops", byte=byte, expected=wanted)
            number = explanation.offset + 1
            return ui_text("workers.verdict.fragment.stops_at", number=number, byte=byte, expected=wanted)
        case Reason.NOT_ACCEPTING:
            return ui_text("workers.verdict.fragment.not_accepting")
        case Reason.FINISHED:
            return ui_text("workers.verdict.fragment.finished")
        case Reason.UNKNOWN_ID:
            return ui_text("workers.verdict.fragment.unknown_id")
    return ui_text("workers.verdict.fragment.no_text")
