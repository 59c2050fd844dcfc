"""The registry of engines for the benchmark, and which of them are compared."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.peers.adapter import OWN, Peer
from engine.source import EngineError
from engine.source.registry import Registry

PEERS: Final = Registry[Peer](
    "engine.peers.adapters",
    "PEER",
    order=(OWN, "llguidance", "xgrammar", "xgrammar-open", "outlines-core", "llama-cpp"),
)
"""All engines; Turnstile comes first, and the others are compared with it."""


class UnknownPeerError(EngineError):
    """There is no adapter for the engine."""


def find_peers(names: Sequence[str] = ()) -> tuple[Peer, ...]:
    """Return the engines with these names, by default all; Turnstile is always included and first.

    Raises:
        UnknownPeerError: an engine is unknown.
    """
    for name in names:
        if name not in PEERS:
            raise UnknownPeerError("errors.peers.unknown", name=name, names=", ".join(PEERS.names))
    return tuple(PEERS[name] for name in PEERS.names if not names or name in {OWN, *names})
