"""Quantifiers: their bounds, and llama.cpp's limits on them.

llama.cpp expands repetitions to rules and refuses a size beyond a threshold (`handle_repetitions` in
`src/llama-grammar.cpp`). It counts symbols: every name that it has seen, one for a group, and one for each optional
repetition. The count is tracked here only to report what llama.cpp refuses.
"""

from __future__ import annotations

from typing import Final

from engine.notations.gbnf.frame import Item
from engine.notations.gbnf.reader import GbnfReader, error
from engine.source import Severity

LLAMA_REPETITIONS: Final = 2000  # its MAX_REPETITION_THRESHOLD
_SIGNS: Final[dict[str, tuple[int, int | None]]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}


def read_bounds(reader: GbnfReader, *, lines: bool) -> tuple[int, int | None]:
    """Read one of `* + ? {n} {n,} {n,m} {,n}`."""
    start = reader.at
    sign = reader.peek()
    reader.at += 1
    if sign in _SIGNS:
        return _SIGNS[sign]
    reader.skip_blanks(lines=lines)
    minimum = maximum = reader.number()
    reader.skip_blanks(lines=lines)
    if reader.accept(","):
        reader.skip_blanks(lines=lines)
        maximum = reader.number()
        reader.skip_blanks(lines=lines)
    if not reader.accept("}") or (minimum is None and maximum is None):
        hint = "Write `{2}`, `{2,}` or `{2,5}`"
        raise error("bad-repetition", reader.since(start), "`{` begins a count that is malformed", hint)
    if minimum is None:
        message = "llama.cpp wants a number before the comma"
        hint = "Write `{0,…}` for llama.cpp"
        reader.note("compat-repetition", Severity.HINT, reader.since(start), message, hint)
        return 0, maximum
    if maximum is not None and maximum < minimum:
        message = f"at least {minimum:,} and at most {maximum:,} is impossible"
        raise error("bad-repetition", reader.since(start), message, "Swap the numbers")
    return minimum, maximum


class LlamaSymbols:
    """The number of symbols in llama.cpp's table."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._generated = 0

    @property
    def count(self) -> int:
        """The number of symbols."""
        return len(self._names) + self._generated

    def name(self, name: str) -> None:
        """Count the name of a rule that is defined or used."""
        self._names.add(name)

    def generate(self, number: int) -> None:
        """Count generated rules."""
        self._generated += number

    def repeat(self, item: Item, minimum: int, maximum: int | None) -> tuple[str, str] | None:
        """Count a repetition and update its item; return a message and a hint if llama.cpp behaves differently.

        Args:
            item: the operand.
            minimum: the smallest count.
            maximum: the largest count; None for any number.
        """
        problem = None
        shorter = "Use `*` or `+`, or smaller counts, for llama.cpp"
        if item.vanished:
            problem = "llama.cpp refuses to repeat what is empty", "Remove it for llama.cpp"
        if minimum > LLAMA_REPETITIONS:
            problem = f"llama.cpp refuses more than {LLAMA_REPETITIONS:,} repetitions", shorter
        elif maximum is not None and maximum > LLAMA_REPETITIONS:
            problem = f"llama.cpp knows no bound beyond {LLAMA_REPETITIONS:,}: it refuses this, or drops it", shorter
            maximum = None
        total = max(minimum if maximum is None else maximum, 1)
        item.symbols *= total
        if problem is None and item.symbols >= LLAMA_REPETITIONS:
            problem = (
                f"llama.cpp refuses this: it makes {item.symbols:,} rules of it, and stops at {LLAMA_REPETITIONS:,}",
                shorter,
            )
        self.generate(1 if maximum is None else maximum - minimum)
        return problem
