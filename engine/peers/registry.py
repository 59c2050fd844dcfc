"""Which engines there are, and which of them are installed."""

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
    """An engine is named that there is no adapter for."""


@dataclass(frozen=True, slots=True)
class Peer:
    """An engine.

    Attributes:
        name: as the command line calls it.
        distribution: what pip installs.
        module, attribute: where its adapter is.
    """

    name: str
    distribution: str
    module: str
    attribute: str

    @property
    def version(self) -> str | None:
        """The version that is installed; None where none is, but for this engine, which is always there."""
        try:
            return version(self.distribution)
        except PackageNotFoundError:
            return "(not packaged)" if self.name == OWN else None

    @property
    def hint(self) -> str:
        """How to get it."""
        return f"pip install {self.distribution}, or all of them: pip install 'token-turnstile[bench]'"

    def adapter(self) -> type[Adapter]:
        """Its adapter's class; the engine itself is loaded when the class is called."""
        return cast("type[Adapter]", getattr(importlib.import_module(self.module), self.attribute))


PEERS = (
    Peer(OWN, "token-turnstile", "engine.peers.turnstile", "OwnAdapter"),
    Peer("llguidance", "llguidance", "engine.peers.llguidance", "LlguidanceAdapter"),
    Peer("xgrammar", "xgrammar", "engine.peers.xgrammar", "XgrammarAdapter"),
    Peer("xgrammar-open", "xgrammar", "engine.peers.xgrammar", "OpenXgrammarAdapter"),
    Peer("outlines-core", "outlines-core", "engine.peers.outlines_core", "OutlinesAdapter"),
)
"""Every engine, this one first: the others are compared with it."""


def find_peers(names: Sequence[str] = ()) -> tuple[Peer, ...]:
    """The engines of these names, all of them by default; this one is always the first.

    Raises:
        UnknownPeerError: there is no such engine.
    """
    known = {peer.name: peer for peer in PEERS}
    for name in names:
        if name not in known:
            raise UnknownPeerError(f"there is no engine {name}; there is {', '.join(known)}")
    return tuple(peer for peer in PEERS if not names or peer.name in {OWN, *names})
