"""Checked access to a tokenizer's JSON files: errors name the file, the JSON Pointer and the expected type.

Files are not trusted: a value may have any type and any depth, and an id may be any number. A `Part` is a value with
its file and pointer; its methods return the type that a reader needs, or raise an error with the expected and the
actual type.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Final

from engine.source.json_pointer import escape_step
from engine.vocabulary.errors import VocabularyError

HIGHEST_ID: Final = 1 << 21
"""Ids up to this one are always accepted; a higher id needs a table with at least an eighth as many tokens."""
_MAX_SIZE: Final = 128 << 20  # the largest known file is gemma3's tokenizer.json, of 33 MB
_MAX_SHOWN: Final = 60


def highest_id(tokens: int) -> int:
    """Return the highest id that a table of `tokens` tokens may have.

    A vocabulary is a table with an entry for every id up to the highest, so one absurd id would exhaust the memory.
    """
    return max(HIGHEST_ID, 8 * tokens)


class Part:
    """A value in a JSON file.

    Attributes:
        value: the value, as parsed by the `json` module.
    """

    __slots__ = ("_file", "_pointer", "value")

    def __init__(self, value: Any, file: str, pointer: str = "") -> None:
        self.value = value
        self._file, self._pointer = file, pointer

    def refused(self, expected: str) -> VocabularyError:
        """Return an error that says that the value is not as expected."""
        where = self._pointer or "the whole file"
        return VocabularyError(
            "errors.vocabulary.file.wrong_type",
            file=self._file,
            where=where,
            expected=expected,
            actual=_short_repr(self.value),
        )

    def get(self, name: str) -> Part:
        """Return a member of an object; a part with the value None if it is missing."""
        if not isinstance(self.value, dict):
            raise self.refused("an object")
        return self._part(self.value.get(name), name)

    def members(self) -> Iterator[tuple[str, Part]]:
        """Yield the members of an object."""
        if not isinstance(self.value, dict):
            raise self.refused("an object")
        for name, value in self.value.items():
            yield name, self._part(value, name)

    def items(self) -> Iterator[Part]:
        """Yield the items of a list."""
        if not isinstance(self.value, list):
            raise self.refused("a list")
        for index, value in enumerate(self.value):
            yield self._part(value, str(index))

    def optional_items(self) -> Iterator[Part]:
        """Yield the items of a list; no items if it is null or missing."""
        return iter(()) if self.value is None else self.items()

    def flag(self) -> bool:
        """Return a boolean; False if it is null or missing."""
        if self.value is not None and not isinstance(self.value, bool):
            raise self.refused("true or false")
        return bool(self.value)

    def text(self) -> str:
        """Return a string."""
        if not isinstance(self.value, str):
            raise self.refused("a string")
        return self.value

    def count(self) -> int:
        """Return a non-negative integer."""
        if not isinstance(self.value, int) or isinstance(self.value, bool) or self.value < 0:
            raise self.refused("a whole number that is not negative")
        return self.value

    def id_among(self, tokens: int) -> int:
        """Return an id, which may not be absurdly high for a table of `tokens` tokens."""
        index = self.count()
        if index > (highest := highest_id(tokens)):
            raise self.refused(f"at most {highest:,} (every id up to the highest takes memory)")
        return index

    def _part(self, value: Any, step: str) -> Part:
        return Part(value, self._file, f"{self._pointer}/{escape_step(step)}")


def read_bytes(file: Path) -> bytes:
    """Return the content of a file.

    Raises:
        VocabularyError: the file is larger than any tokenizer's file, or not a regular file.
        OSError: the file cannot be read.
    """
    size = file.stat().st_size
    if not file.is_file():  # reading a device or a pipe may never end
        raise VocabularyError("errors.vocabulary.not_regular", file=str(file))
    if size > _MAX_SIZE:
        raise VocabularyError("errors.vocabulary.too_large", file=str(file), size=size, most=_MAX_SIZE)
    return file.read_bytes()


def read_json(content: bytes | str, file: str) -> Part:
    """Parse a JSON file.

    Raises:
        VocabularyError: the content is not JSON, or nested too deep for Python's parser.
    """
    try:
        return Part(json.loads(content), file)
    except RecursionError as error:
        raise VocabularyError("errors.vocabulary.file.nested", file=file) from error
    except ValueError as error:
        raise VocabularyError("errors.vocabulary.file.no_json", file=file, reason=str(error)) from error


def by_id(entries: Iterable[tuple[Part, int, str]]) -> dict[int, str]:
    """Return tokens by their ids.

    Args:
        entries: for each token the part that an error names, the id, and the text.

    Raises:
        VocabularyError: two different tokens have the same id.
    """
    tokens: dict[int, str] = {}
    for part, index, text in entries:
        if tokens.setdefault(index, text) != text:
            raise part.refused(f"another id, since “{tokens[index]:.{_MAX_SHOWN}}” has it already")
    return tokens


def encoded(text: str) -> bytes:
    """Encode a text in UTF-8.

    Raises:
        VocabularyError: the text has a lone surrogate, which JSON can express and UTF-8 cannot.
    """
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise VocabularyError("errors.vocabulary.file.surrogate", text=ascii(text)[:_MAX_SHOWN]) from error


def _short_repr(value: object) -> str:
    """Describe a value briefly, without formatting large values."""
    if value is None:
        return "null or missing"
    if isinstance(value, dict | list):
        return f"{'an object' if isinstance(value, dict) else 'a list'} of {len(value):,}"
    if isinstance(value, int) and value.bit_length() > 3 * _MAX_SHOWN:
        return "a number of very many digits"
    text = json.dumps(value[:_MAX_SHOWN] if isinstance(value, str) else value)
    return text if len(text) <= _MAX_SHOWN else text[:_MAX_SHOWN] + "…"
