"""Completion of JSON Schemas: keywords, their values, references, and names of properties."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Final

from engine.notations.editing.completion import Proposal, Proposals, matching
from engine.notations.json_schema.dialects import draft_name, draft_of
from engine.notations.json_schema.outline import CursorContext, Outline, OutlinePosition, OutlineRole
from engine.notations.json_schema.reference import (
    CURSOR,
    DRAFTS,
    FORMATS,
    KEYWORDS,
    TYPES,
    format_meaning,
    keyword_meaning,
    type_meaning,
)
from engine.notations.json_schema.targets import REFERENCES, SchemaTargets, quoted
from engine.source import Span
from engine.source.catalogue import capitalised, catalogue_text

_COLON: Final = re.compile(r"\s*:")


def propose(text: str, offset: int) -> Proposals:
    """Return the proposals at an offset; see `Notation.propose`."""
    outline = Outline(text, offset)
    context = outline.context
    if context is None or context.holder is None or context.expects is OutlinePosition.NONE:
        return Proposals(Span(offset, offset))
    typed = text[context.typed.start : offset]
    is_string = typed.startswith('"')
    if context.expects is OutlinePosition.KEY:
        if context.holder.role is not OutlineRole.SCHEMA:
            return Proposals(context.typed)
        proposals = list(_keywords(text, context))
    else:
        proposals = list(_values(outline, context))
        if is_string:
            proposals = [p for p in proposals if p.text.startswith('"')]
    return matching(context.typed, typed.removeprefix('"'), proposals, opens_unasked=bool(typed))


def _keywords(text: str, context: CursorContext) -> Iterator[Proposal]:
    holder = context.holder
    assert holder is not None
    own = text[context.typed.start : context.typed.end].strip('"')
    others = {key for key, span in holder.keys.items() if not (key == own and span.start == context.typed.start)}
    kind = holder.members["type"].text if "type" in holder.members else None
    group = "number" if kind == "integer" else kind
    first = sorted(KEYWORDS.items(), key=lambda entry: entry[0] != group)
    for about, keywords in first:
        for name, value in keywords.items():
            if name in others:
                continue
            detail = keyword_meaning(name)
            note = detail if about == "any" else f"{detail} ({about})"
            if context.has_colon or _COLON.match(text, context.typed.end):
                yield Proposal(name, quoted(name), note)
            else:
                inserted = f"{quoted(name)}: {value}"
                caret = inserted.rfind(CURSOR) if CURSOR in value else None
                yield Proposal(name, inserted.replace(CURSOR, "") if CURSOR in value else inserted, note, caret)


def _values(outline: Outline, context: CursorContext) -> Iterator[Proposal]:
    holder = context.holder
    assert holder is not None
    keyword = context.key
    schema = holder
    if holder.is_array:
        keyword = str(holder.name)
        if holder.holder is None:
            return
        schema = holder.holder
    if schema.role is not OutlineRole.SCHEMA and not (keyword in REFERENCES and schema.role is OutlineRole.VALUE):
        return
    if keyword == "type":
        yield from _quoted({name: type_meaning(name) for name in TYPES})
    elif keyword == "format":
        yield from _quoted({name: format_meaning(name) for name in FORMATS})
    elif keyword == "$schema":
        yield from _quoted({address: _draft_title(address) for address in DRAFTS})
    elif keyword in REFERENCES:
        yield from _quoted(dict.fromkeys(SchemaTargets(outline).targets(schema), ""))
    elif keyword == "required" and holder.is_array:
        properties = schema.members.get("properties")
        present = {item.text for item in holder.items if not item.span.start <= context.typed.start < item.span.end}
        names = properties.members if properties is not None else {}
        yield from _quoted({name: "" for name in names if name not in present})
    elif keyword in {"additionalProperties", "unevaluatedProperties", "unevaluatedItems", "additionalItems"}:
        yield Proposal("false", "false", catalogue_text("reference.json_schema.proposal.false"))
        yield Proposal("true", "true", catalogue_text("reference.json_schema.proposal.true"))
    elif keyword == "uniqueItems":
        yield Proposal("true", "true", catalogue_text("reference.json_schema.proposal.unique"))
        yield Proposal("false", "false", catalogue_text("reference.json_schema.proposal.not_unique"))


def _draft_title(address: str) -> str:
    draft = draft_of(address)
    return capitalised(draft_name(draft)) if draft is not None else ""


def _quoted(entries: Mapping[str, str]) -> Iterator[Proposal]:
    for name, detail in entries.items():
        yield Proposal(name, quoted(name), detail)
