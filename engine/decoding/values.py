"""Values of a decode session that the window, JSON output and documents receive.

Nothing here imports torch, so that the window can import this module.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, fields
from enum import StrEnum
from operator import attrgetter
from typing import Any, Final, NamedTuple

from engine.source import InvariantError

DEFAULT_MAX_TOKENS = 256


class StepOrigin(StrEnum):
    """Why a step took its token."""

    SAMPLER = "sampler"
    SOURCE = "source"  # the server drew it under the mask, since it returns a part of its distribution
    USER = "user"  # the user chose an allowed token
    FORCED_BY_USER = "forced by the user"  # against the grammar
    REPLAYED = "replayed"  # from an output that was made elsewhere: the model was not asked
    FAST_FORWARDED = "fast-forwarded"  # part of a forced run: the model was not asked
    RECORDED = "recorded"  # from a log, with the probabilities that the server reported


class Finish(StrEnum):
    """Why a generation ended."""

    STOP = "stop"  # an EOS token, or the stop rule of a vocabulary without one
    LENGTH = "length"  # the budget is used up
    CONTEXT = "context"  # the model's context is full, even if the token limit is not reached
    DEAD_END = "dead end"  # the text is not complete, and no token of the vocabulary continues it


class StopRule(StrEnum):
    """Where generation stops if the vocabulary has no EOS."""

    MAXIMAL = "maximal"  # where the text matches and nothing may follow
    FIRST = "first"  # as soon as the text matches


class EosState(StrEnum):
    """Whether the grammar allows an end here."""

    ALLOWED = "allowed"
    NOT_YET = "not yet"
    NO_EOS = "no eos"  # the vocabulary has no end-of-generation token


@dataclass(frozen=True, slots=True)
class SamplerSettings:
    """How a token is drawn from the allowed ones.

    The filters apply in the order listed here, to the masked distribution, as Hugging Face's processors do. A
    temperature of 0 is greedy.

    Attributes:
        repetition_penalty: 1.0 is off; divides positive logits of tokens that occurred, multiplies negative ones.
        repetition_window: how many of the last tokens it counts, prompt included; 0 counts all.
        temperature: divides the logits; 0 takes the most probable token.
        top_k: keeps the k most probable; 0 is off.
        top_p: keeps the smallest set whose mass reaches p; 1.0 is off.
        min_p: keeps tokens with at least this share of the best token's probability; 0.0 is off.
        seed: the seed of the draws; a step's draw depends only on the seed and its index.
    """

    repetition_penalty: float = 1.0
    temperature: float = 1.0
    top_k: int = 0
    top_p: float = 1.0
    min_p: float = 0.0
    seed: int = 0
    repetition_window: int = 0

    def __post_init__(self) -> None:
        # The comparisons are written so that a NaN fails them too.
        if not 0 < self.repetition_penalty < math.inf:
            raise InvariantError("errors.decoding.setting.repetition_penalty", value=self.repetition_penalty)
        if not 0 <= self.temperature < math.inf:
            raise InvariantError("errors.decoding.setting.temperature", value=self.temperature)
        if self.top_k < 0:
            raise InvariantError("errors.decoding.setting.top_k", value=self.top_k)
        if not 0 < self.top_p <= 1:
            raise InvariantError("errors.decoding.setting.top_p", value=self.top_p)
        if not 0 <= self.min_p <= 1:
            raise InvariantError("errors.decoding.setting.min_p", value=self.min_p)
        if self.repetition_window < 0:
            raise InvariantError("errors.decoding.setting.repetition_window", value=self.repetition_window)
        if self.seed < 0:
            raise InvariantError("errors.decoding.setting.seed", value=self.seed)

    @property
    def is_greedy(self) -> bool:
        """Return whether the most probable token is taken."""
        return self.temperature == 0


@dataclass(frozen=True, slots=True)
class Chat:
    """A prompt for a model with a chat template.

    Attributes:
        messages: pairs of a role (`system`, `user` or `assistant`) and its text.
        assistant_prefix: the beginning of the assistant's answer; the grammar starts after it.
    """

    messages: tuple[tuple[str, str], ...]
    assistant_prefix: str = ""


class Bounds(NamedTuple):
    """Bounds of a number that is not known exactly, both included."""

    low: float
    high: float


def masked_share(p: float, z: float | None) -> float | None:
    """Return the probability of an allowed token after the mask, given that before it and the allowed mass."""
    if z is None:
        return None
    return min(1.0, p / z) if z > 0 else 0.0


def masked_bounds(p: Bounds, z: Bounds) -> Bounds:
    """Return bounds of the probability of an allowed token after the mask, given those of it before and of the mass."""
    return Bounds(p.low / z.high if z.high > 0 else 0.0, min(1.0, p.high / z.low) if z.low > 0 else 1.0)


@dataclass(frozen=True, slots=True)
class ContinuationMass:
    """The probabilities of a continuation in one distribution; the bounds are equal if all tokenisations were seen.

    Attributes:
        written: that tokens write the text, the last of which ends with it.
        begins: that the output goes on with the text, whatever follows.
    """

    written: Bounds
    begins: Bounds


@dataclass(frozen=True, slots=True)
class TextContinuation:
    """The probability of a text as a continuation.

    Attributes:
        text: the text.
        alone: under the model alone.
        masked: under the mask of a grammar at every step; None without a grammar.
        spellings: the number of tokenisations of the text that were found.
        calls: the number of model calls.
    """

    text: bytes
    alone: ContinuationMass
    masked: ContinuationMass | None
    spellings: int
    calls: int


def mask_shift(z: float) -> float:
    """Return the Jensen-Shannon divergence of a distribution and itself under a mask, in nats, 0 to ln 2.

    The probability of a masked token falls to 0 and that of an allowed one is divided by the allowed mass, so that the
    divergence of both from their mean depends on nothing else (Lin 1991).

    Args:
        z: the allowed mass.
    """
    if z <= 0:
        return math.log(2)
    return max(0.0, (z * math.log(2 * z / (1 + z)) + (1 - z) * math.log(2) + math.log(2 / (1 + z))) / 2)


class Candidate(NamedTuple):
    """One row of the candidate table: a plain tuple, since hundreds are sent to the window with every step.

    A source that returns a part of its distribution leaves the rest unknown: None, never 0. See `Unknown`.

    Attributes:
        token_id: the id in the vocabulary.
        token: its bytes; None if it is no text.
        name: the name of a special token, else empty.
        rank: 1 for the model's top token; None if unknown.
        p: the model's probability, before the mask and the sampler; None if unknown.
        p_masked: the probability after the mask: `p / z` if allowed, else 0; None if `p` or `z` is unknown.
        p_sampled: the probability with which the sampler would draw it; None if unknown.
        allowed: whether the grammar allows it here.
        is_eos: whether it ends the generation.
        p_most: an upper bound of `p`, if that is unknown.
        masked_bounds: bounds of `p_masked`, if that is unknown.
    """

    token_id: int
    token: bytes | None
    name: str
    rank: int | None
    p: float | None
    p_masked: float | None
    p_sampled: float | None
    allowed: bool
    is_eos: bool
    p_most: float = 1.0
    masked_bounds: Bounds | None = None


@dataclass(frozen=True, slots=True)
class TopToken:
    """One of the model's top tokens at a step; each step stores a few permanently.

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
    """The model's top tokens at a step, best first, packed, since every step stores hundreds of them.

    Attributes:
        ids: int32 each, little-endian.
        p: the model's probabilities of them, float32 each, little-endian.
    """

    ids: bytes
    p: bytes

    def __post_init__(self) -> None:
        if len(self.ids) != len(self.p) or len(self.ids) % 4:
            raise InvariantError("errors.decoding.trace.step_bytes")


@dataclass(frozen=True, slots=True)
class StageEffect:
    """What one stage of the sampler did to the distribution that it received.

    Attributes:
        name: the name of the stage, such as `mask` or `top-k`.
        removed: how many tokens could be drawn before it and cannot after it.
        left: how many can be drawn after it.
        mass: the probability of the removed tokens before it.
        moved: how much probability moved, removed mass included: the total variation distance, 0 to 1.

    A number is None if it depends on what the source leaves unknown.
    """

    name: str
    removed: int | None
    left: int | None
    mass: float | None
    moved: float | None


class TokenStage(NamedTuple):
    """A token after one of the stages between the model and the draw.

    A number is None after the stage that removed the token, and where it depends on what the source leaves unknown.

    Attributes:
        name: the name of the stage; empty for the model's own logits.
        logit: its logit.
        p: its probability, of the tokens that are left.
        rank: its rank among them, from 1; among ties the lower id comes first.
        is_removed: whether this stage removed it; it is the last one then.
    """

    name: str
    logit: float | None
    p: float | None
    rank: int | None
    is_removed: bool = False


@dataclass(frozen=True, slots=True)
class Unknown:
    """The unknown part of a distribution, at a position of a source that returns the rest.

    Attributes:
        known: the number of tokens whose probability is known.
        left: the number of the others.
        listed: the number of those that are the most probable of all; the others were asked for by name.
        mass: bounds of the probability of all unknown tokens together.
        most: the largest probability that one of them may have.
        z: bounds of the allowed mass.
        entropy: bounds of the entropy of the model's distribution, nats.
        stopped_at: the first stage whose effect depends on what is unknown; empty if none does.
        can_sample: whether a token can be drawn without the source.
    """

    known: int
    left: int
    listed: int
    mass: Bounds
    most: float
    z: Bounds
    entropy: Bounds
    stopped_at: str = ""
    can_sample: bool = True


class RecordedProbability(NamedTuple):
    """The probability that a log has of a token.

    Attributes:
        p: the probability.
        is_masked: whether it is from behind the mask.
    """

    p: float
    is_masked: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """One decision that was taken.

    Attributes:
        token_id, token, name: the token taken, as in `Candidate`.
        p, p_masked: as in `Candidate`.
        z: the allowed mass before the mask, 0 to 1; None if unknown.
        allowed: the number of tokens that the grammar allowed.
        forced: whether it allowed only one.
        wanted_id: the model's top token at this step.
        origin: why the token was taken; if the model was not queried (`was_queried`), the probabilities, `z` and
            `wanted_id` mean nothing.
        configuration: the automaton's configuration after it.
        entropy: the entropy of the model's distribution, nats; None if unknown, and in documents from before it was
            stored.
        mask_us, logits_ms: as in `Position`; None likewise.
        top: the model's top tokens at this step, best first, as displayed; empty likewise.
        kept: more of them, to show the step's candidates again before the model is queried; None likewise.
        z_bounds: bounds of the allowed mass, if `z` is unknown; None otherwise.
        recorded: the probability of the token in the log that the trace was opened from, also once the present model
            was queried there; None in other traces, and if the log has none.
        zone: the zone that it begins in: 0 for the grammar's, 1 and above for further ones, -1 for free text around
            them, also where a zone may have ended before it. None without zones, and in documents from before it was
            stored.
        p_drawn: the probability with which the sampler drew it, after all stages, also if the grammar was replaced
            since; None if it was not drawn, and in documents from before it was stored.
    """

    token_id: int
    token: bytes | None
    name: str
    p: float | None
    p_masked: float | None
    z: float | None
    allowed: int
    forced: bool
    wanted_id: int
    origin: StepOrigin
    configuration: int
    entropy: float | None = None
    mask_us: float | None = None
    logits_ms: float | None = None
    top: tuple[TopToken, ...] = field(default=(), hash=False)  # steps are hashed often
    kept: TopTokens | None = field(default=None, hash=False, repr=False)
    z_bounds: Bounds | None = None
    recorded: RecordedProbability | None = None
    zone: int | None = None
    p_drawn: float | None = None

    @property
    def z_range(self) -> Bounds | None:
        """The allowed mass, or its bounds; None if the model was not queried."""
        if not self.was_queried:
            return None
        return self.z_bounds if self.z is None else Bounds(self.z, self.z)

    @property
    def masked_range(self) -> Bounds | None:
        """The probability after the mask, or its bounds; None if nothing is known of it."""
        if self.p_masked is not None:
            return Bounds(self.p_masked, self.p_masked)
        if self.p is None or self.z_range is None:
            return None
        return masked_bounds(Bounds(self.p, self.p), self.z_range)

    @property
    def was_queried(self) -> bool:
        """True if the model was queried, so that its numbers are meaningful."""
        return self.origin not in (StepOrigin.REPLAYED, StepOrigin.FAST_FORWARDED)


def price_of(z: float) -> float:
    """Return the price of a step with an allowed mass, -ln Z in nats; infinite for 0."""
    return max(0.0, -math.log(z)) if z > 0 else math.inf


class StepMass(NamedTuple):
    """The allowed mass Z before a token, and what the grammar forbids there.

    Attributes:
        start: the byte of the output at which the token begins.
        z_least, z_most: bounds of Z; 0 and 1 if nothing is known of it.
        token: the most probable token that the grammar forbids there, or its name; empty if unknown.
        p: its probability.
        is_special: whether that token is no text.
    """

    start: int
    z_least: float
    z_most: float
    token: bytes = b""
    p: float = 0.0
    is_special: bool = False

    @property
    def is_known(self) -> bool:
        """Return whether anything is known of Z."""
        return self.z_least > 0 or self.z_most < 1

    @property
    def least(self) -> float:
        """Return the least probability that the grammar took away."""
        return max(0.0, 1.0 - self.z_most)

    @property
    def most(self) -> float:
        """Return the largest probability that the grammar may have taken away."""
        return max(0.0, 1.0 - self.z_least)

    @property
    def nats(self) -> Bounds:
        """Return bounds of the price of the step, -ln Z."""
        return Bounds(price_of(self.z_most), price_of(self.z_least))

    @classmethod
    def of(cls, step: Step, start: int) -> StepMass:
        """Return what a step lost; the token begins at a byte of the output."""
        allowed = step.z_range or Bounds(0.0, 1.0)
        forbidden = next((one for one in step.top if not one.allowed), None) if step.was_queried else None
        if forbidden is None:
            return cls(start, *allowed)
        is_special = bool(forbidden.name) or not forbidden.token
        token = forbidden.name.encode() if is_special else forbidden.token or b""
        return cls(start, *allowed, token, forbidden.p, is_special)


class PackedMasses(NamedTuple):
    """The allowed masses of the steps of an output, packed: there may be a hundred thousand."""

    starts: bytes = b""
    numbers: bytes = b""
    tokens: tuple[bytes, ...] = ()
    specials: bytes = b""

    @classmethod
    def of(cls, steps: Iterable[StepMass]) -> PackedMasses:
        """Pack steps."""
        listed = list(steps)
        numbers = array("d", (number for one in listed for number in (one.z_least, one.z_most, one.p)))
        return cls(
            array("i", (one.start for one in listed)).tobytes(),
            numbers.tobytes(),
            tuple(one.token for one in listed),
            bytes(one.is_special for one in listed),
        )

    def unpack(self) -> Iterator[StepMass]:
        """Yield the steps."""
        starts, numbers = array("i", self.starts), array("d", self.numbers)
        for at, (start, token) in enumerate(zip(starts, self.tokens, strict=True)):
            z_least, z_most, p = numbers[3 * at : 3 * at + 3]
            yield StepMass(start, z_least, z_most, token, p, bool(self.specials[at]))


NO_MASSES: Final = PackedMasses()
"""Those of an output of which nothing is known."""


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
        path: ids from the first step to the last of the shown branch (it may extend beyond `current`).
        current: the id of the last step taken on the path; None at the start.
        illegal: ids of steps that the current grammar does not allow.
    """

    nodes: tuple[TraceNode, ...] = ()
    path: tuple[int, ...] = ()
    current: int | None = None
    illegal: frozenset[int] = frozenset()

    def check(self) -> None:
        """Validate a trace that may come from a file, since later code trusts it.

        Raises:
            InvariantError: the trace contradicts itself.
        """
        parents: dict[int | None, int | None] = {}
        for node in self.nodes:
            if node.id in parents or not (node.parent is None or node.parent in parents):
                raise InvariantError("errors.decoding.trace.step", id=node.id)
            parents[node.id] = node.parent
        above: int | None = None
        for node_id in self.path:
            if node_id not in parents or parents[node_id] != above:
                raise InvariantError("errors.decoding.trace.path", id=node_id)
            above = node_id
        if self.current is not None and self.current not in self.path:
            raise InvariantError("errors.decoding.trace.current", id=self.current)


@dataclass(frozen=True, slots=True)
class ArchivedBranch:
    """A path from another prompt or another model: read-only, without stepping.

    Attributes:
        model: the name of the model.
        prompt: the prompt.
        steps: the decisions, from the first to the last of the path that was shown.
        name: the name under which the user keeps it; empty without one.
    """

    model: str
    prompt: str | Chat
    steps: tuple[Step, ...]
    name: str = ""


class ContextState(NamedTuple):
    """How much of a model's context is left.

    Attributes:
        length: how many tokens the model reads, the prompt included.
        left: how many tokens may still be generated; the model is not queried after the last of them.
    """

    length: int
    left: int


@dataclass(frozen=True, slots=True)
class FirstBytes:
    """The tokens that the grammar allows, counted by their first byte; EOS ids and tokens without bytes are left out.

    Attributes:
        counts: 256 numbers of tokens.
        masses: 256 probabilities before the mask, None where unknown; empty if the model is not queried.
    """

    counts: tuple[int, ...]
    masses: tuple[float | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Position:
    """The state before the next decision.

    Attributes:
        output: the bytes generated so far.
        index: the number of steps taken.
        configuration: the automaton's configuration.
        allowed: the number of tokens that the grammar allows.
        vocabulary_size: the number of tokens of the vocabulary.
        z: the allowed mass before the mask, 0 to 1; the mask removes 1 - z. It is None, as are `kl` and the entropies,
            if the model is not queried, or if the source leaves it unknown: then `unknown` has bounds.
        kl: the divergence of the masked distribution from the model's, in nats: `-ln z`, computed in logarithms, so
            finite even if z underflows; infinite if the model gives the allowed tokens no mass at all.
        forced: whether only one token is allowed.
        forced_bytes: the bytes that every continuation begins with.
        eos: whether the grammar allows an end here.
        accepting: whether the output is a complete match.
        finish: why the generation is over, or None. After `STOP` and `CONTEXT`, the model is not queried: no
            candidates, `wanted` is None.
        wanted: the model's top token; None without logits.
        candidates: the model's top tokens and the best allowed ones, by rank; EOS tokens are always included.
        mask_us: the time of the mask, microseconds.
        logits_ms: the time of the model, milliseconds; 0 from the cache.
        entropy: the entropy of the model's distribution, nats.
        entropy_masked: the entropy after the mask, nats.
        stages: the effect of every enabled stage of the sampler, in order.
        broken_at: the number of steps before the one that was forced against the grammar, or None. After it the grammar
            has no effect: every token is allowed, and nothing matches.
        budget: the rest of the token budget; None if it is off.
        parts: with zones, the parts that the output may be in: `free text`, `grammar`, `closing text`, `end`; else
            empty.
        grammar_text: with zones, what the grammar has read in the current zone; None outside of zones, and without
            zones.
        context: how much of the model's context is left; None if it has no limit.
        is_remembered: whether the values come from what a step stored, until the model has answered again: only the
            model's top tokens then, and no stage effects.
        emptied_by: the stage that leaves no token to draw though the masks allow some; empty where none does. Then the
            candidates have no probability after the mask.
        first_bytes: the tokens that the grammar alone allows; None without a grammar, outside of zones, and after a
            token was forced against it.
        unknown: what the source leaves unknown; None if it returned its full distribution, or is not queried.
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
    emptied_by: str = ""
    first_bytes: FirstBytes | None = None
    unknown: Unknown | None = None

    @property
    def z_range(self) -> Bounds | None:
        """The allowed mass, or its bounds; None if the model is not queried."""
        if self.z is not None:
            return Bounds(self.z, self.z)
        return None if self.unknown is None else self.unknown.z

    def __reduce__(self) -> tuple[Callable[..., Position], tuple[object, ...]]:
        """Pickle plain values, and the candidates by column: there are hundreds, and objects are slow to create."""
        values = list(_VALUES_OF_POSITION(self))
        columns = tuple(zip(*self.candidates, strict=True))
        values[_CANDIDATES] = columns[:_N_KNOWN_COLUMNS] if self.unknown is None else columns
        return _position_of, tuple(values)


_FIELDS_OF_POSITION = [of.name for of in fields(Position)]
_VALUES_OF_POSITION = attrgetter(*_FIELDS_OF_POSITION)
_CANDIDATES = _FIELDS_OF_POSITION.index("candidates")
_N_KNOWN_COLUMNS = Candidate._fields.index("p_most")  # those after it have their defaults if nothing is unknown


def _position_of(*values: Any) -> Position:
    columns = values[_CANDIDATES]
    decoded = list(values)
    decoded[_CANDIDATES] = tuple(map(Candidate, *columns)) if columns else ()
    return Position(*decoded)


@dataclass(frozen=True, slots=True)
class BudgetState:
    """The rest of the token budget, and what the grammar needs; EOS counts in both.

    Attributes:
        left: the number of tokens that may still be taken.
        at_least: no ending takes fewer; None if no tokens end the output.
        at_most: some ending takes no more; None if none was found.
        is_exact: whether no masked token could end in time; else some were masked to be safe.
    """

    left: int
    at_least: int | None
    at_most: int | None
    is_exact: bool


@dataclass(frozen=True, slots=True)
class SampleOutcome:
    """One of many seeded generations.

    Attributes:
        seed: the sampler's seed.
        text: the output.
        finish: how it ended.
        matches: whether it is a complete match.
        tokens: the number of its tokens.
        least_z: the lowest allowed mass of a step; None if no model was queried, or one of them is unknown.
        least_z_step: the first step with it, counted from 0; None if it is unknown.
        masses: what its steps lost; empty if no model was queried.
        price: -ln Z, summed over its steps, in nats; None as for `least_z`.
    """

    seed: int
    text: str
    finish: Finish
    matches: bool
    tokens: int
    least_z: float | None = field(default=None, compare=False)
    least_z_step: int | None = field(default=None, compare=False)
    masses: PackedMasses = field(default=NO_MASSES, compare=False, repr=False)
    price: float | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class AttributedWord:
    """A word of the prompt, with the white space after it, and what it does to the probability of a token.

    Attributes:
        message: the index of its message; 0 in a prompt that is a text.
        start: its offset in the text of the message.
        text: the word.
        change: the log-probability of the token with the whole prompt minus that without the word; None if unknown.
        gradient: gradient × input; None if it cannot be computed.
    """

    message: int
    start: int
    text: str
    change: float | None = None
    gradient: float | None = None


@dataclass(frozen=True, slots=True)
class BaselineRun:
    """The constrained output, and the model's output without the grammar.

    Attributes:
        written: the steps with the grammar.
        free: the steps without it, so far.
        diverges: the index of the first step that differs; None while one list is a prefix of the other.
        finish: how the text without the grammar ended; None while it is being generated.
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
        matches: whether the output is a complete match.
    """

    text: str
    output: bytes
    finish: Finish
    steps: tuple[Step, ...]
    problem: str = ""
    matches: bool = True


@dataclass(frozen=True, slots=True)
class Replay:
    """The result of replaying a trace under another grammar.

    Attributes:
        kept: how many steps of the shown path the grammar allows.
        illegal: the id of the first one that it does not allow; None if it allows all.
    """

    kept: int
    illegal: int | None
