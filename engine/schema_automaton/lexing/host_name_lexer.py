"""Host names with A-labels, as they are read: where the text decides, it is looked at.

The automaton of such names (see `a_labels`) leads to gates, where an A-label
begins or ends, and there the reading ends for a moment: who knows the text goes
through the gate or does not. So the text is followed within A-labels only. A
walk over a vocabulary, which knows no text, has the tokens behind such a gate
read one by one, of which there are few: where a label may end at once is looked at
before (see `settled`).
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from engine.automata.byte_automaton import DEAD
from engine.schema_automaton.json_encoding.encoded_automaton import EncodedAutomaton, before, is_between
from engine.schema_automaton.lexing.lexer import QUOTE_BYTE, LexerTable, StringLexer
from engine.schema_automaton.string_languages.a_labels import ALabel, Gate, NamesWithALabels, classify
from engine.schema_automaton.string_languages.language import StringLanguage, TextLanguage
from engine.source import Span


class TextGate(NamedTuple):
    """Where a text goes on or ends as its last A-label says, in some languages side by side.

    Attributes:
        begins: whether that label begins there.
        ways: where the reading goes on, by the class of the label; the same for all where it begins.
    """

    begins: bool
    ways: tuple[HostNamePaths, ...]


class HostNamePaths(NamedTuple):
    """Of each language the state, where it goes on; and those in which the string ends, as bits."""

    states: tuple[Any, ...]
    accepting: int


class _Names:
    """Host names with A-labels in place of a language that has none."""

    lengths = None

    def __init__(self, language: TextLanguage, name: str) -> None:
        self._language = language
        self._names = NamesWithALabels(name, language.escapes)
        self.spelled = EncodedAutomaton(self._names.letters, self._names)
        self._far = EncodedAutomaton(self._names.far.letters, self._names.far)
        self.start = self.spelled.start

    def spelled_at(self, state: int) -> EncodedAutomaton:
        """What reads on from a state. Places within characters are the same for all, since only ASCII differs."""
        return self._far if self._names.is_far(before(state)) else self.spelled

    def row(self, state: int) -> list[int | None]:
        """The state after each byte."""
        return [following or None for following in self.spelled_at(state).row(state)]

    def accepts(self, state: int) -> bool:
        """Whether it is clear that the string may end here."""
        return self.spelled.accepts(state)

    def is_free(self, state: int) -> bool:
        """Never: no name ends in any string."""
        return False

    def spans(self, state: int) -> tuple[Span, ...]:
        """Where in the source the match stands."""
        return self._language.places

    def gate(self, state: int | None) -> Gate | None:
        """The gate that a state is, if it is one."""
        return self._names.gates.get(state) if state is not None else None

    def asks(self, state: int | None) -> bool:
        """Whether the name may end here if it ends with an A-label."""
        return state is not None and is_between(state) and self._names.asks(state)

    def told(self, state: int, found: ALabel) -> int:
        """Return such a state, with the answer."""
        return self._names.told(state, found)

    def is_within(self, state: int | None) -> bool:
        """Whether an A-label is being read."""
        return state is not None and self._names.is_within(before(state))


class HostNameLexer(StringLexer):
    """Languages of strings of which some are host names with A-labels; labels of its symbols may be gates."""

    def __init__(self, languages: tuple[StringLanguage, ...]) -> None:
        super().__init__(tuple(map(_with_a_labels, languages)))
        self._names = [(i, language) for i, language in enumerate(self.languages) if isinstance(language, _Names)]

    def may_have_loop(self, state: tuple[Any, ...]) -> bool:
        """Of one language never: the characters of a name are counted."""
        return len(self.languages) > 1

    def fill(self, table: LexerTable, number: int, state: tuple[Any, ...], byte: int) -> None:
        """Fill the whole row, and those within the characters that may follow."""
        if len(self.languages) > 1:
            self._fill_row(table, number, state)
        else:
            self._fill_characters(table, number, state, self.languages[0].spelled_at(state[0]))
        asking = [(i, names) for i, names in self._names if names.asks(state[i])]
        if asking:
            nowhere = (None,) * len(self.languages)
            ways = []
            for found in ALabel:
                accepting = self.accepting(state)
                for i, names in asking:
                    accepting |= names.accepts(names.told(state[i], found)) << i
                ways.append(HostNamePaths(nowhere, accepting))
            table.rows[number, QUOTE_BYTE] = self.ending(TextGate(False, tuple(ways)))

    def entry(self, table: LexerTable, following: tuple[Any, ...]) -> int:
        """The entry for a byte that leads to some states."""
        gates: dict[int, Gate] = {}
        for i, names in self._names:
            gate = names.gate(following[i])
            if gate is not None:
                gates[i] = gate
        if not gates:
            return table.state(self, following)
        ways = []
        for found in ALabel:
            states = [gates[i].to[found] or None if i in gates else at for i, at in enumerate(following)]
            ways.append(HostNamePaths(tuple(states), 0))
        return self.ending(TextGate(any(gate.begins for gate in gates.values()), tuple(ways)))

    def through(self, table: LexerTable, gate: TextGate, text: bytes) -> int:
        """The entry behind a gate: a state, or an end of the reading; `DEAD` where the gate is shut.

        Args:
            table: where the reading goes on.
            gate: the gate.
            text: what was read behind the `xn--` of an A-label that ends there, to the last byte of what ends it.
        """
        if gate.begins:
            ways = gate.ways[ALabel.ANYWHERE]
        else:
            label = json.loads(b'"' + text) if text.endswith(b'"') else json.loads(b'"%b"' % text)[:-1]
            ways = gate.ways[classify(label)]
        if any(state is not None for state in ways.states):
            return table.state(self, ways.states)
        return self.ending(ways.accepting) if ways.accepting else DEAD

    def is_within(self, state: tuple[Any, ...]) -> bool:
        """Whether an A-label is being read."""
        return any(names.is_within(state[i]) for i, names in self._names)

    def settled(self, table: LexerTable, state: tuple[Any, ...], text: bytes) -> int:
        """The number of a state in which it is known whether the A-label, of which so much was read, is one."""
        asking = [(i, names) for i, names in self._names if names.asks(state[i])]
        if asking:
            found, told = classify(json.loads(b'"%b"' % text)), list(state)
            for i, names in asking:
                told[i] = names.told(state[i], found)
            state = tuple(told)
        return table.state(self, state)


def _with_a_labels(language: StringLanguage) -> StringLanguage | _Names:
    name = language.host_names
    return _Names(language, name) if name is not None and isinstance(language, TextLanguage) else language
