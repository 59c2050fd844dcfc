"""What becomes of a JSON Schema that is sent to a server as it is: keywords that the server drops or reads otherwise.

Sources, as of the releases named: llama.cpp, `grammars/README.md` (b10969),
"JSON Schemas → GBNF"; vLLM, `has_xgrammar_unsupported_json_features` of
`vllm/v1/structured_output/backend_xgrammar.py`; xgrammar 0.2.8 as measured by
our own benchmark; OpenAI's guide to structured outputs. Only keywords that the
schema really uses are told; the bodies with a grammar need none of this.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

_DATA: Final = frozenset({"enum", "const", "default", "examples"})
_MAPS: Final = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_RANGE: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_CONTAINS: Final = ("contains", "minContains", "maxContains")
_CONDITIONS: Final = ("not", "if", "then", "else", "dependentSchemas", "dependentRequired")

_DROPPED: Final = {
    "llama-server": ("uniqueItems", *_CONTAINS, *_CONDITIONS, "patternProperties", "propertyNames", "multipleOf"),
    "vllm": (),
    "sglang": ("uniqueItems", *_CONTAINS, *_CONDITIONS, "multipleOf", "patternProperties", "propertyNames"),
    "openai": (),
}
_REFUSED: Final = {
    "llama-server": (),
    "vllm": (),
    "sglang": (),
    "openai": ("allOf", *_CONDITIONS, "patternProperties", "propertyNames", "uniqueItems", *_CONTAINS),
}
_FALLS_BACK: Final = ("multipleOf", "uniqueItems", *_CONTAINS, "patternProperties", "propertyNames")


def schema_notes(server: str, schema: Any) -> tuple[str, ...]:
    """What a server makes of a schema otherwise than the standard says, a sentence each.

    Args:
        server: `llama-server`, `vllm`, `sglang` or `openai`.
        schema: as JSON data.
    """
    parts = list(_schemas(schema))
    used = {keyword for part in parts for keyword in part}
    notes = []
    if dropped := [keyword for keyword in _DROPPED[server] if keyword in used]:
        notes.append(f"It does not enforce {_listed(dropped)}, and does not say so.")
    if refused := [keyword for keyword in _REFUSED[server] if keyword in used]:
        notes.append(f"It refuses {_listed(refused)} with `strict`.")
    notes += {"llama-server": _llama, "vllm": _vllm, "sglang": _sglang, "openai": _openai}[server](parts, used)
    return tuple(notes)


def _llama(parts: list[dict[str, Any]], used: set[str]) -> Iterator[str]:
    if _leaves_open(parts):
        yield "Where `additionalProperties` is absent it takes objects as closed; the standard says open."
    if any(part.get("type") != "integer" and any(keyword in part for keyword in _RANGE) for part in parts):
        yield "It enforces bounds of integers only, not of other numbers."
    patterns = [part["pattern"] for part in parts if isinstance(part.get("pattern"), str)]
    if any(not (pattern.startswith("^") and pattern.endswith("$")) for pattern in patterns):
        yield "It takes only patterns from `^` to `$`; the standard says that a pattern is searched for."
    if any(("anyOf" in part or "oneOf" in part) and "properties" in part for part in parts):
        yield "It cannot mix `properties` with `anyOf` or `oneOf` in one place."
    if "prefixItems" in used:
        yield "Its `prefixItems` is known to be broken."
    if "oneOf" in used:
        yield "It reads `oneOf` as `anyOf`."


def _vllm(parts: list[dict[str, Any]], used: set[str]) -> Iterator[str]:
    falls = [keyword for keyword in _FALLS_BACK if keyword in used]
    if falls:
        yield f"With its automatic backend {_listed(falls)} makes it use llguidance; with xgrammar alone it refuses."
    yield from _xgrammar(parts, used)


def _sglang(parts: list[dict[str, Any]], used: set[str]) -> Iterator[str]:
    yield from _xgrammar(parts, used)


def _xgrammar(parts: list[dict[str, Any]], used: set[str]) -> Iterator[str]:
    if _leaves_open(parts):
        yield "xgrammar closes objects where `additionalProperties` is absent; the standard says open."
    if "oneOf" in used:
        yield "xgrammar reads `oneOf` as `anyOf`."
    if any(("pattern" in part or "format" in part) and ("minLength" in part or "maxLength" in part) for part in parts):
        yield "xgrammar drops `minLength` and `maxLength` beside a `pattern` or a `format`."


def _openai(parts: list[dict[str, Any]], _used: set[str]) -> Iterator[str]:
    if parts and parts[0].get("type") != "object":
        yield "It takes only an object at the root."
    if any("properties" in part and part.get("additionalProperties") is not False for part in parts):
        yield "It wants `additionalProperties` to be false in every object."
    if any(set(part.get("properties", ())) - set(part.get("required", ())) for part in parts):
        yield "It wants every property to be required; an optional one is written as a type that may be null."


def _leaves_open(parts: list[dict[str, Any]]) -> bool:
    return any("properties" in part and "additionalProperties" not in part for part in parts)


def _schemas(value: Any) -> Iterator[dict[str, Any]]:
    """The schema and all schemas within it; what is data or the name of a property is none."""
    if isinstance(value, list):
        for item in value:
            yield from _schemas(item)
    elif isinstance(value, dict):
        yield value
        for key, inner in value.items():
            if key in _MAPS and isinstance(inner, dict):
                yield from _schemas(list(inner.values()))
            elif key not in _DATA:
                yield from _schemas(inner)


def _listed(keywords: Sequence[str]) -> str:
    quoted = [f"`{keyword}`" for keyword in keywords]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
