"""Completion of regular expressions: escapes, forms of groups, and quantifiers."""

from __future__ import annotations

from typing import Final

from engine.notations.editing.completion import Proposal, Proposals, escapes, is_in_escape, matching
from engine.notations.reference import without_holes
from engine.notations.regex.reference import form_meaning
from engine.source import Span

_SETS: Final = (r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", r"\p{L}", r"\p{Lu}", r"\p{N}")
_ESCAPES: Final = (r"\n", r"\r", r"\t", r"\\", r"\.", r"\x41", r"\u0041")
_BOUNDARIES: Final = (r"\b", r"\B")
_FORMS: Final = (".", "[a-z]", "[^a-z]", "(?:…)", "…|…", "(?=…)", "(?!…)", "(?<=…)", "(?<!…)", "^", "$")
_QUANTIFIERS: Final = ("*", "+", "?", "{3}", "{2,5}")


def propose(text: str, offset: int) -> Proposals:
    """Return the proposals at an offset; see `Notation.propose`."""
    in_class = _in_class(text, offset)
    sequences = (*_SETS, *_ESCAPES, *(() if in_class else _BOUNDARIES))
    if is_in_escape(text, offset):
        return escapes(text, offset, {form: form_meaning(form) for form in sequences})
    found = sequences if in_class else (*_FORMS, *sequences)
    if not in_class and offset > 0 and text[offset - 1] not in "(|^":
        found = (*_QUANTIFIERS, *found)
    return matching(Span(offset, offset), "", (_proposal(form) for form in found), opens_unasked=False)


def _proposal(form: str) -> Proposal:
    text, caret = without_holes(form)
    return Proposal(form, text, form_meaning(form), caret if text != form else None)


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
