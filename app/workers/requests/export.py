"""Requests for exports."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.workers.protocol import WorkerRequest

if TYPE_CHECKING:
    from app.workers.requests.compile import CompileRequest


@dataclass(frozen=True, slots=True)
class ExportOptionsMessage:
    """The options of an export, with the names of `engine.export.ExportOptions`.

    Attributes:
        server_report: what a check of a server found about the grammar, as JSON; empty without one.
    """

    spelling: str = "plain"
    depth: int | None = None
    name: str = "grammar"
    model: str = ""
    server_report: str = ""


@dataclass(frozen=True, slots=True)
class ExportEntry:
    """A target in the list of the dialog.

    Attributes:
        supported_options: the fields of an `ExportOptionsMessage` that it supports for this grammar.
        needs_model: whether it needs the loaded model's vocabulary.
        refusal: why it does not fit the grammar; empty if it does.
        can_close: whether it fits the schema without additional properties.
    """

    name: str
    title: str
    about: str
    group: str
    suffix: str
    is_folder: bool
    supported_options: tuple[str, ...]
    needs_model: bool
    refusal: str
    can_close: bool = False


@dataclass(frozen=True, slots=True)
class ListExports(WorkerRequest["ExportList"]):
    """List the targets that fit a compiled grammar with these options."""

    compiled: CompileRequest
    options: ExportOptionsMessage
    has_model: bool


@dataclass(frozen=True, slots=True)
class ExportList:
    """All targets, in the order of their groups, or why there is no list."""

    entries: tuple[ExportEntry, ...]
    error: str = ""


@dataclass(frozen=True, slots=True)
class ExportRequest(WorkerRequest["ExportAnswer"]):
    """Export a compiled grammar to `target`, with a check; without a path, return a preview.

    Attributes:
        number: incremented by the dialog with each request, to recognise a late answer.
    """

    compiled: CompileRequest
    target: str
    path: str = ""
    options: ExportOptionsMessage = ExportOptionsMessage()
    number: int = 0


@dataclass(frozen=True, slots=True)
class ExportWithModel(ExportRequest):
    """Export the active grammar of the decode group with the vocabulary of the loaded model."""


@dataclass(frozen=True, slots=True)
class PreviewFile:
    """A file of an export: its path in the folder, its size in bytes, and its beginning; no text if it is binary."""

    path: str
    size: int
    text: str


@dataclass(frozen=True, slots=True)
class ExportAnswer:
    """The preview of an export, or what was written, or one sentence that says why there is none.

    Attributes:
        files: of the export.
        picture: a PNG preview of a bounded size; empty if the export is no picture.
        notes: what it omits, and requirements for the reader.
        checked: how the file was checked against the engine, a sentence; empty for a preview.
        estimate: the expected size of a file without a preview, a sentence without full stop; empty if there is one.
        is_large: of a preview: whether to ask before the file is written.
    """

    target: str
    path: str
    number: int = 0
    files: tuple[PreviewFile, ...] = ()
    picture: bytes = b""
    notes: tuple[str, ...] = ()
    checked: str = ""
    error: str = ""
    estimate: str = ""
    is_large: bool = False

    @property
    def size(self) -> int:
        """Return the total size of the files in bytes."""
        return sum(file.size for file in self.files)

    @property
    def preview(self) -> str:
        """Return the beginning of the first file."""
        return self.files[0].text if self.files else ""
