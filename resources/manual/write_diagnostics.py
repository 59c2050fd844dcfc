"""The manual's page of diagnostic codes, from the catalogue.

Each code has an example, which is compiled when the page is written; the page shows what the compile reports. Codes
that only a limit or a conversion causes have none.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final, Literal

from engine.compile import CompileOptions, compile_grammar
from engine.source import Diagnostic, GrammarError
from engine.source.diagnostics import diagnostic_keys, diagnostic_texts

EXAMPLES: Final = Path(__file__).with_name("diagnostic_examples.json")
_OPENING: Final = """# Diagnostic codes

All codes that a compile reports, by notation, each with a text that yields it and the message for that text. `turnstile
check` and the window show the same. A code without an example needs a limit that is lower than usual, or a conversion.

Written by `python -m resources.manual diagnostics` from the catalogue; not edited by hand.
"""


def examples() -> dict[str, dict[str, str]]:
    """Return an example by code: its notation, its text and, for a regular expression, perhaps its dialect."""
    found: dict[str, dict[str, str]] = json.loads(EXAMPLES.read_text("utf-8"))
    return found


def reported(example: dict[str, str]) -> tuple[Diagnostic, ...]:
    """Return what the compile of an example reports."""
    dialect: Literal["python", "ecma"] = "ecma" if example.get("dialect") == "ecma" else "python"
    try:
        return compile_grammar(example["notation"], example["text"], CompileOptions(dialect=dialect)).diagnostics
    except GrammarError as error:
        return error.diagnostics


def codes() -> tuple[str, ...]:
    """Return all codes, sorted."""
    return tuple(sorted({diagnostic_texts(key).code for key in diagnostic_keys()}))


def diagnostics_page() -> str:
    """Return the page of codes, in Markdown."""
    known, lines, section = examples(), [_OPENING], ""
    for code in codes():
        heading = code.partition("-")[0]
        if heading != section:
            section = heading
            lines += [f"## {heading}", ""]
        lines += [f"### {code}", "", *_body(code, known.get(code))]
    return "\n".join(lines)


def _body(code: str, example: dict[str, Any] | None) -> list[str]:
    if example is None:
        return ["(no example)", ""]
    found = next(one for one in reported(example) if one.code == code)
    notation = " ".join(filter(None, (example["notation"], example.get("dialect"))))
    fence = "```" if "```" not in example["text"] else "````"
    hint = [f"{found.hint}.", ""] if found.hint else []
    message = f"{found.severity.name.lower()}: {found.message}."
    return [message, "", *hint, f"{fence}text", example["text"], fence, "", f"({notation})", ""]
