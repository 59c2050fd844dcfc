"""Requests about forced runs; see `engine.decoding.forced`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from app.workers.protocol import WorkerRequest

# --- requests --------------------------------------------------------------------------------------------------------

A = TypeVar("A")


class ForcedRequest(WorkerRequest[A]):
    """A request about forced runs."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class FindForced(ForcedRequest["ForcedAnswer"]):
    """List the forced runs of the active grammar.

    Attributes:
        revision: of the requested grammar.
    """

    revision: int


@dataclass(frozen=True, slots=True)
class CompareSpellings(ForcedRequest["SpellingsAnswer"]):
    """Compare the spellings of a forced run by the model's probabilities.

    Attributes:
        revision: of the requested grammar.
        before: the text before the run; None for the position of the session, after its own tokens.
        part: the part of the run that is spelled in several ways; empty for the whole run.
        most: the maximum number of spellings listed.
    """

    revision: int
    before: bytes | None
    part: str = ""
    most: int = 16


@dataclass(frozen=True, slots=True)
class MeasureStrategies(ForcedRequest["StrategiesAnswer"]):
    """Generate once with each strategy from the prompt, and measure the cost."""


@dataclass(frozen=True, slots=True)
class ListIndex(ForcedRequest["IndexAnswer"]):
    """List the token index of the active grammar as `{state: {token: next}}`."""

    revision: int


# --- answers ---------------------------------------------------------------------------------------------------------


class ListedForm(StrEnum):
    """The form of a grammar whose runs, or whose index, are listed."""

    GRAMMAR = "grammar"
    COMPACT = "compact"  # of a schema: no white space, and one spelling of each string and number
    FULL = "full"  # a schema without a compact form


@dataclass(frozen=True, slots=True)
class RunRow:
    """A forced run of the automaton.

    Attributes:
        state, target: its first and last state.
        before: the shortest text that leads there.
        data: its bytes.
        count: the number of spellings in the vocabulary.
        own: the tokenizer's own spelling, token by token; empty if it would write something else.
    """

    state: int
    target: int
    before: bytes
    data: bytes
    count: int
    own: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TokenRunRow:
    """Consecutive states that allow only one token each: the first state, and the tokens."""

    state: int
    tokens: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ForcedAnswer:
    """The forced runs of a grammar.

    Attributes:
        revision: of the grammar.
        runs: by bytes.
        token_runs: by tokens.
        states, edges: the counts before and after merging runs.
        form: the form of the grammar that is listed.
        why_not: why there is no list; empty if there is one.
        can_close: whether there is one for the schema without additional properties.
    """

    revision: int
    runs: tuple[RunRow, ...] = ()
    token_runs: tuple[TokenRunRow, ...] = ()
    states: tuple[int, int] = (0, 0)
    edges: tuple[int, int] = (0, 0)
    form: ListedForm = ListedForm.GRAMMAR
    why_not: str = ""
    can_close: bool = False


@dataclass(frozen=True, slots=True)
class SpellingRow:
    """One spelling of a part of a run.

    Attributes:
        ids, tokens: of the part alone.
        log_p: of the whole run, in nats.
        following: the probabilities of the continuations, in the order of `SpellingsAnswer.following`; None for
            one that is not among its most likely ones.
        other: the probability of all other continuations.
        is_own: whether it is the tokenizer's own spelling.
        is_likeliest: whether it is the model's most likely spelling.
    """

    ids: tuple[int, ...]
    tokens: tuple[str, ...]
    log_p: float
    following: tuple[float | None, ...]
    other: float
    is_own: bool
    is_likeliest: bool


@dataclass(frozen=True, slots=True)
class SpellingsAnswer:
    """Spellings side by side.

    Attributes:
        request: the request.
        run: the forced text.
        part: begin and end of the part in it.
        count: the number of spellings.
        rows: some of them, the most likely first.
        following: the continuations after the run: a chosen byte with the text that it forces; empty for the end.
        is_exact: whether no spelling can be more likely than the marked one.
        why_not: why there are none.
    """

    request: CompareSpellings
    run: bytes = b""
    part: tuple[int, int] = (0, 0)
    count: int = 0
    rows: tuple[SpellingRow, ...] = ()
    following: tuple[bytes, ...] = ()
    is_exact: bool = True
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class StrategyRow:
    """The cost of a generation with one strategy.

    Attributes:
        strategy: the name of the strategy for forced runs.
        tokens: the number of tokens.
        calls: the number of model calls.
        unasked: the number of tokens without a call.
        taken_back: the number of tokens that were sampled and replaced.
        model_seconds, seconds: in the model, and in total.
        text: the generated text.
    """

    strategy: str
    tokens: int
    calls: int
    unasked: int
    taken_back: int
    model_seconds: float
    seconds: float
    text: str


@dataclass(frozen=True, slots=True)
class StrategiesAnswer:
    """The strategies measured so far, out of `total`; the last answer has all of them, or says why not."""

    rows: tuple[StrategyRow, ...]
    total: int
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class IndexAnswer:
    """A token index.

    Attributes:
        revision: of the grammar.
        shown: one line for each state with its tokens as text, shortened for display.
        whole: all of it as `{state: {token: next}}`, to copy; empty if it is too long.
        states, transitions: the counts.
        form, why_not, can_close: see `ForcedAnswer`.
    """

    revision: int
    shown: str = ""
    whole: str = ""
    states: int = 0
    transitions: int = 0
    form: ListedForm = ListedForm.GRAMMAR
    why_not: str = ""
    can_close: bool = False
