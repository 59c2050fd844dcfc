"""The child process that renders chat templates within limits; `engine.models.chat_template` starts it.

A template comes with a model, so it is untrusted input. Iterations, calls and operators are counted, and sizes are
checked before memory is allocated, so that a template stops at the same step on every machine. The process also limits
its own memory and processor time, for work that is not counted (one long call into C).

The environment is that of `transformers`, for which the templates are written. This file runs as a script, outside of
its package, and imports only Jinja and the standard library, so that it starts in a tenth of a second.

Each request and each answer is its length in eight bytes, followed by JSON.
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
"""Whether the platform can limit memory and processor time; otherwise the parent ends this process after a timeout."""
MAX_TOKENS: Final = 40_000
"""Names, operators, texts and white space of a template; the longest known templates have some 10,000 tokens."""
MAX_STEPS: Final = 500_000
"""Iterations, calls and operators; each takes a few microseconds."""
MAX_OUTPUT: Final = 50_000
"""Characters, in addition to four times those of the messages; the window shows each token of a prompt."""
MAX_VALUE: Final = 4_000_000  # characters or items of the result of one operator
MAX_BITS: Final = 100_000  # of a number
MAX_WIDTH: Final = 10_000  # characters to pad to, and digits to round to
MEMORY_BYTES: Final = 512 << 20
CPU_SECONDS: Final = 6

_CHARACTERS_PER_STEP: Final = 64
_ITEMS_PER_STEP: Final = 4
_COLLECTIONS: Final = (list, tuple, dict, set, frozenset, range)
_CACHE_SIZE: Final = 8  # compiled templates
_MAX_ERROR_LENGTH: Final = 300
_MAX_MESSAGE_BYTES: Final = 256 << 20  # of a request or an answer
_PADDING: Final = frozenset({"center", "ljust", "rjust", "zfill", "expandtabs", "to_bytes"})
_PADDING_FILTERS: Final = frozenset({"center", "indent", "round", "batch", "slice", "tojson", "truncate", "wordwrap"})
_WIDTH = re.compile(r"\d+")


class LimitError(Exception):
    """A template exceeds a limit.

    Attributes:
        name: the name of the limit, by which the parent process finds the text.
        fields: the values of the fields of the text.
    """

    def __init__(self, name: str, /, **fields: object) -> None:
        super().__init__(name)
        self.name, self.fields = name, fields


class RefusedError(jinja2.TemplateError):
    """A template rejects the messages with `raise_exception`."""


class LimitedEnvironment(ImmutableSandboxedEnvironment):
    """The environment of `transformers`, with counted steps.

    Attributes:
        steps: the number of steps of the current render.
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
            LimitError: the limit of steps is exceeded.
        """
        self.steps += steps
        if self.steps > MAX_STEPS:
            raise LimitError("steps", limit=MAX_STEPS)

    def counted(self, iterable: Any) -> Any:
        """Return the iterable of a loop, with its items counted."""
        if isinstance(iterable, Iterator):
            return self._counted_items(iterable)
        self.charge(1 + (len(iterable) if isinstance(iterable, (str, *_COLLECTIONS)) else 0))
        return iterable

    def joined(self, value: Any) -> Any:
        """Return an operand of `~` unchanged; the call makes `call` count it."""
        return value

    def _counted_items(self, items: Iterator[Any]) -> Iterator[Any]:
        for item in items:
            self.charge(1)
            yield item

    def call(self, context: Context, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Call a function for a template, with its work counted."""
        owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
        self.charge(1 + _steps_of_size(args) + _steps_of_size((owner,)))
        if isinstance(owner, str | bytes | int) and name in _PADDING:
            _check_widths(name, (*args, *kwargs.values()))
        if isinstance(owner, str) and name == "replace" and len(args) >= 2:
            _check_length("replace", _length_after_replace(owner, args[0], args[1]))
        result = super().call(context, function, *args, **kwargs)
        self.charge(_steps_of_size((result,)))
        return result

    def call_binop(self, context: Context, operator: str, left: Any, right: Any) -> Any:
        """Apply an operator, if its result is not too large.

        Args:
            context: the context of the template.
            operator: the operator, such as `+`.
            left: the left operand.
            right: the right operand.
        """
        self.charge(1 + _steps_of_size((left, right)))
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
            self.charge(1 + _steps_of_size(args))
            if name in _PADDING_FILTERS:
                _check_widths(name, (*args[1:], *kwargs.values()))
            if name == "format" and args and isinstance(args[0], str):
                _check_format(args[0])
            result = function(*args, **kwargs)
            self.charge(_steps_of_size((result,)))
            return result

        return limited

    def _parse(self, source: str, name: str | None, filename: str | None) -> nodes.Template:
        return _CountSteps(self).visit(super()._parse(source, name, filename))  # type: ignore[no-any-return]


class _UnfoldedCodeGenerator(CodeGenerator):
    def _output_child_to_const(self, node: nodes.Expr, frame: Frame, finalize: Any) -> str:
        if not isinstance(node, nodes.TemplateData):
            raise nodes.Impossible  # no constant folding: expressions are evaluated in a render, which counts steps
        return super()._output_child_to_const(node, frame, finalize)


LimitedEnvironment.code_generator_class = _UnfoldedCodeGenerator


class _CountSteps(NodeTransformer):
    """A transformer that adds calls to count loops and the operator `~`, for which Jinja has no hooks."""

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
    """The tag `{% generation %}`, which marks text of the assistant; its content is rendered unchanged."""

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
    """A namespace without names that begin with an underscore, as in `transformers`."""

    def __init__(*args: Any, **kwargs: Any) -> None:  # no `self` parameter: `namespace(self=…)` is allowed
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


def _strftime_now(format_text: str) -> str:
    _check_format(format_text)
    return datetime.now().strftime(format_text)  # noqa: DTZ005 - templates expect the local date


def _range(*args: int) -> range:
    items = range(*args)
    try:
        count = len(items)
    except OverflowError:
        count = MAX_RANGE + 1
    if count > MAX_RANGE:
        raise LimitError("range", limit=MAX_RANGE)
    return items


def _steps_of_size(values: Iterable[Any]) -> int:
    """Return the number of steps that the size of some values counts as."""
    steps = 0
    for value in values:
        if isinstance(value, str | bytes):
            steps += len(value) // _CHARACTERS_PER_STEP
        elif isinstance(value, _COLLECTIONS):
            steps += len(value) // _ITEMS_PER_STEP
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
        if bits > MAX_BITS and abs(left) > 1:
            raise LimitError("bits", operator=operator, limit=MAX_BITS)


def _check_length(what: str, length: int) -> None:
    if length > MAX_VALUE:
        raise LimitError("length", operator=what, limit=MAX_VALUE)


def _check_widths(what: str, values: Iterable[Any]) -> None:
    for value in values:
        if isinstance(value, int) and abs(value) > MAX_WIDTH:
            raise LimitError("width", name=what, limit=MAX_WIDTH)


def _check_format(format_text: str | bytes) -> None:
    text = format_text if isinstance(format_text, str) else format_text.decode("latin-1")
    for number in _WIDTH.findall(text):
        if ("%" in text or "{" in text) and len(number.lstrip("0")) > len(str(MAX_WIDTH)):
            raise LimitError("format", digits=len(number), limit=MAX_WIDTH)


def _length_after_replace(text: str, old: Any, new: Any) -> int:
    if not isinstance(old, str) or not isinstance(new, str):
        return 0
    return len(text) + text.count(old) * (len(new) - len(old))


class Renderer:
    """A renderer of templates, which caches the most recent compiled ones."""

    def __init__(self) -> None:
        self._environment = LimitedEnvironment()
        self._compiled: OrderedDict[str, jinja2.Template] = OrderedDict()

    def answer(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """Return the rendered text, or an error with its `line` or None: a `limit`, or a `kind` and a `message`."""
        try:
            return {"text": self._render(request["template"], request["variables"])}
        except Exception as error:  # noqa: BLE001 - a template may raise anything
            if limit := _exceeded_limit(error):
                return {"limit": limit.name, "fields": limit.fields, "line": _template_line(error.__traceback__)}
            kind, message, line = _describe_error(error)
        return {"kind": kind, "message": message, "line": line}

    def _render(self, source: str, variables: Mapping[str, Any]) -> str:
        self._environment.steps = 0
        template = self._compiled.get(source)
        if template is None:
            tokens = self._environment.lexer.tokeniter(source, None)
            if sum(1 for _ in itertools.islice(tokens, MAX_TOKENS + 1)) > MAX_TOKENS:
                raise LimitError("tokens", limit=MAX_TOKENS)
            template = self._compiled[source] = self._environment.from_string(source)
            if len(self._compiled) > _CACHE_SIZE:
                self._compiled.popitem(last=False)
        self._compiled.move_to_end(source)
        parts, length, limit = [], 0, MAX_OUTPUT + 4 * _message_length(variables.get("messages"))
        # Not `template.render`, which rewrites the traceback that `_template_line` needs.
        for part in template.root_render_func(template.new_context(dict(variables))):
            length += len(part)
            if length > limit:
                raise LimitError("output", limit=limit)
            parts.append(part)
        return "".join(parts)


def _message_length(messages: Any) -> int:
    return sum(len(text) for message in messages or () for text in message.values() if isinstance(text, str))


def _exceeded_limit(error: Exception) -> LimitError | None:
    if isinstance(error, LimitError):
        return error
    if isinstance(error, jinja2.TemplateSyntaxError):
        return None
    if isinstance(error, RecursionError | SyntaxError):  # raised by Python for the code that Jinja generates
        return LimitError("nesting")
    return LimitError("memory", limit=MEMORY_BYTES >> 20) if isinstance(error, MemoryError) else None


def _describe_error(error: Exception) -> tuple[str, str, int | None]:
    if isinstance(error, jinja2.TemplateSyntaxError):
        return "syntax", _short(error.message or type(error).__name__), error.lineno
    line = _template_line(error.__traceback__)
    if isinstance(error, RefusedError):
        return "refused", _short(error.message or ""), line
    if isinstance(error, jinja2.TemplateError):
        return "failed", _short(error.message or type(error).__name__), line
    return "failed", _short(f"{type(error).__name__}: {error}"), line


def _template_line(traceback: TracebackType | None) -> int | None:
    line = None
    while traceback is not None:
        template = traceback.tb_frame.f_globals.get("__jinja_template__")
        if isinstance(template, jinja2.Template):
            line = template.get_corresponding_lineno(traceback.tb_lineno)
        traceback = traceback.tb_next
    return line


def _short(text: str) -> str:
    text = " ".join(text[: 2 * _MAX_ERROR_LENGTH].split())
    return text if len(text) <= _MAX_ERROR_LENGTH else text[:_MAX_ERROR_LENGTH] + "…"


def read_message(stream: IO[bytes]) -> Any:
    """Read a message; None at the end of the stream."""
    header = stream.read(8)
    length = int.from_bytes(header)
    if len(header) < 8 or length > _MAX_MESSAGE_BYTES:
        return None
    body = stream.read(length)
    return json.loads(body) if len(body) == length else None


def write_message(stream: IO[bytes], message: Any) -> None:
    """Write a message."""
    body = json.dumps(message).encode("ascii")
    stream.write(len(body).to_bytes(8) + body)
    stream.flush()


def _limit(name: str, value: int) -> None:
    """Lower a resource limit of this process if the platform has it."""
    if sys.platform != "win32" and hasattr(resource, name):
        kind = getattr(resource, name)
        _, hard = resource.getrlimit(kind)
        with contextlib.suppress(ValueError, OSError):  # macOS defines the memory limit but does not support it
            resource.setrlimit(kind, (value if hard == resource.RLIM_INFINITY else min(value, hard), hard))


def _limit_processor_time() -> None:
    """Limit the processor time of the next request; the system counts that of earlier ones too."""
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
