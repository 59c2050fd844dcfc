"""A trace on its way to the window: in pieces, each of which crosses once.

After every step the window gets the whole tree, and making a thousand steps anew
takes a reader longer than a frame. Here a piece of the tree is pickled once and
unpickled once, and in a worker process it is sent once, too: from then on its number
stands for it, as long as every view has it. What a view adds is a piece of its own, so
a step costs what it adds, and whoever compares two traces finds their nodes identical.

That is safe because every message of a process is read, in order, even where its job
was cancelled and nobody hears of the answer; and a new process is another sender.

Rejected: sending only what a step changed. The answer to a cancelled request is
dropped, and the window would go on without a part of the tree. Pieces of a fixed size:
the last one, which is not full yet, was made anew with every step.
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
_SENDERS = 4  # whose pieces are kept; a window hears one at a time

Nodes: TypeAlias = tuple[TraceNode, ...]


@dataclass(frozen=True, slots=True)
class PackedTrace:
    """A trace whose nodes are pickled piece by piece; else the same fields.

    Attributes:
        sender: whose numbers the pieces have.
        pieces: a piece's number and its pickled nodes; or the first and the last number of pieces, which follow one
            another, that the view before had, too.
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
    """Packs one trace after the other.

    Attributes:
        sends_once: whether a piece is left out that the view before had. Only for who is read without a gap.
    """

    def __init__(self) -> None:
        self.sends_once = False
        self._name = uuid.uuid4().hex
        self._numbers = 0
        self._pieces: list[_Piece] = []
        self._nodes: Nodes = ()  # of all of them
        self._told: list[tuple[int, bytes | int]] = []  # as they are sent again

    def pack(self, trace: Trace) -> PackedTrace:
        """Pickle what is new of a trace's nodes."""
        if trace.nodes[: len(self._nodes)] == self._nodes:  # mostly they are the very same ones, which is quick
            known, told = len(self._nodes), list(self._told)
        else:
            pieces = list(self._brought_up_to_date(trace.nodes))
            known, told = sum(len(piece.nodes) for piece in pieces), _told(pieces, [])
            self._pieces = [self._sent(piece) for piece in pieces]
            self._told = _told(self._pieces, [])
        starts = range(known, len(trace.nodes), _LARGEST)
        new = [self._piece(trace.nodes[start : start + _LARGEST]) for start in starts]
        sent = [self._sent(piece) for piece in new]
        self._nodes, self._told = trace.nodes, _told(sent, self._told)
        self._pieces += sent
        return PackedTrace(self._name, tuple(_told(new, told)), trace.path, trace.current, trace.illegal)

    def _sent(self, piece: _Piece) -> _Piece:
        return piece._replace(pickled=b"") if self.sends_once and piece.pickled else piece

    def _brought_up_to_date(self, nodes: Nodes) -> Iterator[_Piece]:
        """The pieces at their places, those made anew whose nodes are others now."""
        at = 0
        for piece in self._pieces:
            if part := nodes[at : at + len(piece.nodes)]:
                yield piece if part == piece.nodes else self._piece(part)
                at += len(part)

    def _piece(self, nodes: Nodes) -> _Piece:
        self._numbers += 1
        return _Piece(nodes, self._numbers, pickle.dumps(nodes, pickle.HIGHEST_PROTOCOL))


def _told(pieces: Iterable[_Piece], told: list[tuple[int, bytes | int]]) -> list[tuple[int, bytes | int]]:
    """What is sent of pieces, behind what is told already: of known ones that follow on, the first and last number."""
    for piece in pieces:
        before = told[-1][1] if told else None
        if piece.pickled:
            told.append((piece.number, piece.pickled))
        elif before == piece.number - 1:
            told[-1] = told[-1][0], piece.number
        else:
            told.append((piece.number, piece.number))
    return told


class Receiver:
    """Unpacks what senders packed, in the order in which it came."""

    def __init__(self) -> None:
        self._known: dict[str, dict[int, Nodes]] = {}

    def unpack(self, packed: PackedTrace) -> Trace:
        """The trace again."""
        before = self._known.pop(packed.sender, {})
        pieces: dict[int, Nodes] = {}
        for number, content in packed.pieces:
            if isinstance(content, int):
                pieces.update((known, before[known]) for known in range(number, content + 1))
            else:
                pieces[number] = before[number] if number in before else _unpickled(content)
        self._known[packed.sender] = pieces  # at the end: the ones that are heard stay
        while len(self._known) > _SENDERS:
            del self._known[next(iter(self._known))]
        return Trace(tuple(chain.from_iterable(pieces.values())), packed.path, packed.current, packed.illegal)


def _unpickled(pickled: bytes) -> Nodes:
    nodes: Nodes = pickle.loads(pickled)  # noqa: S301 - our own worker wrote it
    return nodes


SENDER, RECEIVER = Sender(), Receiver()  # of this process
