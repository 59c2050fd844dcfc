"""Finding something in an automaton: a state by number, a rule by name, what reads a byte, where a text leads."""

from __future__ import annotations

import re
from dataclasses import dataclass

from app.panes.automaton.levels import Levels
from app.panes.automaton.views import View

MOST_HITS = 500
_HEX = re.compile(r"(?:0x|\\x)([0-9a-fA-F]{2})")
_ESCAPES = {r"\n": b"\n", r"\t": b"\t", r"\r": b"\r", "␣": b" ", "↵": b"\n"}


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing that was found.

    Attributes:
        says: what it is.
        state: a state of what is shown; None for a rule.
        rule: a rule or region; empty for a state.
        in_part: whether the state is one of the automaton over bytes, which may not be what is shown now.
    """

    says: str
    state: int | None = None
    rule: str = ""
    in_part: bool = False


def find(levels: Levels, view: View, text: str) -> tuple[Hit, ...]:
    """What a text means here, the likeliest first.

    A number is a state. `"…"` is a text: the state that it leads to. One character, or `0x41`, is a byte: the states
    that read it. Anything else is a part of a rule's name, or a text.
    """
    wanted = text.strip() or text
    if not wanted:
        return ()
    hits: list[Hit] = []
    if wanted.isdecimal():
        hits += _numbered(levels, view, int(wanted))
    quoted = len(wanted) > 2 and wanted[0] == wanted[-1] == '"'
    if not quoted:
        folded = wanted.casefold()
        named = [name for name in levels.names if folded in name.casefold()]
        named.sort(key=lambda name: (name.casefold() != folded, not name.casefold().startswith(folded)))
        hits += [Hit(f"{levels.noun} {name}", rule=name) for name in named]
    data = _bytes(wanted[1:-1] if quoted else wanted)
    hits += _led_to(levels, data)
    if len(data) == 1 and not quoted:
        hits += _reading(levels, view, data[0])
    return tuple(dict.fromkeys(hits))[:MOST_HITS]


def _numbered(levels: Levels, view: View, number: int) -> list[Hit]:
    if levels.rules is None and levels.is_whole:
        exists = number < len(levels.part.dfa.states)
        return [Hit(f"state {number}", number, in_part=True)] if exists else []
    automaton = levels.automaton(view)
    if automaton.noun != "state" or number >= len(automaton.dfa.states):
        return []
    named = [state for state in range(len(automaton.dfa.states)) if automaton.name(state).split()[-1] == str(number)]
    return [Hit(f"state {automaton.name(state)}", state) for state in named]


def _led_to(levels: Levels, data: bytes) -> list[Hit]:
    if levels.rules is not None or not levels.is_whole:
        return []
    state = levels.part.dfa.run(data)
    shown = data.decode("utf-8", "backslashreplace")
    return [] if state is None else [Hit(f"“{shown}” leads to state {state}", state, in_part=True)]


def _reading(levels: Levels, view: View, byte: int) -> list[Hit]:
    in_part = levels.rules is None and levels.is_whole
    automaton = levels.part if in_part else levels.automaton(view)
    found = (edge for edge in automaton.dfa.edges if any(first <= byte <= last for first, last in edge.ranges))
    return [Hit(f"state {automaton.name(edge.source)} reads it", edge.source, in_part=in_part) for edge in found]


def _bytes(text: str) -> bytes:
    if found := _HEX.fullmatch(text):
        return bytes.fromhex(found[1])
    for written, meant in _ESCAPES.items():
        text = text.replace(written, meant.decode())
    return text.encode("utf-8", "replace")
