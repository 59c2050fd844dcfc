"""Wrong outputs made from right ones, each labelled with the cause that a diagnosis has to find.

Written from the definitions of the causes alone, without a look at how they are found. Every choice follows from the
seed. A mutation that cannot be applied to an instance yields nothing, and another instance is drawn.
"""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from request_schemas import SCHEMAS, instance, resolved

PROSE = (
    "Sure! The temperature in Berlin is about 12 degrees today.",
    "I'm sorry, but I cannot help with that request.",
    "Here is what I found:\n\n- the first point\n- the second point\n",
    "**Answer:** it depends on the season.",
    "Natürlich, hier ist die Antwort auf deine Frage.",
    "The user asks for a record. Let me think about the fields first.",
    "# Summary\n\nThe meeting began at nine and ended at noon.",
    "D'accord, voici la réponse.",
)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A wrong output with the right one that it was made from.

    Attributes:
        kind: the name of the mutation.
        schema: the JSON Schema, as text.
        right: an output that the schema accepts.
        wrong: one that it does not.
        causes: the causes that are right; the first is the best.
        finish: why the output ended.
        detail: the detail of the cause; empty if any is right.
        pointer: the JSON Pointer of the keyword that was violated; empty if there is none.
    """

    kind: str
    schema: str
    right: str
    wrong: str
    causes: tuple[str, ...]
    finish: str = "stop"
    detail: str = ""
    pointer: str = ""


@dataclass(frozen=True, slots=True)
class Example:
    """A right output: its schema, the instance, and its text."""

    schema: dict[str, Any]
    value: Any
    text: str
    style: str

    @property
    def schema_text(self) -> str:
        """Return the schema as text."""
        return json.dumps(self.schema, indent=2)

    def mutant(self, kind: str, wrong: str, *causes: str, **fields: str) -> Mutant:
        """Return a mutant of the example."""
        return Mutant(kind, self.schema_text, self.text, wrong, causes, **fields)


def written(value: Any, style: str) -> str:
    """Return a value as a model writes it: compact, with one space, or on several lines."""
    match style:
        case "compact":
            return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        case "lines":
            return json.dumps(value, ensure_ascii=False, indent=2)
        case _:
            return json.dumps(value, ensure_ascii=False)


def example(draw: random.Random, schemas: tuple[dict[str, Any], ...] = SCHEMAS) -> Example:
    """Return a right output of one of several schemas."""
    schema = draw.choice(schemas)
    value = instance(schema, schema, draw)
    style = draw.choice(("compact", "space", "lines"))
    return Example(schema, value, written(value, style), style)


# ---------------------------------------------------------------------- positions


@dataclass(frozen=True, slots=True)
class _Position:
    """A value in an instance: the steps to it, its schema, and the schema's JSON Pointer."""

    steps: tuple[str | int, ...]
    schema: dict[str, Any]
    pointer: str
    value: Any


def _positions(one: Example) -> Iterator[_Position]:
    pending = [_Position((), one.schema, "", one.value)]
    while pending:
        here = pending.pop()
        schema, pointer = here.schema, here.pointer
        if "$ref" in schema:
            pointer = schema["$ref"].removeprefix("#")
            schema = resolved(schema, one.schema)
        if "anyOf" in schema:
            continue  # a violation of one branch is one of the whole `anyOf`
        yield _Position(here.steps, schema, pointer, here.value)
        if isinstance(here.value, dict):
            for name, value in here.value.items():
                inner = schema["properties"][name]
                pending.append(_Position((*here.steps, name), inner, f"{pointer}/properties/{name}", value))
        elif isinstance(here.value, list):
            for index, value in enumerate(here.value):
                pending.append(_Position((*here.steps, index), schema["items"], f"{pointer}/items", value))


def _replaced(value: Any, steps: tuple[str | int, ...], new: Any) -> Any:
    if not steps:
        return new
    result = copy.copy(value)
    result[steps[0]] = _replaced(value[steps[0]], steps[1:], new)
    return result


# ---------------------------------------------------------------------- mutations


def truncation(one: Example, draw: random.Random) -> Mutant | None:
    """Cut the output off, at the token limit."""
    return one.mutant("truncation", one.text[: draw.randrange(1, len(one.text))], "cut-off", finish="length")


def bound(one: Example, draw: random.Random) -> Mutant | None:
    """Violate one keyword of one value."""
    options = [
        (position, keyword, wrong)
        for position in _positions(one)
        for keyword, wrong in _violations(position, draw)
        if not isinstance(position.value, bool)
    ]
    if not options:
        return None
    position, keyword, wrong = draw.choice(options)
    value = _replaced(one.value, position.steps, wrong)
    return one.mutant(
        "bound", written(value, one.style), "keyword-not-enforced", pointer=f"{position.pointer}/{keyword}"
    )


_ALPHABET = "abcdefghijklmnopqrstuvwxyz" * 4


def _violations(position: _Position, draw: random.Random) -> Iterator[tuple[str, Any]]:
    """Yield keywords of a position's schema, each with a value that violates it alone."""
    schema, value = position.schema, position.value
    match value:
        case str():
            longer = _ALPHABET[: max(0, schema.get("maxLength", 0) - len(value)) + draw.randint(1, 3)]
            made = {
                "maxLength": value + longer,
                "minLength": value[: max(0, schema.get("minLength", 0) - 1)],
                "pattern": "x" + value,
                "enum": f"{value}ish",
                "const": f"{value}_2",
            }
        case int() | float():
            step = schema.get("multipleOf", 1)
            made = {
                "maximum": schema.get("maximum", 0) + step,
                "minimum": schema.get("minimum", 0) - step,
                "multipleOf": value + 1,
            }
        case [first, *_]:
            made = {
                "maxItems": value + [value[-1]] * (schema.get("maxItems", 0) + 1 - len(value)),
                "minItems": value[: max(0, schema.get("minItems", 0) - 1)],
                "uniqueItems": [*value, first],
            }
        case _:
            made = {}
    yield from ((keyword, wrong) for keyword, wrong in made.items() if keyword in schema and wrong != value)


def blank_run(one: Example, draw: random.Random) -> Mutant | None:
    """Go on with blanks after a structural character, up to the token limit."""
    places = [at + 1 for at in _structural(one.text) if one.text[at] in "{[,:" and at + 1 < len(one.text)]
    blanks = draw.choice((" ", "\n", "\n  ", "\t", " \n")) * draw.randint(200, 500)
    return one.mutant("blank run", one.text[: draw.choice(places)] + blanks, "whitespace-loop", finish="length")


def prose(one: Example, draw: random.Random) -> Mutant | None:
    """Write prose in place of the output."""
    return one.mutant("prose", draw.choice(PROSE), "constraint-off")


def trailing_comma(one: Example, draw: random.Random) -> Mutant | None:
    """Add a comma after a last member or item."""
    places = [at for at in _structural(one.text) if one.text[at] in "}]" and one.text[:at].rstrip()[-1] not in "{["]
    at = draw.choice(places)
    end = len(one.text[:at].rstrip())
    wrong = f"{one.text[:end]},{one.text[end:]}"
    return one.mutant("trailing comma", wrong, "schema-violation", detail="trailing-comma")


def single_quotes(one: Example, _draw: random.Random) -> Mutant | None:
    """Quote strings as Python does."""
    if any(mark in one.text for mark in ("'", "\\")):
        return None
    return one.mutant("single quotes", one.text.replace('"', "'"), "schema-violation", detail="single-quotes")


def not_a_number(one: Example, draw: random.Random) -> Mutant | None:
    """Write a number as Python prints those that JSON lacks."""
    places = [
        position
        for position in _positions(one)
        if isinstance(position.value, int | float) and not isinstance(position.value, bool)
    ]
    if not places:
        return None
    mark = "a number that is none"
    value = _replaced(one.value, draw.choice(places).steps, mark)
    wrong = written(value, one.style).replace(f'"{mark}"', draw.choice(("NaN", "Infinity", "-Infinity")))
    return one.mutant("NaN", wrong, "schema-violation", detail="nan")


def raw_newline(one: Example, draw: random.Random) -> Mutant | None:
    """Write a line feed in a string as it is."""
    places = [
        position
        for position in _positions(one)
        if isinstance(position.value, str) and position.schema == {"type": "string"} and len(position.value) > 1
    ]
    if not places:
        return None
    position = draw.choice(places)
    mark = "a line feed goes here"
    at = draw.randrange(1, len(position.value))
    text = f"{position.value[:at]}{mark}{position.value[at:]}"
    wrong = written(_replaced(one.value, position.steps, text), one.style).replace(mark, "\n")
    return one.mutant("raw newline", wrong, "schema-violation", detail="raw-newline")


def code_fence(one: Example, draw: random.Random) -> Mutant | None:
    """Wrap the output in a code fence."""
    fence = draw.choice(("```json", "```", "```JSON"))
    return one.mutant("code fence", f"{fence}\n{one.text}\n```", "schema-violation", "wrong-zone", detail="code-fence")


def second_value(one: Example, draw: random.Random) -> Mutant | None:
    """Write another value after the first."""
    between = draw.choice(("\n", "", " ", "\n\n"))
    return one.mutant(
        "second value", f"{one.text}{between}{one.text}", "schema-violation", "wrong-zone", detail="second-value"
    )


def missing_key(one: Example, draw: random.Random) -> Mutant | None:
    """Leave out a required property."""
    places = [
        (position, name)
        for position in _positions(one)
        if isinstance(position.value, dict) and len(position.value) > 1
        for name in position.schema["required"]
    ]
    if not places:
        return None
    position, name = draw.choice(places)
    value = {key: inner for key, inner in position.value.items() if key != name}
    wrong = written(_replaced(one.value, position.steps, value), one.style)
    # The text is wrong by the schema, and an engine that ignores `required` could have written it: both are right.
    return one.mutant("missing key", wrong, "schema-violation", "keyword-not-enforced", detail="missing-required")


def extra_key(one: Example, draw: random.Random) -> Mutant | None:
    """Add a property that the schema does not allow, at the end."""
    places = [position for position in _positions(one) if isinstance(position.value, dict)]
    position = draw.choice(places)
    name = draw.choice(("comment", "note", "extra", "_id"))
    if name in position.schema["properties"]:
        return None
    value = {**position.value, name: draw.choice(("none", 1, True))}
    wrong = written(_replaced(one.value, position.steps, value), one.style)
    return one.mutant("extra key", wrong, "schema-violation", "keyword-not-enforced", detail="extra-property")


def key_order(one: Example, draw: random.Random) -> Mutant | None:
    """Write the properties of an object in another order."""
    places = [position for position in _positions(one) if isinstance(position.value, dict) and len(position.value) > 1]
    if not places:
        return None
    position = draw.choice(places)
    names = list(position.value)
    other = names[:]
    while other == names:
        draw.shuffle(other)
    value = {name: position.value[name] for name in other}
    return one.mutant("key order", written(_replaced(one.value, position.steps, value), one.style), "key-order")


def _structural(text: str) -> list[int]:
    """Return the offsets of the structural characters of a JSON text."""
    found, in_string, at = [], False, 0
    while at < len(text):
        character = text[at]
        if in_string:
            at += character == "\\"
            in_string = character != '"'
        elif character == '"':
            in_string = True
        elif character in "{}[],:":
            found.append(at)
        at += 1
    return found


MUTATIONS: tuple[tuple[Callable[[Example, random.Random], Mutant | None], int], ...] = (
    (truncation, 30),
    (bound, 50),
    (blank_run, 20),
    (prose, 20),
    (trailing_comma, 10),
    (single_quotes, 8),
    (not_a_number, 8),
    (raw_newline, 8),
    (code_fence, 10),
    (second_value, 8),
    (missing_key, 10),
    (extra_key, 8),
    (key_order, 10),
)
"""The mutations, and how many of 200 mutants each makes."""


def mutants(seed: int, schemas: tuple[dict[str, Any], ...] = SCHEMAS) -> tuple[Mutant, ...]:
    """Return 200 mutants.

    Args:
        seed: the seed of all choices.
        schemas: the schemas of the right outputs.
    """
    draw = random.Random(seed)
    made = []
    for mutate, count in MUTATIONS:
        kept: list[Mutant] = []
        while len(kept) < count:
            mutant = mutate(example(draw, schemas), draw)
            if mutant is not None and mutant.wrong != mutant.right:
                kept.append(mutant)
        made += kept
    return tuple(made)
