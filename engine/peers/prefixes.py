"""How many bytes of an output each installed engine accepts under a grammar.

Every engine gets the same vocabulary, the 256 bytes, so that the answers do not depend on a tokenizer. An engine that
refuses the grammar, crashes or takes too long has no answer, and the others are still asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from engine.compile import CompileOptions
from engine.peers.adapter import BYTES, Peer, PeerAbsentError
from engine.peers.bench import PeerProcess
from engine.peers.bench_cases import BenchCase, LabelledText
from engine.peers.registry import PEERS
from engine.peers.report import CaseOutcome
from engine.source import CancelToken
from engine.source.catalogue import catalogue_text


@dataclass(frozen=True, slots=True)
class EnginePrefix:
    """Tell how much of an output an engine accepts.

    Attributes:
        engine: the name of the engine.
        version: the version of its package.
        outcome: whether it compiled the grammar and read the output; None if the engine cannot be used.
        reason: why there is no answer; empty if there is one.
        accepted: the number of bytes that it accepts; None without an answer.
        is_complete: whether the output is a complete match.
    """

    engine: str
    version: str
    outcome: CaseOutcome | None
    reason: str = ""
    accepted: int | None = None
    is_complete: bool = False

    @property
    def answer(self) -> str:
        """Return what it accepts, or why there is no answer, in a few words."""
        if self.accepted is None:
            return self.reason if self.outcome is None else f"{self.outcome}: {self.reason}"
        key = "complete" if self.is_complete else "accepted"
        return catalogue_text(f"diagnosis.engines.fragment.{key}", count=self.accepted)


def installed_peers(notation: str) -> tuple[Peer, ...]:
    """Return the installed engines that read a notation, Turnstile first."""
    return tuple(peer for peer in PEERS if peer.version is not None and notation in peer.notations)


def accepted_prefixes(
    peers: Sequence[Peer],
    notation: str,
    source: str,
    output: bytes,
    *,
    options: CompileOptions = CompileOptions(),  # noqa: B008 - frozen
    limit_s: float = 10.0,
    cancel: CancelToken | None = None,
) -> tuple[EnginePrefix, ...]:
    """Return how many bytes of an output each engine accepts, up to the first byte that is not UTF-8.

    Args:
        peers: the engines, which run one after the other, each in a process of its own.
        notation: the id of the notation.
        source: the grammar.
        output: the output.
        options: the options of Turnstile's compile.
        limit_s: the time limit of an engine, in seconds, after it was loaded.
        cancel: checked many times a second; receives the progress.

    Raises:
        CancelledError: `cancel` was used; no process is left running.
    """
    cancel = cancel or CancelToken()
    case = BenchCase("output", notation, source, (LabelledText(_readable(output)),))
    found = []
    for number, peer in enumerate(peers):
        cancel.report(peer.name, number, len(peers))
        version = peer.version or ""
        with PeerProcess(peer, BYTES, limit_s=limit_s, options=options, cancel=cancel) as process:
            try:
                measured = process.measure(case)
            except PeerAbsentError as error:
                found.append(EnginePrefix(peer.name, version, None, str(error.fields["reason"])))
                continue
        if measured.ending is CaseOutcome.DONE:
            accepted, is_complete = measured.reached[0], measured.verdicts[0]
            found.append(EnginePrefix(peer.name, version, measured.ending, "", accepted, is_complete))
        else:
            found.append(EnginePrefix(peer.name, version, measured.ending, measured.reason))
    return tuple(found)


def _readable(output: bytes) -> str:
    """Return an output up to its first invalid byte, as text."""
    try:
        return output.decode()
    except UnicodeDecodeError as error:
        return output[: error.start].decode()
