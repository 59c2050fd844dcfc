"""Completion of GBNF: rule names where a rule is used or begins, and escapes inside literals and classes."""

from __future__ import annotations

import re
from typing import Final

from engine.notations.editing import words
from engine.notations.editing.completion import Proposal, Proposals, escapes, matching
from engine.notations.gbnf.names import GbnfPart, Piece, pieces
from engine.source import Span

_WORD_BEFORE: Final = re.compile(r"[A-Za-z0-9_-]*\Z")


def propose(text: str, offset: int) -> Proposals:
    """Return the proposals at an offset; see `Notation.propose`."""
    known = list(pieces(text))
    here = next((p for p in known if p.span.start < offset <= p.span.end), None)
    if here is not None and here.kind in {GbnfPart.LITERAL, GbnfPart.CLASS} and _is_inside(text, here, offset):
        return escapes(text, offset, words.GBNF_ESCAPES)
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
    return matching(span, typed, proposals, opens_unasked=opens_unasked)


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
