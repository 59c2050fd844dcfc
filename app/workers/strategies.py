"""Strategies that draw texts, and the probability of a text, in the decode group; the session does not move."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from app.catalogue import ui_text
from app.workers.decode_state import DecodeState, model_token_text
from app.workers.loop import Job, handles
from app.workers.protocol import Progress, sentence
from app.workers.requests.decode import GivenNotice
from app.workers.requests.strategies import (
    ComparedText,
    CompareStrategies,
    ContinuationRequest,
    ParticleRun,
    ParticleStep,
    SearchTexts,
    StrategiesComparison,
    StrategyFigures,
    TreeAnswer,
)
from engine.decoding.candidates import searched_bytes
from engine.decoding.strategies.decoders import DECODERS
from engine.decoding.strategies.given_values import GivenShares
from engine.source import CancelledError, CancelToken, EngineError, LimitExceededError

if TYPE_CHECKING:
    from engine.decoding.strategies.exact import ExactTexts
    from engine.decoding.strategies.prefix_tree import PrefixTree
    from engine.decoding.strategies.sampling import StrategyReport, StrategyRun
    from engine.decoding.values import TextContinuation

MOST_SHOWN: Final = 200  # texts
MOST_ENUMERATED: Final = 2_000  # prefixes
_GIVEN_SECONDS: Final = 0.25  # between two notices


class StrategiesHandler:
    """Answers requests about strategies."""

    def __init__(self, state: DecodeState) -> None:
        self._state = state

    def given(self, cancel: CancelToken) -> Iterator[GivenNotice]:
        """Yield the probabilities of the next tokens given that the text will match, ever better, until cancelled."""
        from engine.decoding.strategies.given_grammar import given_shares  # start-up time: with the others
        from engine.decoding.strategies.prefix_tree import PrefixTree  # start-up time: with the others

        session, revision = self._state.session, self._state.grammar_revision
        if session is None or session.grammar is None or session.finish is not None:
            return
        at = session.trace.current
        if session.pipeline.zones is not None or session.broken_at is not None:
            why_not = ui_text("models.candidates.given.no_grammar")
            yield GivenNotice(revision, at, GivenShares(is_done=True, why_not=why_not))
            return
        last = -_GIVEN_SECONDS
        try:
            tree = PrefixTree(
                session.grammar,
                session.model,
                prompt=session.prompt_ids,
                after=[step.token_id for step in session.steps],
                max_tokens=session.max_tokens,
            )
            for found in given_shares(tree, cancel):
                if found.is_done or time.monotonic() - last >= _GIVEN_SECONDS:
                    last = time.monotonic()
                    yield GivenNotice(revision, at, found)
        except CancelledError:
            raise
        except EngineError as error:
            yield GivenNotice(revision, at, GivenShares(is_done=True, why_not=sentence(error)))

    @handles(CompareStrategies)
    def _compared(self, request: CompareStrategies, job: Job) -> StrategiesComparison:
        tree = self._tree(keeps_rows=any(DECODERS[name].needs_rows for name in request.names))
        runs: list[StrategyRun | str] = []
        seconds = list[float]()
        for name in request.names:
            job.emit(Progress(DECODERS[name].title, len(runs), len(request.names)))
            run, spent = _run(name, tree, request, job)
            runs.append(run)
            seconds.append(spent)
            job.emit(_comparison(request, runs, seconds, None))
        try:
            exact, why_not = _exact(tree, job), ""
        except LimitExceededError as error:
            exact, why_not = None, sentence(error)
        particles = tuple(self._particles(run) for run in runs if not isinstance(run, str) and run.inquiry.generations)
        comparison = _comparison(request, runs, seconds, exact)
        return replace(comparison, why_not_exact=why_not, particles=particles, done=True)

    @handles(SearchTexts)
    def _searched(self, request: SearchTexts, job: Job) -> TreeAnswer:
        from engine.decoding.strategies.prefix_tree import Inquiry  # start-up time: with the others
        from engine.decoding.strategies.probability_tree import ProbabilityTree  # start-up time: with the others

        inquiry = Inquiry(self._tree(), request.most_calls, job.cancel)
        search, shown = ProbabilityTree(inquiry, request.measure, request.mass), 0
        while search.advance():
            job.emit(Progress(ui_text("strategies.tree.searching"), inquiry.calls, request.most_calls))
            if search.found > shown:
                shown = search.found
                job.emit(TreeAnswer(search.report(), done=False))
        return TreeAnswer(search.report(), done=True)

    def _tree(self, *, keeps_rows: bool = False) -> PrefixTree:
        """Return an empty tree after the prompt of the session."""
        from engine.decoding.strategies.prefix_tree import PrefixTree  # start-up time: with the others

        session = self._state.need_session()
        if session.grammar is None:
            raise EngineError("workers.no_grammar")
        return PrefixTree(
            session.grammar,
            session.model,
            prompt=session.prompt,
            max_tokens=session.max_tokens,
            keeps_rows=keeps_rows,
        )

    def _particles(self, run: StrategyRun) -> ParticleRun:
        """Return the particles of a run, token by token."""
        session, generations = self._state.need_session(), run.inquiry.generations
        before = [run.inquiry.tree.root] * len(generations[0].prefixes)
        steps = list[ParticleStep]()
        for one in generations:
            moves = zip(one.prefixes, before, strict=True)
            ids = tuple(-1 if prefix is earlier else prefix.token_id for prefix, earlier in moves)
            tokens = tuple("" if token_id < 0 else model_token_text(session, token_id) for token_id in ids)
            steps.append(ParticleStep(ids, tokens, one.shares, one.copied))
            before = [one.prefixes[at] for at in one.copied] or list(one.prefixes)
        return ParticleRun(run.strategy.name, tuple(steps))

    @handles(ContinuationRequest)
    def _continued(self, request: ContinuationRequest, job: Job) -> TextContinuation:
        from engine.decoding.strategies.continuation import (  # start-up time: with the others
            MOST_CALLS,
            any_text,
            find_continuation,
        )
        from engine.decoding.strategies.prefix_tree import Inquiry, PrefixTree  # as above

        session = self._state.need_session()
        prompt = [*session.prompt_ids, *(step.token_id for step in session.steps)]
        tree = PrefixTree(any_text(), session.model, prompt=prompt, keeps_rows=True)
        inquiry = Inquiry(tree, MOST_CALLS, job.cancel)
        return find_continuation(inquiry, searched_bytes(request.text), session.matcher())


def _exact(tree: PrefixTree, job: Job) -> ExactTexts:
    from engine.decoding.strategies.exact import enumerate_texts  # start-up time: with the others

    return enumerate_texts(tree, job.cancel, most_prefixes=MOST_ENUMERATED)


def _run(name: str, tree: PrefixTree, request: CompareStrategies, job: Job) -> tuple[StrategyRun | str, float]:
    """Return a run, or why there is none, and the seconds that it would have taken alone."""
    from engine.decoding.strategies.sampling import run_strategy  # start-up time: with the others

    started, asked = time.perf_counter(), tree.seconds
    try:
        run = run_strategy(
            DECODERS[name], tree, request.samples, request.seed, most_calls=request.most_calls, cancel=job.cancel
        )
    except EngineError as error:
        job.cancel.check()
        return sentence(error), 0.0
    own = time.perf_counter() - started - (tree.seconds - asked)
    return run, own + run.inquiry.calls * tree.seconds / max(tree.calls, 1)


def _comparison(
    request: CompareStrategies, runs: list[StrategyRun | str], seconds: list[float], exact: ExactTexts | None
) -> StrategiesComparison:
    from engine.decoding.strategies.sampling import report_of  # start-up time: with the others

    reports = [None if isinstance(run, str) else report_of([run], exact) for run in runs]
    figures = [
        StrategyFigures(name, why_not=str(run)) if report is None else _figures(name, report, spent)
        for name, run, report, spent in zip(request.names, runs, reports, seconds, strict=False)
    ]
    weights = [{} if report is None else {one.text: one.weight for one in report.texts} for report in reports]
    ids = {
        draw.prefix.data: tuple(draw.prefix.ids)
        for run in runs
        if not isinstance(run, str)
        for draw in run.draws
        if draw.is_accepted
    }
    known = {} if exact is None else exact.p
    ranked = sorted(ids, key=lambda text: (-known.get(text, 0.0), -max(one.get(text, 0.0) for one in weights), text))
    texts = [
        ComparedText(
            text,
            ids[text],
            None if exact is None else known.get(text, 0.0),
            tuple(one.get(text, 0.0) for one in weights),
        )
        for text in ranked[:MOST_SHOWN]
    ]
    return StrategiesComparison(tuple(figures), tuple(texts), len(ids), None if exact is None else exact.p_grammar)


def _figures(name: str, report: StrategyReport, seconds: float) -> StrategyFigures:
    return StrategyFigures(
        name,
        report.kl,
        report.tv,
        report.is_of_strategy,
        report.p_grammar,
        report.tries,
        report.accepted,
        report.calls,
        seconds,
        "" if report.texts else ui_text(f"strategies.none_drawn.{report.end}"),
    )
