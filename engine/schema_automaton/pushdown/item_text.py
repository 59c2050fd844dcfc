"""The text of an open item that must differ from others: an immutable string with shared prefixes.

Every byte of such an item has a configuration of its own, which is kept for as long as the grammar. With `bytes` in
each of them, memory would grow with the square of the item's length. Here a text is a chain of blocks of `BLOCK` bytes,
the last one first, plus the bytes after them, so each further byte costs the same.

Rejected: a number for each prefix, kept in a table. Whatever a search looks at would stay in the table.
"""

from __future__ import annotations

from typing import Final

BLOCK: Final = 64


class _Block:
    """A chain of blocks of `BLOCK` bytes, the last one first."""

    __slots__ = ("_hash", "before", "data", "length")

    def __init__(self, before: _Block | None, data: bytes) -> None:
        self.before, self.data = before, data
        self.length: int = BLOCK + (before.length if before is not None else 0)
        self._hash = hash((before, data))

    def __hash__(self) -> int:
        return self._hash


class ItemText:
    """An immutable text. Texts with the same bytes are equal."""

    __slots__ = ("_blocks", "_hash", "_tail")

    def __init__(self, blocks: _Block | None = None, tail: bytes = b"") -> None:
        self._blocks, self._tail = blocks, tail  # a tail is shorter than a block, so the representation is unique
        self._hash = hash((blocks, tail))

    def __len__(self) -> int:
        return len(self._tail) + (self._blocks.length if self._blocks is not None else 0)

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ItemText):
            return NotImplemented
        if self._hash != other._hash or self._tail != other._tail or len(self) != len(other):
            return False
        mine, others = self._blocks, other._blocks
        while mine is not others:  # they have the same length, so both end together
            assert mine is not None
            assert others is not None
            if mine.data != others.data:
                return False
            mine, others = mine.before, others.before
        return True

    def __add__(self, data: bytes) -> ItemText:
        if not data:
            return self
        blocks, tail = self._blocks, self._tail + data
        if len(tail) >= BLOCK:
            whole = len(tail) - len(tail) % BLOCK
            for at in range(0, whole, BLOCK):
                blocks = _Block(blocks, tail[at : at + BLOCK])
            tail = tail[whole:]
        return ItemText(blocks, tail)

    def since(self, start: int) -> bytes:
        """Return the bytes from a position on."""
        parts, block = [self._tail], self._blocks
        while block is not None and block.length > start:
            parts.append(block.data)
            block = block.before
        begin = block.length if block is not None else 0
        return b"".join(reversed(parts))[start - begin :]


NO_TEXT: Final = ItemText()
"""The text of configurations that record none."""
