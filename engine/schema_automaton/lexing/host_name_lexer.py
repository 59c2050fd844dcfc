"""A lexer of host names with A-labels, which decides by the text where the automaton cannot.

The automaton of such names (see `a_labels`) leads to gates, where an A-label begins or
ends. A gate ends the lexeme, and the automaton of the schema, which has the text, passes
the gate or not. So the text is recorded within A-labels only. A vocabulary walk, which
has no text, reads the tokens after such a gate one by one; there are few, since where a
label may end at once is decided before (see `settled`).
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from engine.automata.byte_automaton import DEAD
from engine.automata.completion import Alphabet
from engine.schema_automaton.json_encoding.encoded_automaton import EncodedAutomaton, before, is_between
from engine.schema_automaton.lexing.lexer import QUOTE_BYTE, LexerTable, StringLexer
from engine.schema_automaton.string_languages.a_labels import ALabel, Gate, NamesWithALabels, classify
from engine.schema_automaton.string_languages.language import StringLanguage, TextLanguage
from engine.source import Span


class TextGate(NamedTuple):
    """A symbol at which the text of the last A-label decides how some languages continue or end, side by side.

    Attributes:
        begins: whether that label begins here.
        paths: the continuations, by the class of the label; all are the same if it begins.
    """

    begins: bool
    paths: tuple[HostNamePaths, ...]


class HostNamePaths(NamedTuple):
    """The continuation after a gate: the state of each language, and the languages that end here, as bits."""

    states: tuple[Any, ...]
    accepting: int


class _Names:
    """A language of host names with A-labels, in place of one without them."""

    def __init__(self, language: TextLanguage, name: str) -> None:
        self._language = language
        self._names = NamesWithALabels(name, language.escapes)
        self.encoded = EncodedAutomaton(self._names.char_classes, self._names)
        self._far = EncodedAutomaton(self._names.far.char_classes, self._names.far)
        self.start = self.encoded.start

    def encoded_at(self, state: int) -> EncodedAutomaton:
        """Return the encoded automaton of a state. They share the nodes within characters: only ASCII differs."""
        return self._far if self._names.is_far(before(state)) else self.encoded

    def row(self, state: int) -> list[int | None]:
        """Return the state after each byte."""
        return [following or None for following in self.encoded_at(state).row(state)]

    def accepts(self, state: int) -> bool:
        """Return whether the string may end here, whatever its text is."""
        return self.encoded.accepts(state)

    def min_remaining(self, state: int, alphabet: Alphabet = None) -> int | None:
        """Return 0, a lower bound of the bytes that complete a name."""
        return 0

    def is_free(self, state: int) -> bool:
        """Return False: no name may be continued by every string."""
        return False

    def spans(self, state: int) -> tuple[Span, ...]:
        """Return the source locations of the language."""
        return self._language.locations

    def gate(self, state: int | None) -> Gate | None:
        """Return the gate that a state is; None if it is not one."""
        return self._names.gates.get(state) if state is not None else None

    def depends_on_label(self, state: int | None) -> bool:
        """Return whether the name may end here if it ends with an A-label."""
        return state is not None and is_between(state) and self._names.depends_on_label(state)

    def given_label(self, state: int, found: ALabel) -> int:
        """Return a state for which `depends_on_label` holds, given the class of its label."""
        return self._names.given_label(state, found)

    def is_within(self, state: int | None) -> bool:
        """Return whether an A-label is open."""
        return state is not None and self._names.is_within(before(state))


class HostNameLexer(StringLexer):
    """A lexer of languages of strings of which some are host names with A-labels; labels of symbols may be gates."""

    def __init__(self, languages: tuple[StringLanguage, ...]) -> None:
        super().__init__(tuple(map(_with_a_labels, languages)))
        self._names = [(i, language) for i, language in enumerate(self.languages) if isinstance(language, _Names)]

    def may_have_loop(self, state: tuple[Any, ...]) -> bool:
        """Return whether a state may be in a loop; never for a single language, whose characters are counted."""
        return len(self.languages) > 1

    def fill(self, table: LexerTable, number: int, state: tuple[Any, ...], byte: int) -> None:
        """Fill the row of a state, and the rows within the characters that may follow."""
        if len(self.languages) > 1:
            self._fill_row(table, number, state)
        else:
            self._fill_characters(table, number, state, self.languages[0].encoded_at(state[0]))
        undecided = [(i, names) for i, names in self._names if names.depends_on_label(state[i])]
        if undecided:
            nowhere = (None,) * len(self.languages)
            paths = []
            for found in ALabel:
                accepting = self.accepting(state)
                for i, names in undecided:
                    accepting |= names.accepts(names.given_label(state[i], found)) << i
                paths.append(HostNamePaths(nowhere, accepting))
            table.rows[number, QUOTE_BYTE] = self.ending(TextGate(False, tuple(paths)))

    def entry(self, table: LexerTable, following: tuple[Any, ...]) -> int:
        """Return the entry for a byte that leads to some states, one of each language."""
        gates: dict[int, Gate] = {}
        for i, names in self._names:
            gate = names.gate(following[i])
            if gate is not None:
                gates[i] = gate
        if not gates:
            return table.state(self, following)
        paths = []
        for found in ALabel:
            states = [gates[i].to[found] or None if i in gates else at for i, at in enumerate(following)]
            paths.append(HostNamePaths(tuple(states), 0))
        return self.ending(TextGate(any(gate.begins for gate in gates.values()), tuple(paths)))

    def through(self, table: LexerTable, gate: TextGate, text: bytes) -> int:
        """Return the entry after a gate: a state or an end of the lexeme; `DEAD` if the gate is closed.

        Args:
            table: the lexer states.
            gate: the gate.
            text: the text after the `xn--` of an A-label that ends here, including the byte that ends it.
        """
        if gate.begins:
            paths = gate.paths[ALabel.ANYWHERE]
        else:
            label = json.loads(b'"' + text) if text.endswith(b'"') else json.loads(b'"%b"' % text)[:-1]
            paths = gate.paths[classify(label)]
        if any(state is not None for state in paths.states):
            return table.state(self, paths.states)
        return self.ending(paths.accepting) if paths.accepting else DEAD

    @property
    def most_ends(self) -> None:
        """Return None: gates are ends too."""

    def accepting_at(self, symbol: int) -> int | None:
        """Return the languages that end with a symbol, as bits; None for a gate."""
        label: int | TextGate = self.labels[symbol]
        return None if isinstance(label, TextGate) else label

    def needs_text(self, state: tuple[Any, ...]) -> bool:
        """Return whether an A-label is open."""
        return any(names.is_within(state[i]) for i, names in self._names)

    def settled(self, table: LexerTable, state: tuple[Any, ...], text: bytes) -> int:
        """Return the number of a state, resolved by the validity of the open A-label.

        Args:
            table: the lexer states.
            state: the state.
            text: the text of the label so far.
        """
        undecided = [(i, names) for i, names in self._names if names.depends_on_label(state[i])]
        if undecided:
            found, resolved = classify(json.loads(b'"%b"' % text)), list(state)
            for i, names in undecided:
                resolved[i] = names.given_label(state[i], found)
            state = tuple(resolved)
        return table.state(self, state)


def _with_a_labels(language: StringLanguage) -> StringLanguage | _Names:
    name = language.host_names
    return _Names(language, name) if name is not None and isinstance(language, TextLanguage) else language
