"""Completion of GBNF: rule names where a rule is used or begins, and escapes inside literals and classes."""

from __future__ import annotations

import re
from typing import Final

from engine.notations.editing.completion import Proposal, Proposals, escapes, matching
from engine.notations.gbnf.lexer import GbnfToken, tokens
from engine.notations.gbnf.reference import escape_meanings
from engine.source import Span
from engine.source.catalogue import catalogue_text

_WORD_BEFORE: Final = re.compile(r"[A-Za-z0-9_-]*\Z")


def propose(text: str, offset: int) -> Proposals:
    """Return the proposals at an offset; see `Notation.propose`."""
    known = list(tokens(text))
    here = next((token for token in known if token.start < offset <= token.end), None)
    kind = here.kind if here is not None else None
    is_within = here is not None and offset < here.end
    if kind in {"open_literal", "open_class"} or (kind in {"literal", "class"} and is_within):
        return escapes(text, offset, escape_meanings())
    if kind in {"comment", "element", "count"}:
        return Proposals(Span(offset, offset))
    before = _WORD_BEFORE.search(text, 0, offset)
    typed = before.group() if before else ""
    span = Span(offset - len(typed), here.end if here is not None and kind in {"name", "defined"} else offset)
    own = text[span.start : span.end]
    defined: dict[str, int] = {}  # the end of the name where it is defined first
    used: dict[str, int] = {}
    for token in known:
        if token.kind in {"name", "defined"} and token.start != span.start:
            (defined if token.kind == "defined" else used).setdefault(text[token.start : token.end], token.end)
    missing = [name for name in used if name not in defined]
    if _begins_rule(text, known, span.start):
        if "root" not in defined and "root" not in missing:
            missing.insert(0, "root")
        behind = "" if re.compile(r"[ \t]*::=").match(text, span.end) else " ::= "
        proposals = [Proposal(name, name + behind, _undefined()) for name in missing]
    else:
        proposals = [Proposal(name, name, _body_excerpt(text, end)) for name, end in defined.items()]
        proposals += [Proposal(name, name, _undefined()) for name in missing]
    opens_unasked = bool(typed) and own == typed
    return matching(span, typed, proposals, opens_unasked=opens_unasked)


def _undefined() -> str:
    return catalogue_text("reference.gbnf.proposal.used")


def _begins_rule(text: str, known: list[GbnfToken], start: int) -> bool:
    """Return whether a word would be the name of a new rule: first on its line, with nothing open before it."""
    if text[text.rfind("\n", 0, start) + 1 : start].strip():
        return False
    depth, last = 0, ""
    for token in known:
        if token.start >= start:
            break
        if token.kind == "defined":
            depth = 0
        elif token.kind == "open":
            depth += 1
        elif token.kind == "close":
            depth -= 1
        if token.kind not in {"blank", "line_end", "comment"}:
            last = token.kind
    return depth <= 0 and last not in {"bar", "defines"}


def _body_excerpt(text: str, name_end: int) -> str:
    """Return the start of a rule's body, short enough for a list."""
    start = text.index("::=", name_end) + len("::=")
    body = text[start:].partition("\n")[0].strip()
    return body if len(body) <= 40 else body[:39] + "…"
