"""What an output turned out to be, as values that cross to the window and to JSON.

`engine.diagnosis.verdicts.replay` makes them; nothing here loads a matcher or a model.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from engine.automata.completion import Completion
from engine.matching.explanation import StackVerdict
from engine.source import Diagnostic, Span

ByteRange = tuple[int, int]
"""A half-open range of bytes of an output."""


class VerdictOutcome(StrEnum):
    """What matters most of an output."""

    COMPLETE = "complete"  # all of it matches
    CUT_OFF = "cut off"  # a match begins so, and does not end there
    CIRCLES = "circles"  # the same, and what came last changed nothing: it could have gone on so for ever
    ILLEGAL = "illegal"  # a byte cannot stand where it stands
    TEXT_BEFORE = "text before"  # what matches begins later
    TEXT_AFTER = "text after"  # it matches up to a place where more follows
    FOREIGN = "foreign"  # a token that is no text
    EMPTY_LANGUAGE = "empty language"  # no text matches the grammar
    GRAMMAR_ERROR = "grammar error"  # the grammar does not compile


class SpellingOrigin(StrEnum):
    """Where the tokens of an output come from."""

    GIVEN = "given"  # the output came as tokens
    TOKENIZER = "tokenizer"  # the tokenizer's own spelling of the text
    FEWEST = "fewest"  # as few tokens as spell the text, for want of the tokenizer's own way


class ReplayedTokenState(StrEnum):
    """What became of a token."""

    LEGAL = "legal"
    ILLEGAL = "illegal"  # the first one that cannot stand, and what stands in front of what was judged
    BEYOND = "beyond"  # behind it, where nothing is judged
    END = "end"  # it ends the output


@dataclass(frozen=True, slots=True)
class OutputPosition:
    """A place in an output.

    Attributes:
        byte: how many bytes stand before it.
        line, column: of its character, both counted from 1.
        token: the index of the token that it is in; None where there are no tokens.
    """

    byte: int
    line: int
    column: int
    token: int | None = None


@dataclass(frozen=True, slots=True)
class ReplayedToken:
    """One token of an output.

    Attributes:
        token_id: None where only its bytes are known.
        data: its bytes; none where it stands for no text.
        name: of a special token.
        start: the byte that it begins at.
        state: what became of it.
        forced: whether the grammar left no choice for any of its bytes.
    """

    token_id: int | None
    data: bytes
    name: str
    start: int
    state: ReplayedTokenState
    forced: bool = False


@dataclass(frozen=True, slots=True)
class Failure:
    """The first byte, or token, that cannot stand.

    Attributes:
        place: where it stands.
        expected: inclusive byte ranges that could have stood there.
        accepting: whether the output could have ended before it.
        elements: token elements of the grammar that could have stood there.
        spans: the places of the grammar that the match stood at.
        stacks: what each stack of the match expected there.
        missing: the properties that the open object of a JSON Schema still needs.
    """

    place: OutputPosition
    expected: tuple[tuple[int, int], ...] = ()
    accepting: bool = False
    elements: tuple[str, ...] = ()
    spans: tuple[Span, ...] = ()
    stacks: tuple[StackVerdict, ...] = ()
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CompletionBudget:
    """How far the end is from where the legal part of an output stops.

    Attributes:
        in_bytes: the shortest legal ending.
        least_tokens, most_tokens: bounds of its length in tokens; `least_tokens` is None where no tokens lead to an
            end, both are None without a vocabulary.
        is_dead_end: whether no tokens of the vocabulary complete the output.
        token_ids: such an ending in tokens.
        used: how many tokens the legal part has.
        budget: how many there were; None where that is not known.
        late_at: the number of tokens after which the end was out of reach of the budget for certain: with one less it
            was not. None without a budget, or where it was never out of reach.
        late_needs: how many tokens the shortest ending needed there, at least.
    """

    in_bytes: Completion
    least_tokens: int | None = None
    most_tokens: int | None = None
    is_dead_end: bool = False
    token_ids: tuple[int, ...] | None = None
    used: int | None = None
    budget: int | None = None
    late_at: int | None = None
    late_needs: int | None = None

    @property
    def left(self) -> int | None:
        """What the budget still had."""
        return None if self.budget is None or self.used is None else max(0, self.budget - self.used)


@dataclass(frozen=True, slots=True)
class OutputLoop:
    """A part of an output that came back to where it was.

    Attributes:
        range: the bytes.
        period: so many of them are one turn.
        blank: whether all of them are white space.
        at_end: whether the legal part of the output ends with it.
        spans: the places of the grammar that allow it.
    """

    range: ByteRange
    period: int
    blank: bool
    at_end: bool
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where the tokens are not those that the tokenizer itself would have written.

    Attributes:
        token: the index of the first one that differs.
        byte: where it begins.
        given, own: the token there, and the tokenizer's.
    """

    token: int
    byte: int
    given: bytes
    own: bytes


@dataclass(frozen=True, slots=True)
class Verdict:
    """What an output turned out to be.

    Attributes:
        outcome: what matters most.
        sentence: the same in one sentence.
        notes: what else there is to say, a sentence each.
        data: the bytes of the output.
        legal: so many of them begin a match.
        is_prefix: whether all of them do.
        is_complete: whether all of them match in full.
        failure: what cannot stand; None where all is legal.
        ending: how far the end is; None where nothing begins a match, and where the output is complete.
        tokens: the output token by token; empty where there are none.
        spelled: where the tokens come from.
        forced: the ranges of bytes for which the grammar left no choice.
        circles: parts that changed nothing.
        skipped: what stands around the part that was judged, in front and behind: bytes 0 to `skipped[0]`, and those
            from `skipped[1]` on.
        divergence: where the tokens are not the tokenizer's own; None where they are, or it is not known.
        is_canonical: whether the tokens are the tokenizer's own; None where that is not known.
        cut_character, cut_escape: whether the output ends within a character, or within an escape of a JSON string.
        diagnostics: the findings about the grammar.
    """

    outcome: VerdictOutcome
    sentence: str
    notes: tuple[str, ...] = ()
    data: bytes = b""
    legal: int = 0
    is_prefix: bool = False
    is_complete: bool = False
    failure: Failure | None = None
    ending: CompletionBudget | None = None
    tokens: tuple[ReplayedToken, ...] = ()
    spelled: SpellingOrigin | None = None
    forced: tuple[ByteRange, ...] = ()
    circles: tuple[OutputLoop, ...] = ()
    skipped: ByteRange | None = None
    divergence: Divergence | None = None
    is_canonical: bool | None = None
    cut_character: bool = False
    cut_escape: bool = False
    diagnostics: tuple[Diagnostic, ...] = ()


def place_in(data: bytes, byte: int, token: int | None = None) -> OutputPosition:
    """The place of a byte; a column counts characters, and what is broken as one each."""
    before = data[:byte].decode("utf-8", "replace")
    start = before.rfind("\n") + 1
    # A byte within a character belongs to the column that the character began.
    column = len(before) - start + 1
    if byte < len(data) and 0x80 <= data[byte] < 0xC0 and before.endswith("\ufffd"):
        column -= 1
    return OutputPosition(byte, before.count("\n") + 1, max(1, column), token)
