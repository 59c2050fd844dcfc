"""A trace on its way to the window: in pieces, so that what did not change is not made again.

After every step the window gets the whole tree, and making a thousand steps anew
takes a reader longer than a frame. Here a piece of the tree is pickled once and
unpickled once: the same bytes give the same nodes, so that a step costs what it
adds, and whoever compares two traces finds most of their nodes identical.

Rejected: sending only what a step changed. The answer to a cancelled request is
dropped, and the window would go on without a part of the tree.
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain

from engine.decoding.values import Trace, TraceNode

_PIECE = 32  # nodes
_PIECES_KEPT = 2_048


@dataclass(frozen=True, slots=True)
class PackedTrace:
    """A trace whose nodes are pickled piece by piece; else the same fields."""

    pieces: tuple[bytes, ...]
    path: tuple[int, ...]
    current: int | None
    illegal: frozenset[int]


def pack(trace: Trace) -> PackedTrace:
    """Pickle a trace's nodes."""
    starts = range(0, len(trace.nodes), _PIECE)
    pieces = tuple(_packed(trace.nodes[start : start + _PIECE]) for start in starts)
    return PackedTrace(pieces, trace.path, trace.current, trace.illegal)


def unpack(packed: PackedTrace) -> Trace:
    """The trace again."""
    nodes = tuple(chain.from_iterable(map(_unpacked, packed.pieces)))
    return Trace(nodes, packed.path, packed.current, packed.illegal)


@lru_cache(maxsize=_PIECES_KEPT)
def _packed(nodes: tuple[TraceNode, ...]) -> bytes:
    return pickle.dumps(nodes, pickle.HIGHEST_PROTOCOL)


@lru_cache(maxsize=_PIECES_KEPT)
def _unpacked(piece: bytes) -> tuple[TraceNode, ...]:
    nodes: tuple[TraceNode, ...] = pickle.loads(piece)  # noqa: S301 - our own worker wrote it
    return nodes
