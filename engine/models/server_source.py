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
from pathlib import PurePosixPath
from typing import Final, TypeVar
from urllib.parse import urlsplit

import numpy as np

from engine.models.source import Logits, Message, ModelError
from engine.servers import KINDS, ServerClient, ServerError, ServerIdentity, SilentServerError, identify
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


class ServerSource:
    """The model of a server as a logit source; for the attributes see `LogitSource`.

    Args:
        client: the server.
        identity: what it says of itself.
        served: its model.

    Attributes:
        identity: what the server says of itself.
    """

    def __init__(self, client: ServerClient, identity: ServerIdentity, served: ServedModel) -> None:
        self.identity = identity
        self._client, self._served = client, served
        self.name = catalogue_text("sources.name.server", model=model_title(identity), host=host_of(client.address))
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
        answer = self._ask(lambda: self._served.prices(ids, ()))
        logits = np.full(self.width, -np.inf if answer.is_whole else np.nan, dtype=np.float32)
        logits[answer.ids] = answer.log_probabilities
        logits.setflags(write=False)
        return logits

    def _ask(self, ask: Callable[[], T]) -> T:
        """Return an answer of the server, which is the one that it was; connect again if the connection was lost.

        Raises:
            ModelError: there is no answer, or the server serves another model now.
        """
        try:
            try:
                answer = ask()
            except SilentServerError:
                if not self._connects_again():
                    raise
                answer = ask()
            while self._client.connections != self._checked_connections:
                connections = self._client.connections
                self._check_is_same(answer)
                self._checked_connections = connections
        except ServerError as error:
            raise ModelError.of(error) from error
        return answer
