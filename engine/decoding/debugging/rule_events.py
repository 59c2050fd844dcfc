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
them (`SchemaLocations`). A regular expression has source positions only.

A token is followed byte by byte, so the result includes what it enters and leaves within itself. Rejected: comparing
the automaton's stacks before and after a token. A caller with nothing left to do after a call is not on the stack and
would seem to end before the call does; and a token such as `","` ends one string and begins the next with the same
stack height.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final, NamedTuple, Protocol, TypeAlias
from urllib.parse import unquote

from engine.automata.byte_automaton import DEAD, ByteAutomaton
from engine.automata.rtn.rule_tracker import RuleTracker
from engine.compile import CompiledGrammar
from engine.decoding.debugging.breakpoints import RuleEvents
from engine.schema_automaton.pushdown.automaton import JsonAutomaton
from engine.source import LimitExceededError, Span
from engine.source.catalogue import catalogue_text
from engine.source.json_pointer import escape_step, unescape_step
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
        is_one_rule = self._grammar.has_named_rules and not self._grammar.has_rules
        only = self._grammar.grammar.start if is_one_rule and self._grammar.grammar is not None else ""
        return _PositionFollower(self._grammar.automaton, only)


def _rules_of(grammar: CompiledGrammar) -> tuple[tuple[RuleTracker, tuple[str, ...]] | None, str]:
    """Return the rule tracker of a grammar and the rules' names; None and the reason if rules are not followed."""
    if not grammar.has_rules:
        return None, ""
    if grammar.automaton.token_elements:
        return None, catalogue_text("decoding.rules_name_tokens")
    try:
        automata = grammar.rule_automata(MOST_STATES)
    except LimitExceededError:
        return None, catalogue_text("decoding.rules_too_large", limit=MOST_STATES)
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
            read = self.spans_of(byte)
            if read is None:
                return
            yield _Moment(self._uses, self._uses, read, len(self._uses))

    def spans_of(self, byte: int) -> frozenset[Span] | None:
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
        self._positions = _PositionFollower(automaton)
        self._data = b""

    def take(self, token: bytes) -> Iterator[_Moment]:
        """Yield what each byte of a token did."""
        for byte in token:
            read = self._positions.spans_of(byte)
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


MOST_PLACES: Final = 64
"""The largest number of subschemas that are listed for one value."""

_APPLICATOR_LISTS: Final = ("allOf", "anyOf", "oneOf")
_APPLICATORS: Final = ("if", "then", "else", "not")


class SchemaLocations:
    """The subschemas that apply to a value of a JSON text, by their JSON Pointers.

    The path to a value is known from the bytes alone (`engine.source.json_scanner`). The subschemas that apply to it
    are found by following the same path through the schema, references included. Every subschema that may apply is
    included: for `anyOf`, each alternative. So a breakpoint on a part of a schema concerns values, and stops where one
    begins.
    """

    def __init__(self, text: str) -> None:
        self._root: Any = json.loads(text)
        self._known: dict[JsonPath, tuple[str, ...]] = {(): self._with_applicators([""])}

    def of(self, path: JsonPath) -> tuple[str, ...]:
        """Return the pointers of all subschemas that apply to the value on a path; the root's pointer is empty."""
        known = self._known.get(path)
        if known is None:
            above = self.of(path[:-1])
            below = [child for pointer in above for child in self._below(pointer, path[-1])]
            known = self._known[path] = self._with_applicators(below)
        return known

    def _with_applicators(self, pointers: list[str]) -> tuple[str, ...]:
        found: dict[str, None] = {}
        todo = list(reversed(pointers))
        while todo and len(found) < MOST_PLACES:
            pointer = todo.pop()
            if pointer in found:
                continue
            found[pointer] = None
            schema = self._at(pointer)
            if not isinstance(schema, dict):
                continue
            more = [target for key in ("$ref", "$dynamicRef") for target in self._target(schema.get(key))]
            for key in _APPLICATOR_LISTS:
                parts = schema.get(key)
                more += [f"{pointer}/{key}/{i}" for i in range(len(parts))] if isinstance(parts, list) else []
            more += [f"{pointer}/{key}" for key in _APPLICATORS if key in schema]
            todo += reversed(more)
        return tuple(found)

    def _below(self, pointer: str, step: str | int) -> Iterator[str]:
        schema = self._at(pointer)
        if not isinstance(schema, dict):
            return
        if isinstance(step, int):
            yield from _items(schema, pointer, step)
            return
        declared = False
        if isinstance(properties := schema.get("properties"), dict) and step in properties:
            declared = True
            yield f"{pointer}/properties/{escape_step(step)}"
        for pattern in schema.get("patternProperties") or ():
            if _matches(pattern, step):
                declared = True
                yield f"{pointer}/patternProperties/{escape_step(pattern)}"
        for key in ("additionalProperties", "unevaluatedProperties"):
            if not declared and isinstance(schema.get(key), dict):
                yield f"{pointer}/{key}"

    def _target(self, reference: object) -> list[str]:
        """Return the pointer that a local reference resolves to; empty for references to other addresses."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return []
        fragment = unquote(reference[1:])
        if not fragment or fragment.startswith("/"):
            return [fragment]
        return [found for found in (_anchored(self._root, fragment),) if found is not None]

    def _at(self, pointer: str) -> Any:
        value = self._root
        for part in pointer.split("/")[1:]:
            name = unescape_step(part)
            if isinstance(value, dict):
                value = value.get(name)
            elif isinstance(value, list) and name.isdecimal() and int(name) < len(value):
                value = value[int(name)]
            else:
                return None
        return value


def _items(schema: dict[str, Any], pointer: str, index: int) -> Iterator[str]:
    first = schema.get("prefixItems", schema.get("items") if isinstance(schema.get("items"), list) else None)
    listed = len(first) if isinstance(first, list) else 0
    if index < listed:
        yield f"{pointer}/{'prefixItems' if 'prefixItems' in schema else 'items'}/{index}"
        return
    for key in ("items", "additionalItems", "unevaluatedItems"):
        if isinstance(schema.get(key), dict):
            yield f"{pointer}/{key}"
            break
    if isinstance(schema.get("contains"), dict):
        yield f"{pointer}/contains"


def _anchored(value: Any, anchor: str) -> str | None:
    todo: list[tuple[Any, str]] = [(value, "")]
    while todo:
        part, pointer = todo.pop()
        if isinstance(part, dict):
            if anchor in (part.get("$anchor"), part.get("$dynamicAnchor")):
                return pointer
            todo += [(member, f"{pointer}/{escape_step(name)}") for name, member in part.items()]
        elif isinstance(part, list):
            todo += [(item, f"{pointer}/{i}") for i, item in enumerate(part)]
    return None


def _matches(pattern: object, name: str) -> bool:
    # Python's dialect approximates ECMAScript's here: at worst a subschema is not listed.
    try:
        return isinstance(pattern, str) and re.search(pattern, name) is not None
    except re.error:
        return False
