"""Rule events of steps, breakpoints, and the baseline run, in the decode group."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from app.workers.decode_messages import BaselineAnswer, BreakpointAnswer
from engine.decoding.debugging.breakpoints import BreakpointKind, StopBefore, entered
from engine.matching.explanation import Explanation, Reason
from engine.source import CancelToken, EngineError

if TYPE_CHECKING:
    from engine.compile import CompiledGrammar
    from engine.decoding.debugging.breakpoints import Breakpoint, RuleEvents
    from engine.decoding.debugging.rule_events import RuleEventTracker
    from engine.decoding.session import DecodeSession
    from engine.decoding.session.session import SavePoint

TOLD_EVERY = 4  # steps of a baseline run: the window need not draw each
MOST_VERDICTS = 64
_NOTHING_READ = "nothing is read at this place: put the cursor on a part of the grammar that reads text"
_EXPECTED = 80


class RuleWatcher:
    """Follows the rule events of steps in the active grammar, and stops before breakpoints."""

    def __init__(self) -> None:
        self._grammar: CompiledGrammar | None = None
        self._tracker: RuleEventTracker | None = None
        self._stopped: tuple[int | None, tuple[Breakpoint, ...]] | None = None

    def stop_before(
        self, session: DecodeSession, saved: SavePoint, passage: RuleEvents | None, breakpoints: tuple[Breakpoint, ...]
    ) -> StopBefore | None:
        """Undo the last step if its token enters a breakpoint; return why, or None if the step stays.

        A step from the position of the last stop is not stopped again by the same breakpoints.

        Args:
            session: the session after the step.
            saved: the session before the step.
            passage: the rule events of the step; None without an active grammar.
            breakpoints: the breakpoints to stop before.
        """
        passed, self._stopped = self._stopped, None
        met = () if passage is None else entered(breakpoints, passage)
        known = passed[1] if passed is not None and passed[0] == saved.trace.current else ()
        if not any(all(not one.is_same(other) for other in known) for one in met):
            return None
        step = session.steps[-1]
        session.undo_to(saved)
        self._stopped = saved.trace.current, met
        return StopBefore(step, met)

    def check(self, session: DecodeSession, breakpoints: tuple[Breakpoint, ...]) -> None:
        """Check that steps can detect these breakpoints.

        Raises:
            EngineError: one is on a rule of a grammar whose rules are not followed.
        """
        grammar = session.grammar
        if not breakpoints or grammar is None or grammar.grammar is None:
            return
        names = {rule.name for rule in grammar.grammar.rules}
        why = self._tracker_of(grammar).unfollowed
        on_rule = next((one for one in breakpoints if one.kind is BreakpointKind.RULE and one.name in names), None)
        if why and on_rule is not None:
            raise EngineError(f"a run cannot stop at the rule {on_rule.name}: {why}; switch the breakpoint off")

    def forget_stop(self) -> None:
        """Let the next step stop at any breakpoint: something other than a step changed the position."""
        self._stopped = None

    def passage(self, session: DecodeSession) -> RuleEvents | None:
        """Return the rule events of the last step; None if no grammar is active.

        Raises:
            LimitExceededError: the text is too ambiguous to follow.
        """
        grammar = session.grammar
        if grammar is None or session.broken_at is not None:
            return None
        tracker = self._tracker_of(grammar)
        taken = [_text_of(session, step.token_id) for step in session.steps]
        if session.pipeline.zones is None:
            return tracker.after(taken)
        read = session.grammar_text
        return None if read is None else tracker.after(_split_last_token(read, taken[-1] if taken else b""))

    def _tracker_of(self, grammar: CompiledGrammar) -> RuleEventTracker:
        from engine.decoding.debugging.rule_events import RuleEventTracker

        if self._tracker is None or self._grammar is not grammar:
            self._grammar, self._tracker = grammar, RuleEventTracker(grammar)
        return self._tracker


def breakpoint_for(grammar: CompiledGrammar | None, offset: int) -> BreakpointAnswer:
    """Return what a breakpoint at an offset is on."""
    from engine.decoding.debugging.breakpoint_positions import breakpoint_at

    if grammar is None:
        return BreakpointAnswer(None, "no grammar has compiled yet")
    found = breakpoint_at(grammar, offset)
    return BreakpointAnswer(found, "" if found is not None else _NOTHING_READ)


def twins_of(session: DecodeSession, cancel: CancelToken) -> Iterator[BaselineAnswer]:
    """Yield the baseline run as it grows; the last one is complete."""
    from engine.decoding.generate import run_baseline

    if session.grammar is None:
        raise EngineError("no grammar has compiled yet")
    budget = session.max_tokens
    runs = run_baseline(
        session.model,
        session.steps,
        prompt=session.prompt,
        sampler=session.sampler,
        max_tokens=budget,
        cancel=cancel,
    )
    for now in runs:
        if now.finish is not None or len(now.free) % TOLD_EVERY == 0:
            yield BaselineAnswer(now, budget)


def force(session: DecodeSession, token_id: int) -> str:
    """Take a token even if the grammar does not allow it; return a note about it.

    Raises:
        EngineError: there is no such token, or the generation is over.
    """
    from engine.decoding.values import StepOrigin
    from engine.vocabulary.visible import visible

    verdict = verdict_on(session, token_id)
    held_by = "processors" if session.removed_by(token_id) else "grammar"
    step = session.force(token_id)
    if step.origin != StepOrigin.FORCED_BY_USER:
        return ""
    token = step.name or visible(step.token or b"") or f"#{token_id}"
    on = "From here on every token is allowed; Back undoes it."
    return f"“{token}” was forced against the {held_by} ({verdict}). {on}"


def verdict_on(session: DecodeSession, token_id: int) -> str:
    """Return why a token may or may not come next, whichever stage decides, in a few words."""
    removed_by = session.removed_by(token_id)
    if removed_by is None:
        return short_verdict(session.explain(token_id))
    stage, why = removed_by
    return f"the stage {stage} removes it: {why}"


def short_verdict(explanation: Explanation) -> str:
    """Return why a token may or may not come next, in a few words."""
    from engine.matching.byte_descriptions import byte_name, byte_prose

    match explanation.reason:
        case Reason.ALLOWED:
            return "may come next"
        case Reason.DEAD_BYTE if explanation.token and explanation.offset is not None:
            wanted = byte_prose(explanation.expected)
            wanted = wanted if len(wanted) <= _EXPECTED else wanted[: _EXPECTED - 1] + "…"
            position = f"byte {explanation.offset + 1}, " if len(explanation.token) > 1 else ""
            return f"stops at {position}{byte_name(explanation.token[explanation.offset])}: expected {wanted}"
        case Reason.NOT_ACCEPTING:
            return "the text may not end here"
        case Reason.FINISHED:
            return "the generation is over"
        case Reason.UNKNOWN_ID:
            return "no such token"
    return "stands for no text that the grammar could read"


def _split_last_token(read: bytes, token: bytes) -> list[bytes]:
    """Split off what a grammar read of the last token; the other bytes of that token closed a trigger."""
    length = len(token) if read.endswith(token) else len(read)
    return [read[: len(read) - length], read[len(read) - length :]]


def _text_of(session: DecodeSession, token_id: int) -> bytes:
    vocabulary = session.model.vocabulary
    if token_id in vocabulary.eos_ids or token_id in vocabulary.special:
        return b""
    return vocabulary.token_bytes(token_id) or b""
