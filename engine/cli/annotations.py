"""Findings in the forms that code hosting reads: workflow commands of GitHub Actions, and SARIF 2.1.0 (OASIS)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import PurePath
from typing import Final, Literal
from urllib.parse import quote

Level = Literal["error", "warning", "note"]
_COMMANDS: Final = {"error": "error", "warning": "warning", "note": "notice"}
_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


@dataclass(frozen=True, slots=True)
class Annotation:
    """A finding at a place in a file.

    Attributes:
        code: the stable code of the finding.
        level: its severity.
        message: its text.
        file: the name of the file; empty if the text came from the command line.
        line, column: its start, counted from 1; columns count code points.
        end_line, end_column: its end; 0 if unknown.
    """

    code: str
    level: Level
    message: str
    file: str
    line: int
    column: int = 0
    end_line: int = 0
    end_column: int = 0


def github_commands(annotations: Iterable[Annotation]) -> list[str]:
    """Return a workflow command for each annotation; GitHub shows it at the line."""
    lines = []
    for each in annotations:
        where = {"file": each.file, "line": each.line, "col": each.column, "endLine": each.end_line, "title": each.code}
        properties = ",".join(f"{name}={_property(str(value))}" for name, value in where.items() if value)
        lines.append(f"::{_COMMANDS[each.level]} {properties}::{_escaped(each.message)}")
    return lines


def sarif_log(annotations: Iterable[Annotation], version: str) -> dict[str, object]:
    """Return a SARIF log of one run.

    Args:
        annotations: the findings.
        version: the version of Turnstile.
    """
    listed = list(annotations)
    rules = [{"id": code} for code in dict.fromkeys(each.code for each in listed)]
    driver = {"name": "Turnstile", "version": version, "rules": rules}
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_result(each) for each in listed],
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _result(each: Annotation) -> dict[str, object]:
    named = {
        "startLine": each.line,
        "startColumn": each.column,
        "endLine": each.end_line,
        "endColumn": each.end_column,
    }
    place: dict[str, object] = {"region": {name: value for name, value in named.items() if value}}
    if each.file:
        place["artifactLocation"] = {"uri": quote(PurePath(each.file).as_posix())}
    return {
        "ruleId": each.code,
        "level": each.level,
        "message": {"text": each.message},
        "locations": [{"physicalLocation": place}],
    }


def _escaped(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _escaped(text).replace(":", "%3A").replace(",", "%2C")
