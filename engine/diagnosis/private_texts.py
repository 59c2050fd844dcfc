"""Secrets and paths in the texts of a document: they are removed before it is opened or handed on.

The texts that a user wrote or pasted are read: the grammars, the prompt, the test strings. The tokens of a trace stay
as they are, since a trace with other tokens would be another one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import msgspec

from engine.decoding.values import Chat
from engine.diagnosis.intake.secrets import remove_secrets
from engine.document.content import DocumentFile


def with_texts(document: DocumentFile, change: Callable[[str], str]) -> DocumentFile:
    """Return a document with each text that a user wrote replaced by what a function makes of it."""
    prompt, pipeline = document.prompt, document.pipeline
    if isinstance(prompt, Chat):
        messages = tuple((role, change(text)) for role, text in prompt.messages)
        prompt = Chat(messages, change(prompt.assistant_prefix))
    else:
        prompt = change(prompt)
    if pipeline.zones is not None:
        others = tuple(replace(zone, text=change(zone.text)) for zone in pipeline.zones.others)
        pipeline = replace(pipeline, zones=replace(pipeline.zones, others=others))
    return msgspec.structs.replace(
        document,
        title=change(document.title),
        grammar=msgspec.structs.replace(document.grammar, text=change(document.grammar.text)),
        prompt=prompt,
        pipeline=pipeline,
        test_strings=tuple(replace(one, text=change(one.text)) for one in document.test_strings),
    )


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
