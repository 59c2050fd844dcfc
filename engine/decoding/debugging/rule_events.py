"""What a step did to the rules of a grammar: which it entered, which it left, how deep it stands.

A match stands in many places at once, and most of what is open there is only
predicted: where a JSON value may come, an object, an array and a string are all open,
and nothing is read of any. So a rule counts as *entered* from the first byte that was
read in it, by any reading of the text. It is *left* when no reading is within it any
more. The *depth* is how many rules are entered within one another, in the reading
where most are: as long as one may still be within a rule, the rule is not over.

So a debugger's steps are defined where the match stands on a set of stacks. *Into* is
a token. *Over* runs until the depth is what it was, or less: whatever the next token
opens is closed again. *Out* runs until it is less than it was.

One use of a rule is a rule and the byte before which it was called, so in `digit+`
every digit enters `digit` anew, and a list that recurs at its end grows deeper, though
the runtime's stacks know nothing of either. They come from Earley's items
(`RuleTracker`). Of a schema, the values of the text are the uses, and the subschemas that
are about them their names (`json_places`). A regular expression has places only.

A token is followed byte by byte, so what it enters and leaves within itself is told.
Rejected: comparing the runtime's stacks before and after a token. A caller that has
nothing left to do behind a call is not on them, and would seem over before the call is;
and a token such as `","` ends one string and begins the next, on a stack as high as before.
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
"""A grammar whose rules take more states than that is told places of, and no rules."""

_Use: TypeAlias = tuple[object, str]
"""One use of a rule: what tells it from others of the same rule, and the rule's name."""


class _Moment(NamedTuple):
    """After a byte.

    Attributes:
        entered: the uses of rules that read it.
        open: those of them that may go on, the outermost first.
        read: the places in the source that read it.
        depth: how many of `open` are within one another, at most.
    """

    entered: tuple[_Use, ...] = ()
    open: tuple[_Use, ...] = ()
    read: frozenset[Span] = frozenset()
    depth: int = 0


class _Follower(Protocol):
    """Follows a text from its beginning."""

    def take(self, token: bytes) -> Iterator[_Moment]:
        """What each byte of a token did; it ends where nothing matches any more."""


class RuleEventTracker:
    """Tells of one grammar what tokens do; what a text has in common with the last one is not read again.

    Attributes:
        unfollowed: why a grammar of rules is followed by its places alone, so that no rule is ever entered; else empty.
    """

    def __init__(self, grammar: CompiledGrammar) -> None:
        self._grammar = grammar
        self._match, self.unfollowed = _rules_of(grammar)
        self._places = SchemaLocations(grammar.source.text) if isinstance(grammar.automaton, JsonAutomaton) else None
        self._taken: tuple[bytes, ...] = ()
        self._follower = self._begin()
        self._last = _Moment()
        self._passage = RuleEvents()  # the last answer: a run that stopped before a token asks for it again

    def after(self, taken: Sequence[bytes]) -> RuleEvents:
        """What the last of some tokens did.

        Args:
            taken: the tokens from the start of the text; one that matches no text is empty, and does nothing here.

        Raises:
            LimitExceededError: the text can be read in so many ways that they are not followed.
        """
        if not taken:
            return RuleEvents()
        if tuple(taken) == self._taken:
            return self._passage
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
        self._passage = _compared(self._last, moments)
        self._taken, self._last = tuple(taken), moments[-1] if moments else self._last
        return self._passage

    def _begin(self) -> _Follower:
        if self._places is not None:
            return _ValueFollower(self._places)
        if self._match is not None:
            return _RuleFollower(self._match[0], self._match[1], self._grammar.automaton)
        is_one_rule = self._grammar.notation == "gbnf" and not self._grammar.has_rules
        only = self._grammar.grammar.start if is_one_rule and self._grammar.grammar is not None else ""
        return _PlaceFollower(self._grammar.automaton, only)


def _rules_of(grammar: CompiledGrammar) -> tuple[tuple[RuleTracker, tuple[str, ...]] | None, str]:
    """Return what follows the rules of a grammar and their names; None, and why, where they are not followed."""
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
        was, reads, now = dict.fromkeys(before.open), dict.fromkeys(moment.entered), frozenset(moment.open)
        entered.update((use[1], None) for use in reads if use not in was)
        over = [use for use in {**was, **reads} if use not in reads or use not in now]
        left.update((name, None) for _, name in reversed(over))
        read.update((span, None) for span in sorted(moment.read - before.read))
        before = moment
    names = tuple(dict.fromkeys(name for _, name in before.open))
    return RuleEvents(depth_before, before.depth, names, tuple(entered), tuple(left), tuple(read))


class _PlaceFollower:
    """Follows what in the source reads a text.

    Args:
        automaton: that reads it.
        rule: the only rule of the grammar, which the first byte enters; empty where the grammar has no rules.
    """

    def __init__(self, automaton: ByteAutomaton, rule: str = "") -> None:
        self._automaton = automaton
        self._uses: tuple[_Use, ...] = ((0, rule),) if rule else ()
        self._configuration = automaton.start

    def take(self, token: bytes) -> Iterator[_Moment]:
        """What each byte of a token did."""
        for byte in token:
            read = self.places(byte)
            if read is None:
                return
            yield _Moment(self._uses, self._uses, read, len(self._uses))

    def places(self, byte: int) -> frozenset[Span] | None:
        """What reads the next byte; None where nothing does."""
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
        self._places = _PlaceFollower(automaton)
        self._data = b""

    def take(self, token: bytes) -> Iterator[_Moment]:
        """What each byte of a token did."""
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

    def __init__(self, places: SchemaLocations) -> None:
        self._places = places
        self._scanner = JsonScanner()

    def take(self, token: bytes) -> Iterator[_Moment]:
        """What each byte of a token did."""
        for byte in token:
            read, still = self._scanner.take(byte)
            yield _Moment(self._uses(read), self._uses(still), frozenset(), len(still))

    def _uses(self, paths: Iterable[JsonPath]) -> tuple[_Use, ...]:
        return tuple((path, pointer) for path in paths for pointer in self._places.of(path))
