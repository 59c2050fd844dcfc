"""The interface of an export target, which each file under `engine/export/targets` implements.

A target makes an artifact, one file or a folder of files, in memory. The artifact is written under a temporary name,
read back, and moved to its destination only if the target's own check finds it equivalent to the engine
(`engine.export.writing`). So a target does not handle paths, and a check sees what is on the disk.

Rejected: one base class for all. What similar targets share (their options, their refusals) is a small base in
`engine.export.target_bases`; the rest are functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal, Protocol

import msgspec

from engine.compile import CompiledGrammar
from engine.export.schema.settings import NumberSpelling
from engine.source import CancelToken, EngineError, InvariantError, LimitExceededError
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary

LARGE: Final = 10_000_000
"""The size in bytes above which the user confirms an export before it is made or written."""


class ExportError(EngineError):
    """An export was not made, or not written."""


class NotExportableError(ExportError):
    """The target cannot express this grammar; the message says why."""


class MismatchError(ExportError):
    """What was written differs from the engine; the message says where."""


class TargetGroup(StrEnum):
    """The group of a target in lists."""

    ELSEWHERE = "elsewhere"
    TEXT = "text"
    PICTURE = "picture"

    @property
    def heading(self) -> str:
        """The heading of the group."""
        return catalogue_text(f"export.group.{self.value}")


def no_vocabulary() -> str:
    """Return why a target that needs a vocabulary does not fit without one."""
    return catalogue_text("export.refusal.fragment.no_vocabulary")


@dataclass(frozen=True, slots=True)
class Artifact:
    """The result of a target.

    Attributes:
        files: relative path, with `/`, and content; one entry for a single file, whose path does not matter.
        notes: what it leaves out or requires of the reader, a sentence each.
    """

    files: tuple[tuple[str, bytes], ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        paths = [path for path, _ in self.files]
        if not paths or len(set(paths)) != len(paths):
            raise InvariantError("errors.invariant.artifact_paths")
        if any(not part or part in (".", "..") or "\\" in part for path in paths for part in path.split("/")):
            raise InvariantError("errors.invariant.artifact_path", paths=paths)

    @property
    def size(self) -> int:
        """The total size of all files in bytes."""
        return sum(len(content) for _, content in self.files)

    @property
    def is_large(self) -> bool:
        """True if the user should confirm before it is written."""
        return self.size > LARGE

    @property
    def content(self) -> bytes:
        """The content of the one file.

        Raises:
            InvariantError: there are several.
        """
        if len(self.files) != 1:
            raise InvariantError("errors.invariant.folder_content")
        return self.files[0][1]

    def file(self, path: str) -> bytes:
        """Return the content of a file of the folder.

        Raises:
            MismatchError: there is no such file, so the folder is not what was made.
        """
        for name, content in self.files:
            if name == path:
                return content
        raise MismatchError("errors.export.target.no_file", path=path)


@dataclass(frozen=True, slots=True)
class Forecast:
    """The estimated size of an export, before it is made.

    Attributes:
        count: the transitions of a token index.
        limit: the largest permitted number.
        size: the size of the file in bytes.
    """

    count: int
    limit: int
    size: int

    @property
    def is_large(self) -> bool:
        """True if the user should confirm before the file is made."""
        return self.size > LARGE

    @property
    def sentence(self) -> str:
        """The forecast as a sentence without a full stop."""
        megabytes = self.size / 1e6
        if self.count <= self.limit:
            return catalogue_text("export.report.fragment.forecast", size=megabytes, transitions=self.count)
        return catalogue_text(
            "export.report.fragment.over_limit",
            size=megabytes,
            transitions=self.count,
            limit=self.limit,
            raised=2 * self.count,
        )


class ReportedKeyword(msgspec.Struct, frozen=True):
    """A finding of a `ServerReport` about a keyword or a rule.

    Attributes:
        pointer: the place of the keyword in the schema; empty for a rule.
        keyword: the name of the keyword or rule; empty for a regex.
        note: a sentence: whether the server enforces it, and a text that shows that it does not.
    """

    pointer: str
    keyword: str
    note: str


class ServerReport(msgspec.Struct, frozen=True):
    """A check of a server with a grammar: the part of the JSON of `turnstile probe --json` that an export shows.

    Attributes:
        kind: the kind of server.
        version: its version; None if unknown.
        sentence: the result.
        keywords: the keywords or rules of the grammar.
    """

    kind: str
    version: str | None
    sentence: str
    keywords: tuple[ReportedKeyword, ...]

    def __str__(self) -> str:
        return " ".join(filter(None, (self.kind, self.version)))


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """The options of an export; a target's `supported_options` names those that it supports.

    Attributes:
        spelling: the encodings of strings and numbers, if a JSON Schema is written as rules.
        depth: the number of levels at which recursion is cut, for targets without recursion; None if it may not be.
        name: the name of the grammar, for packages, rules and titles.
        model: the model name in requests; empty for a placeholder.
        server_report: the check of a server with this grammar; None without one.
    """

    spelling: NumberSpelling = NumberSpelling.PLAIN
    depth: int | None = None
    name: str = "grammar"
    model: str = ""
    server_report: ServerReport | None = None


@dataclass(frozen=True, slots=True, eq=False)
class ExportJob:
    """What is exported, and how.

    Attributes:
        compiled: the grammar with its source and options.
        vocabulary: the vocabulary; None if none was given.
        options: the export options.
        cancel: cancels long work.
        on_forecast: called with the expected size before a large table is made; it may raise to stop the export.
        on_made: called with the exact size in bytes before anything is written; it may raise to stop the export.
    """

    compiled: CompiledGrammar
    vocabulary: Vocabulary | None = None
    options: ExportOptions = field(default_factory=ExportOptions)
    cancel: CancelToken = field(default_factory=CancelToken)
    on_forecast: Callable[[Forecast], None] | None = None
    on_made: Callable[[int], None] | None = None

    def need_vocabulary(self) -> Vocabulary:
        """Return the vocabulary, for a target that has `needs_vocabulary`.

        Raises:
            NotExportableError: none was given.
        """
        if self.vocabulary is None:
            raise NotExportableError("export.refusal.fragment.no_vocabulary")
        return self.vocabulary


@dataclass(frozen=True, slots=True)
class Check:
    """The comparison of an export with the engine.

    Attributes:
        compared: what was compared with what, as the middle of a sentence: "masks of the table read back and of the
            engine's own matcher".
        walks: the number of random texts or token sequences.
        steps: their total number of bytes or tokens; after each, both sides agreed.
        scope: what the check could not see, a sentence; empty for nothing.
    """

    compared: str
    walks: int
    steps: int
    scope: str = ""

    @property
    def sentence(self) -> str:
        """The message for the user."""
        found = catalogue_text("export.checked.walks", compared=self.compared, count=self.walks, steps=self.steps)
        return f"{found} {self.scope}".rstrip()


class TargetTexts:
    """The texts of a `Target` that are in the catalogue under its name."""

    name: str

    @property
    def title(self) -> str:
        """The name in the window."""
        return catalogue_text(f"export.title.{self.name}")

    @property
    def about(self) -> str:
        """One or two sentences: what it is, and who reads it."""
        return catalogue_text(f"export.about.{self.name}")


class Target(Protocol):
    """An export target. A module under `targets` has one such object, named `TARGET`.

    Attributes:
        name: the name on the command line.
        title: the name in the window.
        about: one or two sentences: what it is, and who reads it.
        group: its heading in lists.
        suffix: the suffix of the file, with its dot; empty for a folder.
        is_folder: whether it writes a folder.
        needs_vocabulary: whether `make` needs the job's vocabulary. A target without this may still use it.
        supported_options: the options that it supports, for a grammar of this notation.
    """

    @property
    def name(self) -> str: ...  # noqa: D102 - as above, here and below
    @property
    def title(self) -> str: ...  # noqa: D102
    @property
    def about(self) -> str: ...  # noqa: D102
    @property
    def group(self) -> TargetGroup: ...  # noqa: D102
    @property
    def suffix(self) -> str: ...  # noqa: D102
    @property
    def is_folder(self) -> bool: ...  # noqa: D102
    @property
    def needs_vocabulary(self) -> bool: ...  # noqa: D102

    def supported_options(self, compiled: CompiledGrammar) -> frozenset[OptionName]:
        """Return the options that it supports for this grammar; another one is a user error."""

    def refusal(self, job: ExportJob) -> str:
        """Return why this grammar does not fit, as a sentence without a full stop; empty if it does.

        It is called for each target whenever a list is shown, so it takes milliseconds: what only `make` finds out is
        an error there. The registry reports a missing vocabulary.
        """

    def make(self, job: ExportJob) -> Artifact:
        """Make the artifact.

        Raises:
            ExportError: it cannot be made.
            GrammarError: the target cannot express a part of the source.
            LimitExceededError: it is too large.
            CancelledError: the job was cancelled.
        """

    def check(self, artifact: Artifact, job: ExportJob) -> Check:
        """Load what was read back from the disk, and compare it with the engine on random walks.

        Raises:
            MismatchError: they differ; it names the walk and both results.
            CancelledError: the job was cancelled.
        """


@contextmanager
def named_limit(name: str, limit: int) -> Iterator[None]:
    """Add the field of `Limits` that raises this limit to its error."""
    try:
        yield
    except LimitExceededError as error:
        if error.name or error.limit != limit:
            raise
        raise LimitExceededError(error.what, given=error.given, limit=limit, name=name) from error


OptionName = Literal["spelling", "depth", "name", "model", "server_report"]
"""The options of a target, by the names of `ExportOptions`."""
