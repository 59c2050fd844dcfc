"""The explanation of a grammar: the meaning of each part of its text, as a tree that follows the text.

`turnstile explain --tree` prints it; the editor shows it beside the text. It is built from the parsers' results, so it
states what matches, and an invalid text has none.

Rejected: an explanation of the text's tokens. It would work for an invalid text too, but describe its form, not its
meaning.
"""

from engine.diagnosis.explanation_tree.phrases import MOST_PHRASES, Description, Phrase

__all__ = ["MOST_PHRASES", "Description", "Phrase"]
