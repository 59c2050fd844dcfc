"""The `.turnstile` file: one JSON value with a complete document.

The version is read first, so that a file of a later Turnstile is refused for its version instead of for the first
unknown field. Within a version, fields are only added, with defaults.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import msgspec

from app.storage import UNREADABLE, TooLargeError, read_limited, write_atomically
from engine.compile import CompileOptions
from engine.decoding.debugging.breakpoints import Breakpoint
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.values import DEFAULT_MAX_TOKENS, ArchivedBranch, Chat, SamplerSettings, Trace
from engine.diagnosis.test_strings.values import ExpectedText

FORMAT = "turnstile"
VERSION = 1
SUFFIX = ".turnstile"
SIZE_LIMIT = 128 * 1024 * 1024  # bytes; a trace of 10,000 steps takes a third of it


MOST_TOKENS = 2**31 - 1  # the largest value of a number field

Whitespace = Literal["compact", "one-space", "flexible", "any"]
Escapes = Literal["shortest", "any"]
Additional = Literal["open", "closed"]


class GrammarPart(msgspec.Struct, frozen=True):
    """The source text and its compile options."""

    notation: str = "regex"
    text: str = ""
    dialect: Literal["python", "ecma"] = "python"  # of a regex
    whitespace: Whitespace = "flexible"  # of a JSON Schema, as are the following
    escapes: Escapes = "shortest"
    additional: Additional = "open"

    @property
    def options(self) -> CompileOptions:
        """Return the options that the source is compiled with."""
        return CompileOptions(
            dialect=self.dialect, whitespace=self.whitespace, escapes=self.escapes, additional=self.additional
        )


class ModelPart(msgspec.Struct, frozen=True):
    """The model of a trace; fingerprints distinguish models of the same name."""

    spec: str = ""
    name: str = ""
    fingerprint: str = ""
    vocabulary_fingerprint: str = ""


class AutomatonPart(msgspec.Struct, frozen=True):
    """The view of the automaton, as far as it survives an edit: names do, state numbers do not."""

    rule: str | None = None  # or the open region; None for the map
    follows: bool = False  # the neighbourhood of the live state
    tokens: bool = False  # the targets of the live state's tokens
    draws_all: bool = False
    draws_bytes: bool = False
    merges: bool = False  # each forced run as one edge
    method: Literal["", "dot", "sugiyama", "layered"] = ""  # of the layout; empty for automatic
    downwards: bool = False


class DocumentFile(msgspec.Struct, frozen=True):
    """The content of a document."""

    format: str = FORMAT
    version: int = VERSION
    title: str = ""
    grammar: GrammarPart = GrammarPart()
    model: ModelPart = ModelPart()
    prompt: str | Chat = ""
    sampler: SamplerSettings = SamplerSettings()
    max_tokens: Annotated[int, msgspec.Meta(ge=1, le=MOST_TOKENS)] = DEFAULT_MAX_TOKENS
    pipeline: PipelineSettings = PipelineSettings()
    trace: Trace = Trace()
    former: tuple[ArchivedBranch, ...] = ()  # of other prompts and models, the latest first
    test_strings: tuple[ExpectedText | str, ...] = ()  # a plain string should be accepted: files from before 0.2
    breakpoints: tuple[Breakpoint, ...] = ()
    automaton: AutomatonPart = AutomatonPart()

    @property
    def expected_texts(self) -> tuple[ExpectedText, ...]:
        """Return the test strings, each with its expectation."""
        return tuple(ExpectedText(one) if isinstance(one, str) else one for one in self.test_strings)


class _Head(msgspec.Struct):
    format: str = ""
    version: int = 0


class DocumentError(Exception):
    """A document cannot be read or written; the text says what, why and what to do."""


def encode(document: DocumentFile) -> bytes:
    """Return the file's bytes, indented for people who keep documents under version control."""
    return msgspec.json.format(msgspec.json.encode(document), indent=1) + b"\n"


def decode(data: bytes, name: str) -> DocumentFile:
    """Parse a file's bytes; `name` is used in messages.

    Raises:
        DocumentError: it is no document, or one of a later version.
    """
    try:
        head = msgspec.json.decode(data, type=_Head)
    except UNREADABLE as error:
        raise DocumentError(f"{name} is not a Turnstile document: {error}. Choose a {SUFFIX} file.") from None
    if head.format != FORMAT:
        raise DocumentError(f"{name} is JSON, but not a Turnstile document. Choose a {SUFFIX} file.")
    if head.version > VERSION:
        raise DocumentError(
            f"{name} was written by a later Turnstile (format {head.version}; this one reads up to {VERSION}). "
            "Update Turnstile to open it."
        )
    try:
        document = msgspec.json.decode(data, type=DocumentFile)
        document.trace.check()
    except UNREADABLE as error:
        raise DocumentError(f"{name} is damaged: {error}. Nothing was changed; restore a copy of it.") from None
    return document


def read(path: Path) -> DocumentFile:
    """Read a document.

    Raises:
        DocumentError: the file is not a document that can be shown.
    """
    return decode(read_bytes(path, SIZE_LIMIT), path.name)


def read_bytes(path: Path, limit: int) -> bytes:
    """Read a file that the user chose.

    Raises:
        DocumentError: it cannot be read, or is larger than `limit` bytes.
    """
    try:
        return read_limited(path, limit)
    except TooLargeError as error:
        raise DocumentError(f"{path.name} is too large ({error}). It is not opened.") from None
    except (OSError, ValueError) as error:
        raise DocumentError(f"{path.name} cannot be read: {getattr(error, 'strerror', None) or error}.") from None


def write(path: Path, document: DocumentFile) -> None:
    """Write a document; a failure leaves the old file as it was.

    Raises:
        DocumentError: the file was not written.
    """
    try:
        write_atomically(path, encode(document), is_shared=True)
    except OSError as error:
        raise DocumentError(
            f"{path.name} cannot be written: {error.strerror or error}. Your work is still open; save it elsewhere."
        ) from None
