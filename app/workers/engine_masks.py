"""Reads the masks of engines and servers along the run of the session, in the process of the engines.

Grammar, vocabulary and connections are kept from one request to the next, since a run grows by a token at a time.
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Final

from app.workers.loop import Job, handles
from app.workers.protocol import sentence
from app.workers.requests.engine_masks import (
    EngineChoice,
    EngineMask,
    EngineMasksAnswer,
    PartedPosition,
    ReadEngineMasks,
)
from engine.compile import compile_grammar
from engine.peers.registry import find_peers
from engine.peers.run_masks import EngineMasks, MaskParting, OwnMasks, PeerMasks, ServerMasks, parting
from engine.servers import ServerClient, identify
from engine.servers.keys import key_of
from engine.source import CancelledError, EngineError
from engine.vocabulary import visible

if TYPE_CHECKING:
    from app.workers.requests.compile import CompileRequest
    from engine.source import CancelToken
    from engine.vocabulary import Vocabulary

_MOST_NAMED: Final = 8  # tokens


class EngineMasksHandler:
    """Answers `ReadEngineMasks`."""

    def __init__(self) -> None:
        self._vocabulary: Vocabulary | None = None
        self._fingerprint = ""
        self._compiled: CompileRequest | None = None
        self._own: OwnMasks | None = None
        self._open: dict[EngineChoice, EngineMasks] = {}

    @handles(ReadEngineMasks)
    def _read(self, request: ReadEngineMasks, job: Job) -> EngineMasksAnswer:
        if request.vocabulary:
            self._vocabulary, self._fingerprint = pickle.loads(request.vocabulary), request.fingerprint  # noqa: S301 - of the decode process
            self._compiled = None
        if self._vocabulary is None or self._fingerprint != request.fingerprint:
            return EngineMasksAnswer(request, needs_vocabulary=True)
        try:
            own = self._own_masks(request.compiled, self._vocabulary, job.cancel)
        except CancelledError:
            raise
        except EngineError as error:  # a limit, or a grammar that needs more time here
            reason = sentence(error).rstrip(".")
            return EngineMasksAnswer(
                request, tuple(EngineMask(one, one.name, reason=reason) for one in request.engines)
            )
        for engine in self._open.keys() - set(request.engines):
            self._open.pop(engine).close()
        masks: list[EngineMask] = []
        for engine in request.engines:
            try:
                masks.append(self._compared(engine, request, own, self._vocabulary, job.cancel))
            except CancelledError:
                raise
            except EngineError as error:
                self._close(engine)
                reason = sentence(error).rstrip(".")
                masks.append(EngineMask(engine, engine.name, reason=reason))
        return EngineMasksAnswer(request, tuple(masks))

    def _own_masks(self, compiled: CompileRequest, vocabulary: Vocabulary, cancel: CancelToken) -> OwnMasks:
        """Return our masks; another grammar closes what was opened for the last one."""
        if self._own is None or self._compiled != compiled:
            for engine in tuple(self._open):
                self._close(engine)
            grammar = compile_grammar(compiled.notation, compiled.text, compiled.options, cancel=cancel)
            self._own, self._compiled = OwnMasks(grammar, vocabulary), compiled
        return self._own

    def _close(self, engine: EngineChoice) -> None:
        if engine in self._open:
            self._open.pop(engine).close()

    def _compared(
        self,
        engine: EngineChoice,
        request: ReadEngineMasks,
        own: OwnMasks,
        vocabulary: Vocabulary,
        cancel: CancelToken,
    ) -> EngineMask:
        """Return what an engine allows at the last position, and where it departs from us before."""
        opened = self._open.get(engine)
        if opened is None:
            opened = self._open[engine] = _opened(engine, request.compiled, vocabulary, cancel)
        positions = range(len(request.ids) + 1)
        with opened.cancelled_by(cancel):
            masks = opened.along(request.ids, positions)
        last = masks[len(request.ids)]
        ours = own.along(request.ids, positions)
        parted = {position: parting(ours[position], masks[position]) for position in positions if position in ours}
        now = parted.get(len(request.ids), MaskParting())
        return EngineMask(
            engine,
            opened.name,
            opened.version,
            last.words,
            last.reason,
            frozenset(now.gained),
            frozenset(now.lost),
            tuple(_parted_position(at, one, vocabulary) for at, one in parted.items() if one),
        )


def _opened(engine: EngineChoice, compiled: CompileRequest, vocabulary: Vocabulary, cancel: CancelToken) -> EngineMasks:
    """Return the masks of an engine.

    Raises:
        EngineError: it cannot be asked, or shows no mask for this grammar.
    """
    if not engine.is_server:
        return PeerMasks(find_peers([engine.name])[-1], compiled.notation, compiled.text, vocabulary)
    client = ServerClient(engine.name, key=key_of(engine.name), cancel=cancel)
    try:
        return ServerMasks(client, identify(client), compiled.notation, compiled.text, vocabulary)
    except BaseException:
        client.close()
        raise


def _parted_position(position: int, parted: MaskParting, vocabulary: Vocabulary) -> PartedPosition:
    gained, lost = (tuple(_name(one, vocabulary) for one in ids[:_MOST_NAMED]) for ids in (parted.gained, parted.lost))
    return PartedPosition(position, len(parted.gained), len(parted.lost), gained, lost)


def _name(token_id: int, vocabulary: Vocabulary) -> str:
    token = vocabulary.tokens[token_id]
    return visible(token) if token else vocabulary.special.get(token_id, f"#{token_id}")
