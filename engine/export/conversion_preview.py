"""Conversion of a document's grammar to another notation, with a list of what is lost.

Two things may be lost. Texts: with plain spelling, or where recursion is cut, the new grammar has fewer texts, never
others. And names: titles, comments and rule names do not exist in every notation. Both are reported, one sentence each.

The result is compared with the original on random walks before it is shown, like every export. Only a schema of strings
cannot be, since its texts have quotes that the original's lack; its pattern is compared instead.

A schema's texts are JSON, so no schema has the same texts as a regex or GBNF. Users who convert to a schema want a
field of a record: a string with such a text, for example `"2024-05-17"` for a date. So the result uses `pattern`, and a
note says that the quotes are new. `pattern` is a search in ECMAScript's dialect: an expression that means the same
there stays unchanged, any other is rewritten; both are between `^` and `$`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, TypeAlias

from engine.compile import CompiledGrammar
from engine.export.checks import check_text
from engine.export.rules.rule_builder import START
from engine.export.schema.settings import NumberSpelling
from engine.export.target import Check, ExportJob
from engine.export.text.conversion import Conversion, NotConvertibleError, looks_around, to_gbnf, to_regex
from engine.export.text.print_regex import Dialect, print_regex
from engine.grammar import Grammar, Rule
from engine.grammar.simplify import simplify
from engine.notations import NOTATIONS
from engine.notations.gbnf.lexer import tokens
from engine.notations.json_schema.json_tree import Json, read_json
from engine.notations.notation import Notation
from engine.notations.regex.parser import parse as parse_regex
from engine.notations.regex.parser import parse_with_details
from engine.source import CancelToken, GrammarError
from engine.source.catalogue import catalogue_text

_ABOUT: Final = ("title", "description", "$comment", "examples", "default")
"""Keywords of a schema that are for people."""
_MAPS: Final = ("properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions")
_VALUES: Final = ("const", "enum", "examples", "default")


@dataclass(frozen=True, slots=True)
class ConvertOptions:
    """The options of a conversion; a notation ignores those of another.

    Attributes:
        spelling: the spelling of a JSON Schema's strings and numbers.
        depth: the number of levels at which recursion is cut, for a regex or a schema of strings; None if it may not
            be.
        dialect: the dialect of a regex to write.
    """

    spelling: NumberSpelling = NumberSpelling.PLAIN
    depth: int | None = None
    dialect: Dialect = "python"


@dataclass(frozen=True, slots=True)
class Converted:
    """A grammar in another notation.

    Attributes:
        text: the new text.
        losses: what it lacks of the original, a sentence each, without full stop.
        check: the comparison with the original on random walks.
        notation, content, dialect: the grammar whose texts are those of the original: the text itself, or the
            expression in a schema of strings.
    """

    text: str
    losses: tuple[str, ...]
    check: Check
    notation: str
    content: str
    dialect: Dialect


def convert(
    compiled: CompiledGrammar, notation: str, options: ConvertOptions, cancel: CancelToken | None = None
) -> Converted:
    """Convert a grammar to another notation, and compare it with the original.

    Args:
        compiled: the grammar.
        notation: the id of the new notation.
        options: the options of the conversion.
        cancel: cancels the conversion.

    Raises:
        NotConvertibleError: it is in that notation already, or nothing is written in that notation.
        GrammarError: the notation cannot express a part of the source, or only if recursion is cut.
        LimitExceededError: the result would be too large.
        MismatchError: the result is not equivalent.
        CancelledError: `cancel` was used.
    """
    job = ExportJob(compiled, cancel=cancel or CancelToken())
    writer = WRITERS.get(notation)
    if writer is None:
        raise NotConvertibleError("export.refusal.fragment.no_conversion", notation=NOTATIONS[notation].title)
    written, target = writer(compiled, options, job.cancel), NOTATIONS[notation]
    has_fewer = compiled.describes_json and options.spelling is NumberSpelling.PLAIN
    is_cut = not target.has_named_rules and options.depth is not None
    text, read_as, dialect = written.text, notation, options.dialect
    if target.describes_json:
        text, read_as, dialect = pattern_of(written.text), "regex", "ecma"
    compared = catalogue_text("export.compared.fragment.conversion")
    check = check_text(job, read_as, text, compared, fewer=has_fewer or is_cut, dialect=dialect)
    losses = (*written.notes, *_words_lost(compiled, target))
    return Converted(written.text, losses, check, read_as, text, dialect)


def _words_lost(compiled: CompiledGrammar, target: Notation) -> Iterator[str]:
    """Yield the lost parts that are for people."""
    text = compiled.source.text
    if compiled.describes_json:
        keys = _keywords(read_json(text))
        if lost := [key for key in _ABOUT if key in keys]:
            yield catalogue_text("export.note.fragment.keywords_lost", keywords=", ".join(lost))
    elif compiled.has_named_rules:
        kinds = [token.kind for token in tokens(text, ends_at_rules=False)]
        if "comment" in kinds:
            yield catalogue_text("export.note.fragment.comments_lost")
        if not target.has_named_rules and kinds.count("defined") > 1:
            yield catalogue_text("export.note.fragment.rule_names_lost")
    elif compiled.is_expression:
        _, written = parse_with_details(compiled.source, compiled.options.dialect, compiled.options.limits)
        spans = (group.opening.span for group in written.groups if not group.opening.atomic)
        if any(text[: span.end].endswith(">") for span in spans):
            yield catalogue_text("export.note.fragment.group_names_lost")


def _keywords(schema: Json) -> set[str]:
    """Return the keywords of a schema and its subschemas; names of properties and data are not keywords."""
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


# ---------------------------------------------------------------------- schemas of strings

_BEFORE: Final = "^(?:"
_BEHIND: Final = ")$"


def to_schema(compiled: CompiledGrammar, *, depth: int | None = None, cancel: CancelToken | None = None) -> Conversion:
    """Return a JSON Schema whose values are the strings that the grammar matches.

    Args:
        compiled: the grammar, with its options.
        depth: how often a rule may be nested in itself, itself included; None to refuse recursion.
        cancel: cancels the conversion.

    Raises:
        GrammarError: its rules are recursive and there is no `depth`, or the regex would be too large.
        LimitExceededError: an expression with lookaround has too large an automaton.
        NotConvertibleError: it is a JSON Schema already.
        CancelledError: `cancel` was used.
    """
    if compiled.describes_json:
        raise NotConvertibleError("export.refusal.fragment.already_schema")
    content = _kept(compiled) if compiled.is_expression else None
    if content is None:
        content = to_regex(compiled, depth=depth, dialect="ecma", cancel=cancel)
    schema = {"type": "string", "pattern": f"{_BEFORE}{content.text}{_BEHIND}"}
    text = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
    return Conversion(text, content.grammar, (catalogue_text("export.note.fragment.quoted"), *content.notes))


def _kept(compiled: CompiledGrammar) -> Conversion | None:
    """Return a regex unchanged if it means the same in ECMAScript, else rewritten; None if it has lookaround."""
    limits = compiled.options.limits
    node, _ = parse_regex(compiled.source, compiled.options.dialect, limits)
    text = ""
    with suppress(GrammarError):
        if parse_regex(compiled.source, "ecma", limits)[0] == node:
            text = compiled.source.text
    if not text and looks_around(compiled):
        return None
    node = simplify(node)
    return Conversion(text or print_regex(node, "ecma", limits), Grammar((Rule(START, node, node.span),), START))


def pattern_of(text: str) -> str:
    """Return the expression for a full match, in ECMAScript's dialect, of a text from `to_schema`."""
    pattern: str = json.loads(text)["pattern"]
    return pattern.removeprefix(_BEFORE).removesuffix(_BEHIND)


_Writer: TypeAlias = Callable[[CompiledGrammar, ConvertOptions, CancelToken], Conversion]

WRITERS: Final[Mapping[str, _Writer]] = {
    "gbnf": lambda compiled, options, cancel: to_gbnf(compiled, options.spelling, cancel=cancel),
    "regex": lambda compiled, options, cancel: to_regex(
        compiled, options.spelling, depth=options.depth, dialect=options.dialect, cancel=cancel
    ),
    "json_schema": lambda compiled, options, cancel: to_schema(compiled, depth=options.depth, cancel=cancel),
}
"""The functions that write a grammar in a notation, by the notation's id."""
