"""Divides a pasted text: a curl command, code blocks, JSON values, the events of a stream, Python code, and the rest.

A thread of a bug tracker has all of them one after another, so each part is divided again until one reader takes it.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from engine.diagnosis.intake.literals import (
    PastedValue,
    UnreadableValueError,
    literal,
    parse_python,
    read_python,
    read_values,
)
from engine.diagnosis.intake.request_reader import is_request
from engine.diagnosis.intake.response_reader import is_response
from engine.diagnosis.intake.shell import read_curl

_FENCE: Final = re.compile(r"^[ \t]*(`{3,}|~{3,})[^\n`]*\n(.*?)(?:^[ \t]*\1[ \t]*$|\Z)", re.MULTILINE | re.DOTALL)
_DATA: Final = re.compile(r"^[ \t]*data:[ \t]?(.*)$", re.MULTILINE)
_STREAM_LINE: Final = re.compile(r"^[ \t]*(?:(?:data|event|id|retry):.*|:.*)?$", re.MULTILINE)
_EMBEDDED: Final = re.compile(r"^[^\n{\[]{0,300}?([{\[])", re.MULTILINE)
_CALL: Final = re.compile(r"\b\w+\s*\(|^\s*\w+\s*=\s*[{\[]", re.MULTILINE)
_REQUEST_CALLS: Final = frozenset(
    "create parse stream generate chat post request completion acompletion SamplingParams encode".split()
)
_LONGEST_PROGRAM: Final = 300_000  # characters of Python code that is parsed
_MOST_EMBEDDED: Final = 2_000  # places in a log at which a value may begin


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part of a text.

    Attributes:
        text: its text, if it is no value.
        value: the value that it is; None if it is none.
        events: the events of a stream; None if it is none.
        url: the address that the value is sent to.
        is_http: whether the value is a body as it is sent, and no argument of a Python client.
        files: the names of files that it refers to.
    """

    text: str = ""
    value: PastedValue | None = None
    events: list[Any] | None = None
    url: str = ""
    is_http: bool = True
    files: tuple[str, ...] = ()


def parts_of(text: str) -> Iterator[TextPart]:
    """Yield the parts of a text.

    Raises:
        TooDeepError: a value is nested too deeply.
    """
    if not text.strip():
        return
    curl = read_curl(text) if "curl" in text else None
    if curl is not None:
        yield from parts_of(curl.before)
        if curl.body or curl.files or curl.url:
            yield _curl_part(curl.body, curl.url, curl.files)
        yield from parts_of(curl.after)
        return
    blocks = list(_FENCE.finditer(text)) if "```" in text or "~~~" in text else []
    if blocks:
        at = 0
        for block in blocks:
            yield from parts_of(text[at : block.start()])
            yield from parts_of(block[2])
            at = block.end()
        yield from parts_of(text[at:])
        return
    yield from _without_blocks(text)


def _curl_part(body: str, url: str, files: tuple[str, ...]) -> TextPart:
    values, rest = read_values(body)
    if values and not rest.strip():
        return TextPart(value=values[0], url=url, files=files)
    return TextPart(text=body, url=url, files=files)


def _without_blocks(text: str) -> Iterator[TextPart]:
    events = _events(text) if "data:" in text else []
    if events:
        yield TextPart(events=events)
        yield from _plain(_STREAM_LINE.sub("", text))
        return
    if text.lstrip()[:1] in ("{", "["):
        values, rest = read_values(text)
        if values:
            yield from _values(values)
            if rest.strip():
                yield from _plain(rest)
            return
        try:
            value = read_python(text)
        except UnreadableValueError:
            yield from _plain(text)
        else:
            yield TextPart(value=value, is_http=False)
        return
    yield from _plain(text)


def _events(text: str) -> list[Any]:
    """Return the events of a stream of `data:` lines."""
    found = []
    for match in _DATA.finditer(text):
        try:
            found.append(json.loads(match[1]))
        except (ValueError, RecursionError):
            continue  # `[DONE]`, or a line that was cut
    return found


def _values(values: list[PastedValue]) -> Iterator[TextPart]:
    """Yield values; several responses one after another are the lines of a stream."""
    if len(values) > 1 and all(is_response(one.value) for one in values):
        yield TextPart(events=[one.value for one in values])
    else:
        yield from (TextPart(value=one) for one in values)


def _plain(text: str) -> Iterator[TextPart]:
    """Yield the values in a program or a log, and the text without them."""
    if not text.strip():
        return
    found = list(_program(text)) if len(text) <= _LONGEST_PROGRAM and _CALL.search(text) is not None else []
    if found:
        yield from found
        return
    rest, at, count = [], 0, 0
    start = _EMBEDDED.search(text)
    while start is not None and count < _MOST_EMBEDDED:
        count += 1
        part = _embedded(text, start.start(1))
        end = start.end()
        if part is not None:
            value, end = part
            yield TextPart(value=value)
            rest.append(text[at : start.start(1)])
            at = end
        start = _EMBEDDED.search(text, _line_end(text, end))
    rest.append(text[at:])
    remaining = "".join(rest)
    if remaining.strip():
        yield TextPart(text=remaining)


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _embedded(text: str, at: int) -> tuple[PastedValue, int] | None:
    """Return the request or response that begins at an offset, and where it ends."""
    line = text[at : _line_end(text, at)]
    try:
        value, length = json.JSONDecoder().raw_decode(text, at)
        pasted = PastedValue(value, text[at:length])
    except (ValueError, RecursionError):
        try:
            pasted, length = read_python(line), at + len(line)
        except UnreadableValueError:
            return None
    if is_request(pasted.value) or is_response(pasted.value):
        return pasted, length
    return None


# --- Python


def _program(text: str) -> Iterator[TextPart]:
    """Yield the arguments of calls that send requests in Python code, and dicts that are requests; nothing is run."""
    try:
        tree = parse_python(text, "exec")
    except UnreadableValueError:
        return
    names: dict[str, ast.expr] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            names[node.targets[0].id] = node.value
    used: set[int] = set()
    found: list[ast.Call | ast.Dict] = [node for node in ast.walk(tree) if isinstance(node, ast.Call | ast.Dict)]
    for node in sorted(found, key=lambda node: isinstance(node, ast.Dict)):  # a call first: it has the address
        if id(node) in used:
            continue
        value, url, is_http = _of_node(node, names)
        if value is not None and (is_request(value) or is_response(value)):
            used |= {id(inner) for inner in ast.walk(node)} | _named(node, names)
            yield TextPart(value=PastedValue(value), url=url, is_http=is_http)


def _named(node: ast.AST, names: dict[str, ast.expr]) -> set[int]:
    """Return the ids of the nodes that a node refers to by name."""
    used = (names[inner.id] for inner in ast.walk(node) if isinstance(inner, ast.Name) and inner.id in names)
    return {id(inner) for value in used for inner in ast.walk(value)}


def _of_node(node: ast.Call | ast.Dict, names: dict[str, ast.expr]) -> tuple[Any, str, bool]:
    """Return the body that a call sends or a dict is, the address, and whether it is a body as it is sent."""
    try:
        if isinstance(node, ast.Dict):
            return literal(node, names), "", False
        called = node.func.attr if isinstance(node.func, ast.Attribute) else ast.unparse(node.func)
        arguments = {one.arg: one.value for one in node.keywords if one.arg is not None}
        url = next((one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)), "")
        if "json" in arguments and called in ("post", "request"):
            return literal(arguments["json"], names), url, True
        if called in _REQUEST_CALLS or called[:1].isupper():
            return literal(node, names), url, False
    except (UnreadableValueError, RecursionError):
        pass
    return None, "", False
