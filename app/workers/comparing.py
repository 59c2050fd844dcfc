"""The comparison of engines for the window: differences of their masks as rows, and their measurements."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from app.catalogue import ui_text
from app.workers.requests.engines import EngineFigures, MaskDifference, MasksAnswer, MaskVerdict
from engine.compile import compile_grammar
from engine.diagnosis.case import RequestConstraint
from engine.diagnosis.differences import (
    MOST_SERVER_STEPS,
    MOST_STEPS,
    AttachedEngine,
    Difference,
    DifferenceReport,
    Direction,
    WalkOptions,
    cause_sentence,
    compare_named,
    nearest_options,
    refusal_sentence,
    verdict_sentence,
)
from engine.diagnosis.differences.values import MINOR
from engine.diagnosis.test_strings.suggestions import random_texts, shortest_text
from engine.peers import PEERS, run_bench
from engine.peers.adapter import BYTES, GreedyTokenizer, Peer
from engine.peers.bench_cases import BenchCase, LabelledText
from engine.peers.report import CaseOutcome
from engine.servers import ServerClient
from engine.servers.client import is_server_address
from engine.servers.keys import key_of
from engine.vocabulary.visible import visible

if TYPE_CHECKING:
    from app.workers.requests.compile import CompileRequest
    from app.workers.requests.engines import CompareMasks
    from engine.source import CancelToken
    from engine.vocabulary import Vocabulary

_MEASURED_TEXTS: Final = 8
_MEASURED_TOKENS: Final = 64
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
    verdicts: list[MaskVerdict] = []
    rows: list[MaskDifference] = []
    names = (request.first, *request.others)
    engines = tuple(name if is_server_address(name) else PEERS[name] for name in names)
    texts = tuple(text.encode("utf-8", "replace") for text in request.texts)
    vocabulary: Vocabulary | None = None
    for other in engines[1:]:
        peers = [one for one in (engines[0], other) if not isinstance(one, str)]
        options = nearest_options(compiled.options, peers)
        steps = MOST_STEPS if len(peers) > 1 else MOST_SERVER_STEPS
        report, used = compare_named(
            (engines[0], other),
            RequestConstraint(compiled.notation, compiled.text, options),
            WalkOptions(texts, steps=steps),
            cancel=cancel,
            show=lambda found: cancel.report(ui_text("workers.engines.first", prefix=visible(found.data)), 0),
        )
        vocabulary = used if len(peers) < 2 else vocabulary
        verdicts.append(MaskVerdict(report.names[1], report.engines[1][1], _sentence(report), report.checked))
        rows += [_row(found, report, used) for found in report.differences]
    figures = _figures(engines, request, BYTES if vocabulary is None else vocabulary, cancel)
    return MasksAnswer(request, tuple(verdicts), tuple(rows), figures, 0 if vocabulary is None else vocabulary.size)


def _sentence(report: DifferenceReport) -> str:
    refusal = next(iter(report.refusals), None)
    return verdict_sentence(report) if refusal is None else refusal_sentence(refusal)


def _row(found: Difference, report: DifferenceReport, vocabulary: Vocabulary) -> MaskDifference:
    ids = found.gained or found.lost
    tokens, special = vocabulary.tokens, vocabulary.special
    names = [visible(tokens[one] or b"") or special.get(one, f"#{one}") for one in ids[:_MOST_TOKENS]]
    return MaskDifference(
        report.engines[1][0],
        cause_sentence(found, report.names),
        found.direction is Direction.GAINED,
        found.kind in MINOR,
        visible(found.prefix),
        found.prefix.hex(" "),
        " ".join(names) + (" …" if len(ids) > _MOST_TOKENS else ""),
        None if found.text is None else found.text.decode("utf-8", "backslashreplace"),
        found.accepted_by,
        next(iter(found.spans), None),
        found.prefixes,
    )


def _figures(
    engines: Sequence[Peer | str], request: CompareMasks, vocabulary: Vocabulary, cancel: CancelToken
) -> tuple[EngineFigures, ...]:
    """Measure engines along generated texts.

    Args:
        engines: installed engines, and addresses of servers.
        request: the grammar.
        vocabulary: the vocabulary of the masks.
        cancel: cancels the work.
    """
    compiled = request.compiled
    grammar = compile_grammar(compiled.notation, compiled.text, compiled.options, cancel=cancel)
    found = (*shortest_text(grammar, cancel), *random_texts(grammar, _MEASURED_TEXTS, 0, cancel))
    texts = [one.text for one in found]
    peers = [one for one in engines if not isinstance(one, str)]
    measured = iter(_figures_of_peers(peers, compiled, vocabulary, texts, cancel))
    return tuple(
        _figures_of_server(one, compiled, vocabulary, texts, cancel) if isinstance(one, str) else next(measured)
        for one in engines
    )


def _figures_of_server(
    address: str, compiled: CompileRequest, vocabulary: Vocabulary, texts: Sequence[str], cancel: CancelToken
) -> EngineFigures:
    """Measure a server along a text; its times are those of requests, with the model's own.

    Args:
        address: the server.
        compiled: the grammar.
        vocabulary: the vocabulary of the masks.
        texts: texts, of which the first is followed.
        cancel: cancels the work.
    """
    cancel.report(address, 0)
    with ServerClient(address, key=key_of(address), cancel=cancel) as client:
        server = AttachedEngine(client, compiled.notation, vocabulary, options=compiled.options, cancel=cancel)
        path = GreedyTokenizer(vocabulary).spell(texts[0].encode()) if texts else None
        timed = None if path is None else server.timed(compiled.text, tuple(path[:_MEASURED_TOKENS]))
    if timed is None:
        return EngineFigures(server.name)
    return EngineFigures(server.name, first_mask_ms=timed[0] * 1e3, token_us=timed[1] * 1e6)


def _figures_of_peers(
    peers: Sequence[Peer], compiled: CompileRequest, vocabulary: Vocabulary, texts: Sequence[str], cancel: CancelToken
) -> tuple[EngineFigures, ...]:
    """Measure installed engines along texts.

    Args:
        peers: the engines.
        compiled: the grammar.
        vocabulary: the vocabulary of the masks.
        texts: the texts.
        cancel: cancels the work.
    """
    case = BenchCase("grammar", compiled.notation, compiled.text, tuple(map(LabelledText, texts)))
    options = nearest_options(compiled.options, peers)
    figures = []
    for peer, measured in zip(peers, run_bench(peers, vocabulary, [case], options=options, cancel=cancel), strict=True):
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
