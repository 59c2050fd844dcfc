"""The model of a server as a logit source.

The server computes; this side keeps the last answers, so that going back asks nothing. A connection that the server
closed is opened again. Another connection may lead to another process, so after it the server is asked what it serves:
if that is another model, the source refuses to answer rather than mix two. What a server says of itself does not change
with every change of weights, so a distribution from the time of attaching is compared as well, if the server has lost
what it computed before.

Rejected: the fingerprint of the first distribution as that of the model: its digits depend on the machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Final, TypeVar
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from engine.models.source import DrawSettings, Logits, Message, ModelError
from engine.servers import KINDS, BrokenConnectionError, ServerClient, ServerError, ServerIdentity, identify
from engine.servers.served_model import NextTokens, ServedModel, ServesModel
from engine.source import CancelToken
from engine.source.catalogue import catalogue_text
from engine.source.lru import LruCache
from engine.vocabulary import Vocabulary

_CACHED_LOGITS: Final = 64
_COMPARED: Final = 10  # of the best tokens
_TOLERANCE: Final = 0.5  # nats: batches of another size change a log-probability of a quantised model by 0.1
_ENDING: Final = ".gguf"

T = TypeVar("T")
VocabularyFinder = Callable[[ServerIdentity], Vocabulary]


class ServerSource:
    """The model of a server as a logit source; for the attributes see `LogitSource`.

    Args:
        client: the server.
        identity: what it says of itself.
        served: its model.

    Attributes:
        identity: what the server says of itself.
        gives_log_probabilities: True; see `GivesLogProbabilities`.
    """

    gives_log_probabilities = True

    def __init__(self, client: ServerClient, identity: ServerIdentity, served: ServedModel) -> None:
        self.identity = identity
        self._client, self._served = client, served
        self.name = catalogue_text(
            "sources.name.server", model=model_title(identity), host=urlsplit(client.address).netloc
        )
        self.vocabulary, self.width = served.vocabulary, served.vocabulary.size
        self.context_length = served.most_prompt
        self.chat_template = identity.chat_template is not None
        facts = (self.vocabulary.fingerprint, identity.model, identity.weights)
        self.fingerprint = hashlib.sha256("\n".join(facts).encode()).hexdigest()
        self._logits_by_ids: LruCache[tuple[int, ...], Logits] = LruCache(_CACHED_LOGITS)
        self._probe = served.encode("")
        self._at_probe = served.next_tokens(self._probe)
        self._checked_connections = client.connections

    def logits(self, ids: Sequence[int]) -> Logits:
        """See `LogitSource`."""
        if not ids:
            raise ValueError("a model needs at least one id")
        return self._logits_by_ids.get(tuple(ids), lambda: self._asked_logits(list(ids)))

    def encode(self, text: str) -> list[int]:
        """See `LogitSource`."""
        return self._ask(lambda: self._served.encode(text))

    def encode_chat(self, messages: Sequence[Message], assistant_prefix: str = "") -> list[int]:
        """See `LogitSource`."""
        return self._ask(lambda: self._served.encode_chat(messages, assistant_prefix))

    @property
    def most_priced(self) -> int:
        """See `PricesTokens`."""
        return self._served.most_priced

    def price(self, ids: Sequence[int], token_ids: Sequence[int]) -> Logits:
        """See `PricesTokens`."""
        answer = self._ask(lambda: self._served.prices(ids, token_ids))
        row = self._row(answer)
        if answer.is_whole:  # whoever asks again gets all of it
            self._logits_by_ids.discard(tuple(ids))
            self._logits_by_ids.get(tuple(ids), lambda: row)
        return row[np.array(token_ids, np.int64)]

    def draw(self, ids: Sequence[int], allowed: NDArray[np.bool_], settings: DrawSettings) -> int:
        """Let the server draw; see `DrawsTokens`."""
        filters: dict[str, float] = {"temperature": settings.temperature}
        if settings.top_k:
            filters["top_k"] = settings.top_k
        if settings.top_p < 1:
            filters["top_p"] = settings.top_p
        if settings.min_p > 0:
            filters["min_p"] = settings.min_p
        return self._ask(lambda: self._served.draw(ids, allowed, {**filters, "seed": settings.seed}))

    def clear_cache(self) -> None:
        """Clear the cache, so that the next calls can be timed."""
        self._logits_by_ids.clear()

    @contextmanager
    def cancelled_by(self, cancel: CancelToken) -> Iterator[None]:
        """See `WaitingSource`."""
        with self._client.cancelled_by(cancel):
            yield

    def _asked_logits(self, ids: list[int]) -> Logits:
        if self.context_length is not None and len(ids) > self.context_length:
            raise ModelError("errors.models.context", tokens=len(ids), name=self.name, limit=self.context_length)
        return self._row(self._ask(lambda: self._served.next_tokens(ids)))

    def _row(self, answer: NextTokens) -> Logits:
        logits = np.full(self.width, -np.inf if answer.is_whole else np.nan, dtype=np.float32)
        logits[answer.ids] = answer.log_probabilities
        logits.setflags(write=False)
        return logits

    def _ask(self, ask: Callable[[], T]) -> T:
        """Return an answer of the server that this source was attached to; connect again if the connection was lost.

        Raises:
            ModelError: there is no answer, or the server serves another model now.
            CancelledError: the work was cancelled.
        """
        try:
            try:
                answer = ask()
            except BrokenConnectionError:  # most servers close a connection that was not used for some seconds
                answer = ask()
            while self._client.connections != self._checked_connections:
                connections = self._client.connections
                self._check_same_model(answer)
                self._checked_connections = connections
        except ServerError as error:
            raise ModelError.of(error) from error
        return answer

    def _check_same_model(self, answer: object) -> None:
        """Raise an error if the server has another model than at the time of attaching.

        Args:
            answer: the last answer, which says what the server remembers.
        """
        now = KINDS[self.identity.kind].identify(self._client)
        if now is not None and self.identity.model in now.models:
            now = replace(now, model=self.identity.model)
        if now is None or not now.serves_same_model(self.identity):
            raise self._changed(now)
        if isinstance(answer, NextTokens) and answer.reused:
            return
        if not _agree(self._at_probe, self._served.next_tokens(self._probe)):
            raise self._changed(now)

    def _changed(self, now: ServerIdentity | None) -> ServerError:
        fields = {"address": self._client.address, "before": model_title(self.identity)}
        if now is None or now.model == "":
            return ServerError("errors.servers.gone", **fields)
        return ServerError("errors.servers.changed", **fields, now=model_title(now))


def attach(client: ServerClient, model: str = "", find_vocabulary: VocabularyFinder | None = None) -> ServerSource:
    """Return the model of a server as a source, after asking what it is.

    Args:
        client: the server.
        model: the model that requests name; by default the first that the server lists.
        find_vocabulary: returns the vocabulary of a tokenizer on this machine, for a server that has none to read.

    Raises:
        ModelError: the server cannot be asked, or its model cannot be stepped.
        CancelledError: the work was cancelled.
    """
    try:
        identity = identify(client, model)
        kind = KINDS[identity.kind]
        if isinstance(kind, ServesModel):
            vocabulary = find_vocabulary(identity) if kind.needs_tokenizer and find_vocabulary is not None else None
            return ServerSource(client, identity, kind.model(client, identity, vocabulary))
    except ServerError as error:
        raise ModelError.of(error) from error
    raise ModelError("errors.servers.read_only", kind=kind.title, address=client.address)


def model_title(identity: ServerIdentity) -> str:
    """Return the name of a server's model for users: that of its file, if it is named by a path."""
    name = PurePosixPath(identity.model.replace("\\", "/")).name if identity.model.endswith(_ENDING) else identity.model
    return name.removesuffix(_ENDING) or KINDS[identity.kind].title


def _agree(before: NextTokens, now: NextTokens) -> bool:
    """Return whether two answers can be those of one model, on machines that round differently."""
    found = dict(zip(now.ids.tolist(), now.log_probabilities.tolist(), strict=True))
    best = zip(before.ids[:_COMPARED].tolist(), before.log_probabilities[:_COMPARED].tolist(), strict=True)
    return all(abs(found.get(token_id, -np.inf) - price) < _TOLERANCE for token_id, price in best)
