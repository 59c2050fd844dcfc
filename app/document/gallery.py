"""The gallery: example documents, one JSON file each in `resources/examples`.

They are ordered by category, and within one by file name: the examples for newcomers have the lowest numbers.
"""

from __future__ import annotations

import re
from importlib.resources import files

import msgspec

from app.catalogue import ui_text
from engine.decoding.values import SamplerSettings
from engine.document.content import DocumentFile, ExpectedText, GrammarPart, ModelPart, Whitespace

CATEGORIES = (
    "first_steps",
    "json",
    "tool_calls",
    "reasoning",
    "sql",
    "dates",
    "web",
    "files",
    "chess",
    "arithmetic",
    "code",
    "hard_cases",
)
"""The ids of the categories in display order."""


_WEIGHTS = 64, 16, 4, 1  # of title, category, description and grammar


def _occurrence(word: str, text: str) -> int:
    """Return 3 for a word of a text, or its plural, 2 for the beginning of one, 1 for another part, and 0 for none."""
    if re.search(rf"\b{re.escape(word)}s?\b", text):
        return 3
    return 2 if re.search(rf"\b{re.escape(word)}", text) else int(word in text)


class Example(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An example document.

    Attributes:
        title: a few words.
        category: one of `CATEGORIES`.
        description: what it demonstrates, one or two sentences.
        notation, source: the grammar.
        model: the spec of the model that suits it best.
        prompt: the prompt.
        sampler: the sampler settings.
        whitespace: the white space of a JSON Schema's texts.
        test_strings: texts that it should accept or refuse; a plain string should be accepted.
    """

    title: str
    category: str
    description: str
    notation: str
    source: str
    model: str
    prompt: str = ""
    sampler: SamplerSettings = SamplerSettings()
    whitespace: Whitespace = "flexible"
    test_strings: tuple[ExpectedText | str, ...] = ()

    def rank(self, words: str) -> int:
        """Return how well some words describe it: 0 if one of them is nowhere in it.

        A word counts most in the title, then in the category, in the description and in the grammar; the whole word
        counts more than its beginning, and that more than a part of another word.
        """
        parts = (self.title, f"{category_title(self.category)} {self.notation_title}", self.description, self.source)
        ranks = [
            max(_occurrence(word, part.casefold()) * weight for part, weight in zip(parts, _WEIGHTS, strict=True))
            for word in words.casefold().split()
        ]
        return 0 if 0 in ranks else sum(ranks) or 1

    @property
    def notation_title(self) -> str:
        """Return the short name of its notation."""
        return ui_text(f"common.notation.short.{self.notation}")

    def document(self) -> DocumentFile:
        """Return a new document with its content."""
        return DocumentFile(
            title=self.title,
            grammar=GrammarPart(self.notation, self.source, whitespace=self.whitespace),
            model=ModelPart(spec=self.model),
            prompt=self.prompt,
            sampler=self.sampler,
            test_strings=tuple(ExpectedText(one) if isinstance(one, str) else one for one in self.test_strings),
        )


def category_title(category: str) -> str:
    """Return the title of a category."""
    return ui_text(f"dialogs.gallery.category.{category}")


def examples() -> tuple[Example, ...]:
    """Return all examples; the first one is shown on the first run."""
    folder = files("resources") / "examples"
    named = sorted((file for file in folder.iterdir() if file.name.endswith(".json")), key=lambda file: file.name)
    found = (msgspec.json.decode(file.read_bytes(), type=Example) for file in named)
    return tuple(sorted(found, key=lambda example: CATEGORIES.index(example.category)))
