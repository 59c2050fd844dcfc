"""The masks of other engines and of servers along a run, beside the mask of Turnstile.

An engine runs in a child process of its own, a server is asked. What is not known of a mask stays unknown. The end of
the output counts as one token: an engine knows one id for it, a server its own ones, a vocabulary has several.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np
import numpy.typing as npt

from engine.compile import CompiledGrammar
from engine.masking.bitmask import pack_mask, unpack_mask
from engine.matching import Matcher
from engine.notations import NOTATIONS
from engine.peers.adapter import Peer, PeerAbsentError, UnsupportedNotationError
from engine.peers.bench import PeerProcess
from engine.peers.masks import FollowTexts
from engine.servers import KINDS, RefusedRequestError, ServerClient, ServerIdentity
from engine.servers.grammar_form import GrammarForm
from engine.servers.server_mask import ServerMask, ServerMaskReader, Unread, mask_reader
from engine.source.catalogue import catalogue_text

if TYPE_CHECKING:
    from engine.source import CancelToken
    from engine.vocabulary import Vocabulary

Allowed = npt.NDArray[np.bool_]
_MOST_REMEMBERED: Final = 4_096  # masks
_NO_ANSWER: Final = (401, 403, 404, 429)
"""The HTTP statuses that say nothing of the grammar."""


@dataclass(frozen=True, slots=True)
class RunMask:
    """The mask of an engine at one position, as far as it is known.

    Attributes:
        words: bit `i & 7` of byte `i >> 3` is set if the engine is known to allow token `i`.
        reason: why it may allow others, too, as a part of a sentence; empty if it does not.
        unread: the kind of this reason; None for an error of the engine, and without a reason.
    """

    words: bytes = b""
    reason: str = ""
    unread: Unread | None = None

    @property
    def ids(self) -> list[int]:
        """Return the ids that it is known to allow, ascending."""
        found: list[int] = np.flatnonzero(self.allowed(8 * len(self.words))).tolist()
        return found

    def allowed(self, size: int) -> Allowed:
        """Return bool[size]: the tokens that it is known to allow."""
        words = np.frombuffer(self.words.ljust(-(-size // 32) * 4, b"\0"), np.int32)
        return unpack_mask(words, size)


@dataclass(frozen=True, slots=True)
class MaskParting:
    """The tokens in which the mask of an engine differs from ours.

    Attributes:
        gained: the ids that the engine alone allows, ascending.
        lost: the ids that Turnstile alone allows, ascending; those that are unknown are left out.
    """

    gained: tuple[int, ...] = ()
    lost: tuple[int, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.gained or self.lost)


class EngineMasks(Protocol):
    """An engine or a server that shows its masks along a run.

    Attributes:
        name: its name for users.
        version: its version; empty if it is not known.
    """

    name: str
    version: str

    def along(self, ids: Sequence[int], positions: Sequence[int]) -> dict[int, RunMask]:
        """Return the masks at some positions of a run.

        Args:
            ids: the tokens of the run, without an end.
            positions: numbers of tokens before a mask, ascending.

        Raises:
            EngineError: there is no mask at all; the message says why.
            CancelledError: the work was cancelled.
        """
        ...

    def cancelled_by(self, cancel: CancelToken) -> AbstractContextManager[None]:
        """Let another token cancel the work while a context lasts."""
        ...

    def close(self) -> None:
        """End the process of the engine, or the connection to the server."""
        ...


class OwnMasks:
    """The masks of Turnstile.

    Args:
        grammar: the grammar.
        vocabulary: the vocabulary.
    """

    def __init__(self, grammar: CompiledGrammar, vocabulary: Vocabulary) -> None:
        self._grammar, self._vocabulary = grammar, vocabulary

    def along(self, ids: Sequence[int], positions: Sequence[int]) -> dict[int, Allowed]:
        """Return bool[V] at each position, as far as the grammar reads the run."""
        matcher, found = Matcher(self._grammar, self._vocabulary), dict[int, Allowed]()
        for position in range(max(positions, default=0) + 1):
            if position in positions:
                found[position] = unpack_mask(matcher.bitmask(), self._vocabulary.size)
            if position < len(ids) and not matcher.accept(ids[position]):
                break
        return found


class ServerMasks:
    """The masks of a server; for other attributes see `EngineMasks`.

    Args:
        client: the server.
        identity: what it says of itself.
        notation: the id of the notation.
        source: the grammar.
        vocabulary: the vocabulary of the runs.
        reader: what reads the masks of the server over this vocabulary; by default a new one.

    Attributes:
        reader: the reader.
        constraint: the fields of its requests that ask for the grammar.

    Raises:
        ServerError: servers of this kind show no mask, or do not read the notation.
    """

    def __init__(
        self,
        client: ServerClient,
        identity: ServerIdentity,
        notation: str,
        source: str,
        vocabulary: Vocabulary,
        reader: ServerMaskReader | None = None,
    ) -> None:
        self.name, self.version = KINDS[identity.kind].title, identity.version
        self.cancelled_by, self.close = client.cancelled_by, client.close
        self._vocabulary = vocabulary
        self.reader = reader or mask_reader(client, identity, vocabulary)
        self.constraint = self.reader.constraint(form_of(notation), source)
        self._known: dict[tuple[int, ...], RunMask] = {}

    def along(self, ids: Sequence[int], positions: Sequence[int]) -> dict[int, RunMask]:
        """Return the masks at some positions, of which only new ones are read; see `EngineMasks`."""
        prefixes = {position: tuple(ids[:position]) for position in positions}
        missing = [position for position, prefix in prefixes.items() if prefix not in self._known]
        if missing:
            if len(self._known) + len(missing) > _MOST_REMEMBERED:
                self._known.clear()
                missing = list(positions)
            try:
                read = self.reader.read(self.constraint, ids, missing)
            except RefusedRequestError as error:
                if error.status in _NO_ANSWER:
                    raise
                return dict.fromkeys(positions, RunMask(reason=str(error), unread=Unread.REFUSED))
            self._known |= {prefixes[position]: self._run_mask(mask) for position, mask in read.items()}
        return {position: self._known[prefix] for position, prefix in prefixes.items()}

    def words_of(self, allowed: Allowed) -> bytes:
        """Return the mask of some tokens, bool[V], in which what ends an output is that of the vocabulary."""
        return pack_mask(_with_one_end(allowed, self.reader.end_ids, self._vocabulary)).tobytes()

    def _run_mask(self, mask: ServerMask) -> RunMask:
        allowed = np.zeros(self._vocabulary.size, np.bool_)
        allowed[mask.allowed] = True
        words = self.words_of(allowed)
        reason = "" if mask.unread is None else catalogue_text(f"masks.fragment.{mask.unread}")
        return RunMask(words, reason, mask.unread)


class PeerMasks:
    """The masks of an installed engine, in a process of its own; for the attributes see `EngineMasks`.

    Args:
        peer: the engine.
        notation: the id of the notation.
        source: the grammar.
        vocabulary: the vocabulary of the runs.

    Raises:
        PeerAbsentError: the engine does not read the notation.
    """

    def __init__(self, peer: Peer, notation: str, source: str, vocabulary: Vocabulary) -> None:
        if notation not in peer.notations:
            reason = str(UnsupportedNotationError(notation))
            raise PeerAbsentError("errors.peers.absent", name=peer.name, reason=reason)
        self.name, self.version = peer.name, peer.version or ""
        self._notation, self._source, self._vocabulary = notation, source, vocabulary
        self._process = PeerProcess(peer, vocabulary)
        self.cancelled_by, self.close = self._process.cancelled_by, self._process.close

    def along(self, ids: Sequence[int], positions: Sequence[int]) -> dict[int, RunMask]:
        """Return the masks at some positions; see `EngineMasks`."""
        found = self._process.follow(FollowTexts(self._notation, self._source, (tuple(ids),)))
        if found.refused:
            return dict.fromkeys(positions, RunMask(reason=found.refused, unread=Unread.REFUSED))
        (text,) = found.texts
        left = RunMask(reason=text.failure)
        if not text.failure:
            left = RunMask(reason=catalogue_text(f"masks.fragment.{Unread.LEFT}"), unread=Unread.LEFT)
        known = {position: self._run_mask(text.masks[position]) for position in positions if position <= text.reached}
        return {position: known.get(position, left) for position in positions}

    def _run_mask(self, words: bytes) -> RunMask:
        allowed = unpack_mask(np.frombuffer(words, np.int32), self._vocabulary.size)
        return RunMask(pack_mask(_with_one_end(allowed, frozenset(), self._vocabulary)).tobytes())


def form_of(notation: str) -> GrammarForm:
    """Return the form in which a request asks for a grammar in a notation."""
    known = NOTATIONS[notation]
    if known.describes_json:
        return GrammarForm.JSON_SCHEMA
    return GrammarForm.GRAMMAR if known.has_named_rules else GrammarForm.REGEX


def parting(own: Allowed, mask: RunMask) -> MaskParting:
    """Return the tokens in which the mask of an engine differs from ours, as far as it is known."""
    other = mask.allowed(own.shape[0])
    gained = np.flatnonzero(other & ~own).tolist()
    return MaskParting(tuple(gained), () if mask.reason else tuple(np.flatnonzero(own & ~other).tolist()))


def _with_one_end(allowed: Allowed, end_ids: frozenset[int], vocabulary: Vocabulary) -> Allowed:
    """Return a mask in which the end ids of an engine are those of the vocabulary."""
    ends = list(end_ids | vocabulary.eos_ids)
    may_end = bool(allowed[ends].any())
    allowed[ends] = False
    allowed[list(vocabulary.eos_ids)] = may_end
    return allowed
