"""Upgrade a schema of an earlier draft to 2020-12, keyword by keyword.

What an earlier draft ignores (siblings of `$ref` up to draft 7, keywords of later drafts, `additionalItems` without an
array in `items`) would be in force afterwards. It is removed, and each removal is noted.
"""

from __future__ import annotations

from typing import Final

from engine.notations.editing import Edit
from engine.notations.json_schema.dialects import SINCE, SchemaDraft, draft_name
from engine.notations.json_schema.outline import OutlinePart
from engine.notations.json_schema.targets import DEFINITIONS, encoded_step, key_span, quoted
from engine.refactoring.refactoring import GrammarSelection, RefactoringError, Rewrite
from engine.refactoring.schemas import SchemaRefactoring, SchemaSource, is_enforced, pointer_of, reference_text
from engine.source import Span
from engine.source.catalogue import catalogue_text

_ADDRESS: Final = "https://json-schema.org/draft/2020-12/schema"
_RECURSIVE: Final = "recursive"  # the name of the anchor of `$recursiveAnchor`
_PARTNERS: Final = {"then": "if", "else": "if"}
_BOUNDS: Final = (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum"))


class UpgradeDraft(SchemaRefactoring):
    """Upgrades the whole text to draft 2020-12."""

    id = "upgrade-draft"

    def rewrite(self, selection: GrammarSelection) -> Rewrite:
        """Return the edits; see `Refactoring`."""
        source = SchemaSource(selection)
        if source.draft is SchemaDraft.DRAFT_2020:
            raise RefactoringError("errors.refactoring.newest_draft", draft=draft_name(source.draft))
        upgrade = _Upgrade(source)
        upgrade.run()
        return Rewrite(tuple(upgrade.edits), tuple(upgrade.notes))


class _Upgrade:
    """The edits of one upgrade.

    Attributes:
        edits: the edits.
        notes: sentences about what was removed.
    """

    def __init__(self, source: SchemaSource) -> None:
        self._source, self._draft = source, source.draft
        self.edits: list[Edit] = []
        self.notes: list[str] = []
        self._renamed: dict[int, str] = {}  # the new keys of parts
        self._removed: dict[int, set[str]] = {}  # the members that are removed, by their schema
        self._gone: list[OutlinePart] = []

    def run(self) -> None:
        """Collect all edits."""
        schemas = list(self._source.schemas())
        for schema in schemas:
            if not any(self._is_within(schema, part) for part in self._gone):
                self._ignored(schema)
                self._address(schema)
                self._definitions(schema)
                self._items(schema)
                self._dependencies(schema)
                self._bounds(schema)
                self._recursion(schema)
        for schema in schemas:
            names = self._removed.get(id(schema))
            if names:
                self.edits += self._source.without(schema, names)
        self._references()
        self._name_draft()

    def _is_within(self, part: OutlinePart, holder: OutlinePart) -> bool:
        return holder.span.start <= part.span.start and part.span.end <= holder.span.end

    def _is_kept(self, schema: OutlinePart, name: str) -> bool:
        return name in schema.members and name not in self._removed.get(id(schema), ())

    def _remove(self, schema: OutlinePart, name: str, note: str = "") -> None:
        """Remove a member, with the key of a note."""
        self._removed.setdefault(id(schema), set()).add(name)
        if note:
            self._gone.append(schema.members[name])
            fields = {"keyword": name, "pointer": pointer_of(schema), "draft": draft_name(self._draft)}
            self.notes.append(catalogue_text(f"refactoring.note.{note}", **fields))

    def _rename(self, part: OutlinePart, name: str) -> None:
        self._renamed[id(part)] = name
        self.edits.append(Edit(key_span(part), quoted(name)))

    def _set(self, part: OutlinePart, text: str) -> None:
        self.edits.append(Edit(part.span, text))

    # --- keywords -----------------------------------------------------------------------------------------------------

    def _ignored(self, schema: OutlinePart) -> None:
        """Remove what the draft ignores and 2020-12 enforces."""
        is_reference = self._draft <= SchemaDraft.DRAFT_7 and "$ref" in schema.members
        for name in schema.members:
            if is_reference and name != "$ref" and (is_enforced(name, self._draft) or name in ("$id", "id")):
                if name in ("$id", "id") and schema.holder is None:
                    continue  # the root has its address nevertheless
                self._remove(schema, name, "removed_beside_reference")
            elif SINCE.get(name, self._draft) > self._draft or (name in _PARTNERS and self._is_alone(schema, name)):
                self._remove(schema, name, "removed_later_keyword")
        items = schema.members.get("items")
        has_effect = items is not None and items.is_array
        if self._is_kept(schema, "additionalItems") and not has_effect:
            self._remove(schema, "additionalItems", "removed_additional_items")

    def _is_alone(self, schema: OutlinePart, name: str) -> bool:
        """Return whether a keyword helps one that the draft does not have."""
        return _PARTNERS[name] in schema.members and SINCE[_PARTNERS[name]] > self._draft

    def _address(self, schema: OutlinePart) -> None:
        keyword = "id" if self._draft is SchemaDraft.DRAFT_4 else "$id"
        given = schema.members.get(keyword)
        if given is None or given.text is None or not self._is_kept(schema, keyword):
            return
        address, _, fragment = given.text.partition("#")
        if address and fragment:
            raise RefactoringError("errors.refactoring.address_fragment", address=given.text)
        name = "$anchor" if fragment else "$id"
        if name != keyword:
            self._rename(given, name)
        text = fragment or address
        if text != given.text:
            self._set(given, quoted(text))

    def _definitions(self, schema: OutlinePart) -> None:
        if self._is_kept(schema, "definitions") and DEFINITIONS[0] not in schema.members:
            self._rename(schema.members["definitions"], DEFINITIONS[0])

    def _items(self, schema: OutlinePart) -> None:
        items = schema.members.get("items")
        if items is None or not items.is_array or not self._is_kept(schema, "items"):
            return
        if items.items:
            self._rename(items, "prefixItems")
        else:
            self._remove(schema, "items")
        if self._is_kept(schema, "additionalItems"):
            self._rename(schema.members["additionalItems"], "items")

    def _dependencies(self, schema: OutlinePart) -> None:
        given = schema.members.get("dependencies")
        if given is None or not given.is_object or not self._is_kept(schema, "dependencies"):
            return
        lists = [part for part in given.members.values() if part.is_array or part.text is not None]
        schemas = [part for part in given.members.values() if part not in lists]
        if "dependentRequired" in schema.members or "dependentSchemas" in schema.members:
            raise RefactoringError("errors.refactoring.dependencies", pointer=pointer_of(schema))
        if any(part.text is not None for part in lists):
            raise RefactoringError("errors.refactoring.dependency_name", pointer=pointer_of(given))
        if not lists or not schemas:
            self._rename(given, "dependentRequired" if lists else "dependentSchemas")
            return
        self._rename(given, "dependentSchemas")  # no reference leads to a list of names
        self.edits += self._source.without(given, [str(part.name) for part in lists])
        members = ", ".join(self._source.member_text(part) for part in lists)
        self._prepend(schema, key_span(given).start, f'"dependentRequired": {{{members}}}')

    def _prepend(self, schema: OutlinePart, at: int, member: str) -> None:
        """Put a member before a key, which may itself be renamed or removed."""
        text = f"{member},{self._source.separator(schema)}"
        for number, edit in enumerate(self.edits):
            if edit.span.start == at:
                self.edits[number] = Edit(edit.span, text + edit.replacement)
                return
        self.edits.append(Edit(Span(at, at), text))

    def _bounds(self, schema: OutlinePart) -> None:
        """Turn the booleans of draft 4 into numbers."""
        for bound, exclusive in _BOUNDS:
            flag = schema.members.get(exclusive)
            if flag is None or self._source.of(flag.span) not in ("true", "false"):
                continue
            if self._source.of(flag.span) == "true" and bound in schema.members:
                self._remove(schema, exclusive)
                self._rename(schema.members[bound], exclusive)
            else:
                self._remove(schema, exclusive, "removed_flag")

    def _recursion(self, schema: OutlinePart) -> None:
        """Turn recursive references of 2019-09 into dynamic ones; without such an anchor they are plain ones."""
        anchor, reference = schema.members.get("$recursiveAnchor"), schema.members.get("$recursiveRef")
        if anchor is not None and self._is_kept(schema, "$recursiveAnchor"):
            if self._source.of(anchor.span) == "true" and self._source.targets.resource_of(schema) is schema:
                self._rename(anchor, "$dynamicAnchor")
                self._set(anchor, quoted(_RECURSIVE))
            else:
                self._remove(schema, "$recursiveAnchor", "removed_flag")
        if reference is not None and self._is_kept(schema, "$recursiveRef"):
            home = self._source.targets.resource_of(schema).members.get("$recursiveAnchor")
            if home is not None and self._source.of(home.span) == "true":
                self._rename(reference, "$dynamicRef")
                self._set(reference, quoted(f"#{_RECURSIVE}"))
            elif "$ref" in schema.members:
                raise RefactoringError("errors.refactoring.two_references", pointer=pointer_of(schema))
            else:
                self._rename(reference, "$ref")

    # --- the whole text -----------------------------------------------------------------------------------------------

    def _references(self) -> None:
        """Follow the renamed keys in the JSON Pointers of references."""
        for one in self._source.targets.references:
            if any(self._is_within(one.part, part) for part in self._gone) or one.part.name == "$recursiveRef":
                continue
            for part in self._gone:
                if any(step is part or self._is_within(step, part) for step in one.path):
                    raise RefactoringError("errors.refactoring.referred_to", reference=one.part.text)
            if one.target is None:
                raise RefactoringError("errors.refactoring.no_target", reference=one.part.text)
            steps = [
                encoded_step(self._renamed[id(part)]) if id(part) in self._renamed else step
                for step, part in zip(one.steps, one.path[1:], strict=False)
            ]
            if steps and tuple(steps) != one.steps[: len(steps)]:
                self._set(one.part, reference_text(one, [*steps, *one.steps[len(steps) :]]))

    def _name_draft(self) -> None:
        """Name the draft, in each schema that names one, and in the root."""
        for schema in self._source.schemas():
            named = schema.members.get("$schema")
            if named is not None:
                self._set(named, quoted(_ADDRESS))
        root = self._source.root
        if "$schema" in root.members:
            return
        member = f'"$schema": {quoted(_ADDRESS)}'
        first = min(root.keys.values(), key=lambda span: span.start, default=None)
        if first is None:
            self.edits.append(self._source.added(root, member))
        else:
            self._prepend(root, first.start, member)


REFACTORING = UpgradeDraft()
