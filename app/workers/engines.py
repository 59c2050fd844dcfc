"""The engines group: questions to other engines, which run in child processes of this process, and to servers.

A process of its own, started with the first of these requests: an engine may take its time limit, and a reduction asks
it hundreds of times, which must delay neither a step nor the test strings. Two grammars of ours are compared here for
the same reason.
"""

from __future__ import annotations

import multiprocessing
from pathlib import Path
from typing import TYPE_CHECKING

from app.catalogue import ui_text
from app.workers.comparing import compared_masks
from app.workers.diagnosing import diagnosed_case
from app.workers.engine_masks import EngineMasksHandler
from app.workers.loop import Handler, Job, handles
from app.workers.protocol import sentence
from app.workers.requests.engines import (
    CompareEngines,
    CompareMasks,
    EngineList,
    EngineRow,
    EnginesAnswer,
    FindSmallest,
    FuzzAnswer,
    FuzzRow,
    FuzzSchema,
    ListEngines,
    MasksAnswer,
    SmallestAnswer,
)
from app.workers.requests.equivalence import CompareGrammars, GrammarsAnswer
from app.workers.requests.servers import CheckedServer, CheckServer
from app.workers.servers import ServerHandler
from engine.analysis.equivalence import compare_languages
from engine.compile import compile_grammar
from engine.diagnosis.case import RequestConstraint
from engine.diagnosis.failures.diagnose import LIMITS
from engine.diagnosis.failures.examination import AcceptedPrefix, lenient_options
from engine.diagnosis.failures.violations import spans_at
from engine.diagnosis.reduce.engine_reduction import reduce_by_engine, reduce_by_server
from engine.diagnosis.reduce.server_check import ServerCheck
from engine.diagnosis.server_probe.probe import probe_server
from engine.diagnosis.test_strings.schema_fuzz import fuzz_schema
from engine.notations import NOTATIONS
from engine.notations.json_schema.json_tree import JsonTextError
from engine.peers.adapter import OWN
from engine.peers.prefixes import accepted_prefixes, installed_peers
from engine.peers.registry import PEERS, find_peers
from engine.servers import ServerClient
from engine.servers.keys import key_of
from engine.source import CancelledError, EngineError, GrammarError
from engine.vocabulary import Vocabulary, VocabularyError

if TYPE_CHECKING:
    from app.workers.requests.compile import CompileRequest
    from app.workers.requests.decode import ReplayQuestion
    from engine.diagnosis.reduce.engine_check import EngineFailure
    from engine.diagnosis.reduce.reduction import ReducedText
    from engine.diagnosis.reduce.server_check import ServerFailure
    from engine.diagnosis.server_probe.report import ProbeReport
    from engine.source import CancelToken, Span


class EnginesHandler(Handler):
    """Asks installed engines and servers."""

    def __init__(self) -> None:
        super().__init__(EngineMasksHandler(), ServerHandler())
        # By default, multiprocessing lets no daemon start a process, since nobody would join it: `PeerProcess` does.
        multiprocessing.current_process().daemon = False

    @handles(ListEngines)
    def _list(self, request: ListEngines, _job: Job) -> EngineList:
        found = installed_peers(request.notation)
        installed = tuple((one.name, one.version or "") for one in found if one.name != OWN)
        absent = (one for one in PEERS if one.version is None and request.notation in one.notations)
        return EngineList(request.notation, installed, tuple((one.name, one.distribution) for one in absent))

    @handles(CompareEngines)
    def _compare(self, request: CompareEngines, job: Job) -> EnginesAnswer:
        question, compiled, cancel = request.question, request.compiled, job.cancel
        output = _output(question)
        if output is None:
            return EnginesAnswer(request, error=ui_text("workers.engines.no_text"))
        try:
            _, found = diagnosed_case(question, compiled, output, None, None, cancel)
            constraint, part = found.constraint, found.part
            if constraint is None or part is None or part.is_waiting:
                return EnginesAnswer(request, error=ui_text("workers.engines.no_part"))
            peers = installed_peers(constraint.notation)
            if len(peers) == 1:
                return EnginesAnswer(request, error=ui_text("workers.engines.none"))
            engines = accepted_prefixes(
                peers,
                constraint.notation,
                constraint.text,
                part.data,
                options=lenient_options(constraint.options, LIMITS),
                cancel=cancel,
            )
            accepted = {
                one.engine: AcceptedPrefix(one.accepted, one.is_complete) for one in engines if one.accepted is not None
            }
            differs = len(set(accepted.values())) > 1
            if differs:
                _, found = diagnosed_case(question, compiled, output, None, None, cancel, accepted)
        except CancelledError:
            raise
        except EngineError as error:
            return EnginesAnswer(request, error=sentence(error).rstrip("."))
        rows = tuple(EngineRow(one.engine, one.version, one.answer, one.accepted, one.is_complete) for one in engines)
        return EnginesAnswer(request, rows, len(part.data), found if differs else None)

    @handles(CompareGrammars)
    def _compare_grammars(self, request: CompareGrammars, job: Job) -> GrammarsAnswer:
        compiled = []
        for one, error_key in ((request.before, "before_error"), (request.after, "after_error")):
            try:
                # A comparison may fill an automaton up to its limits, so it gets one of its own.
                compiled.append(compile_grammar(one.notation, one.text, one.options, cancel=job.cancel))
            except GrammarError as refused:
                reason = refused.diagnostics[0].message
                return GrammarsAnswer(request, error=ui_text(f"workers.equivalence.{error_key}", reason=reason))
        try:
            return GrammarsAnswer(request, compare_languages(*compiled, cancel=job.cancel))
        except CancelledError:
            raise
        except EngineError as error:
            return GrammarsAnswer(request, error=sentence(error).rstrip("."))

    @handles(CompareMasks)
    def _compare_masks(self, request: CompareMasks, job: Job) -> MasksAnswer:
        try:
            return compared_masks(request, job.cancel)
        except CancelledError:
            raise
        except GrammarError:
            return MasksAnswer(request, error=ui_text("workers.judge.fix_first"))
        except EngineError as error:
            return MasksAnswer(request, error=sentence(error).rstrip("."))

    @handles(FuzzSchema)
    def _fuzz(self, request: FuzzSchema, job: Job) -> FuzzAnswer:
        compiled = request.compiled
        try:
            found = fuzz_schema(compiled.text, request.texts, request.seed, compiled.options, job.cancel)
        except CancelledError:
            raise
        except GrammarError:
            return FuzzAnswer(request, error=ui_text("workers.judge.fix_first"))
        except EngineError as error:
            return FuzzAnswer(request, error=sentence(error).rstrip("."))
        rows = tuple(FuzzRow(one.text, one.is_accepted, one.reason) for one in found.differences)
        return FuzzAnswer(request, rows, found.legal, found.mutants, found.refused, found.unjudged)

    @handles(FindSmallest)
    def _find_smallest(self, request: FindSmallest, job: Job) -> SmallestAnswer:
        try:
            found, failure = _reduced(request, job.cancel)
        except CancelledError:
            raise
        except JsonTextError as error:
            return SmallestAnswer(request, error=error.diagnostic.message)
        except EngineError as error:
            return SmallestAnswer(request, error=sentence(error).rstrip("."))
        part = (found.pointer if found.rule is None else found.rule) or ""
        shown = " ".join((failure.reason or failure.text).split())
        return SmallestAnswer(
            request, found.text, part, _span(request.compiled, found), str(failure.kind), shown, found.checks
        )

    @handles(CheckServer)
    def _check_server(self, request: CheckServer, job: Job) -> CheckedServer:
        compiled, last = request.compiled, CheckedServer(request)

        def show(report: ProbeReport) -> None:
            nonlocal last
            last = CheckedServer(request, report)
            if not report.is_complete:
                job.emit(last)

        grammar = None
        if compiled is not None:
            grammar = RequestConstraint(compiled.notation, compiled.text, compiled.options)
        try:
            with ServerClient(request.address, key=request.key or key_of(request.address)) as client:
                tokenizer = _tokenizer(request.tokenizer)
                probe_server(
                    client, model=request.model, grammar=grammar, tokenizer=tokenizer, cancel=job.cancel, show=show
                )
        except CancelledError:
            raise
        except GrammarError:
            return CheckedServer(request, last.report, ui_text("workers.judge.fix_first"))
        except EngineError as error:
            return CheckedServer(request, last.report, sentence(error).rstrip("."))
        return last


def _tokenizer(path: str) -> Vocabulary | None:
    """Return the vocabulary of a tokenizer; None if there is none at the path."""
    if not path or not Path(path).exists():
        return None
    try:
        return Vocabulary.from_tokenizer(Path(path))
    except VocabularyError:
        return None


def _reduced(request: FindSmallest, cancel: CancelToken) -> tuple[ReducedText, EngineFailure | ServerFailure]:
    compiled = request.compiled
    constraint = RequestConstraint(compiled.notation, compiled.text, compiled.options)
    if request.engine:
        peer = find_peers([request.engine])[-1]
        return reduce_by_engine(peer, constraint, examples=request.examples, cancel=cancel)
    check = ServerCheck(request.server, compiled.notation, model=request.model, key=request.key, cancel=cancel)
    return reduce_by_server(check, constraint, cancel=cancel)


def _span(compiled: CompileRequest, found: ReducedText) -> Span | None:
    """Return the place of the guilty part in the grammar."""
    if found.rule is not None:
        names = NOTATIONS[compiled.notation].names(compiled.text)
        return next((name.definitions[0] for name in names if name.text == found.rule and name.definitions), None)
    return spans_at(compiled.text, (found.pointer,)).get(found.pointer) if found.pointer else None


def _output(question: ReplayQuestion) -> bytes | None:
    """Return the bytes of the output of a question; None for token ids, whose bytes only a model knows."""
    if question.ids is not None:
        return None
    if question.saved is not None:
        return question.saved.text
    return question.text.encode("utf-8", "surrogatepass") or None
