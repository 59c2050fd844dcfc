"""The declaration of a strategy for forced runs: its name, its texts, what it needs, and the tokens that it picks.

Window, command line, document and the page of *Share* list the strategies of the registry
(`engine.decoding.forced.strategies`) and ask their objects what differs. Declarations import neither numpy nor a model:
the window reads them at its start.

A strategy keeps no state and changes nothing: it gets a position with the matcher, what was taken and, at a price, the
model's logits, and returns tokens. How the other tokens are drawn is independent of it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.decoding.forced.values import FastForwardRun
from engine.source.catalogue import catalogue_text

if TYPE_CHECKING:
    from engine.decoding.forced.encodings import Query
    from engine.matching import Matcher
    from engine.models.text_encoder import TextEncoder


@dataclass(frozen=True, slots=True)
class RunPosition:
    """A position of an output where a run is forced; a strategy picks the tokens that follow.

    Attributes:
        matcher: the matcher at the end of the output; a strategy forks it and does not change it.
        run: the forced bytes, one at least.
        taken: the tokens of the output so far, which the matcher has accepted one by one.
        most_taken_back: how many of them may be replaced.
        encode: the model's tokenizer, for a strategy with `uses_tokenizer`; None for a vocabulary alone.
        query: returns a function that queries the model after the output, for a strategy with `queries_model`, given
            the tokens whose probabilities it needs.
        most_calls: the limit for model calls.
    """

    matcher: Matcher
    run: bytes
    taken: Sequence[int]
    most_taken_back: int
    encode: TextEncoder | None
    query: Callable[[Collection[int]], Query]
    most_calls: int


@dataclass(frozen=True, slots=True)
class RunStrategy:
    """A strategy for forced runs. A module under `strategies` has one such object, named `STRATEGY`.

    Its texts are in the catalogue under `forced.strategy.NAME`, with `_` for `-`: `name` and `tip`.

    Attributes:
        name: its name in documents and on the command line, which is that of its module.
        pick: returns the tokens for the run of a position or for its beginning; none if the model must be queried. The
            text after them is the text before them plus at least one byte of the run, and the grammar allows it. None
            for a strategy that takes no runs.
        uses_tokenizer: whether it needs the model's tokenizer.
        queries_model: whether it needs the model's logits, so that it saves no calls.
    """

    name: str
    pick: Callable[[RunPosition], FastForwardRun] | None = None
    uses_tokenizer: bool = False
    queries_model: bool = False

    @property
    def takes_runs(self) -> bool:
        """Return whether forced runs are taken at all."""
        return self.pick is not None

    @property
    def title(self) -> str:
        """Return its name for the user."""
        return catalogue_text(f"forced.strategy.{self._key}.name")

    @property
    def description(self) -> str:
        """Return what it does, for the user."""
        return catalogue_text(f"forced.strategy.{self._key}.tip")

    @property
    def _key(self) -> str:
        return self.name.replace("-", "_")
