"""Schemas of two to four keywords, with empty containers on purpose, against `jsonschema`.

The texts are spelled as Turnstile writes them: integers without fraction or exponent, no duplicate key, no needless
escape. Any property order is allowed, so that only the meaning of the keywords is compared.
"""

from __future__ import annotations

import json
import random
from typing import Any

from engine import CompileOptions, GrammarError, compile_grammar
from tests.exactness.oracles import schema_verdict
from tests.exactness.soundness.tally import Tally

TEXTS = 12
"""The number of texts for each schema."""

NAMES = ("x", "y", "z")
SCALARS: tuple[Any, ...] = (None, True, False, 0, 1, 2, -1, "", "a", "x")


def check(rng: random.Random, tally: Tally) -> None:
    """Make one schema and hold the verdicts on some instances against the oracle's."""
    schema = make_schema(rng, 3)
    source = json.dumps(schema)
    try:
        grammar = compile_grammar("json_schema", source, CompileOptions(property_order="any"))
    except GrammarError as error:
        tally.skip(f"refused: {error.diagnostics[0].code}")
        return
    is_valid = schema_verdict(schema)
    for _ in range(TEXTS):
        text = json.dumps(make_value(rng, 3), separators=(",", ":"))
        accepted, valid = grammar.fullmatch(text), is_valid(text)
        if accepted == valid:
            tally.agree()
        else:
            kind = "false accept" if accepted else "false reject"
            tally.differ(kind, "json_schema", source, text, "property_order=any; against jsonschema")


def make_value(rng: random.Random, depth: int) -> Any:
    """Make an instance; empty containers are frequent."""
    if depth == 0 or rng.random() < 0.35:
        return rng.choice(SCALARS)
    size = rng.choice((0, 0, 1, 1, 2, 3))
    if rng.random() < 0.5:
        return [make_value(rng, depth - 1) for _ in range(size)]
    return {rng.choice(NAMES): make_value(rng, depth - 1) for _ in range(size)}


def make_schema(rng: random.Random, depth: int) -> Any:
    """Make a schema of some keywords."""
    if depth == 0 or rng.random() < 0.1:
        return rng.choice((True, False, {}, {"type": "integer"}, {"const": make_value(rng, 1)}, {"type": "array"}))
    names = rng.sample(sorted(KEYWORDS), rng.randint(2, 4))
    return {keyword: value for name in names for keyword, value in KEYWORDS[name](rng, depth - 1).items()}


def _subschemas(rng: random.Random, depth: int) -> list[Any]:
    return [make_schema(rng, depth) for _ in range(rng.randint(1, 3))]


KEYWORDS = {
    "type": lambda rng, depth: {"type": rng.choice(("array", "object", "string", "integer", ["array", "null"]))},
    "const": lambda rng, depth: {"const": make_value(rng, 2)},
    "enum": lambda rng, depth: {"enum": [make_value(rng, 2) for _ in range(3)]},
    "not": lambda rng, depth: {"not": make_schema(rng, depth)},
    "allOf": lambda rng, depth: {"allOf": _subschemas(rng, depth)},
    "anyOf": lambda rng, depth: {"anyOf": _subschemas(rng, depth)},
    "oneOf": lambda rng, depth: {"oneOf": _subschemas(rng, depth)},
    "if": lambda rng, depth: {name: make_schema(rng, depth) for name in ("if", "then", "else")},
    "items": lambda rng, depth: {"items": make_schema(rng, depth)},
    "prefixItems": lambda rng, depth: {"prefixItems": _subschemas(rng, depth)},
    "contains": lambda rng, depth: {"contains": make_schema(rng, depth), "minContains": rng.randint(0, 2)},
    "minItems": lambda rng, depth: {"minItems": rng.randint(0, 2)},
    "maxItems": lambda rng, depth: {"maxItems": rng.randint(0, 2)},
    "unevaluatedItems": lambda rng, depth: {"unevaluatedItems": make_schema(rng, 0)},
    "properties": lambda rng, depth: {"properties": {name: make_schema(rng, depth) for name in NAMES[:2]}},
    "required": lambda rng, depth: {"required": rng.sample(NAMES, rng.randint(0, 2))},
    "dependentSchemas": lambda rng, depth: {"dependentSchemas": {rng.choice(NAMES): make_schema(rng, depth)}},
    "dependentRequired": lambda rng, depth: {"dependentRequired": {rng.choice(NAMES): [rng.choice(NAMES)]}},
    "additionalProperties": lambda rng, depth: {"additionalProperties": make_schema(rng, depth)},
    "unevaluatedProperties": lambda rng, depth: {"unevaluatedProperties": make_schema(rng, 0)},
}
"""Makers of keywords that go together; each gets the random numbers and the depth of its subschemas."""
