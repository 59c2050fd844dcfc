"""Render chat templates in a process of its own, within limits; `engine.models.chat_template` starts it.

A template comes with a model, so it is hostile input. Steps of loops, calls and operators are counted, and sizes are
checked before they are allocated, so that the same template stops at the same step on every machine. What escapes the
counting (one long call into C) meets the limits of memory and processor time that this process sets for itself.

The environment is that of `transformers`, whose templates these are. This file is run as a script, without the package
around it, and imports nothing else but Jinja, so that it starts in a tenth of a second.

Each request and each answer is its length in eight bytes, and JSON.
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import json
import math
import re
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from types import TracebackType
from typing import IO, Any, Final

import jinja2
from jinja2 import ext, nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.parser import Parser
from jinja2.runtime import Context, Macro
from jinja2.sandbox import MAX_RANGE, ImmutableSandboxedEnvironment
from jinja2.utils import Namespace
from jinja2.visitor import NodeTransformer

if sys.platform != "win32":
    import resource

HAS_LIMITS: bool = sys.platform != "win32"
"""True where the platform can limit memory and processor time; elsewhere the parent ends this process after a time."""
MOST_TOKENS: Final = 40_000
"""Names, operators, texts and blanks of a template; the longest in use have some 10,000."""
MOST_STEPS: Final = 500_000
"""Iterations, calls and operators; each takes a few microseconds."""
LONGEST_OUTPUT: Final = 50_000
"""Characters, beside four times those of the messages; the window shows each token of a prompt."""
LONGEST_VALUE: Final = 4_000_000  # characters or items of what one operator makes
MOST_BITS: Final = 100_000  # of a number
WIDEST: Final = 10_000  # characters to pad to, and digits to round to
MEMORY_BYTES: Final = 512 << 20
CPU_SECONDS: Final = 6

_CHARACTERS: Final = 64  # that one step handles
_ITEMS: Final = 4
_COLLECTIONS: Final = (list, tuple, dict, set, frozenset, range)
_KEPT: Final = 8  # compiled templates
_LONGEST_MESSAGE: Final = 300
_LONGEST_MESSAGE_BYTES: Final = 256 << 20  # on the pipe
_PADDING: Final = frozenset({"center", "ljust", "rjust", "zfill", "expandtabs", "to_bytes"})
_PADDING_FILTERS: Final = frozenset({"center", "indent", "round", "batch", "slice", "tojson", "truncate", "wordwrap"})
_WIDTH = re.compile(r"\d+")


class LimitError(Exception):
    """A template takes more than it may."""


class RefusedError(jinja2.TemplateError):
    """A template refuses the messages, by `raise_exception`."""


class LimitedEnvironment(ImmutableSandboxedEnvironment):
    """The environment of `transformers`, with counted steps.

    Attributes:
        steps: how many the present render has taken.
    """

    intercepted_binops = frozenset({"*", "**", "%", "+"})

    def __init__(self) -> None:
        super().__init__(
            trim_blocks=True, lstrip_blocks=True, optimized=False, extensions=[_GenerationTag, ext.loopcontrols]
        )
        self.steps = 0
        self.filters["tojson"] = _tojson
        self.filters = {name: self._limited_filter(name, function) for name, function in self.filters.items()}
        self.globals["raise_exception"] = _raise_exception
        self.globals["strftime_now"] = _strftime_now
        self.globals["dict"] = _Dict()
        self.globals["namespace"] = _Namespace
        self.globals["range"] = _range
        del self.globals["lipsum"]  # random text of any length, which no chat template needs

    def charge(self, steps: int) -> None:
        """Count steps.

        Raises:
            LimitError: there are too many.
        """
        self.steps += steps
        if self.steps > MOST_STEPS:
            raise LimitError(f"it does not end within {MOST_STEPS:,} steps")

    def counted(self, iterable: Any) -> Any:
        """Count the items of what a loop goes over; the value stays what it is."""
        if isinstance(iterable, Iterator):
            return self._counted_items(iterable)
        self.charge(1 + (len(iterable) if isinstance(iterable, (str, *_COLLECTIONS)) else 0))
        return iterable

    def joined(self, value: Any) -> Any:
        """Return a value that `~` joins to another one; `call` counts it."""
        return value

    def _counted_items(self, items: Iterator[Any]) -> Iterator[Any]:
        for item in items:
            self.charge(1)
            yield item

    def call(self, context: Context, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call what a template calls, with its work counted."""
        owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
        self.charge(1 + _units(args) + _units((owner,)))
        if isinstance(owner, str | bytes | int) and name in _PADDING:
            _check_widths(name, (*args, *kwargs.values()))
        if isinstance(owner, str) and name == "replace" and len(args) >= 2:
            _check_length("replace", _replaced(owner, args[0], args[1]))
        result = super().call(context, function, *args, **kwargs)
        self.charge(_units((result,)))
        return result

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Apply an operator, if its result is not too large."""
        self.charge(1 + _units((left, right)))
        _check_operands(operator, left, right)
        return super().call_binop(context, operator, left, right)

    def wrap_str_format(self, value: Any) -> Callable[..., str] | None:
        """Wrap `str.format`, if its format has no large width."""
        wrapped = super().wrap_str_format(value)
        if wrapped is not None:
            _check_format(value.__self__)
        return wrapped

    def _limited_filter(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def limited(*args: Any, **kwargs: Any) -> Any:
            self.charge(1 + _units(args))
            if name in _PADDING_FILTERS:
                _check_widths(name, (*args[1:], *kwargs.values()))
            if name == "format" and args and isinstance(args[0], str):
                _check_format(args[0])
            result = function(*args, **kwargs)
            self.charge(_units((result,)))
            return result

        return limited

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        return _Count(self).visit(super()._parse(source, name, filename))  # type: ignore[no-any-return]


class _Generator(CodeGenerator):
    def _output_child_to_const(self, node: nodes.Expr, frame: Frame, finalize: Any) -> str:
        if not isinstance(node, nodes.TemplateData):
            raise nodes.Impossible  # an expression is computed in a render, where its steps are counted
        return super()._output_child_to_const(node, frame, finalize)


LimitedEnvironment.code_generator_class = _Generator


class _Count(NodeTransformer):
    """Adds calls that count what Jinja has no hook for: loops, and the operator `~`."""

    def __init__(self, environment: LimitedEnvironment) -> None:
        self._environment = environment

    def visit_For(self, node: nodes.For) -> nodes.For:  # noqa: N802 - named after the node
        self.generic_visit(node)
        node.iter = self._call("counted", node.iter)
        return node

    def visit_Concat(self, node: nodes.Concat) -> nodes.Concat:  # noqa: N802
        self.generic_visit(node)
        node.nodes = [self._call("joined", part) for part in node.nodes]
        return node

    def _call(self, name: str, value: Any) -> nodes.Call:
        shared = {"lineno": value.lineno, "environment": self._environment}
        return nodes.Call(nodes.EnvironmentAttribute(name, **shared), [value], [], None, None, **shared)


class _GenerationTag(ext.Extension):
    """`{% generation %}`, which marks what the assistant wrote; its content is rendered as it is."""

    tags = {"generation"}  # noqa: RUF012 - as Jinja declares it

    def parse(self, parser: Parser) -> nodes.Node:
        """Parse the tag."""
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return nodes.CallBlock(self.call_method("_content"), [], [], body).set_lineno(line)

    def _content(self, caller: Macro) -> str:
        return caller()


class _Dict:
    def __call__(self, *args: Any, **kwargs: Any) -> dict[Any, Any]:
        return dict(*args, **kwargs)

    def fromkeys(self, *args: Any) -> dict[Any, Any]:
        return dict.fromkeys(*args)


class _Namespace(Namespace):
    """A namespace without names that begin with an underscore, as `transformers` has it."""

    def __init__(*args: Any, **kwargs: Any) -> None:  # since `namespace(self=…)` is allowed
        self, *rest = args
        values = dict(*rest, **kwargs)
        for name in values:
            _check_name(name)
        Namespace.__init__(self, values)

    def __setitem__(self, name: str, value: Any) -> None:
        _check_name(name)
        super().__setitem__(name, value)


def _check_name(name: object) -> None:
    if isinstance(name, str) and name.startswith("_"):
        raise jinja2.exceptions.SecurityError(f"a namespace cannot have an attribute {name!r}")


def _tojson(
    value: Any, ensure_ascii: bool = False, indent: Any = None, separators: Any = None, sort_keys: bool = False
) -> str:
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _raise_exception(message: object) -> None:
    raise RefusedError(str(message))


def _strftime_now(written: str) -> str:
    _check_format(written)
    return datetime.now().strftime(written)  # noqa: DTZ005 - the local date, as templates mean it


def _range(*args: int) -> range:
    items = range(*args)
    try:
        count = len(items)
    except OverflowError:
        count = MAX_RANGE + 1
    if count > MAX_RANGE:
        raise LimitError(f"a range has more than {MAX_RANGE:,} items")
    return items


def _units(values: Iterable[Any]) -> int:
    """Return the steps that the size of some values is worth."""
    steps = 0
    for value in values:
        if isinstance(value, str | bytes):
            steps += len(value) // _CHARACTERS
        elif isinstance(value, _COLLECTIONS):
            steps += len(value) // _ITEMS
    return steps


def _check_operands(operator: str, left: Any, right: Any) -> None:
    is_sized = (isinstance(left, str | bytes | list | tuple), isinstance(right, str | bytes | list | tuple))
    if operator == "%":
        if is_sized[0]:
            _check_format(left)
            _check_widths("%", right if isinstance(right, tuple) and "*" in left else ())
    elif operator == "+":
        if all(is_sized):
            _check_length("+", len(left) + len(right))
    elif operator == "*" and any(is_sized):
        sequence, count = (left, right) if is_sized[0] else (right, left)
        if isinstance(count, int):
            _check_length("*", len(sequence) * count)
    elif isinstance(left, int) and isinstance(right, int):
        bits = left.bit_length() * right if operator == "**" else left.bit_length() + right.bit_length()
        if bits > MOST_BITS and abs(left) > 1:
            raise LimitError(f"the result of {operator} has more than {MOST_BITS:,} bits")


def _check_length(what: str, length: int) -> None:
    if length > LONGEST_VALUE:
        raise LimitError(f"the result of {what} is longer than {LONGEST_VALUE:,}")


def _check_widths(what: str, values: Iterable[Any]) -> None:
    for value in values:
        if isinstance(value, int) and abs(value) > WIDEST:
            raise LimitError(f"{what} has the width {_shown(value)}, and the limit is {WIDEST:,}")


def _check_format(written: str | bytes) -> None:
    text = written if isinstance(written, str) else written.decode("latin-1")
    for number in _WIDTH.findall(text):
        if ("%" in text or "{" in text) and len(number.lstrip("0")) > len(str(WIDEST)):
            raise LimitError(f"a format has a width of {len(number)} digits, and the limit is {WIDEST:,}")


def _replaced(text: str, old: Any, new: Any) -> int:
    if not isinstance(old, str) or not isinstance(new, str):
        return 0
    return len(text) + text.count(old) * (len(new) - len(old))


def _shown(value: int) -> str:
    return f"{value:,}" if value.bit_length() < MOST_BITS.bit_length() * 4 else "of very many digits"


class Renderer:
    """Renders templates and keeps the last few compiled ones."""

    def __init__(self) -> None:
        self._environment = LimitedEnvironment()
        self._compiled: OrderedDict[str, jinja2.Template] = OrderedDict()

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the text of a template, or what is wrong: `kind`, `message`, and the `line` or None."""
        try:
            return {"text": self._render(request["template"], request["variables"])}
        except Exception as error:  # noqa: BLE001 - whatever a template raises is an answer
            kind, message, line = _described(error)
        return {"kind": kind, "message": message, "line": line}

    def _render(self, source: str, variables: Mapping[str, Any]) -> str:
        self._environment.steps = 0
        template = self._compiled.get(source)
        if template is None:
            tokens = self._environment.lexer.tokeniter(source, None)
            if sum(1 for _ in itertools.islice(tokens, MOST_TOKENS + 1)) > MOST_TOKENS:
                raise LimitError(f"it has more than {MOST_TOKENS:,} tokens")
            template = self._compiled[source] = self._environment.from_string(source)
            if len(self._compiled) > _KEPT:
                self._compiled.popitem(last=False)
        self._compiled.move_to_end(source)
        parts, length, limit = [], 0, LONGEST_OUTPUT + 4 * _length(variables.get("messages"))
        # Not by `render`, which rewrites each frame of a traceback.
        for part in template.root_render_func(template.new_context(dict(variables))):
            length += len(part)
            if length > limit:
                raise LimitError(f"it writes more than {limit:,} characters")
            parts.append(part)
        return "".join(parts)


def _length(messages: Any) -> int:
    return sum(len(text) for message in messages or () for text in message.values() if isinstance(text, str))


def _described(error: Exception) -> tuple[str, str, int | None]:
    if isinstance(error, jinja2.TemplateSyntaxError):
        return "syntax", _short(error.message or "a syntax error"), error.lineno
    line = _line(error.__traceback__)
    if isinstance(error, RefusedError):
        return "refused", _short(error.message or ""), line
    if isinstance(error, LimitError):
        return "limit", str(error), line
    if isinstance(error, RecursionError | SyntaxError):  # Python's, of the code that Jinja makes of the template
        return "limit", "it calls itself too often, or is nested too deep", line
    if isinstance(error, MemoryError):
        return "limit", f"it needs more than {MEMORY_BYTES >> 20} MB of memory", line
    if isinstance(error, jinja2.TemplateError):
        return "failed", _short(error.message or type(error).__name__), line
    return "failed", _short(f"{type(error).__name__}: {error}"), line


def _line(traceback: TracebackType | None) -> int | None:
    line = None
    while traceback is not None:
        template = traceback.tb_frame.f_globals.get("__jinja_template__")
        if isinstance(template, jinja2.Template):
            line = template.get_corresponding_lineno(traceback.tb_lineno)
        traceback = traceback.tb_next
    return line


def _short(text: str) -> str:
    text = " ".join(text[: 2 * _LONGEST_MESSAGE].split())
    return text if len(text) <= _LONGEST_MESSAGE else text[:_LONGEST_MESSAGE] + "…"


def read_message(stream: IO[bytes]) -> Any:
    """Read a message; None at the end of the stream."""
    head = stream.read(8)
    length = int.from_bytes(head)
    if len(head) < 8 or length > _LONGEST_MESSAGE_BYTES:
        return None
    body = stream.read(length)
    return json.loads(body) if len(body) == length else None


def write_message(stream: IO[bytes], message: Any) -> None:
    """Write a message."""
    body = json.dumps(message).encode("ascii")
    stream.write(len(body).to_bytes(8) + body)
    stream.flush()


def _limit(name: str, value: int) -> None:
    """Lower a limit of this process, where the platform has it."""
    if sys.platform != "win32" and hasattr(resource, name):
        kind = getattr(resource, name)
        _, hard = resource.getrlimit(kind)
        with contextlib.suppress(ValueError, OSError):  # macOS has the name of a limit of memory, and no such limit
            resource.setrlimit(kind, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


def _limit_processor_time() -> None:
    """Limit the processor time from now on, since that of earlier requests counts as well."""
    if sys.platform != "win32":
        used = resource.getrusage(resource.RUSAGE_SELF)
        _limit("RLIMIT_CPU", math.ceil(used.ru_utime + used.ru_stime) + CPU_SECONDS)


def serve() -> None:
    """Answer requests until the stream ends."""
    renderer, requests, answers = Renderer(), sys.stdin.buffer, sys.stdout.buffer
    _limit("RLIMIT_AS", MEMORY_BYTES)
    _limit("RLIMIT_CORE", 0)
    _limit("RLIMIT_FSIZE", 0)
    while (request := read_message(requests)) is not None:
        _limit_processor_time()
        write_message(answers, renderer.answer(request))


if __name__ == "__main__":
    serve()
