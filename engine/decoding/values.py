"""What a decode session says: values that cross to the window, to JSON and to documents.

Nothing here imports torch, so that the window may hold these values.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from enum import StrEnum
from operator import attrgetter
from typing import Any, NamedTuple

from engine.source import InvariantError

DEFAULT_MAX_TOKENS = 256
REPLAYED = "replay"
"""Who chose a step of an output from elsewhere: no model was asked, and it has no probability."""
COALESCED = "coalesced"
"""Who chose a step of a forced run that was taken in one go: no model was asked, and it has no probability."""
FORCE = "force"
"""Who chose a token that the grammar did not allow."""


class Finish(StrEnum):
    """Why a generation ended."""

    STOP = "stop"  # an EOS token, or the stop rule of a vocabulary without one
    LENGTH = "length"  # the budget is used up
    CONTEXT = "context"  # the model's context is full, whatever is left of the budget
    DEAD_END = "dead end"  # the text is not complete, and no token of the vocabulary continues it


class StopRule(StrEnum):
    """Where a vocabulary without EOS stops."""

    MAXIMAL = "maximal"  # where the text matches and nothing may follow
    FIRST = "first"  # as soon as the text matches


class EosState(StrEnum):
    """What the grammar says of an end here."""

    ALLOWED = "allowed"
    NOT_YET = "not yet"
    NO_EOS = "no eos"  # the vocabulary has no end-of-generation token


@dataclass(frozen=True, slots=True)
class SamplerSettings:
    """How a token is drawn from the allowed ones.

    The filters apply in the order in which they stand here, to the masked
    distribution, as Hugging Face's processors do. A temperature of 0 is greedy.

    Attributes:
        repetition_penalty: 1.0 is off; divides positive logits of tokens that occurred, multiplies negative ones.
        temperature: divides the logits; 0 takes the most probable token.
        top_k: keeps the k most probable; 0 is off.
        top_p: keeps the smallest set whose mass reaches p; 1.0 is off.
        min_p: keeps tokens of at least this share of the best one's probability; 0.0 is off.
        seed: of the random draws; a step's draw depends on the seed and on its index alone.
    """

    repetition_penalty: float = 1.0
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        # The comparisons are written so that a NaN fails them too.
        if not 0 < self.repetition_penalty < math.inf:
            raise InvariantError(f"a repetition penalty is above 0, not {self.repetition_penalty}")
        if not 0 <= self.temperature < math.inf:
            raise InvariantError(f"a temperature is 0 or more, not {self.temperature}")
        if self.top_k < 0:
            raise InvariantError(f"top-k is 0 or more, not {self.top_k}")
        if not 0 < self.top_p <= 1:
            raise InvariantError(f"top-p is above 0 and at most 1, not {self.top_p}")
        if not 0 <= self.min_p <= 1:
            raise InvariantError(f"min-p is between 0 and 1, not {self.min_p}")
        if self.seed < 0:
            raise InvariantError(f"a seed is 0 or more, not {self.seed}")


@dataclass(frozen=True, slots=True)
class Chat:
    """A prompt for a model with a chat template.

    Attributes:
        messages: pairs of a role (`system`, `user` or `assistant`) and its text.
        assistant_prefix: what the assistant's answer begins with; the grammar starts after it.
    """

    messages: tuple[tuple[str, str], ...]
    assistant_prefix: str = ""


class Candidate(NamedTuple):
    """One row of the candidate table: a bare tuple, for hundreds cross to the window with every step.

    Attributes:
        token_id: the id in the vocabulary.
        token: its bytes; None where it matches no text.
        name: the name of a special token, else empty.
        rank: 1 for the model's favourite.
        p: the model's probability, before the mask and the sampler.
        p_masked: the probability after the mask: `p / z` where allowed, else 0.
        p_sampled: the probability with which the sampler would draw it.
        allowed: whether the grammar allows it here.
        is_eos: whether it ends the generation.
    """

    token_id: int
    token: bytes | None
    name: str
    rank: int
    p: float
    p_masked: float
    p_sampled: float
    allowed: bool
    is_eos: bool


@dataclass(frozen=True, slots=True)
class TopToken:
    """One of the tokens that the model gave the most at a step: the few that a step keeps for good.

    Attributes:
        token_id, token, name, p, allowed: as in `Candidate`.
    """

    token_id: int
    token: bytes | None
    name: str
    p: float
    allowed: bool


@dataclass(frozen=True, slots=True)
class TopTokens:
    """The tokens that the model gave the most at a step, best first, packed, for every step keeps hundreds of them.

    Attributes:
        ids: int32 each, little-endian.
        p: the model's probabilities of them, float32 each, little-endian.
    """

    ids: bytes
    p: bytes

    def __post_init__(self) -> None:
        if len(self.ids) != len(self.p) or len(self.ids) % 4:
            raise InvariantError("every token that a step keeps has an id and a probability of four bytes each")


@dataclass(frozen=True, slots=True)
class StageEffect:
    """What one stage of the sampler did to the distribution that it was given.

    Attributes:
        name: the stage's, such as `mask` or `top-k`.
        removed: how many tokens could be drawn before it and cannot after it.
        left: how many can be drawn after it.
        mass: the probability of the removed ones before it.
        moved: how much probability changed hands, removed mass included: the total variation distance, 0 to 1.
    """

    name: str
    removed: int
    left: int
    mass: float
    moved: float


@dataclass(frozen=True, slots=True)
class Step:
    """One decision that was taken.

    Attributes:
        token_id, token, name: the token taken, as in `Candidate`.
        p, p_masked: as in `Candidate`.
        z: the allowed mass before the mask, 0 to 1.
        allowed: how many tokens the grammar allowed.
        forced: whether it allowed only one.
        wanted_id: the model's favourite token at this step.
        chosen_by: "sampler" or "user"; "force" of a token that the grammar did not allow;
            `REPLAYED` or `COALESCED` where nobody was asked, so that the probabilities, `z` and `wanted_id` mean
            nothing.
        configuration: where the match stands after it.
        entropy: of the model's distribution, nats; None in documents from before it was kept.
        mask_us, logits_ms: as in `Position`; None likewise.
        top: the model's favourites at this step, best first, as they are shown of it; empty likewise.
        kept: many more of them, from which its candidates can be shown again before the model is asked; None likewise.
    """

    token_id: int
    token: bytes | None
    name: str
    p: float
    p_masked: float
    z: float
    allowed: int
    forced: bool
    wanted_id: int
    chosen_by: str
    configuration: int
    entropy: float | None = None
    mask_us: float | None = None
    logits_ms: float | None = None
    top: tuple[TopToken, ...] = field(default=(), hash=False)  # whoever keeps steps by their hash makes it often
    kept: TopTokens | None = field(default=None, hash=False, repr=False)

    @property
    def was_asked(self) -> bool:
        """Whether a model was asked, so that its numbers mean something."""
        return self.chosen_by not in (REPLAYED, COALESCED)


@dataclass(frozen=True, slots=True)
class TraceNode:
    """A step in the tree of steps; `parent` is None under the root."""

    id: int
    parent: int | None
    step: Step


@dataclass(frozen=True, slots=True)
class Trace:
    """The tree of all steps of a session.

    Attributes:
        nodes: in order of creation; a parent precedes its children.
        path: ids from the first step to the last of the shown branch (it may reach beyond `current`).
        current: the id of the last step taken on the path; None at the start.
        illegal: ids of steps that the present grammar does not allow.
    """

    nodes: tuple[TraceNode, ...] = ()
    path: tuple[int, ...] = ()
    current: int | None = None
    illegal: frozenset[int] = frozenset()

    def check(self) -> None:
        """Refuse a trace that contradicts itself, as one from a file may: everything later trusts it.

        Raises:
            InvariantError: it does.
        """
        parents: dict[int | None, int | None] = {}
        for node in self.nodes:
            if node.id in parents or not (node.parent is None or node.parent in parents):
                raise InvariantError(f"step {node.id} of the trace has no place in it")
            parents[node.id] = node.parent
        above: int | None = None
        for node_id in self.path:
            if node_id not in parents or parents[node_id] != above:
                raise InvariantError(f"the path of the trace breaks at step {node_id}")
            above = node_id
        if self.current is not None and self.current not in self.path:
            raise InvariantError(f"the trace stands at step {self.current}, which is not on its path")


@dataclass(frozen=True, slots=True)
class ArchivedBranch:
    """A path that began from another prompt, or with another model: it can be read, but not stepped.

    Attributes:
        model: the name of the model that it was taken with.
        prompt: what it began from.
        steps: the decisions, from the first to the last of the path that was shown.
    """

    model: str
    prompt: str | Chat
    steps: tuple[Step, ...]


class ContextState(NamedTuple):
    """How much of a model's context is left.

    Attributes:
        length: how many tokens the model reads, those of the prompt included.
        left: how many tokens may still be generated; the model is not asked behind the last of them.
    """

    length: int
    left: int


@dataclass(frozen=True, slots=True)
class Position:
    """What stands before the next decision.

    Attributes:
        output: the bytes generated so far.
        index: how many steps were taken.
        configuration: where the match stands.
        allowed: how many tokens the grammar allows.
        vocabulary_size: of how many.
        z: the allowed mass before the mask, 0 to 1; 1.0 minus it is what the mask removes. It is None, as are `kl` and
            the entropies, where the model is not asked.
        kl: the divergence of the masked distribution from the model's, in nats: `-ln z`, reckoned in logarithms,
            so finite even where z underflows; infinite where the model gave the allowed tokens nothing at all.
        forced: whether only one token is allowed.
        forced_bytes: the bytes that every continuation begins with.
        eos: what the grammar says of an end here.
        accepting: whether the output matches in full.
        finish: why the generation is over; None while it is not. After `STOP` and `CONTEXT`, the
            model is not asked: no candidates, `wanted` None.
        wanted: the model's favourite token; None without logits.
        candidates: the model's top tokens and the best allowed ones, by rank; EOS tokens are always among them.
        mask_us: the time of the mask, microseconds.
        logits_ms: the time of the model, milliseconds; 0 from the cache.
        entropy: of the model's distribution, nats.
        entropy_masked: after the mask, nats.
        stages: what every stage of the sampler did, in their order; those that are off are left out.
        broken_at: how many steps were taken before the one that was forced against the grammar; None where all of
            them are the grammar's. From there on it has no say: every token is allowed, and nothing matches.
        budget: what the token budget leaves; None where it is not on.
        parts: where the grammar rules zones of the output, what the output may be in the midst of: `free text`,
            `grammar`, `closing text`, `end`; empty where the grammar rules it all.
        grammar_text: with zones, what the grammar has read of the one that the output is in; None outside of them, and
            where the grammar rules it all.
        context: how much of the model's context is left; None where it has no limit.
        is_remembered: whether this is what a step kept, until the model has answered anew: only the model's best tokens
            then, and nothing of what the sampler's stages did.
    """

    output: bytes
    index: int
    configuration: int
    allowed: int
    vocabulary_size: int
    z: float | None
    kl: float | None
    forced: bool
    forced_bytes: bytes
    eos: EosState
    accepting: bool
    finish: Finish | None
    wanted: Candidate | None
    candidates: tuple[Candidate, ...]
    mask_us: float
    logits_ms: float
    entropy: float | None = None
    entropy_masked: float | None = None
    stages: tuple[StageEffect, ...] = ()
    broken_at: int | None = None
    budget: BudgetState | None = None
    parts: tuple[str, ...] = ()
    grammar_text: bytes | None = None
    context: ContextState | None = None
    is_remembered: bool = False

    def __reduce__(self) -> tuple[Callable[..., Position], tuple[object, ...]]:
        """Pickle bare values, and the candidates by column: there are hundreds, and objects are slow to make."""
        values = list(_VALUES_OF_POSITION(self))
        values[_CANDIDATES] = tuple(zip(*self.candidates, strict=True))
        return _position_of, tuple(values)


_FIELDS_OF_POSITION = [of.name for of in fields(Position)]
_VALUES_OF_POSITION = attrgetter(*_FIELDS_OF_POSITION)
_CANDIDATES = _FIELDS_OF_POSITION.index("candidates")


def _position_of(*values: Any) -> Position:
    columns = values[_CANDIDATES]
    whole = list(values)
    whole[_CANDIDATES] = tuple(map(Candidate, *columns)) if columns else ()
    return Position(*whole)


@dataclass(frozen=True, slots=True)
class BudgetState:
    """What the token budget leaves, and what the grammar needs; an end token counts in both.

    Attributes:
        left: so many tokens may still be taken.
        at_least: no ending takes fewer; None where no tokens end the output.
        at_most: some ending takes no more; None where none was found.
        is_exact: whether every token that is held back could not end in time; else some were held back to be safe.
    """

    left: int
    at_least: int | None
    at_most: int | None
    is_exact: bool


@dataclass(frozen=True, slots=True)
class SampleOutcome:
    """One of many seeded generations: its text, how it ended, and whether it matches the grammar in full."""

    seed: int
    text: str
    finish: Finish
    matches: bool
    tokens: int


@dataclass(frozen=True, slots=True)
class BaselineRun:
    """What was written with a grammar, and what the model writes without one.

    Attributes:
        written: the steps with the grammar.
        free: the steps without, so far.
        diverges: the index of the first step that is not the same in both; None while one is the other's beginning.
        finish: how the text without the grammar ended; None while it is being written.
    """

    written: tuple[Step, ...]
    free: tuple[Step, ...]
    diverges: int | None
    finish: Finish | None = None


@dataclass(frozen=True, slots=True)
class Generation:
    """One finished generation.

    Attributes:
        text: the output, with U+FFFD where its bytes are not UTF-8.
        output: the same as bytes.
        finish: how it ended.
        steps: the decisions, an EOS included.
        problem: at a dead end, which stage leaves nothing and what it expects.
        matches: whether the output is complete: the whole of it matches.
    """

    text: str
    output: bytes
    finish: Finish
    steps: tuple[Step, ...]
    problem: str = ""
    matches: bool = True


@dataclass(frozen=True, slots=True)
class Replay:
    """What another grammar made of a trace.

    Attributes:
        kept: how many steps of the shown path the grammar allows.
        illegal: the id of the first one that it does not; None where it allows all.
    """

    kept: int
    illegal: int | None
