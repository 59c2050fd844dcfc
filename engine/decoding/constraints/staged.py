"""A session's constraint and its stages, made from the settings of a pipeline.

What may come next is what the grammar and all the machines of the pipeline allow
together, so they step, go back and replay as one constraint; each keeps its mask
apart, for the order of the stages decides what is left of the logits on the way.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import Any

import numpy as np

from engine.compile import CompiledGrammar
from engine.decoding.constraints.constraint import Constraint, constraint_for
from engine.decoding.constraints.zone_grammars import ZoneGrammars
from engine.decoding.constraints.zones import ZonedAutomaton, ZonePart
from engine.decoding.errors import DeadEndError, EmptyMaskError
from engine.decoding.pipeline_settings import STAGE_FIELDS, PipelineSettings, StageName
from engine.decoding.processors import Bias, DfaTable, Masking, StaticMask, Suppress, compile_pattern, shapes
from engine.decoding.processors.budget import TokenBudget
from engine.decoding.processors.grammar_mask import expected_bytes
from engine.decoding.processors.logits import Allowed, padded
from engine.decoding.processors.mask_processor import ENDED, Ended, RowMachine
from engine.decoding.processors.pattern import fixed_sets
from engine.decoding.processors.shaping import Shape
from engine.decoding.values import BudgetState, SamplerSettings
from engine.matching import Matcher
from engine.matching.explanation import Explanation
from engine.source import EngineError
from engine.vocabulary import Vocabulary

States = tuple[Any, ...]
_TOKEN_MACHINES = (StageName.PATTERN, StageName.TABLE, StageName.STATIC)


class StagedConstraint:
    """The grammar, and the machines that stand beside it; see `Constraint`.

    Attributes:
        grammar: what the output must match, zones included; None for free generation.
    """

    def __init__(
        self, grammar: CompiledGrammar | None, vocabulary: Vocabulary, machines: Mapping[StageName, RowMachine[Any]]
    ) -> None:
        self.grammar = grammar
        self._vocabulary = vocabulary
        self._inner: Constraint = constraint_for(grammar, vocabulary)
        self._machines = dict(machines)
        self._states: list[States] = [tuple(machine.start() for machine in self._machines.values())]
        self._broken_at: int | None = None  # how many tokens were taken before one was forced
        self._masks: dict[StageName, Allowed] | None = None
        zones = self._zones()
        self._read = [None if zones is None else zones.read(None, zones.start, b"", zones.start)]

    # ------------------------------------------------------------------ where it stands

    @property
    def configuration(self) -> int:
        """The automaton's configuration; without a grammar the state of the first machine that has one."""
        if self.grammar is None:
            for name in _TOKEN_MACHINES:
                if isinstance(state := self._state(name), int):
                    return state
        return self._inner.configuration

    @property
    def is_accepting(self) -> bool:
        """Whether the text matches in full, for the grammar and for every machine."""
        if self._broken_at is not None:
            return False
        pairs = zip(self._machines.values(), self._states[-1], strict=True)
        return self._inner.is_accepting and all(state is ENDED or one.is_accepting(state) for one, state in pairs)

    @property
    def is_finished(self) -> bool:
        """Whether an EOS was taken."""
        return self._inner.is_finished

    @property
    def stops_itself(self) -> bool:
        """Whether a match says that a text without EOS may end."""
        return self._inner.stops_itself or any(machine.stops_itself for machine in self._machines.values())

    @property
    def parts(self) -> tuple[str, ...]:
        """With zones, what the output may be in the midst of.

        `free text`, `grammar`, `closing text`, `end`; of further zones, `zone 2` and so on.
        """
        automaton = self._zones()
        if automaton is None:
            return ()
        found = sorted({(place.part, place.zone) for place in automaton.places(self._inner.configuration)})
        return tuple(dict.fromkeys(_part_name(part, zone) for part, zone in found))

    @property
    def grammar_text(self) -> bytes | None:
        """With zones, what the grammar has read of the one that it rules here; None outside of them."""
        return self._read[-1] if self._broken_at is None else None

    def budget(self) -> BudgetState | None:
        """What the token budget leaves; None where it is not on, and after a token was forced."""
        machine, state = self._machines.get(StageName.BUDGET), self._state(StageName.BUDGET)
        if not isinstance(machine, TokenBudget) or isinstance(state, Ended) or self._broken_at is not None:
            return None
        return machine.report(state)

    # ------------------------------------------------------------------ what may come next

    def masks(self) -> Mapping[StageName, Allowed]:
        """The mask of every stage by itself, bool[V]."""
        if self._masks is None:
            self._masks = {StageName.GRAMMAR: self._inner.allowed()}
            if self._broken_at is None and not self.is_finished:
                for (name, machine), state in zip(self._machines.items(), self._states[-1], strict=True):
                    self._masks[name] = machine.allowed(state)
        return self._masks

    def allowed(self) -> Allowed:
        """What all of them allow, bool[V]."""
        return reduce(operator.and_, self.masks().values())

    def removed_by(self, token_id: int) -> tuple[StageName, str] | None:
        """The first stage beside the grammar that does not allow a token which the grammar does, and why."""
        masks = self.masks()
        if not (0 <= token_id < self._vocabulary.size and masks[StageName.GRAMMAR][token_id]):
            return None
        for name, state in zip(self._machines, self._states[-1], strict=True):
            if name in masks and not masks[name][token_id]:
                return name, "nothing may follow" if state is ENDED else self._machines[name].why_not(state, token_id)
        return None

    def dead_end(self) -> DeadEndError:
        """Why nothing may come next."""
        if not self._machines:
            return DeadEndError()
        left = np.ones(self._vocabulary.size, dtype=np.bool_)
        for name, own in self.masks().items():
            if not own.any():
                cause = self._machines[name].nothing_left if name in self._machines else RowMachine.nothing_left
                return EmptyMaskError(name, cause, self._expected(name))
            left &= own
            if not left.any():
                return EmptyMaskError(name, "other stages remove all that it allows", self._expected(name))
        return DeadEndError()

    def emptied(self, name: str) -> EmptyMaskError:
        """Why a stage leaves nothing of the logits, though there are tokens that every machine allows."""
        return EmptyMaskError(
            name, "stages before it ruled out all that it allows; it can stand before them", self._expected(name)
        )

    def _expected(self, name: str) -> str:
        if name == StageName.GRAMMAR and self.grammar is not None:
            return expected_bytes(self.grammar, self._inner.configuration)
        machine = self._machines.get(StageName(name))
        state = self._state(StageName(name))
        return "" if machine is None or isinstance(state, Ended) else machine.expected(state)

    def forced_bytes(self) -> bytes:
        """What every continuation begins with."""
        return self._inner.forced_bytes()

    def explain(self, token: int | bytes) -> Explanation:
        """Why the grammar does or does not allow a token; `removed_by` is about the other stages."""
        return self._inner.explain(token)

    def matcher(self) -> Matcher | None:
        """The grammar's matcher where it stands, to look ahead with; None without one, and after a token was forced."""
        return self._inner.matcher() if self._broken_at is None else None

    # ------------------------------------------------------------------ steps

    def accept(self, token_id: int) -> bool:
        """Take a token; False, and no change, where it is not allowed.

        A token that only the budget holds back is taken: the budget can be made smaller behind it.
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
        """Take a token that is not allowed: nothing is forbidden from there on, and nothing matches any more."""
        if self.is_finished or not self._inner.force(token_id):
            return False
        if self._broken_at is None:
            self._broken_at = len(self._states) - 1
        self._push(self._states[-1], None)
        return True

    def rollback(self, count: int) -> None:
        """Undo the last accepts, what was forced included."""
        self._inner.rollback(count)
        del self._states[len(self._states) - count :], self._read[len(self._read) - count :]
        if self._broken_at is not None and len(self._states) <= self._broken_at + 1:
            self._broken_at = None
        self._masks = None

    def _after(self, token_id: int) -> States | None:
        following = []
        for machine, state in zip(self._machines.values(), self._states[-1], strict=True):
            after = None if state is ENDED else machine.step(state, token_id)
            if after is None:
                return None
            following.append(after)
        return tuple(following)

    def _push(self, states: States, read: bytes | None) -> None:
        self._states.append(states)
        self._read.append(read)
        self._masks = None

    def _state(self, name: StageName) -> Any:
        return dict(zip(self._machines, self._states[-1], strict=True)).get(name)

    def _zones(self) -> ZonedAutomaton | None:
        automaton = None if self.grammar is None else self.grammar.automaton
        return automaton if isinstance(automaton, ZonedAutomaton) and self._broken_at is None else None


_PART_NAMES = {
    ZonePart.BEFORE: "free text",
    ZonePart.BETWEEN: "free text",
    ZonePart.GRAMMAR: "grammar",
    ZonePart.UNTIL: "closing text",
    ZonePart.OVER: "end",
}


def _part_name(part: ZonePart, zone: int) -> str:
    return f"zone {zone + 1}" if part is ZonePart.GRAMMAR and zone > 0 else _PART_NAMES[part]


class StagePlan:
    """What the settings of a pipeline come to for one vocabulary.

    Args:
        settings: which stages, and their order.
        vocabulary: whose tokens.

    Raises:
        InvariantError: the settings do not fit the vocabulary, or a pattern cannot be read.
        ZoneError: the grammar of a zone cannot be used.
    """

    def __init__(self, settings: PipelineSettings, vocabulary: Vocabulary) -> None:
        self.settings = settings
        self._vocabulary = vocabulary
        self._machines = _machines(settings, vocabulary)
        self._bias = Bias(vocabulary, dict(_biases(settings))) if settings.bias else None
        self._budget: tuple[CompiledGrammar, TokenBudget] | None = None
        self._zones = None if settings.zones is None else ZoneGrammars(settings.zones)
        self._zoned: tuple[CompiledGrammar, CompiledGrammar] | None = None

    def constraint(self, grammar: CompiledGrammar | None, tokens: int) -> StagedConstraint:
        """A fresh constraint at the start of a text.

        Args:
            grammar: what the output, or its zones, must match.
            tokens: the budget of the whole output.

        Raises:
            VocabularyError: a zone waits for a token that the vocabulary does not have.
        """
        whole = grammar if grammar is None else self._with_zones(grammar)
        machines = dict(self._machines)
        if whole is not None and self.settings.budget:
            machines[StageName.BUDGET] = self._budget_of(whole, tokens)
        ordered = {name: machines[name] for name in self.settings.stages if name in machines}
        return StagedConstraint(whole, self._vocabulary, ordered)

    def stages(
        self, constraint: StagedConstraint, width: int, history: Sequence[int], sampler: SamplerSettings
    ) -> Iterator[tuple[str, Shape]]:
        """The stages that are on here, in their order, each as a function of one row of logits, float64[width]."""
        masks, shaping = constraint.masks(), shapes(sampler, history)
        for name in self.settings.stages:
            if name in masks:
                yield name, Masking(padded(masks[name], width))
            elif name is StageName.BIAS and self._bias is not None:
                yield name, self._bias.shape
            elif name in shaping:
                yield name, shaping[name]

    def _with_zones(self, grammar: CompiledGrammar) -> CompiledGrammar:
        if self._zones is None:
            return grammar
        if self._zoned is None or self._zoned[0] is not grammar:
            self._zoned = grammar, self._zones.around(grammar, self._vocabulary)
        return self._zoned[1]

    def _budget_of(self, grammar: CompiledGrammar, tokens: int) -> TokenBudget:
        if self._budget is None or self._budget[0] is not grammar:
            suppress = self._machines.get(StageName.SUPPRESS)
            never = suppress.never if isinstance(suppress, Suppress) else None
            self._budget = grammar, TokenBudget(grammar, self._vocabulary, 0, never=never)
        return self._budget[1].with_tokens(max(0, tokens))


def unfit_stages(
    settings: PipelineSettings, grammar: CompiledGrammar | None, vocabulary: Vocabulary
) -> dict[StageName, EngineError]:
    """Try every stage of a pipeline by itself, and return the errors of those that a session cannot have.

    Args:
        settings: of the pipeline.
        grammar: that the session has.
        vocabulary: of the session's model.
    """
    found: dict[StageName, EngineError] = {}
    usual = PipelineSettings()
    for stage in STAGE_FIELDS:
        if settings.says_of(stage) != usual.says_of(stage):
            try:
                StagePlan(settings.alone(stage), vocabulary).constraint(grammar, 0)
            except EngineError as error:
                found[stage] = error
    return found


def _machines(settings: PipelineSettings, vocabulary: Vocabulary) -> dict[StageName, RowMachine[Any]]:
    found: dict[StageName, RowMachine[Any]] = {}
    if settings.static:
        found[StageName.STATIC] = StaticMask(vocabulary, fixed_sets(vocabulary, settings.static))
    if settings.pattern:
        found[StageName.PATTERN] = compile_pattern(vocabulary, settings.pattern)
    if settings.table is not None:
        found[StageName.TABLE] = DfaTable(settings.table.transitions, settings.table.initial, vocabulary=vocabulary)
    if settings.suppress or settings.suppress_ids:
        found[StageName.SUPPRESS] = Suppress(vocabulary, settings.suppress, settings.suppress_ids)
    return found


def _biases(settings: PipelineSettings) -> Iterator[tuple[int | str, float]]:
    for text, value in settings.bias:
        if text.startswith("#") and text[1:].isdecimal():
            yield int(text[1:]), value
        else:
            yield text, value
