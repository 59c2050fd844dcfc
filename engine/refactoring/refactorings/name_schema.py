"""Name an inline schema: move it to the definitions, with a reference in its place."""

from __future__ import annotations

import re
from typing import Final

from engine.notations.editing import Edit
from engine.notations.json_schema.dialects import LIST, SchemaDraft
from engine.notations.json_schema.outline import OutlinePart, OutlineRole
from engine.notations.json_schema.targets import encoded_step, quoted, steps_to
from engine.refactoring.refactoring import GrammarSelection, RefactoringError, Rewrite
from engine.refactoring.schemas import SchemaRefactoring, SchemaSource, is_definition, reference_text

_NO_NAME: Final = re.compile(r"[^\w.-]+")


class NameSchema(SchemaRefactoring):
    """Moves the schema at the cursor to `$defs`, or to the `definitions` of older drafts."""

    id = "name-schema"
    makes_name = True

    def rewrite(self, selection: GrammarSelection) -> Rewrite:
        """Return the edits; see `Refactoring`."""
        source = SchemaSource(selection)
        part = source.schema_at(selection.selected.start)
        if part.holder is None:
            raise RefactoringError("errors.refactoring.no_inner_schema")
        if is_definition(part):
            raise RefactoringError("errors.refactoring.has_name", name=part.name)
        if list(part.members) == ["$ref"]:
            raise RefactoringError("errors.refactoring.is_reference")
        home = source.targets.resource_of(part.holder)
        keyword = self._keyword(source, home)
        holder = home.members.get(keyword)
        if holder is not None and not holder.is_object:
            raise RefactoringError("errors.refactoring.no_definitions", keyword=keyword)
        taken = {} if holder is None else holder.members
        if selection.name in taken:
            raise RefactoringError("errors.refactoring.definition_taken", name=selection.name)
        name = selection.name or _free(_proposed(part), taken)
        pointer = [encoded_step(keyword), encoded_step(name)]
        references = [
            Edit(one.part.span, reference_text(one, [*pointer, *one.steps[len(steps_to(part, home)) :]]))
            for one in source.references_through(part)
            if not one.anchor and one.steps and one.path[0] is home
        ]
        inside = [one for one in references if part.span.start <= one.span.start < part.span.end]
        separator = source.separator(home if holder is None or not holder.members else holder)
        indent = separator.removeprefix("\n") if "\n" in separator else ""
        if holder is None or not holder.members:
            inner = "" if not indent else indent * 2
            entry = f"{quoted(name)}: {source.moved(part, inner, inside)}"
            content = f"{{\n{inner}{entry}\n{indent}}}" if indent else f"{{{entry}}}"
            member = f"{quoted(keyword)}: {content}"
            added = source.added(home, member) if holder is None else Edit(holder.span, content)
        else:
            added = source.added(holder, f"{quoted(name)}: {source.moved(part, indent, inside)}")
        text = "#" + "".join(f"/{step}" for step in pointer)
        replaced = Edit(part.span, f'{{"$ref": {quoted(text)}}}')
        return Rewrite((replaced, added, *(one for one in references if one not in inside)), name=name)

    def _keyword(self, source: SchemaSource, home: OutlinePart) -> str:
        """Return the keyword that holds the definitions."""
        is_old = source.draft <= SchemaDraft.DRAFT_7
        present = [one for one in ("definitions", "$defs") if one in home.members]
        if is_old and "definitions" in home.members:
            return "definitions"
        return present[-1] if present and not is_old else "definitions" if is_old else "$defs"


def _proposed(part: OutlinePart) -> str:
    """Return a name after the property or the keyword that has the schema."""
    here: OutlinePart | None = part
    while here is not None and here.holder is not None:
        if here.holder.role is OutlineRole.SCHEMAS:
            word = str(here.name)
        elif isinstance(here.name, str) and here.name not in LIST:
            word = here.name
        else:
            here = here.holder
            continue
        return _NO_NAME.sub("-", word).strip("-") or "part"
    return "part"


def _free(wanted: str, taken: object) -> str:
    names = (wanted if number == 1 else f"{wanted}-{number}" for number in range(1, 10_000))
    return next(name for name in names if name not in taken)  # type: ignore[operator]


REFACTORING = NameSchema()
