"""What a document keeps of a pipeline: which stages are on, what they are told, and their order.

Flat, of numbers, texts and tuples of them, so that it pickles, goes into a document
as it is and has a field for each widget that shows it. The values of the sampler's
stages are `SamplerSettings`; here stands only their place in the order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from engine.source import InvariantError


class StageName(StrEnum):
    """The stages that a session knows, in the order in which they stand unless told otherwise."""

    GRAMMAR = "grammar"
    BUDGET = "budget"
    STATIC = "static"
    PATTERN = "pattern"
    TABLE = "table"
    SUPPRESS = "suppress"
    BIAS = "bias"
    PENALTY = "repetition penalty"
    TEMPERATURE = "temperature"
    TOP_K = "top-k"
    TOP_P = "top-p"
    MIN_P = "min-p"


DEFAULT_ORDER = tuple(StageName)


class Afterwards(StrEnum):
    """What follows a zone that a grammar rules."""

    STOP = "stop"  # nothing: the output ends
    FREE = "free"  # any text to the end
    AGAIN = "again"  # any text, until a trigger comes again


class Strategy(StrEnum):
    """How forced runs are decoded; see `engine.decoding.forced`."""

    NONE = "none"  # ask the model for each token
    LONGEST = "longest"  # the longest token at each place
    OWN = "own"  # as the tokenizer writes it, its ends healed
    PROBABLE = "probable"  # the spelling that the model finds likeliest


@dataclass(frozen=True, slots=True)
class OtherZone:
    """A part of the output that another grammar rules, or none; which zone comes is decided by what begins it.

    Attributes:
        notation: of its grammar; empty for free text, in which no trigger counts.
        text: the grammar's source.
        after, after_token, until: as in `ZoneSettings`; one of the first two is there.
    """

    notation: str = ""
    text: str = ""
    after: str = ""
    after_token: str = ""
    until: str = ""

    def __post_init__(self) -> None:
        if not (self.after or self.after_token):
            raise InvariantError("a zone beside another one needs a trigger that begins it: a text or a token")
        if not self.notation and not self.until:
            raise InvariantError("a zone of free text needs a text that closes it")
        if self.notation and not self.text:
            raise InvariantError("a zone with a grammar needs the grammar's text")


@dataclass(frozen=True, slots=True)
class ZoneSettings:
    """Where the grammar rules the output, if not everywhere; see `engine.decoding.constraints.zones`.

    Attributes:
        after: the text behind which it begins; a special token of that very name begins it too.
        after_token: the name of a token, taken whole, behind which it begins. With neither it begins at once.
        until: a text that must follow what the grammar matches.
        then: what follows.
        required: whether an output in which the grammar, or another zone, never began is incomplete.
        others: zones beside this one, with grammars of their own; `then` and `required` are theirs too.
    """

    after: str = ""
    after_token: str = ""
    until: str = ""
    then: Afterwards = Afterwards.STOP
    required: bool = True
    others: tuple[OtherZone, ...] = ()

    def __post_init__(self) -> None:
        if not (self.after or self.after_token):
            if self.then is Afterwards.AGAIN:
                raise InvariantError("a grammar that comes again needs a trigger that begins it: a text or a token")
            if self.others:
                raise InvariantError("beside other zones the grammar needs a trigger that begins it: a text or a token")
        zones: tuple[ZoneSettings | OtherZone, ...] = (self, *self.others)
        triggers = [trigger for zone in zones for trigger in {zone.after, zone.after_token} - {""}]
        if twice := next((trigger for trigger in triggers if triggers.count(trigger) > 1), None):
            raise InvariantError(f"two zones wait for {twice!r}; each needs a trigger of its own")
        texts = [zone.after for zone in zones if zone.after]
        for text in texts:
            if within := next((other for other in texts if other != text and other in text), None):
                raise InvariantError(f"{text!r} never begins its zone: {within!r} in it begins another one sooner")


@dataclass(frozen=True, slots=True)
class TableSettings:
    """A token automaton as a list; see `engine.decoding.processors.DfaTable`.

    Attributes:
        transitions: triples of a state, a token id and the next state; states are numbered from 1.
        initial: the state before the first token.
    """

    transitions: tuple[tuple[int, int, int], ...]
    initial: int = 1


@dataclass(frozen=True, slots=True)
class PipelineSettings:
    r"""The stages between the model and the draw.

    A stage whose field has its default is off, but for the grammar's, which is on where there is a grammar; zones and
    budget are about the grammar, and say nothing without one.

    Attributes:
        order: the stages by `StageName`, first to last; those that are left out follow in their usual order.
        zones: where the grammar rules; None everywhere.
        budget: whether only tokens are taken after which the grammar can still end within the budget.
        static: a pattern of fixed length, such as `LOWER{5} NEWLINE`: one set for each position.
        pattern: a pattern, such as `UPPER+ ":" " " LOWER+ NEWLINE`.
        table: transitions.
        suppress: texts that are never written.
        suppress_ids: tokens that are never taken.
        bias: pairs of a text, or `#` and a token id, and what is added to the logits of the tokens that hold it.
        coalesce: how forced runs are decoded. No stage, for the model is not asked: a session itself takes one token at
            a time, and whoever steps it looks here (`Coalescer`, `generate`).
    """

    order: tuple[str, ...] = DEFAULT_ORDER
    zones: ZoneSettings | None = None
    budget: bool = False
    static: str = ""
    pattern: str = ""
    table: TableSettings | None = None
    suppress: tuple[str, ...] = ()
    suppress_ids: tuple[int, ...] = ()
    bias: tuple[tuple[str, float], ...] = ()
    coalesce: Strategy = Strategy.NONE

    def __post_init__(self) -> None:
        for name in self.order:
            if name not in DEFAULT_ORDER:
                raise InvariantError(f"there is no stage {name!r}; there are {', '.join(DEFAULT_ORDER)}")
            if self.order.count(name) > 1:
                raise InvariantError(f"the stage {name!r} stands twice in the order")
        if "" in self.suppress or any(not text for text, _ in self.bias):
            raise InvariantError("an empty text is in every token; say which text is meant")
        for text, value in self.bias:
            if not math.isfinite(value):
                raise InvariantError(
                    f"the bias of {text!r} is a finite number, not {value}; to remove tokens, suppress them"
                )

    def with_stages_of(self, other: PipelineSettings, stages: Iterable[StageName]) -> PipelineSettings:
        """Return these settings, but with what other settings say of some stages."""
        fields = [name for stage in stages for name in STAGE_FIELDS[stage]]
        return replace(self, **{name: getattr(other, name) for name in fields})

    def alone(self, stage: StageName) -> PipelineSettings:
        """Return settings with no other stage than this one, beside the grammar's mask."""
        return PipelineSettings().with_stages_of(self, (stage,))

    def says_of(self, stage: StageName) -> tuple[object, ...]:
        """Return what these settings say of a stage, to be compared."""
        return tuple(getattr(self, name) for name in STAGE_FIELDS[stage])

    @property
    def stages(self) -> tuple[StageName, ...]:
        """All stages in their order, those that are off included."""
        given = tuple(StageName(name) for name in self.order)
        return (*given, *(name for name in DEFAULT_ORDER if name not in given))


STAGE_FIELDS: Mapping[StageName, tuple[str, ...]] = {
    StageName.GRAMMAR: ("zones",),
    StageName.BUDGET: ("budget",),
    StageName.STATIC: ("static",),
    StageName.PATTERN: ("pattern",),
    StageName.TABLE: ("table",),
    StageName.SUPPRESS: ("suppress", "suppress_ids"),
    StageName.BIAS: ("bias",),
}
"""The fields of `PipelineSettings` that say what a stage does; the other stages are the sampler's."""
