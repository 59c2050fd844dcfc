"""Valid instances of a JSON Schema, in the forms that language models write.

Strings come from pools by property name, so that they have the lengths, escapes and languages of real outputs. A string
with `pattern` or `format` takes one of its `examples`. Only the keywords that the schemas here use are read; a caller
checks each instance with `jsonschema`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any, Final

Path = tuple[str | int, ...]

_TITLES: Final = (
    "Quarterly report",
    "Crème brûlée",
    "The Left Hand of Darkness",
    "Zażółć gęślą jaźń",
    "Intro to graph search",
    "東京の夜",
    "Budget & planning",
    "Senior data engineer",
)
_NAMES: Final = ("Ada Lovelace", "Jörg Müller", "Mei Chen", "Renée O'Brien", "Łukasz Nowak", "山田太郎", "Sam Okafor")
_CITIES: Final = ("Berlin", "São Paulo", "Kyōto", "Zürich", "New York", "Łódź", "Reykjavík")
_SHORT: Final = (
    "alpha",
    "blue shirt",
    "north gate",
    "naïve",
    "USB-C cable",
    "v2 beta",
    "green tea",
    "日本語",
    "test 7",
)
_SENTENCES: Final = (
    "The delivery arrived two days late, but the support team was helpful.",
    'She said "we ship on Friday" and left the call.',
    "Preheat the oven to 180 °C and grease the pan.",
    "Die Lieferung kam pünktlich, danke!",
    "The file is in C:\\temp\\export and must be removed.",
    "La réunion est déplacée à jeudi.",
    "Costs fell by 12% against last year; margins did not change.",
    "Please check the logs before you restart the service.",
)
_PARAGRAPHS: Final = (
    "Hello team,\n\nthe build is green again.\nThanks to all who helped.\n",
    "First we compare both sides.\nThen we subtract 7.",
    "def area(r):\n    return 3.14 * r * r",
    "Symptoms began on Monday.\n\tNo fever since.\nFollow-up in one week.",
    "Sehr geehrte Damen und Herren,\n\nanbei die Unterlagen.\n\nMit freundlichen Grüßen",
    'She wrote:\n"Not before spring."\nNo further answer came.',
)
_POOLS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("title subject label company", _TITLES),
    ("recipient author assignee participants owner speaker display_name respondent first last", _NAMES),
    ("city street destination", _CITIES),
    (
        "body notes summary plan answer explanation backstory text final_answer instructions reason",
        _PARAGRAPHS + _SENTENCES,
    ),
    ("query", ("SELECT name FROM users WHERE age > $1", "weather in Zürich tomorrow", "best ramen near Shinjuku 駅")),
    ("file", ("src/main.rs", "app/models/user.py", "docs/Übersicht.md")),
    ("due", ("2025-06-30", "next Friday", "end of Q3")),
    (
        "steps comment message suggestion question description task translation alternatives strengths weaknesses",
        _SENTENCES,
    ),
)
_POOL_OF: Final = {name: pool for names, pool in _POOLS for name in names.split()}
_EXTRA_NAMES: Final = ("cpu", "memory", "disk", "rent", "food", "travel", "größe")
_DEEPEST: Final = 5


def resolve(schema: Any, root: Mapping[str, Any], pointer: str) -> tuple[Any, str]:
    """Follow `$ref` until a schema without it; return it with its JSON Pointer."""
    while isinstance(schema, dict) and "$ref" in schema:
        pointer = schema["$ref"].removeprefix("#")
        schema = root
        for name in pointer.split("/")[1:]:
            schema = schema[name]
    return schema, pointer


@dataclass(frozen=True)
class Sampler:
    """Draws instances of one schema.

    Attributes:
        root: the schema.
        rng: the source of all choices.
    """

    root: Mapping[str, Any]
    rng: Random

    def draw(self, schema: Any = None, name: str = "", depth: int = 0) -> Any:
        """Return an instance.

        Args:
            schema: a part of the root schema; the root itself by default.
            name: the property that the instance is the value of, or whose items it is one of.
            depth: the number of containers around it.
        """
        schema, _ = resolve(self.root if schema is None else schema, self.root, "")
        if "anyOf" in schema:
            return self.draw(self.rng.choice(schema["anyOf"]), name, depth)
        if "const" in schema:
            return schema["const"]
        for keyword in ("enum", "examples"):
            if keyword in schema:
                return self.rng.choice(schema[keyword])
        kind = schema.get("type", "string")
        if isinstance(kind, list):
            kind = self.rng.choice(kind)
        return getattr(self, f"_{kind}")(schema, name, depth)

    def _object(self, schema: Mapping[str, Any], name: str, depth: int) -> dict[str, Any]:
        required = schema.get("required", ())
        drawn: dict[str, Any] = {}
        for key, part in schema.get("properties", {}).items():
            likely = 0.65 if depth < _DEEPEST else 0.1
            if key in required or self.rng.random() < likely:
                drawn[key] = self.draw(part, key, depth + 1)
        extra = schema.get("additionalProperties")
        if isinstance(extra, dict):
            least, most = schema.get("minProperties", 1), schema.get("maxProperties", 3)
            for key in self.rng.sample(_EXTRA_NAMES, self.rng.randint(least, most)):
                drawn[key] = self.draw(extra, key, depth + 1)
        return drawn

    def _array(self, schema: Mapping[str, Any], name: str, depth: int) -> list[Any]:
        if "prefixItems" in schema:
            return [self.draw(part, name, depth + 1) for part in schema["prefixItems"]]
        least = schema.get("minItems", 0 if depth >= _DEEPEST else 1)
        most = schema.get("maxItems", max(least, 0 if depth >= _DEEPEST else 3))
        drawn: list[Any] = []
        for _ in range(self.rng.randint(least, most)):
            item = self.draw(schema["items"], name, depth + 1)
            if not (schema.get("uniqueItems") and item in drawn):
                drawn.append(item)
        return drawn

    def _string(self, schema: Mapping[str, Any], name: str, depth: int) -> str:
        text = self.rng.choice(_POOL_OF.get(name, _NAMES if name.endswith("name") else _SHORT))
        while len(text) < schema.get("minLength", 0):
            text += " " + self.rng.choice(_SHORT)
        most = schema.get("maxLength")
        return text if most is None or len(text) <= most else text[:most].rstrip()

    def _integer(self, schema: Mapping[str, Any], name: str, depth: int) -> int:
        step = schema.get("multipleOf", 1)
        least = schema.get("minimum", schema.get("exclusiveMinimum", -1) + 1)
        most = min(schema.get("maximum", least + 90 * step), least + 2000 * step)
        return step * self.rng.randint(-(-least // step), most // step)

    def _number(self, schema: Mapping[str, Any], name: str, depth: int) -> float | int:
        least, most = schema.get("minimum", 0), schema.get("maximum", schema.get("exclusiveMaximum", 100))
        step = Fraction(str(schema.get("multipleOf", "0.01")))
        inner = int("exclusiveMinimum" in schema), int("exclusiveMaximum" in schema)
        low, high = int(Fraction(str(least)) / step) + inner[0], int(Fraction(str(most)) / step) - inner[1]
        drawn = float(step * self.rng.randint(low, high))
        return int(drawn) if drawn.is_integer() else drawn

    def _boolean(self, schema: Mapping[str, Any], name: str, depth: int) -> bool:
        return self.rng.random() < 0.5

    def _null(self, schema: Mapping[str, Any], name: str, depth: int) -> None:
        return None


@dataclass(frozen=True)
class Site:
    """A value inside an instance, and the subschema that describes it.

    Attributes:
        path: the property names and indices from the root of the instance.
        value: the value.
        schema: the subschema, without `$ref` and `anyOf`.
        pointer: the JSON Pointer of the subschema.
    """

    path: Path
    value: Any
    schema: Mapping[str, Any]
    pointer: str


def sites(value: Any, root: Mapping[str, Any], holds: Any) -> Iterator[Site]:
    """Yield each value of an instance with its subschema, parents first.

    Args:
        value: a valid instance.
        root: the schema.
        holds: a function of a subschema and a value that returns whether the value is valid; it chooses the branch of
            an `anyOf`.
    """
    yield from _sites(value, root, "", (), (root, holds))


def _sites(value: Any, schema: Any, pointer: str, path: Path, context: tuple[Any, Any]) -> Iterator[Site]:
    root, holds = context
    schema, pointer = resolve(schema, root, pointer)
    if "anyOf" in schema:
        index = next(index for index, branch in enumerate(schema["anyOf"]) if holds(branch, value))
        yield from _sites(value, schema["anyOf"][index], f"{pointer}/anyOf/{index}", path, context)
        return
    yield Site(path, value, schema, pointer)
    if isinstance(value, dict):
        for key, item in value.items():
            below = schema.get("properties", {})
            if key in below:
                yield from _sites(item, below[key], f"{pointer}/properties/{key}", (*path, key), context)
            elif isinstance(schema.get("additionalProperties"), dict):
                extra = f"{pointer}/additionalProperties"
                yield from _sites(item, schema["additionalProperties"], extra, (*path, key), context)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if "prefixItems" in schema:
                part, where = schema["prefixItems"][index], f"{pointer}/prefixItems/{index}"
            else:
                part, where = schema["items"], f"{pointer}/items"
            yield from _sites(item, part, where, (*path, index), context)


def replaced(value: Any, path: Path, new: Any) -> Any:
    """Return a copy of a value in which the value at a path is another."""
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


STYLES: Final = ("compact", "one-space", "indent 2", "indent 4", "tabs")


def spelled(value: Any, style: str) -> str:
    """Return a value as JSON text in one of `STYLES`."""
    if style == "compact":
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    indent: int | str | None = {"one-space": None, "indent 2": 2, "indent 4": 4, "tabs": "\t"}[style]
    return json.dumps(value, ensure_ascii=False, indent=indent)
