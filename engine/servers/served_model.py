"""The model of a server, asked for the distribution of one token after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from engine.servers.client import ServerClient, ServerError
from engine.servers.identity import ServerIdentity
from engine.vocabulary import Vocabulary

_LEAST_LOG: Final = -1e30  # some servers write the lowest float in place of minus infinity
_SAMPLE: Final = "The quick brown fox, 1234567890 ünï 日本\n  return {};"


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

    def only(self, token_ids: Sequence[int]) -> NextTokens:
        """Return those of some tokens that are listed."""
        kept = np.isin(self.ids, np.array(token_ids, np.int64))
        return NextTokens(self.ids[kept], self.log_probabilities[kept], self.is_whole, self.reused)


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


def listed_tokens(
    priced: Sequence[tuple[int, float | None]], width: int, reused: int | None = None, *, is_whole: bool = False
) -> NextTokens:
    """Return the tokens of an answer.

    Args:
        priced: pairs of an id and its log-probability; None or a number below any other for minus infinity.
        width: the size of the vocabulary.
        reused: see `NextTokens`.
        is_whole: see `NextTokens`.

    Raises:
        ServerError: an id is outside the vocabulary.
    """
    ids = np.fromiter((token_id for token_id, _ in priced), np.int64, len(priced))
    outside = ids[(ids < 0) | (ids >= width)]
    if outside.shape[0]:
        raise ServerError("errors.servers.other_vocabulary", id=int(outside[0]), width=width)
    prices = np.fromiter((_LEAST_LOG if price is None else price for _, price in priced), np.float64, len(priced))
    prices[prices <= _LEAST_LOG] = -np.inf
    return NextTokens(ids, prices.astype(np.float32), is_whole, reused)


def checked_draw(drawn: Sequence[int], allowed: NDArray[np.bool_], address: str) -> int:
    """Return the one token that a server drew under a mask.

    Args:
        drawn: the ids of the answer.
        allowed: the mask.
        address: the address of the server.

    Raises:
        ServerError: it is not allowed, or is not one token.
    """
    if len(drawn) != 1 or not (0 <= drawn[0] < allowed.shape[0] and allowed[drawn[0]]):
        raise ServerError("errors.servers.mask_ignored", address=address, ids=list(drawn))
    return drawn[0]


def check_tokenizer(vocabulary: Vocabulary, encode: Callable[[str], Sequence[int]]) -> None:
    """Check a tokenizer of this machine with a text that a server tokenises.

    Args:
        vocabulary: the vocabulary of the tokenizer.
        encode: tokenises a text on the server, without special tokens.

    Raises:
        ServerError: the ids of the server spell another text here.
    """
    spelt = b""
    for token_id in encode(_SAMPLE):
        spelt += (vocabulary.token_bytes(token_id) if 0 <= token_id < vocabulary.size else None) or b"?"
    if spelt.removeprefix(b" ") != _SAMPLE.encode():
        raise ServerError("errors.servers.other_tokenizer", text=spelt.decode(errors="replace"))
