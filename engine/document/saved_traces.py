"""Reader of saved outputs: from a .turnstile document, or from `turnstile generate --json`."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from engine.source import EngineError

if TYPE_CHECKING:
    from engine.vocabulary import Vocabulary

LENGTH, CONTEXT, STOP = "length", "context", "stop"
FINISHES = (STOP, LENGTH, CONTEXT)
"""The reasons why a generation ended: `length` is the token budget, `context` the context length of the model."""


@dataclass(frozen=True, slots=True)
class SavedTrace:
    """The tokens of a saved output.

    Attributes:
        ids: the id of each token.
        pieces: the bytes of each token; empty for an EOS or another token without text.
        finish: one of `FINISHES`; empty if it was not saved.
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
    """Read the shown branch of a document's trace, or the output of `turnstile generate --json`.

    Args:
        data: the contents of the file.
        name: its name, for messages.

    Raises:
        EngineError: it is neither.
    """
    try:
        saved: Any = json.loads(data)
        return _trace_of_document(saved["trace"]) if "trace" in saved else _trace_of_generation(saved)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError) as error:
        raise EngineError(
            f"{name} is no saved trace: give a .turnstile document, or what `turnstile generate --json` prints"
        ) from error


def _trace_of_document(trace: Any) -> SavedTrace:
    nodes = {node["id"]: node["step"] for node in trace.get("nodes", [])}
    steps = [nodes[node_id] for node_id in trace.get("path", [])]
    pieces = tuple(base64.b64decode(step["token"] or "") if not step.get("name") else b"" for step in steps)
    return SavedTrace(tuple(int(step["token_id"]) for step in steps), pieces)


def _trace_of_generation(saved: Any) -> SavedTrace:
    pieces = [str(step["token"]).encode() for step in saved["steps"]]
    if pieces and b"".join(pieces[:-1]) == str(saved["text"]).encode():
        pieces[-1] = b""  # the last token is an EOS, which is saved by its name
    finish = str(saved.get("finish", ""))
    ids = tuple(int(step["id"]) for step in saved["steps"])
    return SavedTrace(ids, tuple(pieces), finish if finish in FINISHES else "")
