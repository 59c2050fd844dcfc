"""The verdict on a token, as data; `engine.matching.explanation_text` puts it into sentences."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

from engine.source import Span


class Reason(StrEnum):
    """The reason why a token is allowed or not."""

    ALLOWED = "allowed"
    DEAD_BYTE = "dead byte"  # the grammar does not allow one of its bytes
    NO_BYTES = "no bytes"  # the id has no text
    SPECIAL = "special"  # a special token matches no text
    NOT_ACCEPTING = "not accepting"  # an EOS, but the text is not complete
    FINISHED = "finished"  # an EOS was already accepted
    UNKNOWN_ID = "unknown id"  # outside the vocabulary


@dataclass(frozen=True, slots=True)
class StackVerdict:
    """How far one stack of a configuration reads a token, and what it expects there.

    Attributes:
        offset: the index of the first byte that it cannot read; None if it reads all bytes.
        expected: the inclusive byte ranges that it can read there.
        accepting: whether the text may end there.
        rules: the names of its open rules, innermost first; for a schema, JSON Pointers of the schemas concerned.
        spans: its positions in the source.
        tokens: the token elements of the grammar that are allowed there, as written in the source.
        properties: in a JSON object, the names of the properties that are allowed there.
        other_properties: whether other property names are allowed too.
    """

    offset: int | None
    expected: tuple[tuple[int, int], ...] = ()
    accepting: bool = False
    rules: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    tokens: tuple[str, ...] = ()
    properties: tuple[str, ...] = ()
    other_properties: bool = False


class RefusalKind(StrEnum):
    """The kind of cause for which a schema refuses a text."""

    KEYWORDS = "keywords"  # without one of the keywords it would be allowed
    TOGETHER = "together"  # each of the keywords refuses it, so only without all of them it would be allowed
    OPTION = "option"  # another compile option would allow it
    PRESENT = "present"  # the object has the property already
    NOT_JSON = "not json"  # no JSON text continues in this way
    UNKNOWN = "unknown"  # not found


@dataclass(frozen=True, slots=True)
class RefusingKeyword:
    """A keyword of a schema without which a text would be allowed.

    Attributes:
        pointer: its JSON Pointer.
        span: its value in the source.
        names: the properties that are missing.
        condition: the pointer of the `if` that decides whether it applies; empty if none does.
        is_met: whether the text meets that `if`.
    """

    pointer: str
    span: Span
    names: tuple[str, ...] = ()
    condition: str = ""
    is_met: bool = True


@dataclass(frozen=True, slots=True)
class TokenRefusal:
    """The cause for which a schema does not allow a token, proved by compiling the schema without it.

    Attributes:
        kind: what the cause is.
        keywords: the keywords, those of the innermost value first.
        option: the compile option that would have to be another, alone or beside a keyword; empty if none.
    """

    kind: RefusalKind
    keywords: tuple[RefusingKeyword, ...] = ()
    option: str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """The verdict on a token at a configuration.

    Attributes:
        reason: why the token is allowed or not.
        token: its bytes; None if it has none.
        offset: the index of the first byte that is not allowed; None unless the reason is `Reason.DEAD_BYTE`.
        expected: the inclusive byte ranges allowed at `offset`; for NOT_ACCEPTING, those allowed next.
        spans: the positions in the source before the byte at `offset`, or after the token if it is allowed.
        accepting: whether the text may end there.
        tokens: the token elements of the grammar that are allowed there, as written in the source.
        stacks: the verdict of each stack, those that read farthest first; empty if the token is allowed.
        sentence: the verdict in plain English, one or more sentences.
    """

    reason: Reason
    token: bytes | None
    offset: int | None = None
    expected: tuple[tuple[int, int], ...] = ()
    spans: tuple[Span, ...] = ()
    accepting: bool = False
    tokens: tuple[str, ...] = ()
    stacks: tuple[StackVerdict, ...] = ()
    sentence: str = field(default="", compare=False)  # derived from the other fields

    @property
    def allowed(self) -> bool:
        """Return whether the token is allowed next."""
        return self.reason is Reason.ALLOWED
