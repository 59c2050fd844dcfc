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
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from engine.decoding.pipeline_settings import Afterwards, OtherZone, ZoneSettings
from engine.diagnosis.case import RequestConstraint
from engine.diagnosis.intake.values import IntakeError
from engine.grammar.options import CompileOptions


class ToolFamily(StrEnum):
    """The formats of tool calls."""

    HERMES = "hermes"  # <tool_call>{"name": …, "arguments": …}</tool_call>, Qwen's too
    LLAMA = "llama"  # {"name": …, "parameters": …}
    MISTRAL = "mistral"  # [TOOL_CALLS][{"name": …, "arguments": …}]
    MISTRAL_ARGS = "mistral-args"  # [TOOL_CALLS]name[ARGS]{…}
    QWEN_XML = "qwen-xml"  # <tool_call><function=name><parameter=key>value</parameter></function></tool_call>


@dataclass(frozen=True, slots=True)
class ToolCallGrammar:
    """The grammar of an output with tool calls.

    Attributes:
        notation: the notation of the grammar.
        text: its text.
        options: its compile options.
        zones: the part of the output that it constrains; None for the complete output.
    """

    notation: str
    text: str
    options: CompileOptions = field(default_factory=CompileOptions)
    zones: ZoneSettings | None = None


_MODELS: Final = (
    (re.compile(r"qwen-?3-?coder", re.IGNORECASE), ToolFamily.QWEN_XML),
    (re.compile(r"hermes|qwen|qwq", re.IGNORECASE), ToolFamily.HERMES),
    (re.compile(r"llama-?3|llama-?4", re.IGNORECASE), ToolFamily.LLAMA),
    (re.compile(r"mistral|mixtral|magistral|devstral|ministral", re.IGNORECASE), ToolFamily.MISTRAL),
)
_OUTPUTS: Final = (
    (re.compile(r"<function=[^>\n]+>"), ToolFamily.QWEN_XML),
    (re.compile(r"<tool_call>"), ToolFamily.HERMES),
    (re.compile(r"\[TOOL_CALLS\]\s*[\w.-]+\s*\[(?:ARGS|CALL_ID)\]"), ToolFamily.MISTRAL_ARGS),
    (re.compile(r"\[TOOL_CALLS\]"), ToolFamily.MISTRAL),
    (
        re.compile(r'\A\s*(?:<\|python_tag\|>)?\s*\{\s*"(?:name|type)"[^{]*"parameters"\s*:', re.DOTALL),
        ToolFamily.LLAMA,
    ),
)
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


def tool_family(output: str = "", model: str = "") -> ToolFamily | None:
    """Return the format of the tool calls of an output; None if it cannot be seen.

    Args:
        output: the output, or its beginning.
        model: the name of the model, which counts where the output has no mark.
    """
    found = next((family for pattern, family in _OUTPUTS if pattern.search(output)), None)
    if found is not None:
        return found
    return next((family for pattern, family in _MODELS if pattern.search(model)), None)


def tool_call_grammar(
    constraints: Sequence[RequestConstraint], family: ToolFamily, tool_choice: str = ""
) -> ToolCallGrammar:
    """Return the grammar of an output that calls tools in the format of a family.

    Args:
        constraints: the constraints of a request; those of tools count.
        family: the format.
        tool_choice: `auto`, `required` or the name of a tool, as in `FailureCase`.

    Raises:
        IntakeError: the request has no tool that may be called.
    """
    tools = [one for one in constraints if one.tool]
    if tool_choice not in ("", "auto", "required", "any"):
        tools = [one for one in tools if one.tool == tool_choice]
    if not tools:
        raise IntakeError("errors.diagnosis.no_tool")
    must_call = tool_choice not in ("", "auto")
    options = tools[0].options
    if family is ToolFamily.LLAMA:
        return ToolCallGrammar("json_schema", _any_of(_calls(tools, "parameters")), options)
    if family is ToolFamily.MISTRAL:
        zones = ZoneSettings(after="[TOOL_CALLS]", then=Afterwards.STOP, required=must_call)
        items = _any_of(_calls(tools, "arguments", '"id": {"type": "string"}'))
        return ToolCallGrammar("json_schema", f'{{"type": "array", "minItems": 1, "items": {items}}}\n', options, zones)
    if family is ToolFamily.MISTRAL_ARGS:
        return _mistral_args(tools, options, must_call=must_call)
    zones = ZoneSettings(after="<tool_call>\n", until="\n</tool_call>", then=Afterwards.AGAIN, required=must_call)
    if family is ToolFamily.QWEN_XML:
        return ToolCallGrammar("gbnf", _xml_rules(tools), options, zones)
    return ToolCallGrammar("json_schema", _any_of(_calls(tools, "arguments")), options, zones)


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


def _mistral_args(tools: Sequence[RequestConstraint], options: CompileOptions, *, must_call: bool) -> ToolCallGrammar:
    first, *others = tools
    zones = ZoneSettings(
        after=f"[TOOL_CALLS]{first.tool}[ARGS]",
        then=Afterwards.AGAIN,
        required=must_call,
        others=tuple(OtherZone("json_schema", one.text, after=f"[TOOL_CALLS]{one.tool}[ARGS]") for one in others),
    )
    return ToolCallGrammar("json_schema", first.text, options, zones)


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
