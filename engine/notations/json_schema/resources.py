"""Resolution of schema references, without fetching anything.

Every `$id` begins a resource; anchors and JSON Pointers are looked up in it. A `$dynamicRef` resolves to the outermost
resource on the evaluation path that has such a dynamic anchor, so the resources on the path are part of a schema's
meaning (its scope). After JSON Schema 2020-12 Core, sections 8 and 9; RFC 3986 and 6901.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import unquote

from engine.notations import links
from engine.notations.json_schema.dialects import BELOW, LIST, NAMED, ONE, SINCE, SchemaDraft, draft_of
from engine.notations.json_schema.findings import SchemaFindings
from engine.notations.json_schema.json_tree import Json
from engine.source import checkpoint
from engine.source.json_pointer import unescape_step

_ROOT = "schema:/"
_INDEX = re.compile("0|[1-9][0-9]{0,8}")  # RFC 6901: ASCII digits, no leading zeros
# A schema without these belongs to the enclosing resource, and has no name.
_MARKS = frozenset(("$schema", "$id", "id", "$anchor", "$dynamicAnchor"))


@dataclass(eq=False, slots=True)
class Resource:
    """A schema with its own address.

    Attributes:
        anchors: its anchors, dynamic ones included.
        dynamic: its dynamic anchors.
        recursive: whether `$recursiveAnchor` is true (draft 2019-09).
    """

    address: str
    root: Json
    draft: SchemaDraft
    anchors: dict[str, Json] = field(default_factory=dict)
    dynamic: dict[str, Json] = field(default_factory=dict)
    recursive: bool = False

    @property
    def is_dynamic(self) -> bool:
        """True if a dynamic reference may resolve to it."""
        return bool(self.dynamic) or self.recursive


Scope: TypeAlias = tuple[Resource, ...]
"""The resources with dynamic anchors on the path to a schema, outermost first."""


class Resources:
    """The resources of one text.

    Attributes:
        main: the root's resource.
        have_scopes: whether any resource is dynamic; otherwise every scope is empty.
        has_address: whether the root has an address.
    """

    def __init__(self, root: Json, default: SchemaDraft, findings: SchemaFindings) -> None:
        self._findings = findings
        self._by_address: dict[str, Resource] = {}
        self._home: dict[int, Resource] = {}  # by part number
        self.have_scopes = self.has_address = False
        self.main = self._resource(root, _ROOT, default)
        self._collect(root, self.main)

    # ------------------------------------------------------------------ collection

    def _resource(self, node: Json, address: str, default: SchemaDraft) -> Resource:
        draft = default
        named = node.members.get("$schema")
        if named is not None and isinstance(named.value, str):
            known = draft_of(named.value)
            if known is None:
                self._findings.add("schema-unknown-dialect", named, what=named.value)
            else:
                draft = known
        recursive = node.members.get("$recursiveAnchor")
        resource = Resource(address, node, draft, recursive=recursive is not None and recursive.value is True)
        self._by_address.setdefault(address, resource)
        self._home[node.number] = resource
        self.have_scopes |= resource.is_dynamic
        return resource

    def _collect(self, root: Json, resource: Resource) -> None:
        todo = [(root, resource)]
        while todo:
            checkpoint()
            node, resource = todo.pop()
            members = node.value
            if not isinstance(members, dict):
                continue
            if not _MARKS.isdisjoint(members):
                resource = self._enter(node, resource)
            self._home[node.number] = resource
            if BELOW.isdisjoint(members):
                continue
            for name, part in members.items():
                if name not in BELOW:
                    continue
                if name in NAMED:
                    todo += [(inner, resource) for inner in part.members.values()]
                if name in LIST:
                    todo += [(inner, resource) for inner in part.items]
                if name in ONE and isinstance(part.value, dict):
                    todo.append((part, resource))

    def _enter(self, node: Json, resource: Resource) -> Resource:
        """Return the resource of a schema with such keywords, which may be a new one."""
        members = node.members
        draft = resource.draft
        named = members.get("$schema")
        if named is not None and isinstance(named.value, str):
            draft = draft_of(named.value) or draft
        if draft <= SchemaDraft.DRAFT_7 and "$ref" in members and node is not resource.root:
            return resource  # siblings of `$ref` are ignored
        for key in ("id",) if draft is SchemaDraft.DRAFT_4 else ("$id",):
            given = members.get(key)
            if given is None or not isinstance(given.value, str):
                continue
            address, fragment = links.split(given.value)
            if address:
                absolute = _join(resource.address, address)
                if node is resource.root:
                    self.has_address |= node is self.main.root
                    resource.address = absolute
                    self._by_address.setdefault(absolute, resource)
                else:
                    resource = self._resource(node, absolute, resource.draft)
            if fragment and draft <= SchemaDraft.DRAFT_7:
                resource.anchors.setdefault(unquote(fragment), node)
        for key in ("$anchor", "$dynamicAnchor"):
            given = members.get(key)
            if given is not None and isinstance(given.value, str) and draft >= SINCE[key]:
                resource.anchors.setdefault(given.value, node)
                if key == "$dynamicAnchor":
                    resource.dynamic.setdefault(given.value, node)
                    self.have_scopes = True
        return resource

    def home(self, node: Json) -> Resource:
        """Return the resource that a part of the text belongs to."""
        known = self._home.get(node.number)
        if known is None:
            known = next((self._home[number] for number in node.ancestors if number in self._home), self.main)
        return known

    # ------------------------------------------------------------------ resolution

    def enter(self, scope: Scope, node: Json) -> Scope:
        """Return the scope inside a schema."""
        if not self.have_scopes:
            return scope
        resource = self.home(node)
        if resource.is_dynamic and resource not in scope:
            return (*scope, resource)
        return scope

    def resolve(self, node: Json, reference: Json) -> Json | None:
        """Return the target of a `$ref`; None, with a finding, if it is not in this text."""
        text = reference.value
        assert isinstance(text, str)
        address, fragment = links.split(text)
        resource = self.home(node)
        if address:
            found = self._by_address.get(_join(resource.address, address))
            if found is None:
                self._findings.add("schema-remote-reference", reference, what=text)
                return None
            resource = found
        target = self._within(resource, unquote(fragment))
        if target is None:
            self._findings.add("schema-unresolved-reference", reference, what=text)
        return target

    def resolve_dynamic(self, node: Json, reference: Json, scope: Scope) -> Json | None:
        """Return the target of a `$dynamicRef` in a scope.

        Args:
            node: the schema with the reference.
            reference: the keyword's value.
            scope: the dynamic scope.
        """
        target = self.resolve(node, reference)
        text = reference.value
        assert isinstance(text, str)
        _, anchor = links.split(text)
        if target is None or not anchor or anchor.startswith("/"):
            return target
        if self.home(target).dynamic.get(anchor) is not target:
            return target
        for resource in scope:
            if anchor in resource.dynamic:
                return resource.dynamic[anchor]
        return target

    def resolve_recursive(self, node: Json, reference: Json, scope: Scope) -> Json | None:
        """Return the target of a `$recursiveRef` (draft 2019-09) in a scope.

        Args:
            node: the schema with the reference.
            reference: the keyword's value.
            scope: the dynamic scope.
        """
        target = self.resolve(node, reference)
        if target is None or not self.home(target).recursive:
            return target
        for resource in scope:
            if resource.recursive:
                return resource.root
        return target

    def _within(self, resource: Resource, fragment: str) -> Json | None:
        if not fragment:
            return resource.root
        if not fragment.startswith("/"):
            return resource.anchors.get(fragment)
        here = resource.root
        for step in fragment[1:].split("/"):
            name = unescape_step(step)
            index = int(name) if isinstance(here.value, list) and _INDEX.fullmatch(name) else -1
            if isinstance(here.value, list) and 0 <= index < len(here.value):
                here = here.value[index]
            elif name in here.members:
                here = here.members[name]
            else:
                return None
        return here


def _join(base: str, address: str) -> str:
    if address.startswith("urn:") or ":" in address.split("/", 1)[0]:
        return address
    if base.startswith("urn:"):
        return address
    # urljoin resolves only known schemes; any other is resolved as if it were http.
    scheme, colon, rest = base.partition(":")
    if colon and scheme not in ("http", "https"):
        return scheme + links.join("http:" + rest, address).removeprefix("http")
    return links.join(base, address)
