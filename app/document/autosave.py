"""Autosave, and recovery after a crash.

Every document of a window has a file of its own in the user's state folder, beside a lock that names the process. A
clean exit removes both. A file whose lock belongs to no live process is work that a crash left behind: the next start
recovers it.

Writing happens in a thread, because a disk may take longer than a frame. The encoder holds the interpreter lock while
it works, so it encodes the steps in chunks and caches the result: measured, 10,000 steps (9 MB) of which the last is
new take 14 ms in several pieces, instead of 33 ms at once. The candidates of steps are not saved: after a crash, the
model computes them again.
"""

from __future__ import annotations

import contextlib
import logging
import operator
import threading
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import msgspec
import platformdirs
from PySide6.QtCore import QLockFile

from app.document.last_document import LATEST
from app.storage import APPLICATION, UNREADABLE, read_limited, set_aside, write_atomically
from engine.decoding.values import ArchivedBranch, Step, TraceNode
from engine.document.codec import SIZE_LIMIT, DocumentError, decode, stored_fields
from engine.document.content import DocumentFile

_log = logging.getLogger(__name__)

_SUFFIX: Final = ".autosave"
_CHUNK: Final = 256  # steps


@dataclass(frozen=True, slots=True)
class Saved:
    """An autosaved document and where it belongs.

    Attributes:
        path: of its file; empty if it has none.
        saved_at: seconds since the epoch.
        document: the content.
        ended_by: what ended the window that saved it, if that was recorded: a signal's name, or "session".
        is_modified: whether it has unsaved edits.
    """

    path: str
    saved_at: float
    document: DocumentFile
    ended_by: str = ""
    is_modified: bool = True


class _Stored(msgspec.Struct, frozen=True):
    """The form in which `Saved` is stored."""

    path: str
    saved_at: float
    document: msgspec.Raw
    ended_by: str = ""
    is_modified: bool = True


def read_saved(data: bytes, name: str) -> Saved:
    """Decode an autosave.

    Args:
        data: The bytes of the file.
        name: The name of the file, for messages.

    Raises:
        DocumentError: The document in it cannot be read.
        msgspec.MsgspecError, ValueError: It is no autosave.
    """
    stored = msgspec.json.decode(data, type=_Stored)
    if not 0 <= stored.saved_at <= LATEST:
        raise ValueError("its time is not one")
    document = decode(bytes(stored.document), name)
    return Saved(stored.path, stored.saved_at, document, stored.ended_by, stored.is_modified)


@dataclass(frozen=True, slots=True)
class Leftover:
    """The autosave of a window that did not exit cleanly, still in its own file."""

    file: Path
    saved: Saved

    @property
    def window(self) -> str:
        """Return the name of the window that it was open in, which its file's name begins with."""
        return self.file.stem.rpartition("-")[0]

    @property
    def has_work(self) -> bool:
        """Return whether it has unsaved edits or an output in no file, or its file is no longer the one that it was."""
        saved = self.saved
        if saved.is_modified or not saved.path:
            return saved.is_modified or bool(saved.document.trace.nodes)
        try:
            return Path(saved.path).stat().st_mtime > saved.saved_at
        except (OSError, ValueError):  # it is gone
            return True


class Autosave:
    """The autosave file of one document of a window.

    Args:
        folder: that of all windows; the user's state folder by default.
        window: the name of the window; empty for a new one.

    Attributes:
        file: the autosave; it exists while there is something to recover. Its name sorts by the time of opening.
        on_failure: called in the writer's thread with the reason when writing begins to fail.
        damaged: the number of damaged autosaves of other windows that were set aside.
    """

    def __init__(self, folder: Path | None = None, window: str = "") -> None:
        self.on_failure: Callable[[str], object] | None = None
        self.damaged = 0
        self._has_failed = False
        self._folder = folder or platformdirs.user_state_path(APPLICATION) / "autosave"
        self._window = window or uuid.uuid4().hex
        self.file = self._folder / f"{self._window}-{time.time_ns():020}{_SUFFIX}"
        # Created and released by the GUI thread; the writer's thread only calls it. The Qt bindings are not safe if one
        # thread creates or releases a Qt object while another thread runs in Qt.
        self._lock = self._make_lock(self.file)
        self._is_locked = False
        self._is_closed = False
        self._encoder = AutosaveEncoder()
        self._next: Saved | None = None
        self._guard = threading.Lock()  # protects what is to be written next
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="autosave")

    def another(self) -> Autosave:
        """Return the autosave of another document of the same window."""
        return Autosave(self._folder, self._window)

    def save(self, document: DocumentFile, path: Path | None, *, is_modified: bool = True, ended_by: str = "") -> None:
        """Write the document in the background. While the disk is busy, only the latest one is queued.

        Args:
            document: the content to write.
            path: the document's own file; None if it has none.
            is_modified: whether it has unsaved edits.
            ended_by: what is about to end the window; empty if nothing is.
        """
        if self._is_closed:
            return
        with self._guard:
            is_waiting = self._next is not None
            self._next = Saved(str(path or ""), time.time(), document, ended_by, is_modified)
        if not is_waiting:
            self._writer.submit(self._write)

    def flush(self) -> None:
        """Wait until all pending writes are done."""
        if not self._is_closed:
            self._writer.submit(self._barrier).result()

    def discard(self) -> None:
        """Delete the autosave: the document is in its own file, or was discarded."""
        if self._is_closed:
            return
        with self._guard:
            self._next = None
        self._writer.submit(self._remove)

    def close(self, *, keeps: bool = False) -> None:
        """Stop; delete the autosave, unless the last one is kept for the next start."""
        if not self._is_closed:
            self._is_closed = True
            if keeps:
                self._writer.submit(self._unlock)
            else:
                self._writer.submit(self._remove)
            self._writer.shutdown(wait=True)

    def find(self) -> Leftover | None:
        """Return the latest autosave of a window that did not exit cleanly; one with unsaved edits if there is any."""
        return max(self._leftovers(), key=lambda one: (one.has_work, one.saved.saved_at), default=None)

    def find_beside(self, leftover: Leftover) -> list[Leftover]:
        """Return the autosaves of all documents of the window that a leftover is of, itself among them, in order."""
        if not leftover.window:
            return [leftover]
        found = self._leftovers(f"{leftover.window}-")
        return sorted(found, key=lambda one: one.file.name)

    def _leftovers(self, start: str = "") -> list[Leftover]:
        with contextlib.suppress(OSError):
            leftovers = [self._read_leftover(file) for file in self._folder.glob(f"{start}*{_SUFFIX}")]
            return [one for one in leftovers if one is not None]
        return []

    def take(self, leftover: Leftover) -> None:
        """Take a leftover over as this window's own; it stays in its file if it cannot be written again."""
        saved = leftover.saved
        self.save(saved.document, Path(saved.path) if saved.path else None, is_modified=saved.is_modified)
        self.flush()  # nothing is lost if this start crashes, too
        if not self._has_failed:
            self.drop(leftover)

    def drop(self, leftover: Leftover) -> None:
        """Delete a leftover."""
        with contextlib.suppress(OSError):
            leftover.file.unlink()

    def put_back(self, leftover: Leftover) -> None:
        """Write a leftover to its file again, after `drop`."""
        with contextlib.suppress(OSError):
            write_atomically(leftover.file, AutosaveEncoder().encode(leftover.saved))

    def _read_leftover(self, file: Path) -> Leftover | None:
        lock = self._make_lock(file)
        if not lock.tryLock(0):
            return None  # a window that is alive
        try:
            saved = read_saved(read_limited(file, SIZE_LIMIT), file.name)
        except FileNotFoundError:  # another window was quicker
            return None
        except (*UNREADABLE, DocumentError) as error:
            _log.warning("an autosave at %s cannot be recovered: %s", file, error)
            if not isinstance(error, OSError) and set_aside(file, _SUFFIX):
                self.damaged += 1
            return None
        finally:
            lock.unlock()
        return Leftover(file, saved)

    def _make_lock(self, file: Path) -> QLockFile:
        lock = QLockFile(str(file.with_suffix(".lock")))
        lock.setStaleLockTime(0)  # only a dead process makes a lock stale, however long a window stays open
        return lock

    def _write(self) -> None:
        with self._guard:
            saved, self._next = self._next, None
        if saved is None:
            return
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            if not self._is_locked:
                self._is_locked = self._lock.tryLock(0)
            write_atomically(self.file, self._encoder.encode(saved))
        except OSError as error:
            if not self._has_failed:
                _log.warning("autosave cannot write to %s: %s", self._folder, error)
                if self.on_failure is not None:
                    self.on_failure(error.strerror or str(error))
            self._has_failed = True
        else:
            self._has_failed = False

    def _remove(self) -> None:
        with contextlib.suppress(OSError):
            self.file.unlink(missing_ok=True)
        self._unlock()

    def _barrier(self) -> None:
        """Do nothing: the caller waits for this to wait for all earlier work."""

    def _unlock(self) -> None:
        if self._is_locked:
            self._lock.unlock()
            self._is_locked = False


class AutosaveEncoder:
    """Encodes autosaves, and caches the encoded steps, most of which are in the next one, too."""

    def __init__(self) -> None:
        self._chunks: list[tuple[tuple[TraceNode, ...], bytes]] = []
        self._branches: list[tuple[ArchivedBranch, msgspec.Raw]] = []

    def encode(self, saved: Saved) -> bytes:
        """Return the JSON of an autosave, from which `read_saved` makes it again."""
        document, trace = saved.document, saved.document.trace
        fields = stored_fields(document)
        fields["trace"] = {
            "nodes": msgspec.Raw(b"[" + b",".join(self._encoded_chunks(trace.nodes)) + b"]"),
            "path": trace.path,
            "current": trace.current,
            "illegal": trace.illegal,
        }
        fields["archived"] = self._encoded_branches(document.archived)
        stored = {"path": saved.path, "saved_at": saved.saved_at, "document": fields}
        return msgspec.json.encode({**stored, "ended_by": saved.ended_by, "is_modified": saved.is_modified})

    def _encoded_chunks(self, nodes: tuple[TraceNode, ...]) -> list[bytes]:
        before, self._chunks = self._chunks, []
        for number, first in enumerate(range(0, len(nodes), _CHUNK)):
            chunk = nodes[first : first + _CHUNK]
            known = before[number] if number < len(before) else None
            if known is None or len(known[0]) != len(chunk) or not all(map(operator.is_, known[0], chunk)):
                known = chunk, msgspec.json.encode([_light_node(node) for node in chunk])[1:-1]
            self._chunks.append(known)
        return [encoded for _, encoded in self._chunks]

    def _encoded_branches(self, branches: tuple[ArchivedBranch, ...]) -> list[msgspec.Raw]:
        before, self._branches = self._branches, []
        for branch in branches:
            known = next((known for known in before if known[0] is branch), None)
            if known is None:
                light = replace(branch, steps=tuple(map(_light_step, branch.steps)))
                known = branch, msgspec.Raw(msgspec.json.encode(light))
            self._branches.append(known)
        return [encoded for _, encoded in self._branches]


def _light_node(node: TraceNode) -> TraceNode:
    return TraceNode(node.id, node.parent, _light_step(node.step))


def _light_step(step: Step) -> Step:
    """Return a step without its candidates, except for the top tokens that it shows."""
    return step if step.kept is None else replace(step, kept=None)
