"""The gallery: examples to start from, one JSON file each in `resources/examples`.

They come by category, and within one in the order of their files' names: what a
newcomer should see first has the lowest number.
"""

from __future__ import annotations

from importlib.resources import files

import msgspec

from app.document.file import DocumentFile, GrammarPart, ModelPart, Whitespace
from engine.decoding.values import SamplerSettings
from engine.diagnosis.test_strings.values import ExpectedText

CATEGORIES = (
    "First steps",
    "JSON",
    "Tool calls",
    "Think, then answer",
    "SQL",
    "Dates and times",
    "E-mail and web",
    "Tables and files",
    "Chess",
    "Arithmetic",
    "Code",
    "Hard cases",
)
"""In the order in which they are offered."""

NOTATIONS = {"regex": "Regex", "gbnf": "GBNF", "json_schema": "JSON Schema"}


class Example(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One example.

    Attributes:
        title: a few words.
        category: one of `CATEGORIES`.
        description: what there is to see, a sentence or two.
        notation, source: the grammar.
        model: the spec of the model that it is at its best with.
        prompt: what the model sees first.
        sampler: how to draw.
        whitespace: what a JSON Schema's texts may have of it.
        test_strings: what it should accept or refuse; a mere string should be accepted.
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

    def has(self, words: str) -> bool:
        """Whether all of some words, in any case, stand in what it says of itself or in its grammar."""
        notation = NOTATIONS[self.notation]
        told = f"{self.title}\n{self.category}\n{self.description}\n{notation}\n{self.source}".casefold()
        return all(word in told for word in words.casefold().split())

    def document(self) -> DocumentFile:
        """A new document made of it."""
        return DocumentFile(
            title=self.title,
            grammar=GrammarPart(self.notation, self.source, whitespace=self.whitespace),
            model=ModelPart(spec=self.model),
            prompt=self.prompt,
            sampler=self.sampler,
            test_strings=self.test_strings,
        )


def examples() -> tuple[Example, ...]:
    """All examples; the first one greets on the first run."""
    folder = files("resources") / "examples"
    named = sorted((file for file in folder.iterdir() if file.name.endswith(".json")), key=lambda file: file.name)
    found = (msgspec.json.decode(file.read_bytes(), type=Example) for file in named)
    return tuple(sorted(found, key=lambda example: CATEGORIES.index(example.category)))
