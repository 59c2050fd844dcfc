"""The choice of a lexer for a string, a number or a key: the one that shares most states with others."""

from __future__ import annotations

from typing import Any

from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.lexing.bounded_lexer import MOST_LEAST, BoundedLexer
from engine.schema_automaton.lexing.host_name_lexer import HostNameLexer
from engine.schema_automaton.lexing.key_lexer import ANY_NAME, KeyClassLexer, KeyLexer, KeyScope, KeyStates, key_scope
from engine.schema_automaton.lexing.lexer import OTHER_KEY, JsonLexer, NumberLexer, SharedLexers, StringLexer
from engine.schema_automaton.lexing.name_lexer import CountedString, NameLexer, Names
from engine.schema_automaton.solver.object_machine import ObjectMachine, ObjectState
from engine.schema_automaton.string_languages.language import Listing, StringLanguage, TextLanguage
from engine.schema_automaton.string_languages.names import NameTrie
from engine.source import checkpoint


class LexerFactory:
    """The lexers of one grammar."""

    def __init__(self, common: SharedLexers) -> None:
        self._common = common
        self._of_strings: dict[tuple[StringLanguage, ...], JsonLexer] = {}
        self._of_numbers: dict[tuple[Any, ...], NumberLexer] = {}
        self._of_keys: dict[tuple[KeyScope, ...], KeyStates] = {}
        self._of_key_classes: dict[TextLanguage, KeyClassLexer] = {}
        self._marked: dict[NameTrie, NameLexer] = {}
        self._named: dict[tuple[NameTrie, int], Names] = {}
        self._sharing: dict[NameTrie, Names] = {}
        self._tries: dict[tuple[tuple[ObjectMachine, ...], frozenset[str]], NameTrie] = {}

    def strings(self, languages: tuple[StringLanguage, ...]) -> JsonLexer:
        """Return the lexer of strings of several languages side by side."""
        lexer = self._of_strings.get(languages)
        if lexer is None:
            lexer = self._of_strings[languages] = self._make_strings(languages)
        return lexer

    def _make_strings(self, languages: tuple[StringLanguage, ...]) -> JsonLexer:
        shared = self._common
        if languages == (shared.free_string,):
            return shared.strings[shared.free_string]
        if any(language.host_names is not None for language in languages):
            return HostNameLexer(languages)
        if len(languages) == 1:
            lengths, bounded = languages[0].lengths, languages[0].bounded
            if lengths is not None:
                return CountedString(*lengths, shared)
            pattern = self.strings((bounded.pattern,)) if bounded is not None else None
            if bounded is not None and isinstance(pattern, StringLexer) and bounded.least <= MOST_LEAST:
                encoded = bounded.pattern.encoded
                if encoded is not None:
                    return BoundedLexer(bounded, encoded, pattern)
        listings = [listing for language in languages if (listing := language.listing) is not None]
        if len(listings) == len(languages):
            free = [listing for language, listing in zip(languages, listings, strict=True) if self._is_free(language)]
            others = [listing for listing in listings if listing.others]
            if not free:
                return self._name_lexer(listings, shared.any_string_state, shared.escapes)
            # The names and the other strings have one encoding each; a product of languages needs more.
            if len(free) == len(others):
                if not any(listing.names for listing in free):
                    return self._name_lexer(listings, shared.free_string_state, shared.escapes)
                if len(free) == len(listings):
                    return self._name_lexer(listings, shared.free_string_state, shared.escapes.of_free_values)
        return StringLexer(languages, shared.any_string_state)

    def _is_free(self, language: StringLanguage) -> bool:
        """Return whether a language is encoded as unconstrained values are, if names are encoded differently."""
        return isinstance(language, TextLanguage) and language.escapes is not self._common.escapes

    def _name_lexer(self, listings: list[Listing], other_state: int, escapes: Escapes) -> JsonLexer:
        """Return a lexer of languages that list or exclude some strings; other strings continue at `other_state`."""
        others = sum(1 << i for i, listing in enumerate(listings) if listing.others)
        listed: dict[str, int] = {}  # bit i: listing i names the string
        for i, listing in enumerate(listings):
            for name in listing.names:
                checkpoint(1 + len(listings) // 2_048)
                listed[name] = listed.get(name, 0) | 1 << i

        def label(name: str | None) -> int | None:
            return (others if name is None else others ^ listed.get(name, 0)) or None

        trie = NameTrie((name for listing in listings for name in listing.names), escapes)
        if any(listing.others for listing in listings):
            return NameLexer(trie, label, other_state)
        return Names(trie, -1, [label(name) for name in trie.names])

    def numbers(self, languages: tuple[Any, ...]) -> NumberLexer:
        """Return the lexer of numbers of several languages side by side."""
        lexer = self._of_numbers.get(languages)
        if lexer is None:
            known = self._common.numbers.get(languages[0]) if len(languages) == 1 else None
            lexer = self._of_numbers[languages] = known or NumberLexer(languages)
        return lexer

    def keys(self, states: tuple[ObjectState, ...]) -> JsonLexer:
        """Return the lexer of the next key in several states side by side."""
        allowed_keys = [(state.machine, *state.machine.allowed(state)) for state in states]
        if not all(not key_classes or machine.only_class in key_classes for machine, _, key_classes in allowed_keys):
            machine, names, key_classes = allowed_keys[0]
            if len(states) == len(key_classes) == 1 and not names and machine.forgets(states[0]):
                return self._key_class_lexer(
                    machine.key_classes[key_classes[0]].language(machine.strings, states[0].extras)
                )
            scopes = tuple(key_scope(state) for state in states)
            shared = self._of_keys.get(scopes)
            if shared is None:
                of_first = self._names(machine.trie, ANY_NAME)
                shared = self._of_keys[scopes] = KeyStates(scopes, of_first, self._common.any_string_state)
            return KeyLexer(shared, states)
        machines = tuple(machine for machine, _, _ in allowed_keys)
        trie = self._trie(machines, frozenset(key for state in states for key in state.extras))
        if any(key_classes for _, _, key_classes in allowed_keys):
            name_lexer = self._marked.get(trie)
            if name_lexer is None:
                name_lexer = self._marked[trie] = NameLexer(trie, _label_of_key, self._common.any_string_state)
            return name_lexer
        allowed = allowed_keys[0][1]
        if len(machines) > 1:
            each = (name for machine, mask, _ in allowed_keys for i, name in enumerate(machine.names) if mask >> i & 1)
            allowed = sum(1 << number for number in {trie.numbers[name] for name in each})
        return self._names(trie, allowed)

    def _key_class_lexer(self, language: TextLanguage) -> KeyClassLexer:
        lexer = self._of_key_classes.get(language)
        if lexer is None:
            lexer = self._of_key_classes[language] = KeyClassLexer(language, OTHER_KEY, self._common.any_string_state)
        return lexer

    def _names(self, trie: NameTrie, allowed: int) -> Names:
        names = self._named.get((trie, allowed))
        if names is None:
            sharing = self._sharing.get(trie)
            names = self._named[trie, allowed] = Names(trie, allowed, trie.names, sharing)
            self._sharing.setdefault(trie, names)
        return names

    def _trie(self, machines: tuple[ObjectMachine, ...], extras: frozenset[str]) -> NameTrie:
        """Return the trie of the names of some objects and of the keys that may not come again."""
        if len(machines) == 1 and not extras:
            return machines[0].trie
        trie = self._tries.get((machines, extras))
        if trie is None:
            names = (name for machine in machines for name in machine.names)
            trie = self._tries[machines, extras] = NameTrie((*names, *sorted(extras)), self._common.escapes)
        return trie


def _label_of_key(name: str | None) -> str | tuple[()]:
    return OTHER_KEY if name is None else name
