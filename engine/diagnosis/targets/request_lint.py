"""The lint of a whole request: each schema in it by itself, with its tool, since one bad tool fails all of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from engine.diagnosis.targets.findings import TargetFinding, TargetRewrite
from engine.diagnosis.targets.lint import STANDARD_OPTIONS, lint_grammar, lint_schema
from engine.grammar.options import CompileOptions
from engine.notations import NOTATIONS
from engine.notations.editing import Edit
from engine.notations.json_schema.outline import Outline, OutlinePart
from engine.source import Span
from engine.source.json_pointer import escape_step
from engine.targets import Effect

_TOOL_PATHS: Final[tuple[tuple[str, ...], ...]] = (("function", "parameters"), ("parameters",), ("input_schema",))
_PATHS: Final[tuple[tuple[str, ...], ...]] = (
    ("response_format", "json_schema", "schema"),
    ("response_format", "schema"),
    ("text", "format", "schema"),
    ("structured_outputs", "json"),
    ("sampling_params", "json_schema"),
    ("json_schema",),
    ("guided_json",),
    ("format",),
)


@dataclass(frozen=True, slots=True)
class LintedPart:
    """A grammar of a request, or a grammar that was given by itself, and its findings.

    Attributes:
        tool: the name of the tool; empty for the output itself.
        pointer: the JSON Pointer of the schema in the request; empty if it was given by itself.
        findings: the findings, with pointers and spans in the whole text.
    """

    tool: str
    pointer: str
    findings: tuple[TargetFinding, ...]


def lint_text(
    notation: str, text: str, engine: str, version: str = "", options: CompileOptions = STANDARD_OPTIONS
) -> tuple[LintedPart, ...]:
    """Find what an engine treats otherwise in a grammar, or in each schema of a request.

    Args:
        notation: the id of the notation; JSON Schema for a request, too.
        text: the grammar or request.
        engine: a name of `engine.targets.ENGINES`.
        version: the version of the engine; empty for the examined one.
        options: the compile options, of which a regular expression has its dialect.
    """
    schemas = request_schemas(text) if NOTATIONS[notation].describes_json else ()
    if not schemas:
        return (LintedPart("", "", lint_grammar(notation, text, engine, version, options=options)),)
    return tuple(
        LintedPart(tool, pointer, tuple(_moved(lint_schema(_of(text, span), engine, version), pointer, span.start)))
        for tool, pointer, span in schemas
    )


def counts(linted: tuple[LintedPart, ...]) -> dict[Effect, int]:
    """Return how many findings have each effect, over all parts."""
    return dict(Counter(finding.effect for part in linted for finding in part.findings))


def request_schemas(text: str) -> tuple[tuple[str, str, Span], ...]:
    """Return the schemas of a request: the tool, the JSON Pointer and the span; none if the text is no request."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return ()
    root = Outline(text).root
    return tuple(_schemas(root)) if root is not None and root.is_object else ()


def _schemas(root: OutlinePart) -> Iterator[tuple[str, str, Span]]:
    tools = root.members.get("tools")
    for index, tool in enumerate(tools.items if tools is not None else ()):
        named = _at(tool, ("function", "name")) or _at(tool, ("name",))
        for path in _TOOL_PATHS:
            part = _at(tool, path)
            if part is not None and part.is_object:
                yield (named.text or "") if named is not None else "", _pointer(("tools", str(index), *path)), part.span
                break
    for path in _PATHS:
        part = _at(root, path)
        if part is not None and part.is_object:
            yield "", _pointer(path), part.span


def _at(part: OutlinePart, path: tuple[str, ...]) -> OutlinePart | None:
    here: OutlinePart | None = part
    for step in path:
        here = here.members.get(step) if here is not None else None
    return here


def _pointer(path: tuple[str, ...]) -> str:
    return "".join(f"/{escape_step(step)}" for step in path)


def _of(text: str, span: Span) -> str:
    return text[span.start : span.end]


def _moved(findings: tuple[TargetFinding, ...], pointer: str, offset: int) -> Iterator[TargetFinding]:
    for finding in findings:
        rewrite = finding.rewrite
        if rewrite is not None:
            edits = tuple(Edit(_shifted(edit.span, offset), edit.replacement) for edit in rewrite.edits)
            rewrite = TargetRewrite(rewrite.title, edits)
        yield replace(finding, pointer=pointer + finding.pointer, span=_shifted(finding.span, offset), rewrite=rewrite)


def _shifted(span: Span, offset: int) -> Span:
    return Span(span.start + offset, span.end + offset)
