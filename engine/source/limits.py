"""How far a compile or a step may go before it is refused with its numbers."""

from __future__ import annotations

from dataclasses import dataclass, fields

from engine.source.arguments import require_count
from engine.source.errors import LimitExceededError


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of one compiled grammar.

    Attributes:
        source_length: code points of source text.
        nesting: depth of nested groups; in a schema, of objects and arrays, of which a subschema mostly takes two.
        repetition: the largest count in `{m,n}`, and the product of nested counts.
        instructions: size of the compiled program, before any repetition is unrolled.
        configurations: interned configurations, all steps and look-aheads together.
        search: configurations looked through to find out whether one can be completed.
        threads: alternatives that one configuration may hold.
        table_states: states of the automata that an export writes as tables.
        table_transitions: transitions of a token index that an export writes.
        work: turns of loops in one compile, mask, step or completion; each about a microsecond and some bytes.
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
        for one in fields(self):
            require_count(one.name, getattr(self, one.name), 1)

    def check(self, what: str, given: int, limit: int, name: str = "") -> None:
        """Raise `LimitExceededError` if `given` exceeds `limit`; `name` is the field that the limit is."""
        if given > limit:
            raise LimitExceededError(what, given=given, limit=limit, name=name)
