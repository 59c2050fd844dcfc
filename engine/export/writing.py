"""Writing of exports: make, write to a temporary name, read back, check, move into place.

The export has a temporary name in the same folder until the check is over, so neither a full disk nor a failed check
replaces a good file by a partial or wrong one.

Rejected: checking the artifact in memory. Users deploy the file, and an encoding or a line end that changed on the way
to the disk is a real fault.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from engine.export.graph.drawing import picture
from engine.export.target import (
    Artifact,
    Check,
    ExportError,
    ExportJob,
    MismatchError,
    NotExportableError,
    Target,
    no_vocabulary,
)
from engine.export.targets import grouped_targets, target
from engine.source import CancelledError, EngineError, GrammarError
from engine.source.catalogue import catalogue_text


@dataclass(frozen=True, slots=True)
class Exported:
    """The result of an export.

    Attributes:
        path: the file or folder.
        files: the relative path and size of each file.
        notes: what it leaves out or requires of the reader.
        check: the comparison with the engine.
    """

    path: Path
    files: tuple[tuple[str, int], ...]
    notes: tuple[str, ...]
    check: Check

    @property
    def size(self) -> int:
        """The total size of all files in bytes."""
        return sum(size for _, size in self.files)


@dataclass(frozen=True, slots=True)
class Fit:
    """Whether a target fits a grammar.

    Attributes:
        refusal: why it does not; empty if it does.
    """

    target: Target
    refusal: str


def fits(job: ExportJob) -> tuple[Fit, ...]:
    """Return all targets in the order of the lists that users see, each with the reason why it does not fit."""
    with job.cancel.scope():
        return tuple(Fit(found, refusal(found, job)) for found in grouped_targets())


def refusal(chosen: Target, job: ExportJob) -> str:
    """Return why a target cannot be made of a job; empty if it can."""
    why_not = chosen.refusal(job)
    if not why_not and chosen.needs_vocabulary and job.vocabulary is None:
        return no_vocabulary()
    return why_not


def make(name: str, job: ExportJob) -> Artifact:
    """Make an export in memory, for a preview or for the terminal.

    Raises:
        NotExportableError: the target cannot express the grammar.
        EngineError: as the target's `make`.
    """
    chosen = target(name)
    with job.cancel.scope():
        why_not = refusal(chosen, job)
        if why_not and why_not != no_vocabulary():
            _raise_located_error(chosen, job)
        if why_not:
            raise NotExportableError("export.writing.fragment.no_fit", target=name, reason=why_not)
        return chosen.make(job)


def _raise_located_error(chosen: Target, job: ExportJob) -> None:
    """Raise the error of `make` if it points at the part of the source that causes the refusal."""
    try:
        chosen.make(job)
    except (GrammarError, CancelledError):
        raise
    except EngineError:
        return


def preview_picture(name: str, job: ExportJob) -> tuple[bytes, tuple[str, ...]]:
    """Return a drawing as a PNG of a limited size, and what it leaves out.

    Raises:
        NotExportableError: the target cannot express the grammar.
        EngineError: as `drawing.picture`.
    """
    with job.cancel.scope():
        if why_not := refusal(target(name), job):
            raise NotExportableError("export.writing.fragment.no_fit", target=name, reason=why_not)
        drawn, _, notes = picture(job, "png", is_small=True)
        return drawn, notes


def check(name: str, artifact: Artifact, job: ExportJob) -> Check:
    """Compare an export with the engine.

    Args:
        name: the name of the target.
        artifact: the export.
        job: the export job.

    Raises:
        MismatchError: they differ.
        CancelledError: the job was cancelled.
    """
    return target(name).check(artifact, job)


def export(name: str, job: ExportJob, path: Path) -> Exported:
    """Make, write, read back and check an export; only then move it to `path`.

    Args:
        name: the name of the target.
        job: the export job.
        path: a file, which is replaced, or a folder that does not exist, is empty, or has an earlier export.

    Raises:
        NotExportableError: the target cannot express the grammar.
        ExportError: it cannot be written there.
        MismatchError: what was read back differs from the engine; nothing was moved to `path`.
        EngineError: as the target's `make`.
    """
    chosen = target(name)
    artifact = make(name, job)
    if job.on_made is not None:
        job.on_made(artifact.size)
    with _as_export_error(path):
        if path.is_symlink():
            path = path.resolve()  # replace the link's target, not the link
        _check_destination(chosen, artifact, path)
        beside = path.with_name(f".{path.name}.{secrets.token_hex(4)}.partial")
        try:
            read = _written_and_read(chosen, artifact, beside)
            checked = chosen.check(read, job)
            job.cancel.check()
            _move_into_place(beside, path)
        finally:
            _remove(beside)
    return Exported(path, tuple((file, len(content)) for file, content in read.files), artifact.notes, checked)


@contextmanager
def _as_export_error(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise _not_written(path, error.strerror or error) from error


def _not_written(path: Path, reason: object) -> ExportError:
    return ExportError("export.writing.fragment.failed", path=path, reason=reason)


def _check_destination(chosen: Target, artifact: Artifact, path: Path) -> None:
    if not path.name:
        raise _not_written(path, catalogue_text("export.writing.fragment.no_name"))
    if not chosen.is_folder:
        if path.is_dir():
            raise _not_written(path, catalogue_text("export.writing.fragment.folder", target=chosen.name))
        if path.exists() and not path.is_file():  # replacing /dev/null by a file would break the system
            raise _not_written(path, catalogue_text("export.writing.fragment.device"))
        return
    if path.exists() and not path.is_dir():
        raise _not_written(path, catalogue_text("export.writing.fragment.file", target=chosen.name))
    if path.is_dir():
        ours = {name for name, _ in artifact.files}
        others = (one for one in path.rglob("*") if not one.is_dir() and one.relative_to(path).as_posix() not in ours)
        if (other := next(others, None)) is not None:
            held = other.relative_to(path)
            raise _not_written(path, catalogue_text("export.writing.fragment.not_empty", file=held))


def _written_and_read(chosen: Target, artifact: Artifact, beside: Path) -> Artifact:
    paths = [beside / name if chosen.is_folder else beside for name, _ in artifact.files]
    if chosen.is_folder:
        beside.mkdir()
    for path, (_, content) in zip(paths, artifact.files, strict=True):
        if chosen.is_folder:
            path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
    read = Artifact(
        tuple((name, path.read_bytes()) for path, (name, _) in zip(paths, artifact.files, strict=True)),
        artifact.notes,
    )
    if read.files != artifact.files:
        raise MismatchError("export.writing.fragment.differs")
    return read


def _move_into_place(beside: Path, path: Path) -> None:
    if not path.is_dir():
        beside.replace(path)
        return
    old = beside.with_suffix(".old")
    path.rename(old)
    try:
        beside.rename(path)
    except OSError:
        old.rename(path)
        raise
    _remove(old)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
