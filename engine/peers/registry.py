"""The registry of engines for the benchmark, and which of them are installed."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import cast

from engine.peers.adapter import Adapter
from engine.source import EngineError

OWN = "turnstile"


class UnknownPeerError(EngineError):
    """There is no adapter for the engine."""


@dataclass(frozen=True, slots=True)
class Peer:
    """An engine for the benchmark.

    Attributes:
        name: its name on the command line.
        distribution: the name of its package for pip.
        module, attribute: the module and the name of its adapter.
    """

    name: str
    distribution: str
    module: str
    attribute: str

    @property
    def version(self) -> str | None:
        """Return the installed version; None if it is not installed (Turnstile itself always is)."""
        try:
            return version(self.distribution)
        except PackageNotFoundError:
            return "(not packaged)" if self.name == OWN else None

    @property
    def hint(self) -> str:
        """Return how to install it."""
        return f"pip install {self.distribution}, or all of them: pip install 'token-turnstile[bench]'"

    def adapter(self) -> type[Adapter]:
        """Return the class of its adapter, whose constructor loads the engine."""
        return cast("type[Adapter]", getattr(importlib.import_module(self.module), self.attribute))


PEERS = (
    Peer(OWN, "token-turnstile", "engine.peers.bench_worker", "OwnAdapter"),
    Peer("llguidance", "llguidance", "engine.peers.llguidance", "LlguidanceAdapter"),
    Peer("xgrammar", "xgrammar", "engine.peers.xgrammar", "XgrammarAdapter"),
    Peer("xgrammar-open", "xgrammar", "engine.peers.xgrammar", "OpenXgrammarAdapter"),
    Peer("outlines-core", "outlines-core", "engine.peers.outlines_core", "OutlinesAdapter"),
)
"""All engines; Turnstile comes first, and the others are compared with it."""


def find_peers(names: Sequence[str] = ()) -> tuple[Peer, ...]:
    """Return the engines with these names, by default all; Turnstile is always included and first.

    Raises:
        UnknownPeerError: an engine is unknown.
    """
    known = {peer.name: peer for peer in PEERS}
    for name in names:
        if name not in known:
            raise UnknownPeerError(f"there is no engine {name}; there is {', '.join(known)}")
    return tuple(peer for peer in PEERS if not names or peer.name in {OWN, *names})
