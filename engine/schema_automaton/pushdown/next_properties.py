"""The names of the properties that may come next in an object.

The lexeme of a key ends with a symbol for each name, so the names that may still come
are those whose symbols are reachable and begin a member that can be completed.
"""

from __future__ import annotations

from collections import deque
from typing import Final

from engine.automata.byte_automaton import DEAD, ByteAutomaton
from engine.automata.completion import NextProperties
from engine.schema_automaton.lexing.key_lexer import KeyClassLexer, KeyLexer
from engine.schema_automaton.lexing.lexer import symbol_of
from engine.schema_automaton.lexing.lexer_factory import OTHER_KEY
from engine.schema_automaton.lexing.name_lexer import Names
from engine.schema_automaton.pushdown.frame_table import FrameTable
from engine.schema_automaton.pushdown.frames import ParsePosition

_MOST_STATES: Final = 2_000
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


def properties(automaton: ByteAutomaton, frame_table: FrameTable, configuration: int) -> NextProperties:
    """Return the properties that may come next; none if no key is open or may begin.

    Args:
        automaton: the automaton.
        frame_table: its frames.
        configuration: a live configuration.
    """
    _, (frame, *_) = automaton.stack_top(configuration, 1)
    position = frame_table.frames[frame].position
    if position is ParsePosition.KEY:
        return _ends(automaton, frame_table, configuration)
    for text in _BEFORE_KEY.get(position, ()):
        in_key = automaton.run(configuration, text)
        if in_key != DEAD:
            _, (frame, *_) = automaton.stack_top(in_key, 1)
            # After an item of an array it may be a string.
            return (
                _ends(automaton, frame_table, in_key)
                if frame_table.frames[frame].position is ParsePosition.KEY
                else NextProperties()
            )
    return NextProperties()


def _ends(automaton: ByteAutomaton, frame_table: FrameTable, configuration: int) -> NextProperties:
    """Return the names that may complete the open key."""
    state, (frame, *_) = automaton.stack_top(configuration, 1)
    lexer_table = frame_table.lexer_table
    lexer, _ = lexer_table.owners[frame_table.actions.start(frame)]
    assert lexer is not None
    names: dict[str, None] = {}
    others = False
    most = _MOST_STATES_WITH_CONDITIONS if isinstance(lexer, KeyLexer | KeyClassLexer) else _MOST_STATES
    todo, escaped, seen = deque([state]), deque[int](), {state}
    while (todo or escaped) and len(seen) < most and len(names) < _MOST_NAMES:
        here = (todo or escaped).popleft()
        owner, _ = lexer_table.owners[here]
        assert owner is not None
        if owner.ids is not lexer.ids and not isinstance(owner, Names):  # the key has left the names
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
                label = lexer.labels[symbol_of(entry)]
                others = others or label == OTHER_KEY
                # With conditions on keys, the label of an end has a part for each alternative of the object.
                for name in [end.text for end in label if end] if isinstance(label, tuple) else [label]:
                    if isinstance(name, str):
                        names[name] = None
                    else:
                        others = True
    return NextProperties(tuple(names), others)
