"""Zones: grammars that constrain parts of an output, after a trigger and between free text, once or repeatedly.

    free text · trigger · text of the grammar · closing text · free text · …

The complete output is one language, so it runs as one byte automaton built from the grammars' automata. A configuration
is the set of zone states that the output may be in: free text and how much of a trigger was read, a grammar and its
configuration, or the closing text. Everything that runs a grammar runs this automaton too: masks, explanations,
distances, the token budget, replay. A token that crosses a border needs no special rule: its first bytes end the
trigger, and the grammar reads the rest.

A trigger is a text, in any tokenisation, or a special token. Free text contains a trigger's text only at its end. Where
a grammar accepts and may also continue, both paths are followed.

Rejected: watching the decoded text, and switching the mask on when the text ends with the trigger. The rest of the
token that completes the trigger would bypass the grammar.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple

from engine.automata.byte_automaton import DEAD
from engine.automata.byte_classes import ByteClasses
from engine.automata.completion import Alphabet, Completion, LengthBound, NextProperties
from engine.automata.dfa.lazy_table import LazyTable
from engine.compile import CompiledGrammar, compile_grammar
from engine.decoding.constraints.triggers import Triggers
from engine.decoding.errors import ZoneError
from engine.decoding.pipeline_settings import Afterwards, OtherZone, ZoneSettings
from engine.grammar import TokenSet
from engine.source import CancelToken, GrammarError, InvariantError, Limits, Severity, Span
from engine.vocabulary import Vocabulary, VocabularyError

_WHITE_SPACE = frozenset(b" \t\r\n")
_BYTES = ByteClasses(bytes(range(256)), tuple(range(256)), tuple(((byte, byte),) for byte in range(256)))


@dataclass(frozen=True, slots=True)
class Zone:
    """A part of the output that a grammar constrains.

    Attributes:
        grammar: what the zone must match.
        after: the text after which the zone begins; a special token with this name begins it too.
        after_token: the name of a token that begins the zone. With neither, the zone begins at once.
        until: the closing text, which must follow.
        allows_blanks: whether white space may precede the grammar's text; thinking models write it after a trigger.
    """

    grammar: CompiledGrammar
    after: str = ""
    after_token: str = ""
    until: str = ""
    allows_blanks: bool = False


class ZonePart(IntEnum):
    """The part of the output that a text may be in."""

    BEFORE = 0  # free text, no zone yet
    BETWEEN = 1  # free text after a zone
    GRAMMAR = 2
    UNTIL = 3  # the closing text
    OVER = 4
    BLANKS = 5  # white space before the grammar; the start of the grammar is another state beside it


class ZoneState(NamedTuple):
    """One state of an output with zones.

    Attributes:
        part: the part of the output.
        zone: the index of the zone; -1 in free text and at the end.
        at: the progress in a trigger or the closing text, in bytes, or the grammar's configuration.
    """

    part: ZonePart
    zone: int
    at: int


_Key = frozenset[ZoneState]


def zoned(
    zones: Sequence[Zone], vocabulary: Vocabulary, then: Afterwards = Afterwards.STOP, *, required: bool = True
) -> CompiledGrammar:
    """Return the language of outputs whose zones match grammars, as a grammar that runs like any other.

    Args:
        zones: the possible zones; the first completed trigger begins its zone. A zone without a trigger begins at once.
        vocabulary: the vocabulary whose special tokens can be triggers and can occur in free text.
        then: what follows a zone: nothing, free text to the end, or free text until the next trigger.
        required: whether an output without any zone is incomplete.

    Returns:
        A grammar with the notation and source of the first zone's.

    Raises:
        InvariantError: there are no zones, only some zones lack a trigger, or `then` is AGAIN and no zone has a
            trigger.
        VocabularyError: the vocabulary has no token with the name that a zone waits for.

        >>> from engine import Matcher, compile_grammar
        >>> byte_tokens = Vocabulary([bytes([byte]) for byte in range(256)], eos_ids=[])
        >>> answer = zoned([Zone(compile_grammar("regex", "[0-9]+"), after="=")], byte_tokens)
        >>> answer.fullmatch("6 x 7 =42"), answer.fullmatch("6 x 7 = 42"), answer.fullmatch("42")
        (True, False, False)
    """
    automaton = ZonedAutomaton(zones, vocabulary, then, required=required)
    first = zones[0].grammar
    is_regular = all(zone.grammar.is_regular for zone in zones)
    return CompiledGrammar(first.notation, first.source, first.options, (), automaton, is_regular=is_regular)


class ZonedAutomaton(LazyTable[_Key]):
    """The `ByteAutomaton` of an output with zones. Every byte is a class of its own; see `zoned` for the arguments."""

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
            raise InvariantError("errors.decoding.zones.none")
        self.zones = tuple(zones)
        self._inner = [zone.grammar.automaton for zone in zones]
        self._until = [zone.until.encode() for zone in zones]
        self._then, self._required = then, required
        self._triggers = Triggers([zone.after.encode() for zone in zones])
        self._begins = _token_triggers(zones, vocabulary)
        trigger_ids = {token_id for tokens in self._begins for token_id in tokens.ids}
        special = set(vocabulary.special) - vocabulary.eos_ids
        self._free = TokenSet((), tuple(sorted(special - trigger_ids)), negated=False)
        self._any_special = TokenSet((), tuple(sorted(special)), negated=False)
        inner = [tokens for automaton in self._inner for tokens in automaton.token_elements]
        own = (*self._begins, self._free, self._any_special) if special or self._begins or inner else ()
        self.token_elements = frozenset((*own, *inner))
        waits = [bool(zone.after or zone.after_token) for zone in zones]
        if then is Afterwards.AGAIN and not any(waits):
            raise InvariantError("errors.decoding.zones.again")
        if any(waits) and not all(waits):
            raise InvariantError("errors.decoding.zones.at_once")
        states = (
            {ZoneState(ZonePart.BEFORE, -1, 0)} if all(waits) else set().union(*map(self._enter, range(len(zones))))
        )
        is_live = any(automaton.start != DEAD for automaton in self._inner)
        self.start = self._intern(frozenset(states)) if states and (is_live or not required) else DEAD

    # ------------------------------------------------------------------ steps

    def _follow(self, configuration: int, byte_class: int) -> int:
        found: set[ZoneState] = set()
        for state in self._keys[configuration]:
            found |= self._after_byte(state, byte_class)
        return self._intern(frozenset(found)) if found else DEAD

    def _after_byte(self, state: ZoneState, byte: int) -> set[ZoneState]:
        part, zone, at = state
        if part is ZonePart.GRAMMAR:
            return self._with_exit(zone, self._inner[zone].run(at, bytes((byte,))))
        if part is ZonePart.UNTIL:
            text = self._until[zone]
            if text[at] != byte:
                return set()
            return {ZoneState(part, zone, at + 1)} if at + 1 < len(text) else {self._after_zone()}
        if part is ZonePart.BLANKS:
            return self._enter(zone) if byte in _WHITE_SPACE else set()
        if part is ZonePart.OVER:
            return set()
        if not self._waits(part):
            return {state}
        following = self._triggers.step(at, byte)
        begun = self._triggers.completed[following]
        return {ZoneState(part, -1, following)} if begun is None else self._enter(begun)

    def _enter(self, zone: int) -> set[ZoneState]:
        found = self._with_exit(zone, self._inner[zone].start)
        if found and self.zones[zone].allows_blanks:
            found.add(ZoneState(ZonePart.BLANKS, zone, 0))
        return found

    def _with_exit(self, zone: int, configuration: int) -> set[ZoneState]:
        """Return the state in a grammar, and the state after the grammar if it accepts."""
        if configuration == DEAD:
            return set()
        found = {ZoneState(ZonePart.GRAMMAR, zone, configuration)}
        if self._inner[zone].accepts(configuration):
            found.add(ZoneState(ZonePart.UNTIL, zone, 0) if self._until[zone] else self._after_zone())
        return found

    def _after_zone(self) -> ZoneState:
        return ZoneState(ZonePart.OVER if self._then is Afterwards.STOP else ZonePart.BETWEEN, -1, 0)

    def _waits(self, part: ZonePart) -> bool:
        """Return whether triggers count in a part of free text."""
        return part is ZonePart.BEFORE or self._then is Afterwards.AGAIN

    def _is_accepting(self, key: _Key) -> bool:
        ends = (
            {ZonePart.BETWEEN, ZonePart.OVER} if self._required else {ZonePart.BEFORE, ZonePart.BETWEEN, ZonePart.OVER}
        )
        return any(state.part in ends for state in key)

    # ------------------------------------------------------------------ tokens matched by id

    def token_sets(self, configuration: int) -> frozenset[TokenSet]:
        """Return the token sets that a configuration can take: triggers, and in free text all special tokens."""
        found: set[TokenSet] = set()
        for part, zone, at in self._keys[configuration]:
            if part is ZonePart.GRAMMAR:
                found |= self._inner[zone].token_sets(at)
            elif part in {ZonePart.BEFORE, ZonePart.BETWEEN}:
                found.update((*self._begins, self._free) if self._waits(part) else (self._any_special,))
        return frozenset(found & self.token_elements)

    def take_token(self, configuration: int, data: bytes, takes: Callable[[TokenSet], bool]) -> int:
        """Return the configuration after a token; a trigger token begins its zone and is not read as text.

        Args:
            configuration: the current configuration.
            data: the token's bytes; empty for a token that is no text.
            takes: whether a token set contains the token.
        """
        targets: set[ZoneState] = set()
        text_states: set[ZoneState] = set()
        for state in self._keys[configuration]:
            if state.part is ZonePart.GRAMMAR:
                inner = self._inner[state.zone]
                if inner.token_elements:
                    targets |= self._with_exit(state.zone, inner.take_token(state.at, b"", takes))
            elif state.part in {ZonePart.BEFORE, ZonePart.BETWEEN}:
                begun = (
                    [zone for tokens, zone in self._begins.items() if takes(tokens)] if self._waits(state.part) else []
                )
                if begun:
                    targets |= self._enter(begun[0])
                    continue
                if takes(self._any_special):
                    targets.add(ZoneState(state.part, -1, 0))
            text_states.add(state)
        if data and text_states:
            targets |= self._keys[self.run(self._intern(frozenset(text_states)), data)]
        return self._intern(frozenset(targets)) if targets else DEAD

    # ------------------------------------------------------------------ distance to the end

    def min_remaining(self, place: int, alphabet: Alphabet = None) -> LengthBound:
        """Return the smallest lower bound over the zone states of a configuration."""
        if self.accepting[place]:
            return LengthBound(0, exact=True)
        bounds = [lower_bound for state in self._keys[place] for lower_bound in self._length_bounds(state, alphabet)]
        known = [bound for bound in bounds if bound.at_least is not None]
        least = min(known, key=lambda bound: (bound.at_least, not bound.exact), default=LengthBound(None, exact=True))
        return LengthBound.of(accepting=False, at_least=least.at_least, exact=least.exact)

    def _length_bounds(self, state: ZoneState, alphabet: Alphabet) -> Iterable[LengthBound]:
        part, zone, at = state
        if part is ZonePart.UNTIL:
            yield self._with_text(self._until[zone][at:], LengthBound(0, exact=True), alphabet)
        elif part is ZonePart.GRAMMAR:
            inner = self._inner[zone]
            yield self._with_text(self._until[zone], inner.min_remaining(inner.cursor(at), alphabet), alphabet)
        elif part is ZonePart.BEFORE:
            for begun, text in self._triggers.nearest(at, alphabet).items():
                for entered in self._enter(begun):
                    for bound in self._length_bounds(entered, alphabet):
                        yield self._with_text(text, bound, alphabet)
        elif part is not ZonePart.BLANKS:
            yield LengthBound(0, exact=True)

    def _with_text(self, text: bytes, bound: LengthBound, alphabet: Alphabet) -> LengthBound:
        if bound.at_least is None or not (alphabet is None or alphabet.issuperset(text)):
            return LengthBound(None, exact=True)
        return LengthBound(len(text) + bound.at_least, bound.exact)

    def shortest_completion(
        self, configuration: int, effort: int, cancel: CancelToken | None = None, alphabet: Alphabet = None
    ) -> Completion:
        """Return the shortest of the completions that the grammars find for each zone state.

        Args:
            configuration: the current configuration.
            effort: the limit of each grammar's search, as in `ByteAutomaton.shortest_completion`.
            cancel: cancels the search.
            alphabet: the bytes that may be used; None for all.
        """
        if configuration == DEAD:
            return Completion(None)
        if self.accepting[configuration]:
            return Completion(0, 0, b"")
        completions: list[Completion] = []
        for part, zone, at in self._keys[configuration]:
            if part is ZonePart.UNTIL:
                completions.append(_joined(b"", Completion(0, 0, b""), self._until[zone][at:], alphabet))
            elif part is ZonePart.GRAMMAR:
                found = self._inner[zone].shortest_completion(at, effort, cancel, alphabet)
                completions.append(_joined(b"", found, self._until[zone], alphabet))
            elif part is not ZonePart.BLANKS:
                for begun, text in self._triggers.nearest(at, alphabet).items():
                    inner = self._inner[begun]
                    found = inner.shortest_completion(inner.start, effort, cancel, alphabet)
                    completions.append(_joined(text, found, self._until[begun], alphabet))
        possible = [completion for completion in completions if completion.at_least is not None]
        if not possible:
            return Completion(None)
        least = min(completion.at_least or 0 for completion in possible)
        best = min(
            possible,
            key=lambda completion: (completion.at_most is None, completion.at_most or 0, completion.text is None),
        )
        return Completion(least, best.at_most, best.text)

    # ------------------------------------------------------------------ inspection

    def zone_states(self, configuration: int) -> tuple[ZoneState, ...]:
        """Return the zone states of a configuration, sorted."""
        return tuple(sorted(self._keys[configuration]))

    def read(self, before: bytes | None, configuration: int, data: bytes, after: int) -> bytes | None:
        """Return the bytes that the first zone's grammar has read after a token.

        Args:
            before: the same bytes before the token; None outside of that zone.
            configuration: the configuration before the token.
            data: the token's bytes.
            after: the configuration after the token.

        Returns:
            The bytes; None outside of that zone.
        """
        found, at = before, configuration
        for byte in data:
            at = self.step(at, byte)
            longer = b"" if found is None else found + bytes((byte,))
            found = longer if self._in_first_zone(at) else None
        if at == after and data:
            return found
        # a token that was matched by its id, not by its bytes
        return (before or b"") if self._in_first_zone(after) else None

    def _in_first_zone(self, configuration: int) -> bool:
        """Return whether the first zone's grammar is active; the window draws that grammar."""
        return any(state.part is ZonePart.GRAMMAR and state.zone == 0 for state in self._keys[configuration])

    def spans(self, configuration: int) -> tuple[Span, ...]:
        """Return the current positions in the first zone's source."""
        return self._collected(lambda zone, at: self._inner[zone].spans(at), configuration)

    def edge_spans(self, configuration: int, byte_class: int) -> tuple[Span, ...]:
        """Return the spans of the first zone's source that read a byte."""

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
        """Return the next properties of the open object, if only a grammar can continue."""
        states = self._keys[configuration]
        if len(states) != 1:
            return NextProperties()
        (state,) = states
        return self._inner[state.zone].next_properties(state.at) if state.part is ZonePart.GRAMMAR else NextProperties()

    def open_rules(self, configuration: int) -> tuple[str, ...]:
        """Return the open rules of the active grammars."""
        inside = (state for state in self.zone_states(configuration) if state.part is ZonePart.GRAMMAR)
        return tuple(dict.fromkeys(name for _, zone, at in inside for name in self._inner[zone].open_rules(at)))


def _token_triggers(zones: Sequence[Zone], vocabulary: Vocabulary) -> dict[TokenSet, int]:
    """Return the token sets that begin a zone, each with the zone's index."""
    found: dict[TokenSet, int] = {}
    for index, zone in enumerate(zones):
        names = {zone.after_token, zone.after} - {""}
        ids = [token_id for token_id, name in vocabulary.special.items() if name in names]
        if zone.after_token:
            text = zone.after_token.encode()
            ids += [token_id for token_id, token in enumerate(vocabulary.tokens) if token == text]
            if not ids:
                raise VocabularyError("errors.decoding.zones.no_token", name=zone.after_token)
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


class ZoneGrammars:
    """The compiled grammars of the zones after the first; each is compiled once.

    Args:
        settings: the settings of all zones.
        cancel: cancels a compilation.

    Raises:
        ZoneError: a zone's grammar does not compile, or no text matches it.
    """

    def __init__(self, settings: ZoneSettings, cancel: CancelToken | None = None) -> None:
        self._settings = settings
        self._others = [_zone(number, zone, cancel) for number, zone in enumerate(settings.others, 2)]

    def around(self, grammar: CompiledGrammar, vocabulary: Vocabulary) -> CompiledGrammar:
        """Return the language of outputs in which `grammar` constrains the first zone.

        Args:
            grammar: the grammar of the first zone.
            vocabulary: the vocabulary that resolves trigger tokens.

        Raises:
            VocabularyError: a zone waits for a token that the vocabulary does not have.
        """
        settings = self._settings
        first = Zone(grammar, settings.after, settings.after_token, settings.until)
        return zoned([first, *self._others], vocabulary, settings.then, required=settings.required)


def _zone(number: int, zone: OtherZone, cancel: CancelToken | None) -> Zone:
    if not zone.notation:
        return Zone(_free_until(zone.until), zone.after, zone.after_token)
    try:
        grammar = compile_grammar(zone.notation, zone.text, cancel=cancel)
    except GrammarError as error:
        first = next(diagnostic for diagnostic in error.diagnostics if diagnostic.severity is Severity.ERROR)
        line, column = error.source.line_column(first.span.start)
        found = first.message + (f" ({first.hint})" if first.hint else "")
        raise ZoneError(
            "errors.decoding.zones.compile", number=number, line=line, column=column, found=found
        ) from error
    if grammar.is_empty:
        raise ZoneError("errors.decoding.zones.no_text", number=number)
    return Zone(grammar, zone.after, zone.after_token, zone.until)


def _free_until(closing: str) -> CompiledGrammar:
    """Compile "any text up to the first closing text, inclusive".

    A separate closing text could match a later occurrence, so it is part of the grammar.
    """
    literal = re.escape(closing)
    return compile_grammar("regex", rf"(?s)(?:(?!{literal}).)*{literal}")
