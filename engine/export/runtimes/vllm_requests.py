"""Which requests to vLLM ask for the grammar, and where the output of each stands."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from .guide import ENDED, Guide

KEY: Final = "turnstile_grammar"
"""The key in `extra_args` (`vllm_xargs` of a request) whose value names the grammar."""

GRAMMAR: Final = (__package__ or "").rpartition(".")[2].removeprefix("turnstile_")
"""The name of this package's grammar."""

_CONFLICTS: Final = {
    "structured_outputs": "structured_outputs mask the same logits",
    "guided_decoding": "guided_decoding masks the same logits",
    "ignore_eos": "ignore_eos goes on where the grammar is over",
    "min_tokens": "min_tokens forbids the end where the grammar may allow nothing else",
    "allowed_token_ids": "allowed_token_ids may forbid all that the grammar allows",
    "bad_words": "bad_words may forbid all that the grammar allows",
}
_MOST_STATES: Final = 200_000  # of the guide, before it forgets
_logger = logging.getLogger(__name__)


@cache
def load_guide() -> Guide:
    """The grammar of this package, read with the first request that asks for it."""
    return Guide.load(Path(__file__).with_name("grammar.json"))


def asked(params: Any) -> Any:
    """The grammar that a request asks for; None where it asks for none. Pooling requests have no such parameters."""
    return (getattr(params, "extra_args", None) or {}).get(KEY)


def validate(params: Any, known: set[str]) -> None:
    """Refuse a request that cannot be served as it is asked.

    Args:
        params: the request's sampling parameters.
        known: the names of all grammars that are loaded.

    Raises:
        ValueError: it names no grammar that is known, or asks for this one along with what contradicts it.
    """
    name = asked(params)
    if name is None:
        return
    if name not in known:
        names = ", ".join(sorted(known))
        raise ValueError(f"{KEY} is {name!r}; there is {names}. Leave it out for a request without a grammar")
    if name == GRAMMAR:
        for field, why in _CONFLICTS.items():
            if getattr(params, field, None):
                raise ValueError(f"{KEY} cannot be used together with {field}: {why}")


def follower(params: Any, output: list[int], known: set[str]) -> Request | None:
    """Return what follows a request; None for one that asks for nothing, or for the grammar of another package.

    A request that should have been refused, and was not since the engine does not validate what it loads by itself,
    may only end: what it asks for cannot be given, and passing it over would look as if it had been.

    Args:
        params: the sampling parameters of the request.
        output: the token ids of its output; vLLM appends to the list.
        known: the names of all grammars that are loaded.
    """
    name = asked(params)
    if name is None or (name != GRAMMAR and name in known):
        return None
    request = Request(load_guide(), output)
    try:
        validate(params, known)
    except ValueError as error:
        request.is_refused = True
        _logger.error("a request is ended at once: %s", error)  # noqa: TRY400 - the message says all
    return request


class Request:
    """Where the output of one request stands.

    Args:
        guide: the grammar.
        output: the ids written so far; who writes goes on to write into this very list.

    Attributes:
        pending: whether an id is a placeholder that the engine has not filled in yet.
        is_refused: whether it may only end.
    """

    __slots__ = ("_generation", "_guide", "_last", "_state", "_taken", "is_refused", "output", "pending")

    def __init__(self, guide: Guide, output: list[int]) -> None:
        self._guide = guide
        self.output = output
        self.is_refused = False
        self._begin()
        self.follow()

    def _begin(self) -> None:
        self._generation = self._guide.generation
        self._state: int | None = self._guide.start
        self._taken = 0
        self._last = -1
        self.pending = False

    def follow(self) -> None:
        """Take the ids that were written since; begin anew where some were taken back, or the guide forgot."""
        output = self.output
        if self._guide.known_states > _MOST_STATES:
            self._guide.forget()
        was_cut = len(output) < self._taken or (self._taken and output[self._taken - 1] != self._last)
        if was_cut or self._generation != self._guide.generation:
            self._begin()
        self.pending = False
        for token_id in output[self._taken :]:
            if token_id < 0:
                self.pending = True
                return
            before, self._state = self._state, self._after(self._state, token_id)
            if self._state is None and before is not None:
                _logger.error("grammar %s: id %d was written where it is not allowed", GRAMMAR, token_id)
            self._taken += 1
            self._last = token_id

    def _after(self, state: int | None, token_id: int) -> int | None:
        return state if state is None or state == ENDED else self._guide.advance(state, token_id)

    def mask(self, drafts: Sequence[int] = ()) -> bytes:
        """What may come next. A text that is over or lost may only end, so that no row is without a token.

        Args:
            drafts: ids behind the output that are not written yet, and may be refused.
        """
        if self._generation != self._guide.generation:
            self.follow()
        if self.pending:
            _tell_of_placeholders()
        state = self._state
        for token_id in drafts:
            state = self._after(state, token_id)
        if self.pending or self.is_refused or state is None or state == ENDED:
            return self._guide.end_mask
        return self._guide.mask(state)


@cache
def _tell_of_placeholders() -> None:
    _logger.error(
        "grammar %s: vLLM keeps back the ids that were written last, so constrained outputs end at once. Under "
        "asynchronous scheduling it fills them in only for processors that are named at the start: add "
        "--logits-processors %s.vllm_plugin:GrammarLogitsProcessor, or --no-async-scheduling",
        GRAMMAR,
        __package__,
    )
