"""What a decode session needs of a model, and all that it knows of one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from engine.vocabulary import Vocabulary

Message = tuple[str, str]  # role ("system", "user", "assistant") and content
Logits = npt.NDArray[np.float32]


@runtime_checkable
class CachedSource(Protocol):
    """A source that keeps answers, and can be told not to: who times it wants them anew."""

    def forget(self) -> None:
        """Keep nothing of what was answered."""


class LogitSource(Protocol):
    """Gives next-token logits after any ids; cheap where the ids are close to the last ones.

    Attributes:
        name: what the window shows.
        vocabulary: what each id means; as wide as the logits.
        width: the length of the logits.
        context_length: how many ids `logits` takes at most; None where there is no bound.
        chat_template: whether `encode_chat` works.
        fingerprint: SHA-256 (hex) of what the model is, so that a document can tell that it meets another one.
    """

    @property
    def name(self) -> str: ...  # noqa: D102 - told above
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
        """The next-token logits after `ids` (at least one), float32 of shape [width], not to be written to.

        Raises:
            ModelError: the ids do not fit the context, or the memory is exhausted.
        """
        ...

    def encode(self, text: str) -> list[int]:
        """The ids of a prompt, never empty, beginning with BOS exactly once where the model has one.

        Raises:
            ModelError: the vocabulary cannot spell the text.
        """
        ...

    def encode_chat(self, messages: Sequence[Message], assistant_prefix: str = "") -> list[int]:
        """The ids of a conversation up to where the assistant goes on after `assistant_prefix`.

        Raises:
            ModelError: the model has no chat template, or the template refuses the messages.
        """
        ...
