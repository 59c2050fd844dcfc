"""Requests about the masks of other engines and of servers, beside the mask of the session."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from app.workers.protocol import WorkerRequest

if TYPE_CHECKING:
    from app.workers.requests.compile import CompileRequest


class MaskCell(StrEnum):
    """The decision of an engine on a token."""

    ALLOWED = "allowed"
    MASKED = "masked"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class EngineChoice:
    """An engine that is compared with the session.

    Attributes:
        name: the name of an installed engine, or the address of a server.
        is_server: whether it is a server.
    """

    name: str
    is_server: bool = False


@dataclass(frozen=True, slots=True)
class PackVocabulary(WorkerRequest["PackedVocabulary"]):
    """Ask the decode process for the vocabulary of its model, which the process of the engines needs."""


@dataclass(frozen=True, slots=True)
class PackedVocabulary:
    """A vocabulary, as the decode process pickled it.

    Attributes:
        fingerprint: that of the vocabulary; empty without a model.
    """

    fingerprint: str = ""
    data: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class ReadEngineMasks(WorkerRequest["EngineMasksAnswer"]):
    """Read the masks of engines at the positions of a run.

    Attributes:
        compiled: the grammar.
        engines: the engines.
        ids: the tokens that the grammar has read.
        fingerprint: that of the vocabulary.
        vocabulary: the vocabulary, if the process does not have it yet.
    """

    compiled: CompileRequest
    engines: tuple[EngineChoice, ...]
    ids: tuple[int, ...]
    fingerprint: str
    vocabulary: bytes = field(default=b"", repr=False)


@dataclass(frozen=True, slots=True)
class PartedPosition:
    """A position of a run at which the mask of an engine is not that of the session.

    Attributes:
        position: the number of tokens before it.
        gained, lost: the number of tokens that the engine alone allows, and that it alone masks.
        gained_tokens, lost_tokens: some of them, as displayed text.
    """

    position: int
    gained: int
    lost: int
    gained_tokens: tuple[str, ...]
    lost_tokens: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class EngineMask:
    """The mask of an engine at the last position of a run, and the positions at which it departs from the session.

    Attributes:
        engine: the engine.
        title: its name for users.
        version: its version; empty if it is not known.
        words: bit `i & 7` of byte `i >> 3` is set if it allows token `i`.
        reason: why it may allow others too, or why nothing is known of it; empty if the mask is known.
        gained: the ids that it alone allows.
        lost: the ids that it alone masks.
        parted: the positions at which the masks differ.
    """

    engine: EngineChoice
    title: str
    version: str = ""
    words: bytes = field(default=b"", repr=False)
    reason: str = ""
    gained: frozenset[int] = field(default=frozenset(), repr=False)
    lost: frozenset[int] = field(default=frozenset(), repr=False)
    parted: tuple[PartedPosition, ...] = ()

    def cell(self, token_id: int) -> MaskCell:
        """Return what the engine does with a token at the last position."""
        byte = self.words[token_id >> 3] if token_id >> 3 < len(self.words) else 0
        if byte >> (token_id & 7) & 1:
            return MaskCell.ALLOWED
        return MaskCell.UNKNOWN if self.reason else MaskCell.MASKED

    def differs(self, token_id: int) -> bool:
        """Return whether the engine is known to do something else with a token than the session's grammar."""
        return token_id in self.lost or token_id in self.gained


@dataclass(frozen=True, slots=True)
class EngineMasksAnswer:
    """The masks of the engines, in the order of the request.

    Attributes:
        needs_vocabulary: whether the request must be repeated with its vocabulary.
    """

    request: ReadEngineMasks
    masks: tuple[EngineMask, ...] = ()
    needs_vocabulary: bool = False
