"""Reader of saved outputs: from a `.turnstile` document, or from `turnstile generate --json`."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.document.codec import decode, is_document
from engine.source import EngineError

if TYPE_CHECKING:
    from engine.decoding.values import Trace
    from engine.vocabulary import Vocabulary

LENGTH, CONTEXT, STOP = "length", "context", "stop"
FINISHES = (STOP, LENGTH, CONTEXT)
"""The reasons why a generation ended: `length` is the token budget, `context` the context length of the model."""


@dataclass(frozen=True, slots=True)
class SavedTrace:
    """The tokens of a saved output.

    Attributes:
        ids: The id of each token.
        pieces: The bytes of each token; empty for an EOS or another token without text.
        finish: One of `FINISHES`; empty if it was not saved.
    """

    ids: tuple[int, ...]
    pieces: tuple[bytes, ...]
    finish: str = ""

    @property
    def text(self) -> bytes:
        """Return the bytes of the output."""
        return b"".join(self.pieces)

    def is_of(self, vocabulary: Vocabulary) -> bool:
        """Return whether the ids have the same bytes in a vocabulary."""
        return all(
            0 <= token_id < vocabulary.size and (vocabulary.token_bytes(token_id) or b"") == piece
            for token_id, piece in zip(self.ids, self.pieces, strict=True)
        )


def read_saved_trace(data: bytes, name: str) -> SavedTrace:
    """Return the shown branch of a document's trace, or the tokens that `turnstile generate --json` printed.

    Args:
        data: The bytes of the file.
        name: The name of the file, for messages.

    Raises:
        EngineError: The data are neither.
    """
    if is_document(data):
        return _of_document(decode(data, name).trace)
    try:
        return _of_generation(json.loads(data))
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise EngineError("errors.document.no_trace", name=name) from error


def _of_document(trace: Trace) -> SavedTrace:
    nodes = {node.id: node.step for node in trace.nodes}
    steps = [nodes[node_id] for node_id in trace.path]
    return SavedTrace(
        tuple(step.token_id for step in steps), tuple(b"" if step.name else step.token or b"" for step in steps)
    )


def _of_generation(saved: Any) -> SavedTrace:
    pieces = [str(step["token"]).encode() for step in saved["steps"]]
    if pieces and b"".join(pieces[:-1]) == str(saved["text"]).encode():
        pieces[-1] = b""  # the token that ends the text is written by its name
    finish = str(saved.get("finish", ""))
    ids = tuple(int(step["id"]) for step in saved["steps"])
    return SavedTrace(ids, tuple(pieces), finish if finish in FINISHES else "")
