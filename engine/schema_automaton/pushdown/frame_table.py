"""The frame table: what each nesting level of a JSON text may be, apart from the levels below.

JSON is visibly pushdown (Alur and Madhusudan, STOC 2004): its bytes alone show when a
level opens and closes. A frame is a level with all its alternatives side by side: the
states that a value may be in, each with the alternatives of the frame below that it
belongs to, as a bit set. So alternatives do not multiply with depth. When a value
ends, the alternatives below whose value it satisfies go on, and the others are
dropped.

Only alternatives that can be completed are kept, so no frame is a dead end.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final
from weakref import ref

import numpy as np

from engine.automata.actions import ENDING, MISS, NEAR, NEEDS_TEXT, POP, PUSH, STAY, ActionTable, decode, encode
from engine.automata.byte_automaton import DEAD
from engine.schema_automaton.formula.nodes import Formula
from engine.schema_automaton.formula.values import ArrayValue, ObjectValue, Value
from engine.schema_automaton.lexing.host_name_lexer import HostNameLexer, TextGate
from engine.schema_automaton.lexing.lexer import (
    CLOSE_BRACE,
    COLON,
    COMMA,
    NUMBER,
    OTHER_KEY,
    QUOTE,
    JsonLexer,
    LexerTable,
    common,
)
from engine.schema_automaton.lexing.lexer_factory import LexerFactory
from engine.schema_automaton.lexing.whitespace import Whitespace
from engine.schema_automaton.pushdown.frames import (
    AFTER_SEPARATOR,
    BEFORE_VALUE,
    ENDS_OF_WHITESPACE,
    OF_MEMBER,
    OPENED,
    READS_LEXEME,
    TYPE_OF_SYMBOL,
    Alternative,
    Alternatives,
    Frame,
    ParsePosition,
    merge,
)
from engine.schema_automaton.solver.array_machine import UNKNOWN_VALUE, ArrayState
from engine.schema_automaton.solver.machine import Memo, provisional_memo
from engine.schema_automaton.solver.object_machine import UNKNOWN_KEY, ObjectTransition
from engine.schema_automaton.solver.solver import SchemaSolver
from engine.source import Limits, checkpoint

_FIRST_ONLY: Final = 0
"""The number of the ending of a value that satisfies the first alternative below, and no other."""

_OF_FRAME: Final = 300  # in bytes of items, a frame that remembers any
_BYTES_FOR_A_CONFIGURATION: Final = 50
"""Each of these bytes takes 20 to 85 bytes of memory, in the frame, the solver and the lexers."""


def _length(value: Value) -> int:
    """Return how many bytes the strings of a value have, about, and 1 for each other value."""
    length, todo = 0, [value]
    while todo:
        part = todo.pop()
        length += len(part) if isinstance(part, str) else 1
        if isinstance(part, ArrayValue):
            todo += part.items
        elif isinstance(part, ObjectValue):
            for name, inner in part.members:
                length += len(name)
                todo.append(inner)
    return length


def _with_members(alternatives: Alternatives) -> Alternatives:
    """Return the alternatives of objects in which some key may come."""
    return tuple([item for item in alternatives if any(item[0].machine.allowed(item[0]))])


class FrameTable:
    """The frames of one grammar, and their stack actions.

    Attributes:
        frames: the frames by number; number 0 is `DEAD`.
        shared: the lexers that all grammars share.
        lexer_table: the lexer states of the frames.
        actions: the stack actions computed so far.
        memo: returns the frames of values, by goals.
    """

    def __init__(self, solver: SchemaSolver, limits: Limits, whitespace: Whitespace) -> None:
        self.solver = solver
        self._limits = limits
        self.shared = common(whitespace, solver.strings.escapes)
        self.lexer_table = LexerTable(limits, self.shared.table)
        self.actions = ActionTable()
        self.frames: list[Frame] = [Frame(ParsePosition.DONE, ())]
        self._ids: dict[tuple[ParsePosition, Alternatives], int] = {}
        self._follows_text: list[bool | None] = [False]
        self._item_bytes = 0
        self._lexers: list[JsonLexer] = [self.shared.nothing]
        self._lexer_of_position: dict[ParsePosition, JsonLexer] = {
            position: self.shared.blanks for position in ParsePosition if position not in READS_LEXEME
        }
        self._lexer_of_position |= dict.fromkeys(AFTER_SEPARATOR, self.shared.blanks_behind)
        self._lexer_of_position |= {ParsePosition.DONE: self.shared.nothing, ParsePosition.ROOT: self.shared.at_root}
        self._factory = LexerFactory(self.shared)
        self._results = Memo(dict)
        self.memo = ref(self._results)
        self._endings: list[int] = [1]
        self._ending_ids: dict[int, int] = {1: _FIRST_ONLY}
        self._of_member = np.zeros((len(OF_MEMBER), NEAR + 1), np.int64)
        self._of_member[-1] = MISS  # the lexer of the key is not known yet
        self._of_member[:, NEAR] = [self._lexer_of_position[position].begin(self.lexer_table) for position in OF_MEMBER]

    # ------------------------------------------------------------------ frames

    def frame(self, position: ParsePosition, alternatives: Alternatives) -> int:
        """Return the number of a frame; `DEAD` without alternatives."""
        if not alternatives:
            return DEAD
        number = self._ids.get((position, alternatives))
        if number is None:
            number = len(self.frames)
            self._limits.check("errors.limit.frames", number, self._limits.configurations, "configurations")
            checkpoint(8 + len(alternatives))
            self._count_item_bytes(alternatives)
            lexer = self._lexer_of(position, alternatives)
            self._ids[position, alternatives] = number
            self.frames.append(Frame(position, alternatives))
            self._follows_text.append(None)
            self._lexers.append(lexer)
            self.actions.begin(number, lexer.begin(self.lexer_table))
        return number

    def _count_item_bytes(self, alternatives: Alternatives) -> None:
        """Count the items that a new frame remembers because another one may not equal them.

        They come from the texts, so only this count bounds what many texts leave in one automaton.
        """
        for state, _ in alternatives:
            if isinstance(state, ArrayState) and state.seen:
                self._item_bytes += _OF_FRAME + sum(map(_length, state.seen))
        self._limits.check(
            "errors.limit.item_bytes",
            self._item_bytes,
            _BYTES_FOR_A_CONFIGURATION * self._limits.configurations,
            "configurations",
        )

    def _lexer_of(self, position: ParsePosition, alternatives: Alternatives) -> JsonLexer:
        """Return the lexer of a frame."""
        lexer = self._lexer_of_position.get(position)
        if lexer is not None:
            return lexer
        match position:
            case ParsePosition.WORD:
                return self.shared.words[alternatives[0][0]]
            case ParsePosition.STRING:
                return self._factory.strings(tuple([language for language, _ in alternatives]))
            case ParsePosition.NUMBER:
                return self._factory.numbers(tuple([piece.language for piece, _ in alternatives]))
            case _:
                return self._factory.keys(tuple([alternative for alternative, _ in alternatives]))

    def evict_states(self, states: Iterable[int]) -> dict[int, int]:
        """Drop all lexer states except some and the start states of frames.

        Returns:
            The new numbers of the states that are kept.
        """
        old, kept = self.lexer_table, len(self.shared.table)
        self.lexer_table = table = LexerTable(self._limits, self.shared.table)
        for lexer, _ in old.owners[kept:]:
            lexer.ids.clear()
        starts = [self.actions.start(frame) for frame in range(1, len(self.frames))]
        numbers = {state: state for state in range(kept)}
        for state in (*starts, *states):
            if state not in numbers:
                lexer, name = old.owners[state]
                numbers[state] = table.state(lexer, name)
        for frame, state in enumerate(starts, 1):
            self.actions.near[frame, NEAR] = numbers[state]
        return numbers

    def follows_text(self, frame: int) -> bool:
        """Return whether the text read from a frame on matters: an item or a key that may not come twice."""
        known = self._follows_text[frame]
        if known is None:
            known = self._follows_text[frame] = self._must_follow(self.frames[frame])
        return known

    def _must_follow(self, frame: Frame) -> bool:
        if frame.position is ParsePosition.IN_ITEM:
            return any(transition.state.machine.distinct is not None for transition, _ in frame.alternatives)
        if frame.position is ParsePosition.KEY:
            states = (state for state, _ in frame.alternatives)
            return any(state.machine.allowed(state)[1] and not state.machine.forgets(state) for state in states)
        return False

    def host_names(self, frame: int, symbol: int) -> tuple[HostNameLexer, TextGate]:
        """Return the lexer of a frame, and the gate that is a symbol of it."""
        lexer = self._lexers[frame]
        assert isinstance(lexer, HostNameLexer)
        return lexer, lexer.labels[symbol]

    # ------------------------------------------------------------------ actions

    def stack_action(self, frame: int, symbol: int) -> int:
        """Return the stack action when the lexer of the top frame ends with a symbol."""
        table = self.actions
        action = table.get(frame, symbol)
        if action != MISS:
            return action
        here = self.frames[frame]
        if here.position not in ENDS_OF_WHITESPACE:
            action = self._end_lexeme(here, self._lexers[frame], symbol)
            table.put(frame, symbol, action)
            return action
        # A vocabulary walk that meets one structural byte meets nearly all.
        known = self._values(frame) if here.position in BEFORE_VALUE else {}
        for each in ENDS_OF_WHITESPACE[here.position]:
            known[each] = self._structure(here, each)
        table.put_near(frame, known)
        return known.get(symbol, DEAD)

    def _values(self, number: int) -> dict[int, int]:
        """Return the actions of a frame where a value begins, by symbol; they depend on the goals of the value."""
        position, transitions = self.frames[number]
        checkpoint(8 + len(transitions))
        below = number  # the frame below the value
        if position not in (ParsePosition.ROOT, ParsePosition.VALUE):
            if any(UNKNOWN_VALUE in state.seen for state, _ in transitions):
                return dict.fromkeys(TYPE_OF_SYMBOL, NEEDS_TEXT)
            transitions = merge(
                (transition, mask) for state, mask in transitions for transition in state.machine.transitions(state)
            )
            below = self.frame(ParsePosition.IN_ITEM, transitions)
        return {
            symbol: encode(PUSH, top, below, reread=symbol == NUMBER)
            for symbol, top in self._value_frames(tuple([transition.goal for transition, _ in transitions])).items()
        }

    @provisional_memo
    def _value_frames(self, goals: tuple[Formula, ...]) -> dict[int, int]:
        """Return the frames of values that may come to satisfy some of the goals, by the symbol of the first byte."""
        # A superset: there may be no value of one of these types.
        kinds = frozenset().union(*map(self.solver.projector.types, goals))
        frames: dict[int, int] = {}
        for symbol, kind in TYPE_OF_SYMBOL.items():
            if kind in kinds:
                starts = [
                    (start, 1 << i) for i, goal in enumerate(goals) for start in self.solver.entry_states(goal, kind)
                ]
                if starts:
                    frames[symbol] = self.frame(OPENED.get(kind, ParsePosition.WORD), merge(starts))
        return frames

    def _end_lexeme(self, frame: Frame, lexer: JsonLexer, symbol: int) -> int:
        match frame.position:
            case ParsePosition.WORD:
                return self._pop([mask for _, mask in frame.alternatives])
            case ParsePosition.STRING | ParsePosition.NUMBER:
                accepting = lexer.accepting_at(symbol)
                if accepting is None:
                    return NEEDS_TEXT
                masks = [mask for i, (_, mask) in enumerate(frame.alternatives) if accepting >> i & 1]
                return self._pop(masks, reread=frame.position is ParsePosition.NUMBER)
            case _:
                return self._key_ended(frame, lexer, symbol, UNKNOWN_KEY)

    def act_on_key(self, number: int, symbol: int, key: str) -> int:
        """Return the stack action when a key ends, given its text.

        Args:
            number: the frame.
            symbol: the symbol with which the key ends.
            key: the decoded key.
        """
        frame, lexer = self.frames[number], self._lexers[number]
        return self._key_ended(frame, lexer, symbol, key)

    def _key_ended(self, frame: Frame, lexer: JsonLexer, symbol: int, key: str) -> int:
        key_ends = lexer.key_ends(symbol)
        checkpoint(8 + len(frame.alternatives))
        transitions: list[tuple[ObjectTransition, int]] = []
        if key_ends is not None:
            ends = tuple(zip(key_ends, frame.alternatives, strict=True))
            if key == UNKNOWN_KEY and any(
                at and at.key_classes and not alternative.machine.forgets(alternative) for at, (alternative, _) in ends
            ):
                return NEEDS_TEXT  # the text may decide whether enough other keys are left
            for at, (alternative, mask) in ends:
                transitions += ((transition, mask) for transition in (at.transitions(alternative, key) if at else ()))
        else:
            label = lexer.labels[symbol]
            name = key if label == OTHER_KEY else label
            for alternative, mask in frame.alternatives:
                following = alternative.machine.transitions_of(alternative, name)
                transitions += ((transition, mask) for transition in following)
        if len(transitions) == 1 and transitions[0][0].state.machine.is_plain:
            return encode(STAY, self._member(*transitions[0]))
        action = self._stay(ParsePosition.AFTER_KEY, merge(transitions))
        if action:  # many tokens that end a key begin its value, so that is requested next
            self.stack_action(decode(self.stack_action(decode(action)[1], COLON))[1], QUOTE)
        return action

    def _member(self, transition: ObjectTransition, mask: int) -> int:
        """Return the frame after a key, and make those up to the next key, which nearly every text visits."""
        alternatives, then = ((transition, mask),), ((transition.state, mask),)
        known = self._ids.get((ParsePosition.AFTER_KEY, alternatives))
        if known is not None:
            return known
        tops, machine = self._value_frames((transition.goal,)), transition.state.machine
        goes_on, closes = any(machine.allowed(transition.state)), machine.can_close(transition.state)
        first = len(self.frames)
        value, behind = first + 1, first + 2
        known = self._ids.get((ParsePosition.AFTER_MEMBER, then))  # from another key
        phases = OF_MEMBER[:2] if known is not None else OF_MEMBER if goes_on else OF_MEMBER[:3]
        self._limits.check("errors.limit.frames", first + len(phases), self._limits.configurations, "configurations")
        for number, position in enumerate(phases, first):
            frame = Frame(position, alternatives if number <= value else then)
            self._ids[frame] = number
            self.frames.append(frame)
            self._follows_text.append(False)
            self._lexers.append(self._lexer_of_position[position])
        self.actions.begin_all(first, self._of_member[: len(phases)])
        near = self.actions.near
        near[first, COLON] = encode(STAY, value)
        for symbol, top in tops.items():
            near[value, symbol] = encode(PUSH, top, value, reread=symbol == NUMBER)
        if known is None:
            if goes_on:
                near[behind, COMMA] = encode(STAY, behind + 1)
            if closes:
                near[behind, CLOSE_BRACE] = self._pop((mask,))
        self.actions.put(value, ENDING | _FIRST_ONLY, behind if known is None else known)
        return first

    def _structure(self, frame: Frame, symbol: int) -> int:
        position, alternatives = frame
        checkpoint(4 + len(alternatives))
        if symbol == QUOTE:
            if any(UNKNOWN_KEY in alternative.extras for alternative, _ in alternatives):
                return NEEDS_TEXT
            return self._stay(ParsePosition.KEY, _with_members(alternatives))
        if symbol == COLON:
            return self._stay(ParsePosition.VALUE, alternatives)
        if symbol == COMMA and position is ParsePosition.AFTER_MEMBER:
            return self._stay(ParsePosition.MEMBER, _with_members(alternatives))
        if symbol == COMMA:
            open_items = [alternative for alternative, _ in alternatives if UNKNOWN_VALUE in alternative.seen]
            if open_items:
                return (
                    self._stay(ParsePosition.ITEM, alternatives)
                    if all(p.machine.has_spare(p) for p in open_items)
                    else NEEDS_TEXT
                )
            return self._stay(
                ParsePosition.ITEM, tuple([item for item in alternatives if item[0].machine.transitions(item[0])])
            )
        return self._pop(
            [mask for alternative, mask in alternatives if alternative.machine.can_close(alternative)]
        )  # a closing bracket

    def _stay(self, position: ParsePosition, alternatives: Alternatives) -> int:
        following = self.frame(position, alternatives)
        return encode(STAY, following) if following else DEAD

    # ------------------------------------------------------------------ values end

    def _pop(self, masks: Iterable[int], *, reread: bool = False) -> int:
        """Return the action that ends a value for the alternatives below that it satisfies."""
        ended = 0
        for mask in masks:
            ended |= mask
        if not ended:
            return DEAD
        number = self._ending_ids.get(ended)
        if number is None:
            number = self._ending_ids[ended] = len(self._endings)
            self._endings.append(ended)
        return encode(POP, number, reread=reread)

    def after(self, below: int, number: int) -> int:
        """Return the frame that continues below an ended value.

        If the text matters only later, the frame is one in which the value is unknown.

        Args:
            below: the frame below.
            number: the number of the ending.

        Returns:
            The frame; `DEAD` if there is none, `NEEDS_TEXT` if the value's text decides.
        """
        following = self.actions.get(below, ENDING | number)
        if following == MISS:
            following = self.after_value(below, number, UNKNOWN_VALUE)
            self.actions.put(below, ENDING | number, following)
            if following > DEAD:
                self.stack_action(following, COMMA)  # this is requested next
        return following

    def after_value(self, below: int, number: int, value: Value) -> int:
        """Return the frame that continues below an ended item whose value is known; otherwise as `after`.

        Args:
            below: the frame below.
            number: the number of the ending.
            value: the item; `UNKNOWN_VALUE` if it was not examined.
        """
        position, transitions = self.frames[below]
        if position is ParsePosition.ROOT:
            return self.frame(ParsePosition.DONE, ((None, 1),))
        ended = self._endings[number]
        checkpoint(4 + len(transitions))
        alternatives: list[tuple[Alternative, int]] = []
        for i, (transition, mask) in enumerate(transitions):
            if not ended >> i & 1:
                continue
            state = transition.state
            if isinstance(state, ArrayState) and state.machine.distinct is not None:
                known = value != UNKNOWN_VALUE
                state = state.machine.after(state, value) if known else state.machine.after_any(state)
                if state is None and not known:
                    return NEEDS_TEXT
            if state is not None:
                alternatives.append((state, mask))
        return self.frame(
            ParsePosition.AFTER_ITEM if position is ParsePosition.IN_ITEM else ParsePosition.AFTER_MEMBER,
            merge(alternatives),
        )
