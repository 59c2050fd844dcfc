"""Pickling a trace for the window in pieces, each of which is sent once.

After every step the window gets the whole tree, and building a thousand steps again takes the receiver longer than a
frame. Here a piece of the tree is pickled once and unpickled once, and a worker process sends it only once: afterwards
it sends only the number of the piece, as long as every view contains it. The nodes that a view adds are a new piece, so
a step costs what it adds, and the nodes of two traces can be compared by identity. This is safe because every message
of a process is read, in order, even if its job was cancelled and its answer is dropped; and a new process is a new
sender.

Rejected: sending only what a step changed. The answer to a cancelled request is dropped, and the window would continue
without a part of the tree. Pieces of a fixed size: the last one, which is not full yet, was pickled again with every
step.
"""

from __future__ import annotations

import pickle
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple, TypeAlias

from engine.decoding.values import Trace, TraceNode

_LARGEST = 16  # nodes
_SENDERS = 4  # whose pieces are kept; a window has one sender at a time

Nodes: TypeAlias = tuple[TraceNode, ...]


@dataclass(frozen=True, slots=True)
class PackedTrace:
    """A trace whose nodes are pickled piece by piece; its other fields are those of `Trace`.

    Attributes:
        sender: the owner of the piece numbers.
        pieces: pairs of a piece's number and its pickled nodes, or of the first and the last number of consecutive
            pieces that the view before had, too.
    """

    sender: str
    pieces: tuple[tuple[int, bytes | int], ...]
    path: tuple[int, ...]
    current: int | None
    illegal: frozenset[int]


class _Piece(NamedTuple):
    nodes: Nodes
    number: int
    pickled: bytes  # empty once the other side has it


class Sender:
    """Packs consecutive traces.

    Attributes:
        sends_once: whether to omit pieces that the view before had. Only for a receiver that reads every view.
    """

    def __init__(self) -> None:
        self.sends_once = False
        self._name = uuid.uuid4().hex
        self._last_number = 0
        self._pieces: list[_Piece] = []
        self._nodes: Nodes = ()  # of all pieces
        self._entries: list[tuple[int, bytes | int]] = []  # as they are sent again

    def pack(self, trace: Trace) -> PackedTrace:
        """Pickle the new nodes of a trace."""
        if trace.nodes[: len(self._nodes)] == self._nodes:  # usually they are identical objects, which is fast
            known, entries = len(self._nodes), list(self._entries)
        else:
            pieces = list(self._updated_pieces(trace.nodes))
            known, entries = sum(len(piece.nodes) for piece in pieces), _entries(pieces, [])
            self._pieces = [self._as_sent(piece) for piece in pieces]
            self._entries = _entries(self._pieces, [])
        starts = range(known, len(trace.nodes), _LARGEST)
        new = [self._piece(trace.nodes[start : start + _LARGEST]) for start in starts]
        sent = [self._as_sent(piece) for piece in new]
        self._nodes, self._entries = trace.nodes, _entries(sent, self._entries)
        self._pieces += sent
        return PackedTrace(self._name, tuple(_entries(new, entries)), trace.path, trace.current, trace.illegal)

    def _as_sent(self, piece: _Piece) -> _Piece:
        return piece._replace(pickled=b"") if self.sends_once and piece.pickled else piece

    def _updated_pieces(self, nodes: Nodes) -> Iterator[_Piece]:
        """Yield the pieces in order; pickle those again whose nodes have changed."""
        at = 0
        for piece in self._pieces:
            if part := nodes[at : at + len(piece.nodes)]:
                yield piece if part == piece.nodes else self._piece(part)
                at += len(part)

    def _piece(self, nodes: Nodes) -> _Piece:
        self._last_number += 1
        return _Piece(nodes, self._last_number, pickle.dumps(nodes, pickle.HIGHEST_PROTOCOL))


def _entries(pieces: Iterable[_Piece], entries: list[tuple[int, bytes | int]]) -> list[tuple[int, bytes | int]]:
    """Append the entries of pieces to a list; known consecutive ones become the pair of their first and last number."""
    for piece in pieces:
        before = entries[-1][1] if entries else None
        if piece.pickled:
            entries.append((piece.number, piece.pickled))
        elif before == piece.number - 1:
            entries[-1] = entries[-1][0], piece.number
        else:
            entries.append((piece.number, piece.number))
    return entries


class Receiver:
    """Unpacks what senders packed, in the order in which it arrives."""

    def __init__(self) -> None:
        self._known: dict[str, dict[int, Nodes]] = {}

    def unpack(self, packed: PackedTrace) -> Trace:
        """Return the trace."""
        before = self._known.pop(packed.sender, {})
        pieces: dict[int, Nodes] = {}
        for number, content in packed.pieces:
            if isinstance(content, int):
                pieces.update((known, before[known]) for known in range(number, content + 1))
            else:
                pieces[number] = before[number] if number in before else _unpickled(content)
        self._known[packed.sender] = pieces  # reinserted at the end, so that active senders stay
        while len(self._known) > _SENDERS:
            del self._known[next(iter(self._known))]
        return Trace(tuple(chain.from_iterable(pieces.values())), packed.path, packed.current, packed.illegal)


def _unpickled(pickled: bytes) -> Nodes:
    nodes: Nodes = pickle.loads(pickled)  # noqa: S301 - our own worker wrote it
    return nodes


SENDER, RECEIVER = Sender(), Receiver()  # of this process
