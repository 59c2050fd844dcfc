"""Grammars that rule parts of an output: after a trigger, between free text, once or again.

    free text · trigger · text of the grammar · closing text · free text · …

The whole output is one language, so it runs as one automaton over bytes, made of
the grammars' own: a configuration is the set of places where the output may stand
(in free text and how much of a trigger was read, in a grammar and where, in the
closing text). All that runs a grammar runs this one: masks, why not, distances,
the token budget, replay. And a token that straddles a border needs no rule of its
own: its bytes are read one after the other, the first ones as the end of the
trigger, the rest by the grammar.

A trigger is a text, however tokens spell it, or a special token; free text never
holds a trigger's text but at its end. Where a grammar accepts and may also go on,
both are followed.

Rejected: watching the decoded text, and switching the mask on when it ends with
the trigger. The rest of the token that ends it would have been written unseen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from engine.automata.byte_automaton import DEAD
from engine.automata.byte_classes import ByteClasses
from engine.automata.completion import Alphabet, Completion, LengthBound, NextProperties
from engine.automata.dfa.lazy_table import LazyTable
from engine.compile import CompiledGrammar
from engine.decoding.constraints.triggers import Triggers
from engine.decoding.pipeline_settings import Afterwards
from engine.grammar import TokenSet
from engine.source import CancelToken, InvariantError, Limits, Span
from engine.vocabulary import Vocabulary, VocabularyError

_BYTES = ByteClasses(bytes(range(256)), tuple(range(256)), tuple(((byte, byte),) for byte in range(256)))


@dataclass(frozen=True, slots=True)
class Zone:
    """A part of the output that a grammar rules.

    Attributes:
        grammar: what it must match.
        after: the text behind which it begins; a special token of that very name begins it too.
        after_token: the name of a token, taken whole, behind which it begins. With neither it begins at once.
        until: a text that must follow.
    """

    grammar: CompiledGrammar
    after: str = ""
    after_token: str = ""
    until: str = ""


class ZonePart(IntEnum):
    """What an output may be in the midst of."""

    BEFORE = 0  # free text, no zone yet
    BETWEEN = 1  # free text behind a zone
    GRAMMAR = 2
    UNTIL = 3  # the closing text
    OVER = 4


class ZoneState(NamedTuple):
    """Where an output may stand.

    Attributes:
        part: what it is in the midst of.
        zone: the index of the zone; -1 in free text and at the end.
        at: how much of a trigger or of the closing text was read, or the grammar's configuration.
    """

    part: ZonePart
    zone: int
    at: int


_Key = frozenset[ZoneState]


def zoned(
    zones: Sequence[Zone], vocabulary: Vocabulary, then: Afterwards = Afterwards.STOP, *, required: bool = True
) -> CompiledGrammar:
    """The language of outputs in which grammars rule zones, as a grammar that runs like any other.

    Args:
        zones: what may begin; whichever trigger comes first begins its zone. One without a trigger begins at once.
        vocabulary: whose special tokens are meant, and may stand in free text.
        then: what follows a zone: nothing, free text to the end, or free text until a trigger comes again.
        required: whether an output without any zone is incomplete.

    Returns:
        A grammar with the notation and source of the first zone's.

    Raises:
        InvariantError: there is no zone, one begins at once beside others that do not, or nothing begins one again.
        VocabularyError: the vocabulary has no token of the name that a zone waits for.

        >>> from engine import Matcher, compile_grammar
        >>> letters = Vocabulary([bytes([byte]) for byte in range(256)], eos_ids=[])
        >>> answer = zoned([Zone(compile_grammar("regex", "[0-9]+"), after="=")], letters)
        >>> answer.fullmatch("6 x 7 =42"), answer.fullmatch("6 x 7 = 42"), answer.fullmatch("42")
        (True, False, False)
    """
    automaton = ZonedAutomaton(zones, vocabulary, then, required=required)
    first = zones[0].grammar
    is_regular = all(zone.grammar.is_regular for zone in zones)
    return CompiledGrammar(first.notation, first.source, first.options, (), automaton, is_regular=is_regular)


class ZonedAutomaton(LazyTable[_Key]):
    """The `Runtime` of an output with zones. Every byte is a class of its own; see `zoned` for the arguments."""

    def __init__(
        self,
        zones: Sequence[Zone],
        vocabulary: Vocabulary,
        then: Afterwards,
        *,
        required: bool,
        limits: Limits = Limits(),  # noqa: B008 - frozen
    ) -> None:
        super().__init__(_BYTES, frozenset(), limits)
        if not zones:
            raise InvariantError("an output with zones needs one at least")
        self.zones = tuple(zones)
        self._inner = [zone.grammar.automaton for zone in zones]
        self._until = [zone.until.encode() for zone in zones]
        self._then, self._required = then, required
        self._triggers = Triggers([zone.after.encode() for zone in zones])
        self._begins = _token_triggers(zones, vocabulary)
        named = {token_id for tokens in self._begins for token_id in tokens.ids}
        special = set(vocabulary.special) - vocabulary.eos_ids
        self._free = TokenSet((), tuple(sorted(special - named)), negated=False)
        self._any_special = TokenSet((), tuple(sorted(special)), negated=False)
        inner = [tokens for automaton in self._inner for tokens in automaton.token_elements]
        own = (*self._begins, self._free, self._any_special) if special or self._begins or inner else ()
        self.token_elements = frozenset((*own, *inner))
        waits = [bool(zone.after or zone.after_token) for zone in zones]
        if then is Afterwards.AGAIN and not any(waits):
            raise InvariantError("a grammar that comes again needs a trigger that begins it: a text or a token")
        if any(waits) and not all(waits):
            raise InvariantError("a zone without a trigger begins at once, so none of the others could be waited for")
        places = (
            {ZoneState(ZonePart.BEFORE, -1, 0)} if all(waits) else set().union(*map(self._entered, range(len(zones))))
        )
        is_live = any(automaton.start != DEAD for automaton in self._inner)
        self.start = self._intern(frozenset(places)) if places and (is_live or not required) else DEAD

    # ------------------------------------------------------------------ steps

    def _follow(self, configuration: int, byte_class: int) -> int:
        found: set[ZoneState] = set()
        for place in self._keys[configuration]:
            found |= self._after_byte(place, byte_class)
        return self._intern(frozenset(found)) if found else DEAD

    def _after_byte(self, place: ZoneState, byte: int) -> set[ZoneState]:
        part, zone, at = place
        if part is ZonePart.GRAMMAR:
            return self._closed(zone, self._inner[zone].run(at, bytes((byte,))))
        if part is ZonePart.UNTIL:
            text = self._until[zone]
            if text[at] != byte:
                return set()
            return {ZoneState(part, zone, at + 1)} if at + 1 < len(text) else {self._behind()}
        if part is ZonePart.OVER:
            return set()
        if not self._waits(part):
            return {place}
        following = self._triggers.step(at, byte)
        begun = self._triggers.completed[following]
        return {ZoneState(part, -1, following)} if begun is None else self._entered(begun)

    def _entered(self, zone: int) -> set[ZoneState]:
        return self._closed(zone, self._inner[zone].start)

    def _closed(self, zone: int, configuration: int) -> set[ZoneState]:
        """A place in a grammar, and behind it where the grammar accepts."""
        if configuration == DEAD:
            return set()
        found = {ZoneState(ZonePart.GRAMMAR, zone, configuration)}
        if self._inner[zone].accepts(configuration):
            found.add(ZoneState(ZonePart.UNTIL, zone, 0) if self._until[zone] else self._behind())
        return found

    def _behind(self) -> ZoneState:
        return ZoneState(ZonePart.OVER if self._then is Afterwards.STOP else ZonePart.BETWEEN, -1, 0)

    def _waits(self, part: ZonePart) -> bool:
        """Whether a trigger counts in a part of free text."""
        return part is ZonePart.BEFORE or self._then is Afterwards.AGAIN

    def _is_accepting(self, key: _Key) -> bool:
        ends = (
            {ZonePart.BETWEEN, ZonePart.OVER} if self._required else {ZonePart.BEFORE, ZonePart.BETWEEN, ZonePart.OVER}
        )
        return any(place.part in ends for place in key)

    # ------------------------------------------------------------------ tokens taken whole

    def token_sets(self, configuration: int) -> frozenset[TokenSet]:
        """Triggers, and in free text all special tokens."""
        found: set[TokenSet] = set()
        for part, zone, at in self._keys[configuration]:
            if part is ZonePart.GRAMMAR:
                found |= self._inner[zone].token_sets(at)
            elif part in {ZonePart.BEFORE, ZonePart.BETWEEN}:
                found.update((*self._begins, self._free) if self._waits(part) else (self._any_special,))
        return frozenset(found & self.token_elements)

    def take_token(self, configuration: int, data: bytes, takes: Callable[[TokenSet], bool]) -> int:
        """The configuration after a token; a trigger begins its zone, and is not read as text."""
        whole: set[ZoneState] = set()
        spelled: set[ZoneState] = set()
        for place in self._keys[configuration]:
            if place.part is ZonePart.GRAMMAR:
                inner = self._inner[place.zone]
                if inner.token_elements:
                    whole |= self._closed(place.zone, inner.take_token(place.at, b"", takes))
            elif place.part in {ZonePart.BEFORE, ZonePart.BETWEEN}:
                begun = (
                    [zone for tokens, zone in self._begins.items() if takes(tokens)] if self._waits(place.part) else []
                )
                if begun:
                    whole |= self._entered(begun[0])
                    continue
                if takes(self._any_special):
                    whole.add(ZoneState(place.part, -1, 0))
            spelled.add(place)
        if data and spelled:
            whole |= self._keys[self.run(self._intern(frozenset(spelled)), data)]
        return self._intern(frozenset(whole)) if whole else DEAD

    # ------------------------------------------------------------------ how far the end is

    def min_remaining(self, place: int, alphabet: Alphabet = None) -> LengthBound:
        """The least that any of the places lacks."""
        if self.accepting[place]:
            return LengthBound(0, exact=True)
        lacks = [each for one in self._keys[place] for each in self._lacks(one, alphabet)]
        known = [lack for lack in lacks if lack.at_least is not None]
        least = min(known, key=lambda lack: (lack.at_least, not lack.exact), default=LengthBound(None, exact=True))
        return LengthBound.of(accepting=False, at_least=least.at_least, exact=least.exact)

    def _lacks(self, place: ZoneState, alphabet: Alphabet) -> Iterable[LengthBound]:
        part, zone, at = place
        if part is ZonePart.UNTIL:
            yield self._text_left(self._until[zone][at:], LengthBound(0, exact=True), alphabet)
        elif part is ZonePart.GRAMMAR:
            inner = self._inner[zone]
            yield self._text_left(self._until[zone], inner.min_remaining(inner.cursor(at), alphabet), alphabet)
        elif part is ZonePart.BEFORE:
            for begun, text in self._triggers.nearest(at, alphabet).items():
                for entered in self._entered(begun):
                    for lack in self._lacks(entered, alphabet):
                        yield self._text_left(text, lack, alphabet)
        else:
            yield LengthBound(0, exact=True)

    def _text_left(self, text: bytes, lack: LengthBound, alphabet: Alphabet) -> LengthBound:
        if lack.at_least is None or not (alphabet is None or alphabet.issuperset(text)):
            return LengthBound(None, exact=True)
        return LengthBound(len(text) + lack.at_least, lack.exact)

    def shortest_completion(
        self, configuration: int, effort: int, cancel: CancelToken | None = None, alphabet: Alphabet = None
    ) -> Completion:
        """The shortest of the places' own, as the grammars find them."""
        if configuration == DEAD:
            return Completion(None)
        if self.accepting[configuration]:
            return Completion(0, 0, b"")
        ways: list[Completion] = []
        for part, zone, at in self._keys[configuration]:
            if part is ZonePart.UNTIL:
                ways.append(_joined(b"", Completion(0, 0, b""), self._until[zone][at:], alphabet))
            elif part is ZonePart.GRAMMAR:
                found = self._inner[zone].shortest_completion(at, effort, cancel, alphabet)
                ways.append(_joined(b"", found, self._until[zone], alphabet))
            else:
                for begun, text in self._triggers.nearest(at, alphabet).items():
                    inner = self._inner[begun]
                    found = inner.shortest_completion(inner.start, effort, cancel, alphabet)
                    ways.append(_joined(text, found, self._until[begun], alphabet))
        possible = [way for way in ways if way.at_least is not None]
        if not possible:
            return Completion(None)
        least = min(way.at_least or 0 for way in possible)
        best = min(possible, key=lambda way: (way.at_most is None, way.at_most or 0, way.text is None))
        return Completion(least, best.at_most, best.text)

    # ------------------------------------------------------------------ where it stands

    def places(self, configuration: int) -> tuple[ZoneState, ...]:
        """Where the output may stand, in no more than one order."""
        return tuple(sorted(self._keys[configuration]))

    def read(self, before: bytes | None, configuration: int, data: bytes, after: int) -> bytes | None:
        """What the first zone's grammar has read, where an output is in that zone.

        Args:
            before: the same, before the token; None outside of zones.
            configuration: where the output stood before the token.
            data: the token's bytes.
            after: where it stands now.

        Returns:
            None outside of that zone.
        """
        found, at = before, configuration
        for byte in data:
            at = self.step(at, byte)
            longer = b"" if found is None else found + bytes((byte,))
            found = longer if self._is_ruled(at) else None
        if at == after and data:
            return found
        return (before or b"") if self._is_ruled(after) else None  # a token taken whole

    def _is_ruled(self, configuration: int) -> bool:
        """Whether the first zone's grammar rules: that is the one that is drawn."""
        return any(place.part is ZonePart.GRAMMAR and place.zone == 0 for place in self._keys[configuration])

    def spans(self, configuration: int) -> tuple[Span, ...]:
        """The places in the first zone's source."""
        return self._collected(lambda zone, at: self._inner[zone].spans(at), configuration)

    def edge_spans(self, configuration: int, byte_class: int) -> tuple[Span, ...]:
        """What in the first zone's source reads a byte."""

        def found(zone: int, at: int) -> tuple[Span, ...]:
            inner = self._inner[zone]
            return inner.edge_spans(at, int(inner.class_of_byte[byte_class]))

        return self._collected(found, configuration)

    def _collected(self, spans: Callable[[int, int], tuple[Span, ...]], configuration: int) -> tuple[Span, ...]:
        source = self.zones[0].grammar.source
        found: set[Span] = set()
        for part, zone, at in self._keys[configuration]:
            if part is ZonePart.GRAMMAR and self.zones[zone].grammar.source == source:
                found.update(spans(zone, at))
        return tuple(sorted(found))

    def next_properties(self, configuration: int) -> NextProperties:
        """Those of the object that is open, where only a grammar may go on."""
        places = self._keys[configuration]
        if len(places) != 1:
            return NextProperties()
        (place,) = places
        return self._inner[place.zone].next_properties(place.at) if place.part is ZonePart.GRAMMAR else NextProperties()

    def open_rules(self, configuration: int) -> tuple[str, ...]:
        """The rules that are open in a grammar."""
        inside = (place for place in self.places(configuration) if place.part is ZonePart.GRAMMAR)
        return tuple(dict.fromkeys(name for _, zone, at in inside for name in self._inner[zone].open_rules(at)))


def _token_triggers(zones: Sequence[Zone], vocabulary: Vocabulary) -> dict[TokenSet, int]:
    """The sets of tokens that begin a zone, taken whole."""
    found: dict[TokenSet, int] = {}
    for index, zone in enumerate(zones):
        names = {zone.after_token, zone.after} - {""}
        ids = [token_id for token_id, name in vocabulary.special.items() if name in names]
        if zone.after_token:
            text = zone.after_token.encode()
            ids += [token_id for token_id, token in enumerate(vocabulary.tokens) if token == text]
            if not ids:
                raise VocabularyError(f"this vocabulary has no token {zone.after_token}, which a zone waits for")
        if ids:
            found.setdefault(TokenSet((), tuple(sorted(ids)), negated=False), index)
    return found


def _joined(before: bytes, found: Completion, behind: bytes, alphabet: Alphabet) -> Completion:
    if found.at_least is None or not (alphabet is None or alphabet.issuperset(before + behind)):
        return Completion(None)
    more = len(before) + len(behind)
    return Completion(
        found.at_least + more,
        None if found.at_most is None else found.at_most + more,
        None if found.text is None else before + found.text + behind,
    )
