"""The engines of a comparison, whether installed or attached: what both can be asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Protocol, Self

from engine.compile import CompileOptions
from engine.peers.adapter import OWN, Peer
from engine.peers.bench import PeerProcess
from engine.peers.masks import CompleteText, FollowedTexts, FollowTexts
from engine.source import CancelToken
from engine.vocabulary import Vocabulary

QUESTION_LIMIT_S: Final = 10.0
"""The time limit of an engine for one question, in seconds."""
_Ids = tuple[int, ...]


class ComparedEngine(Protocol):
    """An engine over the vocabulary of a comparison, for grammars of one notation.

    Attributes:
        name: its name in results.
        version: its version; empty if it is unknown.
    """

    name: str
    version: str

    def follow(self, source: str, paths: Sequence[_Ids]) -> FollowedTexts:
        """Return the masks along texts under a grammar, or why the engine refuses the grammar."""

    def complete(self, source: str, path: _Ids) -> _Ids | None:
        """Return a complete text that begins with some tokens and that the engine accepts; None if none is found."""


class PeerEngine:
    """An installed engine in a process of its own.

    Args:
        peer: the engine.
        vocabulary: the vocabulary of the masks, with an EOS id.
        notation: the id of the notation of the grammars.
        options: the options of Turnstile's compiles.
        limit_s: the time limit of a question, in seconds.
        cancel: cancels a question.
    """

    def __init__(
        self,
        peer: Peer,
        vocabulary: Vocabulary,
        notation: str,
        *,
        options: CompileOptions,
        limit_s: float = QUESTION_LIMIT_S,
        cancel: CancelToken,
    ) -> None:
        self.name, self.version, self._notation = peer.name, peer.version or "", notation
        self._process = PeerProcess(peer, vocabulary, limit_s=limit_s, options=options, cancel=cancel)

    def __enter__(self) -> Self:
        self._process.__enter__()
        return self

    def __exit__(self, *reason: object) -> None:
        self._process.__exit__(*reason)

    def follow(self, source: str, paths: Sequence[_Ids]) -> FollowedTexts:
        """See `ComparedEngine`."""
        return self._process.follow(FollowTexts(self._notation, source, tuple(paths)))

    def complete(self, source: str, path: _Ids) -> _Ids | None:
        """See `ComparedEngine`."""
        return self._process.complete(CompleteText(self._notation, source, path))


def nearest_options(options: CompileOptions, peers: Sequence[Peer]) -> CompileOptions:
    """Return options with which Turnstile writes JSON values in nearly the forms of the engine beside it.

    Args:
        options: the options of the grammar, such as its dialect.
        peers: the engines that are compared.
    """
    other = next((one for one in reversed(peers) if one.name != OWN), None)
    return options if other is None else replace(options, whitespace=other.options.whitespace)
