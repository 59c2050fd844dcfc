"""A model with its prompt: the token ids that it reads, and its latest answers by node of the tree."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from engine.decoding.session.tree import StepTree
from engine.decoding.values import Chat, ContextState
from engine.models import LogitSource

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class LruCache(Generic[K, V]):
    """A mapping that drops the least recently used entry, so that going back does not query the model."""

    def __init__(self, capacity: int) -> None:
        self._capacity = max(1, capacity)
        self._entries: OrderedDict[K, V] = OrderedDict()

    def __contains__(self, key: K) -> bool:
        return key in self._entries

    def get(self, key: K, make: Callable[[], V]) -> V:
        """Return the value of a key; make it if it is missing."""
        if key in self._entries:
            self._entries.move_to_end(key)
            return self._entries[key]
        value = make()
        self._entries[key] = value
        while len(self._entries) > self._capacity:
            self._entries.popitem(last=False)
        return value

    def peek(self, key: K) -> V | None:
        """Return the value of a key, or None; this does not count as use."""
        return self._entries.get(key)

    def discard(self, key: K) -> None:
        """Drop the value of a key, if there is one."""
        self._entries.pop(key, None)

    def clear(self) -> None:
        """Drop all entries."""
        self._entries.clear()


class ModelContext:
    """Queries a model at the nodes of a tree, once per node while the answer is cached.

    Args:
        model: the logit source.
        prompt: the text or chat before the tree.
        kept: the number of nodes whose answers are cached.

    Attributes:
        prompt: the prompt.
        prompt_ids: the prompt as token ids.

    Raises:
        ModelError: the prompt cannot be encoded.
    """

    def __init__(self, model: LogitSource, prompt: str | Chat, kept: int) -> None:
        self._model = model
        self._answers: LruCache[int | None, NDArray[np.floating]] = LruCache(kept)
        self.prompt, self.prompt_ids = prompt, self._encode(prompt)

    def set_prompt(self, prompt: str | Chat) -> None:
        """Replace the prompt; on an error nothing changes.

        Raises:
            ModelError: the prompt cannot be encoded.
        """
        self.prompt_ids = self._encode(prompt)
        self.prompt = prompt
        self.clear_cache()

    def token_limit(self, tokens: int) -> int:
        """Return how many of `tokens` fit in the model's context after the prompt."""
        limit = self._model.context_length
        return tokens if limit is None else min(tokens, limit - len(self.prompt_ids) + 1)

    def is_full(self, depth: int) -> bool:
        """Return whether the context has no room after `depth` tokens."""
        limit = self._model.context_length
        return limit is not None and len(self.prompt_ids) + depth > limit

    def context(self, depth: int) -> ContextState | None:
        """Return how much of the model's context is left after `depth` tokens; None if it has no limit."""
        limit = self._model.context_length
        return None if limit is None else ContextState(limit, max(0, limit - len(self.prompt_ids) + 1 - depth))

    def history(self, tree: StepTree) -> list[int]:
        """Return all ids that the model reads at the current node of a tree."""
        return [*self.prompt_ids, *(step.token_id for step in tree.taken())]

    def logits(self, tree: StepTree) -> NDArray[np.floating]:
        """Return the model's logits at the current node of a tree."""
        return self._answers.get(tree.current, lambda: self._model.logits(self.history(tree)))

    def knows(self, node: int | None) -> bool:
        """Return whether the answer at a node is cached."""
        return node in self._answers

    def peek(self, node: int | None) -> NDArray[np.floating] | None:
        """Return the answer at a node if it is cached."""
        return self._answers.peek(node)

    def discard(self, node: int) -> None:
        """Drop the answer at a node that the tree no longer has."""
        self._answers.discard(node)

    def clear_cache(self) -> None:
        """Drop all answers, since the node ids have a new meaning."""
        self._answers.clear()

    def _encode(self, prompt: str | Chat) -> tuple[int, ...]:
        if isinstance(prompt, Chat):
            return tuple(self._model.encode_chat(prompt.messages, prompt.assistant_prefix))
        return tuple(self._model.encode(prompt))
