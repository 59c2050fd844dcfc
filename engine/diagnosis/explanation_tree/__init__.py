"""A grammar in words: what each part of its text means, as a tree that follows the text.

`turnstile explain --tree` prints it; the editor shows it beside the text. The
words come from what the parsers made of the text, so they say what matches, and
a text that is broken has none.

Rejected: words from the tokens of the text. They would do for a broken text,
too, but say what it looks like, not what it means.
"""

from engine.diagnosis.explanation_tree.phrases import MOST_PHRASES, Description, Phrase

__all__ = ["MOST_PHRASES", "Description", "Phrase"]
