"""The contract of an export target: what each file under `engine/export/targets` gives.

A target makes an artifact, one file or a folder of files, in memory. It is
written to a place of its own, read back, and only if the target's own check
then finds that it does what the engine does is it put where it was asked for
(`engine.export.writing`). So a target knows nothing of paths, and a check sees
what is on the disk.

Rejected: one base class for all. What targets of a kind share (what they heed,
what they refuse) is a small base in `targets.common`; the rest are functions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, Literal, Protocol

from engine.compile import CompiledGrammar
from engine.export.schema.settings import NumberSpelling
from engine.source import CancelToken, EngineError, InvariantError
from engine.vocabulary import Vocabulary

OptionName = Literal["spelling", "depth", "name", "model"]
"""What a target may be told, by the names of `ExportOptions`."""


NO_VOCABULARY: Final = "it needs a model or a tokenizer: whose tokens it is over"


class ExportError(EngineError):
    """An export was not made, or not written."""


class NotExportableError(ExportError):
    """The target cannot carry this grammar; the message says why."""


class MismatchError(ExportError):
    """What was written does something else than the engine; the message says where."""


class TargetGroup(StrEnum):
    """What a target is for, as a heading."""

    ELSEWHERE = "Runs elsewhere"
    TEXT = "Text"
    PICTURE = "Pictures and graphs"


@dataclass(frozen=True, slots=True)
class Artifact:
    """What a target makes.

    Attributes:
        files: relative path, with `/`, and content; one entry for a single file, whose path does not matter.
        notes: what it leaves out or asks of the reader, a sentence each.
    """

    files: tuple[tuple[str, bytes], ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        paths = [path for path, _ in self.files]
        if not paths or len(set(paths)) != len(paths):
            raise InvariantError("an artifact needs a file, and each path once")
        if any(not part or part in (".", "..") or "\\" in part for path in paths for part in path.split("/")):
            raise InvariantError(f"an artifact's paths are relative and plain: {paths}")

    @property
    def size(self) -> int:
        """Bytes of all files together."""
        return sum(len(content) for _, content in self.files)

    @property
    def content(self) -> bytes:
        """The content of the one file.

        Raises:
            InvariantError: there are several.
        """
        if len(self.files) != 1:
            raise InvariantError("a folder has no content of its own")
        return self.files[0][1]

    def file(self, path: str) -> bytes:
        """The content of a file of the folder.

        Raises:
            MismatchError: there is no such file, so what was written is not what was made.
        """
        for name, content in self.files:
            if name == path:
                return content
        raise MismatchError(f"the export has no file {path}")


LARGE: Final = 10_000_000
"""The user confirms an export of more bytes before it is made."""


@dataclass(frozen=True, slots=True)
class Forecast:
    """How large an export will be, estimated before it is made.

    Attributes:
        count: transitions of a token index.
        limit: how many there may be.
        size: bytes of the file.
    """

    count: int
    limit: int
    size: int

    @property
    def is_large(self) -> bool:
        """Return whether the user should confirm before the file is made."""
        return self.size > LARGE

    @property
    def sentence(self) -> str:
        """Return the forecast as a sentence without a full stop."""
        found = f"about {self.size / 1e6:,.0f} MB are expected ({self.count:,} transitions)"
        if self.count <= self.limit:
            return found
        return (
            f"{found}, more than the limit of {self.limit:,}: raise it with --limit table_transitions={2 * self.count}"
        )


@dataclass(frozen=True, slots=True)
class ExportOptions:
    """What an export can be told; a target's `takes` names those that it heeds.

    Attributes:
        spelling: how strings and numbers are spelled, where a JSON Schema is written as rules.
        depth: at how many levels recursion is cut, where the target has none; None where it may not be.
        name: what the grammar is called, for packages, rules and titles.
        model: what a request names as its model; empty for a word to replace.
    """

    spelling: NumberSpelling = NumberSpelling.PLAIN
    depth: int | None = None
    name: str = "grammar"
    model: str = ""


@dataclass(frozen=True, slots=True, eq=False)
class ExportJob:
    """What is exported, and how.

    Attributes:
        compiled: the grammar with its source and options.
        vocabulary: whose tokens; None where none was given.
        options: what the target may be told.
        cancel: long work asks it now and then.
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
        """The vocabulary, for a target that has `needs_vocabulary`.

        Raises:
            NotExportableError: none was given.
        """
        if self.vocabulary is None:
            raise NotExportableError(NO_VOCABULARY)
        return self.vocabulary


@dataclass(frozen=True, slots=True)
class Check:
    """How what was written was held against the engine.

    Attributes:
        compared: what was compared with what, as the middle of a sentence: "masks of the table read back and of the
            engine's own matcher".
        walks: how many random texts or token sequences were followed.
        steps: how many bytes or tokens they had together; after each, both sides agreed.
        scope: what the check could not see, a sentence; empty for nothing.
    """

    compared: str
    walks: int
    steps: int
    scope: str = ""

    @property
    def sentence(self) -> str:
        """What a user is told."""
        number = f"{self.walks:,} random walk{'s' if self.walks != 1 else ''} of {self.steps:,} steps"
        return f"Read back and checked: {self.compared} agree on {number}." + (f" {self.scope}" if self.scope else "")


class Target(Protocol):
    """One way to leave Turnstile. A module under `targets` has one such object, named `TARGET`.

    Attributes:
        name: as the command line calls it.
        title: as the window calls it.
        about: one or two sentences: what it is, and who reads it.
        group: under which heading it stands.
        suffix: of the file, with its dot; empty for a folder.
        is_folder: whether it writes a folder.
        needs_vocabulary: whether `make` needs the job's vocabulary. One that does not may still use it.
        takes: the options that it heeds, for a grammar of this notation.
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

    def takes(self, compiled: CompiledGrammar) -> frozenset[OptionName]:
        """The options that it heeds for this grammar; another one given is the user's mistake."""

    def refusal(self, compiled: CompiledGrammar, vocabulary: Vocabulary | None, options: ExportOptions) -> str:
        """Why this grammar does not fit, as a sentence that ends without a full stop; empty where it does.

        It is asked for each target whenever a list is shown, so it takes milliseconds: what only `make` finds out
        is an error there. A missing vocabulary is not its business, the registry tells of that.
        """

    def make(self, job: ExportJob) -> Artifact:
        """Make it.

        Raises:
            ExportError: it cannot be made.
            GrammarError: the target cannot carry what stands at a place of the source.
            LimitExceededError: it is too large.
            CancelledError: the job was cancelled.
        """

    def check(self, artifact: Artifact, job: ExportJob) -> Check:
        """Load what was read back from the disk, and hold it against the engine on random walks.

        Raises:
            MismatchError: they differ; it names the walk and both verdicts.
            CancelledError: the job was cancelled.
        """
