"""The title and test strings of the example that a document began as.

When the user replaces an example's grammar completely, its title and its test strings no longer fit and are removed.
The prompt, the model and the sampler stay: they are visible, and still work.

Undo restores what was removed. It is recognised by the grammar: when it equals the old grammar again, the belongings
return, and when it equals the new grammar again, they are removed again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import msgspec

from app.document.gallery import examples
from engine.document.content import DocumentFile, ExpectedText, GrammarPart


@dataclass(frozen=True, slots=True)
class Belongings:
    """The parts of a document that are removed and restored with a grammar.

    Attributes:
        title: the example's.
        expected_texts: those of the example's test strings that the document still had.
        before: the grammar that they belong to.
        after: the grammar that replaced it; the latest one while they are removed.
        are_away: whether they are removed.
    """

    title: str
    expected_texts: tuple[ExpectedText, ...]
    before: GrammarPart
    after: GrammarPart
    are_away: bool = False

    def taken_from(self, content: DocumentFile) -> DocumentFile:
        """Return the document without the belongings."""
        remaining = tuple(one for one in content.test_strings if one not in self.expected_texts)
        return msgspec.structs.replace(content, title="", test_strings=remaining)

    def given_to(self, content: DocumentFile) -> DocumentFile:
        """Return the document with the belongings; test strings that were added meanwhile stay."""
        added = tuple(one for one in content.test_strings if one not in self.expected_texts)
        return msgspec.structs.replace(content, title=self.title, test_strings=(*self.expected_texts, *added))

    def following(self, grammar: GrammarPart) -> Belongings:
        """Return the belongings after a change of the grammar, which may be an undo or a redo."""
        if not self.are_away:
            return replace(self, are_away=grammar == self.after)
        if grammar == self.before:
            return replace(self, are_away=False)
        return replace(self, after=grammar)


def belongings_of(content: DocumentFile, before: GrammarPart) -> Belongings | None:
    """Return the belongings of the example that a document came from; None if there is none.

    Args:
        content: the document.
        before: its grammar before the last edit.
    """
    example = next((one for one in examples() if one.title == content.title), None)
    if example is None:
        return None
    of_example = example.document().test_strings
    kept = tuple(one for one in content.test_strings if one in of_example)
    return Belongings(content.title, kept, before, content.grammar)
