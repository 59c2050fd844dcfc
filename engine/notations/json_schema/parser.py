"""JSON Schema parser: a schema's text to one formula, with findings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from engine.notations.json_schema.dialects import SchemaDraft
from engine.notations.json_schema.findings import SchemaFindings
from engine.notations.json_schema.json_tree import JsonTextError, read_json
from engine.notations.json_schema.keywords import FUNCTIONS
from engine.notations.json_schema.lexer import json_tokens
from engine.notations.json_schema.lowering import Lowering
from engine.notations.json_schema.resources import Resources
from engine.schema_automaton.formula.arena import Arena
from engine.schema_automaton.formula.nodes import And, ExactlyOne, Formula, Not, Or, Ref
from engine.source import GrammarError, Limits, SourceText, check_cancelled


@dataclass(frozen=True, slots=True)
class SchemaModel:
    """A parsed schema.

    Attributes:
        arena: the arena of its formulas.
        goal: the formula that a text must satisfy.
    """

    arena: Arena
    goal: Formula


def parse(
    source: SourceText,
    limits: Limits,
    *,
    draft: int = 2020,
    additional: Literal["open", "closed"] = "open",
    unenforced: Literal["error", "warn"] = "error",
    any_numbers: bool = False,
) -> tuple[SchemaModel, SchemaFindings]:
    """Parse a schema.

    Args:
        source: JSON text.
        limits: the limits of length and depth.
        draft: the draft if `$schema` names none: 4, 6, 7, 2019 or 2020.
        additional: whether objects are open where `additionalProperties` is absent.
        unenforced: the severity of a keyword that cannot be enforced.
        any_numbers: whether integers and enumerated numbers may be written in every form that JSON has.

    Raises:
        GrammarError: it is not JSON, or not a schema that can be enforced; it carries all findings.
        LimitExceededError: it is too long.
    """
    if len(source.text) > limits.source_length:
        content = sum(found.end() - found.start() for found in json_tokens(source.text))
        limits.check("errors.limit.schema_length", content, limits.source_length, "source_length")
    findings = SchemaFindings(lenient=unenforced == "warn")
    try:
        root = read_json(source.text, limits.nesting)
    except JsonTextError as error:
        raise GrammarError((error.diagnostic,), source) from None
    arena = Arena(any_numbers=any_numbers)
    resources = Resources(root, SchemaDraft(draft), findings)
    lowering = Lowering(FUNCTIONS, arena, resources, findings, limits, closed=additional == "closed")
    goal = lowering.run(root)
    if lowering.refers:
        _find_endless(lowering, findings)
    if findings.has_errors:
        raise GrammarError(findings.in_source_order(), source)
    return SchemaModel(arena, goal), findings


def _in_place(formula: Formula) -> set[int]:
    """Return the definitions that a formula refers to for the same value."""
    check_cancelled()
    found: set[int] = set()
    todo = [formula]
    while todo:
        part = todo.pop()
        match part:
            case Ref():
                found.add(part.number)
            case And() | Or() | ExactlyOne():
                todo += part.items
            case Not():
                todo.append(part.item)
            case _:
                pass
    return found


def _find_endless(lowering: Lowering, findings: SchemaFindings) -> None:
    """Report a definition that refers to itself for the same value."""
    edges = [_in_place(formula) if formula is not None else set() for formula in lowering.arena.definitions]
    waiting = [len(targets) for targets in edges]
    users: list[list[int]] = [[] for _ in edges]
    for number, targets in enumerate(edges):
        for target in targets:
            users[target].append(number)
    done = [number for number, count in enumerate(waiting) if count == 0]
    while done:
        for user in users[done.pop()]:
            waiting[user] -= 1
            if waiting[user] == 0:
                done.append(user)
    for number, count in enumerate(waiting):
        if count > 0:
            findings.add("schema-endless-reference", lowering.nodes[number])
            return
