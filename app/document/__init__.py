"""The open documents, their files, their autosaves and the gallery of examples."""

from app.document.autosave import Autosave, Leftover, Saved
from app.document.document import Document, OpenDocument
from engine.document.codec import SUFFIX, DocumentError
from engine.document.content import AutomatonPart, DocumentFile, GrammarPart, ModelPart

__all__ = [
    "SUFFIX",
    "AutomatonPart",
    "Autosave",
    "Document",
    "DocumentError",
    "DocumentFile",
    "GrammarPart",
    "Leftover",
    "ModelPart",
    "OpenDocument",
    "Saved",
]
