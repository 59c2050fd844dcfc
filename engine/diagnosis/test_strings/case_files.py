"""Files of grammar tests: a list of cases in TOML, or the test strings of a document.

    [[case]]
    name = "a date"
    notation = "regex"
    grammar = '[0-9]{4}-[0-9]{2}'
    accept = ["2024-01"]
    refuse = ["2024-1"]
    prefix = ["2024-"]
    forced = [["2024", "-"]]
    allowed = [["20", "2"]]
    tokenizer = "tokenizer.json"

A case can have `grammar_file` instead of `grammar`; `options` has compile options. Paths are relative to the file.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Annotated, Any, Final

import msgspec

from engine.compile import NOTATIONS, CompileOptions
from engine.document.codec import decode, is_document
from engine.source import EngineError

_CASE: Final = re.compile(r"^[ \t]*\[\[[ \t]*case[ \t]*\]\]", re.MULTILINE)
_AT: Final = re.compile(r" - at `\$\.case\[(\d+)\]([^`]*)`$")
_NOTATIONS_HINT: Final = ", ".join(NOTATIONS)

Pair = tuple[str, str]


class CaseFileError(EngineError):
    """A file of grammar tests cannot be used; the message names file and line."""


class GrammarCase(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A grammar with the texts that show what it allows.

    Attributes:
        notation: the id of the notation.
        grammar: the text of the grammar.
        grammar_file: a file with the grammar, in place of `grammar`.
        name: the name of the case; by default its number in the file.
        options: compile options by name.
        accept, refuse: texts in the language, and texts that are not.
        prefix: texts with which a text of the language begins.
        forced: pairs of a text and the bytes that must follow it, up to the next choice or possible end.
        allowed: pairs of a text and a token that may follow it: its text, or the name of a special token.
        tokenizer: a file or folder of a tokenizer, or the name of a model, whose tokens `allowed` names; without one,
            a token is any text.
        line: the line of the case in its file, counted from 1.
    """

    notation: str
    grammar: str | None = None
    grammar_file: str | None = None
    name: str = ""
    options: dict[str, str | int] = {}
    accept: tuple[str, ...] = ()
    refuse: tuple[str, ...] = ()
    prefix: tuple[str, ...] = ()
    forced: tuple[Pair, ...] = ()
    allowed: tuple[Pair, ...] = ()
    tokenizer: str | None = None
    line: Annotated[int, msgspec.Meta(ge=0)] = 0

    @property
    def compile_options(self) -> CompileOptions:
        """Return the compile options."""
        return CompileOptions(**self.options)  # type: ignore[arg-type]


class _CaseFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    case: tuple[GrammarCase, ...]


def read_cases(path: Path, data: bytes) -> tuple[GrammarCase, ...]:
    """Read the cases of a file: a document, or a list in TOML.

    Args:
        path: the name of the file; names of other files in it are relative to its folder.
        data: its bytes.

    Raises:
        CaseFileError: the TOML is malformed, or a case lacks something or has an unknown field.
        EngineError: the document is damaged.
    """
    if is_document(data):
        return _of_document(path, data)
    try:
        text = data.decode("utf-8-sig")
        content = tomllib.loads(text)
    except (UnicodeError, tomllib.TOMLDecodeError) as error:
        raise CaseFileError("errors.diagnosis.cases.toml", name=str(path), reason=str(error)) from error
    lines = [text.count("\n", 0, found.start()) + 1 for found in _CASE.finditer(text)]
    try:
        cases = msgspec.convert(content, _CaseFile).case
    except msgspec.ValidationError as error:
        where = _AT.search(str(error))
        reason = _AT.sub(" (`\\2`)" if where and where[2] else "", str(error))
        line = lines[int(where[1])] if where and int(where[1]) < len(lines) else 1
        raise CaseFileError("errors.diagnosis.cases.field", name=str(path), line=line, reason=reason) from error
    return tuple(
        _completed(path, case, index, lines[index] if index < len(lines) else 0) for index, case in enumerate(cases)
    )


def _completed(path: Path, case: GrammarCase, index: int, line: int) -> GrammarCase:
    """Return a case with its name, its line, and the text of its grammar."""

    def refuse(key: str, **fields: object) -> CaseFileError:
        return CaseFileError(key, name=str(path), line=line, **fields)

    if case.notation not in NOTATIONS:
        raise refuse("errors.diagnosis.cases.notation", notation=case.notation, notations=_NOTATIONS_HINT)
    if (case.grammar is None) == (case.grammar_file is None):
        raise refuse("errors.diagnosis.cases.grammar")
    try:
        _ = case.compile_options
    except (TypeError, ValueError) as error:
        raise refuse("errors.diagnosis.cases.options", reason=str(error)) from error
    changes: dict[str, Any] = {"name": case.name or str(index + 1), "line": line}
    if case.grammar_file is not None:
        try:
            changes["grammar"] = (path.parent / case.grammar_file).read_text("utf-8-sig")
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise refuse("errors.diagnosis.cases.grammar_file", file=case.grammar_file, reason=reason) from error
        if not NOTATIONS[case.notation].ends_with_line:
            changes["grammar"] = changes["grammar"].removesuffix("\n").removesuffix("\r")
    return msgspec.structs.replace(case, **changes)


def _of_document(path: Path, data: bytes) -> tuple[GrammarCase, ...]:
    document = decode(data, str(path))
    grammar = document.grammar
    options: dict[str, str | int] = {
        "dialect": grammar.dialect,
        "whitespace": grammar.whitespace,
        "escapes": grammar.escapes,
        "additional": grammar.additional,
    }
    case = GrammarCase(
        grammar.notation,
        grammar.text,
        name=document.title or path.stem,
        options=options,
        accept=tuple(each.text for each in document.test_strings if each.accepts),
        refuse=tuple(each.text for each in document.test_strings if not each.accepts),
        line=1,
    )
    return (case,)
