"""The map of a schema: one row for each subschema, with its type, constraints, references and states.

The rows are kept in columns, not as objects: a map of 20,000 rows is sent to another process and read there in a few
milliseconds. They are in source order, each row directly before the rows within it.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from engine.source import Span
from engine.source.json_pointer import escape_step

NO_ROW = -1
_APPLICATORS = frozenset(("allOf", "anyOf", "oneOf", "if", "then", "else", "dependentSchemas"))


@dataclass(frozen=True, slots=True, eq=False)
class SchemaMap:
    """The subschemas of one text, by row; row 0 is the whole schema.

    Attributes:
        names: what a row is in the schema around it, such as `city`, `items` or `anyOf 2`.
        steps: the end of its JSON Pointer, which follows that of the row around it.
        types: its types, or the name that it refers to.
        constraints: what else it requires, in a few words.
        required: 1 for a property that must be there.
        groups: 1 for a row that holds definitions, and is no schema itself.
        parents: the row around it; `NO_ROW` for row 0.
        sizes: the number of rows within it, at any depth.
        starts: where its key begins, or its value if it has no key.
        values: where its value begins.
        ends: where its value ends.
        targets: the row that it refers to; `NO_ROW` if it refers to none.
        states: the states of an automaton with one for each character, item and property; 0 for a group.
    """

    names: tuple[str, ...]
    steps: tuple[str, ...]
    types: tuple[str, ...]
    constraints: tuple[str, ...]
    required: bytes
    groups: bytes
    parents: array[int]
    sizes: array[int]
    starts: array[int]
    values: array[int]
    ends: array[int]
    targets: array[int]
    states: array[int]
    _searched: list[str] = field(default_factory=list, repr=False)

    def __len__(self) -> int:
        return len(self.names)

    def span(self, row: int) -> Span:
        """Return the span of a row, with its key."""
        return Span(self.starts[row], self.ends[row])

    def pointer(self, row: int) -> str:
        """Return the JSON Pointer of a row, with the `#` of a reference."""
        steps = [self.steps[one] for one in self.path(row)[1:]]
        return "/".join(["#", *steps])

    def path(self, row: int) -> tuple[int, ...]:
        """Return the rows from row 0 to a row."""
        path = [row]
        while self.parents[path[-1]] != NO_ROW:
            path.append(self.parents[path[-1]])
        return tuple(reversed(path))

    def children(self, row: int) -> list[int]:
        """Return the rows directly within a row; definitions are last."""
        found: list[int] = []
        groups: list[int] = []
        at, end = row + 1, row + 1 + self.sizes[row]
        while at < end:
            (groups if self.groups[at] else found).append(at)
            at += 1 + self.sizes[at]
        return found + groups

    def unfolded(self, row: int) -> list[int]:
        """Return the children of a row, then those of what it refers to, through references to references."""
        found, seen = self.children(row), {row}
        while self.targets[row] not in {NO_ROW, *seen}:
            row = self.targets[row]
            seen.add(row)
            found += self.children(row)
        return list(dict.fromkeys(found))

    def at(self, offset: int) -> int:
        """Return the innermost row at an offset of the text; row 0 outside of all others."""
        row = max(bisect_right(self.starts, offset) - 1, 0)
        while row and self.ends[row] < offset:
            row = self.parents[row]
        return row

    def along(self, path: Iterable[str | int]) -> tuple[frozenset[int], ...]:
        """Return the rows of each value around a position of an output, through references and branches.

        Args:
            path: the properties and the indices of items that lead from the whole value to the position.

        Returns:
            one set for the whole value and one for each step; an empty one where no row is known.
        """
        found, here = [frozenset((0,))], {0}
        for step in path:
            first, others = {f"prefixItems/{step}", f"items/{step}"}, {"items", "additionalItems"}
            if isinstance(step, str):
                first, others = {f"properties/{escape_step(step)}"}, {"additionalProperties"}
            steps: dict[str, set[int]] = {}
            todo, seen = list(here), set(here)
            while todo:
                for child in self.unfolded(todo.pop()):
                    steps.setdefault(self.steps[child], set()).add(child)
                    if self.steps[child].partition("/")[0] in _APPLICATORS and child not in seen:
                        seen.add(child)
                        todo.append(child)
            here = {row for one in first for row in steps.get(one, ())} or {
                row for one in others for row in steps.get(one, ())
            }
            found.append(frozenset(here))
        return tuple(found)

    def find(self, text: str) -> list[int]:
        """Return the rows that contain all words of a text in name, pointer, type or constraints, ignoring case."""
        words = text.casefold().split()
        if not words:
            return []
        if not self._searched:
            self._searched.extend(self._texts())
        return [row for row, found in enumerate(self._searched) if all(word in found for word in words)]

    def _texts(self) -> Iterator[str]:
        """Yield what is searched in each row: of its pointer only the last step, or a name would find all below it."""
        for row, name in enumerate(self.names):
            parts = name, f"/{self.steps[row]}", self.types[row], self.constraints[row]
            yield " ".join(parts).casefold()
