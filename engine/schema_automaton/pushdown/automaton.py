"""The `ByteAutomaton` of a schema: a stack of frames and the lexer state of the top frame.

A configuration is a node of a tree of stacks, a lexer state, and, within an array with
`uniqueItems`, the text of the open item. Frames and lexer states do not depend on the
stack below them, so a mask depends on as many frames as the longest token can close,
and is computed once for all configurations that agree in these frames.
"""

from __future__ import annotations

import json
import sys
from collections import deque
from collections.abc import Callable
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from engine.automata.actions import ENDING, NEEDS_TEXT, PUSH, STAY, ActionTable, decode
from engine.automata.byte_automaton import DEAD, MISS, Loop
from engine.automata.byte_classes import ByteClasses, ByteRanges, join_ranges
from engine.automata.completion import Alphabet, Completion, LengthBound, NextProperties
from engine.grammar import TokenSet
from engine.schema_automaton.formula.nodes import Formula
from engine.schema_automaton.formula.values import Value, from_text
from engine.schema_automaton.lexing.lexer import LexerTable, symbol_of
from engine.schema_automaton.lexing.whitespace import Whitespace
from engine.schema_automaton.pushdown.completion import JsonCompletion
from engine.schema_automaton.pushdown.frame_table import FrameTable
from engine.schema_automaton.pushdown.frames import ParsePosition, Root
from engine.schema_automaton.pushdown.item_text import NO_TEXT, ItemText
from engine.schema_automaton.pushdown.source_map import SourceMap, spans_of
from engine.schema_automaton.solver.object_machine import ObjectState
from engine.schema_automaton.solver.solver import SchemaSolver
from engine.source import CancelToken, LimitExceededError, Limits, Span, is_work_limited, limited_work

DEEPEST: Final = 30_000
"""The recursion depth that a check of nested goals may take; a level of required members takes about ten frames."""

_NODES_FOR_A_CONFIGURATION: Final = 10
"""A document may be nested deeper than the number of configurations allows."""
_BYTES: Final = ByteClasses(bytes(range(256)), tuple(range(256)), tuple(((byte, byte),) for byte in range(256)))
_CLASS_OF_BYTE: Final = np.frombuffer(_BYTES.of_byte, dtype=np.uint8)
_MOST_STATES: Final = 2_000  # of a key, when its names are listed
_MOST_STATES_WITH_CONDITIONS: Final = 1_000  # each of them takes longer
_MOST_NAMES: Final = 50
_BEFORE_KEY: Final = {
    ParsePosition.OPEN_OBJECT: (b'"',),
    ParsePosition.MEMBER: (b'"', b' "'),
    ParsePosition.AFTER_MEMBER: (b',"', b', "'),
    ParsePosition.NUMBER: (b',"', b', "'),  # a comma ends it
}
_BACKSLASH: Final = 0x5C
_ANY_OTHER: Final = 0
"""The symbol of a key that is not one of the names."""
_Cursor = tuple[int, int, ItemText]
"""A cursor: a node, a lexer state, and the text since the outermost open item that must differ from others."""


class JsonAutomaton:
    """The `ByteAutomaton` of a goal over JSON texts. Every byte is a class of its own."""

    token_elements: frozenset[TokenSet] = frozenset()

    def __init__(
        self, solver: SchemaSolver, goal: Formula, limits: Limits, whitespace: Whitespace = Whitespace.FLEXIBLE
    ) -> None:
        self.solver = solver
        self.goal = goal
        self.classes = _BYTES
        self.class_of_byte = _CLASS_OF_BYTE
        self.n_classes = len(_BYTES)
        self.start = DEAD
        self._limits = self.limits = limits
        self._frame_table = FrameTable(solver, limits, whitespace)
        self.string_loops: tuple[Loop, ...] = tuple(
            dict.fromkeys((self._frame_table.shared.any_string_loop, self._frame_table.shared.free_string_loop))
        )
        self.generation = 0
        self._full = limits.configurations // 2
        # Nodes: a frame, the node below, and the start of the text of an item or key that may not come twice (or -1).
        self._nodes: list[tuple[int, int, int]] = [(DEAD, -1, -1)]
        self._node_ids: dict[tuple[int, int, int], int] = {}
        self._follows_text = [False]
        self._cursors: list[_Cursor] = [(DEAD, DEAD, NO_TEXT)]
        self._ids: dict[_Cursor, int] = {self._cursors[DEAD]: DEAD}
        self.accepting = bytearray(1)
        if solver.is_satisfiable(goal):
            root = self._frame_table.frame(ParsePosition.ROOT, ((Root(goal), 1),))
            self.start = self._intern((self._node(root, -1, -1), self.actions.start(root), NO_TEXT))

    # ------------------------------------------------------------------ configurations

    @property
    def size(self) -> int:
        """Return the number of configurations interned so far, including `DEAD`."""
        return len(self._cursors)

    def step(self, configuration: int, byte_class: int) -> int:
        """Return the configuration after a byte; `DEAD` if it has no completion."""
        return self.run(configuration, bytes((byte_class,)))

    def run(self, configuration: int, data: bytes) -> int:
        """Return the configuration after all bytes; `DEAD` if it has no completion."""
        self.evict_states()
        lexer_table, follows_text = self._frame_table.lexer_table, self._follows_text
        node, state, text = self._cursors[configuration]
        entry_of, begun = lexer_table.rows.item, 0
        for done, byte in enumerate(data):
            entry = entry_of(state, byte)
            if entry > DEAD:
                state = entry
                continue
            if follows_text[node]:  # append what the lexer has read since the last action
                text += data[begun:done]
                begun = done
            if entry == MISS:
                entry = lexer_table.entry(state, byte)
                entry_of = lexer_table.rows.item
                if entry > DEAD:
                    state = entry
                    continue
            after = self._act(node, entry, text, byte) if entry != DEAD else None
            if after is None:
                return DEAD
            node, state, text = after
            entry_of, begun = lexer_table.rows.item, done + 1
        if not follows_text[node]:
            return self._intern((node, state, text))
        return self._intern(self._normalised(node, state, text + data[begun:]))

    def row(self, configuration: int) -> list[int]:
        """Return the configuration after each byte."""
        self.evict_states()
        node, state, text = self._cursors[configuration]
        if self._follows_text[node]:
            return [self.step(configuration, byte) for byte in range(256)]
        self._lexer_table.complete(state)
        entries = self._lexer_table.rows[state].tolist()
        # Within a lexeme many bytes lead to one state. They come first: a step may renumber the lexer states.
        after = {entry: self._intern((node, entry, text)) for entry in dict.fromkeys(entries) if entry > DEAD}
        return [
            after[entry] if entry > DEAD else DEAD if entry == DEAD else self.step(configuration, byte)
            for byte, entry in enumerate(entries)
        ]

    def accepts(self, configuration: int) -> bool:
        """Return whether the text may end here."""
        return bool(self.accepting[configuration])

    def expected(self, configuration: int) -> ByteRanges:
        """Return the bytes that may come next, as inclusive ranges."""
        cursor = self._cursors[configuration]
        return join_ranges(((byte, byte),) for byte in range(256) if self._after(cursor, byte) is not None)

    def token_sets(self, configuration: int) -> frozenset[TokenSet]:
        """Return an empty set: no schema names tokens."""
        return frozenset()

    def take_token(self, configuration: int, data: bytes, takes: Callable[[TokenSet], bool]) -> int:
        """Return the configuration after a token's bytes; see `ByteAutomaton`."""
        return self.run(configuration, data) if data else DEAD

    def _intern(self, cursor: _Cursor) -> int:
        number = self._ids.get(cursor)
        if number is None:
            number = self._ids[cursor] = len(self._cursors)
            self._limits.check("errors.limit.configurations", number, self._limits.configurations, "configurations")
            self._cursors.append(cursor)
            self.accepting.append(self._is_accepting(cursor))
        return number

    def _is_accepting(self, cursor: _Cursor) -> bool:
        frame, below, _ = self._nodes[cursor[0]]
        position = self._frame_table.frames[frame].position
        if position is ParsePosition.NUMBER:
            at_root = self._frame_table.frames[self._nodes[below][0]].position is ParsePosition.ROOT
            lexer, name = self._lexer_table.owners[cursor[1]]
            return at_root and lexer.may_end(name)
        return position is ParsePosition.DONE

    # ------------------------------------------------------------------ steps

    def _after(self, cursor: _Cursor, byte: int) -> _Cursor | None:
        node, state, text = cursor
        entry = self._frame_table.lexer_table.entry(state, byte)
        if entry > DEAD:
            return node, entry, text + bytes((byte,)) if self._follows_text[node] else text
        if entry == DEAD:
            return None
        return self._act(node, entry, text, byte)

    def _act(self, node: int, entry: int, text: ItemText, byte: int) -> _Cursor | None:
        """Apply the stack actions of a byte that ends the lexeme of the top frame."""
        read, frame_table = bytes((byte,)), self._frame_table
        actions = frame_table.actions
        while True:
            frame, below, mark = self._nodes[node]
            symbol = symbol_of(entry)
            if mark < 0:
                action = actions.get(frame, symbol)
                if action == MISS:
                    action = self._with_deep_recursion(frame_table.stack_action, frame, symbol)
            else:
                action = self._act_on_text(frame, symbol, text.since(mark) + read)
            if action in {DEAD, NEEDS_TEXT}:
                return self._pass_gate(node, symbol, text, byte) if action == NEEDS_TEXT else None
            kind, top, under, reread = decode(action)
            text_after = text if reread else text + read
            if kind == STAY:
                node = self._node(top, below, len(text) if frame_table.follows_text(top) else -1)
            elif kind == PUSH:
                marked = len(text) if frame_table.follows_text(under) else -1
                node = self._node(top, self._node(under, below, marked), -1)
            else:
                owner, lower, mark = self._nodes[below]
                if mark < 0:
                    top = self.return_action(owner, top)
                else:  # an item that may not come twice
                    top = self._with_deep_recursion(frame_table.after_value, owner, top, _value(text_after.since(mark)))
                if top == DEAD:
                    return None
                node = self._node(top, lower, -1)
            text = text_after if self._follows_text[node] else NO_TEXT
            state = actions.start(top)
            if not reread:
                return node, state, text
            entry = frame_table.lexer_table.entry(state, byte)
            if entry == DEAD:
                return None
            if entry > DEAD:
                return node, entry, text + read if self._follows_text[node] else text

    def _act_on_text(self, frame: int, symbol: int, text: bytes) -> int:
        """Return the stack action of a frame whose text was recorded."""
        if self._frame_table.frames[frame].position is ParsePosition.STRING:
            return self.stack_action(frame, symbol)
        # A key that may not come twice.
        return self._with_deep_recursion(self._frame_table.act_on_key, frame, symbol, json.loads(text))

    def _pass_gate(self, node: int, symbol: int, text: ItemText, byte: int) -> _Cursor | None:
        """Apply a gate of a host name, at which the text decides."""
        frame, below, mark = self._nodes[node]
        lexer, gate = self._frame_table.host_names(frame, symbol)
        text_after = text + bytes((byte,)) if self._follows_text[node] else NO_TEXT
        entry = lexer.through(self._lexer_table, gate, text_after.since(mark))
        if entry == DEAD:
            return None
        if entry < DEAD:
            return self._act(node, entry, text, byte)
        return self._within_host_name(frame, below, len(text_after) if gate.begins else -1, entry, text_after)

    def _within_host_name(self, frame: int, below: int, mark: int, state: int, text: ItemText) -> _Cursor:
        """Return the cursor within a host name; its text is kept if the mark or a level below needs it."""
        node = self._node(frame, below, mark)
        return node, state, text if self._follows_text[node] else NO_TEXT

    def _normalised(self, node: int, state: int, text: ItemText) -> _Cursor:
        """Normalise a cursor whose text is kept; within a host name, apply what the text decides."""
        frame, below, mark = self._nodes[node]
        lexer, name = self._lexer_table.owners[state]
        if mark < 0:
            return node, state, text
        if lexer.needs_text(name):
            return node, lexer.settled(self._lexer_table, name, text.since(mark)), text
        return self._within_host_name(frame, below, -1, state, text)

    def _node(self, frame: int, below: int, mark: int) -> int:
        key = (frame, below, mark)
        number = self._node_ids.get(key)
        if number is None:
            number = self._node_ids[key] = len(self._nodes)
            self._limits.check(
                "errors.limit.document_levels", number, _NODES_FOR_A_CONFIGURATION * self._limits.configurations
            )
            self._nodes.append(key)
            self._follows_text.append(mark >= 0 or (below >= 0 and self._follows_text[below]))
        return number

    # ------------------------------------------------------------------ vocabulary walks

    @property
    def _lexer_table(self) -> LexerTable:
        return self._frame_table.lexer_table

    @property
    def rows(self) -> npt.NDArray[np.int32]:
        """Return the table of lexer states."""
        return self._frame_table.lexer_table.rows

    @property
    def actions(self) -> ActionTable:
        """Return the stack actions computed so far."""
        return self._frame_table.actions

    def stack_top(self, configuration: int, depth: int) -> tuple[int, list[int]]:
        """Return the lexer state of a configuration, and up to `depth` frames of its stack, the top first."""
        node, state, _ = self._cursors[configuration]
        frames: list[int] = []
        while node >= 0 and len(frames) < depth:
            frame, node, _ = self._nodes[node]
            frames.append(frame)
        return state, frames

    def fill(self, state: int, byte_class: int) -> None:
        """Compute a missing entry of a lexer state."""
        self._lexer_table.fill(state, byte_class)

    def complete(self, state: int) -> None:
        """Compute the whole row of a lexer state."""
        self._lexer_table.complete(state)

    def loop_at(self, state: int) -> Loop | None:
        """Return the loop of any string, if a lexer state is equivalent to it."""
        frame_table = self._frame_table
        return frame_table.shared.loop_at(frame_table.lexer_table, state)

    def evict_states(self) -> None:
        """If there are many lexer states, keep only those of configurations.

        Most of them were created by vocabulary walks. No walk may be in progress.
        """
        if len(self._frame_table.lexer_table.owners) < self._full:
            return
        numbers = self._frame_table.evict_states(state for _, state, _ in self._cursors)
        self._cursors = [(node, numbers[state], text) for node, state, text in self._cursors]
        self._ids = {cursor: number for number, cursor in enumerate(self._cursors)}
        self._full = max(self._full, 2 * len(self._lexer_table))
        self.generation += 1

    def widen(self, state: int, longest: int) -> int:
        """Return a lexer state that is equivalent for inputs of up to `longest` bytes."""
        table = self._frame_table.lexer_table
        lexer, name = table.owners[state]
        return lexer.widened(table, name, longest) or state

    def may_have_loop(self, state: int) -> bool:
        """Return whether a lexer state may be in another loop."""
        lexer, name = self._frame_table.lexer_table.owners[state]
        return lexer.may_have_loop(name)

    def cursor(self, configuration: int) -> _Cursor:
        """Return a configuration as a cursor, whose successors are not interned."""
        return self._cursors[configuration]

    def advance(self, cursor: _Cursor, byte: int) -> _Cursor | None:
        """Advance a cursor by one byte; return None if it has no completion."""
        return self._after(cursor, byte)

    def stack_action(self, frame: int, symbol: int) -> int:
        """Return the stack action of a frame whose lexeme ends with a symbol."""
        known = self.actions.get(frame, symbol)
        return self._with_deep_recursion(self._frame_table.stack_action, frame, symbol) if known == MISS else known

    def return_action(self, frame: int, number: int) -> int:
        """Return the frame that continues below one that ends; `NEEDS_TEXT` if the text decides."""
        known = self.actions.get(frame, ENDING | number)
        return self._with_deep_recursion(self._frame_table.after, frame, number) if known == MISS else known

    def _with_deep_recursion(self, function: Callable[..., int], *arguments: object) -> int:
        before = sys.getrecursionlimit()
        sys.setrecursionlimit(before + DEEPEST)
        try:
            if is_work_limited():  # as within a mask, which calls often
                return function(*arguments)
            with limited_work("errors.limit.step_work", self._limits.work):
                return function(*arguments)
        except RecursionError as error:
            raise LimitExceededError("errors.limit.value_recursion", given=DEEPEST + 1, limit=DEEPEST) from error
        finally:
            sys.setrecursionlimit(before)

    # ------------------------------------------------------------------ completion

    def min_remaining(self, cursor: _Cursor, alphabet: Alphabet = None) -> LengthBound:
        """Return 0 for an accepting cursor; otherwise at least one byte for each open level."""
        if cursor[0] == DEAD:
            return LengthBound(None, exact=True)
        if self._is_accepting(cursor):
            return LengthBound.of(accepting=True, at_least=0, exact=True)
        open_levels, node = 0, cursor[0]
        while node >= 0:
            frame, node, _ = self._nodes[node]
            open_levels += self._frame_table.frames[frame].position not in (ParsePosition.ROOT, ParsePosition.NUMBER)
        return LengthBound.of(accepting=False, at_least=open_levels, exact=False)

    def shortest_completion(
        self, configuration: int, effort: int, cancel: CancelToken | None = None, alphabet: Alphabet = None
    ) -> Completion:
        """Return the shortest text that completes a match, if a search of at most `effort` steps finds it.

        Args:
            configuration: the configuration to complete.
            effort: the most steps of the search.
            cancel: cancels the search.
            alphabet: the bytes that the text may contain; None for all.
        """
        if configuration == DEAD:
            return Completion(None)
        return JsonCompletion(self, self._frame_table, effort, cancel, alphabet).run(configuration)

    def split_stacks(self, configuration: int, most: int) -> tuple[int, ...]:
        """Return the configuration itself: the bytes determine the levels of a JSON text, so there is one stack."""
        return (configuration,) if configuration != DEAD else ()

    def next_properties(self, configuration: int) -> NextProperties:
        """Return the properties of the open object that may come next."""
        return _next_properties(self, self._frame_table, configuration) if configuration != DEAD else NextProperties()

    def open_rules(self, configuration: int) -> tuple[str, ...]:
        """Return nothing: a schema has no rules; source locations identify its parts."""
        return ()

    # ------------------------------------------------------------------ source locations

    def spans(self, configuration: int) -> tuple[Span, ...]:
        """Return the source locations of the alternatives of the top frame."""
        node, state, _ = self._cursors[configuration]
        frame, below, _ = self._nodes[node]
        position, alternatives = self._frame_table.frames[frame]
        lexer, name = self._lexer_table.owners[state]
        found: set[Span] = set()
        for i, (alternative, mask) in enumerate(alternatives):
            goals = self._goals_of(below, mask)
            spans = lexer.spans(name, i, alternative) if position is not ParsePosition.KEY else None
            if spans is None and isinstance(alternative, ObjectState):
                names, key_classes = lexer.next_keys(name, i, alternative)
                spans = alternative.machine.key_spans(names, has_others=bool(key_classes))
            elif spans is None:
                spans, goals = spans_of(alternative, goals, self._frame_table.solver.arena.definitions)
            found.update(self._source_map.resolve(spans, goals))
        return tuple(sorted(span for span in found if span.end))  # implied assertions have no location

    @cached_property
    def _source_map(self) -> SourceMap:
        return SourceMap(self._frame_table.solver.arena)

    def _goals_of(self, node: int, mask: int) -> list[Formula]:
        """Return the goals of some alternatives of a level, which the level below contains."""
        if node < 0:
            return []
        _, transitions = self._frame_table.frames[self._nodes[node][0]]
        return [transition.goal for i, (transition, _) in enumerate(transitions) if mask >> i & 1]

    def edge_spans(self, configuration: int, byte_class: int) -> tuple[Span, ...]:
        """Return the source locations of what reads a byte: those of the configuration."""
        return self.spans(configuration)


def _value(text: bytes) -> Value:
    return from_text(text.decode("utf-8"))


# ---------------------------------------------------------------------- names of properties
# The lexeme of a key ends with a symbol for each name, so the names that may still come are those whose symbols are
# reachable and begin a member that can be completed.


def _next_properties(automaton: JsonAutomaton, frame_table: FrameTable, configuration: int) -> NextProperties:
    """Return the properties that may come next; none if no key is open or may begin.

    Args:
        automaton: the automaton.
        frame_table: its frames.
        configuration: a live configuration.
    """
    _, (frame, *_) = automaton.stack_top(configuration, 1)
    position = frame_table.frames[frame].position
    if position is ParsePosition.KEY:
        return _keys_ending(automaton, frame_table, configuration)
    for text in _BEFORE_KEY.get(position, ()):
        in_key = automaton.run(configuration, text)
        if in_key != DEAD:
            _, (frame, *_) = automaton.stack_top(in_key, 1)
            # After an item of an array it may be a string.
            return (
                _keys_ending(automaton, frame_table, in_key)
                if frame_table.frames[frame].position is ParsePosition.KEY
                else NextProperties()
            )
    return NextProperties()


def _keys_ending(automaton: JsonAutomaton, frame_table: FrameTable, configuration: int) -> NextProperties:
    """Return the names that may complete the open key."""
    state, (frame, *_) = automaton.stack_top(configuration, 1)
    lexer_table = frame_table.lexer_table
    lexer, _ = lexer_table.owners[frame_table.actions.start(frame)]
    names: dict[str, None] = {}
    others = False
    most = _MOST_STATES_WITH_CONDITIONS if lexer.has_conditions else _MOST_STATES
    todo, escaped, seen = deque([state]), deque[int](), {state}
    while (todo or escaped) and len(seen) < most and len(names) < _MOST_NAMES:
        here = (todo or escaped).popleft()
        owner, _ = lexer_table.owners[here]
        if owner.ids is not lexer.ids and not owner.reads_names:  # the key has left the names
            others = others or automaton.stack_action(frame, _ANY_OTHER) != DEAD
            continue
        lexer_table.complete(here)
        row = lexer_table.rows[here].tolist()
        for entry in dict.fromkeys(row):
            if entry > DEAD and entry not in seen:
                seen.add(entry)
                # Most names are found without escapes, of which there are many.
                (escaped if entry == row[_BACKSLASH] else todo).append(entry)
            elif entry < DEAD and automaton.stack_action(frame, symbol_of(entry)) != DEAD:
                for name in lexer.keys_ending(symbol_of(entry)):
                    if name is None:
                        others = True
                    else:
                        names[name] = None
    return NextProperties(tuple(names), others)
