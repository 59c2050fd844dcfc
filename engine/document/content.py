"""The content of a document, as the values that are stored.

The names of the fields and the values of the enumerations are the stored form: whoever renames one adds a version to
`codec`. Within a version, fields are only added, with defaults.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final, Literal

import msgspec

from engine.compile import CompileOptions
from engine.decoding.debugging.breakpoints import Breakpoint, ConditionBreakpoint
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.values import DEFAULT_MAX_TOKENS, ArchivedBranch, Chat, SamplerSettings, Trace
from engine.notations import NOTATIONS
from engine.source import Limits

if TYPE_CHECKING:
    from engine.compile import CompiledGrammar

FORMAT: Final = "turnstile"
VERSION: Final = 3
MOST_TOKENS: Final = 2**31 - 1  # the largest number that the window's fields take

Notation = Annotated[str, msgspec.Meta(pattern="^[a-z][a-z0-9_]*$")]
Whitespace = Literal["compact", "one-space", "flexible", "any"]
Escapes = Literal["shortest", "any"]
Additional = Literal["open", "closed"]


class GrammarPart(msgspec.Struct, frozen=True):
    """A grammar's source, the options that it is compiled with, and the engine that it is written for.

    The target changes no automaton: it selects the findings that are shown about the text.
    """

    notation: Notation = "regex"
    text: str = ""
    dialect: Literal["python", "ecma"] = "python"  # of a regex
    whitespace: Whitespace = "flexible"  # this and the following: of a JSON Schema
    escapes: Escapes = "shortest"
    additional: Additional = "open"
    target: Annotated[str, msgspec.Meta(pattern=r"^[\w.-]*$")] = ""  # the id of an engine; empty for the standard alone
    target_version: str = ""  # the version of that engine; empty for a service without releases

    def __post_init__(self) -> None:
        if self.notation not in NOTATIONS:
            raise ValueError(f"there is no notation {self.notation!r}; there is {', '.join(NOTATIONS)}")

    def with_target_of(self, other: GrammarPart) -> GrammarPart:
        """Return the grammar with the target of another one."""
        return msgspec.structs.replace(self, target=other.target, target_version=other.target_version)

    @property
    def options(self) -> CompileOptions:
        """Return the options that the source is compiled with."""
        return self.options_within(Limits())

    def options_within(self, limits: Limits) -> CompileOptions:
        """Return the options that the source is compiled with, within other limits."""
        return CompileOptions(
            dialect=self.dialect,
            whitespace=self.whitespace,
            escapes=self.escapes,
            additional=self.additional,
            limits=limits,
        )

    @staticmethod
    def of(grammar: CompiledGrammar) -> GrammarPart:
        """Return the source and the options of a compiled grammar."""
        options = grammar.options
        return msgspec.convert(
            {
                "notation": grammar.notation,
                "text": grammar.source.text,
                "dialect": options.dialect,
                "whitespace": options.whitespace,
                "escapes": options.escapes,
                "additional": options.additional,
            },
            GrammarPart,
        )


class ModelPart(msgspec.Struct, frozen=True):
    """The model of a trace; fingerprints distinguish models of the same name."""

    spec: str = ""
    name: str = ""
    fingerprint: str = ""
    vocabulary_fingerprint: str = ""


class AutomatonPart(msgspec.Struct, frozen=True):
    """The view of the automaton, as far as it outlives an edit: names do, state numbers do not."""

    rule: str | None = None  # or the open region; None for the map
    follows: bool = False  # the neighbourhood of the live state
    tokens: bool = False  # the targets of the live state's tokens
    draws_all: bool = False
    draws_bytes: bool = False
    merges: bool = True  # counters are one node, forced runs one edge each
    method: Literal["", "dot", "sugiyama", "layered"] = ""  # of the layout; empty for the best one
    downwards: bool = False
    nfa: bool = False  # the nondeterministic automaton, before states are joined
    unfolded: tuple[tuple[tuple[int, int, int], ...], ...] = ()
    """The rule calls in whose place the called rule is drawn, until an edit: each with the calls that it is in, by the
    number of the rule that has the call and those of the states before and after it."""


@dataclass(frozen=True, slots=True)
class ExpectedText:
    """A test string, and whether the grammar should accept it."""

    text: str
    accepts: bool = True


class PathStep(msgspec.Struct, frozen=True):
    """A part of a path through an automaton: bytes, or a call of a rule."""

    text: bytes = b""
    rule: str = ""


class StateNote(msgspec.Struct, frozen=True):
    """A name, colour, comment or bookmark of a state, with a description by which the state is found after edits.

    State numbers change with every edit of the grammar. A state is described by a shortest path to it and by its place
    in the grammar, the texts that it reads; among states that read the same, such as those of a counter, by its rank.

    Attributes:
        rule: the rule that has the state (a JSON Pointer in a schema); empty for the automaton of the whole grammar.
        is_rule: whether the note is about the rule itself.
        path: a shortest path from the start of the rule.
        reads: the parts of the grammar's text that the state reads.
        rank: its position among the states that read the same, of which there are `alike`.
        alike: their number.
        name: shown instead of the state's number; may be empty.
        colour: of the state; empty for none.
        comment: a text; may be empty.
        is_bookmarked: whether it is in the list of bookmarks.
    """

    rule: str = ""
    is_rule: bool = False
    path: tuple[PathStep, ...] = ()
    reads: tuple[str, ...] = ()
    rank: int = 0
    alike: int = 1
    name: str = ""
    colour: Literal["", "red", "yellow", "green", "teal", "blue", "purple"] = ""
    comment: str = ""
    is_bookmarked: bool = False

    @property
    def is_empty(self) -> bool:
        """Return whether nothing is noted."""
        return not (self.name or self.colour or self.comment or self.is_bookmarked)


class GrammarVersion(msgspec.Struct, frozen=True):
    """A grammar that the user kept under a name.

    Attributes:
        name: its name.
        time: when it was kept, in ISO 8601 with the offset of the zone.
        grammar: the grammar.
    """

    name: str
    time: str
    grammar: GrammarPart


class StoredDocument(msgspec.Struct, frozen=True):
    """The fields of a document's file."""

    format: Literal["turnstile"] = FORMAT
    version: int = VERSION
    title: str = ""
    grammar: GrammarPart = GrammarPart()
    model: ModelPart = ModelPart()
    prompt: str | Chat = ""
    sampler: SamplerSettings = SamplerSettings()
    max_tokens: Annotated[int, msgspec.Meta(ge=1, le=MOST_TOKENS)] = DEFAULT_MAX_TOKENS
    pipeline: PipelineSettings = PipelineSettings()
    trace: Trace = Trace()
    archived: tuple[ArchivedBranch, ...] = ()  # from other prompts and models, the latest first
    test_strings: tuple[ExpectedText, ...] = ()
    sample: str = ""  # a text in which matches are shown
    breakpoints: tuple[Breakpoint, ...] = ()
    conditions: tuple[ConditionBreakpoint, ...] = ()
    automaton: AutomatonPart = AutomatonPart()
    state_notes: tuple[StateNote, ...] = ()
    versions: tuple[GrammarVersion, ...] = ()  # of the grammar, the latest first


class UnknownField(msgspec.Struct, frozen=True):
    """A field of a file that this version does not know; it is written back unchanged.

    Attributes:
        part: The field of `StoredDocument` that holds it; empty for the document itself.
        name: The name of the field.
        json: The value as JSON.
    """

    part: str
    name: str
    json: bytes


class DocumentFile(StoredDocument, frozen=True):
    """A document's content, with the unknown fields of the file that it was read from."""

    unknown: tuple[UnknownField, ...] = ()
