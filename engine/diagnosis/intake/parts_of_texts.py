"""Divides a pasted text: a curl command, code blocks, JSON values, the events of a stream, Python code, and the rest.

A thread of a bug tracker has all of them one after another, so each part is divided again until one reader takes it.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from textwrap import dedent
from typing import Any, Final

from engine.diagnosis.intake.literals import (
    PastedValue,
    TooDeepError,
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
_QUOTED: Final = re.compile(r"^> ?", re.MULTILINE)
_DATA: Final = re.compile(r"^[ \t]*data:[ \t]?(.*)$", re.MULTILINE)
_STREAM_LINE: Final = re.compile(r"^[ \t]*(?:(?:data|event|id|retry):.*|:.*)?$", re.MULTILINE)
_EMBEDDED: Final = re.compile(r"^[^\n{\[]{0,300}?([{\[]|(?<![\w.])(?:id|model|role)=')", re.MULTILINE)
"""Where a value may begin in a line: JSON, or the fields of an object one after another."""
_REPRESENTED: Final = re.compile(r"\b[A-Z]\w+\((?=\w+=)")
"""The representation of an object."""
_LABEL: Final = re.compile(r"(?:\A|\n)[^\S\n]*(?:[#>*_-]+[^\S\n]*)?[A-Za-z][\w'’ ,./()+-]{0,60}:[*_]*\s*\Z")
"""A line that says what follows, such as `Schema:` or `I get:`, at the end of a text."""
_BRACKET_LINE: Final = re.compile(r"^[ \t]*[{\[]", re.MULTILINE)
_OPENER: Final = re.compile(
    r"[\s#>*_-]*(?:sure|certainly|of course|okay|ok|absolutely|great|based on|below is|the following"
    r"|here(?: is| are|'s|’s)?)\b"
    r"(?!.*\b(?:request|response|schema|grammar|logs?|payload|body|command|code|config|i|my|we|our)\b)",
    re.IGNORECASE,
)
"""A line with which a model begins an answer, and so a part of its output."""
_LONGEST_LABEL: Final = 120
_CALL: Final = re.compile(r"\b\w+\s*\(|^\s*\w+\s*=\s*[{\[]", re.MULTILINE)
_REQUEST_CALLS: Final = frozenset(
    "create parse stream generate chat post request completion acompletion SamplingParams encode".split()
)
_STATEMENT: Final = re.compile(r"^(?:from [\w.]+ import |import \w|[A-Za-z_]\w* *= *|[A-Za-z_][\w.]*\()", re.MULTILINE)
_MOST_CUTS: Final = 6
_BRACKETS: Final = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|[()]")
_LONGEST_PROGRAM: Final = 300_000  # characters of Python code that is parsed
_MOST_EMBEDDED: Final = 2_000  # places in a log at which a value may begin


@dataclass(frozen=True, slots=True)
class TextPart:
    """A part of a text.

    Attributes:
        text: its text, if it is no value; or the text of a value that is no JSON.
        value: the value that it is; None if it is none.
        events: the events of a stream; None if it is none.
        url: the address that the value is sent to.
        is_http: whether the value is a body as it is sent, and no argument of a Python client.
        files: the names of files that it refers to.
        is_beside: whether it is text beside code blocks or values, which is what a user says about them.
        behind: of text beside values: the text behind the last of them, without the line that announces it.
    """

    text: str = ""
    value: PastedValue | None = None
    events: list[Any] | None = None
    url: str = ""
    is_http: bool = True
    files: tuple[str, ...] = ()
    is_beside: bool = False
    behind: str = ""


def parts_of(text: str) -> Iterator[TextPart]:
    """Yield the parts of a text.

    Raises:
        TooDeepError: a value is nested too deeply.
    """
    if not text.strip():
        return
    if all(line.startswith(">") for line in text.splitlines() if line.strip()):
        text = _QUOTED.sub("", text)
    curl = read_curl(text) if "curl" in text else None
    blocks = list(_FENCE.finditer(text)) if "```" in text or "~~~" in text else []
    if curl is not None and not (blocks and blocks[0].start() < len(curl.before)):
        yield from _beside(curl.before)
        if curl.body or curl.files or curl.url:
            yield _curl_part(curl.body, curl.url, curl.files)
        yield from _behind(curl.after)
        return
    if blocks:
        at = 0
        for block in blocks:
            yield from _beside(text[at : block.start()])
            yield from parts_of(block[2])
            at = block.end()
        yield from _beside(text[at:])
        return
    yield from _without_blocks(text)


def _beside(text: str) -> Iterator[TextPart]:
    """Yield the parts of a text beside code blocks; the line with which a model announces a block is its output."""
    is_output = _OPENER.match(text.rstrip().rpartition("\n")[2]) is not None
    return (replace(part, is_beside=not is_output, behind="") for part in parts_of(text))


def _behind(text: str) -> Iterator[TextPart]:
    """Yield the parts of a text behind a request; its text is the output, if there is no other."""
    for part in parts_of(without_label(text)):
        yield part if part.is_beside else replace(part, is_beside=True, behind=part.text)


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
            yield TextPart(text, value=value, is_http=False)
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
    program = _program(text) if len(text) <= _LONGEST_PROGRAM and _CALL.search(text) is not None else None
    if program is not None and (found := list(_requests(program.tree))):
        yield from _beside(program.before)
        yield from found
        yield from _behind(program.after)
        return
    rest, at, count = [], 0, 0
    start = _EMBEDDED.search(text)
    while start is not None and count < _MOST_EMBEDDED:
        count += 1
        end = _line_end(text, start.end())
        represented = _REPRESENTED.search(text, start.start(), end)
        for begin in (start.start(1), *(() if represented is None else (represented.start(),))):
            part = _embedded(text, begin, is_announced=_is_announced(text, at, begin))
            if part is not None:
                value, end = part
                yield TextPart("" if value.is_json else text[begin:end], value, is_http=value.is_json)
                rest.append(text[at:begin])
                at = end
                break
        start = _EMBEDDED.search(text, end)
    rest.append(text[at:])
    remaining = "".join(rest)
    if remaining.strip():
        yield TextPart(text=remaining, is_beside=at > 0, behind=_announced(text[at:]) if at else "")


def _is_announced(text: str, start: int, end: int) -> bool:
    """Return whether a part of a text ends with a line of the user that says what follows."""
    label = _LABEL.search(text, max(start, end - _LONGEST_LABEL), end)
    return label is not None and _OPENER.match(label[0]) is None


def _announced(text: str) -> str:
    """Return the part of a text behind values that is likely an output: what is announced, or lines in brackets."""
    rest = without_label(text)
    if rest is not text:
        return rest
    first = _BRACKET_LINE.search(text)
    if first is None:
        return ""
    lines = text[first.start() :].split("\n")
    while lines and not lines[-1].rstrip().endswith(("}", "]")):
        lines.pop()
    return dedent("\n".join(lines))


def without_label(text: str) -> str:
    """Return a text without a first line that says what follows."""
    first, line_end, rest = text.lstrip("\r\n").partition("\n")
    return rest if line_end and _LABEL.fullmatch(first) else text


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


def _embedded(text: str, at: int, *, is_announced: bool) -> tuple[PastedValue, int] | None:
    """Return the request or response that begins at an offset, and where it ends; any value if it is announced."""
    try:
        value, length = json.JSONDecoder().raw_decode(text, at)
        pasted = PastedValue(value, text[at:length])
    except (ValueError, RecursionError):
        line = text[at : _line_end(text, at)]
        called = _REPRESENTED.match(line)
        line = line if called is None else called[0] + _bracketed(line[called.end() :])
        try:
            pasted, length = read_python(line), at + len(line)
        except UnreadableValueError:
            return None
    if is_announced or is_request(pasted.value) or is_response(pasted.value):
        return pasted, length
    return None


def _bracketed(text: str) -> str:
    """Return a text up to the bracket that closes one before it; all of it if there is none."""
    depth = 1
    for found in _BRACKETS.finditer(text):
        depth += {"(": 1, ")": -1}.get(found[0], 0)
        if not depth:
            return text[: found.end()]
    return text


# --- Python


@dataclass(frozen=True, slots=True)
class _Program:
    """Python code in a text: its tree, and the text around it."""

    tree: ast.AST
    before: str
    after: str


def _program(text: str) -> _Program | None:
    """Return the Python code of a text: from its first statement to the first line that is no Python."""
    first = _STATEMENT.search(text)
    if first is None:
        return None
    lines = text[first.start() :].splitlines(keepends=True)
    end = len(lines)
    for _ in range(_MOST_CUTS):
        try:
            tree = parse_python("".join(lines[:end]), "exec")
        except TooDeepError:
            return None
        except UnreadableValueError as error:
            line = error.__cause__.lineno if isinstance(error.__cause__, SyntaxError) else None
            end = min(end, line or 1) - 1
            if end < 1:
                return None
        else:
            return _Program(tree, text[: first.start()], "".join(lines[end:]))
    return None


def _requests(tree: ast.AST) -> Iterator[TextPart]:
    """Yield the arguments of calls that send requests in Python code, and dicts that are requests; nothing is run."""
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
