"""A document's grammar in another notation: the text that takes its place, and what is lost on the way.

Two things may be lost. Texts: with plain spelling, or where recursion is cut, the
new grammar has fewer, never others. And words: titles, comments and the names of
rules have no place in every notation. Both are told, a sentence each.

What is written is held against the original on random walks before anybody sees
it, as every export is. Only a schema of strings cannot be, since its texts have
quotes around them that the original's have not; its pattern is held instead.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from engine.compile import CompiledGrammar
from engine.export.checks.text_check import check_text
from engine.export.schema.settings import NumberSpelling
from engine.export.target import Check, ExportJob
from engine.export.text.conversion import Conversion, to_gbnf, to_regex
from engine.export.text.print_regex import Dialect
from engine.export.text.string_schema import pattern_of, to_schema
from engine.notations.editing.gbnf_names import GbnfPart, pieces
from engine.notations.json_schema.json_tree import Json, read_json
from engine.notations.regex import parse_written
from engine.source import CancelToken

Notation = Literal["regex", "gbnf", "json_schema"]

_ABOUT: Final = ("title", "description", "$comment", "examples", "default")
"""Keywords of a schema that say something to people."""
_MAPS: Final = ("properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions")
_VALUES: Final = ("const", "enum", "examples", "default")


@dataclass(frozen=True, slots=True)
class ConvertOptions:
    """What a conversion can be told; a notation ignores those of another.

    Attributes:
        spelling: of a JSON Schema's strings and numbers.
        depth: at how many levels recursion is cut, for a regex or a schema of strings; None where it may not be.
        dialect: of the regex that is written.
    """

    spelling: NumberSpelling = NumberSpelling.PLAIN
    depth: int | None = None
    dialect: Dialect = "python"


@dataclass(frozen=True, slots=True)
class Converted:
    """A grammar in another notation.

    Attributes:
        text: what was written.
        losses: what it does not have of the original, a sentence each, without full stop.
        check: how it was held against the original.
    """

    text: str
    losses: tuple[str, ...]
    check: Check


def convert(
    compiled: CompiledGrammar, notation: Notation, options: ConvertOptions, cancel: CancelToken | None = None
) -> Converted:
    """Write a grammar in another notation, and hold it against the original.

    Raises:
        NotConvertibleError: it is in that notation already.
        GrammarError: the notation cannot carry what stands at a place of the source, or only if recursion is cut.
        LimitExceededError: what is written would be too large.
        MismatchError: what was written is not what was compiled.
        CancelledError: `cancel` was used.
    """
    job = ExportJob(compiled, cancel=cancel or CancelToken())
    written = _written(compiled, notation, options, job.cancel)
    has_fewer = compiled.notation == "json_schema" and options.spelling is NumberSpelling.PLAIN
    is_cut = notation != "gbnf" and options.depth is not None
    text, read_as, dialect = written.text, notation, options.dialect
    if notation == "json_schema":
        text, read_as, dialect = pattern_of(written.text), "regex", "ecma"
    compared = "the grammar as it was and as it is written here"
    check = check_text(job, read_as, text, compared, fewer=has_fewer or is_cut, dialect=dialect)
    return Converted(written.text, (*written.notes, *_words_lost(compiled, notation)), check)


def _written(compiled: CompiledGrammar, notation: Notation, options: ConvertOptions, cancel: CancelToken) -> Conversion:
    match notation:
        case "gbnf":
            return to_gbnf(compiled, options.spelling, cancel=cancel)
        case "regex":
            return to_regex(compiled, options.spelling, depth=options.depth, dialect=options.dialect, cancel=cancel)
        case _:
            return to_schema(compiled, depth=options.depth, cancel=cancel)


def _words_lost(compiled: CompiledGrammar, notation: Notation) -> Iterator[str]:
    """What was there for people alone."""
    text = compiled.source.text
    match compiled.notation:
        case "json_schema":
            keys = _keywords(read_json(text))
            if told := [key for key in _ABOUT if key in keys]:
                yield f"what it says of itself goes: {', '.join(told)}"
        case "gbnf":
            found = list(pieces(text))
            if any(piece.kind is GbnfPart.COMMENT for piece in found):
                yield "its comments go"
            if notation != "gbnf" and sum(piece.defines for piece in found) > 1:
                yield "the names of its rules go"
        case _:
            _, written = parse_written(compiled.source, compiled.options.dialect, compiled.options.limits)
            spans = (group.opening.span for group in written.groups if not group.opening.atomic)
            if any(text[: span.end].endswith(">") for span in spans):
                yield "the names of its groups go"


def _keywords(schema: Json) -> set[str]:
    """The keywords of a schema and those within it; a property's name and what stands in a value are none."""
    found: set[str] = set()
    schemas = [schema]
    maps: list[Json] = []
    while schemas or maps:
        if maps:
            schemas += maps.pop().members.values()
            continue
        part = schemas.pop()
        schemas += part.items
        found.update(part.members)
        for key, value in part.members.items():
            if key in _MAPS:
                maps.append(value)
            elif key not in _VALUES:
                schemas.append(value)
    return found
