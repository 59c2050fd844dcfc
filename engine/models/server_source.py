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
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Final, TypeVar
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from engine.models.source import MOST_REPEATED, DrawSettings, ExpectedRun, Logits, MaskedPart, Message, ModelError
from engine.servers import KINDS, BrokenConnectionError, ServerClient, ServerError, ServerIdentity, identify
from engine.servers.served_model import (
    NextTokens,
    ServedModel,
    ServesModel,
    SharesUnderMask,
    StreamedToken,
    StreamsTokens,
)
from engine.source import CancelToken
from engine.source.catalogue import catalogue_text
from engine.source.lru import LruCache
from engine.vocabulary import Vocabulary

_CACHED_LOGITS: Final = 64
_COMPARED: Final = 10  # of the best tokens
_TOLERANCE: Final = 0.5  # nats: batches of another size change a log-probability of a quantised model by 0.1
_ENDING: Final = ".gguf"
_FEW: Final = 2_000  # tokens; asking for more takes as long as for all
_MOST_SHARED: Final = 1.0001
_LEAST_LEFT: Final = 0.1  # a difference of float32 numbers has a relative error of 1e-6 then
_LEAST_MASS: Final = -32.0  # below it, tokens that biases lower may have a share
_LEAST_AHEAD: Final = 2  # tokens; fewer are a step
_WORTHWHILE: Final = 4  # tokens of a stream that cost less than asking for each
_MOST_WAIT: Final = 63  # steps

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
        weighs_masks: see `WeighsMasks`.
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
        self._ahead = RunAhead(served)
        self.weighs_masks = isinstance(served, SharesUnderMask)

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
        named = np.zeros(self.width, np.bool_)
        named[np.array(token_ids, np.int64)] = True
        part = self._under_mask(ids, named, len(token_ids)) if len(token_ids) <= _FEW else None
        if part is not None and not np.isnan(found := part.row[np.array(token_ids, np.int64)]).any():
            return found
        answer = self._ask(lambda: self._served.prices(ids, token_ids))
        row = self._row(answer)
        if answer.is_whole:  # whoever asks again gets all of it
            self._logits_by_ids.discard(tuple(ids))
            self._logits_by_ids.get(tuple(ids), lambda: row)
        return row[np.array(token_ids, np.int64)]

    def weigh(self, ids: Sequence[int], allowed: NDArray[np.bool_]) -> MaskedPart | None:
        """See `WeighsMasks`: as many tokens are known as of the distribution without a mask."""
        part = self._under_mask(ids, allowed, int(np.count_nonzero(self.logits(ids) > -np.inf)))
        if part is None:
            return None
        known = part.row[part.row > -np.inf].astype(np.float64)
        if not np.isnan(part.row).any():
            return MaskedPart(part.row, float(np.log(np.exp(known).sum())))
        left = -np.expm1(part.masked_share)
        return MaskedPart(part.row, part.log_mass + float(np.log(left))) if left > _LEAST_LEFT else None

    def _under_mask(self, ids: Sequence[int], allowed: NDArray[np.bool_], count: int) -> _UnderMask | None:
        """Return the best tokens under a mask, from their shares and a token whose probability is known.

        A share times the mass of all is a probability, so that token says what the mass is. If no allowed token is
        known, a masked one, the least probable that is known, is let through.

        Args:
            ids: the ids before it.
            allowed: bool[width], the mask.
            count: the number of tokens to list.
        """
        served, row = self._served, self.logits(ids)
        known = np.flatnonzero(row > -np.inf)
        ours = known[allowed[known]]
        anchor = int(ours[np.argmax(row[ours])] if ours.shape[0] else known[np.argmin(row[known])])
        if not isinstance(served, SharesUnderMask):
            return None
        wide = allowed.copy()
        wide[anchor] = True
        answer = self._ask(lambda: served.shares(ids, wide, count + 1))
        shares = answer.log_probabilities.astype(np.float64)
        at = np.flatnonzero(answer.ids == anchor)
        if not at.shape[0] or np.exp(shares).sum() > _MOST_SHARED:
            return None
        share = float(shares[at[0]])
        log_mass = min(float(row[anchor]) - share, 0.0)
        if log_mass < _LEAST_MASS:
            return None
        found = np.full(self.width, np.nan, np.float32)
        found[answer.ids] = shares + log_mass
        found[known] = row[known]
        found[~allowed] = -np.inf
        found.setflags(write=False)
        return _UnderMask(found, log_mass, -np.inf if allowed[anchor] else share)

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

    def expect(self, run: ExpectedRun | None) -> None:
        """See `ComputesAhead`."""
        self._ahead.expect(run)

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
        answer = self._streamed(ids)
        return self._row(self._ask(lambda: self._served.next_tokens(ids)) if answer is None else answer)

    def _streamed(self, ids: list[int]) -> NextTokens | None:
        """Return an answer that the server computed ahead; None if there is none that is sure to be of this model."""
        answer = None
        try:
            answer = self._ahead.after(ids)
            if self._client.connections != self._checked_connections:
                answer = None
        except ServerError:  # whatever it is, the request that follows has it too, or has the answer
            answer = None
        finally:
            if answer is None:
                self._ahead.close()
        return answer

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
        self._ahead.close()
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


@dataclass(frozen=True, slots=True, eq=False)
class _UnderMask:
    """Tokens under a mask.

    Attributes:
        row: float32[width], their natural log-probabilities before it; `-inf` where masked, NaN where unknown.
        log_mass: the logarithm of the mass of all tokens that were let through.
        masked_share: the logarithm of the share of that which a masked token had.
    """

    row: Logits
    log_mass: float
    masked_share: float


class RunAhead:
    """Lets a server generate ahead along a run, and reads the distributions as long as its tokens are those taken.

    A stream ends at the first other token. What the server was computing then costs as much as a stream gains in about
    three steps, so after one that served fewer, some steps are asked for one by one: twice as many as the last time.

    Args:
        served: the model of the server.
    """

    def __init__(self, served: ServedModel) -> None:
        self._served = served if isinstance(served, StreamsTokens) else None
        self._run: ExpectedRun | None = None
        self._stream: _OpenStream | None = None
        self._wait = self._last_wait = 0

    def expect(self, run: ExpectedRun | None) -> None:
        """Read ahead along a run, or no longer."""
        self._run = run
        if run is None:
            self.close()
            self._wait = self._last_wait = 0

    def after(self, ids: list[int]) -> NextTokens | None:
        """Return the distribution after some ids; None if it must be asked for.

        Raises:
            ServerError, CancelledError: the stream broke.
        """
        if self._run is None or self._served is None:
            return None
        if self._stream is None:
            self._wait -= 1
            if self._wait >= 0 or self._run.end - len(ids) < _LEAST_AHEAD:
                return None
            begin, form = len(ids), None
            if begin - self._run.begin <= MOST_REPEATED and self._run.form is not None:
                begin, form = self._run.begin, self._run.form
            tokens = self._served.stream(ids[:begin], self._run.end - begin, form, self._run.grammar)
            self._stream = _OpenStream(ids[:begin], tokens)
        return self._stream.after(ids)

    def close(self) -> None:
        """End the stream, if there is one."""
        if self._stream is not None:
            self._stream.tokens.close()
            # One step at least, which finds out whether the next connection leads to the same model.
            is_worth_it = self._stream.served >= _WORTHWHILE
            self._last_wait = 1 if is_worth_it else min(2 * self._last_wait + 1, _MOST_WAIT)
            self._wait, self._stream = self._last_wait, None


@dataclass(slots=True)
class _OpenStream:
    """A stream that is read along a run.

    Attributes:
        ids: all ids so far, those of the stream included.
        tokens: its further tokens.
        served: the number of distributions that were of use.
    """

    ids: list[int]
    tokens: Generator[StreamedToken, None, None]
    served: int = 0

    def after(self, ids: list[int]) -> NextTokens | None:
        """Return the distribution after some ids; None if the stream has other tokens, or ended."""
        while len(self.ids) <= len(ids) and self.ids == ids[: len(self.ids)]:
            token = next(self.tokens, None)
            if token is None:
                return None
            is_asked = len(self.ids) == len(ids)
            self.ids.append(token.token_id)
            if is_asked:
                self.served += 1
                return token.before
        return None


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
