"""The cases of the benchmark: grammars, each with texts to follow."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from engine.compile import NOTATIONS
from engine.source import EngineError


class CasesError(EngineError):
    """A file of cases is not valid."""


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text, and whether it matches the grammar; None if that is not known."""

    text: str
    valid: bool | None = None


@dataclass(frozen=True, slots=True)
class BenchCase:
    """A grammar and the texts to follow."""

    name: str
    notation: str
    source: str
    texts: tuple[LabelledText, ...]


def read_cases(lines: str) -> list[BenchCase]:
    """Read JSON lines of one of two forms.

    `{"id", "schema", "tests": [{"valid", "data"}]}` is that of MaskBench; `{"id", "kind", "source", "accept",
    "reject"}` is for any notation.

    Raises:
        CasesError: a line has neither form; the message names the line.
    """
    found = []
    for number, line in enumerate(lines.split("\n"), 1):
        if not line.strip():
            continue
        try:
            found.append(_case(json.loads(line)))
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            what = f"there is no {error}" if isinstance(error, KeyError) else str(error)
            raise CasesError("errors.peers.case", line=number, reason=what) from error
    return found


def _case(entry: Any) -> BenchCase:
    if not isinstance(entry, dict):
        raise TypeError("it is no object")
    if "schema" in entry:
        texts = tuple(
            LabelledText(json.dumps(test["data"], ensure_ascii=False), bool(test["valid"]))
            for test in entry.get("tests", ())
        )
        return BenchCase(str(entry["id"]), "json_schema", json.dumps(entry["schema"], ensure_ascii=False), texts)
    if entry["kind"] not in NOTATIONS:
        raise ValueError(f"there is no notation {entry['kind']!r}; there is {', '.join(NOTATIONS)}")
    labelled = ((text, valid) for key, valid in (("accept", True), ("reject", False)) for text in entry.get(key, ()))
    texts = tuple(LabelledText(_require_text(text), valid) for text, valid in labelled)
    return BenchCase(str(entry["id"]), entry["kind"], _require_text(entry["source"]), texts)


def _require_text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} is no text")
    return value
