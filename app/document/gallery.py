"""The gallery: examples to start from, one JSON file each in `resources/examples`, in the order of their names."""

from __future__ import annotations

from importlib.resources import files

import msgspec

from app.document.file import DocumentFile, GrammarPart, ModelPart, Whitespace
from engine.decoding.values import SamplerSettings


class Example(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One example.

    Attributes:
        title: a few words.
        description: what there is to see, a sentence or two.
        notation, source: the grammar.
        model: the spec of the model that it is at its best with.
        prompt: what the model sees first.
        sampler: how to draw.
        whitespace: what a JSON Schema's texts may have of it.
    """

    title: str
    description: str
    notation: str
    source: str
    model: str
    prompt: str = ""
    sampler: SamplerSettings = SamplerSettings()
    whitespace: Whitespace = "flexible"

    def document(self) -> DocumentFile:
        """A new document made of it."""
        return DocumentFile(
            title=self.title,
            grammar=GrammarPart(self.notation, self.source, whitespace=self.whitespace),
            model=ModelPart(spec=self.model),
            prompt=self.prompt,
            sampler=self.sampler,
        )


def examples() -> tuple[Example, ...]:
    """All examples; the first one greets on the first run."""
    folder = files("resources") / "examples"
    found = sorted((file for file in folder.iterdir() if file.name.endswith(".json")), key=lambda file: file.name)
    return tuple(msgspec.json.decode(file.read_bytes(), type=Example) for file in found)
