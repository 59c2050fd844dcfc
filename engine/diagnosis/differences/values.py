"""The result of a comparison of two engines."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from engine.source import Span
from engine.targets import Effect


class DiffVerdict(StrEnum):
    """The verdict on the second engine, compared with the first."""

    EQUAL = "equal"
    """No difference was found."""
    LOOSER = "looser"
    """It allows tokens that the first does not, and never the reverse."""
    STRICTER = "stricter"
    """The first allows tokens that it does not, and never the reverse."""
    DIFFERENT = "different"
    """Each allows tokens that the other does not."""
    REFUSED = "refused"
    """An engine does not compile the grammar."""
    UNKNOWN = "unknown"
    """No masks were compared: the time was up, or nothing could be read."""


class Direction(StrEnum):
    """The side that allows more at a difference."""

    GAINED = "gained"
    """The second engine allows what the first does not."""
    LOST = "lost"
    """The first engine allows what the second does not."""


class CauseKind(StrEnum):
    """The kind of a cause, in the order in which causes are listed."""

    FAILURE = "failure"
    """An engine fails within a text."""
    KEYWORD = "keyword"
    """An engine does not enforce a keyword of the schema, or enforces it otherwise."""
    DEFAULT = "default"
    """An engine reads the absence of a keyword otherwise, as if the schema stated it."""
    RULE = "rule"
    """The engines differ within a rule, or within an expression, which has no named rules."""
    OTHER = "other"
    """An engine departs from the schema, and no single change of it explains that."""
    SYNTAX = "syntax"
    """An engine allows what is no JSON."""
    ENCODING = "encoding"
    """An engine allows what is no UTF-8."""
    ORDER = "property order"
    NUMBERS = "forms of numbers"
    ESCAPES = "escapes"
    WHITESPACE = "white space"
    TOKENS = "tokens"
    """An engine allows the same text, divided into other tokens."""
    UNEXPLAINED = "unexplained"
    """The time was up before the cause was found."""
    END = "end"
    """The engines allow the same text, and not its end at the same place."""


FORMS = (CauseKind.ORDER, CauseKind.NUMBERS, CauseKind.ESCAPES, CauseKind.WHITESPACE)
"""Causes that no keyword decides: engines choose one of several forms that JSON has for a value."""


MINOR = (*FORMS, CauseKind.TOKENS, CauseKind.END)
"""Causes that count for the verdict only if there are no others."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The differences with one cause, shown by the first of them.

    Attributes:
        kind: the kind of the cause.
        direction: which engine allows more.
        engine: the engine that departs from the grammar; empty if that is unknown.
        pointers: JSON Pointers of the keywords; the last step may be a keyword that the schema does not state.
        rule: the rule; empty if there is none.
        spans: the places in the grammar's text.
        effect: what the engine does with the keyword; None if that is unknown.
        reason: the message of an engine that fails; empty otherwise.
        prefix: the first prefix at which the masks differ.
        gained, lost: the token ids that only the second, and only the first engine allows there.
        text: a text that one engine accepts and the other does not; None if none was found.
        accepted_by: the name of the engine that accepts it; empty without a text.
        prefixes: how many prefixes with this cause were found.
    """

    kind: CauseKind
    direction: Direction
    engine: str = ""
    pointers: tuple[str, ...] = ()
    rule: str = ""
    spans: tuple[Span, ...] = ()
    effect: Effect | None = None
    reason: str = ""
    prefix: bytes = b""
    gained: tuple[int, ...] = ()
    lost: tuple[int, ...] = ()
    text: bytes | None = None
    accepted_by: str = ""
    prefixes: int = 1

    @property
    def pointer(self) -> str | None:
        """Return the JSON Pointer of the keyword; None if there is none."""
        return self.pointers[0] if self.pointers else None


@dataclass(frozen=True, slots=True)
class RefusedGrammar:
    """An engine that does not compile the grammar.

    Attributes:
        engine: its name.
        reason: its message.
        pointer: the JSON Pointer of the keyword without which it compiles; None if none was found.
    """

    engine: str
    reason: str
    pointer: str | None = None


@dataclass(frozen=True, slots=True)
class DifferenceReport:
    """The result of a comparison.

    Attributes:
        engines: names and versions of the first and the second engine.
        differences: the distinct differences, by kind of cause, then in the order in which they were found.
        refusals: the engines that refuse the grammar.
        checked: the number of prefixes at which both masks were compared.
        texts: the number of texts that both engines followed.
        unexplained: the number of prefixes with differences that were left without a cause.
        is_cut_by_time: whether the time limit ended the work, so that another run may find more.
    """

    engines: tuple[tuple[str, str], tuple[str, str]]
    differences: tuple[Difference, ...] = ()
    refusals: tuple[RefusedGrammar, ...] = ()
    checked: int = 0
    texts: int = 0
    unexplained: int = 0
    is_cut_by_time: bool = False

    @property
    def names(self) -> tuple[str, str]:
        """Return the names of the engines."""
        return self.engines[0][0], self.engines[1][0]

    @property
    def verdict(self) -> DiffVerdict:
        """Return the verdict: over keywords, rules and failures if these differ; otherwise over forms and ends."""
        if self.refusals:
            return DiffVerdict.REFUSED
        if not self.checked and not self.differences:
            return DiffVerdict.UNKNOWN
        return verdict_of(self.differences)

    @property
    def first(self) -> Difference | None:
        """Return the difference to show first; None if there is none."""
        return self.differences[0] if self.differences else None


def verdict_of(differences: Iterable[Difference]) -> DiffVerdict:
    """Return the verdict over differences: those of forms, tokens and ends count only if there are no others."""
    found = list(differences)
    others = [one for one in found if one.kind not in MINOR]
    directions = {one.direction for one in others or found}
    if not directions:
        return DiffVerdict.EQUAL
    if len(directions) > 1:
        return DiffVerdict.DIFFERENT
    return DiffVerdict.LOOSER if Direction.GAINED in directions else DiffVerdict.STRICTER


@dataclass(frozen=True, slots=True)
class Parting:
    """A prefix that both engines accept, and after which they differ.

    Attributes:
        path: the token ids of the prefix.
        data: its bytes.
        gained, lost: the token ids that only the second, and only the first engine allows.
        failure: the message of an engine that fails there; empty if none does.
        failed: the index of that engine.
    """

    path: tuple[int, ...]
    data: bytes
    gained: tuple[int, ...] = ()
    lost: tuple[int, ...] = ()
    failure: str = ""
    failed: int = 0
