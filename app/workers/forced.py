"""Forced runs in the decode group: stepping over them, lists, spellings, measurements and the token index.

A schema accepts every escape and much white space, so almost none of its states is forced. The lists therefore show its
compact form with one spelling, which is what `engine.export` sends to servers; steps take the same text, found in the
schema itself (`engine.decoding.forced`).

`engine.export` is imported with the first of these requests, to save time at the start of the process.
"""

from __future__ import annotations

import math
from collections import deque
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING

from app.catalogue import capitalised, ui_text
from app.workers.decode_state import DecodeState, model_token_text
from app.workers.loop import Job, handles
from app.workers.protocol import sentence
from app.workers.requests.decode import ForcedText, Respelling, Respellings
from app.workers.requests.forced import (
    CompareSpellings,
    FindForced,
    ForcedAnswer,
    IndexAnswer,
    ListedForm,
    ListIndex,
    MeasureStrategies,
    RunRow,
    SpellingRow,
    SpellingsAnswer,
    StrategiesAnswer,
    StrategyRow,
    TokenRunRow,
)
from engine.compile import compile_grammar
from engine.decoding.candidates import stored_probability
from engine.decoding.fast_forward import FastForward, forced_here, json_read
from engine.decoding.forced.encodings import encodings_of, query_after
from engine.decoding.forced.lattice import Lattice
from engine.decoding.forced.merging import forced_runs, forced_tokens, merge_forced, token_runs
from engine.decoding.forced.run_tokens import forced_run
from engine.decoding.forced.strategies import STRATEGIES
from engine.decoding.forced.tokenizer_encoding import encode_with_tokenizer, respelled_spans
from engine.decoding.generate import generate_fast_forward
from engine.matching import Matcher
from engine.models.source import CachedSource, ModelError
from engine.models.text_encoder import text_encoder_of
from engine.source import CancelToken, EngineError

if TYPE_CHECKING:
    from engine.automata.dfa.dfa import ByteDfa
    from engine.compile import CompiledGrammar
    from engine.decoding.forced.encodings import Query
    from engine.decoding.forced.values import Encodings, FastForwardGeneration, Path
    from engine.decoding.processors.logits import Logits
    from engine.decoding.session import DecodeSession

MOST_STATES = 5_000
MOST_RUNS = 500
MOST_FOLLOWING = 5
MOST_SHOWN = 200  # states of an index, and tokens of one of them
MOST_COPIED = 400_000  # transitions


class ForcedHandler:
    """Answers requests about forced runs, and takes them in steps."""

    def __init__(self, state: DecodeState) -> None:
        self._state = state
        self._fast_forward: tuple[DecodeSession, str, FastForward] | None = None
        self._has_respellings = False
        self._plain: tuple[CompiledGrammar, CompiledGrammar, ListedForm] | None = None

    def clear_session(self) -> None:
        """Drop the data of the last session, which would keep its model in memory."""
        self._fast_forward = None

    def step(self, session: DecodeSession, *, one_by_one: bool) -> None:
        """Take a forced run; if there is none, sample a token and take the forced run after it.

        Args:
            session: the session to advance; its pipeline has the spelling strategy.
            one_by_one: take at most one token, sampled or of a run.
        """
        fast_forward = self._fast_forward_of(session)
        if one_by_one:
            fast_forward.advance(session, 1)
        elif not fast_forward.advance(session):
            fast_forward.extend(session)

    def forced_text(self) -> ForcedText:
        """Return the text that is forced at the position of the session.

        Raises:
            EngineError: there is no session.
        """
        session = self._state.need_session()
        return ForcedText(self._state.grammar_revision, session.trace.current, forced_here(session))

    def respellings(self) -> Respellings | None:
        """Return the parts of the output that the tokenizer would write otherwise; None if there are none still.

        Their probabilities are those that the steps stored: the model is not asked.

        Raises:
            EngineError: there is no session.
        """
        session = self._state.need_session()
        steps, vocabulary, encode = session.steps, session.model.vocabulary, text_encoder_of(session.model)
        parts = list[Respelling]()
        for first, end, ids in respelled_spans([one.token_id for one in steps], vocabulary, encode) if encode else ():
            step, tokens = steps[first], tuple(vocabulary.tokens[token_id] or b"" for token_id in ids)
            p = stored_probability(step.kept, ids[0]) if step.was_queried and step.kept is not None else None
            is_exact = p is not None and p.low == p.high and len(ids) == 1
            parts.append(Respelling(first, end, tokens, None if p is None else p.high, is_exact))
        had_some, self._has_respellings = self._has_respellings, bool(parts)
        if not parts and not had_some:
            return None
        return Respellings(self._state.grammar_revision, session.trace.current, tuple(parts))

    def _fast_forward_of(self, session: DecodeSession) -> FastForward:

        known, strategy = self._fast_forward, session.pipeline.forced
        if known is None or known[0] is not session or known[1] != strategy:
            known = self._fast_forward = session, strategy, FastForward.of(session)
        return known[2]

    def _form(self, grammar: CompiledGrammar, cancel: CancelToken) -> tuple[CompiledGrammar, ListedForm]:
        """Return the grammar whose runs are listed, and in which form it is."""
        if not grammar.describes_json or grammar.is_empty:
            return grammar, ListedForm.GRAMMAR
        if self._plain is None or self._plain[0] is not grammar:
            self._plain = grammar, *_compact(grammar, cancel)
        return self._plain[1:]

    # ------------------------------------------------------------------ lists

    @handles(FindForced)
    def _forced(self, _request: FindForced, job: Job) -> ForcedAnswer:
        session, revision = self._state.need_session(), self._state.grammar_revision
        dfa, form, why_not, can_close = self._drawn(session, job.cancel)
        if dfa is None:
            return ForcedAnswer(revision, form=form, why_not=why_not, can_close=can_close)
        vocabulary, encode = session.model.vocabulary, text_encoder_of(session.model)
        merged, shortest_texts = merge_forced(dfa), _shortest_texts(dfa)
        rows = []
        for run in islice(forced_runs(dfa), MOST_RUNS):
            job.cancel.check()
            own = encode_with_tokenizer(run.data, vocabulary, encode)
            rows.append(
                RunRow(
                    run.state,
                    run.target,
                    shortest_texts.get(run.state, b""),
                    run.data,
                    Lattice.of(run.data, vocabulary).count,
                    _token_texts(session, own or ()),
                )
            )
        alone = token_runs(forced_tokens(dfa, vocabulary), dfa.start)
        return ForcedAnswer(
            revision,
            tuple(rows),
            tuple(TokenRunRow(state, _token_texts(session, ids)) for state, ids in alone[:MOST_RUNS]),
            (merged.states_before, len(merged.states)),
            (merged.edges_before, len(merged.edges)),
            form,
        )

    @handles(ListIndex)
    def _index(self, _request: ListIndex, job: Job) -> IndexAnswer:
        from engine.export import build_token_index  # start-up time: 40 ms

        session, revision, cancel = self._state.need_session(), self._state.grammar_revision, job.cancel
        if session.grammar is None:
            return IndexAnswer(revision, why_not=ui_text("workers.no_grammar"))
        try:
            grammar, form = self._form(session.grammar, cancel)
            if not grammar.is_regular or grammar.automaton.token_elements:
                why_not, can_close = _why_not_drawn(session.grammar, grammar, cancel)
                return IndexAnswer(revision, form=form, why_not=why_not, can_close=can_close)
            index = build_token_index(grammar, session.model.vocabulary, most_states=MOST_STATES, cancel=cancel)
        except EngineError as error:
            cancel.check()
            return IndexAnswer(revision, why_not=sentence(error))
        rows = [(ids.tolist(), targets.tolist()) for ids, targets in zip(index.tokens, index.targets, strict=True)]
        total = sum(len(ids) for ids, _ in rows)
        lines = []
        for state, (ids, targets) in enumerate(rows[:MOST_SHOWN]):
            if len(ids) > MOST_SHOWN:
                lines.append(f"{state}: {{{ui_text('workers.index.tokens', count=len(ids))}}}")
            elif ids:
                pairs = ", ".join(f"{token}: {after}" for token, after in zip(ids, targets, strict=True))
                lines.append(f"{state}: {{{pairs}}}   {' '.join(_token_texts(session, ids))}")
        if len(rows) > MOST_SHOWN:
            lines.append(ui_text("workers.index.more_states", count=len(rows) - MOST_SHOWN))
        full_text = ""
        if total <= MOST_COPIED:
            written = (
                f"{state}: {{{', '.join(f'{token}: {after}' for token, after in zip(*row, strict=True))}}}"
                for state, row in enumerate(rows)
                if row[0]
            )
            full_text = "{" + ",\n ".join(written) + "}\n"
        return IndexAnswer(revision, "\n".join(lines), full_text, len(rows), total, form)

    def _drawn(self, session: DecodeSession, cancel: CancelToken) -> tuple[ByteDfa | None, ListedForm, str, bool]:
        """Return the automaton whose runs are listed, its form, or why there is none, as `_why_not_drawn` does."""
        form = ListedForm.GRAMMAR
        if session.grammar is None:
            return None, form, ui_text("workers.no_grammar"), False
        try:
            grammar, form = self._form(session.grammar, cancel)
            if not grammar.is_regular or grammar.automaton.token_elements:
                return None, form, *_why_not_drawn(session.grammar, grammar, cancel)
            return grammar.materialise(MOST_STATES, cancel=cancel), form, "", False
        except EngineError as error:
            cancel.check()
            return None, form, sentence(error), False

    # ------------------------------------------------------------------ spellings

    @handles(CompareSpellings)
    def _compared(self, request: CompareSpellings, job: Job) -> SpellingsAnswer:
        session = self._state.need_session()
        found = self._run_start(session, request, job.cancel)
        if isinstance(found, str):
            return SpellingsAnswer(request, why_not=found)
        matcher, run, query = found
        part = request.part.encode()
        begin = run.find(part) if part else 0
        if begin < 0:
            return SpellingsAnswer(request, run, why_not=ui_text("workers.forced.no_part", part=request.part))
        end = begin + len(part) if part else len(run)
        try:
            encodings = encodings_of(matcher, run, (begin, end), text_encoder_of(session.model), query, request.most)
        except ValueError:
            return SpellingsAnswer(request, run, (begin, end), why_not=ui_text("workers.forced.not_allowed"))
        except ModelError as error:  # the model returned a part of its distribution
            return SpellingsAnswer(request, run, (begin, end), why_not=sentence(error))
        if encodings is None:
            return SpellingsAnswer(request, run, (begin, end), why_not=ui_text("workers.forced.no_tokens"))
        return _spellings_answer(session, request, encodings)

    @handles(MeasureStrategies)
    def _measured(self, _request: MeasureStrategies, job: Job) -> StrategiesAnswer:
        session = self._state.need_session()
        if session.grammar is None:
            return StrategiesAnswer((), len(STRATEGIES), ui_text("workers.no_grammar"))
        rows: list[StrategyRow] = []
        for strategy in STRATEGIES.names:
            if isinstance(session.model, CachedSource):
                session.model.clear_cache()  # otherwise the second strategy would look fast
            session.model.logits([*session.prompt_ids])  # all strategies share the prompt
            try:
                result = generate_fast_forward(
                    session.grammar,
                    session.model,
                    strategy,
                    prompt=session.prompt,
                    sampler=session.sampler,
                    max_tokens=session.max_tokens,
                    pipeline=session.pipeline,
                    cancel=job.cancel,
                )
            except EngineError as error:
                job.cancel.check()
                return StrategiesAnswer(tuple(rows), len(STRATEGIES), sentence(error))
            rows.append(_row(result))
            if len(rows) < len(STRATEGIES):
                job.emit(StrategiesAnswer(tuple(rows), len(STRATEGIES)))
        return StrategiesAnswer(tuple(rows), len(STRATEGIES))

    def _run_start(
        self, session: DecodeSession, request: CompareSpellings, cancel: CancelToken
    ) -> tuple[Matcher, bytes, Query] | str:
        """Return a matcher at the begin of a run, the run, and a logits function; or why there is none."""
        if request.before is None:
            here = session.matcher()
            run = b"" if here is None or session.finish is not None else forced_run(here, json_read(session))
            taken = tuple(step.token_id for step in session.steps)
        else:
            if session.grammar is None:
                return ui_text("workers.no_grammar")
            grammar, _ = self._form(session.grammar, cancel)
            here = Matcher(grammar, session.model.vocabulary)
            run = here.forced_bytes(1_000) if here.accept_bytes(request.before) else b""
            spelled = encode_with_tokenizer(request.before, session.model.vocabulary, text_encoder_of(session.model))
            spelled = spelled or Lattice.of(request.before, session.model.vocabulary).longest()
            if spelled is None:
                return ui_text("workers.forced.no_tokens_before")
            taken = tuple(spelled)
        if here is None or not run:
            return ui_text("workers.forced.nothing_here")
        logits_after = query_after(session.model, [*session.prompt_ids, *taken])

        def query(ids: Path) -> Logits:
            cancel.check()
            return logits_after(ids)

        return here, run, query


def _spellings_answer(session: DecodeSession, request: CompareSpellings, encodings: Encodings) -> SpellingsAnswer:
    best: dict[bytes, float] = {}
    for one in encodings.outlooks:
        for continuation in one.following:
            best[continuation.data] = max(
                best.get(continuation.data, 0.0), 0.0 if math.isnan(continuation.p) else continuation.p
            )
    columns = tuple(sorted(best, key=lambda data: (-best[data], data))[:MOST_FOLLOWING])
    rows = []
    for one in encodings.outlooks:
        known = {continuation.data: continuation.p for continuation in one.following}
        shares = tuple(known.get(data) for data in columns)
        ids = one.ids[len(encodings.before) : len(one.ids) - len(encodings.behind)]
        other = max(0.0, 1.0 - sum(share or 0.0 for share in shares)) if one.z > 0 else 0.0
        is_likeliest = one.ids == encodings.likeliest
        rows.append(SpellingRow(ids, _token_texts(session, ids), one.log_p, shares, other, one.is_own, is_likeliest))
    part = encodings.begin, encodings.end
    return SpellingsAnswer(request, encodings.run, part, encodings.count, tuple(rows), columns, encodings.is_exact)


def _row(result: FastForwardGeneration) -> StrategyRow:
    return StrategyRow(
        result.strategy,
        len(result.generation.steps),
        result.calls,
        result.unasked,
        result.taken_back,
        result.model_seconds,
        result.seconds,
        result.generation.text,
    )


def _compact(grammar: CompiledGrammar, cancel: CancelToken) -> tuple[CompiledGrammar, ListedForm]:
    from engine.export import NumberSpelling, to_gbnf  # start-up time: 40 ms

    try:
        options = replace(grammar.options, whitespace="compact")
        compact = compile_grammar(grammar.notation, grammar.source, options, cancel=cancel)
        text = to_gbnf(compact, NumberSpelling.PLAIN, cancel=cancel).text
        return compile_grammar("gbnf", text, cancel=cancel), ListedForm.COMPACT
    except EngineError:
        cancel.check()
        return grammar, ListedForm.FULL


def _why_not_drawn(compiled: CompiledGrammar, form: CompiledGrammar, cancel: CancelToken) -> tuple[str, bool]:
    """Return why a form of a grammar has no automaton, and whether it has one without additional properties."""
    from engine.export import needs_closing, open_objects  # start-up time: 40 ms

    if form.is_regular:
        return ui_text("workers.forced.names_tokens"), False
    if needs_closing(compiled, cancel):
        return capitalised(open_objects()), True
    return ui_text("workers.forced.needs_stack"), False


def _shortest_texts(dfa: ByteDfa) -> dict[int, bytes]:
    """Return the shortest text that leads to each state."""
    if dfa.start is None:
        return {}
    successors: dict[int, list[tuple[int, int]]] = {}
    for edge in dfa.edges:
        successors.setdefault(edge.source, []).append((edge.ranges[0][0], edge.target))
    found, queue = {dfa.start: b""}, deque([dfa.start])
    while queue:
        state = queue.popleft()
        for byte, target in successors.get(state, ()):
            if target not in found:
                found[target] = found[state] + bytes((byte,))
                queue.append(target)
    return found


def _token_texts(session: DecodeSession, ids: tuple[int, ...] | list[int]) -> tuple[str, ...]:
    return tuple(model_token_text(session, token_id) for token_id in ids)
