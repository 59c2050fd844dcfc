"""Secrets and paths in the texts of a document: they are removed before it is opened or handed on.

The texts that a user wrote or pasted are read: the grammars, the prompts, the stages, the test strings, and the fields
of a later version. The name of the model stays, since it may be the address of a server, which is needed.

The tokens of a trace stay as they are, too: a trace with other tokens would be another one, and its file is the user's
own. What leaves the machine has no tokens that spell a secret: a bundle leaves the trace out, and the log of the window
has no texts at all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from engine.decoding.values import Step
from engine.diagnosis.intake.secrets import remove_secrets
from engine.document.content import DocumentFile, UnknownField
from engine.source import InvariantError

_FIELDS: Final = (
    "title",
    "grammar",
    "prompt",
    "pipeline",
    "archived",
    "test_strings",
    "sample",
    "breakpoints",
    "state_notes",
    "versions",
    "unknown",
)


def with_texts(document: DocumentFile, change: Callable[[str], str]) -> DocumentFile:
    """Return a document with each text that a user wrote replaced by what a function makes of it."""
    fields = {}
    for name in _FIELDS:
        try:
            fields[name] = _changed(getattr(document, name), change)
        except InvariantError:  # two triggers that differed in their secrets alone
            fields[name] = getattr(DocumentFile(), name)
    return msgspec.structs.replace(document, **fields)


def _changed(value: Any, change: Callable[[str], str]) -> Any:
    """Return a value with all texts in it changed."""
    if type(value) is str:  # members of enumerations are no texts of a user
        return change(value)
    if isinstance(value, Step):
        return value
    if isinstance(value, UnknownField):
        return msgspec.structs.replace(
            value, json=change(value.json.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
        )
    if isinstance(value, Mapping):
        return {key: _changed(one, change) for key, one in value.items()}
    if isinstance(value, tuple):
        items = [_changed(one, change) for one in value]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, msgspec.Struct):
        names = value.__struct_fields__
        return msgspec.structs.replace(value, **{name: _changed(getattr(value, name), change) for name in names})
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = tuple(field.name for field in dataclasses.fields(value) if field.init)
        return dataclasses.replace(value, **{name: _changed(getattr(value, name), change) for name in names})
    return value


def without_secrets(document: DocumentFile) -> tuple[DocumentFile, int]:
    """Return a document without the secrets of its texts, and their number."""
    removed = 0

    def clean(text: str) -> str:
        nonlocal removed
        found, count = remove_secrets(text)
        removed += count
        return found

    cleaned = with_texts(document, clean)
    return (cleaned, removed) if removed else (document, 0)
