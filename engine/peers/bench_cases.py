"""What is benched: grammars, each with texts to follow."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from engine.compile import NOTATIONS
from engine.source import EngineError


class CasesError(EngineError):
    """A file of cases is none."""


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text, and whether it is right: None where nobody said."""

    text: str
    valid: bool | None = None


@dataclass(frozen=True, slots=True)
class BenchCase:
    """A grammar and its texts."""

    name: str
    notation: str
    source: str
    texts: tuple[LabelledText, ...]


def read_cases(lines: str) -> list[BenchCase]:
    """Read JSON lines of one of two forms.

    `{"id", "schema", "tests": [{"valid", "data"}]}` is MaskBench's; `{"id", "kind", "source", "accept", "reject"}`
    takes any notation.

    Raises:
        CasesError: a line is of neither form; the message tells which.
    """
    found = []
    for number, line in enumerate(lines.split("\n"), 1):
        if not line.strip():
            continue
        try:
            found.append(_case(json.loads(line)))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            what = f"there is no {error}" if isinstance(error, KeyError) else str(error)
            raise CasesError(f"line {number} is no case: {what}") from error
    return found


def _case(given: Any) -> BenchCase:
    if not isinstance(given, dict):
        raise TypeError("it is no object")
    if "schema" in given:
        texts = tuple(
            LabelledText(json.dumps(test["data"], ensure_ascii=False), bool(test["valid"]))
            for test in given.get("tests", ())
        )
        return BenchCase(str(given["id"]), "json_schema", json.dumps(given["schema"], ensure_ascii=False), texts)
    if given["kind"] not in NOTATIONS:
        raise ValueError(f"there is no notation {given['kind']!r}; there is {', '.join(NOTATIONS)}")
    labelled = ((text, valid) for key, valid in (("accept", True), ("reject", False)) for text in given.get(key, ()))
    texts = tuple(LabelledText(_text(text), valid) for text, valid in labelled)
    return BenchCase(str(given["id"]), given["kind"], _text(given["source"]), texts)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value
