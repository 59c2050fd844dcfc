"""What the references of a JSON Schema lead to, in a text that may be broken.

A reference is looked up as JSON Schema 2020-12 Core, sections 8 and 9, say: its
address against the `$id`s around it, its fragment as a JSON Pointer (RFC 6901)
or as an anchor. `$dynamicRef` leads to what a `$ref` would lead to: which one it
means in the end depends on the way to it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote, unquote

from engine.notations import links
from engine.notations.editing.outline import Meaning, Outline, OutlinePart
from engine.source import Span

REFERENCES: Final = ("$ref", "$dynamicRef", "$recursiveRef")
DEFINITIONS: Final = ("$defs", "definitions")
DYNAMIC: Final = "$dynamicAnchor"
_ANCHORS: Final = ("$anchor", DYNAMIC)
_BASE: Final = "schema://here/"
_PLAIN: Final = "!$&'()*+,;=:@/?-._~"  # what a fragment may hold as it is (RFC 3986)


@dataclass(frozen=True, slots=True)
class SchemaReference:
    """A reference and where it leads.

    Attributes:
        part: the string that refers.
        steps: the steps of its JSON Pointer as they are written; none for an anchor or a whole resource.
        way: what it leads to after each step, the start first; empty where it leads nowhere.
        anchor: the anchor that it names; empty for none.
    """

    part: OutlinePart
    steps: tuple[str, ...]
    way: tuple[OutlinePart, ...]
    anchor: str = ""

    @property
    def target(self) -> OutlinePart | None:
        """Where it leads; None for nowhere."""
        return self.way[-1] if len(self.way) == len(self.steps) + 1 else None


class Schemas:
    """The definitions and references of one text."""

    def __init__(self, outline: Outline) -> None:
        self._by_address: dict[str, OutlinePart] = {}
        self._anchors: dict[tuple[int, str], OutlinePart] = {}
        self._homes: dict[int, tuple[OutlinePart, str]] = {}
        self.root = outline.root
        self.references: list[SchemaReference] = []
        if self.root is None:
            return
        self._collect(self.root)
        for part in self.root.walk():
            if part.name in REFERENCES and part.text is not None and _may_refer(part):
                self.references.append(self.refer(part))

    def refer(self, part: OutlinePart) -> SchemaReference:
        """Where a string leads, read as a reference from its place."""
        assert part.holder is not None
        assert part.text is not None
        home, base = self._homes[id(part.holder)]
        address, fragment = links.split(part.text)
        if address:
            found = self._by_address.get(_joined(base, address))
            if found is None:
                return SchemaReference(part, (), ())
            home = found
        if fragment and not fragment.startswith("/"):
            target = self._anchors.get((id(home), unquote(fragment)))
            return SchemaReference(part, (), () if target is None else (target,), unquote(fragment))
        steps = tuple(fragment.split("/")[1:])
        return SchemaReference(part, steps, tuple(_way(home, steps)))

    def definitions(self) -> Iterator[tuple[str, OutlinePart]]:
        """The schemas that are kept to be referred to: their names, and themselves."""
        for part in self.root.walk() if self.root else ():
            is_kept = part.holder is not None and part.holder.name in DEFINITIONS
            if is_kept and part.holder is not None and part.holder.meaning is Meaning.SCHEMAS:
                yield str(part.name), part

    def anchors(self) -> Iterator[tuple[str, OutlinePart, OutlinePart]]:
        """Anchors: the name, the string that gives it, and the schema that has it."""
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
            is_dynamic: whether to count the dynamic anchors of other resources, too: `$dynamicRef` looks through all.
        """
        if (id(self._homes[id(beside)][0]), name) in self._anchors:
            return True
        return is_dynamic and any(known == name and given.name == DYNAMIC for known, given, _ in self.anchors())

    def targets(self, part: OutlinePart) -> list[str]:
        """The references that mean something at a place: the resource's root, its definitions and its anchors."""
        home, _ = self._homes[id(part)]
        found = ["#"]
        for _, schema in self.definitions():
            assert schema.holder is not None
            if self._homes[id(schema.holder)][0] is home:
                found.append("#" + "".join(f"/{encoded(step)}" for step in steps_to(schema, home)))
        found += [f"#{name}" for name, _, schema in self.anchors() if self._homes[id(schema)][0] is home]
        found += [address.removeprefix(_BASE) for address, root in self._by_address.items() if root is not home]
        return found

    def _collect(self, root: OutlinePart) -> None:
        self._by_address[_BASE] = root
        todo = [(root, root, _BASE)]
        while todo:
            part, home, base = todo.pop()
            if part.meaning is Meaning.SCHEMA and part.is_object:
                home, base = self._enter(part, home, base)
            self._homes[id(part)] = home, base
            todo += [(inner, home, base) for inner in (*part.members.values(), *part.items)]

    def _enter(self, part: OutlinePart, home: OutlinePart, base: str) -> tuple[OutlinePart, str]:
        given = part.members.get("$id")
        if given is not None and given.text is not None:
            address, fragment = links.split(given.text)
            if address:
                home, base = part, _joined(base, address)
                self._by_address.setdefault(base, part)
            if fragment:
                self._anchors.setdefault((id(home), unquote(fragment)), part)
        for keyword in _ANCHORS:
            named = part.members.get(keyword)
            if named is not None and named.text:
                self._anchors.setdefault((id(home), named.text), part)
        return home, base


def steps_to(part: OutlinePart, home: OutlinePart) -> list[str]:
    """The keys and indices that lead from a part down to another."""
    steps: list[str] = []
    here: OutlinePart | None = part
    while here is not None and here is not home:
        steps.append(str(here.name))
        here = here.holder
    return steps[::-1]


def encoded(step: str) -> str:
    """A key as a step of a JSON Pointer in a fragment."""
    return quote(step.replace("~", "~0").replace("/", "~1"), safe=_PLAIN)


def decoded_step(step: str) -> str:
    """The key that a step of a JSON Pointer in a fragment means."""
    return unquote(step).replace("~1", "/").replace("~0", "~")


def quoted(text: str) -> str:
    """A string as JSON, letters as they are."""
    return json.dumps(text, ensure_ascii=False)


def with_step(reference: SchemaReference, place: int, name: str) -> str:
    """What a reference says when one of its steps has another name."""
    assert reference.part.text is not None
    address, _ = links.split(reference.part.text)
    steps = [*reference.steps[:place], encoded(name), *reference.steps[place + 1 :]]
    return f"{address}#/{'/'.join(steps)}"


def key_span(part: OutlinePart) -> Span:
    """The key under which a part stands, quotes included; itself where it stands under none."""
    holder = part.holder
    if holder is None or not holder.is_object or part.name not in holder.keys:
        return part.span
    return holder.keys[str(part.name)]


def _way(home: OutlinePart, steps: Sequence[str]) -> Iterator[OutlinePart]:
    here = home
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
    """Whether a member `$ref` is a reference: not where it is a property of that name, or data."""
    return part.holder is not None and part.holder.meaning not in {Meaning.SCHEMAS, Meaning.DATA}


def _joined(base: str, address: str) -> str:
    """An address against the one around it; `urljoin` knows few schemes, so another is resolved as http is."""
    if ":" in address.split("/", 1)[0] or base.startswith("urn:"):
        return address
    scheme, _, rest = base.partition(":")
    return scheme + links.join(f"http:{rest}", address).removeprefix("http")
