"""Reductions by an installed engine or by a server, for the console and the window."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from engine.diagnosis.case import RequestConstraint
from engine.diagnosis.reduce.engine_check import EngineCheck, EngineFailure
from engine.diagnosis.reduce.reduction import ReducedText, reduce_text
from engine.diagnosis.reduce.server_check import ServerCheck, ServerFailure
from engine.peers.adapter import BYTES, Peer
from engine.peers.bench import PeerProcess
from engine.servers import ServerError
from engine.source import CancelToken, EngineError

ENGINE_LIMIT_S: Final = 10.0
"""The default time limit of an engine for a candidate, in seconds."""
_LONGEST_ANSWER: Final = 80  # characters


def reduce_by_engine(
    peer: Peer,
    constraint: RequestConstraint,
    *,
    examples: Sequence[str] = (),
    seed: int = 0,
    limit_s: float = ENGINE_LIMIT_S,
    most_checks: int | None = None,
    cancel: CancelToken,
) -> tuple[ReducedText, EngineFailure]:
    """Return the smallest text on which an installed engine fails as on the original, and how it fails on that.

    Args:
        peer: the engine.
        constraint: the request, schema or grammar, with its compile options.
        examples: texts that the engine judges; if there are none, they are generated.
        seed: the seed of generated texts.
        limit_s: the time limit of the engine for a candidate, in seconds.
        most_checks: the largest number of checks; None for no limit.
        cancel: cancels the reduction, and receives the number of checks as progress.

    Raises:
        EngineError: the engine cannot be used, or does not fail on the text.
        JsonTextError: the text should be JSON, and is not.
        CancelledError: `cancel` was used; no process is left running.
    """
    options = constraint.options
    with PeerProcess(peer, BYTES, limit_s=limit_s, options=options, cancel=cancel) as process:
        check = EngineCheck(process, constraint.notation, options, examples, seed, cancel)
        failure = check.failure(constraint.text)
        if failure is None:
            raise EngineError("errors.diagnosis.engine_agrees", engine=peer.name)
        found = _reduced(constraint, lambda one: failure.is_like(check.failure(one)), most_checks, cancel)
        return found, check.failure(found.text) or failure


def reduce_by_server(
    check: ServerCheck,
    constraint: RequestConstraint,
    *,
    most_checks: int | None = None,
    cancel: CancelToken,
) -> tuple[ReducedText, ServerFailure]:
    """Return the smallest text on which a server fails as on the original, and how it fails on the original.

    Args:
        check: the server.
        constraint: the request, schema or grammar, with its compile options.
        most_checks: the largest number of checks; None for no limit.
        cancel: as in `reduce_by_engine`.

    Raises:
        EngineError: the server cannot be asked, no grammar is in force there, or it does not fail on the text.
        JsonTextError: the text should be JSON, and is not.
        CancelledError: `cancel` was used.
    """
    failure = check.failure(constraint.text)
    if failure is None:
        raise EngineError("errors.diagnosis.server_agrees")
    if not failure.kind.startswith("http-") and (answer := check.canary()) is not None:
        raise ServerError("errors.diagnosis.not_in_force", answer=repr(answer[:_LONGEST_ANSWER]))
    return _reduced(constraint, lambda one: failure.is_like(check.failure(one)), most_checks, cancel), failure


def _reduced(
    constraint: RequestConstraint, fails: Callable[[str], bool], most_checks: int | None, cancel: CancelToken
) -> ReducedText:
    return reduce_text(
        constraint.text,
        constraint.notation,
        fails,
        options=constraint.options,
        most_checks=most_checks,
        cancel=cancel,
    )
