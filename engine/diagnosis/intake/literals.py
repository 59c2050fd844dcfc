"""Values in pasted texts: JSON, and Python literals and object representations, which are never evaluated.

`json` finds where a value ends, so the source text of a part of a JSON value is found at its speed; a schema keeps the
layout and the key order that its author gave it. A Python literal is written as JSON instead.

Rejected: `engine.notations.json_schema.json_tree`. Its spans take a second pass in Python, which is too long for a
paste of hundreds of kilobytes.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

_DECODER: Final = json.JSONDecoder()
_BLANKS: Final = re.compile(r"[ \t\r\n]*")
_LONGEST_PYTHON: Final = 2_000_000  # characters; the parser needs a hundred times as much memory
_LONGEST_FIELDS: Final = 200_000  # characters; they are read by a tokenizer in Python
_NAMES: Final = {"true": True, "false": False, "null": None}
_FIELDS: Final = re.compile(r"[A-Za-z_]\w*=(?!=)")
_ENUM: Final = re.compile(r"<[\w.]+: ('[^'\n]*'|\"[^\"\n]*\"|-?\d+)>")  # the representation of an enumeration's member


class UnreadableValueError(ValueError):
    """A text is no value; the text of the error is that of the parser."""


class TooDeepError(UnreadableValueError):
    """A value is nested too deeply to be read."""


@dataclass(frozen=True)
class PastedValue:
    """A value with its source.

    Attributes:
        value: the value, as `json.loads` returns it.
        text: its source, from which parts are cut; empty if it is no JSON.
    """

    value: Any
    text: str = ""

    @property
    def is_json(self) -> bool:
        """Return whether the source is JSON."""
        return bool(self.text)

    def source(self, path: Sequence[str | int]) -> str:
        """Return the source text of a part, without the indentation of its place.

        Args:
            path: the keys and indexes that lead to the part.
        """
        part = self.value
        for step in path:
            part = part[step]
        if not self.text:
            return json.dumps(part, ensure_ascii=False, indent=2) + "\n"
        start = _skip(self.text, 0)
        for step in path:
            start = _item(self.text, start, step) if isinstance(step, int) else _member(self.text, start, step)
        return dedented(self.text[start : _DECODER.raw_decode(self.text, start)[1]])

    @cached_property
    def names(self) -> frozenset[str]:
        """Return the keys of an object; none of another value."""
        return frozenset(self.value) if isinstance(self.value, dict) else frozenset()


def dedented(text: str) -> str:
    """Return a value's source with a line end, without the indentation that its lines share after the first."""
    first, *rest = text.split("\n")
    indents = [len(line) - len(line.lstrip()) for line in rest if line.strip()]
    least = min(indents, default=0)
    return "\n".join([first, *(line[least:] for line in rest)]).rstrip() + "\n"


def _item(text: str, start: int, index: int) -> int:
    at = _skip(text, start + 1)
    for _ in range(index):
        at = _skip(text, _DECODER.raw_decode(text, at)[1])
        at = _skip(text, at + 1)  # after the comma
    return at


def _member(text: str, start: int, name: str) -> int:
    """Return the offset of a member's value in an object that begins at `start`; the last one of that name counts."""
    found = start
    at = _skip(text, start + 1)
    while text[at] != "}":
        key, at = _DECODER.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        found = at if key == name else found
        at = _skip(text, _DECODER.raw_decode(text, at)[1])
        at = _skip(text, at + 1) if text[at] == "," else at
    return found


def _skip(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return at if match is None else match.end()


def read_values(text: str) -> tuple[list[PastedValue], str]:
    """Return the JSON values that a text begins with, one after another, and the text after them.

    Args:
        text: the text; values may be separated by white space and commas.

    Raises:
        TooDeepError: a value is nested too deeply.
    """
    found: list[PastedValue] = []
    at = _skip(text, 0)
    while at < len(text) and text[at] in "{[":
        try:
            value, end = _DECODER.raw_decode(text, at)
        except RecursionError as error:
            raise TooDeepError(str(error)) from error
        except ValueError:
            break
        found.append(PastedValue(value, text[at:end]))
        at = _skip(text, end)
        if at < len(text) and text[at] == ",":
            at = _skip(text, at + 1)
    return found, text[at:]


def read_value(text: str) -> PastedValue:
    """Return the value that a whole text is: JSON, or a literal or an object representation of Python.

    Args:
        text: the text.

    Raises:
        UnreadableValueError: it is none, or nested too deeply.
    """
    values, rest = read_values(text)
    if len(values) == 1 and not rest:
        return values[0]
    return read_python(text)


def read_python(text: str) -> PastedValue:
    """Return a literal of Python, or the representation of an object, whose arguments are read as a dict.

    A name is its own value, as in `finish_reason=length`; nothing is looked up or called.

    Raises:
        UnreadableValueError: the text is none, or nested too deeply.
    """
    if len(text) > _LONGEST_PYTHON:
        raise UnreadableValueError(text[:20])
    text = _ENUM.sub(r"\1", text.strip())
    tree = parse_python(_as_call(text) if _FIELDS.match(text) else text, "eval")
    if not isinstance(tree, ast.Expression) or not isinstance(tree.body, ast.Dict | ast.List | ast.Tuple | ast.Call):
        raise UnreadableValueError(text[:20])
    try:
        return PastedValue(literal(tree.body))
    except RecursionError as error:
        raise TooDeepError(str(error)) from error


def _as_call(text: str) -> str:
    """Return the fields of an object, which `str` of a Pydantic model separates by spaces, as a call."""
    if len(text) > _LONGEST_FIELDS:
        return text
    parts, depth, at = [], 0, 0
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.OP and token.string in "([{":
                depth += 1
            elif token.type == tokenize.OP and token.string in ")]}":
                depth -= 1
            elif (
                token.type == tokenize.NAME
                and not depth
                and token.start[0] == 1
                and _FIELDS.match(text, token.start[1])
            ):
                parts.append(text[at : token.start[1]].rstrip().rstrip(","))
                at = token.start[1]
    except (tokenize.TokenError, SyntaxError):
        return text
    return f"fields({', '.join([*parts[1:], text[at:]])})"


def parse_python(text: str, mode: str) -> ast.AST:
    """Return the syntax tree of a text.

    Args:
        text: the text.
        mode: `eval` or `exec`, as of `compile`.

    Raises:
        UnreadableValueError: it is no Python, or nested too deeply.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            return ast.parse(text, mode=mode)
    except (RecursionError, MemoryError) as error:
        raise TooDeepError(str(error)) from error
    except (SyntaxError, ValueError) as error:
        raise UnreadableValueError(str(error)) from error


def literal(node: ast.expr, names: dict[str, ast.expr] | None = None) -> Any:
    """Return the value of an expression without evaluating it.

    Args:
        node: the expression.
        names: the expressions that were assigned to names.

    Raises:
        UnreadableValueError: it is no literal.
    """
    match node:
        case ast.Constant(value=bytes() as data):
            return data.decode("utf-8", "replace")
        case ast.Constant(value=None | bool() | int() | float() | str() as value):
            return value
        case ast.Dict(keys=keys, values=values):
            pairs = [(key, value) for key, value in zip(keys, values, strict=True) if key is not None]
            return {str(literal(key, names)): literal(value, names) for key, value in pairs}
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return [literal(item, names) for item in items]
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as number)):
            return -number
        case ast.Call(keywords=keywords) if keywords or not isinstance(node.func, ast.Attribute):
            return {one.arg: literal(one.value, names) for one in keywords if one.arg is not None}
        case ast.Name(id=name):
            if names and name in names:
                return literal(names[name], {key: value for key, value in names.items() if key != name})
            return _NAMES.get(name, name)
        case _:
            return ast.unparse(node)
