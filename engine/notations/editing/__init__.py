"""What an editor asks of a grammar's text, whether or not it can be read: names, completions, edits.

A parser gives up on a text that is half typed, which is when an editor is asked
most. So these readers are of their own, forgive everything, and never fail;
where a text is well-formed, tests hold them against the parsers.
"""

from engine.notations.editing.comments import toggle_comment
from engine.notations.editing.completion import Proposal, Proposals, propose
from engine.notations.editing.edits import Change, Edit, apply_edits, moved
from engine.notations.editing.names import Name, name_at, names_of, rename

__all__ = [
    "Change",
    "Edit",
    "Name",
    "Proposal",
    "Proposals",
    "apply_edits",
    "moved",
    "name_at",
    "names_of",
    "propose",
    "rename",
    "toggle_comment",
]
