"""The tree of a JSON text: objects with their properties, arrays with their items, and the keywords in force at each.

The tree follows from the bytes alone (RFC 8259), so a text of a schema has one. What the schema's automaton expects
before the bytes of a value are the keywords that constrain it there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from engine.diagnosis.parse_trees.values import NodeKind, ParseNode, ParseTree
from engine.source import Span
from engine.source.json_scanner import decode_key

_QUOTE, _ESCAPE = ord('"'), ord("\\")
_OPEN, _CLOSE = frozenset(b"{["), frozenset(b"}]")
_BETWEEN = frozenset(b" \t\n\r:")
_SCALAR_ENDS = frozenset(b" \t\n\r,]}")
_TYPES = {ord("{"): "object", ord("["): "array", _QUOTE: "string", ord("t"): "boolean", ord("f"): "boolean"}
_TYPES[ord("n")] = "null"

Keyword = tuple[Span, str]
"""A keyword: its span, and its JSON Pointer."""


@dataclass(slots=True)
class _OpenNode:
    index: int
    is_object: bool = False
    is_container: bool = False
    items: int = 0
    keywords: dict[Keyword, None] = field(default_factory=dict)


class JsonStructure:
    """Builds the tree of a JSON text byte by byte."""

    def __init__(self) -> None:
        self._nodes: list[ParseNode] = []
        self._open: list[_OpenNode] = []
        self._key = bytearray()  # of a property, as far as it was read
        self._in_string = self._escaped = self._in_scalar = False
        self._begins_key = False  # whether a string that comes next is a key
        self.size = 0

    def take(self, byte: int, keywords: Callable[[], Iterable[Keyword]]) -> None:
        """Read one byte of a legal text.

        Args:
            byte: the byte.
            keywords: returns the keywords that are in force before it.
        """
        at = self.size
        self.size += 1
        if self._in_string:
            self._take_string_byte(byte, keywords)
            return
        if self._in_scalar:
            if byte not in _SCALAR_ENDS:
                self._open[-1].keywords.update(dict.fromkeys(keywords()))
                return
            self._in_scalar = False
            self._close(at)
        if byte == _QUOTE and self._begins_key:
            self._begin(NodeKind.PROPERTY, "", at, ())
            self._key = bytearray()
            self._in_string = True
        elif byte == ord(","):
            self._begins_key = self._open[-1].is_object
        elif byte in _CLOSE:
            self._close(at + 1)
        elif byte not in _BETWEEN:
            self._begin_value(byte, at, keywords())

    def tree(self) -> ParseTree:
        """Return the tree so far."""
        if not self._nodes:
            return (ParseNode(NodeKind.VALUE, "", 0, None, below=None),)
        nodes = self._nodes.copy()
        for one in self._open:
            nodes[one.index] = _with_keywords(nodes[one.index], one.keywords)
        if self._in_string and self._begins_key:
            nodes[-1] = nodes[-1]._replace(name=decode_key(bytes(self._key)))
        return tuple(nodes)

    def _take_string_byte(self, byte: int, keywords: Callable[[], Iterable[Keyword]]) -> None:
        is_end = byte == _QUOTE and not self._escaped
        one = self._open[-1]
        if self._begins_key:
            if is_end:
                self._in_string = self._begins_key = False
                one.keywords = dict.fromkeys(keywords())
                self._nodes[one.index] = self._nodes[one.index]._replace(name=decode_key(bytes(self._key)))
            else:
                self._key.append(byte)
        else:
            one.keywords.update(dict.fromkeys(keywords()))
            if is_end:
                self._in_string = False
                self._close(self.size)
        self._escaped = byte == _ESCAPE and not self._escaped

    def _begin_value(self, byte: int, at: int, keywords: Iterable[Keyword]) -> None:
        if not self._open:
            self._begin(NodeKind.VALUE, "", at, keywords)
        elif self._open[-1].is_container:
            above = self._open[-1]
            self._begin(NodeKind.ITEM, str(above.items), at, keywords)
            above.items += 1
        one = self._open[-1]
        one.keywords.update(dict.fromkeys(keywords))
        detail = _TYPES.get(byte, "number")
        self._nodes[one.index] = self._nodes[one.index]._replace(detail=detail)
        one.is_container, one.is_object = byte in _OPEN, byte == ord("{")
        self._begins_key, self._in_string = one.is_object, byte == _QUOTE
        self._in_scalar = not (one.is_container or self._in_string)

    def _begin(self, kind: NodeKind, name: str, at: int, keywords: Iterable[Keyword]) -> None:
        self._open.append(_OpenNode(len(self._nodes), keywords=dict.fromkeys(keywords)))
        self._nodes.append(ParseNode(kind, name, at, None, below=None))

    def _close(self, end: int) -> None:
        one = self._open.pop()
        below = len(self._nodes) - one.index - 1
        self._nodes[one.index] = _with_keywords(self._nodes[one.index], one.keywords)._replace(end=end, below=below)
        self._begins_key = False


def _with_keywords(node: ParseNode, keywords: dict[Keyword, None]) -> ParseNode:
    return node._replace(spans=tuple(span for span, _ in keywords), pointers=tuple(name for _, name in keywords))
