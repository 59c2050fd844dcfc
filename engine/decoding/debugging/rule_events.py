"""Rule events of a step: which rules of a grammar it enters and leaves, and the nesting depth.

A match has many configurations at once, and most of the open rules are only predicted: where a JSON value may come, an
object, an array and a string are all open, and no byte of any was read. So a rule counts as *entered* from the first
byte that is read in it, in any parse. It is *left* when no parse is in it any more. The *depth* is the number of nested
entered rules, in the parse with the most: as long as some parse may be in a rule, the rule is not over.

These definitions give a debugger's steps a meaning on a set of stacks. *Step into* is one token. *Step over* runs until
the depth is at most what it was: whatever the next token opens is closed again. *Step out* runs until the depth is
smaller.

One use of a rule is the rule and the byte offset of its call. So in `digit+` every digit enters `digit` anew, and a
tail-recursive list grows deeper, although the automaton's stacks record neither. The uses come from Earley items
(`RuleTracker`). For a schema, the uses are the values of the text, and their names are the subschemas that apply to
them (`schema_locations`). A regular expression has source positions only.

A token is followed byte by byte, so the result includes what it enters and leaves within itself. Rejected: comparing
the automaton's stacks before and after a token. A caller with nothing left to do after a call is not on the stack and
would seem to end before the call does; and a token such as `","` ends one string and begins the next with the same
stack height.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol, TypeAlias

from engine.automata.byte_automaton import DEAD, ByteAutomaton
from engine.automata.rtn.rule_tracker import RuleTracker
from engine.compile import CompiledGrammar
from engine.decoding.debugging.breakpoints import RuleEvents
from engine.decoding.debugging.schema_locations import SchemaLocations
from engine.schema_automaton.pushdown.automaton import JsonAutomaton
from engine.source import LimitExceededError, Span
from engine.source.json_scanner import JsonPath, JsonScanner

MOST_STATES = 4_000
"""The limit for the states of a grammar's rules; a larger grammar is followed by source positions only."""

_Use: TypeAlias = tuple[object, str]
"""One use of a rule: a value that distinguishes it from other uses of the rule, and the rule's name."""


class _Moment(NamedTuple):
    """The rules after a byte.

    Attributes:
        entered: the uses of rules that read it.
        open: the uses among them that may continue, outermost first.
        read: the source spans that read it.
        depth: the largest number of uses in `open` that are nested.
    """

    entered: tuple[_Use, ...] = ()
    open: tuple[_Use, ...] = ()
    read: frozenset[Span] = frozenset()
    depth: int = 0


class _Follower(Protocol):
    """Follows a text from its start."""

    def take(self, token: bytes) -> Iterator[_Moment]:
        """Yield what each byte of a token did; stop where nothing matches."""


class RuleEventTracker:
    """Computes the rule events of tokens for one grammar; a prefix shared with the last text is not read again.

    Attributes:
        unfollowed: why a grammar with rules is followed by source positions only, so that no rule is ever entered; else
            empty.
    """

    def __init__(self, grammar: CompiledGrammar) -> None:
        self._grammar = grammar
        self._match, self.unfollowed = _rules_of(grammar)
        self._locations = SchemaLocations(grammar.source.text) if isinstance(grammar.automaton, JsonAutomaton) else None
        self._taken: tuple[bytes, ...] = ()
        self._follower = self._begin()
        self._last = _Moment()
        self._last_events = RuleEvents()  # the last result: a run that stopped before a token asks for it again

    def after(self, taken: Sequence[bytes]) -> RuleEvents:
        """Return what the last of some tokens did to the rules.

        Args:
            taken: the tokens from the start of the text; a token that is no text is empty and has no effect.

        Raises:
            LimitExceededError: the text has too many parses to follow.
        """
        if not taken:
            return RuleEvents()
        if tuple(taken) == self._taken:
            return self._last_events
        known = len(self._taken)
        if known >= len(taken) or tuple(taken[:known]) != self._taken:
            self._follower, self._last, known = self._begin(), _Moment(), 0
        try:
            for moment in (moment for token in taken[known:-1] for moment in self._follower.take(token)):
                self._last = moment
            moments = list(self._follower.take(taken[-1]))
        except LimitExceededError:
            self._follower, self._last, self._taken = self._begin(), _Moment(), ()
            raise
        self._last_events = _compared(self._last, moments)
        self._taken, self._last = tuple(taken), moments[-1] if moments else self._last
        return self._last_events

    def _begin(self) -> _Follower:
        if self._locations is not None:
            return _ValueFollower(self._locations)
        if self._match is not None:
            return _RuleFollower(self._match[0], self._match[1], self._grammar.automaton)
        is_one_rule = self._grammar.notation == "gbnf" and not self._grammar.has_rules
        only = self._grammar.grammar.start if is_one_rule and self._grammar.grammar is not None else ""
        return _PositionFollower(self._grammar.automaton, only)


def _rules_of(grammar: CompiledGrammar) -> tuple[tuple[RuleTracker, tuple[str, ...]] | None, str]:
    """Return the rule tracker of a grammar and the rules' names; None and the reason if rules are not followed."""
    if not grammar.has_rules:
        return None, ""
    if grammar.automaton.token_elements:
        return None, "the grammar names tokens, and an output does not tell which of them were taken whole"
    try:
        automata = grammar.rule_automata(MOST_STATES)
    except LimitExceededError:
        return None, f"the rules take more than {MOST_STATES:,} states"
    return (RuleTracker(automata), tuple(rule.name for rule in automata.rules)), ""


def _compared(before: _Moment, moments: Iterable[_Moment]) -> RuleEvents:
    depth_before = before.depth
    entered: dict[str, None] = {}
    left: dict[str, None] = {}
    read: dict[Span, None] = {}
    for moment in moments:
        open_before, entered_now, open_now = (
            dict.fromkeys(before.open),
            dict.fromkeys(moment.entered),
            frozenset(moment.open),
        )
        entered.update((use[1], None) for use in entered_now if use not in open_before)
        ended = [use for use in {**open_before, **entered_now} if use not in entered_now or use not in open_now]
        left.update((name, None) for _, name in reversed(ended))
        read.update((span, None) for span in sorted(moment.read - before.read))
        before = moment
    names = tuple(dict.fromkeys(name for _, name in before.open))
    return RuleEvents(depth_before, before.depth, names, tuple(entered), tuple(left), tuple(read))


class _PositionFollower:
    """Follows the source positions that read a text.

    Args:
        automaton: the automaton that reads it.
        rule: the only rule of the grammar, which the first byte enters; empty if the grammar has no rules.
    """

    def __init__(self, automaton: ByteAutomaton, rule: str = "") -> None:
        self._automaton = automaton
        self._uses: tuple[_Use, ...] = ((0, rule),) if rule else ()
        self._configuration = automaton.start

    def take(self, token: bytes) -> Iterator[_Moment]:
        """Yield what each byte of a token did."""
        for byte in token:
            read = self.places(byte)
            if read is None:
                return
            yield _Moment(self._uses, self._uses, read, len(self._uses))

    def places(self, byte: int) -> frozenset[Span] | None:
        """Return the source spans that read the next byte; None if nothing does."""
        automaton, before = self._automaton, self._configuration
        after = automaton.run(before, bytes((byte,))) if before != DEAD else DEAD
        if after == DEAD:
            return None
        self._configuration = after
        return frozenset(automaton.edge_spans(before, int(automaton.class_of_byte[byte])))


class _RuleFollower:
    """Follows the uses of rules."""

    def __init__(self, match: RuleTracker, names: tuple[str, ...], automaton: ByteAutomaton) -> None:
        self._match, self._names = match, names
        self._places = _PositionFollower(automaton)
        self._data = b""

    def take(self, token: bytes) -> Iterator[_Moment]:
        """Yield what each byte of a token did."""
        for byte in token:
            read = self._places.places(byte)
            if read is None:
                return
            self._data += bytes((byte,))
            found = self._match.open_rules(self._data)
            entered = sorted(found.read, key=lambda use: (use[1], use[0]))
            yield _Moment(self._uses(entered), self._uses(found.open), read, found.depth)

    def _uses(self, calls: Iterable[tuple[int, int]]) -> tuple[_Use, ...]:
        return tuple((origin, self._names[rule]) for rule, origin in calls)


class _ValueFollower:
    """Follows the values of a JSON text."""

    def __init__(self, locations: SchemaLocations) -> None:
        self._locations = locations
        self._scanner = JsonScanner()

    def take(self, token: bytes) -> Iterator[_Moment]:
        """Yield what each byte of a token did."""
        for byte in token:
            read, still = self._scanner.take(byte)
            yield _Moment(self._uses(read), self._uses(still), frozenset(), len(still))

    def _uses(self, paths: Iterable[JsonPath]) -> tuple[_Use, ...]:
        return tuple((path, pointer) for path in paths for pointer in self._locations.of(path))
