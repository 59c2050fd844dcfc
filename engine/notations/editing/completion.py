"""Completion proposals for the cursor position, in a text that is being typed.

Proposals that start with the typed text come first, then those that contain it; case does not matter. Otherwise the
order is that of the lists in `words`: the most common ones come first.

Rejected: proposals from the parser's error. The parser stops at the first error, which is rarely where the user types.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from engine.notations.editing import words
from engine.notations.editing.gbnf_names import GbnfPart, Piece, pieces
from engine.notations.editing.outline import CursorContext, Outline, OutlinePosition, OutlineRole
from engine.notations.editing.schema_names import REFERENCES, SchemaTargets, quoted
from engine.source import Span

_WORD_BEFORE: Final = re.compile(r"[A-Za-z0-9_-]*\Z")
_ESCAPE_BEFORE: Final = re.compile(r"(?<!\\)(?:\\\\)*(\\\w?)\Z")
_COLON: Final = re.compile(r"\s*:")
_CURSOR: Final = "|"
_HOLE: Final = "…"
_MOST: Final = 200


@dataclass(frozen=True, slots=True)
class Proposal:
    """One proposal.

    Attributes:
        label: the text shown in a list.
        text: the text to insert.
        detail: a short description.
        caret: the cursor position in `text` after the insertion; its end by default.
    """

    label: str
    text: str
    detail: str = ""
    caret: int | None = None


@dataclass(frozen=True, slots=True)
class Proposals:
    """The proposals at a position.

    Attributes:
        span: the text that a proposal replaces.
        typed: the part of it before the cursor, which selected the proposals.
        proposals: best first; empty if none are known.
        opens_unasked: whether they may be shown without a request.
    """

    span: Span
    typed: str = ""
    proposals: tuple[Proposal, ...] = ()
    opens_unasked: bool = False


def propose(notation: str, text: str, offset: int) -> Proposals:
    """Return the proposals at an offset of a text.

    Args:
        notation: the notation of the text.
        text: the text.
        offset: the cursor position, in code points.
    """
    if notation == "gbnf":
        return _gbnf(text, offset)
    if notation == "json_schema":
        return _schema(text, offset)
    if notation == "regex":
        return _regex(text, offset)
    return Proposals(Span(offset, offset))


def _matching(span: Span, typed: str, proposals: Iterable[Proposal], *, opens_unasked: bool) -> Proposals:
    """Return the proposals that match the typed text; not shown by themselves if the text is complete."""
    wanted = typed.casefold()
    found = list(proposals)
    begin = [p for p in found if p.label.casefold().startswith(wanted)]
    hold = [p for p in found if wanted in p.label.casefold() and not p.label.casefold().startswith(wanted)]
    fitting = tuple((*begin, *hold)[:_MOST])
    is_done = len(fitting) == 1 and fitting[0].label == typed
    return Proposals(span, typed, fitting, opens_unasked=opens_unasked and not is_done)


# --- GBNF ------------------------------------------------------------------------------------------------------------


def _gbnf(text: str, offset: int) -> Proposals:
    known = list(pieces(text))
    here = next((p for p in known if p.span.start < offset <= p.span.end), None)
    if here is not None and here.kind in {GbnfPart.LITERAL, GbnfPart.CLASS} and _is_inside(text, here, offset):
        return _escapes(text, offset, words.GBNF_ESCAPES)
    if here is not None and here.kind in {GbnfPart.COMMENT, GbnfPart.TOKEN, GbnfPart.COUNT}:
        return Proposals(Span(offset, offset))
    before = _WORD_BEFORE.search(text, 0, offset)
    typed = before.group() if before else ""
    span = Span(offset - len(typed), here.span.end if here is not None and here.kind is GbnfPart.NAME else offset)
    own = text[span.start : span.end]
    defined = list(dict.fromkeys(text[p.span.start : p.span.end] for p in known if p.defines and p.span != span))
    used = dict.fromkeys(
        text[p.span.start : p.span.end] for p in known if p.kind is GbnfPart.NAME and not p.defines and p.span != span
    )
    missing = [name for name in used if name not in defined]
    if _begins_rule(text, known, span.start):
        if "root" not in defined and "root" not in missing:
            missing.insert(0, "root")
        behind = "" if re.compile(r"[ \t]*::=").match(text, span.end) else " ::= "
        proposals = [Proposal(name, name + behind, "used, and not defined yet") for name in missing]
    else:
        proposals = [Proposal(name, name, _body_excerpt(text, known, name)) for name in defined]
        proposals += [Proposal(name, name, "not defined yet") for name in missing]
    opens_unasked = bool(typed) and own == typed
    return _matching(span, typed, proposals, opens_unasked=opens_unasked)


def _is_inside(text: str, piece: Piece, offset: int) -> bool:
    closing = '"' if piece.kind is GbnfPart.LITERAL else "]"
    is_closed = piece.span.end - piece.span.start > 1 and text[piece.span.end - 1] == closing
    return offset < piece.span.end or not is_closed


def _begins_rule(text: str, known: list[Piece], start: int) -> bool:
    """Return whether a word would be the name of a new rule: first on its line, with nothing open before it."""
    if text[text.rfind("\n", 0, start) + 1 : start].strip():
        return False
    depth, last = 0, ""
    for piece in known:
        if piece.span.start >= start:
            break
        if piece.defines:
            depth, last = 0, "::="
        elif piece.kind is not GbnfPart.COMMENT:
            last = text[piece.span.start : piece.span.end]
            depth += {"(": 1, ")": -1}.get(last, 0)
    return depth <= 0 and last not in {"|", "::="}


def _body_excerpt(text: str, known: list[Piece], name: str) -> str:
    """Return the start of a rule's body, short enough for a list."""
    for piece in known:
        if piece.defines and text[piece.span.start : piece.span.end] == name:
            body = text[piece.span.end :].split("::=", 1)[1].split("\n", 1)[0].strip()
            return body if len(body) <= 40 else body[:39] + "…"
    return ""


def _escapes(text: str, offset: int, known: Mapping[str, str]) -> Proposals:
    before = _ESCAPE_BEFORE.search(text, 0, offset)
    typed = before.group(1) if before else ""
    proposals = [Proposal(escape, escape, detail) for escape, detail in known.items()]
    return _matching(Span(offset - len(typed), offset), typed, proposals, opens_unasked=bool(typed))


# --- regular expressions ---------------------------------------------------------------------------------------------


def _regex(text: str, offset: int) -> Proposals:
    in_class = _in_class(text, offset)
    escapes = {**words.REGEX_SETS, **words.REGEX_ESCAPES, **({} if in_class else words.REGEX_BOUNDARIES)}
    before = _ESCAPE_BEFORE.search(text, 0, offset)
    if before is not None:
        return _escapes(text, offset, escapes)
    found = escapes if in_class else {**words.REGEX_FORMS, **escapes}
    if not in_class and offset > 0 and text[offset - 1] not in "(|^":
        found = {**words.REGEX_QUANTIFIERS, **found}
    return _matching(
        Span(offset, offset), "", (_form(form, detail) for form, detail in found.items()), opens_unasked=False
    )


def _form(form: str, detail: str) -> Proposal:
    """Build the proposal of a form; its holes are removed, and the cursor goes to the first."""
    caret = form.find(_HOLE)
    return Proposal(form, form.replace(_HOLE, ""), detail, caret if caret >= 0 else None)


def _in_class(text: str, offset: int) -> bool:
    is_open, at = False, 0
    while at < offset:
        char = text[at]
        if char == "\\":
            at += 1
        elif char == "[" and not is_open:
            is_open = True
            at += 1 if text[at + 1 : at + 2] == "^" else 0
            at += 1 if text[at + 1 : at + 2] == "]" else 0
        elif char == "]":
            is_open = False
        at += 1
    return is_open


# --- JSON Schema -----------------------------------------------------------------------------------------------------


def _schema(text: str, offset: int) -> Proposals:
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
    return _matching(context.typed, typed.removeprefix('"'), proposals, opens_unasked=bool(typed))


def _keywords(text: str, context: CursorContext) -> Iterator[Proposal]:
    holder = context.holder
    assert holder is not None
    own = text[context.typed.start : context.typed.end].strip('"')
    others = {key for key, span in holder.keys.items() if not (key == own and span.start == context.typed.start)}
    kind = holder.members["type"].text if "type" in holder.members else None
    group = "number" if kind == "integer" else kind
    first = sorted(words.KEYWORDS.items(), key=lambda entry: entry[0] != group)
    for about, keywords in first:
        for name, (value, detail) in keywords.items():
            if name in others:
                continue
            note = detail if about == "any" else f"{detail} ({about})"
            if context.has_colon or _COLON.match(text, context.typed.end):
                yield Proposal(name, quoted(name), note)
            else:
                inserted = f"{quoted(name)}: {value}"
                caret = inserted.rfind(_CURSOR) if _CURSOR in value else None
                yield Proposal(name, inserted.replace(_CURSOR, "") if _CURSOR in value else inserted, note, caret)


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
        yield from _quoted(words.TYPES)
    elif keyword == "format":
        yield from _quoted(words.FORMATS)
    elif keyword == "$schema":
        yield from _quoted(words.DRAFTS)
    elif keyword in REFERENCES:
        yield from _quoted(dict.fromkeys(SchemaTargets(outline).targets(schema), ""))
    elif keyword == "required" and holder.is_array:
        properties = schema.members.get("properties")
        present = {item.text for item in holder.items if not item.span.start <= context.typed.start < item.span.end}
        names = properties.members if properties is not None else {}
        yield from _quoted({name: "" for name in names if name not in present})
    elif keyword in {"additionalProperties", "unevaluatedProperties", "unevaluatedItems", "additionalItems"}:
        yield Proposal("false", "false", "None")
        yield Proposal("true", "true", "Any")
    elif keyword == "uniqueItems":
        yield Proposal("true", "true", "No two items are equal")
        yield Proposal("false", "false", "Items may be equal")


def _quoted(entries: Mapping[str, str]) -> Iterator[Proposal]:
    for name, detail in entries.items():
        yield Proposal(name, quoted(name), detail)
