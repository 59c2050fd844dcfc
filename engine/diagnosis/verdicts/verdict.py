"""Verdicts as values that the window and JSON output receive.

`engine.diagnosis.verdicts.replay` creates them; nothing here loads a matcher or a model.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from engine.automata.completion import Completion
from engine.matching.explanation import StackVerdict
from engine.source import Diagnostic, EngineError, Span

ByteRange = tuple[int, int]
"""A half-open range of bytes of an output."""


class VerdictOutcome(StrEnum):
    """The main result of a verdict."""

    COMPLETE = "complete"  # the output is a complete match
    CUT_OFF = "cut off"  # a legal prefix that is not complete
    LOOPS = "loops"  # the same, and its end is a loop without effect: it could have continued forever
    ILLEGAL = "illegal"  # a byte is illegal
    TEXT_BEFORE = "text before"  # the matching part begins later
    TEXT_AFTER = "text after"  # a complete match followed by more text
    FOREIGN = "foreign"  # a token without text
    EMPTY_LANGUAGE = "empty language"  # no text matches the grammar
    GRAMMAR_ERROR = "grammar error"  # the grammar does not compile


class TokenOrigin(StrEnum):
    """The origin of an output's tokens."""

    GIVEN = "given"  # the output came as tokens
    TOKENIZER = "tokenizer"  # the tokenizer's encoding of the text
    FEWEST = "fewest"  # the fewest tokens, since the tokenizer is unknown


class ReplayedTokenState(StrEnum):
    """The result for one token."""

    LEGAL = "legal"
    ILLEGAL = "illegal"  # the first illegal one, and those before the judged part
    BEYOND = "beyond"  # after it, not judged
    END = "end"  # it ends the output


@dataclass(frozen=True, slots=True)
class OutputPosition:
    """A position in an output.

    Attributes:
        byte: the number of bytes before it.
        line, column: of its character, both counted from 1.
        token: the index of the token that contains it; None without tokens.
    """

    byte: int
    line: int
    column: int
    token: int | None = None


@dataclass(frozen=True, slots=True)
class ReplayedToken:
    """One token of an output.

    Attributes:
        token_id: its id; None if only its bytes are known.
        data: its bytes; empty if it has no text.
        name: the name of a special token.
        start: the offset of its first byte.
        state: its result.
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
    """The first illegal byte or token.

    Attributes:
        place: its position.
        expected: inclusive byte ranges that were legal there.
        accepting: whether the output could have ended before it.
        elements: token elements of the grammar that were legal there.
        spans: the source positions of the match.
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
    """The distance from the legal part of an output to the end.

    Attributes:
        in_bytes: the shortest legal ending.
        least_tokens, most_tokens: bounds of its length in tokens; `least_tokens` is None if no tokens lead to an end,
            both are None without a vocabulary.
        is_dead_end: whether no tokens of the vocabulary complete the output.
        token_ids: an ending in tokens.
        used: the number of tokens of the legal part.
        budget: the token budget; None if unknown.
        late_at: the number of tokens after which the end was certainly unreachable within the budget; with one less it
            was not. None without a budget, or if the end stayed reachable.
        late_needs: the least number of tokens that the shortest ending needed there.
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
        """The rest of the budget."""
        return None if self.budget is None or self.used is None else max(0, self.budget - self.used)


@dataclass(frozen=True, slots=True)
class OutputLoop:
    """A part of an output that returned to an earlier configuration.

    Attributes:
        range: the bytes.
        period: the number of bytes of one repetition.
        blank: whether all of them are white space.
        at_end: whether the legal part of the output ends with it.
        spans: the spans of the grammar that allow it.
    """

    range: ByteRange
    period: int
    blank: bool
    at_end: bool
    spans: tuple[Span, ...] = ()


@dataclass(frozen=True, slots=True)
class Divergence:
    """The first difference from the tokenizer's own encoding.

    Attributes:
        token: the index of the first token that differs.
        byte: its start.
        given, own: the token there, and the tokenizer's.
    """

    token: int
    byte: int
    given: bytes
    own: bytes


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on an output.

    Attributes:
        outcome: the main result.
        sentence: the result in one sentence.
        notes: further sentences.
        data: the bytes of the output.
        legal: the number of bytes that begin a match.
        is_prefix: whether all of them do.
        is_complete: whether the output is a complete match.
        failure: what is illegal, or None.
        ending: the distance to the end; None if nothing begins a match, and if the output is complete.
        tokens: the output token by token; empty if there are none.
        spelled: the origin of the tokens.
        forced: the ranges of bytes for which the grammar left no choice.
        loops: loops without effect.
        skipped: the text around the judged part: bytes 0 to `skipped[0]`, and those from `skipped[1]` on.
        divergence: the first token that is not the tokenizer's own; None if there is none, or it is unknown.
        is_canonical: whether the tokens are the tokenizer's own; None if unknown.
        cut_character, cut_escape: whether the output ends inside a character, or inside an escape of a JSON string.
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
    spelled: TokenOrigin | None = None
    forced: tuple[ByteRange, ...] = ()
    loops: tuple[OutputLoop, ...] = ()
    skipped: ByteRange | None = None
    divergence: Divergence | None = None
    is_canonical: bool | None = None
    cut_character: bool = False
    cut_escape: bool = False
    diagnostics: tuple[Diagnostic, ...] = ()


def position_of_byte(data: bytes, byte: int, token: int | None = None) -> OutputPosition:
    """Return the position of a byte; a column counts characters, and invalid bytes as one each.

    Args:
        data: the output.
        byte: the offset of the byte.
        token: the index of its token, if known.
    """
    before = data[:byte].decode("utf-8", "replace")
    start = before.rfind("\n") + 1
    # A byte inside a character has the character's column.
    column = len(before) - start + 1
    if byte < len(data) and 0x80 <= data[byte] < 0xC0 and before.endswith("\ufffd"):
        column -= 1
    return OutputPosition(byte, before.count("\n") + 1, max(1, column), token)


def parse_token_ids(text: str) -> tuple[int, ...]:
    """Parse token ids: numbers separated by commas, white space or brackets, such as a JSON array.

    Raises:
        EngineError: the text contains something else.
    """
    if not re.fullmatch(r"[\s\[\](),;]*(?:\d{1,18}(?!\d)[\s\[\](),;]*)*", text):
        raise EngineError("errors.diagnosis.token_ids")
    return tuple(int(number) for number in re.findall(r"\d+", text))
