"""The lint of a whole request: each schema in it by itself, with its tool, since one bad tool fails all of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace

from engine.diagnosis.case import RequestConstraint
from engine.diagnosis.intake.literals import PastedValue
from engine.diagnosis.intake.request_reader import is_request, read_request
from engine.diagnosis.targets.findings import TargetFinding, TargetRewrite
from engine.diagnosis.targets.lint import STANDARD_OPTIONS, lint_grammar, lint_schema
from engine.grammar.options import CompileOptions
from engine.notations import NOTATIONS
from engine.notations.editing import Edit
from engine.notations.json_schema.outline import Outline, OutlinePart
from engine.source import Span
from engine.source.json_pointer import unescape_step
from engine.targets import Effect


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
    """Return the schemas of a request in source order, as the intake reads them; none if the text is no request.

    A schema that is JSON in a string is left out, since its keywords have no place in the text.

    Args:
        text: the request.

    Returns:
        The tool, the JSON Pointer and the span of each schema.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return ()
    root = Outline(text).root
    if root is None or not is_request(value):
        return ()
    found = []
    for constraint in read_request(PastedValue(value, text)).constraints:
        part = _part_at(root, constraint.pointer)
        if part is not None and part.is_object and _is_source(constraint, _of(text, part.span)):
            found.append((constraint.tool, constraint.pointer, part.span))
    return tuple(sorted(found, key=lambda one: one[2]))


def _is_source(constraint: RequestConstraint, text: str) -> bool:
    """Return whether a part of a request is the schema, rather than a setting such as "any object" that implies one."""
    return NOTATIONS[constraint.notation].describes_json and json.loads(constraint.text) == json.loads(text)


def _part_at(root: OutlinePart, pointer: str) -> OutlinePart | None:
    here: OutlinePart | None = root
    for step in map(unescape_step, pointer.split("/")[1:]):
        if here is not None and here.is_array:
            here = here.items[int(step)] if step.isdigit() and int(step) < len(here.items) else None
        else:
            here = here.members.get(step) if here is not None else None
    return here


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
