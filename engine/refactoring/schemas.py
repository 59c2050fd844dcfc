"""What refactorings of JSON Schemas share: parts of a text at a position, and edits of members that keep the rest."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator
from typing import Final

from engine.notations.editing import Edit, apply_edits
from engine.notations.json_schema.dialects import ENFORCED, SINCE, SchemaDraft, draft_named_in, draft_of
from engine.notations.json_schema.outline import Outline, OutlinePart, OutlineRole
from engine.notations.json_schema.targets import DEFINITIONS, SchemaReference, SchemaTargets, key_span, quoted
from engine.notations.notation import Notation
from engine.refactoring.refactoring import GrammarSelection, Refactoring, RefactoringError
from engine.source import Span
from engine.source.json_pointer import escape_step

ANCHORS: Final = frozenset(("$id", "id", "$anchor", "$dynamicAnchor", "$recursiveAnchor", "$schema"))
"""Keywords that give a schema an address or a meaning of its own, so that it cannot be copied or joined."""
_INDENT: Final = re.compile(r"[ \t]*")


class SchemaRefactoring(Refactoring):
    """A refactoring of schemas: whether the language is the same, the automata decide."""

    def applies_to(self, notation: Notation) -> bool:
        """Return whether texts of a notation are schemas."""
        return notation.describes_json


class SchemaSource:
    """A schema's text as a tree.

    Args:
        selection: the text.

    Attributes:
        text: the text.
        root: the value of the text.
        draft: the draft that the text or the options name.
        targets: its references and what they refer to.

    Raises:
        RefactoringError: the text is no JSON object, or an object has a key twice.
    """

    def __init__(self, selection: GrammarSelection) -> None:
        self.text = text = selection.text
        try:
            json.loads(text)
        except (ValueError, RecursionError) as error:
            raise RefactoringError("errors.refactoring.invalid", reason=error) from error
        outline = Outline(text)
        if outline.root is None or not outline.root.is_object:
            raise RefactoringError("errors.refactoring.no_schema")
        self.root = outline.root
        for part in self.root.walk():
            if part.earlier:
                raise RefactoringError("errors.refactoring.key_twice", name=part.earlier[0][0])
        self.draft = draft_named_in(text, SchemaDraft(selection.options.draft))
        for schema in self.schemas():
            named = schema.members.get("$schema")
            if named is not None and named.text is not None and draft_of(named.text) not in (None, self.draft):
                raise RefactoringError("errors.refactoring.drafts", pointer=pointer_of(schema))
        self.targets = SchemaTargets(outline)

    def schemas(self) -> Iterator[OutlinePart]:
        """Yield the schemas that are objects, in source order."""
        return (part for part in self.root.walk() if part.role is OutlineRole.SCHEMA and part.is_object)

    def schema_at(self, offset: int) -> OutlinePart:
        """Return the innermost schema around an offset, its key included."""
        around = [one for one in self.schemas() if key_span(one).start <= offset <= one.span.end]
        return min(around, key=lambda one: one.span.end - one.span.start, default=self.root)

    def schema_with(self, keyword: str, offset: int) -> OutlinePart:
        """Return the innermost schema around an offset that has a keyword; by default the only one in the text.

        Raises:
            RefactoringError: there is none, or there are several elsewhere.
        """
        found = [one for one in self.schemas() if keyword in one.members]
        around = [one for one in found if key_span(one).start <= offset <= one.span.end]
        if not around and len(found) == 1:
            return found[0]
        if not around:
            key = "keyword_elsewhere" if found else "no_keyword"
            raise RefactoringError(f"errors.refactoring.{key}", keyword=keyword)
        return min(around, key=lambda one: one.span.end - one.span.start)

    def of(self, span: Span) -> str:
        """Return the text of a span."""
        return self.text[span.start : span.end]

    def member_text(self, part: OutlinePart) -> str:
        """Return the text of a member, from its key to its value."""
        return self.of(key_span(part).cover(part.span))

    def indent(self, offset: int) -> str:
        """Return the blanks at the beginning of the line of an offset."""
        found = _INDENT.match(self.text, self.text.rfind("\n", 0, offset) + 1)
        return found[0] if found else ""

    def moved(self, part: OutlinePart, indent: str, edits: Iterable[Edit] = ()) -> str:
        """Return the text of a part for a line with another indentation.

        Args:
            part: the part.
            indent: the blanks at the beginning of that line.
            edits: changes of the text; those within the part are made.
        """
        span = part.span
        inner = [
            Edit(Span(one.span.start - span.start, one.span.end - span.start), one.replacement)
            for one in edits
            if span.start <= one.span.start and one.span.end <= span.end
        ]
        before = self.indent(span.start)
        first, *lines = apply_edits(self.of(span), inner).split("\n")
        return "\n".join((first, *(indent + line.removeprefix(before) for line in lines)))

    def without(self, holder: OutlinePart, names: Collection[str]) -> list[Edit]:
        """Return the edits that remove members of an object, with the commas that are left over."""
        parts = [holder.members[name] for name in holder.keys if name in holder.members]
        parts.sort(key=lambda part: part.span)
        edits: list[Edit] = []
        kept_end: int | None = None
        number = 0
        while number < len(parts):
            last = number
            if parts[number].name not in names:
                kept_end = parts[number].span.end
                number += 1
                continue
            while last + 1 < len(parts) and parts[last + 1].name in names:
                last += 1
            start, end = key_span(parts[number]).start, parts[last].span.end
            if last + 1 < len(parts):
                edits.append(Edit(Span(start, key_span(parts[last + 1]).start), ""))
            else:
                edits.append(Edit(Span(start if kept_end is None else kept_end, end), ""))
            number = last + 1
        return edits

    def added(self, holder: OutlinePart, entry: str) -> Edit:
        """Return the edit that adds a member at the end of an object, on a line of its own if the others have one."""
        if not holder.members:
            return Edit(Span(holder.span.start + 1, holder.span.end - 1), entry)
        end = max(part.span.end for part in holder.members.values())
        return Edit(Span(end, end), f",{self.separator(holder)}{entry}")

    def separator(self, holder: OutlinePart) -> str:
        """Return the blanks before the members of an object: a new line with its indentation, or a space."""
        first = min(holder.keys.values(), key=lambda span: span.start, default=None)
        if first is None or "\n" not in self.text[holder.span.start : first.start]:
            return " "
        return "\n" + self.indent(first.start)

    def references_through(self, part: OutlinePart) -> list[SchemaReference]:
        """Return the references whose path leads to a part, or through it."""
        return [one for one in self.targets.references if any(step is part for step in one.path)]


def pointer_of(part: OutlinePart) -> str:
    """Return the JSON Pointer of a part; "the schema" for the root."""
    steps: list[str] = []
    here: OutlinePart | None = part
    while here is not None and here.holder is not None:
        steps.append(escape_step(str(here.name)))
        here = here.holder
    return "".join(f"/{step}" for step in reversed(steps)) or "the schema"


def is_enforced(keyword: str, draft: SchemaDraft) -> bool:
    """Return whether a keyword restricts texts in a draft, or helps another one to."""
    return (keyword in ENFORCED or keyword in _HELPERS) and SINCE.get(keyword, draft) <= draft


_HELPERS: Final = frozenset(("then", "else", "minContains", "maxContains"))


def is_definition(part: OutlinePart) -> bool:
    """Return whether a schema is an entry of `$defs` or `definitions`."""
    return part.holder is not None and part.holder.name in DEFINITIONS and part.holder.role is OutlineRole.SCHEMAS


def reference_text(reference: SchemaReference, steps: Iterable[str]) -> str:
    """Return a reference as JSON with another JSON Pointer, given its encoded steps."""
    assert reference.part.text is not None
    address = reference.part.text.partition("#")[0]
    return quoted(address + "#" + "".join(f"/{step}" for step in steps))
