"""Models for tests: small, at once there, and with whatever trouble a test needs. Importable by worker processes."""

from __future__ import annotations

import contextlib
import time

from partial_source import DrawingSource, PartialSource
from tiny_gguf import CONTROL, END_IDS, token_bytes

from app.workers.decode import DecodeHandler
from engine.models import load_model
from engine.models.source import LogitSource, ModelError
from engine.models.uniform import UniformSource
from engine.servers.client import is_server_address
from engine.source import CancelledError, CancelToken
from engine.vocabulary import Vocabulary

LETTERS = (*(bytes([code]) for code in range(0x20, 0x7F)), b"\n", b"ab", None)
EOS = len(LETTERS) - 1


def letters(name: str = "Letters", *, has_eos: bool = True, more: tuple[bytes, ...] = ()) -> UniformSource:
    """Printable ASCII, a newline, `ab`, perhaps an end, and more tokens where a test asks for them, equally likely."""
    return UniformSource(name, Vocabulary((*LETTERS, *more), [EOS] if has_eos else [], {EOS: "<end>"}))


def load(spec: str, cancel: CancelToken) -> LogitSource:
    """Load a model by what a test needs of it.

    `letters`, `endless` (no EOS), `slow` (until cancelled), `stubborn` (until killed), `broken`, `partial` (lists five
    tokens), `drawing` (and draws), `tiny` (the vocabulary of the model that llama.cpp serves in tests), a tag that is a
    token of the model, too, or the address of a server.
    """
    if spec in ("partial", "drawing"):
        return (DrawingSource if spec == "drawing" else PartialSource)(letters(spec.title()))
    if is_server_address(spec):
        return load_model(spec, cancel=cancel)
    if spec == "broken":
        raise ModelError("errors.models.silent_pip")
    if spec == "slow":
        done = 0
        while True:
            cancel.report("download", done := done + 1, 1000)
            time.sleep(0.01)
    if spec == "stubborn":
        with contextlib.suppress(CancelledError):  # `begin` reports, then checks: the window may have cancelled by then
            cancel.begin("download")
        time.sleep(3_600)
    if spec == "tiny":
        return UniformSource(spec, Vocabulary(token_bytes(), END_IDS, dict(enumerate(CONTROL))))
    if spec.startswith("<"):
        return letters(spec, more=(spec.encode(),))
    return letters(spec.title(), has_eos=spec != "endless")


def decode_handler() -> DecodeHandler:
    """The decode group's handler with these models."""
    return DecodeHandler(load)
