"""What is asked and told of forced runs; see `engine.decoding.forced`."""

from __future__ import annotations

from dataclasses import dataclass

from engine.decoding.pipeline_settings import Strategy

# --- requests --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class FindForced:
    """List the forced runs of the grammar in force.

    Attributes:
        revision: of the grammar that is meant.
    """

    revision: int


@dataclass(frozen=True, slots=True)
class FindForcedHere:
    """Say what must come where the session stands."""


@dataclass(frozen=True, slots=True)
class CompareSpellings:
    """Hold the spellings of a forced run against each other on the model.

    Attributes:
        revision: of the grammar that is meant.
        before: the text in front of the run; None where the session stands, behind its own tokens.
        part: the part of the run that is spelled in several ways; empty for the whole.
        most: how many ways are listed.
    """

    revision: int
    before: bytes | None
    part: str = ""
    most: int = 16


@dataclass(frozen=True, slots=True)
class MeasureStrategies:
    """Generate once with each strategy, from the prompt, and say what it cost."""


@dataclass(frozen=True, slots=True)
class ListIndex:
    """Write the token index of the grammar in force as `{state: {token: next}}`."""

    revision: int


# --- answers ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RunRow:
    """A forced run of the automaton.

    Attributes:
        state, target: where it begins and ends.
        before: the shortest text that leads there.
        data: its bytes.
        count: how many ways the vocabulary spells it in.
        own: how the tokenizer writes it, token by token; empty where it would write something else.
    """

    state: int
    target: int
    before: bytes
    data: bytes
    count: int
    own: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TokenRunRow:
    """States at which one token alone may come, one behind the other: where they begin, and the tokens."""

    state: int
    tokens: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ForcedAnswer:
    """The forced runs of a grammar.

    Attributes:
        revision: of the grammar.
        runs: by bytes.
        token_runs: by tokens.
        states, edges: how many there are, before and after runs were merged.
        form: which form of the grammar this is of, where it is not the grammar itself; a sentence.
        why_not: why there is no list; empty where there is one.
        can_close: whether there is one of the schema without additional properties.
    """

    revision: int
    runs: tuple[RunRow, ...] = ()
    token_runs: tuple[TokenRunRow, ...] = ()
    states: tuple[int, int] = (0, 0)
    edges: tuple[int, int] = (0, 0)
    form: str = ""
    why_not: str = ""
    can_close: bool = False


@dataclass(frozen=True, slots=True)
class ForcedHereAnswer:
    """What must come where the session stands, and behind which step that is."""

    at: int | None
    data: bytes


@dataclass(frozen=True, slots=True)
class SpellingRow:
    """One way to spell a part of a run.

    Attributes:
        ids, tokens: of the part alone.
        log_p: of the whole run, nats.
        following: probabilities of what may come behind it, in the order of `SpellingsAnswer.following`; None for
            what is not among its likeliest.
        other: the probability of all the rest.
        is_own: whether it is the tokenizer's own.
        is_likeliest: whether the model finds it the likeliest.
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
        request: what was asked.
        run: what must come.
        part: begin and end of the part in it.
        count: how many ways there are.
        rows: some of them, the likeliest first.
        following: what may come behind the run: a byte that is chosen with what must follow it, empty for an end.
        is_exact: whether none can be likelier than the one that is marked.
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
    """What a generation with one strategy cost.

    Attributes:
        strategy: how runs were spelled.
        tokens: how many there are.
        calls: how often the model was asked.
        unasked: how many tokens came without a call.
        taken_back: how many were drawn and replaced.
        model_seconds, seconds: in the model, and in all.
        text: what was written.
    """

    strategy: Strategy
    tokens: int
    calls: int
    unasked: int
    taken_back: int
    model_seconds: float
    seconds: float
    text: str


@dataclass(frozen=True, slots=True)
class StrategiesAnswer:
    """The strategies that were run so far, and of how many; the last answer has all, or says why not."""

    rows: tuple[StrategyRow, ...]
    total: int
    why_not: str = ""


@dataclass(frozen=True, slots=True)
class IndexAnswer:
    """A token index.

    Attributes:
        revision: of the grammar.
        shown: a line for each state, with its tokens in words, as far as anybody reads.
        whole: all of it as `{state: {token: next}}`, to be copied; empty where it is too long.
        states, transitions: how many there are.
        form, why_not, can_close: as in `ForcedAnswer`.
    """

    revision: int
    shown: str = ""
    whole: str = ""
    states: int = 0
    transitions: int = 0
    form: str = ""
    why_not: str = ""
    can_close: bool = False


CoalescenceRequest = FindForced | FindForcedHere | CompareSpellings | MeasureStrategies | ListIndex
CoalescenceAnswer = ForcedAnswer | ForcedHereAnswer | SpellingsAnswer | StrategiesAnswer | IndexAnswer
