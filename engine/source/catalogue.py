"""The texts that a user sees, by key: one TOML file for each area in `resources/texts`.

The key `dialogs.export.title` is the entry `title` of the table `[export]` in `dialogs.toml`. A text may have named
fields in the syntax of `str.format`: `"{name} was saved"`. A text that depends on a number has two forms, of which the
field `count` chooses one: `{one = "{count} test fails", other = "{count:,} tests fail"}`. Fields are values and never
templates, so braces in a user's text are safe. A text such as `"@common.word.tokens"` is that other text, so that a
table whose keys are computed is complete without a second copy of a shared word.

Texts are files and no Python constants, because they are read and translated by people who do not read the code, and
because one test reads them all (`tests/architecture/test_catalogue.py`). Keys are literals, or f-strings with a literal
beginning, so that the same test finds unused and unknown ones. Rejected: sentences as keys, as in gettext, since every
correction of a sentence would change its key.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from string import Formatter
from typing import Any

from engine.source.registry import EXTENSIONS, package_folders
from engine.source.similar import similar_words


class CatalogueError(LookupError):
    """A key without a text, or fields that are not those of the text."""


@dataclass(frozen=True, slots=True)
class CatalogueText:
    """A text of the catalogue.

    Attributes:
        other: the text, with its fields in braces; empty for a reference.
        one: the text for the number 1; None if the text does not depend on a number.
        fields: the names of the fields; `count` among them if there is a text for the number 1.
        reference: the key of the text that is meant; empty if this is a text of its own.
    """

    other: str
    one: str | None
    fields: frozenset[str]
    reference: str = ""


def catalogue_text(key: str, /, **fields: object) -> str:
    """Return a text.

    Args:
        key: the area, the tables and the name of the text, joined by dots.
        fields: the values of its fields, all of them and no others.

    Raises:
        CatalogueError: there is no such text, or it has other fields.
    """
    entry = catalogue_entry(key)
    check_fields(key, entry.fields, fields)
    template = entry.one if entry.one is not None and fields["count"] == 1 else entry.other
    return template.format(**fields)


@cache
def catalogue_entry(key: str) -> CatalogueText:
    """Return the text of a key with its forms and fields; for a reference, the text that it refers to.

    Raises:
        CatalogueError: there is no such text.
    """
    area, _, name = key.partition(".")
    texts = area_texts(area)
    entry = texts.get(name)
    if entry is None:
        raise unknown_key(key, (f"{area}.{known}" for known in texts))
    return catalogue_entry(entry.reference) if entry.reference else entry


def has_text(key: str) -> bool:
    """Return whether a key has a text."""
    area, _, name = key.partition(".")
    return name in area_texts(area)


@cache
def area_texts(area: str) -> Mapping[str, CatalogueText]:
    """Return the texts of an area by the rest of their keys.

    Args:
        area: the name of a file in `resources/texts`, without its suffix; files of this name in `texts` of extensions
            (`engine.source.registry`) add texts.

    Raises:
        CatalogueError: there is no such area.
    """
    # Imported here since they take 10 ms, and a compile without diagnostics needs no text.
    import tomllib
    from importlib.resources import files

    path = files("resources") / "texts" / f"{area}.toml"
    if not path.is_file():
        raise CatalogueError(f"There is no catalogue {area!r}")
    paths = (Path(folder) / path.name for folder in package_folders(f"{EXTENSIONS}.texts"))
    added = [file.read_text("utf-8") for file in paths if file.is_file()]
    texts = [dict(flatten("", tomllib.loads(text))) for text in (*added, path.read_text("utf-8"))]
    return {key: entry for part in texts for key, entry in part.items()}


def capitalised(text: str) -> str:
    """Return a text with a capital letter at its beginning."""
    return text[:1].upper() + text[1:]


def unknown_key(key: str, known: Iterator[str]) -> CatalogueError:
    """Return the error of a key that has no text; it names similar keys."""
    likely = similar_words(key, known, most=3)
    hint = f"; similar keys: {', '.join(likely)}" if likely else ""
    return CatalogueError(f"No text has the key {key!r}{hint}")


def check_fields(key: str, expected: frozenset[str], given: Mapping[str, object]) -> None:
    """Compare the fields of a text with those that are given.

    Args:
        key: the key of the text.
        expected: the names of its fields.
        given: the values by name.

    Raises:
        CatalogueError: a field is missing, or there is one too many.
    """
    if given.keys() != expected:
        wanted = ", ".join(sorted(expected)) or "none"
        raise CatalogueError(f"The text {key!r} has the fields {wanted}; given: {', '.join(sorted(given)) or 'none'}")


def flatten(prefix: str, table: Mapping[str, Any]) -> Iterator[tuple[str, CatalogueText]]:
    """Yield the texts of a table by their keys.

    Args:
        prefix: what precedes each key.
        table: the table, with tables in it.
    """
    for name, value in table.items():
        key = f"{prefix}{name}"
        if isinstance(value, str) and value.startswith("@"):
            yield key, CatalogueText("", None, frozenset(), value[1:])
        elif isinstance(value, str):
            yield key, CatalogueText(value, None, _fields(value))
        elif value.keys() == {"one", "other"}:
            fields = _fields(value["one"]) | _fields(value["other"]) | {"count"}
            yield key, CatalogueText(value["other"], value["one"], fields)
        else:
            yield from flatten(f"{key}.", value)


def _fields(template: str) -> frozenset[str]:
    return frozenset(name for _, name, _, _ in Formatter().parse(template) if name is not None)
