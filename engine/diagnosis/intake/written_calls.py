"""Tool calls that a model wrote into its text: what a server without a matching parser leaves there.

Sources of the formats: the chat templates of Hermes 2 Pro, Qwen 2.5 and 3, Llama 3.1, Mistral v3 and v11, and
Qwen3-Coder; llama.cpp's `common/chat.cpp` agrees with them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class ToolFamily(StrEnum):
    """The formats of tool calls."""

    HERMES = "hermes"  # <tool_call>{"name": …, "arguments": …}</tool_call>, Qwen's too
    LLAMA = "llama"  # {"name": …, "parameters": …}
    MISTRAL = "mistral"  # [TOOL_CALLS][{"name": …, "arguments": …}]
    MISTRAL_ARGS = "mistral-args"  # [TOOL_CALLS]name[ARGS]{…}
    QWEN_XML = "qwen-xml"  # <tool_call><function=name><parameter=key>value</parameter></function></tool_call>


@dataclass(frozen=True, slots=True)
class WrittenCall:
    """A tool call in a text.

    Attributes:
        family: the format of the call.
        name: the name of the tool.
        arguments: the text of its arguments; None if the format does not write them as JSON.
        start: the offset of the arguments in the text, in code points.
    """

    family: ToolFamily
    name: str
    arguments: str | None
    start: int


_BARE: Final = r"(?:\A|\n)[ \t]*(?:```\w*)?\s*"
"""Where a call without a mark begins: a line, or a code fence."""
_OUTPUTS: Final = (
    (re.compile(r"<function=[^>\n]+>"), ToolFamily.QWEN_XML),
    (re.compile(r"<tool_call>"), ToolFamily.HERMES),
    (re.compile(r"\[TOOL_CALLS\]\s*[\w.-]+\s*\[(?:ARGS|CALL_ID)\]"), ToolFamily.MISTRAL_ARGS),
    (re.compile(r"\[TOOL_CALLS\]"), ToolFamily.MISTRAL),
    (
        re.compile(_BARE + r'(?:<\|python_tag\|>)?\s*\{\s*"(?:name|type)"[^{]*"parameters"\s*:', re.DOTALL),
        ToolFamily.LLAMA,
    ),
    (re.compile(_BARE + r'\{\s*"name"\s*:\s*"[\w.-]+"\s*,\s*"arguments"\s*:'), ToolFamily.HERMES),
)
_ELEMENT: Final = re.compile(r"<tool_call>(.*?)(?:</tool_call>|\Z)", re.DOTALL)
_FUNCTION: Final = re.compile(r"<function=([^>\n]+)>")
_TOOL_CALLS: Final = re.compile(r"\[TOOL_CALLS\](.*?)(?=\[TOOL_CALLS\]|\Z)", re.DOTALL)
_WITH_ARGS: Final = re.compile(r"\s*([\w.-]+)\s*(?:\[CALL_ID\][^\[]*)?\[ARGS\]\s*")
_NAME: Final = re.compile(r"""(["'])name\1\s*:\s*(["'])((?:(?!\2)[^\\]|\\.)*)\2""")
_ARGUMENTS: Final = re.compile(r"""(["'])(?:arguments|parameters)\1\s*:\s*""")
_IN_BRACKETS: Final = re.compile(r"\s*(?:<\|python_(?:start|tag)\|>)?\s*\[\s*[A-Za-z_][\w.]*\((?:\s*\w+\s*=|\s*\))")
_FUNCTION_CALL: Final = re.compile(r"[\[,]\s*([A-Za-z_][\w.]*)\((?=\s*(?:\w+\s*=|\)))")
_DECODER: Final = json.JSONDecoder(strict=False)


def written_calls(text: str) -> list[WrittenCall]:
    """Return the tool calls in a text, in the formats of `ToolFamily`; the last one may be cut off.

    Args:
        text: the answer of a model.
    """
    match family := family_of(text):
        case None:
            return list(_as_functions(text))
        case ToolFamily.QWEN_XML:
            return [WrittenCall(family, found[1].strip(), None, found.end()) for found in _FUNCTION.finditer(text)]
        case ToolFamily.MISTRAL_ARGS:
            return list(_with_args(text))
        case ToolFamily.HERMES | ToolFamily.MISTRAL:
            pattern = _ELEMENT if family is ToolFamily.HERMES else _TOOL_CALLS
            parts = [(found.start(1), found.end(1)) for found in pattern.finditer(text)] or [(0, len(text))]
        case _:
            parts = [(0, len(text))]
    return [call for start, end in parts for call in _in_objects(text, start, end, family)]


def family_of(text: str) -> ToolFamily | None:
    """Return the format of the tool calls in a text; None if it has none."""
    return next((family for pattern, family in _OUTPUTS if pattern.search(text)), None)


def _as_functions(text: str) -> Iterator[WrittenCall]:
    """Yield calls in the form of Python, which Llama 3.2 and 4 write in brackets; their arguments are no JSON."""
    if _IN_BRACKETS.match(text) is not None:
        for found in _FUNCTION_CALL.finditer(text):
            yield WrittenCall(ToolFamily.LLAMA, found[1], None, found.end())


def _with_args(text: str) -> Iterator[WrittenCall]:
    for found in _TOOL_CALLS.finditer(text):
        head = _WITH_ARGS.match(text, found.start(1))
        if head is not None:
            arguments = text[head.end() : found.end(1)].rstrip()
            yield WrittenCall(ToolFamily.MISTRAL_ARGS, head[1], arguments, head.end())


def _in_objects(text: str, start: int, end: int, family: ToolFamily) -> Iterator[WrittenCall]:
    """Yield the calls that are objects with a name and arguments."""
    while (start := text.find("{", start, end)) >= 0:
        length = _length(text[start:end])
        behind = end if length is None else start + length
        call = _in_object(text, start, behind, family)
        if call is not None:
            yield call
        start = behind


def _in_object(text: str, start: int, end: int, family: ToolFamily) -> WrittenCall | None:
    found = _ARGUMENTS.search(text, start, end)
    if found is None:
        return None
    rest = text[found.end() : end]
    length = _length(rest)
    arguments = _malformed(rest) if length is None else rest[:length]
    name = _NAME.search(text, start, found.start()) or _NAME.search(text, found.end() + len(arguments), end)
    return None if name is None else WrittenCall(family, name[3], arguments, found.end())


def _malformed(text: str) -> str:
    """Return arguments that are cut off or no JSON, without the brace that closes the call."""
    text = text.rstrip()
    return text[:-1].rstrip() if text.endswith("}") and text.count("}") > text.count("{") else text


def _length(text: str) -> int | None:
    """Return the length of the JSON value at the start of a text; None if it is not JSON or not complete."""
    try:
        return int(_DECODER.raw_decode(text)[1])
    except (ValueError, RecursionError):
        return None
