"""The protocols of logit sources, all that a decode session knows about a model, and of kinds of sources."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from engine.source import CancelToken, EngineError
from engine.vocabulary import Vocabulary

if TYPE_CHECKING:
    from engine.servers.grammar_form import GrammarForm


class ModelError(EngineError):
    """A model cannot be loaded, or cannot do what was requested."""


def is_panic(error: BaseException) -> bool:
    """Return whether an exception is a panic of a Rust library, whose type cannot be imported."""
    return type(error).__name__ == "PanicException"


Message = tuple[str, str]  # role ("system", "user", "assistant") and content
Logits = npt.NDArray[np.float32]


@runtime_checkable
class CachedSource(Protocol):
    """A source with a cache of logits that can be cleared, which measurements of time need."""

    def clear_cache(self) -> None:
        """Clear the cache."""


@runtime_checkable
class WaitingSource(Protocol):
    """A source whose calls wait for another process, and end as soon as the work is cancelled."""

    def cancelled_by(self, cancel: CancelToken) -> AbstractContextManager[None]:
        """Let a token end calls, with `CancelledError`, while the context lasts."""
        ...


def cancelled_by(source: object, cancel: CancelToken | None) -> AbstractContextManager[None]:
    """Let a token end the calls of a source that waits, while the context lasts; other sources are not affected."""
    if cancel is not None and isinstance(source, WaitingSource):
        return source.cancelled_by(cancel)
    return nullcontext()


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """A model in the catalogue.

    Attributes:
        spec: the argument for `load_model`.
        title: its name in a menu.
        description: one sentence.
        available_offline: whether it loads without a network.
        size_bytes: the size of its files, or of the download if it is not available yet.
    """

    spec: str
    title: str
    description: str
    available_offline: bool
    size_bytes: int


class SourceKind(Protocol):
    """A kind of logit source. A module under `sources` has one such object, named `SOURCE`.

    Attributes:
        forms: the specs that it loads, in words.
    """

    @property
    def forms(self) -> str: ...  # noqa: D102 - see the attribute above

    def known_models(self) -> Iterable[ModelInfo]:
        """Return its models for the menu; called often, so it imports nothing large."""
        ...

    def recognises(self, spec: str) -> bool:
        """Return whether a spec is one of this kind; the first kind that recognises a spec loads it."""
        ...

    def load(self, spec: str, cancel: CancelToken) -> LogitSource:
        """Load a model; see `load_model`."""
        ...


@runtime_checkable
class KindWithFiles(Protocol):
    """A kind of source whose models are in folders that users can see."""

    def files(self, spec: str) -> Path | None:
        """Return the folder of a model, or the file of a tokenizer; None if it is not installed."""
        ...


class LogitSource(Protocol):
    """A source of next-token logits after any ids; a call is fast if the ids are similar to those of the last call.

    Attributes:
        name: the display name.
        vocabulary: the vocabulary, as wide as the logits.
        width: the length of the logits.
        context_length: the largest number of ids for `logits`; None for no limit.
        chat_template: whether `encode_chat` is available.
        fingerprint: SHA-256 (hex) of the model, by which a document recognises it.
    """

    @property
    def name(self) -> str: ...  # noqa: D102 - see the attributes above
    @property
    def vocabulary(self) -> Vocabulary: ...  # noqa: D102
    @property
    def width(self) -> int: ...  # noqa: D102
    @property
    def context_length(self) -> int | None: ...  # noqa: D102
    @property
    def chat_template(self) -> bool: ...  # noqa: D102
    @property
    def fingerprint(self) -> str: ...  # noqa: D102

    def logits(self, ids: Sequence[int]) -> Logits:
        """Return the next-token logits after `ids` (at least one), float32[width], read-only.

        A source that returns only a part of the distribution, such as a server that lists the best 20 tokens, leaves
        the entries of all other tokens NaN: they are unknown, and nothing else is. If any entry is NaN:

        - the known entries are natural log-probabilities under the whole vocabulary, before any mask, temperature or
          penalty, so the unknown tokens have the mass `1 - sum(exp(known))` together;
        - the known tokens are the most probable ones: none that is unknown is more probable than any of them;
        - at least one is known.

        An id that the model cannot produce is `-inf`, not unknown, and counts with none of them. A model whose own
        arithmetic yields NaN is no partial source: it returns `-inf` there. What is unknown can be asked for: see
        `PricesTokens`, `DrawsTokens`.

        Raises:
            ModelError: there are more ids than the context length, or the memory is exhausted.
        """
        ...

    def encode(self, text: str) -> list[int]:
        """Return the ids of a prompt: at least one, and exactly one BOS at the start if the model has a BOS.

        Raises:
            ModelError: the vocabulary cannot encode the text.
        """
        ...

    def encode_chat(self, messages: Sequence[Message], assistant_prefix: str = "") -> list[int]:
        """Return the ids of a conversation, up to and including `assistant_prefix`, which the assistant continues.

        Raises:
            ModelError: the model has no chat template, or the template rejects the messages.
        """
        ...


@runtime_checkable
class AnswersTogether(Protocol):
    """A source that computes the logits after several texts at once, faster than one after the other."""

    def logits_of_all(self, many: Sequence[Sequence[int]]) -> list[Logits]:
        """Return the logits after each of some lists of ids, as `LogitSource.logits` does up to rounding.

        Raises:
            ModelError: as `LogitSource.logits`.
        """
        ...


@runtime_checkable
class GivesGradients(Protocol):
    """A source that computes gradients, as models of transformers do."""

    @property
    def vocabulary(self) -> Vocabulary: ...  # noqa: D102 - as of `LogitSource`

    def gradients_by_input(self, ids: Sequence[int], token_id: int) -> list[float]:
        """Return gradient × input of each id: how its embedding moves the log-probability of a token after them.

        Args:
            ids: the ids.
            token_id: the token.

        Raises:
            ModelError: the model failed.
        """


@runtime_checkable
class GivesLogProbabilities(Protocol):
    """A source that may return log-probabilities for the full distribution, too, as servers do.

    They are the model's logits up to a constant, which matters to a repetition penalty alone.

    Attributes:
        gives_log_probabilities: whether it does.
    """

    @property
    def gives_log_probabilities(self) -> bool: ...  # noqa: D102 - see the attribute above


@dataclass(frozen=True, slots=True)
class ExpectedRun:
    """A forecast of the questions to a source while nobody chooses tokens. It changes no answer.

    Attributes:
        begin: the number of ids before the output.
        end: no more ids than these will be asked about.
        form: the form of `grammar`; None without one.
        grammar: a text whose language is about that of the output; it is of use up to `MOST_REPEATED` tokens from the
            beginning.
    """

    begin: int
    end: int
    form: GrammarForm | None = None
    grammar: str = ""


MOST_REPEATED = 2
"""The number of tokens that a server generates again, since its grammar begins with its answer."""


@runtime_checkable
class ComputesAhead(Protocol):
    """A source that computes the next answers before it is asked, and drops them if other ids are asked about."""

    def expect(self, run: ExpectedRun | None) -> None:
        """Compute ahead along a run from the next call of `logits`, or no longer."""


@dataclass(frozen=True, slots=True)
class DrawSettings:
    """How a source draws one token among the allowed ones; the filters apply in this order after the mask.

    Attributes:
        temperature: divides the logits; 0 takes the most probable token.
        top_k: keeps the k most probable; 0 is off.
        top_p: keeps the smallest set whose mass reaches p; 1.0 is off.
        min_p: keeps tokens with at least this share of the best token's probability; 0.0 is off.
        seed: the seed of this draw alone, below 2**31; another step has another one.
    """

    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    seed: int = 0

    @property
    def is_greedy(self) -> bool:
        """Return whether the most probable token is taken."""
        return self.temperature == 0


@runtime_checkable
class PricesTokens(Protocol):
    """A partial source that returns the probabilities of named tokens.

    Attributes:
        most_priced: how many tokens one call may name; 0 if none.
    """

    @property
    def most_priced(self) -> int: ...  # noqa: D102 - see the attribute above

    def price(self, ids: Sequence[int], token_ids: Sequence[int]) -> Logits:
        """Return the natural log-probabilities of tokens after `ids`, as `LogitSource.logits` has them.

        Args:
            ids: the ids before them.
            token_ids: distinct ids, at most `most_priced`.

        Returns:
            float32[n], in the order of `token_ids`; NaN where the source does not say.

        Raises:
            ModelError: as `LogitSource.logits`.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class MaskedPart:
    """The part of a distribution that a mask leaves, as far as a source returns it.

    Attributes:
        log_probabilities: float32[width], natural ones, before the mask; `-inf` where masked, NaN where unknown. No
            unknown token is more probable than a known one.
        log_mass: the natural logarithm of the mass of all allowed tokens, with an error below `MASS_ERROR`.
    """

    log_probabilities: Logits
    log_mass: float


MASS_ERROR = 1e-5


@runtime_checkable
class WeighsMasks(Protocol):
    """A partial source that returns the best tokens under a mask, and the mass of all of them.

    Attributes:
        weighs_masks: whether it does.
    """

    @property
    def weighs_masks(self) -> bool: ...  # noqa: D102 - see the attribute above

    def weigh(self, ids: Sequence[int], allowed: npt.NDArray[np.bool_]) -> MaskedPart | None:
        """Return what a mask leaves of the distribution after `ids`.

        Args:
            ids: the ids before it.
            allowed: bool[width], the mask; one token at least is allowed.

        Returns:
            The best allowed tokens; None if the source cannot say, or not exactly enough.

        Raises:
            ModelError: as `LogitSource.logits`.
        """
        ...


@runtime_checkable
class DrawsTokens(Protocol):
    """A partial source that draws a token under a mask, where its answers do not suffice to draw it here."""

    def draw(self, ids: Sequence[int], allowed: npt.NDArray[np.bool_], settings: DrawSettings) -> int:
        """Return a token that the source drew after `ids` from its own full distribution.

        Args:
            ids: the ids before it.
            allowed: bool[width], the mask: the other tokens are removed before the draw; one at least is allowed.
            settings: how it is drawn.

        Raises:
            ModelError: as `LogitSource.logits`, or the source cannot draw under this mask or with these settings.
        """
        ...
