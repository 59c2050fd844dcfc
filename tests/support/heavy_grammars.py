"""Grammars that are large in one way each, in any size: what the limits, the cancel and the growth are tried on."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any


def regex_of_groups(characters: int) -> str:
    unit = r"(?:[a-z]+|foo\d{2,4})x?"
    return unit * (characters // len(unit))


def regex_of_literals(characters: int) -> str:
    return "abcdefghij" * (characters // 10)


def regex_of_one_class(characters: int) -> str:
    return "[" + "".join(chr(0x4E00 + 2 * (i % 9_000)) for i in range(characters - 2)) + "]"


def regex_alternation(ways: int) -> str:
    return "|".join(f"word{i}" for i in range(ways))


def gbnf_of_rules(characters: int) -> str:
    rules, size, n = ["root ::= r0"], 0, 0
    while size < characters - 100:
        rules.append(f'r{n} ::= "lit{n}" [a-z]+ ( r{n + 1} | "x" r{max(0, n - 3)} )? | "end{n}"')
        size += len(rules[-1]) + 1
        n += 1
    return "\n".join([*rules, f'r{n} ::= "z"'])


def gbnf_of_one_literal(characters: int) -> str:
    return f'root ::= "{"a" * (characters - 11)}"'


def gbnf_alternation(ways: int) -> str:
    return "root ::= " + " | ".join(f'"word{i}"' for i in range(ways))


def gbnf_mutual(rules: int) -> str:
    lines = [f'r{i} ::= "a" r{(7 * i + 1) % rules} "b" | "e" r{(i + 1) % rules} "d" | "d{i}"' for i in range(rules)]
    return "\n".join(["root ::= r0", *lines])


def gbnf_left_recursive(rules: int) -> str:
    """Every rule begins with every other one, in the end."""
    lines = [f'r{i} ::= "a" r{(7 * i + 1) % rules} "b" | r{(i + 1) % rules} "c" | "d{i}"' for i in range(rules)]
    return "\n".join(["root ::= r0", *lines])


def _record(n: int) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {
            "name": {"type": "string", "minLength": n % 7},
            "value": {"type": ["integer", "null"], "minimum": n},
            "tags": {"type": "array", "items": {"enum": ["a", "b", f"c{n}"]}},
        },
        "required": ["name"],
    }


def schema_of_properties(characters: int) -> str:
    """One object of many members."""
    per_member = len(json.dumps({"property_1000": _record(1000)}))
    properties = {f"property_{n}": _record(n) for n in range(max(1, characters // per_member))}
    return json.dumps({"type": "object", "properties": properties})


def schema_of_definitions(characters: int) -> str:
    """Definitions that refer to one another."""
    count = max(2, characters // 200)
    definitions = {
        f"d{n}": {
            "type": "object",
            "properties": {
                "next": {"$ref": f"#/$defs/d{(7 * n + 1) % count}"},
                "other": {"$ref": f"#/$defs/d{(n + 1) % count}"},
                f"own{n}": {"type": "string", "pattern": f"^a{n}[0-9]+$"},
            },
            "required": [f"own{n}"],
        }
        for n in range(count)
    }
    return json.dumps({"$defs": definitions, "$ref": "#/$defs/d0"})


def schema_enum(values: int) -> str:
    return json.dumps({"enum": [f"value number {i}" for i in range(values)]})


def schema_mutual(definitions: int) -> str:
    """Each needs another one, and two thirds of them may end."""
    bodies = {
        f"d{n}": {
            "type": "object",
            "properties": {
                "a": {"$ref": f"#/$defs/d{(7 * n + 1) % definitions}"},
                "b": {"$ref": f"#/$defs/d{(n + 1) % definitions}"},
            },
            "required": ["a"] if n % 3 else [],
        }
        for n in range(definitions)
    }
    return json.dumps({"$defs": bodies, "$ref": "#/$defs/d0"})


def schema_any_of(ways: int) -> str:
    """Choices that multiply: `ways` to the power of `ways` combinations."""
    choices = [
        {"anyOf": [{"properties": {f"p{i}_{j}": {"type": "integer"}}, "required": [f"p{i}_{j}"]} for j in range(ways)]}
        for i in range(ways)
    ]
    return json.dumps({"allOf": choices})


def schema_one_of(ways: int) -> str:
    kinds = [
        {
            "type": "object",
            "properties": {"kind": {"const": f"k{j}"}, f"p{j}": {"type": "integer"}},
            "required": ["kind"],
        }
        for j in range(ways)
    ]
    return json.dumps({"oneOf": kinds})


def nested_regex(depth: int) -> str:
    return "(" * depth + "a" + "b)" * depth


def nested_gbnf(depth: int) -> str:
    return "root ::= " + "(" * depth + '"a"' + ' "b")' * depth


def nested_schema(depth: int) -> str:
    """Objects in objects, each needed."""
    return '{"properties":{"a":' * depth + '{"type":"null"}' + '},"required":["a"],"type":"object"}' * depth


RECURSIVE_SCHEMA = json.dumps(
    {"type": ["array", "object", "null"], "items": {"$ref": "#"}, "additionalProperties": {"$ref": "#"}}
)
RECURSIVE_GBNF = 'root ::= "[" (root ("," root)*)? "]" | "{" root "}" | "x"'

Make = Callable[[int], str]
LARGE: dict[str, tuple[str, Make]] = {
    "regex, groups": ("regex", regex_of_groups),
    "regex, literals": ("regex", regex_of_literals),
    "regex, one class": ("regex", regex_of_one_class),
    "GBNF, rules": ("gbnf", gbnf_of_rules),
    "GBNF, one literal": ("gbnf", gbnf_of_one_literal),
    "schema, properties": ("json_schema", schema_of_properties),
    "schema, definitions": ("json_schema", schema_of_definitions),
}
"""By characters."""
WIDE: dict[str, tuple[str, Make]] = {
    "regex, alternation": ("regex", regex_alternation),
    "regex, {0,n}": ("regex", lambda count: f"(?:ab?){{0,{count}}}"),
    "GBNF, alternation": ("gbnf", gbnf_alternation),
    "GBNF, mutual rules": ("gbnf", gbnf_mutual),
    "GBNF, left recursion": ("gbnf", gbnf_left_recursive),
    "schema, enum": ("json_schema", schema_enum),
    "schema, mutual definitions": ("json_schema", schema_mutual),
    "schema, oneOf": ("json_schema", schema_one_of),
}
"""By number of things."""
