"""Generated JSON Schemas for the held-out cases: nested objects, arrays, unions, definitions, scalars with bounds."""

from __future__ import annotations

from random import Random
from typing import Any, Final

_PROPERTIES: Final = tuple(
    "item_code status owner amount created region steps message score flags channel payload caption weight origin_id "
    "body version mode parts depth notes ratio source_name contact bucket threshold summary phase retries".split()
)
_WORDS: Final = tuple(
    "open closed pending low high manual auto north south draft final gold silver retry größer".split()
)
_PATTERNS: Final = (
    ("^[A-Z]{2}[0-9]{3}$", ("AB123", "XZ900", "QQ042")),
    ("^v[0-9]+\\.[0-9]+$", ("v1.0", "v12.4", "v3.18")),
    ("^[a-z]+(-[a-z]+)*$", ("left-pad", "core", "new-york-city")),
    ("^(\\+|00)[1-9][0-9]{6,10}$", ("+49301234567", "0014155550134")),
    ("^[0-9]{2}:[0-9]{2}$", ("09:30", "23:59", "00:05")),
    ("^[A-Fa-f0-9]{8}$", ("deadBEEF", "0012ab9F")),
)


def random_schema(rng: Random) -> dict[str, Any]:
    """Return a schema of an object or, rarely, an array of objects."""
    definitions: dict[str, Any] = {}
    if rng.random() < 0.35:
        definitions["Entry"] = _object(rng, 2, {})
    root = _object(rng, 0, definitions)
    if rng.random() < 0.12:
        root = {"type": "array", "items": root, "minItems": 1}
    if definitions:
        root["$defs"] = definitions
    return root


def _object(rng: Random, depth: int, definitions: dict[str, Any]) -> dict[str, Any]:
    names = rng.sample(_PROPERTIES, rng.randint(2, 6 - depth))
    properties = {name: _schema(rng, depth + 1, definitions) for name in names}
    required = [name for name in names if rng.random() < 0.6]
    made: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        made["required"] = required
    if rng.random() < 0.7:
        made["additionalProperties"] = False
    return made


def _schema(rng: Random, depth: int, definitions: dict[str, Any]) -> dict[str, Any]:
    if depth < 3 and rng.random() < 0.35:
        return _container(rng, depth, definitions)
    return rng.choice((_string, _string, _constrained_string, _integer, _number, _enumeration, _other))(rng)


def _container(rng: Random, depth: int, definitions: dict[str, Any]) -> dict[str, Any]:
    draw = rng.random()
    if draw < 0.3:
        return _object(rng, depth, definitions)
    if draw < 0.45 and definitions:
        return {"$ref": "#/$defs/Entry"}
    if draw < 0.6:
        return {"anyOf": [_tagged(rng, "first", depth), _tagged(rng, "second", depth)]}
    array: dict[str, Any] = {"type": "array", "items": _schema(rng, depth + 1, definitions)}
    if rng.random() < 0.5:
        array["minItems"] = rng.randint(1, 2)
    if rng.random() < 0.5:
        array["maxItems"] = rng.randint(2, 6)
    return array


def _tagged(rng: Random, tag: str, depth: int) -> dict[str, Any]:
    made = _object(rng, depth, {})
    properties = {"variant": {"const": tag}, **made["properties"]}
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _string(rng: Random) -> dict[str, Any]:
    return {"type": "string"}


def _constrained_string(rng: Random) -> dict[str, Any]:
    draw = rng.random()
    if draw < 0.5:
        pattern, examples = rng.choice(_PATTERNS)
        return {"type": "string", "pattern": pattern, "examples": list(examples)}
    if draw < 0.75:
        return {"type": "string", "maxLength": rng.randint(12, 90)}
    return {"type": "string", "minLength": rng.randint(2, 12), "maxLength": rng.randint(40, 160)}


def _integer(rng: Random) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "integer", "minimum": rng.choice((-50, 0, 0, 1, 10))}
    if rng.random() < 0.6:
        made["maximum"] = made["minimum"] + rng.choice((5, 9, 100, 1000))
    if rng.random() < 0.25:
        made["multipleOf"] = rng.choice((2, 5))
    return made


def _number(rng: Random) -> dict[str, Any]:
    made: dict[str, Any] = {"type": "number", "minimum": rng.choice((-1, 0, 0, 0.5))}
    if rng.random() < 0.7:
        made["maximum"] = rng.choice((1, 10, 99.5))
    return made


def _enumeration(rng: Random) -> dict[str, Any]:
    words = rng.sample(_WORDS, rng.randint(2, 5))
    return {"type": "string", "enum": words} if rng.random() < 0.5 else {"enum": words}


def _other(rng: Random) -> dict[str, Any]:
    return rng.choice(({"type": "boolean"}, {"type": ["string", "null"]}, {"type": ["integer", "null"]}))
