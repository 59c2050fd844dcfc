"""Some numbers, each in one written form: a trie over its bytes."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from engine.schema_automaton.number_languages.language import NUMERIC
from engine.schema_automaton.number_languages.magnitudes import plain_digits
from engine.source import check_cancelled


class ListedNumbers:
    """A finite language of numbers, each as its sign and digits alone. It is compared by identity.

    A state is a node of the trie.

    Attributes:
        texts: the numbers as they are written.
    """

    def __init__(self, numbers: Iterable[Fraction]) -> None:
        self.texts = tuple(map(plain_digits, numbers))
        self._after: list[dict[int, int]] = [{}]  # for each node, the next one by byte
        self._ends: set[int] = set()
        for text in self.texts:
            check_cancelled()  # an enumeration has thousands of these
            node = 0
            for byte in text.encode("ascii"):
                following = self._after[node].get(byte)
                if following is None:
                    following = self._after[node][byte] = len(self._after)
                    self._after.append({})
                node = following
            self._ends.add(node)

    @property
    def start(self) -> int | None:
        """Return the state before the first byte; None if there are no numbers."""
        return 0 if self.texts else None

    def step(self, state: int, byte: int) -> int | None:
        """Return the state after a byte; None if no number of the list goes on so."""
        return self._after[state].get(byte)

    def row(self, state: int) -> tuple[int | None, ...]:
        """Return the state after each byte of `NUMERIC`."""
        return tuple(map(self._after[state].get, NUMERIC))

    def accepts(self, state: int) -> bool:
        """Return whether a number of the list ends here."""
        return state in self._ends

    def witness(self) -> str | None:
        """Return the first number of the list; None if there are none."""
        return self.texts[0] if self.texts else None
