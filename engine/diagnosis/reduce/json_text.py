"""Reduction of a JSON text: a request with its tools, or a schema.

Members and items are removed level by level, a value is replaced by one that it contains, and strings are shortened.
Numbers and the spelling of scalars stay as they are. Each part knows its JSON Pointer in the original text, so that the
guilty part can be named.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

from engine.diagnosis.reduce.minimise import minimise
from engine.notations.json_schema.json_tree import Json, read_json
from engine.source import SourceText
from engine.source.json_pointer import NAMED_SUBSCHEMAS, escape_step

_SCAFFOLDING: Final = frozenset(("$schema", "description", "id", "name", "role", "strict", "title", "type"))
"""Members that a request or a schema requires beside the guilty one."""

_REQUEST_FIELDS: Final = frozenset(("max_tokens", "messages", "model", "prompt", "stream", "tool_choice"))
"""Members that a request has beside its grammar."""

_MOST_LEVELS: Final = 200
_LONGEST_STRING: Final = 400  # code points; a longer string is only tried as a whole


@dataclass(frozen=True, slots=True)
class _Part:
    """A JSON value.

    Attributes:
        pointer: its JSON Pointer in the original text.
        text: the text of a scalar; empty for an array or an object.
        members: the members of an object by key.
        items: the items of an array.
        is_object: whether it is an object.
    """

    pointer: str
    text: str = ""
    members: dict[str, _Part] = field(default_factory=dict)
    items: tuple[_Part, ...] = ()
    is_object: bool = False

    @property
    def children(self) -> tuple[_Part, ...]:
        """Return the members or items."""
        return tuple(self.members.values()) if self.is_object else self.items

    def with_children(self, kept: dict[int, _Part]) -> _Part:
        """Return the part with some of its members or items, by their index."""
        if self.is_object:
            members = {key: kept[index] for index, key in enumerate(self.members) if index in kept}
            return replace(self, members=members)
        return replace(self, items=tuple(kept[index] for index in range(len(self.items)) if index in kept))

    def write(self, indent: str = "") -> str:
        """Return the text, indented by two spaces for each level."""
        if self.text:
            return self.text
        inner = indent + "  "
        if self.is_object:
            rows = [f"{json.dumps(key, ensure_ascii=False)}: {part.write(inner)}" for key, part in self.members.items()]
        else:
            rows = [part.write(inner) for part in self.items]
        opening, closing = "{}" if self.is_object else "[]"
        return opening + ",".join(f"\n{inner}{row}" for row in rows) + (f"\n{indent}" if rows else "") + closing


@dataclass(frozen=True, slots=True)
class ReducedJson:
    """A reduced JSON text.

    Attributes:
        text: the text.
        pointer: the JSON Pointer of the guilty part in the original text.
        tool: the name of the tool that contains it; empty if none does.
    """

    text: str
    pointer: str
    tool: str = ""


def reduce_json(text: str, fails: Callable[[str], bool]) -> ReducedJson:
    """Return a smallest text that still fails.

    Args:
        text: a JSON text that fails.
        fails: whether a candidate fails.

    Raises:
        JsonTextError: the text is not JSON, or nested deeper than 200 levels.
    """
    original = read_json(text, _MOST_LEVELS)
    best = _part_of(original, SourceText(text), "")
    while True:
        before = best
        best = _hoisted(best, fails)
        depth = 0
        while (level := list(_level(best, depth))) != []:
            best = _without_children(best, level, fails)
            depth += 1
        best = _with_short_strings(best, fails)
        if best == before:
            break
    pointer = _guilty(best).pointer
    return ReducedJson(best.write(), pointer, _tool_at(original, pointer))


def _part_of(value: Json, source: SourceText, pointer: str) -> _Part:
    if isinstance(value.value, dict):
        members = {
            key: _part_of(member, source, f"{pointer}/{escape_step(key)}") for key, member in value.members.items()
        }
        return _Part(pointer, members=members, is_object=True)
    if isinstance(value.value, list):
        items = (_part_of(item, source, f"{pointer}/{index}") for index, item in enumerate(value.items))
        return _Part(pointer, items=tuple(items))
    return _Part(pointer, source.excerpt(value.span))


_Path = tuple[int, ...]


def _level(root: _Part, depth: int) -> Iterator[_Path]:
    """Yield the paths of the arrays and objects at a depth, as indices of children."""
    if depth == 0:
        if root.children:
            yield ()
        return
    for index, child in enumerate(root.children):
        yield from ((index, *path) for path in _level(child, depth - 1))


def _at(root: _Part, path: _Path) -> _Part:
    for index in path:
        root = root.children[index]
    return root


def _replaced(root: _Part, path: _Path, part: _Part) -> _Part:
    if not path:
        return part
    children = dict(enumerate(root.children))
    children[path[0]] = _replaced(children[path[0]], path[1:], part)
    return root.with_children(children)


def _without_children(root: _Part, level: list[_Path], fails: Callable[[str], bool]) -> _Part:
    """Remove members and items of the parts at the given paths, as many as possible."""
    units = [(path, index) for path in level for index in range(len(_at(root, path).children))]

    def built(kept: list[tuple[_Path, int]]) -> _Part:
        result = root
        for path in level:
            whole = _at(root, path)
            children = {index: whole.children[index] for at, index in kept if at == path}
            result = _replaced(result, path, whole.with_children(children))
        return result

    return built(minimise(units, lambda kept: fails(built(kept).write())))


def _hoisted(root: _Part, fails: Callable[[str], bool]) -> _Part:
    """Replace values by values of the same kind that they contain, from the root down."""
    pending: list[_Path] = [()]
    while pending:
        path = pending.pop()
        whole = _at(root, path)
        for child in _descendants(whole):
            if child.is_object == whole.is_object and not child.text:
                candidate = _replaced(root, path, child)
                if fails(candidate.write()):
                    root, whole = candidate, child
                    break
        else:
            pending += [(*path, index) for index, child in enumerate(whole.children) if not child.text]
            continue
        pending.append(path)
    return root


def _descendants(part: _Part) -> Iterator[_Part]:
    """Yield the values in a value, nearest first."""
    pending = list(part.children)
    while pending:
        yield from pending
        pending = [inner for each in pending for inner in each.children]


def _with_short_strings(root: _Part, fails: Callable[[str], bool]) -> _Part:
    for path in list(_scalars(root)):
        text = _at(root, path).text
        if text.startswith('"') and len(text) <= _LONGEST_STRING:
            root = _with_short_string(root, path, fails)
    return root


def _with_short_string(root: _Part, path: _Path, fails: Callable[[str], bool]) -> _Part:
    part = _at(root, path)

    def built(kept: list[str]) -> _Part:
        return _replaced(root, path, replace(part, text=json.dumps("".join(kept), ensure_ascii=False)))

    characters = list(json.loads(part.text))
    shortest = minimise(characters, lambda kept: fails(built(kept).write()))
    return built(shortest) if len(shortest) < len(characters) else root


def _scalars(root: _Part) -> Iterator[_Path]:
    if root.text:
        yield ()
    for index, child in enumerate(root.children):
        yield from ((index, *path) for path in _scalars(child))


def _guilty(part: _Part) -> _Part:
    """Return the innermost part that contains everything left, except required members beside it."""
    while True:
        if part.is_object:
            above = part.pointer.rpartition("/")[2]
            beside = (
                frozenset()
                if above in NAMED_SUBSCHEMAS
                else _SCAFFOLDING
                if part.pointer
                else _SCAFFOLDING | _REQUEST_FIELDS
            )
            others = [child for key, child in part.members.items() if key not in beside]
            children = others or list(part.members.values())
        else:
            children = list(part.items)
        if len(children) != 1:
            return part
        part = children[0]


def _tool_at(root: Json, pointer: str) -> str:
    """Return the name of the tool at a JSON Pointer of a request."""
    steps = pointer.split("/")
    if len(steps) < len(("", "tools", "0")) or steps[1] != "tools":
        return ""
    tools: Any = root.members.get("tools")
    tool = tools.items[int(steps[2])]
    named = tool.members.get("function", tool).members.get("name") or tool.members.get("name")
    return named.value if named is not None and isinstance(named.value, str) else ""
