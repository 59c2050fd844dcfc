"""The choice of a lexer for a string, a number or a key: the one that shares most states with others."""

from __future__ import annotations

from typing import Any, Final

from engine.schema_automaton.json_encoding.encoder import Escapes
from engine.schema_automaton.lexing.bounded_lexer import MOST_LEAST, BoundedLexer
from engine.schema_automaton.lexing.host_name_lexer import HostNameLexer
from engine.schema_automaton.lexing.key_lexer import ANY_NAME, KeyClassLexer, KeyLexer, KeyScope, KeyStates, key_scope
from engine.schema_automaton.lexing.lexer import JsonLexer, NumberLexer, SharedLexers, StringLexer
from engine.schema_automaton.lexing.name_lexer import CountedString, NameLexer, Names
from engine.schema_automaton.solver.object_machine import ObjectMachine, ObjectState
from engine.schema_automaton.string_languages.language import Listing, StringLanguage, TextLanguage
from engine.schema_automaton.string_languages.names import NameTrie
from engine.source import checkpoint

OTHER_KEY: Final = ()
"""The label of a key that is not one of the names."""


class LexerFactory:
    """The lexers of one grammar."""

    def __init__(self, common: SharedLexers) -> None:
        self._common = common
        self._of_strings: dict[tuple[StringLanguage, ...], JsonLexer] = {}
        self._of_numbers: dict[tuple[Any, ...], NumberLexer] = {}
        self._of_keys: dict[tuple[KeyScope, ...], KeyStates] = {}
        self._of_cells: dict[TextLanguage, KeyClassLexer] = {}
        self._marked: dict[NameTrie, NameLexer] = {}
        self._named: dict[tuple[NameTrie, int], Names] = {}
        self._alike: dict[NameTrie, Names] = {}
        self._tries: dict[tuple[tuple[ObjectMachine, ...], frozenset[str]], NameTrie] = {}

    def strings(self, languages: tuple[StringLanguage, ...]) -> JsonLexer:
        """Return the lexer of strings of several languages side by side."""
        reader = self._of_strings.get(languages)
        if reader is None:
            reader = self._of_strings[languages] = self._make_strings(languages)
        return reader

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
                spelled = bounded.pattern.spelled
                if spelled is not None:
                    return BoundedLexer(bounded, spelled, pattern)
        listings = [listing for language in languages if (listing := language.listing) is not None]
        if len(listings) == len(languages):
            free = [listing for language, listing in zip(languages, listings, strict=True) if self._is_free(language)]
            others = [listing for listing in listings if listing.others]
            if not free:
                return self._told_apart(listings, shared.home, shared.escapes)
            # The names and the other strings have one encoding each; a product of languages needs more.
            if len(free) == len(others):
                if not any(listing.names for listing in free):
                    return self._told_apart(listings, shared.free_home, shared.escapes)
                if len(free) == len(listings):
                    return self._told_apart(listings, shared.free_home, shared.escapes.of_free_values)
        return StringLexer(languages, shared.home)

    def _is_free(self, language: StringLanguage) -> bool:
        """Return whether a language is encoded as unconstrained values are, if names are encoded differently."""
        return isinstance(language, TextLanguage) and language.escapes is not self._common.escapes

    def _told_apart(self, listings: list[Listing], home: int, escapes: Escapes) -> JsonLexer:
        """Return a lexer of languages that list some strings, or exclude them; other strings continue at `home`."""
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
            return NameLexer(trie, label, home)
        return Names(trie, -1, [label(name) for name in trie.names])

    def numbers(self, languages: tuple[Any, ...]) -> NumberLexer:
        """Return the lexer of numbers of several languages side by side."""
        reader = self._of_numbers.get(languages)
        if reader is None:
            known = self._common.numbers.get(languages[0]) if len(languages) == 1 else None
            reader = self._of_numbers[languages] = known or NumberLexer(languages)
        return reader

    def keys(self, places: tuple[ObjectState, ...]) -> JsonLexer:
        """Return the lexer of the next key in several states side by side."""
        may_come = [(place.case, *place.case.allowed(place)) for place in places]
        if not all(not cells or case.open_cell in cells for case, _, cells in may_come):
            case, names, cells = may_come[0]
            if len(places) == len(cells) == 1 and not names and case.forgets(places[0]):
                return self._cell(case.cells[cells[0]].language(case.goals, places[0].extras))
            scopes = tuple(key_scope(place) for place in places)
            states = self._of_keys.get(scopes)
            if states is None:
                of_first = self._names(case.trie, ANY_NAME)
                states = self._of_keys[scopes] = KeyStates(scopes, of_first, self._common.home)
            return KeyLexer(states, places)
        cases = tuple(case for case, _, _ in may_come)
        trie = self._trie(cases, frozenset(key for place in places for key in place.extras))
        if any(cells for _, _, cells in may_come):
            marked = self._marked.get(trie)
            if marked is None:
                marked = self._marked[trie] = NameLexer(trie, _label_of_key, self._common.home)
            return marked
        allowed = may_come[0][1]
        if len(cases) > 1:
            each = (name for case, mask, _ in may_come for i, name in enumerate(case.names) if mask >> i & 1)
            allowed = sum(1 << number for number in {trie.numbers[name] for name in each})
        return self._names(trie, allowed)

    def _cell(self, language: TextLanguage) -> KeyClassLexer:
        reader = self._of_cells.get(language)
        if reader is None:
            reader = self._of_cells[language] = KeyClassLexer(language, OTHER_KEY, self._common.home)
        return reader

    def _names(self, trie: NameTrie, allowed: int) -> Names:
        names = self._named.get((trie, allowed))
        if names is None:
            alike = self._alike.get(trie)
            names = self._named[trie, allowed] = Names(trie, allowed, trie.names, alike)
            self._alike.setdefault(trie, names)
        return names

    def _trie(self, cases: tuple[ObjectMachine, ...], extras: frozenset[str]) -> NameTrie:
        """Return the trie of the names of some objects and of the keys that may not come again."""
        if len(cases) == 1 and not extras:
            return cases[0].trie
        trie = self._tries.get((cases, extras))
        if trie is None:
            names = (name for case in cases for name in case.names)
            trie = self._tries[cases, extras] = NameTrie((*names, *sorted(extras)), self._common.escapes)
        return trie


def _label_of_key(name: str | None) -> str | tuple[()]:
    return OTHER_KEY if name is None else name
