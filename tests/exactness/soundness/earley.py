"""A small Earley recogniser for grammars over characters.

J. Earley, *An efficient context-free parsing algorithm*, CACM 13(2), 1970; nullable rules are completed where they are
predicted (Aycock and Horspool, *Practical Earley parsing*, The Computer Journal 45(6), 2002). Rules that match no text
are left out first, so that a prefix has items exactly where some text of the language begins with it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

Terminal: TypeAlias = Callable[[str], bool]
Symbol: TypeAlias = "str | Terminal"
Productions: TypeAlias = Mapping[str, Sequence[Sequence[Symbol]]]
_Item: TypeAlias = tuple[str, int, int, int]  # the rule, which production, how much of it was read, where it began


class Recogniser:
    """Recognises texts of one grammar.

    Args:
        productions: by the name of a rule, its alternatives; a name refers to a rule, and a function says whether it
            takes a character.
        start: the rule that a text must match in full.
    """

    def __init__(self, productions: Productions, start: str) -> None:
        productive = _productive(productions)
        self._start = start
        self._rules = {
            name: [way for way in alternatives if _all_in(way, productive)]
            for name, alternatives in productions.items()
        }
        self._nullable = _nullable(self._rules)

    def prefixes(self, text: str) -> tuple[int, bool]:
        """Return how many characters some text of the language begins with, and whether it may end there.

        The answer is about the longest prefix of `text` that begins a text of the language; -1 where the language is
        empty.
        """
        chart = [_Position()]
        self._complete(chart, [(self._start, number, 0, 0) for number in range(len(self._rules[self._start]))])
        if not chart[0].items:
            return -1, False
        for at, character in enumerate(text):
            read = [
                (rule, number, dot + 1, origin)
                for symbol, items in chart[-1].readers.items()
                if symbol(character)
                for rule, number, dot, origin in items
            ]
            if not read:
                return at, chart[-1].is_over
            chart.append(_Position())
            self._complete(chart, read)
        return len(text), chart[-1].is_over

    def matches(self, text: str) -> bool:
        """Return whether a text is in the language."""
        length, may_end = self.prefixes(text)
        return length == len(text) and may_end

    def _complete(self, chart: list[_Position], todo: list[_Item]) -> None:
        here, position = len(chart) - 1, chart[-1]
        items = position.items
        items.update(todo)
        predicted: set[str] = set()
        while todo:
            item = todo.pop()
            rule, number, dot, origin = item
            production = self._rules[rule][number]
            found: list[_Item] = []
            if dot == len(production):
                position.is_over |= rule == self._start and origin == 0
                # A rule that read nothing was completed where it was predicted.
                callers = chart[origin].callers.get(rule, ()) if origin < here else ()
                found = [(name, which, at + 1, began) for name, which, at, began in callers]
            elif not isinstance(symbol := production[dot], str):
                position.readers.setdefault(symbol, []).append(item)
            else:
                position.callers.setdefault(symbol, []).append(item)
                if symbol in self._nullable:
                    found.append((rule, number, dot + 1, origin))
                if symbol not in predicted:
                    predicted.add(symbol)
                    found += [(symbol, which, 0, here) for which in range(len(self._rules[symbol]))]
            for other in found:
                if other not in items:
                    items.add(other)
                    todo.append(other)


class _Position:
    """The items after so many characters, by what comes next in them."""

    def __init__(self) -> None:
        self.items: set[_Item] = set()
        self.callers: dict[str, list[_Item]] = {}
        self.readers: dict[Terminal, list[_Item]] = {}
        self.is_over = False


def _all_in(production: Sequence[Symbol], names: set[str]) -> bool:
    return all(not isinstance(symbol, str) or symbol in names for symbol in production)


def _productive(productions: Productions) -> set[str]:
    """Return the rules that match some text; a terminal is taken to match some character."""
    found: set[str] = set()
    grown = True
    while grown:
        more = {name for name, ways in productions.items() if any(_all_in(way, found) for way in ways)}
        grown, found = more != found, more
    return found


def _nullable(productions: Productions) -> set[str]:
    found: set[str] = set()
    grown = True
    while grown:
        more = {
            name
            for name, ways in productions.items()
            if any(all(isinstance(symbol, str) and symbol in found for symbol in way) for way in ways)
        }
        grown, found = more != found, more
    return found
