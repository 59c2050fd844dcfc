"""Batches of requests and responses on the disk: a folder, JSON lines, or the log of a vLLM server.

A file of lines is read once, a line at a time, so its size does not matter. A line that has a request alone waits for
the line with its response, which names it; what waits is not kept, only where it is. A line that cannot be read is an
entry that says why.

The form of vLLM's log is that of its `entrypoints/logger.py`: the prompt and its ids with the level DEBUG, the settings
and the answer with INFO, each with the name of the request.
"""

from __future__ import annotations

import ast
import json
import re
from collections import defaultdict, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from engine.diagnosis.batch.entries import (
    LINE_SUFFIXES,
    BatchEntry,
    EntrySource,
    FileLine,
    SourceForm,
    given_constraint,
    read_record,
)
from engine.diagnosis.intake import PastedText, TextKind
from engine.diagnosis.intake.values import MOST_CHARACTERS
from engine.source import CancelToken, EngineError

_LONGEST_LINE: Final = 8_000_000  # bytes
_CHUNK: Final = 1 << 20
_BOMS: Final = ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"), (b"\xef\xbb\xbf", "utf-8"), (b"", "utf-8"))
_ANSWERED: Final = b"Generated response "


class BatchError(EngineError):
    """A folder or a file of a batch cannot be read."""


def is_batch(path: Path) -> bool:
    """Return whether a path has several requests: a folder, JSON lines, or a log with answers."""
    if path.is_dir():
        return True
    return path.suffix.lower() in LINE_SUFFIXES or (path.is_file() and _has_answers(path))


def batch_entries(
    paths: Sequence[Path], *, as_lines: bool = False, cancel: CancelToken | None = None
) -> Iterator[BatchEntry]:
    """Yield the requests of folders and files with their responses, in the order of the names and lines.

    A request and its response may be in two files: they are yielded where the second of them is. Those that stay alone
    come last.

    Args:
        paths: the folders and files.
        as_lines: whether the files are JSON lines, whatever their names.
        cancel: cancels the reading, and receives the number of bytes as progress.

    Raises:
        BatchError: a path cannot be read.
        CancelledError: `cancel` was used.
    """
    reader = _BatchReader(cancel or CancelToken())
    for path in paths:
        try:
            reader.find(path, as_lines=as_lines)
        except OSError as error:
            raise BatchError("cli.file.unreadable", name=path, reason=error.strerror or error) from error
    yield from reader.entries()


# --- lines


class _Line(NamedTuple):
    """A line of a file with its bytes, without the line end; None if there are too many."""

    where: FileLine
    data: bytes | None


def _lines(stream: BinaryIO, encoding: str) -> Iterator[_Line]:
    """Yield the lines of a file from its present position; no more than one is in memory."""
    end = "\n".encode(encoding)
    width, offset, number, buffer, searched, too_long = len(end), stream.tell(), 0, bytearray(), 0, 0
    while True:
        chunk = stream.read(_CHUNK)
        buffer += chunk
        while (at := _aligned(buffer, end, searched, width)) >= 0:
            number += 1
            size = too_long + at + width
            yield _Line(FileLine(number, offset, size), None if too_long else bytes(buffer[:at]))
            del buffer[: at + width]
            offset, searched, too_long = offset + size, 0, 0
        searched = max(0, len(buffer) - width + 1) // width * width
        if too_long or len(buffer) > _LONGEST_LINE:
            too_long += searched
            del buffer[:searched]
            searched = 0
        if not chunk:
            break
    if buffer or too_long:
        yield _Line(FileLine(number + 1, offset, too_long + len(buffer)), None if too_long else bytes(buffer))


def _aligned(buffer: bytearray, end: bytes, start: int, width: int) -> int:
    at = buffer.find(end, start)
    while at >= 0 and at % width:
        at = buffer.find(end, at + 1)
    return at


def _has_answers(path: Path) -> bool:
    """Return whether a file has the answers that vLLM logs."""
    overlap = b""
    with path.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            if _ANSWERED in overlap + chunk:
                return True
            overlap = chunk[-len(_ANSWERED) :]
    return False


# --- names of files


_ROLES: Final = {
    **dict.fromkeys(("request", "requests", "req"), TextKind.REQUEST),
    **dict.fromkeys(("response", "responses", "resp"), TextKind.RESPONSE),
    **dict.fromkeys(("output", "out"), TextKind.OUTPUT),
    **dict.fromkeys(("log", "server"), TextKind.LOG),
}
_GRAMMARS: Final = {"schema": "json_schema", "grammar": "gbnf", "pattern": "regex", "choice": "regex"}
_SUFFIXES: Final = (".json", ".txt", ".log", ".gbnf", ".sse", ".http")
_PARTS: Final = re.compile(r"[._-]+")
_DIGITS: Final = re.compile(r"(\d+)")


class _Role(NamedTuple):
    """The part of a failure that a file is by its name.

    Attributes:
        stem: the rest of the name, which the files of one request share.
        kind: the kind of text; `GRAMMAR` with a notation.
        notation: that of a grammar.
    """

    stem: str
    kind: TextKind
    notation: str = ""


def _role_of(path: Path, folder: str = "") -> _Role | None:
    """Return the part that a file is by its name, such as `a.request.json`, or by its folder's; None if by neither."""
    suffix, name = path.suffix.lower(), path.stem
    if suffix not in _SUFFIXES:
        return None
    words = _PARTS.split(name.lower())
    for at in (-1, 0):  # `a.request`, `request_a`
        stem = name if len(words) == 1 else name[: -len(words[-1]) - 1] if at else name[len(words[0]) + 1 :]
        stem = "" if len(words) == 1 else stem
        if words[at] in _ROLES:
            return _Role(stem, _ROLES[words[at]])
        if words[at] in _GRAMMARS and (suffix == ".gbnf") == (words[at] == "grammar"):
            return _Role(stem, TextKind.GRAMMAR, _GRAMMARS[words[at]])
    if suffix == ".gbnf":
        return _Role(name, TextKind.GRAMMAR, "gbnf")
    if folder in _ROLES:
        return _Role(name, _ROLES[folder])
    return _Role(name, TextKind.LOG) if suffix == ".log" else None


def _natural(path: Path) -> list[tuple[int, int | str]]:
    """Return the key by which names are sorted: numbers in them by their value."""
    return [(0, int(part)) if part.isdigit() else (1, part) for part in _DIGITS.split(path.name) if part]


# --- the reader


@dataclass
class _Group:
    """The files of one request, each with what it is."""

    name: str
    parts: list[tuple[Path, _Role]] = field(default_factory=list)
    grammars: list[tuple[Path, _Role]] = field(default_factory=list)


class _BatchReader:
    """Reads the files that `find` has found."""

    def __init__(self, cancel: CancelToken) -> None:
        self._cancel = cancel
        self._groups: list[_Group] = []
        self._files: list[tuple[Path, bool]] = []  # with whether it has JSON lines
        self._requests: defaultdict[str, deque[EntrySource]] = defaultdict(deque)
        self._responses: defaultdict[str, deque[EntrySource]] = defaultdict(deque)
        self._names: dict[str, int] = {}
        self._done = self._total = 0
        self._given: set[Path] = set()  # the files that were named
        self._root: Path | None = None

    def find(self, path: Path, *, as_lines: bool) -> None:
        """Add a file, or the files of a folder and of the folders in it.

        Args:
            path: the file or folder.
            as_lines: whether a file has JSON lines, whatever its name.

        Raises:
            OSError: the path cannot be read.
        """
        if not path.is_dir():
            self._total += path.stat().st_size
            self._given.add(path)
            self._files.append((path, as_lines or path.suffix.lower() in LINE_SUFFIXES))
            return
        self._root = self._root or path
        self._find_in(path, path.name)
        folders = sorted((one for one in path.iterdir() if one.is_dir() and one.name[:1] != "."), key=_natural)
        parted = [one for one in folders if _ROLES.get(one.name.lower()) is not None]
        self._find_parted(parted)
        for folder in folders:
            if folder not in parted:
                self._find_in(folder, folder.name)

    def _find_in(self, folder: Path, title: str) -> None:
        """Add the files of a folder.

        A grammar without a name of its own, such as `schema.json`, is that of all its requests, and so is a single one
        with another name than theirs. Of several, the first is that of outputs without a request.
        """
        groups: dict[str, _Group] = {}
        for path in sorted((one for one in folder.iterdir() if one.is_file()), key=_natural):
            if path.name.startswith("."):
                continue
            role = None if path.suffix.lower() in LINE_SUFFIXES else _role_of(path)
            if role is None or (role.kind is TextKind.LOG and role.stem and _has_answers(path)):
                self._add_file(path)
            else:
                group = groups.setdefault(role.stem, _Group(role.stem or title))
                (group.grammars if role.kind is TextKind.GRAMMAR else group.parts).append((path, role))
        asked = {stem: group for stem, group in groups.items() if group.parts}
        alone = [pair for stem, group in groups.items() if stem not in asked for pair in group.grammars]
        unnamed = groups[""].grammars if "" in groups else []
        for group in asked.values() if asked else [groups.get("") or group for group in groups.values()][:1]:
            has_request = any(role.kind is TextKind.REQUEST for _, role in group.parts)
            group.grammars = group.grammars or unnamed or ([] if has_request and len(alone) > 1 else alone)
            self._add_group(group)

    def _find_parted(self, folders: Sequence[Path]) -> None:
        """Add the files of folders that are called `requests` and `responses`: equal names belong together."""
        groups: dict[str, _Group] = {}
        for folder in folders:
            for path in sorted((one for one in folder.iterdir() if one.is_file()), key=_natural):
                role = _role_of(path, folder.name.lower())
                if role is not None and role.kind is not TextKind.GRAMMAR:
                    name = role.stem or path.stem
                    groups.setdefault(name, _Group(name)).parts.append((path, role))
        for group in groups.values():
            self._add_group(group)

    def _add_group(self, group: _Group) -> None:
        self._groups.append(group)
        self._total += sum(path.stat().st_size for path, _ in group.parts)

    def _add_file(self, path: Path) -> None:
        if path.suffix.lower() in (*LINE_SUFFIXES, ".json", ".log"):
            self._files.append((path, path.suffix.lower() in LINE_SUFFIXES))
            self._total += path.stat().st_size

    def entries(self) -> Iterator[BatchEntry]:
        """Yield all entries."""
        for group in self._groups:
            self._cancel.report("progress.read_batch", self._done, self._total)
            yield self._named(self._of_group(group))
            self._done += sum(path.stat().st_size for path, _ in group.parts)
        for path, has_lines in self._files:
            try:
                yield from self._of_file(path, has_lines=has_lines)
            except OSError as error:
                reason = EngineError("cli.file.unreadable", name=path.name, reason=error.strerror or error)
                yield self._named(BatchEntry(path.name, self._place(path), error=reason))
        for source in (one for ids in (self._requests, self._responses) for found in ids.values() for one in found):
            self._cancel.check()
            yield self._named(read_sources((source,)))

    def _named(self, entry: BatchEntry) -> BatchEntry:
        """Return an entry with a name that no earlier one has."""
        count = self._names[entry.name] = self._names.get(entry.name, 0) + 1
        return entry if count == 1 else replace(entry, name=f"{entry.name} #{count}")

    def _place(self, path: Path, line: int = 0) -> str:
        inside = self._root is not None and path.is_relative_to(self._root)
        name = path.relative_to(self._root).as_posix() if inside and self._root is not None else path.name
        return f"{name}:{line}" if line else name

    # --- files of one request

    def _of_group(self, group: _Group) -> BatchEntry:
        order = list(_GRAMMARS.values())
        grammars = sorted(group.grammars, key=lambda pair: order.index(pair[1].notation))
        sources = tuple(
            EntrySource(path, group.name, self._place(path), SourceForm.FILE, role.kind, role.notation)
            for path, role in (*group.parts, *grammars[:1])
        )
        return replace(read_sources(sources), place=sources[0].place)

    # --- files of lines, or of anything

    def _of_file(self, path: Path, *, has_lines: bool) -> Iterator[BatchEntry]:
        with path.open("rb") as stream:
            head = stream.read(4096)
            bom, encoding = next(one for one in _BOMS if head.startswith(one[0]))
            if "\0" in head[len(bom) :].decode(encoding, "replace"):
                error = EngineError("errors.diagnosis.no_text")
                yield self._named(BatchEntry(path.name, self._place(path), error=error))
            elif has_lines:
                stream.seek(len(bom))
                yield from self._of_lines(path, stream, encoding)
            elif _has_answers(path):
                stream.seek(len(bom))
                yield from self._of_log(path, stream, encoding)
            else:
                yield from self._of_text(path)
        self._done += path.stat().st_size

    def _of_text(self, path: Path) -> Iterator[BatchEntry]:
        """Yield the request or the response of a file, or both; other files of a folder are left out."""
        source = EntrySource(path, path.stem, self._place(path), SourceForm.RECORD)
        name, entry = _record_of(source)
        is_other = any(one.kind is TextKind.ANY for one in entry.texts)
        if not is_other or path in self._given:
            yield from self._joined(source, name, entry)

    def _of_lines(self, path: Path, stream: BinaryIO, encoding: str) -> Iterator[BatchEntry]:
        for where, data in _lines(stream, encoding):
            self._cancel.report("progress.read_batch", self._done + where.offset, self._total)
            if data is not None and not data.strip():
                continue
            place = self._place(path, where.number)
            source = EntrySource(path, str(where.number), place, SourceForm.LINE, lines=(where,), encoding=encoding)
            yield from self._joined(source, *_record_of(source, data))

    def _joined(self, source: EntrySource, name: str, entry: BatchEntry) -> Iterator[BatchEntry]:
        """Yield an entry with its other half, if it needs none or that is known; else let it wait.

        Args:
            source: where it is.
            name: the name by which the halves find each other; empty if it has none.
            entry: the entry.
        """
        if not name or entry.has_request == entry.has_answer:
            yield self._named(entry)
            return
        others, own = self._requests, self._responses
        if entry.has_request:
            others, own = own, others
        if not others.get(name):
            own[name].append(source)
            return
        other = read_sources((others[name].popleft(),))
        first, second = (entry, other) if entry.has_request else (other, entry)
        yield self._named(replace(first.with_parts_of(second), place=second.place))

    # --- logs

    def _of_log(self, path: Path, stream: BinaryIO, encoding: str) -> Iterator[BatchEntry]:
        """Yield the requests that a server has logged, each where its answer is."""
        seen: dict[str, list[FileLine]] = {}
        for where, data in _lines(stream, encoding):
            self._cancel.report("progress.read_batch", self._done + where.offset, self._total)
            text = (data or b"").decode(encoding, "replace")
            answered = _ANSWER.search(text)
            named = _DETAILS.search(text) or _SETTINGS.search(text) or answered
            name = named["id"] if named is not None else next((one for one in _NAMES.findall(text) if one in seen), "")
            if not name or (answered is not None and answered["delta"]):
                continue
            lines = seen.setdefault(name, [])
            if len(lines) < _MOST_LOGGED or named is not None:
                lines.append(where)
            if answered is not None:
                yield self._logged(path, name, seen.pop(name), encoding)
        for name, lines in seen.items():
            self._cancel.check()
            yield self._logged(path, name, lines, encoding)

    def _logged(self, path: Path, name: str, lines: Sequence[FileLine], encoding: str) -> BatchEntry:
        place = self._place(path, lines[0].number)
        source = EntrySource(path, name, place, SourceForm.LOG, lines=tuple(lines), encoding=encoding)
        return self._named(read_sources((source,)))


# --- reading


def read_sources(sources: Sequence[EntrySource]) -> BatchEntry:
    """Read an entry where it is; what cannot be read is its error."""
    first, *others = [_record_of(source)[1] for source in sources]
    for other in others:
        first = first.with_parts_of(other)
    return first


def _record_of(source: EntrySource, data: bytes | None = None) -> tuple[str, BatchEntry]:
    """Return the name by which a part finds its other half, and the part.

    Args:
        source: where it is.
        data: the bytes of a line that was just read; None to read them.
    """
    try:
        match source.form:
            case SourceForm.FILE:
                name, entry = "", _of_file(source)
            case SourceForm.RECORD:
                name, entry = _of_record(source)
            case SourceForm.LINE:
                record = read_record(_json(source, data), source.name, source.place)
                name, entry = record.id, record.entry
            case SourceForm.LOG:
                texts = [one.decode(source.encoding, "replace") for one in _line_data(source)]
                name, entry = "", _logged(source, texts)
    except (EngineError, OSError) as error:
        name, entry = "", BatchEntry(source.name, source.place, error=_readable(error, source.path))
    return name, replace(entry, sources=(source,))


def _of_file(source: EntrySource) -> BatchEntry:
    data, entry = _bytes(source.path), BatchEntry(source.name, source.place)
    if source.kind is TextKind.OUTPUT:
        return replace(entry, output=data)
    if source.kind is not TextKind.GRAMMAR:
        return replace(entry, texts=(PastedText(data, source.kind),))
    try:
        return replace(entry, constraint=given_constraint(source.notation, data.decode("utf-8-sig")))
    except UnicodeError as error:
        raise EngineError("cli.file.not_utf8", name=source.path.name, reason=error) from error


def _of_record(source: EntrySource) -> tuple[str, BatchEntry]:
    data = _bytes(source.path)
    try:
        record = read_record(json.loads(data), source.name, source.place)
    except (ValueError, RecursionError, EngineError):
        return "", BatchEntry(source.name, source.place, (PastedText(data),))
    return record.id, record.entry


def _bytes(path: Path) -> bytes:
    """Return the bytes of a file.

    Raises:
        EngineError: there are too many.
    """
    size = path.stat().st_size
    if size > MOST_CHARACTERS:
        raise EngineError("errors.diagnosis.too_long", size=size, limit=MOST_CHARACTERS)
    return path.read_bytes()


def _line_data(source: EntrySource) -> list[bytes]:
    with source.path.open("rb") as stream:
        found = []
        for line in source.lines:
            stream.seek(line.offset)
            found.append(stream.read(line.size))
        return found


def _json(source: EntrySource, data: bytes | None) -> Any:
    """Return the value of a line.

    Raises:
        EngineError: it is too long, no text, or no JSON.
        OSError: the file cannot be read.
    """
    size = source.lines[0].size
    if size > _LONGEST_LINE:
        raise EngineError("errors.diagnosis.batch.long_line", size=size, limit=_LONGEST_LINE)
    data = _line_data(source)[0] if data is None else data
    try:
        return json.loads(data.decode(source.encoding))
    except UnicodeDecodeError as error:
        encoding = source.encoding.upper()
        raise EngineError("errors.diagnosis.batch.encoding", encoding=encoding, byte=error.start + 1) from error
    except json.JSONDecodeError as error:
        raise EngineError("errors.diagnosis.batch.no_json", column=error.colno, reason=error.msg) from error
    except (ValueError, RecursionError) as error:
        raise EngineError("errors.diagnosis.too_deep") from error


def _readable(error: EngineError | OSError, path: Path) -> EngineError:
    if isinstance(error, EngineError):
        return error
    return EngineError("cli.file.unreadable", name=path.name, reason=error.strerror or error)


# --- vLLM's log

_MOST_LOGGED: Final = 50  # lines of one request
_NAMES: Final = re.compile(r"\b(?:chatcmpl|cmpl|resp)-[\w-]+")
_TEXT: Final = r"None|'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_IDS: Final = r"None|\[[\d, ]*\]"
_DETAILS: Final = re.compile(
    rf"(?:Request|Received request) (?P<id>[^\s:]+)(?: details)?: prompt: (?P<prompt>{_TEXT})"
    rf"(?:.*?prompt_token_ids: (?P<ids>{_IDS}))?",
    re.DOTALL,
)
_SETTINGS: Final = re.compile(r"Received request (?P<id>[^\s:]+): .*?params: (?=SamplingParams\()", re.DOTALL)
_ANSWER: Final = re.compile(
    r"Generated response (?P<id>[^\s:]+)(?: \(streaming (?:(?P<delta>delta)|complete)\))?: "
    rf"output: (?P<output>{_TEXT})(?:, output_token_ids: (?P<ids>{_IDS}))?, finish_reason: (?P<finish>\w+)",
    re.DOTALL,
)
_BRACKETS: Final = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[()]")


def _logged(source: EntrySource, lines: Sequence[str]) -> BatchEntry:
    """Return the request that some lines of a log are about."""
    request: dict[str, Any] = {"return_token_ids": True}  # which vLLM alone has
    texts: list[PastedText] = []
    other: list[str] = []
    for line in lines:
        details, settings, answer = _DETAILS.search(line), _SETTINGS.search(line), _ANSWER.search(line)
        if details is not None:
            request["prompt"], request["prompt_token_ids"] = map(_literal, details.group("prompt", "ids"))
        if settings is not None:
            texts.append(PastedText(_call(line[settings.end() :]), TextKind.REQUEST))
        if answer is not None:
            choice = {"text": _literal(answer["output"]), "token_ids": _literal(answer["ids"])}
            choices = {"choices": [{**choice, "finish_reason": answer["finish"]}]}
            texts.append(PastedText(json.dumps(choices), TextKind.RESPONSE))
        if details is settings is answer is None:
            other.append(line)
    texts.append(
        PastedText(json.dumps({key: one for key, one in request.items() if one is not None}), TextKind.REQUEST)
    )
    if other:
        texts.append(PastedText("".join(other), TextKind.LOG))
    return BatchEntry(source.name, source.place, tuple(texts))


def _literal(text: str | None) -> Any:
    return None if text is None else ast.literal_eval(text)


def _call(text: str) -> str:
    """Return the call that a text begins with."""
    depth = 0
    for match in _BRACKETS.finditer(text):
        depth += {"(": 1, ")": -1}.get(match[0], 0)
        if not depth and match[0] == ")":
            return text[: match.end()]
    return text
