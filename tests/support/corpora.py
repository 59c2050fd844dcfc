"""Grammars with labelled texts for tests that go through many: the corpora of others, or those of Turnstile.

The corpora of others are in the folder `shared` beside the checkout. They are read there and never copied. Without the
folder, each name stands for a part of our own corpus, `tests/data/corpus`, in the same form.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from tests.corpus import case as own

SHARED = Path(__file__).resolve().parents[3] / "shared"
NAMES_WITHOUT_SHARED = ("jsts_2020", "llama", "maskbench", "regex")


@cache
def cases(name: str) -> tuple[dict[str, Any], ...]:
    """Return the cases of `corpora/NAME.jsonl` in the order of the file, or those of our own that replace them."""
    path = SHARED / "corpora" / f"{name}.jsonl"
    if path.is_file():
        return tuple(json.loads(line) for line in path.read_text("utf-8").splitlines() if line)
    return () if SHARED.is_dir() else tuple(_own(name))


def names() -> list[str]:
    """Return the names of all corpora."""
    return sorted(path.stem for path in (SHARED / "corpora").glob("*.jsonl")) or list(NAMES_WITHOUT_SHARED)


def _own(name: str) -> Iterator[dict[str, Any]]:
    if name == "regex":
        python = [case for case in own.cases("regex") if case.options["dialect"] == "python"]
        yield from (_labelled(case) for case in python if case.compiles)
    elif name == "llama":
        without_findings = [case for case in own.cases("gbnf") if case.findings is None]
        yield from map(_labelled, without_findings)
    elif name == "maskbench":
        yield from filter(lambda case: case["tests"], map(_tested, _free_schemas(2020)))
    elif name.startswith("jsts_"):
        yield from map(_labelled, _suite(name))


def _suite(name: str) -> Iterator[own.Case]:
    """Return the schemas of our own that replace a part of the JSON Schema Test Suite."""
    _, draft, *part = name.split("_")
    for case in _free_schemas(int(draft)):
        schema = json.loads(case.source)
        keys = set(schema) if isinstance(schema, dict) else set()
        if (
            not part
            or (part == ["format"] and "format" in keys and keys <= {"type", "format"})
            or (part == ["optional"] and "pattern" in keys and keys <= {"type", "pattern"})
        ):
            yield case


def _free_schemas(draft: int) -> Iterator[own.Case]:
    """Return the schemas of a draft that compile; only the default draft needs no `$schema` to be read as such."""
    for case in own.cases("json_schema"):
        of = 7 if "draft-07" in case.source else case.options.get("draft", 2020)
        if case.group == "schema" and case.compiles and of == draft and (of == 2020 or "$schema" in case.source):
            yield case


def _labelled(case: own.Case) -> dict[str, Any]:
    accepted, refused = ([text for text in map(_decoded, texts) if text] for texts in (case.accepted, case.refused))
    if case.notation == "json_schema":
        accepted = [text for text in accepted if _has_one_form(text)]
    return {
        "id": case.name,
        "kind": case.notation,
        "source": case.source,
        "accept": accepted,
        "reject": refused,
        "compile_error": False,
    }


def _tested(case: own.Case) -> dict[str, Any]:
    """Return a case in the form of MaskBench."""
    tests = [
        {"valid": valid, "data": json.loads(text)}
        for data, valid in case.texts
        for text in [_decoded(data)]
        if text and _has_one_form(text)
    ]
    return {"id": case.name, "schema": json.loads(case.source), "tests": tests}


def _decoded(text: bytes) -> str:
    return text.decode("utf-8", "ignore") if len(text.decode("utf-8", "ignore").encode()) == len(text) else ""


def _has_one_form(text: str) -> bool:
    """Return whether every compile option allows this form of a value: plain numbers, no order of keys to keep."""
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return text in (
        json.dumps(value, ensure_ascii=False, separators=style) for style in ((",", ":"), (", ", ": "))
    ) and (_is_plain(value))


def _is_plain(value: Any) -> bool:
    match value:
        case float():
            return not value.is_integer()
        case list():
            return all(map(_is_plain, value))
        case dict():
            return len(value) <= 1 and all(map(_is_plain, value.values()))
        case _:
            return True
