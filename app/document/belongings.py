"""What a document has of the example that it began as, and how that goes with the example's text.

Who replaces an example's grammar as a whole has begun something else: its title and its test strings speak of
the text that is gone. The prompt, the model and the sampler stay: they are in sight, and nothing of them fails.

Undo brings back what went. It is known by the grammar: where that is again what it was before, its belongings
are there again, and where it is again what came then, they are gone again.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import msgspec

from app.document.file import DocumentFile, GrammarPart
from app.document.gallery import examples
from engine.diagnosis.test_strings.values import ExpectedText


@dataclass(frozen=True, slots=True)
class Belongings:
    """What goes and comes with a grammar.

    Attributes:
        title: the example's.
        expected_texts: the example's test strings, as far as the document still had them.
        before: the grammar that they belong to.
        after: the one that came then; the latest one while they are away.
        are_away: whether they are.
    """

    title: str
    expected_texts: tuple[ExpectedText, ...]
    before: GrammarPart
    after: GrammarPart
    are_away: bool = False

    def taken_from(self, content: DocumentFile) -> DocumentFile:
        """The document without them."""
        left = tuple(one for one in content.expected_texts if one not in self.expected_texts)
        return msgspec.structs.replace(content, title="", test_strings=left)

    def given_to(self, content: DocumentFile) -> DocumentFile:
        """The document with them; what was added meanwhile stays."""
        added = tuple(one for one in content.expected_texts if one not in self.expected_texts)
        return msgspec.structs.replace(content, title=self.title, test_strings=(*self.expected_texts, *added))

    def following(self, grammar: GrammarPart) -> Belongings:
        """The same after the grammar has become another, or what it was."""
        if not self.are_away:
            return replace(self, are_away=grammar == self.after)
        if grammar == self.before:
            return replace(self, are_away=False)
        return replace(self, after=grammar)


def belongings_of(content: DocumentFile, before: GrammarPart) -> Belongings | None:
    """What a document has of an example, and had with the grammar `before`; None where it is of no example."""
    example = next((one for one in examples() if one.title == content.title), None)
    if example is None:
        return None
    theirs = example.document().expected_texts
    kept = tuple(one for one in content.expected_texts if one in theirs)
    return Belongings(content.title, kept, before, content.grammar)
