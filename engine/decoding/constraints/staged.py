"""The constraint of a session and its pipeline stages, built from the pipeline's settings.

The grammar and all masking stages (`RowMachine`) together decide which tokens are allowed, so they step, roll back and
replay as one constraint. Each keeps a separate mask, because the order of the stages decides which logits reach each
stage.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from functools import reduce
from typing import Any

import numpy as np

from engine.compile import CompiledGrammar
from engine.decoding.constraints.constraint import Constraint, constraint_for
from engine.decoding.constraints.zones import ZonedAutomaton, ZoneGrammars, ZonePart
from engine.decoding.errors import DeadEndError, EmptyMaskError
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.processors import Masking, Suppress
from engine.decoding.processors.grammar_mask import TokenBudget, expected_bytes
from engine.decoding.processors.logits import Allowed, padded
from engine.decoding.processors.mask_processor import ENDED, Ended, RowMachine
from engine.decoding.processors.shaping import RunShape, SamplingRun, Shape
from engine.decoding.sampler import sampler_shapes
from engine.decoding.stages import STAGES
from engine.decoding.values import BudgetState, SamplerSettings
from engine.matching import Matcher
from engine.matching.explanation import Explanation
from engine.models.source import DrawSettings
from engine.source import EngineError
from engine.source.catalogue import catalogue_text
from engine.vocabulary import Vocabulary

States = tuple[Any, ...]
_TOKEN_MACHINES = ("pattern", "table", "static")
_DRAW_FIELDS = frozenset(DrawSettings.__dataclass_fields__)


class StagedConstraint:
    """The grammar and the masking stages beside it; see `Constraint`.

    Attributes:
        grammar: what the output must match, zones included; None for free generation.
    """

    def __init__(
        self, grammar: CompiledGrammar | None, vocabulary: Vocabulary, machines: Mapping[str, RowMachine[Any]]
    ) -> None:
        self.grammar = grammar
        self._vocabulary = vocabulary
        self._inner: Constraint = constraint_for(grammar, vocabulary)
        self._machines = dict(machines)
        self._states: list[States] = [tuple(machine.start() for machine in self._machines.values())]
        self._broken_at: int | None = None  # the number of tokens before the first forced one
        self._masks: dict[str, Allowed] | None = None
        zones = self._zones()
        self._read = [None if zones is None else zones.read(None, zones.start, b"", zones.start)]

    # ------------------------------------------------------------------ current state

    @property
    def configuration(self) -> int:
        """The automaton's configuration; without a grammar the state of the first machine with integer states."""
        if self.grammar is None:
            for name in _TOKEN_MACHINES:
                if isinstance(state := self._state(name), int):
                    return state
        return self._inner.configuration

    @property
    def is_accepting(self) -> bool:
        """True if the grammar and every machine accept the text."""
        if self._broken_at is not None:
            return False
        pairs = zip(self._machines.values(), self._states[-1], strict=True)
        return self._inner.is_accepting and all(
            state is ENDED or machine.is_accepting(state) for machine, state in pairs
        )

    @property
    def is_finished(self) -> bool:
        """True if an EOS token was accepted."""
        return self._inner.is_finished

    @property
    def stops_itself(self) -> bool:
        """True if a text without EOS may end where the constraint matches."""
        return self._inner.stops_itself or any(machine.stops_itself for machine in self._machines.values())

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of the output that the text may be in, if zones are set.

        `free text`, `grammar`, `closing text`, `end`; further zones are `zone 2` and so on.
        """
        automaton = self._zones()
        if automaton is None:
            return ()
        found = sorted({(state.part, state.zone) for state in automaton.zone_states(self._inner.configuration)})
        return tuple(dict.fromkeys(_part_name(part, zone) for part, zone in found))

    @property
    def zone(self) -> int | None:
        """The zone that the text is in, as in `Step`; None without zones."""
        automaton = self._zones()
        if automaton is None:
            return None
        return min((state.zone for state in automaton.zone_states(self._inner.configuration)), default=None)

    @property
    def grammar_text(self) -> bytes | None:
        """The bytes that the grammar has read in the current zone; None outside of zones."""
        return self._read[-1] if self._broken_at is None else None

    def budget(self) -> BudgetState | None:
        """Return the rest of the token budget; None if it is off or after a forced token."""
        machine, state = self._machines.get("budget"), self._state("budget")
        if not isinstance(machine, TokenBudget) or isinstance(state, Ended) or self._broken_at is not None:
            return None
        return machine.report(state)

    # ------------------------------------------------------------------ allowed tokens

    def masks(self) -> Mapping[str, Allowed]:
        """Return the mask of each stage, bool[V]."""
        if self._masks is None:
            self._masks = {"grammar": self._inner.allowed()}
            if self._broken_at is None and not self.is_finished:
                for (name, machine), state in zip(self._machines.items(), self._states[-1], strict=True):
                    self._masks[name] = machine.allowed(state)
        return self._masks

    def allowed(self) -> Allowed:
        """Return the tokens that all stages allow, bool[V]."""
        return reduce(operator.and_, self.masks().values())

    def removed_by(self, token_id: int) -> tuple[str, str] | None:
        """Return the first stage that removes a token which the grammar allows, and its reason."""
        masks = self.masks()
        if not (0 <= token_id < self._vocabulary.size and masks["grammar"][token_id]):
            return None
        for name, state in zip(self._machines, self._states[-1], strict=True):
            if name in masks and not masks[name][token_id]:
                machine = self._machines[name]
                why = (
                    catalogue_text("decoding.expected.nothing") if state is ENDED else machine.why_not(state, token_id)
                )
                return name, why
        return None

    def dead_end(self) -> DeadEndError:
        """Build the error that explains why no token is allowed."""
        if not self._machines:
            return DeadEndError()
        remaining = np.ones(self._vocabulary.size, dtype=np.bool_)
        for name, mask in self.masks().items():
            if not mask.any():
                machine = self._machines.get(name)
                cause = machine.nothing_left if machine else catalogue_text("decoding.empty.no_token")
                return EmptyMaskError(name, cause, self._expected(name))
            remaining &= mask
            if not remaining.any():
                return EmptyMaskError(name, catalogue_text("decoding.empty.removed_by_others"), self._expected(name))
        return DeadEndError()

    def emptied(self, name: str) -> EmptyMaskError:
        """Build the error for a stage that removes all remaining logits although some token passes every mask."""
        return EmptyMaskError(name, catalogue_text("decoding.empty.removed_before"), self._expected(name))

    def _expected(self, name: str) -> str:
        if name == "grammar" and self.grammar is not None:
            return expected_bytes(self.grammar, self._inner.configuration)
        machine = self._machines.get(name)
        state = self._state(name)
        return "" if machine is None or isinstance(state, Ended) else machine.expected(state)

    def forced_bytes(self) -> bytes:
        """Return the bytes that every continuation begins with."""
        return self._inner.forced_bytes()

    def explain(self, token: int | bytes) -> Explanation:
        """Explain why the grammar does or does not allow a token; `removed_by` covers the other stages."""
        return self._inner.explain(token)

    def matcher(self) -> Matcher | None:
        """Return the grammar's matcher for look-ahead; None without a grammar or after a forced token."""
        return self._inner.matcher() if self._broken_at is None else None

    # ------------------------------------------------------------------ steps

    def accept(self, token_id: int) -> bool:
        """Accept a token; return False and change nothing if it is not allowed.

        A token that only the budget masks is accepted, since the budget can be lowered later.
        """
        following = self._states[-1] if self._broken_at is not None else self._after(token_id)
        zones, before = self._zones(), self._inner.configuration
        if following is None or not self._inner.accept(token_id):
            return False
        read = self._read[-1]
        if zones is not None and not self.is_finished:
            read = zones.read(read, before, self._vocabulary.tokens[token_id] or b"", self._inner.configuration)
        self._push(following, read)
        return True

    def force(self, token_id: int) -> bool:
        """Take a token that is not allowed; afterwards every token is allowed and nothing matches."""
        if self.is_finished or not self._inner.force(token_id):
            return False
        if self._broken_at is None:
            self._broken_at = len(self._states) - 1
        self._push(self._states[-1], None)
        return True

    def rollback(self, count: int) -> None:
        """Undo the last `count` accepted or forced tokens."""
        self._inner.rollback(count)
        del self._states[len(self._states) - count :], self._read[len(self._read) - count :]
        if self._broken_at is not None and len(self._states) <= self._broken_at + 1:
            self._broken_at = None
        self._masks = None

    def _after(self, token_id: int) -> States | None:
        following = []
        for machine, state in zip(self._machines.values(), self._states[-1], strict=True):
            next_state = None if state is ENDED else machine.step(state, token_id)
            if next_state is None:
                return None
            following.append(next_state)
        return tuple(following)

    def _push(self, states: States, read: bytes | None) -> None:
        self._states.append(states)
        self._read.append(read)
        self._masks = None

    def _state(self, name: str) -> Any:
        return dict(zip(self._machines, self._states[-1], strict=True)).get(name)

    def _zones(self) -> ZonedAutomaton | None:
        automaton = None if self.grammar is None else self.grammar.automaton
        return automaton if isinstance(automaton, ZonedAutomaton) and self._broken_at is None else None


_PART_NAMES = {
    ZonePart.BEFORE: "free",
    ZonePart.BETWEEN: "free",
    ZonePart.GRAMMAR: "grammar",
    ZonePart.UNTIL: "until",
    ZonePart.OVER: "over",
}


def _part_name(part: ZonePart, zone: int) -> str:
    if part is ZonePart.GRAMMAR and zone > 0:
        return catalogue_text("decoding.part.zone", number=zone + 1)
    return catalogue_text(f"decoding.part.{_PART_NAMES[part]}")


class StagePlan:
    """The stages that a pipeline's settings define for one vocabulary.

    Args:
        settings: the enabled stages and their order.
        vocabulary: the vocabulary that the masks index.

    Raises:
        InvariantError: the settings do not fit the vocabulary, or a pattern cannot be parsed.
        ZoneError: the grammar of a zone cannot be used.
    """

    def __init__(self, settings: PipelineSettings, vocabulary: Vocabulary) -> None:
        self.settings = settings
        self._vocabulary = vocabulary
        self._machines = _machines(settings, vocabulary)
        self._shapes = _shapes(settings, vocabulary)
        self._budget: tuple[CompiledGrammar, TokenBudget] | None = None
        self._zones = None if settings.zones is None else ZoneGrammars(settings.zones)
        self._zoned: tuple[CompiledGrammar, CompiledGrammar] | None = None

    def constraint(self, grammar: CompiledGrammar | None, tokens: int) -> StagedConstraint:
        """Create a constraint at the start of a text.

        Args:
            grammar: what the output, or its zones, must match.
            tokens: the budget of the complete output, in tokens.

        Raises:
            VocabularyError: a zone waits for a token that the vocabulary does not have.
        """
        language = grammar if grammar is None else self._with_zones(grammar)
        machines = dict(self._machines)
        if language is not None and self.settings.budget:
            machines["budget"] = self._budget_of(language, tokens)
        ordered = {name: machines[name] for name in self.settings.stages if name in machines}
        return StagedConstraint(language, self._vocabulary, ordered)

    def stages(
        self, constraint: StagedConstraint, width: int, sampler: SamplerSettings, run: SamplingRun
    ) -> Iterator[tuple[str, Shape]]:
        """Yield the enabled stages in order, each as a function of a row of logits and the tokens so far.

        Args:
            constraint: the constraint whose masks apply.
            width: the number of logits in a row; a row is float64[width].
            sampler: the settings of the sampler's stages.
            run: what stages may depend on beside the logits.

        Yields:
            The stage's name and its function.
        """
        masks, shapes = constraint.masks(), self._shapes | sampler_shapes(sampler)
        for name in self.settings.stages:
            if name in masks:
                yield name, Masking(padded(masks[name], width))
            elif (shape := shapes.get(name)) is not None:
                yield name, shape.of_run(run) if isinstance(shape, RunShape) else shape

    def first_beyond_source(self, constraint: StagedConstraint, sampler: SamplerSettings) -> str:
        """Return the first enabled stage that a source which draws itself cannot apply; empty if there is none.

        A source applies the mask of all stages first, and then the filters of `DrawSettings` in their default order.

        Args:
            constraint: the constraint whose masks apply.
            sampler: the settings of the sampler's stages.
        """
        masks, shapes, last = constraint.masks(), self._shapes | sampler_shapes(sampler), -1
        for name in self.settings.stages:
            if name in masks:
                if last >= 0:
                    return name
            elif name in shapes:
                at, is_known = STAGES.names.index(name), _DRAW_FIELDS.issuperset(STAGES[name].field_names)
                if not is_known or at < last:
                    return name
                last = at
        return ""

    def _with_zones(self, grammar: CompiledGrammar) -> CompiledGrammar:
        if self._zones is None:
            return grammar
        if self._zoned is None or self._zoned[0] is not grammar:
            self._zoned = grammar, self._zones.around(grammar, self._vocabulary)
        return self._zoned[1]

    def _budget_of(self, grammar: CompiledGrammar, tokens: int) -> TokenBudget:
        if self._budget is None or self._budget[0] is not grammar:
            suppress = self._machines.get("suppress")
            never = suppress.never if isinstance(suppress, Suppress) else None
            self._budget = grammar, TokenBudget(grammar, self._vocabulary, 0, never=never)
        return self._budget[1].with_tokens(max(0, tokens))


def unfit_stages(
    settings: PipelineSettings, grammar: CompiledGrammar | None, vocabulary: Vocabulary
) -> dict[str, EngineError]:
    """Try each stage of a pipeline separately and return the errors of those that a session cannot use.

    Args:
        settings: the pipeline's settings.
        grammar: the grammar of the session.
        vocabulary: the vocabulary of the session's model.
    """
    errors: dict[str, EngineError] = {}
    for stage in STAGES.names:
        if settings.is_on(stage):
            try:
                StagePlan(settings.alone(stage), vocabulary).constraint(grammar, 0)
            except EngineError as error:
                errors[stage] = error
    return errors


def _machines(settings: PipelineSettings, vocabulary: Vocabulary) -> dict[str, RowMachine[Any]]:
    return {
        stage.name: stage.machine(settings.values_of(stage.name), vocabulary)
        for stage in STAGES
        if stage.machine is not None and settings.is_on(stage.name)
    }


def _shapes(settings: PipelineSettings, vocabulary: Vocabulary) -> dict[str, Shape]:
    return {
        stage.name: stage.shape(settings.values_of(stage.name), vocabulary)
        for stage in STAGES
        if stage.shape is not None and settings.is_on(stage.name)
    }
