"""The comparison of engines for the window: differences of their masks as rows, and their measurements."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from app.workers.requests.engines import EngineFigures, MaskDifference, MasksAnswer, MaskVerdict
from engine.compile import compile_grammar
from engine.diagnosis.case import RequestConstraint
from engine.diagnosis.differences import (
    Difference,
    DifferenceReport,
    Direction,
    WalkOptions,
    cause_sentence,
    compare_peers,
    nearest_options,
    refusal_sentence,
    verdict_sentence,
)
from engine.diagnosis.differences.values import FORMS, CauseKind
from engine.diagnosis.test_strings.suggestions import random_texts, shortest_text
from engine.peers import PEERS, run_bench
from engine.peers.adapter import BYTES, Peer
from engine.peers.bench_cases import BenchCase, LabelledText
from engine.peers.report import CaseOutcome
from engine.vocabulary.visible import visible

if TYPE_CHECKING:
    from app.workers.requests.engines import CompareMasks
    from engine.source import CancelToken

_MEASURED_TEXTS: Final = 8
_MOST_TOKENS: Final = 24
_MEGA: Final = 1e6


def compared_masks(request: CompareMasks, cancel: CancelToken) -> MasksAnswer:
    """Compare an engine with others on a grammar, and measure all of them.

    Args:
        request: the engines and the grammar.
        cancel: cancels the work, and receives its progress.

    Raises:
        GrammarError: the grammar does not compile.
        EngineError: an engine cannot be used.
        CancelledError: the work was cancelled.
    """
    compiled = request.compiled
    first = PEERS[request.first]
    verdicts: list[MaskVerdict] = []
    rows: list[MaskDifference] = []
    for name in request.others:
        peers = first, PEERS[name]
        options = nearest_options(compiled.options, peers)
        constraint = RequestConstraint(compiled.notation, compiled.text, options)
        walk = WalkOptions(tuple(text.encode("utf-8", "replace") for text in request.texts))
        report = compare_peers(peers, BYTES, constraint, walk, cancel)
        verdicts.append(MaskVerdict(name, report.engines[1][1], _sentence(report), report.checked))
        rows += [_row(found, report) for found in report.differences]
    figures = _figures((first, *(PEERS[name] for name in request.others)), request, cancel)
    return MasksAnswer(request, tuple(verdicts), tuple(rows), figures)


def _sentence(report: DifferenceReport) -> str:
    refusal = next(iter(report.refusals), None)
    return verdict_sentence(report) if refusal is None else refusal_sentence(refusal)


def _row(found: Difference, report: DifferenceReport) -> MaskDifference:
    ids = found.gained or found.lost
    names = [visible(BYTES.tokens[one] or b"") or BYTES.special.get(one, "") for one in ids[:_MOST_TOKENS]]
    return MaskDifference(
        report.engines[1][0],
        cause_sentence(found, report.names),
        found.direction is Direction.GAINED,
        found.kind in (*FORMS, CauseKind.END),
        visible(found.prefix),
        found.prefix.hex(" "),
        " ".join(names) + (" …" if len(ids) > _MOST_TOKENS else ""),
        None if found.text is None else found.text.decode("utf-8", "backslashreplace"),
        found.accepted_by,
        next(iter(found.spans), None),
        found.prefixes,
    )


def _figures(peers: Sequence[Peer], request: CompareMasks, cancel: CancelToken) -> tuple[EngineFigures, ...]:
    """Measure engines along generated texts, over a vocabulary of bytes."""
    compiled = request.compiled
    grammar = compile_grammar(compiled.notation, compiled.text, compiled.options, cancel=cancel)
    found = (*shortest_text(grammar, cancel), *random_texts(grammar, _MEASURED_TEXTS, 0, cancel))
    case = BenchCase("grammar", compiled.notation, compiled.text, tuple(LabelledText(one.text) for one in found))
    options = nearest_options(compiled.options, peers)
    figures = []
    for peer, measured in zip(peers, run_bench(peers, BYTES, [case], options=options, cancel=cancel), strict=True):
        done = next((one for one in measured.cases if one.ending is CaseOutcome.DONE), None)
        size = peer.installed_bytes
        size_mb = None if size is None else size / _MEGA
        if done is None or done.compile_us is None or done.first_mask_us is None:
            figures.append(EngineFigures(peer.name, size_mb=size_mb))
            continue
        steps, memory = done.step_us, done.memory_bytes
        figures.append(
            EngineFigures(
                peer.name,
                done.compile_us / 1e3,
                done.first_mask_us / 1e3,
                statistics.fmean(steps) if steps else None,
                None if memory is None else memory / _MEGA,
                size_mb,
            )
        )
    return tuple(figures)
