"""Names in a JSON Schema: the keys of `$defs` and `definitions`, the anchors, and any other target of a reference.

Other targets are found, but not renamed: a property's name is part of the schema's meaning.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final
from urllib.parse import quote

from engine.notations import links
from engine.notations.editing.edits import Change, Edit
from engine.notations.editing.names import Name
from engine.notations.json_schema.outline import Outline, OutlinePart
from engine.notations.json_schema.targets import (
    DEFINITIONS,
    DYNAMIC,
    SchemaReference,
    SchemaTargets,
    decoded_step,
    key_span,
    quoted,
    with_step,
)
from engine.source import Span

_ANCHOR_SPELLING: Final = "An anchor begins with a letter or `_`, then letters, digits, `-`, `_` and `.`"


@lru_cache(maxsize=8)  # called for each finding of a text
def schema_names(text: str) -> tuple[Name, ...]:
    """Return the names of a schema, in order of first occurrence."""
    return tuple(_schemas(SchemaTargets(Outline(text))))


def _schemas(schemas: SchemaTargets) -> Iterator[Name]:
    uses: dict[tuple[int, str], list[Span]] = {}
    targets: dict[int, OutlinePart] = {}
    for reference in schemas.references:
        target = reference.target
        if target is not None:
            targets[id(target)] = target
            uses.setdefault((id(target), reference.anchor), []).append(reference.part.span)
    named: set[int] = set()
    for name, part in schemas.definitions():
        named.add(id(part))
        yield Name(name, "definition", (key_span(part),), tuple(uses.get((id(part), ""), ())))
    for name, given, schema in schemas.anchors():
        yield Name(name, "anchor", (given.span,), tuple(uses.get((id(schema), name), ())))
    for number, part in targets.items():
        spans = uses.get((number, ""), ())
        if spans and number not in named:
            name = str(part.name) or "#"
            yield Name(name, "schema", (_begin(part),), tuple(spans), _why_fixed(part))
    missing: dict[tuple[str, str, str], list[Span]] = {}
    for reference in schemas.references:
        if (key := _missing(reference)) is not None:
            missing.setdefault(key, []).append(reference.part.span)
    for (kind, _, name), spans in missing.items():
        yield Name(name, kind, (), tuple(spans))


def _missing(reference: SchemaReference) -> tuple[str, str, str] | None:
    """Return kind, resource and name of a definition or anchor that is referenced but does not exist."""
    if reference.target is not None:
        return None
    address, _ = links.split(reference.part.text or "")
    if reference.anchor:
        return "anchor", address, reference.anchor
    *holders, last = reference.steps or ("",)
    if holders and holders[-1] in DEFINITIONS and len(reference.path) in {len(reference.steps), len(holders)}:
        return "definition", f"{address}#/{'/'.join(holders)}", decoded_step(last)
    return None


def _begin(part: OutlinePart) -> Span:
    """Return the span to show for the target of a reference: its key, or its first character."""
    key = key_span(part)
    return key if key != part.span else Span(part.span.start, part.span.start + 1)


def _why_fixed(part: OutlinePart) -> str:
    if part.holder is None:
        return "This reference leads to the whole schema, which has no name"
    return "Only rules, definitions under `$defs` and anchors are renamed: other keys are part of what is matched"


def rename_schema(text: str, name: Name, new: str) -> Change:
    """Rename a definition or an anchor; see `Notation.rename`."""
    schemas = SchemaTargets(Outline(text))
    if not new:
        return Change(refusal="A name has at least one character")
    for known, given, schema in schemas.anchors():
        if given.span in name.definitions:
            return _rename_anchor(schemas, known, given, schema, new)
    if not name.definitions:
        return _rename_missing(schemas, name, new)
    for _, part in schemas.definitions():
        if key_span(part) in name.definitions and part.holder is not None:
            if new in part.holder.members:
                return Change(refusal=f"There is a definition `{new}` already")
            return Change((Edit(key_span(part), quoted(new)), *_through(schemas, part, new)))
    return Change(refusal="This name is no longer there")


def _rename_missing(schemas: SchemaTargets, name: Name, new: str) -> Change:
    """Rename a missing target in all references to it."""
    if name.kind == "anchor" and not _may_be_anchor(new):
        return Change(refusal=_ANCHOR_SPELLING)
    edits = []
    for reference in schemas.references:
        if reference.part.span not in name.uses:
            continue
        if name.kind == "anchor":
            edits.append(Edit(reference.part.span, _with_anchor(reference, new)))
        else:
            edits.append(Edit(reference.part.span, quoted(with_step(reference, len(reference.steps) - 1, new))))
    return Change(tuple(edits))


def _may_be_anchor(name: str) -> bool:
    begins = name[0].isalpha() or name[0] == "_"
    return begins and name.isascii() and all(c.isalnum() or c in "-_." for c in name)


def _with_anchor(reference: SchemaReference, name: str) -> str:
    """Return the reference as JSON, with another anchor."""
    address, _ = links.split(reference.part.text or "")
    return quoted(f"{address}#{quote(name)}")


def _rename_anchor(schemas: SchemaTargets, name: str, given: OutlinePart, schema: OutlinePart, new: str) -> Change:
    if not _may_be_anchor(new):
        return Change(refusal=_ANCHOR_SPELLING)
    if schemas.has_anchor(new, beside=schema, is_dynamic=given.name == DYNAMIC):
        return Change(refusal=f"There is an anchor `{new}` already")
    found = (one for one in schemas.references if one.target is schema and one.anchor == name)
    return Change((Edit(given.span, quoted(new)), *(Edit(one.part.span, _with_anchor(one, new)) for one in found)))


def _through(schemas: SchemaTargets, part: OutlinePart, new: str) -> Iterator[Edit]:
    """Yield the edits of the references whose path contains a definition."""
    for reference in schemas.references:
        for place, step in enumerate(reference.path[1:]):
            if step is part:
                yield Edit(reference.part.span, quoted(with_step(reference, place, new)))
