"""Names that a grammar defines and uses: where they are, and the edits that rename one.

A GBNF rule has a name. In a JSON Schema names are the keys of `$defs` and `definitions`, the anchors, and any other
target of a reference (found, but not renamed: a property's name is part of the schema's meaning). A regex has no names
that could be referenced.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from urllib.parse import quote

from engine.notations import links
from engine.notations.editing import gbnf_names
from engine.notations.editing.edits import Change, Edit
from engine.notations.editing.outline import Outline, OutlinePart
from engine.notations.editing.schema_names import (
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

_START = "root"
_ANCHOR_SPELLING = "An anchor begins with a letter or `_`, then letters, digits, `-`, `_` and `.`"


@dataclass(frozen=True, slots=True)
class Name:
    """A name with all of its occurrences.

    Attributes:
        text: the name.
        kind: what it names, such as `rule` or `definition`.
        definitions: where it is defined; empty for an undefined name.
        uses: where it is used.
        fixed: why it cannot be renamed; empty if it can.
    """

    text: str
    kind: str
    definitions: tuple[Span, ...]
    uses: tuple[Span, ...]
    fixed: str = ""

    @property
    def occurrences(self) -> tuple[Span, ...]:
        """All occurrences, in source order."""
        return tuple(sorted({*self.definitions, *self.uses}))


@lru_cache(maxsize=8)  # called for each finding of a text
def names_of(notation: str, text: str) -> tuple[Name, ...]:
    """Return all names of a text, in order of first occurrence."""
    if notation == "gbnf":
        return tuple(_rules(text))
    if notation == "json_schema":
        return tuple(_schemas(SchemaTargets(Outline(text))))
    return ()


def name_at(notation: str, text: str, offset: int) -> Name | None:
    """Return the name at an offset or right before it, or None.

    Args:
        notation: the notation of the text.
        text: the text.
        offset: the offset, in code points.
    """
    names = names_of(notation, text)
    for at in (offset, offset - 1):
        for name in names:
            if any(at in span for span in name.uses) or any(at in span for span in name.definitions):
                return name
    return None


def rename(notation: str, text: str, name: Name, new: str) -> Change:
    """Rename all occurrences of a name.

    A defined name may be renamed to one that is used but not defined, and so defines it. Likewise an undefined name may
    be renamed to a defined one. Two definitions never get the same name.

    Args:
        notation: the notation of the text.
        text: the text.
        name: the name to rename.
        new: the new name.
    """
    if name.fixed:
        return Change(refusal=name.fixed)
    if new == name.text:
        return Change()
    change = (
        _rename_rule(text, name, new) if notation == "gbnf" else _rename_schema(SchemaTargets(Outline(text)), name, new)
    )
    others = (other for other in names_of(notation, text) if other.text == new and other.kind == name.kind)
    if change.edits and name.definitions and any(not other.definitions for other in others):
        return replace(change, note=f"`{new}` is used but not defined: this defines it")
    return change


def _rules(text: str) -> Iterator[Name]:
    defined: dict[str, list[Span]] = {}
    used: dict[str, list[Span]] = {}
    for piece in gbnf_names.pieces(text):
        if piece.kind is gbnf_names.GbnfPart.NAME:
            name = text[piece.span.start : piece.span.end]
            defined.setdefault(name, [])
            used.setdefault(name, [])
            (defined if piece.defines else used)[name].append(piece.span)
    for name, spans in defined.items():
        fixed = f"A grammar begins with `{_START}`, so its name stays" if name == _START and spans else ""
        yield Name(name, "rule", tuple(spans), tuple(used[name]), fixed)


def _rename_rule(text: str, name: Name, new: str) -> Change:
    if not gbnf_names.NAME.fullmatch(new):
        return Change(refusal="A rule's name is made of letters A to Z, digits, `-` and `_`")
    other = next((other for other in _rules(text) if other.text == new), None)
    if other is not None and other.definitions and name.definitions:
        return Change(refusal=f"There is a rule `{new}` already")
    return Change(tuple(Edit(span, new) for span in name.occurrences))


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


def _rename_schema(schemas: SchemaTargets, name: Name, new: str) -> Change:
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
