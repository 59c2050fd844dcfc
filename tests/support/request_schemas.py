"""JSON Schemas in the style of real requests, and valid instances of them, for the mutants of `mutants`."""

from __future__ import annotations

import random
import string
from typing import Any

TEXT = {"type": "string"}
COUNT = {"type": "integer", "minimum": 0, "maximum": 100}


def record(required: list[str] | None = None, **properties: Any) -> dict[str, Any]:
    """Return the schema of a closed object."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties) if required is None else required,
        "additionalProperties": False,
    }


def listed(items: Any, **bounds: Any) -> dict[str, Any]:
    """Return the schema of an array."""
    return {"type": "array", "items": items, **bounds}


SCHEMAS: tuple[dict[str, Any], ...] = (
    record(name={"type": "string", "maxLength": 20}, age={"type": "integer", "minimum": 0, "maximum": 120}),
    record(title=TEXT, tags=listed({"type": "string", "maxLength": 8}, maxItems=4), done={"type": "boolean"}),
    record(city=TEXT, unit={"enum": ["celsius", "fahrenheit"]}, temperature={"type": "number", "minimum": -90}),
    record(["sentiment"], sentiment={"enum": ["positive", "neutral", "negative"]}, reason=TEXT),
    record(id={"type": "string", "pattern": "^[A-Z]{2}-[0-9]{4}$"}, quantity={"type": "integer", "multipleOf": 5}),
    record(user=record(name=TEXT, email={"type": "string", "minLength": 3}), active={"type": "boolean"}),
    record(items=listed(record(sku={"type": "string", "maxLength": 12}, price={"type": "number"}), minItems=1)),
    record(answer={"type": "integer", "maximum": 1000}, reasoning=TEXT),
    record(["steps", "answer"], steps=listed(TEXT, minItems=1, maxItems=6), answer=TEXT, confidence={"type": "number"}),
    record(start={"type": "integer", "minimum": 1}, end={"type": "integer", "minimum": 1}, path=TEXT),
    record(language={"enum": ["en", "de", "fr", "ja"]}, translation={"type": "string", "minLength": 1}),
    record(date={"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"}, event=TEXT, guests=COUNT),
    record(colours=listed({"enum": ["red", "green", "blue"]}, uniqueItems=True), name=TEXT),
    record(latitude={"type": "number", "minimum": -90, "maximum": 90}, longitude={"type": "number", "minimum": -180}),
    record(["title"], title={"type": "string", "maxLength": 30}, subtitle={"type": ["string", "null"]}, pages=COUNT),
    record(
        function={"const": "search"}, arguments=record(["query"], query=TEXT, limit={"type": "integer", "maximum": 50})
    ),
    {
        "$defs": {"point": record(x={"type": "integer", "maximum": 9}, y={"type": "integer", "maximum": 9})},
        **record(origin={"$ref": "#/$defs/point"}, path=listed({"$ref": "#/$defs/point"}, maxItems=3)),
    },
    record(value={"anyOf": [{"type": "integer", "minimum": 10}, {"type": "null"}]}, label=TEXT),
    record(summary={"type": "string", "minLength": 5, "maxLength": 60}, keywords=listed(TEXT, minItems=2)),
    record(people=listed(record(["name"], name=TEXT, age=COUNT), maxItems=3), total=COUNT),
    record(status={"enum": ["open", "closed"]}, priority={"type": "integer", "minimum": 1, "maximum": 5}, owner=TEXT),
    record(
        invoice={"type": "string", "pattern": "^INV[0-9]+$"}, lines=listed(record(text=TEXT, amount={"type": "number"}))
    ),
    record(name=TEXT, address=record(street=TEXT, zip={"type": "string", "pattern": "^[0-9]{5}$"}), phone=TEXT),
    record(isbn={"type": "string", "minLength": 10, "maxLength": 13}, year={"type": "integer", "maximum": 2030}),
    record(matrix=listed(listed({"type": "integer"}, maxItems=3), maxItems=3), size=COUNT),
    record(key=TEXT, value=TEXT, ttl={"type": "integer", "multipleOf": 60}),
    record(
        recipe=TEXT, minutes={"type": "integer", "minimum": 1, "maximum": 600}, ingredients=listed(TEXT, minItems=1)
    ),
    record(code={"type": "string", "maxLength": 40}, language={"const": "python"}, passes={"type": "boolean"}),
    record(["from", "to"], **{"from": TEXT, "to": TEXT, "subject": {"type": "string", "maxLength": 24}, "body": TEXT}),
    record(
        score={"type": "number", "minimum": 0, "maximum": 10}, verdict={"enum": ["pass", "fail"]}, notes=listed(TEXT)
    ),
)

WORDS = (
    "Ada",
    "Berlin",
    "a red fox",
    "Zürich",
    "naïve",
    "東京",
    "café au lait",
    'she said "yes"',
    "C:\\temp",
    "50% off",
    "tab\there",
    "line one\nline two",
    "e-mail",
    "O'Brien",
    "résumé",
    "see below",
    "42",
    "ok",
    "north-west",
    "🙂 fine",
)
PATTERNS = {
    "^[A-Z]{2}-[0-9]{4}$": lambda draw: f"{letters(draw, 2)}-{digits(draw, 4)}",
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}$": lambda draw: f"{digits(draw, 4)}-{digits(draw, 2)}-{digits(draw, 2)}",
    "^INV[0-9]+$": lambda draw: f"INV{digits(draw, draw.randrange(1, 8))}",
    "^[0-9]{5}$": lambda draw: digits(draw, 5),
}


def letters(draw: random.Random, count: int) -> str:
    """Return capital letters."""
    return "".join(draw.choices(string.ascii_uppercase, k=count))


def digits(draw: random.Random, count: int) -> str:
    """Return decimal digits."""
    return "".join(draw.choices(string.digits, k=count))


def resolved(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """Return a schema, or the one that it refers to."""
    while "$ref" in schema:
        schema = root["$defs"][schema["$ref"].removeprefix("#/$defs/")]
    return schema


def instance(schema: dict[str, Any], root: dict[str, Any], draw: random.Random) -> Any:
    """Return a valid instance of a schema, its properties in the declared order.

    Args:
        schema: the schema, which uses the keywords of `SCHEMAS`.
        root: the whole schema.
        draw: the source of randomness.
    """
    schema = resolved(schema, root)
    if "anyOf" in schema:
        return instance(draw.choice(schema["anyOf"]), root, draw)
    if "const" in schema:
        return schema["const"]
    if "enum" in schema:
        return draw.choice(schema["enum"])
    kind = schema["type"] if isinstance(schema["type"], str) else draw.choice(schema["type"])
    return _MAKERS[kind](schema, root, draw)


def _object(schema: dict[str, Any], root: dict[str, Any], draw: random.Random) -> dict[str, Any]:
    return {
        name: instance(inner, root, draw)
        for name, inner in schema["properties"].items()
        if name in schema["required"] or draw.random() < 0.7
    }


def _array(schema: dict[str, Any], root: dict[str, Any], draw: random.Random) -> list[Any]:
    least = schema.get("minItems", 0)
    items = [
        instance(schema["items"], root, draw) for _ in range(draw.randint(least, schema.get("maxItems", least + 3)))
    ]
    return list(dict.fromkeys(items)) if schema.get("uniqueItems") else items


def _string(schema: dict[str, Any], _root: dict[str, Any], draw: random.Random) -> str:
    if "pattern" in schema:
        return PATTERNS[schema["pattern"]](draw)
    text = " ".join(draw.choices(WORDS, k=draw.randint(1, 3)))
    text += "x" * (schema.get("minLength", 0) - len(text))
    return text[: schema.get("maxLength", len(text))]


def _integer(schema: dict[str, Any], _root: dict[str, Any], draw: random.Random) -> int:
    low = schema.get("minimum", schema.get("maximum", 50) - 50)
    step = schema.get("multipleOf", 1)
    number = draw.randint(low, schema.get("maximum", low + 400))
    return number - number % step


def _number(schema: dict[str, Any], root: dict[str, Any], draw: random.Random) -> float:
    low = schema.get("minimum", 0)
    number = draw.randint(low * 100, schema.get("maximum", low + 60) * 100)
    return number / 100 if number % 100 else number // 100


_MAKERS = {
    "object": _object,
    "array": _array,
    "string": _string,
    "integer": _integer,
    "number": _number,
    "boolean": lambda _schema, _root, draw: draw.random() < 0.5,
    "null": lambda _schema, _root, _draw: None,
}
