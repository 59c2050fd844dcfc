"""Reference targets of a JSON Schema, in a text that may be invalid.

A reference is resolved as in JSON Schema 2020-12 Core, sections 8 and 9: its address against the enclosing `$id`s, its
fragment as a JSON Pointer (RFC 6901) or an anchor. `$dynamicRef` is resolved like `$ref`: its final target depends on
the evaluation path.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

from engine.notations import links
from engine.notations.json_schema.dialects import SchemaDraft, draft_of
from engine.notations.json_schema.outline import Outline, OutlinePart, OutlineRole
from engine.source import Span
from engine.source.json_pointer import escape_step, unescape_step

REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
DEFINITIONS: Final = ("$defs", "definitions")
DYNAMIC: Final = "$dynamicAnchor"
_ANCHORS: Final = ("$anchor", DYNAMIC)
_BASE: Final = "schema://here/"
_PLAIN: Final = "!$&'()*+,;=:@/?-._~"  # allowed unescaped in a fragment (RFC 3986)


@dataclass(frozen=True, slots=True)
class SchemaReference:
    """A reference and its target.

    Attributes:
        part: the string with the reference.
        steps: the encoded steps of its JSON Pointer; empty for an anchor or a complete resource.
        way: the parts on the path after each step, the start first; empty if the resource is unknown.
        anchor: the anchor that it names; empty for none.
    """

    part: OutlinePart
    steps: tuple[str, ...]
    path: tuple[OutlinePart, ...]
    anchor: str = ""

    @property
    def target(self) -> OutlinePart | None:
        """The target; None if it does not exist."""
        return self.path[-1] if len(self.path) == len(self.steps) + 1 else None


class SchemaTargets:
    """The definitions and references of one text."""

    def __init__(self, outline: Outline) -> None:
        self._by_address: dict[str, OutlinePart] = {}
        self._anchors: dict[tuple[int, str], OutlinePart] = {}
        self._resources: dict[int, tuple[OutlinePart, str]] = {}
        self.root = outline.root
        self.references: list[SchemaReference] = []
        if self.root is None:
            return
        named = self.root.members.get("$schema")
        is_oldest = named is not None and draft_of(named.text or "") is SchemaDraft.DRAFT_4
        self._address_keyword = "id" if is_oldest else "$id"
        self._collect(self.root)
        for part in self.root.walk():
            if part.name in REFERENCES and part.text is not None and _may_refer(part):
                self.references.append(self.refer(part))

    def refer(self, part: OutlinePart) -> SchemaReference:
        """Resolve a string as a reference."""
        assert part.holder is not None
        assert part.text is not None
        resource, base = self._resources[id(part.holder)]
        address, fragment = links.split(part.text)
        if address:
            found = self._by_address.get(_joined(base, address))
            if found is None:
                return SchemaReference(part, (), ())
            resource = found
        if fragment and not fragment.startswith("/"):
            target = self._anchors.get((id(resource), unquote(fragment)))
            return SchemaReference(part, (), () if target is None else (target,), unquote(fragment))
        steps = tuple(fragment.split("/")[1:])
        return SchemaReference(part, steps, tuple(_path(resource, steps)))

    def definitions(self) -> Iterator[tuple[str, OutlinePart]]:
        """Yield the schemas under `$defs` and `definitions`: their names and parts."""
        for part in self.root.walk() if self.root else ():
            is_kept = part.holder is not None and part.holder.name in DEFINITIONS
            if is_kept and part.holder is not None and part.holder.role is OutlineRole.SCHEMAS:
                yield str(part.name), part

    def anchors(self) -> Iterator[tuple[str, OutlinePart, OutlinePart]]:
        """Yield the anchors: the name, the string that defines it, and its schema."""
        for (_home, name), schema in self._anchors.items():
            for keyword in _ANCHORS:
                given = schema.members.get(keyword)
                if given is not None and given.text == name:
                    yield name, given, schema

    def has_anchor(self, name: str, *, beside: OutlinePart, is_dynamic: bool = False) -> bool:
        """Return whether an anchor of this name exists in the resource of a schema.

        Args:
            name: the anchor.
            beside: the schema.
            is_dynamic: whether to include the dynamic anchors of other resources, since `$dynamicRef` searches all.
        """
        if (id(self._resources[id(beside)][0]), name) in self._anchors:
            return True
        return is_dynamic and any(known == name and given.name == DYNAMIC for known, given, _ in self.anchors())

    def targets(self, part: OutlinePart) -> list[str]:
        """Return the references that are valid at a part.

        These are the root, definitions and anchors of its resource, and the other resources.
        """
        resource, _ = self._resources[id(part)]
        found = ["#"]
        for _, schema in self.definitions():
            assert schema.holder is not None
            if self._resources[id(schema.holder)][0] is resource:
                found.append("#" + "".join(f"/{encoded_step(step)}" for step in steps_to(schema, resource)))
        found += [f"#{name}" for name, _, schema in self.anchors() if self._resources[id(schema)][0] is resource]
        found += [address.removeprefix(_BASE) for address, root in self._by_address.items() if root is not resource]
        return found

    def resource_of(self, part: OutlinePart) -> OutlinePart:
        """Return the schema whose address a part belongs to: the nearest one with an address, or the root."""
        return self._resources[id(part)][0]

    def _collect(self, root: OutlinePart) -> None:
        self._by_address[_BASE] = root
        todo = [(root, root, _BASE)]
        while todo:
            part, resource, base = todo.pop()
            if part.role is OutlineRole.SCHEMA and part.is_object:
                resource, base = self._enter(part, resource, base)
            self._resources[id(part)] = resource, base
            todo += [(inner, resource, base) for inner in (*part.members.values(), *part.items)]

    def _enter(self, part: OutlinePart, resource: OutlinePart, base: str) -> tuple[OutlinePart, str]:
        given = part.members.get(self._address_keyword)
        if given is not None and given.text is not None:
            address, fragment = links.split(given.text)
            if address:
                resource, base = part, _joined(base, address)
                self._by_address.setdefault(base, part)
            if fragment:
                self._anchors.setdefault((id(resource), unquote(fragment)), part)
        for keyword in _ANCHORS:
            named = part.members.get(keyword)
            if named is not None and named.text:
                self._anchors.setdefault((id(resource), named.text), part)
        return resource, base


def steps_to(part: OutlinePart, home: OutlinePart) -> list[str]:
    """Return the keys and indices on the path from `home` down to `part`."""
    steps: list[str] = []
    here: OutlinePart | None = part
    while here is not None and here is not home:
        steps.append(str(here.name))
        here = here.holder
    return steps[::-1]


def encoded_step(step: str) -> str:
    """Encode a key as a step of a JSON Pointer in a fragment."""
    return quote(escape_step(step), safe=_PLAIN)


def decoded_step(step: str) -> str:
    """Decode a step of a JSON Pointer in a fragment."""
    return unescape_step(unquote(step))


def quoted(text: str) -> str:
    """Return a text as a JSON string, with non-ASCII characters unescaped."""
    return json.dumps(text, ensure_ascii=False)


def with_step(reference: SchemaReference, place: int, name: str) -> str:
    """Return the text of a reference with one of its steps replaced.

    Args:
        reference: the reference.
        place: the index of the step.
        name: the new key.
    """
    assert reference.part.text is not None
    address, _ = links.split(reference.part.text)
    steps = [*reference.steps[:place], encoded_step(name), *reference.steps[place + 1 :]]
    return f"{address}#/{'/'.join(steps)}"


def key_span(part: OutlinePart) -> Span:
    """Return the span of a part's key, quotes included; the part's own span if it has no key."""
    holder = part.holder
    if holder is None or not holder.is_object or part.name not in holder.keys:
        return part.span
    return holder.keys[str(part.name)]


def _path(start: OutlinePart, steps: Sequence[str]) -> Iterator[OutlinePart]:
    here = start
    yield here
    for step in steps:
        name = decoded_step(step)
        if name in here.members:
            here = here.members[name]
        elif here.is_array and name.isdecimal() and int(name) < len(here.items):
            here = here.items[int(name)]
        else:
            return
        yield here


def _may_refer(part: OutlinePart) -> bool:
    """Return whether a member `$ref` is a reference: not a property of that name, and not data."""
    return part.holder is not None and part.holder.role not in {OutlineRole.SCHEMAS, OutlineRole.DATA}


def _joined(base: str, address: str) -> str:
    """Resolve an address against a base; `urljoin` knows few schemes, so others are resolved as http is."""
    if ":" in address.split("/", 1)[0] or base.startswith("urn:"):
        return address
    scheme, _, rest = base.partition(":")
    return scheme + links.join(f"http:{rest}", address).removeprefix("http")
