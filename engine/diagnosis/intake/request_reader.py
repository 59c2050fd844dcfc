"""Requests: the constraints and settings of a body, in the fields of all servers that Turnstile knows.

Each constraint keeps its JSON Pointer in the request, so that a verdict can name the tool and the keyword.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

from engine.diagnosis.case import FailureCase, IntakeFinding, Message, RequestConstraint
from engine.diagnosis.intake.languages import is_lark, xgrammar_constructs
from engine.diagnosis.intake.literals import PastedValue
from engine.diagnosis.intake.sampling import read_sampling
from engine.diagnosis.intake.schema_words import has_schema_keyword
from engine.diagnosis.intake.servers import interface_of, server_of
from engine.grammar.options import CompileOptions
from engine.notations import NOTATIONS
from engine.source.json_pointer import escape_step

Path = tuple[str | int, ...]

_ANY_OBJECT: Final = '{"type": "object"}\n'
_STRONG_FIELDS: Final = frozenset(
    """messages response_format functions structured_outputs guided_json guided_regex guided_choice guided_grammar
    sampling_params grammar_lazy grammar_triggers json_schema extra_body input_ids max_completion_tokens
    max_output_tokens n_predict tool_choice structural_tag keep_alive guided_decoding chat_template_kwargs
    guided_decoding_backend""".split()
)
"""Fields of which one shows that an object is a request."""
_WEAK_FIELDS: Final = frozenset(
    """model prompt input tools grammar regex ebnf max_tokens temperature top_p top_k stream choice format
    options""".split()
)
"""Fields of which two do: an output may well have a `temperature`."""
_STRUCTURED: Final = {
    "json": "json_schema",
    "json_schema": "json_schema",
    "schema": "json_schema",
    "regex": "regex",
    "grammar": "gbnf",
    "ebnf": "gbnf",
}
"""The fields of vLLM's and SGLang's structured outputs that have a grammar, with its notation."""
_TOP: Final = {
    "guided_json": "json_schema",
    "guided_regex": "regex",
    "guided_grammar": "gbnf",
    "json_schema": "json_schema",
    "regex": "regex",
    "ebnf": "gbnf",
    "grammar": "gbnf",
}
_NUMBERS: Final = {
    "max_tokens": (
        "max_tokens",
        "max_completion_tokens",
        "max_output_tokens",
        "n_predict",
        "max_new_tokens",
        "num_predict",
    ),
    "min_tokens": ("min_tokens", "min_new_tokens"),
    "top_k": ("top_k",),
    "seed": ("seed", "sampling_seed"),
    "context": ("num_ctx", "n_ctx"),
}
_CODE: Final = re.compile(r"\w+(?:\.\w+)*(?:\(.*\))?", re.DOTALL)
_HOLDERS: Final = ("extra_body", "sampling_params", "options", "generation_config")
"""The objects in which settings may be, beside the body itself."""


def is_request(value: Any) -> bool:
    """Return whether a value is a request body, or a part of one that has a constraint."""
    if isinstance(value, list):
        return bool(value) and all(_is_tool(one) for one in value)
    if not isinstance(value, dict):
        return False
    if _is_tool(value) or _is_format(value) or _is_wrapper(value):
        return True
    if "choices" in value or "$schema" in value or _names_type(value):
        return False
    if _is_text_format(value.get("text")):
        return True
    if has_schema_keyword(value) and "messages" not in value and "prompt" not in value:
        return False
    return bool(value.keys() & _STRONG_FIELDS) or len(value.keys() & _WEAK_FIELDS) > 1 or _has_tools(value)


def _is_text_format(text: Any) -> bool:
    """Return whether a value is the field `text` of the responses interface."""
    return isinstance(text, dict) and isinstance(text.get("format"), dict) and _is_format(text["format"])


def _has_tools(value: Mapping[str, Any]) -> bool:
    tools = value.get("tools")
    return isinstance(tools, list) and bool(tools) and all(_is_tool(one) for one in tools)


def _names_type(value: Mapping[str, Any]) -> bool:
    """Return whether an object is a schema by its `type`, whatever else it has."""
    return value.get("type") in ("object", "array", "string") and "properties" in value


def _is_tool(value: Any) -> bool:
    if not isinstance(value, dict):
        return False
    function = value.get("function")
    if value.get("type") in ("function", "custom") and (isinstance(function, dict) or "name" in value):
        return "arguments" not in (function or value)
    named = isinstance(value.get("name"), str)
    return named and any(isinstance(value.get(key), dict) for key in ("parameters", "input_schema", "inputSchema"))


def _is_format(value: Mapping[str, Any]) -> bool:
    return value.get("type") in ("json_schema", "structural_tag", "grammar") or (
        value.get("type") == "json_object" and value.keys() <= {"type", "schema"}
    )


def _is_wrapper(value: Mapping[str, Any]) -> bool:
    """Return whether an object is what `json_schema` has in it: a schema with its name."""
    inner = value.get("schema")
    return isinstance(inner, dict) and value.keys() <= {"name", "schema", "strict", "description"}


def read_request(pasted: PastedValue, url: str = "") -> FailureCase:
    """Return what a request asks for.

    Args:
        pasted: the body, or a part of one such as `response_format`, a tool or a list of tools.
        url: the address that it is sent to, if known.
    """
    return _RequestReader(pasted, url).read()


class _RequestReader:
    """Reads one request."""

    def __init__(self, pasted: PastedValue, url: str) -> None:
        self._pasted, self._url = pasted, url
        self._constraints: list[RequestConstraint] = []
        self._findings: list[IntakeFinding] = []
        self._triggers: list[str] = []
        self._is_lazy = False

    def read(self) -> FailureCase:
        """Return the case."""
        body = self._pasted.value
        if isinstance(body, list):
            self._tools(body, ())
            return self._case({})
        if _is_tool(body):
            self._tool(body, ())
            return self._case({})
        if _is_format(body) or _is_wrapper(body):
            self._format(body, (), "response_format")
            return self._case({})
        self._body(body, ())
        return self._case(body)

    def _body(self, body: Mapping[str, Any], path: Path) -> None:
        self._formats(body, path)
        for name in ("structured_outputs", "guided_decoding", "sampling_params"):
            inner = body.get(name)
            if isinstance(inner, dict):
                self._structured(inner, (*path, name), "structured_outputs" if name == "guided_decoding" else name)
        for name, notation in _TOP.items():
            if body.get(name) not in (None, "", {}):
                self._grammar(notation, body[name], (*path, name), name)
        for name in ("guided_choice", "choice"):
            if isinstance(body.get(name), list):
                self._choice(body[name], (*path, name), name)
        if body.get("structural_tag"):
            self._structural_tag(body["structural_tag"], (*path, "structural_tag"), "structural_tag")
        for name in ("tools", "functions"):
            if isinstance(body.get(name), list):
                self._tools(body[name], (*path, name))
        self._lazy(body)
        if isinstance(body.get("extra_body"), dict):
            self._body(body["extra_body"], (*path, "extra_body"))

    # --- constraints

    def _formats(self, body: Mapping[str, Any], path: Path) -> None:
        text = body.get("text")
        if isinstance(text, dict) and isinstance(text.get("format"), dict):
            self._format(text["format"], (*path, "text", "format"), "text.format")
        if isinstance(body.get("response_format"), dict):
            self._format(body["response_format"], (*path, "response_format"), "response_format")
        self._ollama_format(body, path)

    def _format(self, format_: Mapping[str, Any], path: Path, way: str) -> None:
        """Read a `response_format`, or what has its form."""
        first = len(self._constraints)
        self._format_by_type(format_, path, way)
        inner = format_.get("json_schema")
        self._mark_strict(first, inner if isinstance(inner, dict) else {}, format_)

    def _mark_strict(self, first: int, *holders: Mapping[str, Any]) -> None:
        """Set `is_strict` of the constraints from an index on, by the first holder that has the field."""
        strict = next((one["strict"] for one in holders if isinstance(one.get("strict"), bool)), None)
        self._constraints[first:] = [replace(one, is_strict=strict) for one in self._constraints[first:]]

    def _format_by_type(self, format_: Mapping[str, Any], path: Path, way: str) -> None:
        kind = format_.get("type")
        if kind == "structural_tag":
            self._structural_tag(format_, path, way)
        elif kind in ("grammar", "regex"):
            for name in ("grammar", "regex", "pattern", "value", "definition"):
                if isinstance(format_.get(name), str):
                    notation = "regex" if "regex" in (kind, name) else "gbnf"
                    self._grammar(notation, format_[name], (*path, name), way)
                    return
        elif isinstance(format_.get("json_schema"), dict):
            inner = format_["json_schema"]
            if isinstance(inner.get("schema"), dict | bool):
                self._grammar("json_schema", inner["schema"], (*path, "json_schema", "schema"), way)
            else:
                self._grammar("json_schema", inner, (*path, "json_schema"), way)
        elif isinstance(format_.get("schema"), dict | bool | str) and format_["schema"]:
            self._grammar("json_schema", format_["schema"], (*path, "schema"), way)
        elif kind == "json_object":
            self._add("json_schema", _ANY_OBJECT, path, way)
        elif kind == "json_schema":
            self._note("no-schema", path)

    def _ollama_format(self, body: Mapping[str, Any], path: Path) -> None:
        format_ = body.get("format")
        if format_ == "json":
            self._add("json_schema", _ANY_OBJECT, (*path, "format"), "format")
        elif isinstance(format_, str) and format_.lstrip().startswith("{"):
            self._grammar("json_schema", format_, (*path, "format"), "format")
        elif isinstance(format_, dict) and format_:
            if _is_format(format_):
                self._format(format_, (*path, "format"), "format")
            else:
                self._grammar("json_schema", format_, (*path, "format"), "format")

    def _structured(self, inner: Mapping[str, Any], path: Path, way: str) -> None:
        for name, notation in _STRUCTURED.items():
            if inner.get(name) not in (None, "", {}):
                self._grammar(notation, inner[name], (*path, name), way, self._whitespace(inner))
        if isinstance(inner.get("choice"), list):
            self._choice(inner["choice"], (*path, "choice"), way)
        if inner.get("json_object") is True:
            self._add("json_schema", _ANY_OBJECT, (*path, "json_object"), way)
        if inner.get("structural_tag"):
            self._structural_tag(inner["structural_tag"], (*path, "structural_tag"), way)

    @staticmethod
    def _whitespace(inner: Mapping[str, Any]) -> CompileOptions:
        return (
            CompileOptions(whitespace="one-space") if inner.get("disable_any_whitespace") is True else CompileOptions()
        )

    def _choice(self, choices: list[Any], path: Path, way: str) -> None:
        """Read a list of texts, as a grammar that allows each of them."""
        texts = [one for one in choices if isinstance(one, str)]
        if texts:
            quoted = " | ".join(json.dumps(one, ensure_ascii=False).replace("\\/", "/") for one in texts)
            self._add("gbnf", f"root ::= {quoted}\n", path, way)

    def _structural_tag(self, tag: Any, path: Path, way: str) -> None:
        """Read a structural tag of either form: `structures` with `triggers`, or a tree of formats."""
        if isinstance(tag, str):
            try:
                tag = json.loads(tag)
            except (ValueError, RecursionError):
                self._note("unreadable-part", path)
                return
            self._nested_text(tag, path, way)
            return
        if not isinstance(tag, dict):
            return
        self._is_lazy = True
        if isinstance(tag.get("structures"), list):
            for index, structure in enumerate(tag["structures"]):
                if isinstance(structure, dict) and isinstance(structure.get("schema"), dict):
                    place = (*path, "structures", index, "schema")
                    self._grammar(
                        "json_schema", structure["schema"], place, way, tool=_tag_name(structure.get("begin"))
                    )
            self._triggers += [one for one in tag.get("triggers") or () if isinstance(one, str)]
            return
        self._tag_format(tag.get("format"), (*path, "format"), way, "")

    def _nested_text(self, tag: Any, path: Path, way: str) -> None:
        """Read a structural tag that is JSON in a string; its parts have the pointer of the string."""
        inner = _RequestReader(PastedValue(tag, ""), self._url)
        inner._structural_tag(tag, (), way)
        self._is_lazy = self._is_lazy or inner._is_lazy
        self._triggers += inner._triggers
        self._findings += inner._findings
        self._constraints += [replace(one, pointer=_pointer(path)) for one in inner._constraints]

    def _tag_format(self, format_: Any, path: Path, way: str, begin: str) -> None:
        if not isinstance(format_, dict):
            return
        kind = format_.get("type")
        if kind in ("json_schema", "qwen_xml_parameter") and isinstance(format_.get("json_schema"), dict | bool):
            place = (*path, "json_schema")
            self._grammar("json_schema", format_["json_schema"], place, way, tool=_tag_name(begin))
        elif kind == "regex" and isinstance(format_.get("pattern"), str):
            self._grammar("regex", format_["pattern"], (*path, "pattern"), way, tool=_tag_name(begin))
        elif kind == "grammar" and isinstance(format_.get("grammar"), str):
            self._grammar("gbnf", format_["grammar"], (*path, "grammar"), way, tool=_tag_name(begin))
        begins = format_.get("begin", begin)
        begin = begins if isinstance(begins, str) else begin
        if kind == "triggered_tags":
            self._triggers += [one for one in format_.get("triggers") or () if isinstance(one, str)]
        elif kind == "tag" and begin and not self._triggers:
            self._triggers.append(begin)
        for name in ("content", "format"):
            self._tag_format(format_.get(name), (*path, name), way, begin)
        for name in ("elements", "tags"):
            for index, inner in enumerate(format_.get(name) or ()):
                self._tag_format(inner, (*path, name, index), way, begin)

    def _tools(self, tools: list[Any], path: Path) -> None:
        for index, tool in enumerate(tools):
            if isinstance(tool, dict):
                first = len(self._constraints)
                self._tool(tool, (*path, index))
                function = tool.get("function")
                self._mark_strict(first, function if isinstance(function, dict) else {}, tool)

    def _tool(self, tool: Mapping[str, Any], path: Path) -> None:
        holder, place = tool, path
        for name in ("function", "custom"):
            if isinstance(tool.get(name), dict):
                holder, place = tool[name], (*path, name)
        title = str(holder.get("name", ""))
        custom = holder.get("format")
        if isinstance(custom, dict) and custom.get("type") == "grammar":
            self._custom_tool(custom, (*place, "format"), title)
            return
        for name in ("parameters", "input_schema", "inputSchema"):
            if isinstance(holder.get(name), dict):
                self._grammar("json_schema", holder[name], (*place, name), "tools", tool=title)
                return
        if title and tool.get("type") != "custom":
            self._add("json_schema", _ANY_OBJECT, place, "tools", tool=title)

    def _custom_tool(self, format_: Mapping[str, Any], path: Path, title: str) -> None:
        inner = format_["grammar"] if isinstance(format_.get("grammar"), dict) else format_
        definition = inner.get("definition")
        if isinstance(definition, str):
            notation = "regex" if inner.get("syntax") == "regex" else "gbnf"
            self._grammar(notation, definition, (*path, "definition"), "tools", tool=title)

    def _grammar(
        self,
        notation: str,
        value: Any,
        path: Path,
        way: str,
        options: CompileOptions | None = None,
        *,
        tool: str = "",
    ) -> None:
        """Add a constraint; a schema may be JSON in a string.

        Args:
            notation: its notation.
            value: the schema or the text.
            path: its place in the request.
            way: the field that asks for it.
            options: its compile options.
            tool: the tool whose arguments it describes.
        """
        if not NOTATIONS[notation].describes_json:
            if isinstance(value, str) and self._is_readable(notation, value, path):
                self._add(notation, value, path, way, options, tool=tool)
            return
        schema, text = value, ""
        if isinstance(value, str):
            try:
                schema, text = json.loads(value), value
            except (ValueError, RecursionError):
                if _CODE.fullmatch(value):  # such as `Answer.model_json_schema()`
                    self._note("computed-schema", path, code=value)
                    return
                self._add("json_schema", value, path, way, options, tool=tool)
                self._note("text-schema", path)
                return
        if isinstance(schema, dict) and isinstance(schema.get("schema"), dict) and not has_schema_keyword(schema):
            if not text:
                self._grammar("json_schema", schema["schema"], (*path, "schema"), way, options, tool=tool)
                return
            text = json.dumps(schema["schema"], ensure_ascii=False, indent=2) + "\n"
        if isinstance(schema, dict) and schema and not has_schema_keyword(schema):
            self._note("no-keyword", path)
        self._add("json_schema", text or self._pasted.source(path), path, way, options, tool=tool)

    def _is_readable(self, notation: str, text: str, path: Path) -> bool:
        """Return whether a grammar of rules is in a notation that Turnstile reads; report it if not."""
        if NOTATIONS[notation].is_expression:
            return True
        if is_lark(text):
            self._note("lark", path)
            return False
        if found := xgrammar_constructs(text):
            self._note("xgrammar", path, constructs=", ".join(found))
            return False
        return True

    def _add(
        self, notation: str, text: str, path: Path, way: str, options: CompileOptions | None = None, *, tool: str = ""
    ) -> None:
        options = options or CompileOptions()
        made = RequestConstraint(notation, text, options, way, _pointer(path), tool)
        if made not in self._constraints:
            self._constraints.append(made)

    def _note(self, name: str, path: Path, **values: str) -> None:
        pointer = _pointer(path)
        self._findings.append(IntakeFinding(name, pointer, {"pointer": pointer or "/", **values}))

    def _lazy(self, body: Mapping[str, Any]) -> None:
        self._is_lazy = self._is_lazy or body.get("grammar_lazy") is True
        for trigger in body.get("grammar_triggers") or ():
            word = trigger if isinstance(trigger, str) else None
            if isinstance(trigger, dict):
                word = trigger.get("word", trigger.get("value"))
            if isinstance(word, str) and word:
                self._triggers.append(word)

    # --- settings

    def _case(self, body: Mapping[str, Any]) -> FailureCase:
        case = FailureCase(
            constraints=tuple(self._constraints),
            findings=tuple(self._findings),
            is_lazy=self._is_lazy,
            triggers=tuple(dict.fromkeys(self._triggers)),
        )
        if not body:
            return case
        holders = [body, *(body[name] for name in _HOLDERS if isinstance(body.get(name), dict))]
        numbers = {field: _number(holders, names) for field, names in _NUMBERS.items()}
        messages = tuple(_messages(body))
        server = server_of(body, self._url)
        sampling, unread = read_sampling(holders, server)
        if unread:
            self._note("sampling", (), names=", ".join(unread))
        prefill = messages[-1].content if messages and messages[-1].role == "assistant" else ""
        return replace(
            case,
            findings=tuple(self._findings),
            sampling=sampling,
            max_tokens=numbers["max_tokens"],
            min_tokens=numbers["min_tokens"],
            top_k=numbers["top_k"],
            seed=numbers["seed"],
            context=numbers["context"],
            server=server,
            model=str(body["model"]) if isinstance(body.get("model"), str) else "",
            interface=interface_of(body, self._url),
            tool_choice=_tool_choice(body),
            messages=messages[:-1] if prefill else messages,
            prefill=prefill,
            prompt=_prompt(body),
            prompt_ids=_prompt_ids(body),
            temperature=_temperature(holders),
            stop=_stops(holders),
            stop_ids=_stop_ids(holders),
            thinking=_thinking(body),
        )


def _pointer(path: Path) -> str:
    return "".join(f"/{escape_step(str(step))}" for step in path)


def _tag_name(begin: Any) -> str:
    """Return the name of the function that a tag begins, such as `f` of `<function=f>`."""
    if not isinstance(begin, str):
        return ""
    for mark in ("<function=", '"name": "', '"name":"'):
        _, found, rest = begin.partition(mark)
        if found:
            return rest.split(">")[0].split('"')[0]
    return ""


def _number(holders: list[Mapping[str, Any]], names: tuple[str, ...]) -> int | None:
    for holder in holders:
        for name in names:
            value = holder.get(name)
            if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
                return value
    return None


def _temperature(holders: list[Mapping[str, Any]]) -> float | None:
    for holder in holders:
        value = holder.get("temperature")
        if isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    return None


def _stops(holders: list[Mapping[str, Any]]) -> tuple[str, ...]:
    found: list[str] = []
    for holder in holders:
        value = holder.get("stop", holder.get("stop_sequences"))
        found += [value] if isinstance(value, str) else [one for one in value or () if isinstance(one, str)]
    return tuple(dict.fromkeys(one for one in found if one))


def _stop_ids(holders: list[Mapping[str, Any]]) -> tuple[int, ...]:
    values = [one for holder in holders for one in holder.get("stop_token_ids") or ()]
    return tuple(one for one in values if isinstance(one, int) and not isinstance(one, bool))


def _messages(body: Mapping[str, Any]) -> Iterator[Message]:
    if isinstance(body.get("instructions"), str):
        yield Message("system", body["instructions"])
    if isinstance(body.get("system"), str):
        yield Message("system", body["system"])
    items = body.get("messages")
    if not isinstance(items, list):
        items = body.get("input")
    for item in items if isinstance(items, list) else ():
        if isinstance(item, dict) and isinstance(item.get("role"), str):
            yield Message(item["role"], text_of(item.get("content")))


def text_of(content: Any) -> str:
    """Return the text of a message's content: a string, or a list of parts."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else ()
    return "".join(str(part.get("text") or "") if isinstance(part, dict) else str(part) for part in parts)


def _prompt(body: Mapping[str, Any]) -> str:
    for name in ("prompt", "input", "text"):
        value = body.get(name)
        if isinstance(value, str):
            return value
        if name == "prompt" and isinstance(value, list) and value and isinstance(value[0], str):
            return value[0]
    return ""


def _prompt_ids(body: Mapping[str, Any]) -> tuple[int, ...]:
    """Return the prompt of a request that gives it as token ids; of several prompts, the first."""
    for name in ("prompt", "input_ids", "prompt_token_ids"):
        value = body.get(name)
        if isinstance(value, list) and value and isinstance(value[0], list):
            value = value[0]
        if isinstance(value, list) and value and all(isinstance(one, int) and one is not True for one in value):
            return tuple(value)
    return ()


def _tool_choice(body: Mapping[str, Any]) -> str:
    choice = body.get("tool_choice", body.get("function_call"))
    if isinstance(choice, str):
        return choice
    if isinstance(choice, dict):
        function = choice.get("function")
        name = function.get("name") if isinstance(function, dict) else choice.get("name")
        return str(name or choice.get("type") or "")
    return ""


def _thinking(body: Mapping[str, Any]) -> bool | None:
    extra = body.get("extra_body")
    for holder in (body, extra if isinstance(extra, dict) else {}):
        template = holder.get("chat_template_kwargs")
        for name in ("enable_thinking", "thinking"):
            if isinstance(template, dict) and isinstance(template.get(name), bool):
                return bool(template[name])
        for name in ("think", "enable_thinking"):
            if isinstance(holder.get(name), bool):
                return bool(holder[name])
        if holder.get("reasoning_budget") == 0 or holder.get("reasoning_effort") == "none":
            return False
        if isinstance(holder.get("reasoning_effort"), str) or isinstance(holder.get("think"), str):
            return True
    return None
