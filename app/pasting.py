"""Recognises pasted text: its notation, and the grammar in a server request.

A notation is detected by a few unambiguous patterns: a text that may be valid in the current notation is left alone. A
JSON object is a legal regex, and so is a list of rules; nobody intends that.

A failing schema is usually copied as a `response_format`, a tool, or a server's own field (`guided_json`, `grammar`).
Compiled as a schema, such a request is refused, or worse, allows everything, since none of its keys is a keyword.

The search follows known field names only, and ends at the first value that is a grammar; a request with several tools
has several grammars and is left alone.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from app.catalogue import ui_text
from app.document import GrammarPart
from engine.notations import NOTATIONS
from engine.notations.notation import Notation, NotationVariant


@dataclass(frozen=True, slots=True)
class NotationChoice:
    """A notation with some of its options, as it is offered to the user.

    Attributes:
        notation: the notation.
        variant: the form of it, with its options.
    """

    notation: Notation
    variant: NotationVariant

    @property
    def name(self) -> str:
        """Return its label in the window."""
        return self.variant.title or ui_text(f"common.notation.{self.variant.id}")

    @property
    def tip(self) -> str:
        """Return a few words of description."""
        return self.variant.tip or ui_text(f"window.notation.choice.{self.variant.id}.tip")

    def of(self, grammar: GrammarPart) -> GrammarPart:
        """Return the grammar with this notation and these options."""
        return msgspec.structs.replace(grammar, notation=self.notation.id, **self.variant.options)

    def is_of(self, grammar: GrammarPart) -> bool:
        """Return whether the grammar already has this notation and these options."""
        return self.of(grammar) == grammar


WHITESPACE: Final = ("compact", "one-space", "flexible", "any")
ESCAPES: Final = ("shortest", "any")
ADDITIONAL: Final = ("open", "closed")


def notation_choices() -> tuple[NotationChoice, ...]:
    """Return what the user chooses from: the notations, some in several forms."""
    return tuple(NotationChoice(notation, variant) for notation in NOTATIONS.values() for variant in notation.variants)


def notation_choice_of(grammar: GrammarPart) -> NotationChoice:
    """Return the choice that a grammar matches."""
    return next(choice for choice in notation_choices() if choice.is_of(grammar))


_LARGEST: Final = 200_000  # code points; it is parsed on the GUI thread
_DECODER: Final = json.JSONDecoder()
_WHITE_SPACE: Final = re.compile(r"[ \t\r\n]*")
_FENCE: Final = "```"
_FIELDS: Final = (
    *("response_format", "json_schema", "schema", "structured_outputs", "extra_body", "guided_json", "json"),
    *("tools", "function", "parameters", "input_schema", "inputSchema", "text", "format"),
    *("guided_grammar", "grammar", "guided_regex", "regex"),
)
_KEYWORDS: Final = frozenset(
    ("$schema", "$ref", "$defs", "definitions", "properties", "items", "anyOf", "oneOf", "allOf", "enum", "const")
)
_TYPES: Final = frozenset(("object", "array", "string", "number", "integer", "boolean", "null"))


def unwrapped(text: str) -> tuple[str, str] | None:
    """Return the grammar in a text, and where it was found; None if the text is no wrapper.

    Args:
        text: the pasted text.
    """
    if len(text) > _LARGEST:
        return None
    content = _without_fence(text)
    found = _unwrap(content)
    if found is None and content is not text:
        return content, ui_text("window.notation.fragment.code_block")
    return found


def _without_fence(text: str) -> str:
    """Return the contents of a Markdown code block if it is the whole text."""
    lines = text.strip().split("\n")
    if len(lines) < len(("fence", "text", "fence")) or not lines[0].startswith(_FENCE) or lines[-1].strip() != _FENCE:
        return text
    return "\n".join(lines[1:-1]) + "\n"


def _unwrap(text: str) -> tuple[str, str] | None:
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    path: list[str | int] = []
    while not _is_schema(value):
        step = _step(value)
        if step is None:
            return None
        path.append(step)
        value = value[step]
        if isinstance(value, str):
            return (value, _path_text(path)) if NOTATIONS.likely(value) else None
    return (_slice(text, path), _path_text(path)) if path else None


def _step(value: Any) -> str | int | None:
    """Return the key of the field to follow; None if there is none."""
    if isinstance(value, list):
        return 0 if len(value) == 1 else None
    if not isinstance(value, dict):
        return None
    return next((name for name in _FIELDS if isinstance(value.get(name), dict | list | str)), None)


def _is_schema(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    named = value.get("type")
    types = named if isinstance(named, list) else [named]
    return bool(value.keys() & _KEYWORDS) or any(isinstance(one, str) and one in _TYPES for one in types)


def _slice(text: str, path: list[str | int]) -> str:
    """Return the source text of a value, dedented; the engine's parser with spans would take long to load."""
    start = _skip_white_space(text, 0)
    for step in path:
        start = _skip_white_space(text, start + 1) if step == 0 else _member(text, start, str(step))
    first, *rest = text[start : _DECODER.raw_decode(text, start)[1]].split("\n")
    indents = [len(line) - len(line.lstrip()) for line in rest if line.strip()]
    least = min(indents, default=0)
    return "\n".join([first, *(line[least:] for line in rest)]) + "\n"


def _member(text: str, start: int, name: str) -> int:
    """Return the offset of a member's value in an object that begins at `start`; the last one of that name counts."""
    found = start
    at = _skip_white_space(text, start + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        at = _skip_white_space(text, _skip_white_space(text, at) + 1)
        found = at if key == name else found
        at = _skip_white_space(text, _DECODER.raw_decode(text, at)[1])
        at = _skip_white_space(text, at + 1) if text[at] == "," else at
    return found


def _skip_white_space(text: str, at: int) -> int:
    match = _WHITE_SPACE.match(text, at)
    return at if match is None else match.end()


def _path_text(path: list[str | int]) -> str:
    return ".".join(str(step) for step in path if isinstance(step, str))
