"""Completion proposals for the cursor position, in a text that is being typed.

Proposals that start with the typed text come first, then those that contain it; case does not matter. Otherwise the
order is that of the lists in `reference.py` of the notations: the most common ones come first.

Rejected: proposals from the parser's error. The parser stops at the first error, which is rarely where the user types.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from engine.source import Span

_ESCAPE_BEFORE: Final = re.compile(r"(?<!\\)(?:\\\\)*(\\\w?)\Z")
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


def matching(span: Span, typed: str, proposals: Iterable[Proposal], *, opens_unasked: bool) -> Proposals:
    """Return the proposals that match the typed text; not shown by themselves if the text is complete.

    Args:
        span: the text that a proposal replaces.
        typed: the part of it before the cursor.
        proposals: all proposals at this position.
        opens_unasked: whether they may be shown without a request.
    """
    wanted = typed.casefold()
    found = list(proposals)
    begin = [p for p in found if p.label.casefold().startswith(wanted)]
    hold = [p for p in found if wanted in p.label.casefold() and not p.label.casefold().startswith(wanted)]
    fitting = tuple((*begin, *hold)[:_MOST])
    is_done = len(fitting) == 1 and fitting[0].label == typed
    return Proposals(span, typed, fitting, opens_unasked=opens_unasked and not is_done)


def escapes(text: str, offset: int, known: Mapping[str, str]) -> Proposals:
    """Return the escapes that begin with the typed one.

    Args:
        text: the text.
        offset: the cursor position, in code points.
        known: the escapes with their descriptions.
    """
    before = _ESCAPE_BEFORE.search(text, 0, offset)
    typed = before.group(1) if before else ""
    proposals = [Proposal(escape, escape, detail) for escape, detail in known.items()]
    return matching(Span(offset - len(typed), offset), typed, proposals, opens_unasked=bool(typed))


def is_in_escape(text: str, offset: int) -> bool:
    """Return whether an escape is being typed."""
    return _ESCAPE_BEFORE.search(text, 0, offset) is not None
