"""Autosave, and what it gives back after a crash.

Every window writes to a file of its own in the user's state folder, beside a lock
that names its process. A clean end removes both. A file whose lock belongs to
nobody alive is work that a crash left behind: the next start takes it over.

Writing happens in a thread, because a disk may take longer than a frame. The encoder holds the interpreter all the
while, so it is spared the candidates that steps keep: after a crash, the model is asked for them again.
"""

from __future__ import annotations

import contextlib
import logging
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import msgspec
import platformdirs
from PySide6.QtCore import QLockFile

from app.document.file import DocumentError, DocumentFile, decode
from app.settings import APPLICATION, write_atomically
from engine.decoding.values import Step, TraceNode
from engine.source import InvariantError

_log = logging.getLogger(__name__)

_SUFFIX = ".autosave"


class Saved(msgspec.Struct, frozen=True):
    """An autosaved document and where it belongs."""

    path: str
    saved_at: float  # seconds since the epoch
    document: DocumentFile


class Autosave:
    """One window's autosave file.

    Attributes:
        on_failure: is called with the reason when writing begins to fail; in the writer's thread.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.on_failure: Callable[[str], object] | None = None
        self._has_failed = False
        self._folder = folder or platformdirs.user_state_path(APPLICATION) / "autosave"
        self._name = uuid.uuid4().hex
        # Made and kept by the GUI's thread; the writer's only calls it. An object of Qt's that one thread makes or
        # drops, while another is within Qt, is what the bindings cannot be trusted with.
        self._lock = self._lock_of(self._folder / f"{self._name}{_SUFFIX}")
        self._is_locked = False
        self._is_closed = False
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="autosave")

    def save(self, document: DocumentFile, path: Path | None) -> None:
        """Write the document in the background; a newer call wins."""
        self._writer.submit(self._write, Saved(str(path or ""), time.time(), document))

    def discard(self) -> None:
        """Forget what was saved: the document is in its own file, or was thrown away."""
        self._writer.submit(self._remove)

    def close(self) -> None:
        """End cleanly: nothing is left to recover."""
        if not self._is_closed:
            self._is_closed = True
            self._writer.submit(self._remove)
            self._writer.shutdown(wait=True)

    def recover(self) -> Saved | None:
        """The latest work that a crash left behind, if any. It becomes this window's own; older work waits its turn."""
        found: list[tuple[Saved, Path]] = []
        with contextlib.suppress(OSError):
            orphans = [(self._read_orphan(file), file) for file in self._folder.glob(f"*{_SUFFIX}")]
            found = [(saved, file) for saved, file in orphans if saved is not None]
        if not found:
            return None
        saved, file = max(found, key=lambda pair: pair[0].saved_at)
        is_safe = self._writer.submit(self._write, saved).result()  # nothing is lost if this start crashes too
        if is_safe:
            with contextlib.suppress(OSError):
                file.unlink()
        return saved

    def _read_orphan(self, file: Path) -> Saved | None:
        lock = self._lock_of(file)
        if not lock.tryLock(0):
            return None  # a window that is alive
        try:
            saved = msgspec.json.decode(file.read_bytes(), type=Saved)
            decode(msgspec.json.encode(saved.document), file.name)
        except (OSError, msgspec.MsgspecError, DocumentError, InvariantError, ValueError) as error:
            _log.warning("an autosave at %s cannot be recovered: %s", file, error)
            with contextlib.suppress(OSError):
                file.rename(file.with_suffix(".damaged"))
            return None
        finally:
            lock.unlock()
        return saved

    def _lock_of(self, file: Path) -> QLockFile:
        lock = QLockFile(str(file.with_suffix(".lock")))
        lock.setStaleLockTime(0)  # only a dead process makes a lock stale, however long a window stays open
        return lock

    def _write(self, saved: Saved) -> bool:
        file = self._folder / f"{self._name}{_SUFFIX}"
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            if not self._is_locked:
                self._is_locked = self._lock.tryLock(0)
            write_atomically(file, msgspec.json.encode(msgspec.structs.replace(saved, document=_light(saved.document))))
        except OSError as error:
            if not self._has_failed:
                _log.warning("autosave cannot write to %s: %s", self._folder, error)
                if self.on_failure is not None:
                    self.on_failure(error.strerror or str(error))
            self._has_failed = True
        else:
            self._has_failed = False
        return not self._has_failed

    def _remove(self) -> None:
        with contextlib.suppress(OSError):
            (self._folder / f"{self._name}{_SUFFIX}").unlink(missing_ok=True)
        if self._is_locked:
            self._lock.unlock()
            self._is_locked = False


def _light(document: DocumentFile) -> DocumentFile:
    """A document whose steps keep no candidates but the favourites that they show."""
    trace = replace(document.trace, nodes=tuple(map(_light_node, document.trace.nodes)))
    former = tuple(replace(branch, steps=tuple(map(_light_step, branch.steps))) for branch in document.former)
    return msgspec.structs.replace(document, trace=trace, former=former)


def _light_node(node: TraceNode) -> TraceNode:
    return TraceNode(node.id, node.parent, _light_step(node.step))


def _light_step(step: Step) -> Step:
    return step if step.kept is None else replace(step, kept=None)
