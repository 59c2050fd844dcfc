"""A decode session: a model stepped through a grammar, as a tree of decisions.

The session owns the current position; it queries the model, the matcher and the sampler. Going back, branching and
editing the grammar never repeat a model query: the logits of the last positions are cached by node of the tree.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engine.compile import CompiledGrammar
from engine.decoding import candidates
from engine.decoding.answer import Answer, priced, weighed
from engine.decoding.constraints.staged import StagePlan
from engine.decoding.errors import (
    DeadEndError,
    EmptyMaskError,
    FinishedError,
    NotAllowedError,
    RemovedError,
    UnknownDrawError,
)
from engine.decoding.first_bytes import count_first_bytes
from engine.decoding.partial import SplitDraw, decide_answer, sure_draw
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.processors.shaping import SamplingRun
from engine.decoding.sampler import Decision
from engine.decoding.session.replay import KnownAnswers, put_under, walk
from engine.decoding.session.snapshots import (
    broken_at,
    output_of,
    position_at,
    queried_step,
    remembered_at,
    unqueried_step,
)
from engine.decoding.session.tree import StepTree
from engine.decoding.values import (
    DEFAULT_MAX_TOKENS,
    Bounds,
    Candidate,
    Chat,
    ContextState,
    Finish,
    Position,
    Replay,
    SamplerSettings,
    Step,
    StepOrigin,
    StopRule,
    TokenStage,
    Trace,
)
from engine.masking.bitmask import unpack_mask
from engine.matching import Matcher
from engine.matching.explanation import Explanation
from engine.models import LogitSource, ModelError
from engine.models.source import DrawSettings, DrawsTokens, GivesLogProbabilities, PricesTokens, WeighsMasks
from engine.source import EngineError, InvariantError
from engine.source.lru import LruCache

KEPT_LOGITS = 64
KEPT_POSITIONS = 256
MOST_AROUND = 2_000
"""The number of tokens that are asked for to decide a draw, before all allowed ones are."""


@dataclass(frozen=True, slots=True)
class SavePoint:
    """The state of a session that `DecodeSession.undo_to` returns to.

    Attributes:
        trace: the tree of steps.
        resume: the user's depth before a grammar cut the path short.
    """

    trace: Trace
    resume: int


class DecodeSession:
    """A model stepped through a grammar: steps, back, branches; not thread-safe.

    Args:
        grammar: what the output must match; None for free generation.
        model: the logit source.
        prompt: text, or a chat for a model with a template. The grammar starts after it.
        sampler: how a token is drawn.
        max_tokens: the limit of the output, in tokens; the model's context may end it sooner.
        stop_at: where to stop if the vocabulary has no EOS.
        kept_logits: the number of positions whose full model answer is cached.
        pipeline: the stages between the model and the draw, and their order.

    Raises:
        ModelError: the prompt cannot be encoded.
        InvariantError: the pipeline's settings do not fit the vocabulary.
    """

    def __init__(
        self,
        grammar: CompiledGrammar | None,
        model: LogitSource,
        *,
        prompt: str | Chat = "",
        sampler: SamplerSettings = SamplerSettings(),  # noqa: B008 - frozen
        max_tokens: int = DEFAULT_MAX_TOKENS,
        stop_at: StopRule | str = StopRule.MAXIMAL,
        kept_logits: int = KEPT_LOGITS,
        pipeline: PipelineSettings = PipelineSettings(),  # noqa: B008 - frozen
    ) -> None:
        self._model = model
        self._vocabulary = model.vocabulary
        self._stop_at = StopRule(stop_at)
        self._sampler = sampler
        self._model_context = ModelContext(model, prompt, kept_logits)
        self._positions: LruCache[int | None, Position] = LruCache(KEPT_POSITIONS)
        self._decision: tuple[int | None, Decision] | None = None
        self._tree = StepTree()
        self._resume = 0  # the user's depth before a grammar cut the path short
        self._grammar = grammar
        self._max_tokens = max_tokens
        self._plan = StagePlan(pipeline, self._vocabulary)
        self._constraint = self._plan.constraint(grammar, self._model_context.token_limit(self._max_tokens))
        self.set_max_tokens(max_tokens)

    # The current state.

    @property
    def grammar(self) -> CompiledGrammar | None:
        """What the output must match."""
        return self._grammar

    @property
    def model(self) -> LogitSource:
        """The logit source."""
        return self._model

    @property
    def prompt(self) -> str | Chat:
        """The prompt: a text or a chat."""
        return self._model_context.prompt

    @property
    def prompt_ids(self) -> tuple[int, ...]:
        """The ids that the model reads before the first step."""
        return self._model_context.prompt_ids

    @property
    def sampler(self) -> SamplerSettings:
        """How a token is drawn."""
        return self._sampler

    @property
    def pipeline(self) -> PipelineSettings:
        """The stages between the model and the draw, and their order."""
        return self._plan.settings

    @property
    def language(self) -> CompiledGrammar | None:
        """What the complete output must match: the grammar with its zones; None for free generation."""
        return self._constraint.grammar

    @property
    def grammar_text(self) -> bytes | None:
        """The bytes that the grammar has read: the output, or the current zone's part; None outside of zones."""
        return self.output if self.pipeline.zones is None else self._constraint.grammar_text

    def matcher(self) -> Matcher | None:
        """Return a matcher of `language` at the end of the output, for look-ahead.

        It is None without a grammar, and after a token was forced against it.
        """
        return self._constraint.matcher()

    @property
    def is_accepting(self) -> bool:
        """True if the output is a complete match."""
        return self._constraint.is_accepting

    @property
    def max_tokens(self) -> int:
        """The limit of the output, in tokens."""
        return self._max_tokens

    @property
    def token_limit(self) -> int:
        """The limit of the complete output in tokens: `max_tokens`, or fewer if the model's context ends sooner."""
        return self._model_context.token_limit(self._max_tokens)

    @property
    def trace(self) -> Trace:
        """The tree of steps."""
        return self._tree.trace()

    @property
    def steps(self) -> tuple[Step, ...]:
        """The steps from the start to the current one."""
        return self._tree.taken()

    @property
    def output(self) -> bytes:
        """The bytes generated so far; EOS and special tokens have none."""
        return output_of(self._tree, self._vocabulary)

    @property
    def text(self) -> str:
        """The output as text, with U+FFFD where it is not UTF-8."""
        return self.output.decode("utf-8", errors="replace")

    @property
    def finish(self) -> Finish | None:
        """The reason why the generation is over, or None. It does not query the model."""
        constraint = self._constraint
        if constraint.is_finished:
            return Finish.STOP
        stops = constraint.stops_itself and constraint.is_accepting and not self._vocabulary.eos_ids
        if stops and self._stop_at is StopRule.FIRST:
            return Finish.STOP
        if not constraint.allowed().any():
            return Finish.STOP if constraint.is_accepting else Finish.DEAD_END
        if self._tree.depth >= self._max_tokens:
            return Finish.LENGTH
        return Finish.CONTEXT if self._model_context.is_full(self._tree.depth) else None

    @property
    def broken_at(self) -> int | None:
        """The index of the first taken step that the grammar does not allow, or None."""
        return broken_at(self._tree)

    def position(self) -> Position:
        """Return the position before the next decision; query the model if needed."""
        return self._positions.get(self._tree.current, self._look)

    def remembered(self) -> Position | None:
        """Return the position from what a step stored, if `position` would have to query the model.

        None if the full answer is cached, if the model is not queried here, or if no step from here stored anything
        that is still valid.
        """
        at, finish = self._tree.current, self.finish
        if at in self._positions or self._model_context.knows(at) or not self._asks_model(finish):
            return None
        took = (node.step for node in self._tree.children(at) if node.id not in self._tree.illegal)
        taken = next((step for step in took if step.kept is not None), None)
        if taken is None:
            return None
        found = remembered_at(self._constraint, self._tree, self._vocabulary, taken, finish)
        return None if found is None else self._complete(found, None)

    def explain(self, token: int | bytes) -> Explanation:
        """Explain why the grammar does or does not allow a token here; `removed_by` covers the other stages."""
        return self._constraint.explain(token)

    def last_rank(self) -> Bounds | None:
        """Return the rank of the last step's token among the model's, right after the step.

        Where the source returned a part of its distribution without the token, it is within bounds.

        Returns:
            The rank; None if the model was not queried for the step.
        """
        depth, path = self._tree.depth, self._tree.path
        before = path[depth - 2] if depth > 1 else None
        if not depth or self._decision is None or self._decision[0] != before:
            return None
        decision, ids = self._decision[1], np.array([self._tree.node(path[depth - 1]).step.token_id])
        rank = candidates.rows(decision, ids, self._vocabulary)[0].rank
        if rank is None:
            listed = 0 if decision.unknown is None else decision.unknown.listed
            return Bounds(listed + 1, self._vocabulary.size)
        return Bounds(rank, rank)

    def removed_by(self, token_id: int) -> tuple[str, str] | None:
        """Return the first stage that removes a token which the grammar allows, and its reason, or None."""
        return self._constraint.removed_by(token_id)

    def dead_end(self) -> DeadEndError:
        """Build the error of a dead end: which stage leaves nothing, and what it expects."""
        return self._constraint.dead_end()

    def emptied(self, stage: str) -> EmptyMaskError:
        """Build the error for a stage that leaves no token to draw although the masks allow some."""
        return self._constraint.emptied(stage)

    def lookup(self, text: str) -> tuple[Candidate, ...]:
        """Find tokens by id (`#123`), exact bytes (`"…"`) or a part, and return them with their numbers here.

        A source that returns a part of its distribution is asked for those that are unknown, if it can be.
        """
        asks = self._asks_model(self.finish)
        decision = self._decide() if asks else self._weigh(Answer(np.full(self._vocabulary.size, -np.inf)))
        found = candidates.find(text, self._vocabulary, decision.logits)
        if asks and self._price(found):
            decision = self._decide()
        return candidates.rows(decision, found, self._vocabulary)

    def candidate(self, token_id: int) -> Candidate | None:
        """Return a token with its numbers here; None if the model is not queried here.

        Args:
            token_id: an id of the vocabulary.
        """
        if not self._asks_model(self.finish):
            return None
        ids = np.array([token_id], dtype=np.int64)
        decision = self._decide()
        if decision.unknown is not None and self._price(ids):
            decision = self._decide()
        return candidates.rows(decision, ids, self._vocabulary)[0]

    def token_stages(self, token_id: int) -> tuple[TokenStage, ...]:
        """Return a token's logit, probability and rank after each stage here; empty if the model is not queried.

        Args:
            token_id: an id of the vocabulary.
        """
        if not self._asks_model(self.finish):
            return ()
        decision = self._decide_to_show()
        if decision.unknown is not None and self._price(np.array([token_id], dtype=np.int64)):
            decision = self._decide_to_show()
        return candidates.token_stages(decision, token_id)

    def preferred(self, ids: Collection[int], most: int) -> tuple[Candidate, ...]:
        """Return the candidates of some ids of the vocabulary, those that the model prefers, at most `most`."""
        asks = self._asks_model(self.finish)
        decision = self._decide() if asks else self._weigh(Answer(np.full(self._vocabulary.size, -np.inf)))
        by_rank = candidates.by_rank(np.array(sorted(ids), np.int64), decision.logits)
        return candidates.rows(decision, by_rank[:most], self._vocabulary)

    @property
    def next_recorded(self) -> Step | None:
        """The next step of the shown path, if it is one of a log; None otherwise."""
        if self._tree.depth >= len(self._tree.path):
            return None
        step = self._tree.node(self._tree.path[self._tree.depth]).step
        return step if step.recorded is not None or step.origin is StepOrigin.RECORDED else None

    def probabilities(self) -> NDArray[np.floating] | None:
        """Return the model's probability of each token before the mask, float[W], NaN where unknown.

        None if the model is not queried here.
        """
        return self._decide().p if self._asks_model(self.finish) else None

    # The user's actions.

    def step(self) -> Step:
        """Draw a token and take it.

        Raises:
            DeadEndError: the text is not complete and nothing may follow.
            EmptyMaskError: a stage leaves none of the tokens that the others left; the user can still choose one.
            FinishedError: the generation is over.
            UnknownDrawError: the draw depends on probabilities that the source does not return, and the source cannot
                draw either; the user can still choose a token.
        """
        self._refuse_if_over()
        decision = self._decide()
        if decision.emptied_by:
            raise self._constraint.emptied(decision.emptied_by)
        drawn = self._draw(decision)
        if drawn is None:
            decision, drawn = self._draw_near_split(decision)
        if drawn is None:
            decision = self._with_all_allowed(decision)
            drawn = self._draw(decision)
        self._decision = self._tree.current, decision
        if drawn is None:
            return self._commit(decision, self._draw_by_source(decision), StepOrigin.SOURCE)
        return self._commit(decision, drawn, StepOrigin.SAMPLER)

    def take(self, token_id: int) -> Step:
        """Take a token of the user's choice.

        Raises:
            NotAllowedError: the grammar does not allow it.
            RemovedError: another stage does not allow it.
            DeadEndError, FinishedError: as `step`.
        """
        self._refuse_if_over()
        if removed := self._constraint.removed_by(token_id):
            raise RemovedError(*removed)
        if not (0 <= token_id < self._vocabulary.size and self._constraint.allowed()[token_id]):
            raise NotAllowedError(self._constraint.explain(token_id))
        return self._commit(self._decide(), token_id, StepOrigin.USER)

    def follow_record(self) -> Step | None:
        """Take the next token of a log, also if the grammar does not allow it; None if there is none.

        Raises:
            FinishedError: the generation is over.
        """
        step = self.next_recorded
        if step is None:
            return None
        try:
            return self.take(step.token_id)
        except (NotAllowedError, RemovedError, DeadEndError):
            return self.force(step.token_id)

    def force(self, token_id: int) -> Step:
        """Take a token even if the grammar does not allow it.

        The step is marked as illegal, and the grammar has no effect after it: every token is allowed, nothing matches,
        and an EOS or the token limit ends the generation. Going back undoes it.

        Raises:
            NotAllowedError: there is no such token.
            FinishedError: the generation is over.
        """
        finish = self.finish
        if finish not in (None, Finish.DEAD_END):
            raise FinishedError(finish)
        if not 0 <= token_id < self._vocabulary.size:
            raise NotAllowedError(self._constraint.explain(token_id))
        if self._constraint.allowed()[token_id]:
            return self.take(token_id)
        return self._commit(self._decide(), token_id, StepOrigin.FORCED_BY_USER)

    def append(self, token_ids: Sequence[int]) -> tuple[Step, ...]:
        """Take tokens of a forced run, which are known without the model; see `engine.decoding.forced`.

        The model is not queried: these steps are `FAST_FORWARDED`. If the model had already answered at a step (the
        user looked at it, or a token was sampled and taken back), the step has the time of that answer, since no call
        was saved.

        Returns:
            The steps taken, as far as every stage allows the tokens and the generation is not over.
        """
        steps = list[Step]()
        for token_id in token_ids:
            allowed = self._constraint.allowed()
            if self.finish is not None or not (0 <= token_id < allowed.shape[0] and allowed[token_id]):
                break
            at, count, zone = self._tree.current, int(np.count_nonzero(allowed)), self._constraint.zone
            self._constraint.accept(token_id)
            configuration = self._constraint.configuration
            step = unqueried_step(
                self._vocabulary, token_id, count, configuration, StepOrigin.FAST_FORWARDED, forced=count == 1
            )
            if zone is not None:
                step = replace(step, zone=zone)
            if self._model_context.knows(at):
                looked = self._positions.peek(at)
                step = replace(step, logits_ms=looked.logits_ms if looked is not None else 0.0)
            self._tree.push(step)
            steps.append(step)
        self._resume = self._tree.depth
        return tuple(steps)

    def back(self) -> bool:
        """Undo the last step; return False at the start. The undone step stays in the trace."""
        if self._tree.depth == 0:
            return False
        self._constraint.rollback(1)
        self._tree.move_to_depth(self._tree.depth - 1)
        self._resume = self._tree.depth
        return True

    def save_point(self) -> SavePoint:
        """Return what `undo_to` needs to undo steps without leaving them in the trace."""
        return SavePoint(self._tree.trace(), self._resume)

    def undo_to(self, saved: SavePoint) -> None:
        """Undo all steps since a save point. Unlike `back`, leave none of them in the trace.

        The model's answer at the save point is cached, so the next `step` draws the same token again.

        Args:
            saved: a save point of this session; since then, tokens were only taken and taken back.
        """
        before = saved.trace
        walk(self._constraint, self._tree, () if before.current is None else self._tree.line_to(before.current))
        for dropped in range(len(before.nodes), len(self._tree)):
            self._positions.discard(dropped)
            self._model_context.discard(dropped)
            if self._decision is not None and self._decision[0] == dropped:
                self._decision = None
        self._tree.return_to(before)
        self._resume = saved.resume

    def restart(self) -> None:
        """Go to the start; the steps stay in the trace."""
        self.go_to(None)

    def go_to(self, node_id: int | None) -> None:
        """Move to the state after a step of the trace, on any branch; None is the start.

        Raises:
            NotAllowedError: the current grammar does not allow the path there; nothing changes.
            InvariantError: there is no such step.
        """
        line = () if node_id is None else self._tree.line_to(node_id)
        walk(self._constraint, self._tree, line)
        self._tree.go_to(node_id)
        self._resume = self._tree.depth

    def replace_grammar(self, grammar: CompiledGrammar | None) -> Replay:
        """Continue with another grammar; the longest legal prefix of the path stays. The model is not queried.

        Steps that the grammar does not allow stay in the trace and are marked; if a later grammar allows them again
        before anything else is done, the session returns to its old depth.

        Raises:
            LimitExceededError: the replay exceeded a limit; nothing changes.
        """
        return self._replay(grammar, self._tree, max(self._resume, self._tree.depth), self._model_context.peek)

    def restore(self, trace: Trace) -> int:
        """Replace this session's trace by a saved one, and return to its current step.

        The model is not queried: the steps keep their numbers and origins. Those that the grammar does not allow are
        marked, as after `replace_grammar`.

        Returns:
            The number of steps left out because their ids have another token in this vocabulary.

        Raises:
            LimitExceededError: the replay exceeded a limit; nothing changes.
        """
        tree = StepTree.grown_from(trace, self._is_of_this_vocabulary)
        self._replay(self._grammar, tree, tree.depth, lambda _node: None)
        self._model_context.clear_cache()
        return len(trace.nodes) - len(tree)

    def set_sampler(self, settings: SamplerSettings) -> None:
        """Change the sampler's settings; steps taken stay."""
        if settings != self._sampler:
            self._sampler = settings
            self._clear_positions()

    def set_max_tokens(self, max_tokens: int) -> None:
        """Change the token limit; steps beyond a smaller one stay."""
        if max_tokens < 0:
            raise InvariantError("errors.decoding.setting.budget", count=max_tokens)
        self._max_tokens = max_tokens
        self._budget_changed()

    def set_pipeline(self, settings: PipelineSettings) -> Replay:
        """Continue with other stages, or in another order; the longest legal prefix of the path stays.

        Raises:
            InvariantError: the settings do not fit the vocabulary; nothing changes.
            VocabularyError: a zone waits for a token that the vocabulary does not have; nothing changes.
        """
        before, self._plan = self._plan, StagePlan(settings, self._vocabulary)
        try:
            return self.replace_grammar(self._grammar)
        except EngineError:
            self._plan = before
            raise

    def set_prompt(self, prompt: str | Chat) -> Trace:
        """Start over with another prompt; return the old trace, to keep as an archived branch.

        Raises:
            ModelError: the prompt cannot be encoded; nothing changes.
        """
        self._model_context.set_prompt(prompt)
        old = self._tree.trace()
        self._constraint.rollback(self._tree.depth)
        self._tree = StepTree()
        self._resume = 0
        self._budget_changed()
        return old

    # Implementation.

    def _replay(self, grammar: CompiledGrammar | None, tree: StepTree, depth: int, known: KnownAnswers) -> Replay:
        constraint = self._plan.constraint(grammar, self._model_context.token_limit(self._max_tokens))
        found = put_under(constraint, tree, depth, known)
        self._grammar, self._constraint, self._tree, self._resume = grammar, constraint, tree, depth
        self._clear_positions()
        return found

    def _is_of_this_vocabulary(self, step: Step) -> bool:
        vocabulary, token_id = self._vocabulary, step.token_id
        return (
            0 <= token_id < vocabulary.size
            and candidates.token_bytes(vocabulary, token_id) == step.token
            and vocabulary.special.get(token_id, "") == step.name
        )

    def _asks_model(self, finish: Finish | None) -> bool:
        return finish is not Finish.STOP and not self._model_context.is_full(self._tree.depth)

    def _refuse_if_over(self) -> None:
        finish = self.finish
        if finish is Finish.DEAD_END:
            raise self._constraint.dead_end()
        if finish is not None:
            raise FinishedError(finish)

    def _budget_changed(self) -> None:
        if self._plan.settings.budget:
            self._replay(self._grammar, self._tree, self._tree.depth, self._model_context.peek)
        self._clear_positions()

    def _clear_positions(self) -> None:
        self._positions.clear()
        self._decision = None

    def _decide(self) -> Decision:
        """Return the distributions at the current node; the last ones are cached, since a step follows a look.

        If the source returns a part of its distribution from which Z does not follow, it is asked for the best tokens
        under the mask and their mass, and else for all allowed tokens; not if they are more than one request may name.
        """
        at = self._tree.current
        if self._decision is None or self._decision[0] != at:
            context = self._model_context
            decision = self._weigh(context.answer(self._tree))
            if decision.z is None and context.weighs_masks:
                decision = self._weigh(context.weigh(self._tree, self._constraint.allowed()))
            if decision.z is None or not context.weighs_masks:
                decision = self._with_all_allowed(decision)
            self._decision = at, decision
        return self._decision[1]

    def _decide_to_show(self) -> Decision:
        """Return the distributions at the current node, with the probabilities of a draw if they can be asked for."""
        decision = self._decide()
        if decision.unknown is None:
            return decision
        shown = decision.p_sampled[decision.masked > -np.inf]  # NaN is not above
        if not shown.shape[0] or np.isnan(shown).any():
            decision = self._with_all_allowed(decision)
            self._decision = self._tree.current, decision
        return decision

    def _with_all_allowed(self, decision: Decision) -> Decision:
        """Return the distributions with all allowed tokens known, if one request may name the unknown ones."""
        allowed = np.flatnonzero(self._constraint.allowed())
        unknown = self._model_context.answer(self._tree).unknown_of(allowed)
        if not 0 < unknown.shape[0] <= self._model_context.most_priced:
            return decision
        return self._weigh(self._model_context.price(self._tree, unknown))

    def _price(self, ids: NDArray[np.int64]) -> bool:
        """Ask the source for the unknown ones of some tokens, the first ones if they are too many for one request.

        Returns:
            Whether it was asked.
        """
        before = self._model_context.answer(self._tree)
        if self._model_context.price(self._tree, ids) is before:
            return False
        self._decision = None
        self._positions.discard(self._tree.current)
        return True

    def _draw(self, decision: Decision) -> int | None:
        """Return the token that the sampler takes; None if it depends on unknown probabilities."""
        seed, depth = self._sampler.seed, self._tree.depth
        if decision.unknown is None or decision.unknown.can_sample:
            return decision.draw(seed, depth)
        return None if decision.left is None or self._sampler.is_greedy else sure_draw(decision.left, seed, depth)

    def _draw_near_split(self, decision: Decision) -> tuple[Decision, int | None]:
        """Return the token that the sampler takes, from the mass below an id and the prices of the tokens around it.

        Where a list leaves the draw open, this is less to ask for than all allowed tokens.

        Returns:
            The distributions, in which more is known, and the token; None if it is none of those, or cannot be asked.
        """
        left, context, tree = decision.left, self._model_context, self._tree
        if left is None or self._sampler.is_greedy or not np.array_equal(left.logits, decision.masked, equal_nan=True):
            return decision, None
        draw = SplitDraw(left, self._sampler.seed, tree.depth)
        below = context.mass_below(tree, decision.masked, draw.split)
        if below is None:
            return decision, None
        first, last = draw.span(below)
        unknown = first + np.flatnonzero(np.isnan(decision.masked[first:last]))
        if unknown.shape[0] > min(MOST_AROUND, context.most_priced):
            return decision, None
        if unknown.shape[0]:
            decision = self._weigh(context.price(tree, unknown))
        return decision, None if decision.left is None else draw.drawn(decision.left, below)

    def _draw_by_source(self, decision: Decision) -> int:
        """Let the source draw under the mask.

        Raises:
            UnknownDrawError: it cannot draw, or cannot apply one of the stages.
            ModelError: it drew a token that the mask removes.
        """
        assert decision.unknown is not None
        if not isinstance(self._model, DrawsTokens):
            raise UnknownDrawError(self._model.name, decision.unknown)
        if beyond := self._plan.first_beyond_source(self._constraint, self._sampler):
            raise UnknownDrawError(self._model.name, decision.unknown, beyond)
        sampler, depth = self._sampler, self._tree.depth
        settings = DrawSettings(
            **{field: getattr(sampler, field) for field in DrawSettings.__dataclass_fields__ if field != "seed"},
            seed=int(np.random.SeedSequence((sampler.seed, depth)).generate_state(1)[0]) >> 1,
        )
        drawn = self._model_context.draw(self._model, self._tree, decision.allowed[: self._model.width], settings)
        if not (0 <= drawn < decision.allowed.shape[0] and decision.allowed[drawn]):
            raise ModelError("errors.decoding.partial.drew_masked", name=self._model.name, id=drawn)
        return drawn

    def _weigh(self, answer: Answer) -> Decision:
        allowed, history = self._constraint.allowed(), self._model_context.history(self._tree)
        width = max(answer.logits.shape[0], allowed.shape[0])
        drawn = [step.p_drawn for step in self._tree.taken()]
        run = SamplingRun(history, len(history) - len(drawn), self._sampler.seed, drawn)
        stages = self._plan.stages(self._constraint, width, self._sampler, run)
        return decide_answer(answer, allowed, history, self._sampler, stages)

    def _commit(self, decision: Decision, token_id: int, origin: StepOrigin) -> Step:
        looked = self._positions.peek(self._tree.current)  # before a price, after which it is out of date
        if decision.unknown is not None and self._price(np.array([token_id])):
            decision = self._decide()
        is_forced, zone = origin == StepOrigin.FORCED_BY_USER, self._constraint.zone
        if not (self._constraint.force(token_id) if is_forced else self._constraint.accept(token_id)):
            raise InvariantError("errors.decoding.refused_by_matcher", id=token_id)
        configuration = self._constraint.configuration
        step = queried_step(self._vocabulary, token_id, decision, configuration, origin, looked)
        if zone is not None:
            step = replace(step, zone=zone)
        node = self._tree.push(step)
        if is_forced:
            self._tree.illegal |= {node.id}
        self._resume = self._tree.depth
        return node.step

    def _look(self) -> Position:
        begun = time.perf_counter()
        self._constraint.allowed()
        mask_us = (time.perf_counter() - begun) * 1e6
        finish = self.finish
        begun, known = time.perf_counter(), self._model_context.knows(self._tree.current)
        decision = self._decide_to_show() if self._asks_model(finish) else None
        logits_ms = 0.0 if known or decision is None else (time.perf_counter() - begun) * 1e3
        found = position_at(self._constraint, self._tree, self._vocabulary, decision, finish, (mask_us, logits_ms))
        return self._complete(found, decision)

    def _complete(self, position: Position, decision: Decision | None) -> Position:
        """Add what depends on more than the constraint: the model's context, and the grammar's own mask."""
        allowed, first_bytes = self._allowed_by_grammar(), None
        if allowed is not None:
            first_bytes = count_first_bytes(allowed, self._vocabulary, None if decision is None else decision.p)
        return replace(position, context=self._model_context.context(self._tree.depth), first_bytes=first_bytes)

    def _allowed_by_grammar(self) -> NDArray[np.bool_] | None:
        """Return the tokens that the grammar alone allows here, bool[V]; None where it has no say."""
        if self._grammar is None or self.broken_at is not None:
            return None
        if self.pipeline.zones is None:
            return self._constraint.masks()["grammar"]
        matcher, text = Matcher(self._grammar, self._vocabulary), self.grammar_text
        if text is None or (text and not matcher.accept_bytes(text)):
            return None
        return unpack_mask(matcher.bitmask(), self._vocabulary.size)


class ModelContext:
    """Queries a model at the nodes of a tree, once per node while the answer is cached.

    The prices of a partial answer become part of it. Of each node, the last draw by the source is kept too.

    Args:
        model: the logit source.
        prompt: the text or chat before the tree.
        kept: the number of nodes whose answers are cached.

    Attributes:
        prompt: the prompt.
        prompt_ids: the prompt as token ids.
        most_priced: how many tokens the model may be asked for at once; 0 if it prices none.
        weighs_masks: whether it says what a mask leaves; see `WeighsMasks`.

    Raises:
        ModelError: the prompt cannot be encoded.
    """

    def __init__(self, model: LogitSource, prompt: str | Chat, kept: int) -> None:
        self._model = model
        self._answers: LruCache[int | None, Answer] = LruCache(kept)
        self._draws: LruCache[int | None, tuple[DrawSettings, bytes, int]] = LruCache(kept)
        self.most_priced = model.most_priced if isinstance(model, PricesTokens) else 0
        self.weighs_masks = isinstance(model, WeighsMasks) and model.weighs_masks
        self.prompt, self.prompt_ids = prompt, self._encode(prompt)

    def set_prompt(self, prompt: str | Chat) -> None:
        """Replace the prompt; on an error nothing changes.

        Raises:
            ModelError: the prompt cannot be encoded.
        """
        self.prompt_ids = self._encode(prompt)
        self.prompt = prompt
        self.clear_cache()

    def token_limit(self, tokens: int) -> int:
        """Return how many of `tokens` fit in the model's context after the prompt."""
        limit = self._model.context_length
        return tokens if limit is None else min(tokens, limit - len(self.prompt_ids) + 1)

    def is_full(self, depth: int) -> bool:
        """Return whether the context has no room after `depth` tokens."""
        limit = self._model.context_length
        return limit is not None and len(self.prompt_ids) + depth > limit

    def context(self, depth: int) -> ContextState | None:
        """Return how much of the model's context is left after `depth` tokens; None if it has no limit."""
        limit = self._model.context_length
        return None if limit is None else ContextState(limit, max(0, limit - len(self.prompt_ids) + 1 - depth))

    def history(self, tree: StepTree) -> list[int]:
        """Return all ids that the model reads at the current node of a tree."""
        return [*self.prompt_ids, *(step.token_id for step in tree.taken())]

    def answer(self, tree: StepTree) -> Answer:
        """Return the model's answer at the current node of a tree."""
        return self._answers.get(tree.current, lambda: self._ask(self.history(tree)))

    def _ask(self, history: list[int]) -> Answer:
        is_shifted = isinstance(self._model, GivesLogProbabilities) and self._model.gives_log_probabilities
        return Answer.of(self._model.logits(history), is_shifted=is_shifted)

    def price(self, tree: StepTree, ids: NDArray[np.int64]) -> Answer:
        """Return the model's answer at the current node of a tree, with the prices of some tokens; see `priced`.

        Args:
            tree: the tree.
            ids: int64[n], the ids.
        """
        answer = self.answer(tree)
        if (following := priced(answer, self._model, self.history(tree), ids)) is not answer:
            self._answers.put(tree.current, following)
        return following

    def weigh(self, tree: StepTree, allowed: NDArray[np.bool_]) -> Answer:
        """Return the model's answer at the current node of a tree, with the mass of a mask; see `weighed`.

        Args:
            tree: the tree.
            allowed: bool[V], the mask.
        """
        answer = self.answer(tree)
        if (following := weighed(answer, self._model, self.history(tree), allowed)) is not answer:
            self._answers.put(tree.current, following)
        return following

    def mass_below(self, tree: StepTree, masked: NDArray[np.float64], token_id: int) -> float | None:
        """Return the mass of the allowed tokens below an id; None if the model does not say.

        Args:
            tree: the tree, at whose current node the model answered.
            masked: float64[W], the log-probabilities under the mask, NaN where unknown.
            token_id: the id.
        """
        below = masked[:token_id]
        if not np.isnan(below).any():
            return float(np.exp(below).sum())
        allowed = np.zeros(self._model.width, np.bool_)
        allowed[:token_id] = below[: self._model.width] != -np.inf
        if not (isinstance(self._model, WeighsMasks) and self.weighs_masks):
            return None
        part = self._model.weigh(self.history(tree), allowed)
        return None if part is None else float(np.exp(part.log_mass))

    def draw(self, source: DrawsTokens, tree: StepTree, allowed: NDArray[np.bool_], settings: DrawSettings) -> int:
        """Return the token that the source draws at the current node of a tree.

        Args:
            source: the model.
            tree: the tree.
            allowed: bool[width], the mask.
            settings: how it is drawn.
        """
        packed = np.packbits(allowed).tobytes()
        known = self._draws.peek(tree.current)
        if known is None or known[:2] != (settings, packed):
            known = settings, packed, int(source.draw(self.history(tree), allowed, settings))
            self._draws.put(tree.current, known)
        return known[2]

    def knows(self, node: int | None) -> bool:
        """Return whether the answer at a node is cached."""
        return node in self._answers

    def peek(self, node: int | None) -> Answer | None:
        """Return the answer at a node if it is cached."""
        return self._answers.peek(node)

    def discard(self, node: int) -> None:
        """Drop the answer at a node that the tree no longer has."""
        self._answers.discard(node)
        self._draws.discard(node)

    def clear_cache(self) -> None:
        """Drop all answers, since the node ids have a new meaning."""
        self._answers.clear()
        self._draws.clear()

    def _encode(self, prompt: str | Chat) -> tuple[int, ...]:
        if isinstance(prompt, Chat):
            return tuple(self._model.encode_chat(prompt.messages, prompt.assistant_prefix))
        return tuple(self._model.encode(prompt))
