"""Inline a reference: put the schema that it refers to in its place."""

from __future__ import annotations

from engine.notations.editing import Edit
from engine.notations.json_schema.dialects import SchemaDraft
from engine.notations.json_schema.outline import OutlinePart
from engine.notations.json_schema.targets import SchemaReference, key_span
from engine.refactoring.refactoring import GrammarSelection, RefactoringError, Rewrite
from engine.refactoring.schemas import ANCHORS, SchemaRefactoring, SchemaSource, is_definition, is_enforced, pointer_of
from engine.source.catalogue import catalogue_text


class InlineReference(SchemaRefactoring):
    """Inlines the `$ref` at the cursor, or all references to the definition that the cursor is in.

    A definition without another reference is removed.
    """

    id = "inline-reference"

    def rewrite(self, selection: GrammarSelection) -> Rewrite:
        """Return the edits; see `Refactoring`."""
        source = SchemaSource(selection)
        chosen = self._chosen(source, selection.selected.start)
        target = chosen[0].target
        if target is None:
            raise RefactoringError("errors.refactoring.no_target", reference=chosen[0].part.text)
        inner = [one for one in source.targets.references if _is_inside(one.part, target)]
        if any(one.target is target for one in inner) or any(_is_inside(one.part, target) for one in chosen):
            raise RefactoringError("errors.refactoring.recursive_schema", pointer=pointer_of(target))
        through = source.references_through(target)
        is_removed = is_definition(target) and all(one in chosen for one in through)
        self._check_moving(source, target, chosen, is_only=is_removed and len(chosen) == 1)
        edits = [self._inlined(source, one, target) for one in chosen]
        notes: tuple[str, ...] = ()
        if is_removed and target.holder is not None:
            holder = target.holder
            if len(holder.members) == 1 and holder.holder is not None:
                edits += source.without(holder.holder, (str(holder.name),))
            else:
                edits += source.without(holder, (str(target.name),))
            notes = (catalogue_text("refactoring.note.definition_removed", name=target.name),)
        return Rewrite(tuple(edits), notes)

    def _chosen(self, source: SchemaSource, offset: int) -> list[SchemaReference]:
        """Return the references to inline."""
        plain = [one for one in source.targets.references if one.part.name == "$ref" and one.part.holder is not None]
        on = [one for one in plain if key_span(one.part).start <= offset <= one.part.span.end]
        if on:
            return on[:1]
        here: OutlinePart | None = source.schema_at(offset)
        around = [one for one in plain if one.part.holder is here]
        while here is not None and not around:
            if is_definition(here):
                around = [one for one in plain if one.target is here]
                if not around:
                    raise RefactoringError("errors.refactoring.unused_definition", name=here.name)
            here = here.holder
        if not around:
            raise RefactoringError("errors.refactoring.no_reference")
        return around

    def _check_moving(
        self, source: SchemaSource, target: OutlinePart, chosen: list[SchemaReference], *, is_only: bool
    ) -> None:
        """Refuse to copy what has an address, and to take relative references to another resource."""
        addressed = next((one for one in target.walk() if one.is_object and not ANCHORS.isdisjoint(one.members)), None)
        if addressed is not None and not is_only:
            name = next(iter(ANCHORS & addressed.members.keys()))
            raise RefactoringError("errors.refactoring.addressed", pointer=pointer_of(addressed), keyword=name)
        homes = {id(source.targets.resource_of(part)) for one in chosen for part in (one.part, target)}
        if len(homes) > 1:
            raise RefactoringError("errors.refactoring.other_resource", pointer=pointer_of(target))

    def _inlined(self, source: SchemaSource, reference: SchemaReference, target: OutlinePart) -> Edit:
        schema = reference.part.holder
        assert schema is not None
        siblings = [name for name in schema.members if name != "$ref"]
        is_old = source.draft <= SchemaDraft.DRAFT_7
        enforced = [name for name in siblings if is_enforced(name, source.draft)]
        if is_old and enforced:
            raise RefactoringError("errors.refactoring.beside_reference", keyword=enforced[0])
        indent = source.indent(key_span(schema).start)
        if not siblings:
            return Edit(schema.span, source.moved(target, indent))
        member = key_span(reference.part).cover(reference.part.span)
        is_plain = target.is_object and target.members and not enforced
        if is_plain and not target.members.keys() & schema.members.keys():
            inner = source.indent(member.start)
            lines = [
                f"{source.of(key_span(part))}: {source.moved(part, inner)}"
                for part in sorted(target.members.values(), key=lambda part: part.span)
            ]
            return Edit(member, f",{source.separator(schema)}".join(lines))
        if "allOf" in schema.members:
            raise RefactoringError("errors.refactoring.reference_beside_all_of", pointer=pointer_of(schema))
        return Edit(member, f'"allOf": [{source.moved(target, source.indent(member.start))}]')


def _is_inside(part: OutlinePart, holder: OutlinePart) -> bool:
    return holder.span.start <= part.span.start and part.span.end <= holder.span.end


REFACTORING = InlineReference()
