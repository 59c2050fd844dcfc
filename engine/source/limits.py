"""The limits of a compile and of the steps after it, and the error of a limit that is exceeded."""

from __future__ import annotations

from dataclasses import dataclass, fields

from engine.source.arguments import require_count
from engine.source.catalogue import catalogue_text
from engine.source.errors import EngineError
from engine.source.text import Span


class LimitExceededError(EngineError):
    """A compile or a step exceeded a configured limit.

    Attributes:
        what: the key of the limited quantity in the catalogue, under `errors.limit`.
        given: its value, or the count at which the work stopped.
        limit: the largest allowed value.
        name: the field of `Limits` that sets the limit; empty if none does.
        span: the part of the source that is concerned; None if it is not known.
        where: the same as text, such as a JSON Pointer; may be empty.
    """

    def __init__(self, what: str, *, given: int, limit: int, name: str = "") -> None:
        super().__init__(what)
        self.what, self.given, self.limit, self.name = what, given, limit, name
        self.span: Span | None = None
        self.where = ""

    def locate(self, span: Span, where: str = "") -> None:
        """Set the part of the source that is concerned; only the first call, from the innermost part, has an effect."""
        if self.span is None:
            self.span, self.where = span, where

    @property
    def remedy(self) -> str:
        """Return how to raise the limit on the command line; empty if it cannot be raised."""
        if not self.name:
            return ""
        return catalogue_text("errors.limit.remedy", name=self.name, value=max(self.given, 2 * self.limit))

    def __str__(self) -> str:
        fields = {"what": super().__str__(), "limit": self.limit}
        if self.given == self.limit + 1:  # counting may have stopped there
            text = catalogue_text("errors.limit.more", **fields)
        else:
            text = catalogue_text("errors.limit.exceeded", given=self.given, **fields)
        return catalogue_text("errors.limit.located", text=text, where=self.where) if self.where else text


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of one compiled grammar.

    Attributes:
        source_length: code points of source text; in a schema, without the white space between its tokens.
        nesting: depth of nested groups; in a schema, of objects and arrays, of which most subschemas need two.
        repetition: the largest count in `{m,n}`, and the largest product of nested counts.
        instructions: size of the compiled program, before repetitions are unrolled.
        configurations: interned configurations, all steps and lookaheads together.
        search: configurations visited to find out whether one can be completed.
        threads: NFA threads of one configuration.
        table_states: states of the automata that an export writes as tables.
        table_transitions: transitions of a token index that an export writes.
        work: turns of loops in one compile, mask, step or completion; each takes about a microsecond.
    """

    source_length: int = 1_000_000
    nesting: int = 2_500
    repetition: int = 100_000
    instructions: int = 1_000_000
    configurations: int = 200_000
    search: int = 50_000
    threads: int = 20_000
    table_states: int = 20_000
    table_transitions: int = 20_000_000
    work: int = 4_000_000

    def __post_init__(self) -> None:
        for limit in fields(self):
            require_count(limit.name, getattr(self, limit.name), 1)

    def check(self, what: str, given: int, limit: int, name: str = "") -> None:
        """Raise `LimitExceededError` if a value exceeds a limit.

        Args:
            what: the key of the limited quantity in the catalogue, under `errors.limit`.
            given: its value.
            limit: the largest allowed value.
            name: the field of `Limits` that sets the limit; empty if none does.
        """
        if given > limit:
            raise LimitExceededError(what, given=given, limit=limit, name=name)
