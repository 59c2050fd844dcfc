"""Notes on how servers treat a JSON Schema: what they ignore, refuse or interpret differently.

Sources, as of the releases named: llama.cpp v0.5.0, `common/json-schema.cpp`; vLLM 0.33,
`has_xgrammar_unsupported_json_features` and `has_guidance_unsupported_json_features` in
`vllm/v1/structured_output`; SGLang 0.5.23, `validate_xgrammar_json_schema` in
`sglang/srt/constrained/json_schema_validation.py`; xgrammar 0.2.8 and llguidance 1.9.1 as measured on
one schema for each keyword; OpenAI's guide to structured outputs. Only keywords that the schema uses are mentioned;
request bodies with a grammar need no notes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

_DATA: Final = frozenset({"enum", "const", "default", "examples"})
_MAPS: Final = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_RANGE: Final = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")
_LENGTHS: Final = ("minLength", "maxLength")
_CONTAINS: Final = ("contains", "minContains", "maxContains")
_CONDITIONS: Final = ("not", "if", "then", "else", "dependentSchemas", "dependentRequired")
_UNEVALUATED: Final = ("unevaluatedProperties", "unevaluatedItems")
_FORMATS: Final = frozenset(
    "date date-time duration email hostname ipv4 ipv6 json-pointer relative-json-pointer time uri uri-reference "
    "uri-template uuid".split()
)
"""The formats that xgrammar knows."""

_LLAMA_DROPS: Final = (
    *("uniqueItems", *_CONTAINS, *_CONDITIONS, "dependencies", "patternProperties", "propertyNames", "multipleOf"),
    *("minProperties", "maxProperties", *_UNEVALUATED, "$dynamicRef"),
)
_XGRAMMAR_DROPS: Final = ("uniqueItems", *_CONTAINS, *_CONDITIONS, "dependencies", "$dynamicRef")
_SGLANG_REFUSES: Final = ("uniqueItems", *_CONTAINS, *_CONDITIONS, "multipleOf")
_LLGUIDANCE_REFUSES: Final = (
    *("uniqueItems", *_CONTAINS, *_CONDITIONS, "dependencies", "propertyNames", *_UNEVALUATED, "$dynamicRef"),
)
_ASSERTS: Final = frozenset(
    "type enum const required properties additionalProperties patternProperties items prefixItems minItems maxItems "
    "minimum maximum minLength maxLength pattern format minProperties maxProperties".split()
)
_OF_OBJECTS: Final = ("properties", "additionalProperties")
_OF_ARRAYS: Final = ("items", "prefixItems")
_NEEDS_TYPE: Final[dict[str, tuple[str, ...]]] = {
    **dict.fromkeys((*_RANGE, "multipleOf", "pattern", "format", *_LENGTHS), ()),
    **dict.fromkeys(("required", "patternProperties", "propertyNames", "minProperties", "maxProperties"), _OF_OBJECTS),
    **dict.fromkeys(("minItems", "maxItems"), _OF_ARRAYS),
}
"""Keywords from which xgrammar does not infer a type, with sibling keywords from which it does."""
_OPENAI_REFUSES: Final = ("allOf", *_CONDITIONS, "patternProperties", "propertyNames", "uniqueItems", *_CONTAINS)


def schema_notes(server: str, schema: Any) -> tuple[str, ...]:
    """Describe where a server's treatment of a schema differs from the standard, a sentence each.

    Args:
        server: `llama-server`, `vllm`, `sglang` or `openai`.
        schema: as JSON data.
    """
    parts = list(_schemas(schema))
    used = {keyword for part in parts for keyword in part}
    return tuple({"llama-server": _llama, "vllm": _vllm, "sglang": _sglang, "openai": _openai}[server](parts, used))


def _dropped(keywords: Iterable[str]) -> Iterator[str]:
    if found := list(keywords):
        yield f"It does not enforce {_listed(found)}, and does not say so."


def _llama(parts: list[dict[str, Any]], used: set[str]) -> Iterator[str]:
    yield from _dropped(keyword for keyword in _LLAMA_DROPS if keyword in used)
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
    leaving = list(dict.fromkeys(keyword for part in parts for keyword in _not_for_xgrammar_in_vllm(part)))
    refused = [keyword for keyword in _LLGUIDANCE_REFUSES if keyword in used]
    if not leaving:
        yield from _dropped(keyword for keyword in _XGRAMMAR_DROPS if keyword in used)
        yield from _xgrammar(parts, used)
        return
    yield f"With xgrammar alone it refuses {_listed(leaving)}."
    if "patternProperties" in used:
        yield "Its automatic backend then uses outlines, because of `patternProperties`."
    elif refused:
        yield f"Its automatic backend then uses llguidance, which refuses {_listed(refused)}: so does the server."
    else:
        yield "Its automatic backend then uses llguidance."


def _not_for_xgrammar_in_vllm(part: dict[str, Any]) -> Iterator[str]:
    """Yield the keywords of a schema for which vLLM does not use xgrammar.

    It checks them only with a declared `type`.
    """
    declared = part.get("type")
    types = {declared} if isinstance(declared, str) else set(declared) if isinstance(declared, list) else set()
    if types & {"integer", "number"} and "multipleOf" in part:
        yield "multipleOf"
    if "array" in types:
        yield from (keyword for keyword in ("uniqueItems", *_CONTAINS) if keyword in part)
    if "string" in types:
        yield from _unknown_format(part)
        yield from _beside_a_length(part)
    if "object" in types:
        if "propertyNames" in part and _names_conflict(part):
            yield "propertyNames"
        patterns = part.get("patternProperties")
        if isinstance(patterns, dict) and ("properties" in part or len(patterns) > 1):
            yield "patternProperties"
    if isinstance(part.get("allOf"), list) and len(part["allOf"]) > 1:
        yield "allOf"


def _names_conflict(part: dict[str, Any]) -> bool:
    """Return whether `propertyNames` is beside a keyword that vLLM does not let xgrammar combine it with."""
    names = part["propertyNames"]
    return (
        "properties" in part
        or "patternProperties" in part
        or isinstance(part.get("additionalProperties"), dict)
        or part.get("unevaluatedProperties", True) is not True
        or (isinstance(names, dict) and any(_beside_a_length(names)))
    )


def _unknown_format(part: dict[str, Any]) -> Iterator[str]:
    if isinstance(part.get("format"), str) and part["format"] not in _FORMATS:
        yield "format"


def _beside_a_length(part: dict[str, Any]) -> Iterator[str]:
    if any(keyword in part for keyword in _LENGTHS):
        yield from (keyword for keyword in ("pattern", "format") if keyword in part)


def _sglang(parts: list[dict[str, Any]], used: set[str]) -> Iterator[str]:
    refused: list[str] = [keyword for keyword in _SGLANG_REFUSES if keyword in used]
    strings = [part for part in parts if "type" not in part or "string" in part["type"]]
    refused += ["format"] * any(any(_unknown_format(part)) for part in strings)
    if refused:
        yield f"It refuses {_listed(refused)} with status 400."
    if any(any(_beside_a_length(part)) or {"pattern", "format"} <= part.keys() for part in strings):
        yield "It refuses a string with two of `pattern`, `format` and a length, with status 400."
    yield from _dropped(keyword for keyword in ("dependencies", "$dynamicRef") if keyword in used)
    yield from _xgrammar(parts, used)


def _xgrammar(parts: list[dict[str, Any]], used: set[str]) -> Iterator[str]:
    if _leaves_open(parts):
        yield "xgrammar closes objects where `additionalProperties` is absent; the standard says open."
    if "oneOf" in used:
        yield "xgrammar reads `oneOf` as `anyOf`."
    if any(isinstance(part.get("allOf"), list) and len(part["allOf"]) > 1 for part in parts):
        yield "xgrammar does not enforce an `allOf` of two or more schemas."
    if untyped := [keyword for keyword in _NEEDS_TYPE if any(_is_untyped(keyword, part) for part in parts)]:
        yield f"xgrammar does not enforce {_listed(untyped)} where `type` is absent."
    if any("$ref" in part and _ASSERTS & part.keys() for part in parts):
        yield "xgrammar does not enforce what stands beside a `$ref`."


def _is_untyped(keyword: str, part: dict[str, Any]) -> bool:
    """Return whether xgrammar cannot infer the type that a keyword applies to."""
    if keyword not in part or "type" in part or "$ref" in part:
        return False
    return not any(other in part for other in _NEEDS_TYPE[keyword])


def _openai(parts: list[dict[str, Any]], used: set[str]) -> Iterator[str]:
    if refused := [keyword for keyword in _OPENAI_REFUSES if keyword in used]:
        yield f"It refuses {_listed(refused)} with `strict`."
    if parts and parts[0].get("type") != "object":
        yield "It takes only an object at the root."
    if any("properties" in part and part.get("additionalProperties") is not False for part in parts):
        yield "It wants `additionalProperties` to be false in every object."
    if any(set(part.get("properties", ())) - set(part.get("required", ())) for part in parts):
        yield "It wants every property to be required; an optional one is written as a type that may be null."


def _leaves_open(parts: list[dict[str, Any]]) -> bool:
    return any("properties" in part and "additionalProperties" not in part for part in parts)


def _schemas(value: Any) -> Iterator[dict[str, Any]]:
    """Yield the schema and all its subschemas; data and maps of names are not schemas."""
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
