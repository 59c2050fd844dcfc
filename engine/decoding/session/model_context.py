"""A model behind a prompt: what it reads, and its answers for the last positions, by node of the tree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from engine.decoding.session.lru import LruCache
from engine.decoding.session.tree import StepTree
from engine.decoding.values import Chat, ContextState
from engine.models import LogitSource


class ModelContext:
    """Asks a model about the places of a tree, each once as long as the answer is kept.

    Args:
        model: where logits come from.
        prompt: what stands before the tree.
        kept: for how many places the answer is kept.

    Attributes:
        prompt: as it was given.
        prompt_ids: as the model reads it.

    Raises:
        ModelError: the prompt cannot be encoded.
    """

    def __init__(self, model: LogitSource, prompt: str | Chat, kept: int) -> None:
        self._model = model
        self._answers: LruCache[int | None, NDArray[np.floating]] = LruCache(kept)
        self.prompt, self.prompt_ids = prompt, self._encode(prompt)

    def set_prompt(self, prompt: str | Chat) -> None:
        """Stand behind another prompt; on an error nothing changes.

        Raises:
            ModelError: the prompt cannot be encoded.
        """
        self.prompt_ids = self._encode(prompt)
        self.prompt = prompt
        self.forget()

    def room(self, tokens: int) -> int:
        """How many tokens of so many have room in the model's context, behind the prompt."""
        limit = self._model.context_length
        return tokens if limit is None else min(tokens, limit - len(self.prompt_ids) + 1)

    def is_full(self, depth: int) -> bool:
        """Whether the context has no room behind so many tokens."""
        limit = self._model.context_length
        return limit is not None and len(self.prompt_ids) + depth > limit

    def context(self, depth: int) -> ContextState | None:
        """How much of the model's context is left behind so many tokens; None where it has no limit."""
        limit = self._model.context_length
        return None if limit is None else ContextState(limit, max(0, limit - len(self.prompt_ids) + 1 - depth))

    def history(self, tree: StepTree) -> list[int]:
        """All that the model reads where a tree stands."""
        return [*self.prompt_ids, *(step.token_id for step in tree.taken())]

    def logits(self, tree: StepTree) -> NDArray[np.floating]:
        """What the model says where a tree stands."""
        return self._answers.get(tree.current, lambda: self._model.logits(self.history(tree)))

    def knows(self, node: int | None) -> bool:
        """Whether the answer at a node is kept."""
        return node in self._answers

    def peek(self, node: int | None) -> NDArray[np.floating] | None:
        """The answer at a node, if it is kept."""
        return self._answers.peek(node)

    def discard(self, node: int) -> None:
        """Forget the answer at a node that the tree no longer has."""
        self._answers.discard(node)

    def forget(self) -> None:
        """Nodes mean other places from now on."""
        self._answers.clear()

    def _encode(self, prompt: str | Chat) -> tuple[int, ...]:
        if isinstance(prompt, Chat):
            return tuple(self._model.encode_chat(prompt.messages, prompt.assistant_prefix))
        return tuple(self._model.encode(prompt))
