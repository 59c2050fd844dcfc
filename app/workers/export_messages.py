"""What the export dialog and the worker processes say to each other: frozen, picklable, and light to import."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.workers.compile_messages import CompileRequest


@dataclass(frozen=True, slots=True)
class ExportOptionsMessage:
    """What an export is told, by the names of `engine.export.ExportOptions`."""

    spelling: str = "plain"
    depth: int | None = None
    name: str = "grammar"
    model: str = ""


@dataclass(frozen=True, slots=True)
class ExportEntry:
    """A target, as a list shows it.

    Attributes:
        takes: which parts of an `ExportOptionsMessage` it heeds for this grammar.
        needs_model: whether it wants the loaded model's vocabulary.
        refusal: why it does not fit the grammar; empty where it does.
        can_close: whether it fits the schema without additional properties.
    """

    name: str
    title: str
    about: str
    group: str
    suffix: str
    is_folder: bool
    takes: tuple[str, ...]
    needs_model: bool
    refusal: str
    can_close: bool = False


@dataclass(frozen=True, slots=True)
class ListExports:
    """Which targets fit what was compiled, told so."""

    compiled: CompileRequest
    told: ExportOptionsMessage
    has_model: bool


@dataclass(frozen=True, slots=True)
class ExportList:
    """All targets, in the order of their groups; or why there is no list."""

    entries: tuple[ExportEntry, ...]
    error: str = ""


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """Write what was compiled as `target`, checked; without a path, show how it would look.

    What is made over the vocabulary of the loaded model goes to the decode group, all else to the compile group.

    Attributes:
        number: counted up by the dialog, so that it knows a late answer.
    """

    compiled: CompileRequest
    target: str
    path: str = ""
    told: ExportOptionsMessage = ExportOptionsMessage()
    number: int = 0


@dataclass(frozen=True, slots=True)
class PreviewFile:
    """A file of an export: its path within the folder, its size in bytes, how it begins; no text where it is none."""

    path: str
    size: int
    text: str


@dataclass(frozen=True, slots=True)
class ExportAnswer:
    """How an export looks, or what was written; or one sentence that says why there is none.

    Attributes:
        files: of the export.
        picture: a PNG that shows it, of a bounded size; empty where it is no picture.
        notes: what it leaves out or asks of the reader.
        checked: how what was written was held against the engine, a sentence; empty for a preview.
        estimate: how large a file without a preview will be, a sentence without full stop; empty where there is one.
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

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return sum(file.size for file in self.files)

    @property
    def preview(self) -> str:
        """How the first file begins."""
        return self.files[0].text if self.files else ""
