"""The formats in which families of models write tool calls, as grammars: the arguments of several tools in one output.

A server's response has the arguments of each call apart; a raw output has the call in the format of the model's chat
template. Where the format has a text before and after the call, the grammar is that of a zone.

Sources: the chat templates of Hermes 2 Pro, Qwen 2.5 and 3, Llama 3.1, Mistral v3 and v11, and Qwen3-Coder; llama.cpp's
`common/chat.cpp` and xgrammar's `qwen_xml_parameter` agree with them on the order of parameters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, Final

from engine.decoding.pipeline_settings import Afterwards, OtherZone, ZoneSettings
from engine.diagnosis.case import FailureCase, RequestConstraint
from engine.diagnosis.intake.written_calls import ToolFamily, family_of
from engine.notations import NOTATIONS

_MODELS: Final = (
    (re.compile(r"qwen-?3-?coder", re.IGNORECASE), (ToolFamily.QWEN_XML,)),
    (re.compile(r"hermes|qwen|qwq", re.IGNORECASE), (ToolFamily.HERMES,)),
    (re.compile(r"llama-?3|llama-?4", re.IGNORECASE), (ToolFamily.LLAMA,)),
    (
        re.compile(r"mistral|mixtral|magistral|devstral|ministral", re.IGNORECASE),
        (ToolFamily.MISTRAL, ToolFamily.MISTRAL_ARGS),
    ),
)
_SEVERAL: Final = 2
_ANY_CALL: Final = ("required", "any")
_CLOSING: Final = "</parameter>"
_JSON_RULES: Final = r"""json ::= object | array | string | number | "true" | "false" | "null"
object ::= "{" ws (string ws ":" ws json ws ("," ws string ws ":" ws json ws)*)? "}"
array ::= "[" ws (json ws ("," ws json ws)*)? "]"
string ::= "\"" ([^"\\\x00-\x1f] | "\\" (["\\/bfnrt] | "u" [0-9a-fA-F]{4}))* "\""
number ::= integer ("." [0-9]+)? ([eE] [+-]? [0-9]+)?
integer ::= "-"? ("0" | [1-9] [0-9]*)
boolean ::= "true" | "false" | "True" | "False"
ws ::= [ \t\n\r]*
"""


def call_grammars(case: FailureCase) -> tuple[RequestConstraint, ...]:
    """Return the grammars of an output that calls any of several tools, one for each format that the model may use.

    Args:
        case: the failure. The format is that of its output, else those of its model's family, else all.

    Returns:
        The grammars; none if fewer than two tools may be called.
    """
    tools = [one for one in case.constraints if one.tool and NOTATIONS[one.notation].describes_json]
    if len(tools) < _SEVERAL or case.tool_choice not in ("", *_ANY_CALL, "auto"):
        return ()
    return tuple(_call_grammar(tools, family, case.tool_choice) for family in _families(case))


def _families(case: FailureCase) -> tuple[ToolFamily, ...]:
    written = family_of((case.output or b"").decode(errors="replace"))
    if written is not None:
        return (written,)
    return next((families for pattern, families in _MODELS if pattern.search(case.model)), tuple(ToolFamily))


def _call_grammar(tools: Sequence[RequestConstraint], family: ToolFamily, tool_choice: str) -> RequestConstraint:
    must_call = tool_choice in _ANY_CALL
    made = RequestConstraint("json_schema", "", tools[0].options, way="tools", family=family)
    if family is ToolFamily.LLAMA:
        return replace(made, text=_any_of(_calls(tools, "parameters")))
    if family is ToolFamily.MISTRAL:
        zones = ZoneSettings(after="[TOOL_CALLS]", then=Afterwards.STOP, required=must_call)
        items = _any_of(_calls(tools, "arguments", '"id": {"type": "string"}'))
        return replace(made, text=f'{{"type": "array", "minItems": 1, "items": {items}}}\n', zones=zones)
    if family is ToolFamily.MISTRAL_ARGS:
        return replace(made, text=tools[0].text, zones=_mistral_args(tools, must_call=must_call))
    zones = ZoneSettings(after="<tool_call>\n", until="\n</tool_call>", then=Afterwards.AGAIN, required=must_call)
    if family is ToolFamily.QWEN_XML:
        return replace(made, notation="gbnf", text=_xml_rules(tools), zones=zones)
    return replace(made, text=_any_of(_calls(tools, "arguments")), zones=zones)


def _calls(tools: Sequence[RequestConstraint], member: str, more: str = "") -> list[str]:
    """Return the schema of a call of each tool.

    Args:
        tools: the tools.
        member: the name of the member that has the arguments.
        more: a further property, which a call may have.
    """
    extra = f", {more}" if more else ""
    return [
        f'{{"type": "object", "properties": {{"name": {{"const": {json.dumps(tool.tool)}}}, '
        f'"{member}": {_embedded(tool.text, index)}{extra}}}, '
        f'"required": ["name", "{member}"], "additionalProperties": false}}'
        for index, tool in enumerate(tools)
    ]


def _embedded(schema: str, index: int) -> str:
    """Return a schema for use within another one: with an address of its own, its references stay within it."""
    text = schema.strip()
    if '"$ref"' not in text or re.search(r'"(?:\$id|id)"\s*:\s*"', text) is not None:
        return text
    return f'{{"$id": "tool:{index}", {text[1:].lstrip()}'


def _any_of(schemas: Sequence[str]) -> str:
    if len(schemas) == 1:
        return schemas[0] + "\n"
    inner = ",\n  ".join(schemas)
    return f'{{"anyOf": [\n  {inner}\n]}}\n'


def _mistral_args(tools: Sequence[RequestConstraint], *, must_call: bool) -> ZoneSettings:
    first, *others = tools
    return ZoneSettings(
        after=f"[TOOL_CALLS]{first.tool}[ARGS]",
        then=Afterwards.AGAIN,
        required=must_call,
        others=tuple(OtherZone("json_schema", one.text, after=f"[TOOL_CALLS]{one.tool}[ARGS]") for one in others),
    )


# --- parameters as XML elements


def _xml_rules(tools: Sequence[RequestConstraint]) -> str:
    """Return the rules of calls whose parameters are elements: strings as they are, other values as JSON.

    A value is checked by its type and its enumeration; deeper keywords are not part of these rules.
    """
    calls = " | ".join(f"call-{index}" for index in range(len(tools)))
    rules = [f"root ::= {calls}"]
    for index, tool in enumerate(tools):
        schema = _parsed(tool.text)
        properties = schema.get("properties")
        required = schema.get("required")
        parts = [_literal(f"<function={tool.tool}>\n")]
        for number, (name, inner) in enumerate((properties if isinstance(properties, dict) else {}).items()):
            rule = f"call-{index}-{number}"
            parts.append(rule if name in (required or ()) else f"{rule}?")
            begin, end = _literal(f"<parameter={name}>\n"), _literal(f"\n{_CLOSING}\n")
            rules.append(f"{rule} ::= {begin} {_value_rule(inner)} {end}")
        rules.append(f"call-{index} ::= {' '.join(parts)} {_literal('</function>')}")
    return "\n".join([*rules, *_text_rules()]) + "\n" + _JSON_RULES


def _parsed(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def _value_rule(schema: Any) -> str:
    """Return the expression of a parameter's value."""
    if not isinstance(schema, dict):
        return "text"
    values = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
    if isinstance(values, list) and values:
        return "(" + " | ".join(_literal(one if isinstance(one, str) else json.dumps(one)) for one in values) + ")"
    named = schema.get("type")
    known = {"integer": "integer", "number": "number", "boolean": "boolean", "object": "object", "array": "array"}
    return known.get(named, "text") if isinstance(named, str) else "text"


def _text_rules() -> Iterator[str]:
    """Yield the rules of a text in which no line begins with the closing tag."""
    yield r'text ::= [^\n]* ("\n" line)*'
    yield r"line ::= " + _line_after(0)
    for index in range(1, len(_CLOSING)):
        yield f"line-{index} ::= {_line_after(index)}"


def _line_after(index: int) -> str:
    """Return the expression of a line that has begun with so many characters of the closing tag."""
    char = _CLOSING[index]
    other = rf"[^{char}\n] [^\n]*"
    following = f' | "{char}" line-{index + 1}' if index + 1 < len(_CLOSING) else ""
    return f"({other}{following})?"


def _literal(text: str) -> str:
    """Return a text as a literal of GBNF."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'
