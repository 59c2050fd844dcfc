"""The model of a server, asked for the distribution of one token after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from engine.servers.client import ServerClient, ServerError
from engine.servers.identity import ServerIdentity
from engine.vocabulary import Vocabulary


@dataclass(frozen=True, slots=True, eq=False)
class NextTokens:
    """The best tokens of a next-token distribution.

    Attributes:
        ids: the ids of the tokens that the server listed, int64[n], the most probable one first.
        log_probabilities: their natural log-probabilities under the whole vocabulary, before any mask and any
            temperature, float32[n].
        is_whole: whether these are all tokens of the vocabulary that have a probability.
        reused: the number of the prompt's tokens that the server had computed before; None if it does not say.
    """

    ids: NDArray[np.int64]
    log_probabilities: NDArray[np.float32]
    is_whole: bool
    reused: int | None = None


class ServedModel(Protocol):
    """The model of a server. What a server cannot do raises a `ServerError`.

    Attributes:
        vocabulary: the vocabulary, as wide as the model's logits.
        most_prompt: the largest number of ids of a prompt; None for no known limit.
        most_priced: how many tokens `prices` takes; 0 if none.
    """

    @property
    def vocabulary(self) -> Vocabulary: ...  # noqa: D102 - see the attributes above
    @property
    def most_prompt(self) -> int | None: ...  # noqa: D102
    @property
    def most_priced(self) -> int: ...  # noqa: D102

    def next_tokens(self, ids: Sequence[int]) -> NextTokens:
        """Return the best tokens after `ids`, as many as are quickly read.

        Raises:
            ServerError: there is no answer, or one that is no distribution over the vocabulary.
            CancelledError: the work was cancelled.
        """
        ...

    def prices(self, ids: Sequence[int], token_ids: Sequence[int]) -> NextTokens:
        """Return the log-probabilities of named tokens after `ids`, perhaps with those of others.

        Args:
            ids: the ids before them.
            token_ids: distinct ids, at most `most_priced`.

        Raises:
            ServerError, CancelledError: as `next_tokens`.
        """
        ...

    def draw(self, ids: Sequence[int], allowed: NDArray[np.bool_], sampler: Mapping[str, float]) -> int:
        """Return a token that the server drew under a mask.

        Args:
            ids: the ids before it.
            allowed: bool[W]; one token at least is allowed.
            sampler: `temperature`, `top_k`, `top_p`, `min_p` and `seed`, applied in this order after the mask.

        Raises:
            ServerError: as `next_tokens`; or the token is not an allowed one, so the server did not apply the mask.
            CancelledError: as `next_tokens`.
        """
        ...

    def encode(self, text: str) -> list[int]:
        """Return the ids of a prompt, at least one; see `LogitSource.encode`."""
        ...

    def encode_chat(self, messages: Sequence[tuple[str, str]], assistant_prefix: str) -> list[int]:
        """Return the ids of a conversation; see `LogitSource.encode_chat`."""
        ...


@runtime_checkable
class ServesModel(Protocol):
    """A kind of server whose model can be stepped.

    Attributes:
        needs_tokenizer: whether its servers have no vocabulary to read, so that a tokenizer is needed here.
    """

    @property
    def needs_tokenizer(self) -> bool: ...  # noqa: D102 - see the attribute above

    def model(self, client: ServerClient, identity: ServerIdentity, vocabulary: Vocabulary | None) -> ServedModel:
        """Return the model of a server.

        Args:
            client: the server.
            identity: what it says of itself.
            vocabulary: that of a tokenizer on this machine; None where none is needed.

        Raises:
            ServerError: it cannot be stepped; the message says why, and what to do.
            CancelledError: the work was cancelled.
        """
        ...


def checked_tokens(ids: NDArray[np.int64], width: int) -> NDArray[np.int64]:
    """Return ids of an answer.

    Raises:
        ServerError: one is outside the vocabulary.
    """
    outside = ids[(ids < 0) | (ids >= width)]
    if outside.shape[0]:
        raise ServerError("errors.servers.other_vocabulary", id=int(outside[0]), width=width)
    return ids
