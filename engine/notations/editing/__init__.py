"""Editor support for grammar texts, valid or not: names, completions, edits.

A parser gives up on a half-typed text, which is when an editor needs help most. So these readers accept any
input and never fail; on well-formed texts, tests compare them with the parsers. GBNF has one lexer for both.
"""

from engine.notations.editing.completion import Proposal, Proposals
from engine.notations.editing.edits import Change, Edit, apply_edits, offset_after_edits
from engine.notations.editing.names import Name, name_at

__all__ = [
    "Change",
    "Edit",
    "Name",
    "Proposal",
    "Proposals",
    "apply_edits",
    "name_at",
    "offset_after_edits",
]
