"""Pipeline settings as stored in a document: the enabled stages, their parameters, and their order.

The settings are flat and consist of numbers, texts and tuples of them, so they pickle, go into a document unchanged and
have one field for each widget that shows them. The values of the sampler's stages are `SamplerSettings`; only their
position in the order is stored here.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cache
from typing import Any, Final

from engine.decoding.forced.strategies import OFF, STRATEGIES
from engine.decoding.stage import Field, Values
from engine.decoding.stages import STAGES, pipeline_stages, sampler_stages
from engine.decoding.values import SamplerSettings
from engine.source import InvariantError


class Afterwards(StrEnum):
    """The kinds of text that may follow a zone."""

    STOP = "stop"  # nothing: the output ends
    FREE = "free"  # any text to the end
    AGAIN = "again"  # any text, until the next trigger


@dataclass(frozen=True, slots=True)
class OtherZone:
    """A further zone of the output, with its own grammar or free text; its trigger decides when it begins.

    Attributes:
        notation: the notation of its grammar; empty for free text, in which no trigger counts.
        text: the grammar's source.
        after, after_token, until: as in `ZoneSettings`; one of the first two is required.
    """

    notation: str = ""
    text: str = ""
    after: str = ""
    after_token: str = ""
    until: str = ""

    def __post_init__(self) -> None:
        if not (self.after or self.after_token):
            raise InvariantError("errors.decoding.zones.no_trigger")
        if not self.notation and not self.until:
            raise InvariantError("errors.decoding.zones.no_end")
        if self.notation and not self.text:
            raise InvariantError("errors.decoding.zones.no_grammar")


@dataclass(frozen=True, slots=True)
class ZoneSettings:
    """The zones that the grammar constrains, if not the complete output; see `engine.decoding.constraints.zones`.

    Attributes:
        after: the text after which the zone begins; a special token with this name begins it too.
        after_token: the name of a token that begins the zone. With neither, the zone begins at once.
        until: a text that must follow what the grammar matches.
        then: what follows.
        required: whether an output without any zone is incomplete.
        others: further zones with their own grammars; `then` and `required` apply to them too.
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
                raise InvariantError("errors.decoding.zones.again")
            if self.others:
                raise InvariantError("errors.decoding.zones.others")
        zones: tuple[ZoneSettings | OtherZone, ...] = (self, *self.others)
        triggers = [trigger for zone in zones for trigger in {zone.after, zone.after_token} - {""}]
        if twice := next((trigger for trigger in triggers if triggers.count(trigger) > 1), None):
            raise InvariantError("errors.decoding.zones.same_trigger", trigger=repr(twice))
        texts = [zone.after for zone in zones if zone.after]
        for text in texts:
            if within := next((other for other in texts if other != text and other in text), None):
                raise InvariantError("errors.decoding.zones.hidden_trigger", text=repr(text), within=repr(within))


@dataclass(frozen=True, slots=True)
class TableSettings:
    """A token automaton as a list of transitions; see `engine.decoding.processors.DfaTable`.

    Attributes:
        transitions: triples of a state, a token id and the next state; states are numbered from 1.
        initial: the state before the first token.
    """

    transitions: tuple[tuple[int, int, int], ...]
    initial: int = 1


@dataclass(frozen=True, slots=True)
class PipelineSettings:
    r"""The stages between the model and the draw.

    A stage whose field has its default is off, except the grammar's, which is on if there is a grammar; zones and
    budget depend on the grammar and have no effect without one.

    Attributes:
        order: the stages by name, first to last; omitted ones follow in their default order, or are at their default
            places if the others are, the first one included.
        zones: the zones that the grammar constrains; None for the complete output.
        budget: whether to allow only tokens after which the grammar can end within the budget.
        static: a pattern of fixed length, such as `LOWER{5} NEWLINE`: one set for each position.
        pattern: a pattern, such as `UPPER+ ":" " " LOWER+ NEWLINE`.
        table: transitions of a token automaton.
        suppress: texts that are never written.
        suppress_ids: tokens that are never taken.
        bias: pairs of a text, or `#` and a token id, and the number to add to the logits of the tokens that contain it.
        forced: the name of the strategy that encodes forced runs. It is no stage, since the model is not queried: a
            session takes one token at a time, and its caller reads this field (`FastForward`, `generate`).
        others: the values of the fields of other stages, by name: of those that extensions declare.
    """

    order: tuple[str, ...] = field(default_factory=lambda: STAGES.names)
    zones: ZoneSettings | None = None
    budget: bool = False
    static: str = ""
    pattern: str = ""
    table: TableSettings | None = None
    suppress: tuple[str, ...] = ()
    suppress_ids: tuple[int, ...] = ()
    bias: tuple[tuple[str, float], ...] = ()
    forced: str = OFF
    others: Mapping[str, bool | int | float | str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in self.order:
            if name not in STAGES:
                raise InvariantError("errors.decoding.stages.unknown", name=repr(name), names=", ".join(STAGES.names))
            if self.order.count(name) > 1:
                raise InvariantError("errors.decoding.stages.twice_in_order", name=repr(name))
        if unknown := self.others.keys() - {name for one in _fields() for name in one.names}:
            raise InvariantError("errors.decoding.stages.unknown_field", name=repr(min(unknown)))
        for one in _fields():
            value = self.others.get(one.name, one.default)
            if one.type == "number" and not one.allows(value):
                bounds = {"least": one.least, "most": one.most}
                raise InvariantError("errors.decoding.stages.number", name=one.name, value=value, **bounds)
        if self.forced not in STRATEGIES:
            names = ", ".join(STRATEGIES.names)
            raise InvariantError("errors.decoding.unknown_strategy", name=repr(self.forced), names=names)
        if "" in self.suppress or any(not text for text, _ in self.bias):
            raise InvariantError("errors.decoding.empty_text")
        for text, value in self.bias:
            if not math.isfinite(value):
                raise InvariantError("errors.decoding.setting.bias", text=repr(text), value=value)

    def value(self, name: str) -> Any:
        """Return the value of a stage's field, of an extension's stage too."""
        if name in _OWN_FIELDS:
            return getattr(self, name)
        return self.others.get(name, next(one.default for one in _fields() if name in one.names))

    def with_values(self, values: Values) -> PipelineSettings:
        """Return these settings with other values of some fields; values that are the default are not stored."""
        own = {name: value for name, value in values.items() if name in _OWN_FIELDS}
        others = {**self.others, **{name: value for name, value in values.items() if name not in _OWN_FIELDS}}
        defaults = {one.name: one.default for one in _fields()}
        return replace(self, **own, others={name: one for name, one in others.items() if one != defaults.get(name)})

    def values_of(self, stage: str) -> dict[str, Any]:
        """Return the values of a stage's fields by name; none for a stage of the sampler."""
        return {} if STAGES[stage].is_sampler else {name: self.value(name) for name in STAGES[stage].field_names}

    def is_on(self, stage: str) -> bool:
        """Return whether a field of a stage has not its default."""
        return self.values_of(stage) != _defaults_of(STAGES.names).values_of(stage)

    def with_stages_of(self, other: PipelineSettings, stages: Iterable[str]) -> PipelineSettings:
        """Return these settings with some stages taken from other settings."""
        return self.with_values({name: value for stage in stages for name, value in other.values_of(stage).items()})

    def alone(self, stage: str) -> PipelineSettings:
        """Return settings with only this stage, beside the grammar's mask."""
        return PipelineSettings().with_stages_of(self, (stage,))

    @property
    def stages(self) -> tuple[str, ...]:
        """All stages in their order, including those that are off."""
        names = STAGES.names
        is_sorted = self.order == tuple(name for name in names if name in self.order)
        if is_sorted and self.order[:1] == names[:1]:  # of a document with fewer stages
            return names
        return (*self.order, *(name for name in names if name not in self.order))


_OWN_FIELDS: Final = frozenset(PipelineSettings.__slots__)


def _fields() -> tuple[Field, ...]:
    """Return the fields whose values are `PipelineSettings`."""
    return _fields_of(STAGES.names)


@cache
def _fields_of(_stages: tuple[str, ...]) -> tuple[Field, ...]:
    """Return the fields of all stages, whose names they are kept under: extensions add stages."""
    return tuple(one for stage in pipeline_stages() for one in stage.fields)


@cache
def _defaults_of(_stages: tuple[str, ...]) -> PipelineSettings:
    return PipelineSettings()


def applied_fields(settings: SamplerSettings) -> list[str]:
    """Return the names of the sampler's settings that apply; those of greedy sampling too are last."""
    applied = sampler_values(settings)
    stages = sorted(sampler_stages(), key=lambda stage: stage.applies_if_greedy)
    return [
        one.name
        for stage in stages
        if stage.name in applied
        for one in stage.fields
        if one is stage.fields[0] or getattr(settings, one.name) != one.default
    ]


def sampler_values(settings: SamplerSettings) -> dict[str, float]:
    """Return the first value of each of the sampler's stages that apply, by their names and in default order."""
    values: dict[str, float] = {}
    for stage in sampler_stages():
        first = stage.fields[0]
        value = getattr(settings, first.name)
        if value != first.default and (stage.applies_if_greedy or not settings.is_greedy):
            values[stage.name] = value
    return values
