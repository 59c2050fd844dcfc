"""Completion of regular expressions: escapes, forms of groups, and quantifiers."""

from __future__ import annotations

from typing import Final

from engine.notations.editing import words
from engine.notations.editing.completion import Proposal, Proposals, escapes, is_in_escape, matching
from engine.source import Span

_HOLE: Final = "…"


def propose(text: str, offset: int) -> Proposals:
    """Return the proposals at an offset; see `Notation.propose`."""
    in_class = _in_class(text, offset)
    sequences = {**words.REGEX_SETS, **words.REGEX_ESCAPES, **({} if in_class else words.REGEX_BOUNDARIES)}
    if is_in_escape(text, offset):
        return escapes(text, offset, sequences)
    found = sequences if in_class else {**words.REGEX_FORMS, **sequences}
    if not in_class and offset > 0 and text[offset - 1] not in "(|^":
        found = {**words.REGEX_QUANTIFIERS, **found}
    return matching(
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
