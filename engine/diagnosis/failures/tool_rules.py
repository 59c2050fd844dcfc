"""The rules about tool calls: whether the server read them as calls, and whether it constrains their arguments.

Servers treat the schemas of tools differently from those of answers. Sources: *Tool Calling* of vLLM 0.33 (`auto` is
constrained only if a tool has `strict`); `function_call/function_call_parser.py` of SGLang; Ollama's
`server/routes.go`, whose grammar comes from `format` alone; *Function calling* and *Structured outputs* of OpenAI,
where `strict` is false by default in chat completions and true for the functions of responses.
"""

from __future__ import annotations

from typing import Final

from engine.diagnosis.case import RequestConstraint
from engine.diagnosis.failures.diagnosis import Cause, EvidenceWeight, FailurePlace
from engine.diagnosis.failures.examination import Examination
from engine.diagnosis.failures.rules import (
    CauseRule,
    Finding,
    fix_text,
    names_listed,
    output_place,
    server_name,
    shown,
    where_in_output,
)
from engine.diagnosis.intake import servers
from engine.source.catalogue import catalogue_text
from engine.source.text import quoted

ARGUMENTS: Final = "arguments"
"""The zone of the arguments of a tool call."""
_FREE_CHOICES: Final = ("", "auto")
_TOOL_WAYS: Final = ("tools", "functions")


def tool_constraints(constraints: tuple[RequestConstraint, ...]) -> dict[str, RequestConstraint]:
    """Return the constraints of tools by the tool's name."""
    return {one.tool: one for one in constraints if one.tool}


def _unknown_tool(examined: Examination) -> Finding | None:
    """Find the call of a tool that the request does not have, or of another one than it names."""
    part, case = examined.part, examined.case
    if part is None or part.zone != ARGUMENTS:
        return None
    choice = case.tool_choice
    names = list(tool_constraints(case.constraints))
    key = "unknown" if part.tool not in names else "other"
    if key == "other" and choice in (part.tool, *_FREE_CHOICES, "required", "any", "none"):
        return None
    fields = {"choice": quoted(choice)} if key == "other" else {}
    return Finding(
        Cause.SCHEMA_VIOLATION,
        catalogue_text(f"failures.sentence.tool.{key}", tool=quoted(part.tool), **fields),
        "enum",
        weight=EvidenceWeight.REPORTED,
        fix=fix_text(Cause.SCHEMA_VIOLATION, "tool", examined.server),
        evidence=(catalogue_text("failures.evidence.tools", names=names_listed(names, 8)),),
        explains=frozenset(Cause) - {Cause.SCHEMA_VIOLATION},
    )


def _call_in_text(examined: Examination) -> Finding | None:
    """Find a call that the server left in the text of the answer."""
    part, case = examined.part, examined.case
    if part is None or not part.family or case.interface in _RAW:
        return None
    format_name = catalogue_text(f"failures.tool_format.{part.family}")
    return Finding(
        Cause.WRONG_ZONE,
        catalogue_text(
            "failures.sentence.tool.in_text",
            tool=quoted(part.tool),
            format=format_name,
        ),
        "tool-call",
        weight=EvidenceWeight.REPORTED,
        fix=fix_text(Cause.WRONG_ZONE, "tool-call", examined.server),
        evidence=(catalogue_text("failures.evidence.no_calls"),),
        places=(output_place(examined, 0),),
        explains=frozenset((Cause.COMPLETE, Cause.SPECIAL_TOKEN_TEXT, Cause.CONSTRAINT_OFF, *_ends(examined))),
    )


def _ends(examined: Examination) -> tuple[Cause, ...]:
    """Return the causes that follow if the format of a call does not write its arguments as JSON."""
    return () if examined.data else (Cause.CUT_OFF, Cause.STOP_TOKEN, Cause.CONTEXT_LIMIT)


_RAW: Final = (servers.COMPLETIONS, servers.COMPLETION, servers.GENERATE)
"""The endpoints that answer with the model's own text."""


def _no_call(examined: Examination) -> Finding | None:
    """Find an answer in words where a tool could have been called, but did not have to be."""
    case, part = examined.case, examined.part
    tools = tool_constraints(case.constraints)
    is_text = bool(examined.data.strip()) and not examined.data.lstrip().startswith((b"{", b"[", b"<"))
    if part is None or part.zone == ARGUMENTS or case.tool_calls or not tools or not is_text:
        return None
    if case.tool_choice not in (*_FREE_CHOICES, "none") or len(tools) < len(case.constraints):
        return None
    key = "forbidden" if case.tool_choice == "none" else "no_call"
    return Finding(
        Cause.TRIGGER_NEVER_CAME,
        catalogue_text(f"failures.sentence.tool.{key}", text=shown(examined.data, 24)),
        "no-call",
        weight=EvidenceWeight.REPORTED,
        fix=fix_text(Cause.TRIGGER_NEVER_CAME, "no-call", examined.server),
        evidence=(catalogue_text("failures.evidence.tools", names=names_listed(list(tools), 8)),),
        explains=frozenset(Cause) - {Cause.SAMPLER_CONFLICT, Cause.UNSUPPORTED_CONSTRUCT},
    )


def _not_constrained(examined: Examination) -> Finding | None:
    """Find a schema that the server takes for a hint, as the request has it."""
    constraint = examined.constraint
    if constraint is None or not examined.is_illegal:
        return None
    key = _reason(examined, constraint)
    if not key:
        return None
    violations = examined.keyword_violations
    defects = () if examined.read is None else examined.read.defects
    detail = defects[0].kind if defects else violations[0].detail if violations else ""
    about = {"pointer": quoted(constraint.pointer)} if key == "strict" else {"tool": quoted(constraint.tool)}
    return Finding(
        Cause.REQUEST_IGNORED,
        catalogue_text(f"failures.sentence.tool.{key}", server=server_name(examined.server), **about),
        detail,
        weight=EvidenceWeight.REPORTED,
        fix=fix_text(Cause.REQUEST_IGNORED, key, examined.server),
        evidence=(catalogue_text("failures.evidence.left_at", where=where_in_output(examined, examined.legal)),),
        places=(FailurePlace(pointer=constraint.pointer), output_place(examined, examined.legal)),
        explains=frozenset((Cause.CONSTRAINT_OFF, Cause.KEYWORD_NOT_ENFORCED)),
    )


def is_free_call(examined: Examination) -> bool:
    """Return whether the arguments are of a tool that the model did not have to call, and that is not strict."""
    case, constraint = examined.case, examined.constraint
    is_tool = constraint is not None and constraint.way in _TOOL_WAYS and bool(constraint.tool)
    return is_tool and case.tool_choice in _FREE_CHOICES and not any(one.is_strict for one in case.constraints)


def _reason(examined: Examination, constraint: RequestConstraint) -> str:
    """Return why the server does not enforce a constraint, as a key of the catalogue; empty if it may."""
    is_tool = constraint.way in _TOOL_WAYS and bool(constraint.tool)
    case, server = examined.case, examined.server
    if server == servers.OPENAI and (is_tool or constraint.pointer.endswith("/schema")):
        default = is_tool and case.interface == servers.RESPONSES
        return "" if (default if constraint.is_strict is None else constraint.is_strict) else "strict"
    if not is_tool:
        return ""
    if server == servers.OLLAMA:
        return "never"
    return "auto" if server in (servers.VLLM, servers.SGLANG) and is_free_call(examined) else ""


UNKNOWN_TOOL: Final = CauseRule(Cause.SCHEMA_VIOLATION, _unknown_tool)
CALL_IN_TEXT: Final = CauseRule(Cause.WRONG_ZONE, _call_in_text)
NO_CALL: Final = CauseRule(Cause.TRIGGER_NEVER_CAME, _no_call)
NOT_CONSTRAINED: Final = CauseRule(Cause.REQUEST_IGNORED, _not_constrained)
