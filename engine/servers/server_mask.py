"""The mask of a server at a position of a run, as far as it can be read.

A server's grammar always starts at the beginning of the generated text. So the mask behind some tokens is read from a
run that generates exactly these: the reader of a kind steers it, and checks what was drawn. What cannot be read is
unknown, and never guessed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from engine.servers.client import ServerClient, ServerError
from engine.servers.grammar_form import GrammarForm
from engine.servers.identity import KINDS, ServerIdentity

if TYPE_CHECKING:
    from engine.vocabulary import Vocabulary

Ids = NDArray[np.int64]


class Unread(StrEnum):
    """The reason why a mask is not known as a whole."""

    UNMASKED = "unmasked"  # the server drew every token that was tried: it applies no mask, or one that allows them
    LEFT = "left"  # the server masks a token before this position
    CHARACTER = "character"  # every allowed token ends within a character, for which the server lists nothing
    STEERING = "steering"  # the run cannot be steered to this position
    REFUSED = "refused"  # the grammar does not compile


@dataclass(frozen=True, slots=True, eq=False)
class ServerMask:
    """The mask of a server at one position.

    Attributes:
        allowed: ids that it allows, int64[n], ascending.
        unread: why further ids may be allowed; None if these are all.
    """

    allowed: Ids
    unread: Unread | None = None


@dataclass(frozen=True, slots=True, eq=False)
class MaskSketch:
    """A part of a mask, and its size: what one short answer has of it.

    Attributes:
        listed: some ids that it allows, int64[n], ascending; an id that ends the output is among them if it is allowed.
        count: the number of ids that it allows, with those that end the output; None if that is not known.
    """

    listed: Ids
    count: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class RunSketch:
    """The sketches of the masks along a run, from one short answer.

    Attributes:
        drawn: the drawn ids: those of the run as far as the server follows it.
        masks: the mask before each drawn id; None where nothing is known of it.
        is_left: whether the server masks the id of the run behind those that it follows.
    """

    drawn: tuple[int, ...]
    masks: tuple[MaskSketch | None, ...]
    is_left: bool = False


class ServerMaskReader(Protocol):
    """Reads the mask of a server.

    Attributes:
        end_ids: the ids that end an output of this server.
    """

    @property
    def end_ids(self) -> frozenset[int]: ...  # noqa: D102 - see the attribute above

    def constraint(self, form: GrammarForm, text: str) -> Mapping[str, Any]:
        """Return the fields of a request that ask for a grammar.

        Raises:
            ServerError: the server reads no grammar of this form.
        """
        ...

    def read(
        self, constraint: Mapping[str, Any], ids: Sequence[int], positions: Sequence[int]
    ) -> dict[int, ServerMask]:
        """Return the masks at some positions of a run.

        Args:
            constraint: the fields of a request that ask for the grammar.
            ids: the tokens of the run, without an end token.
            positions: numbers of tokens that precede the mask; none is larger than the length of the run.

        Raises:
            ServerError: the server refuses the grammar or the run, shows no mask, or has another vocabulary.
            CancelledError: the work was cancelled.
        """
        ...


@runtime_checkable
class SketchesMask(Protocol):
    """A reader that sketches masks: a list of all tokens takes long where a mask allows many."""

    def sketch(self, constraint: Mapping[str, Any], ids: Sequence[int]) -> RunSketch:
        """Return what is known of the masks along a run, and behind it, from one request where that suffices.

        Args:
            constraint: the fields of a request that ask for the grammar.
            ids: the tokens of the run, without an end token.
        """
        ...

    def allows_exactly(self, constraint: Mapping[str, Any], ids: Sequence[int], allowed: Ids) -> bool:
        """Return whether the mask behind a run is known to allow some ids and no others, whatever ends the output.

        Args:
            constraint: the fields of a request that ask for the grammar.
            ids: the tokens of the run.
            allowed: the ids.
        """
        ...

    def continued(
        self, constraint: Mapping[str, Any], ids: Sequence[int], preferred: Sequence[Sequence[int]], most: int
    ) -> RunSketch:
        """Let the server go on behind a run.

        Args:
            constraint: the fields of a request that ask for the grammar.
            ids: the tokens of the run.
            preferred: groups of tokens, which are listed and drawn before others; those of the first before all. What
                ends the output precedes them.
            most: the largest number of further tokens.
        """
        ...


@runtime_checkable
class ShowsMask(Protocol):
    """A kind of server whose mask can be read."""

    def mask_reader(self, client: ServerClient, identity: ServerIdentity, vocabulary: Vocabulary) -> ServerMaskReader:
        """Return the reader of a server.

        Args:
            client: the server.
            identity: what it says of itself.
            vocabulary: the vocabulary of the run; the server must have the same.
        """
        ...


def mask_reader(client: ServerClient, identity: ServerIdentity, vocabulary: Vocabulary) -> ServerMaskReader:
    """Return the reader of the masks of a server; see `ShowsMask.mask_reader`.

    Raises:
        ServerError: servers of this kind show no mask.
    """
    kind = KINDS[identity.kind]
    if not isinstance(kind, ShowsMask):
        raise ServerError("errors.servers.no_mask", kind=kind.title)
    return kind.mask_reader(client, identity, vocabulary)
