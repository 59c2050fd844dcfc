"""Rule events of steps, and stops before breakpoints, in the decode group."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.decoding.debugging.breakpoints import BreakpointKind, StopBefore, entered
from engine.decoding.debugging.rule_events import RuleEventTracker
from engine.source import EngineError

if TYPE_CHECKING:
    from engine.compile import CompiledGrammar
    from engine.decoding.debugging.breakpoints import Breakpoint, RuleEvents
    from engine.decoding.session import DecodeSession
    from engine.decoding.session.session import SavePoint


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

        if self._tracker is None or self._grammar is not grammar:
            self._grammar, self._tracker = grammar, RuleEventTracker(grammar)
        return self._tracker


def _split_last_token(read: bytes, token: bytes) -> list[bytes]:
    """Split off what a grammar read of the last token; the other bytes of that token closed a trigger."""
    length = len(token) if read.endswith(token) else len(read)
    return [read[: len(read) - length], read[len(read) - length :]]


def _text_of(session: DecodeSession, token_id: int) -> bytes:
    vocabulary = session.model.vocabulary
    if token_id in vocabulary.eos_ids or token_id in vocabulary.special:
        return b""
    return vocabulary.token_bytes(token_id) or b""
