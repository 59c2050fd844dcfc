"""Grammars of less than a megabyte that are heavy in one way each, or in two: what the limits have to stop.

A family takes a generator of random numbers and a size, a count that grows exponentially from input to input, and gives
a notation and a text. Families are named after what grows.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from random import Random
from typing import Any, Final

LONGEST: Final = 950_000
Family = Callable[[Random, int], Any]


def _nested(key: str, inner: Any, depth: int) -> str:
    return f'{{"{key}":' * depth + json.dumps(inner) + "}" * depth


def _word(rng: Random) -> str:
    return "".join(rng.choice("abcdefgh") for _ in range(rng.randint(1, 6)))


# ---------------------------------------------------------------------- JSON Schema: counts


def count(rng: Random, n: int) -> Any:
    """One large count, or two."""
    kind = rng.choice(("Properties", "Items", "Length"))
    schema: dict[str, Any] = {rng.choice(("min", "max")) + kind: n}
    if rng.random() < 0.4:
        schema |= {"min" + kind: n, "max" + kind: n + rng.choice((0, 1, n))}
    if rng.random() < 0.5:
        schema["type"] = {"Properties": "object", "Items": "array", "Length": "string"}[kind]
    if rng.random() < 0.3:
        schema |= rng.choice(
            (
                {"pattern": "^(ab|c)*$"},
                {"pattern": "a.*b"},
                {"format": "email"},
                {"uniqueItems": True},
                {"items": {"type": "integer"}},
                {"patternProperties": {"^a": {"type": "null"}}},
                {"propertyNames": {"pattern": "^[a-c]{1,3}$"}},
                {"propertyNames": {"maxLength": 3}},
                {"additionalProperties": False, "properties": {"a": True, "b": True}},
                {"required": ["a", "b"]},
            )
        )
    return schema


def contains(rng: Random, n: int) -> Any:
    schema: dict[str, Any] = {"type": "array", "contains": rng.choice(({"type": "null"}, {"minimum": 3}, {}))}
    schema[rng.choice(("minContains", "maxContains"))] = n
    if rng.random() < 0.5:
        schema[rng.choice(("maxItems", "minItems"))] = rng.choice((n, 2 * n, n // 2))
    if rng.random() < 0.4:
        return {"allOf": [schema, {**schema, "contains": {"type": "string"}}]}
    return schema


def count_of_counts(rng: Random, n: int) -> Any:
    inner: Any = {"type": "string", "minLength": n}
    for _ in range(rng.randint(1, 8)):
        inner = rng.choice(
            (
                {"type": "array", "items": inner, "minItems": n},
                {"type": "object", "additionalProperties": inner, "minProperties": n},
                {"type": "array", "items": inner, "maxItems": n},
            )
        )
    return inner


def indexed(rng: Random, n: int) -> Any:
    items = [rng.choice(({"type": "null"}, {"const": i}, {"type": "string"}, {})) for i in range(min(n, 20_000))]
    schema = {"type": "array", "prefixItems": items, "items": rng.choice((False, True, {"type": "integer"}))}
    if rng.random() < 0.5:
        schema["minItems"] = len(items) // rng.choice((1, 2))
    if rng.random() < 0.3:
        schema["unevaluatedItems"] = False
    if rng.random() < 0.3:
        schema["contains"] = {"const": 3}
    return schema


def unique(rng: Random, n: int) -> Any:
    values = [rng.choice((i, str(i), i / 7, [i])) for i in range(min(n, 5_000))]
    schema = {"type": "array", "uniqueItems": True, "minItems": rng.choice((1, 5, min(n, 64), n))}
    if rng.random() < 0.7:
        schema["items"] = rng.choice(({"enum": values}, {"type": "boolean"}, {"type": "integer", "maximum": n}))
    return schema


# ---------------------------------------------------------------------- JSON Schema: width and depth


def properties(rng: Random, n: int) -> Any:
    n = min(n, 50_000)
    names = [f"p{i}" for i in range(n)]
    schema: dict[str, Any] = {"type": "object", "properties": dict.fromkeys(names, rng.choice(({}, {"type": "null"})))}
    if rng.random() < 0.6:
        schema["required"] = rng.sample(names, rng.randint(0, min(n, 10_000)))
    for extra in rng.sample(
        (
            {"additionalProperties": False},
            {"minProperties": n // 2},
            {"maxProperties": n // 2},
            {"unevaluatedProperties": False},
            {"propertyNames": {"pattern": "^p"}},
            {"patternProperties": {"[13579]$": {"type": "null"}, "^p1": {}}},
            {"not": {"required": names[:2]}},
        ),
        rng.randint(0, 2),
    ):
        schema |= extra
    return schema


def patterns(rng: Random, n: int) -> Any:
    shapes = ("^{0}", "{0}$", "{0}", "{0}.*{1}", "^.{{{2}}}{0}", "^[^{1}]*$", "({0}|{1}){{2,{2}}}")
    found = {
        rng.choice(shapes).format(_word(rng), rng.choice("abcd"), rng.randint(2, 9)): {"minimum": i}
        for i in range(min(n, 2_000))
    }
    schema: dict[str, Any] = {"type": "object", "patternProperties": found}
    if rng.random() < 0.5:
        schema["additionalProperties"] = False
    if rng.random() < 0.3:
        schema["minProperties"] = 3
    return schema


def names_with_patterns(rng: Random, n: int) -> Any:
    return {
        "properties": {_word(rng) + str(i): {"minimum": i} for i in range(min(n, 10_000))},
        "patternProperties": {_word(rng): {"maximum": i} for i in range(rng.randint(1, 12))},
        "additionalProperties": False,
        "minProperties": rng.choice((0, 2)),
    }


def choices_that_multiply(rng: Random, n: int) -> Any:
    """`allOf` of choices between required names, as in `{anyOf: [{required: [a]}, {required: [b]}]}`."""
    n = min(n, 2_000)
    outer, inner = rng.choice(("allOf", "anyOf", "oneOf")), rng.choice(("anyOf", "oneOf", "allOf"))
    width = rng.choice((2, 2, 3, 5))

    def part(i: int, j: int) -> Any:
        name = f"{'abcde'[j]}{i}"
        return rng.choice(
            (
                {"required": [name]},
                {"required": [name, f"{'abcde'[j]}{rng.randrange(n)}"]},
                {"properties": {name: {"const": j}}},
                {"not": {"required": [name]}},
                {"properties": {name: {"type": "integer"}}, "required": [name]},
            )
        )

    same = part if rng.random() < 0.4 else lambda i, j: {"required": [f"{'abcde'[j]}{i}"]}
    schema: dict[str, Any] = {outer: [{inner: [same(i, j) for j in range(width)]} for i in range(n)]}
    if rng.random() < 0.3:
        schema["type"] = "object"
    if rng.random() < 0.2:
        schema["additionalProperties"] = False
    return schema


def dependencies(rng: Random, n: int) -> Any:
    n = min(n, 5_000)
    web = {f"p{i}": sorted({f"p{rng.randrange(n)}" for _ in range(rng.randint(1, 4))}) for i in range(n)}
    schema: dict[str, Any] = {"dependentRequired": web}
    if rng.random() < 0.4:
        schema = {"dependentSchemas": {a: {"required": b, "minProperties": 2} for a, b in web.items()}}
    if rng.random() < 0.5:
        schema["properties"] = {f"p{i}": {"type": "integer"} for i in range(n)}
    if rng.random() < 0.3:
        schema["required"] = ["p0"]
    if rng.random() < 0.2:
        schema["unevaluatedProperties"] = False
    return schema


def conditions(rng: Random, n: int) -> Any:
    n = min(n, 1_000)
    return {
        "type": "object",
        "allOf": [
            {
                "if": {"properties": {f"k{rng.randrange(n)}": {"const": i}}},
                "then": {"required": [f"a{i}"]},
                "else": rng.choice(({}, {"properties": {f"b{i}": False}})),
            }
            for i in range(n)
        ],
        **({"unevaluatedProperties": False} if rng.random() < 0.3 else {}),
    }


def union_of_records(rng: Random, n: int) -> Any:
    n = min(n, 2_000)
    records = []
    for i in range(n):
        names = [f"f{rng.randrange(2 * n)}" for _ in range(rng.randint(1, 6))]
        record: dict[str, Any] = {"properties": {name: {"type": rng.choice(("null", "integer"))} for name in names}}
        if rng.random() < 0.5:
            record["properties"]["kind"] = {"const": i}
            record["required"] = ["kind"]
        if rng.random() < 0.2:
            record["additionalProperties"] = False
        records.append(record)
    schema: dict[str, Any] = {rng.choice(("anyOf", "oneOf")): records}
    if rng.random() < 0.5:
        schema[rng.choice(("unevaluatedProperties", "unevaluatedItems"))] = False
    return schema


def tower(rng: Random, n: int) -> Any:
    depth = min(n, 300)  # what the json module writes
    inner: Any = rng.choice(({"type": "integer"}, {"required": ["a"]}, {"minLength": 2}))
    for i in range(depth):
        kind = rng.choice(("not", "anyOf", "allOf", "oneOf"))
        inner = {"not": inner} if kind == "not" else {kind: [inner, {"minimum": i}]}
        if i > 200 and rng.random() < 0.01:
            break
    return inner


def deep(rng: Random, n: int) -> str:
    depth = min(n, 90_000)
    key = rng.choice(("not", "items", "additionalProperties", "propertyNames", "contains", "if", "const", "x-a"))
    if key == "const":
        return '{"const":' + "[" * depth + "]" * depth + "}"
    return _nested(key, {"type": "null"}, depth)


def references(rng: Random, n: int) -> Any:
    n = min(n, 5_000)
    shape = rng.choice(("chain", "web", "all", "double"))
    definitions: dict[str, Any] = {}
    for i in range(n):
        following = {"$ref": f"#/$defs/d{i + 1 if shape == 'chain' else rng.randrange(n)}"} if i + 1 < n else {}
        if shape == "all":
            definitions[f"d{i}"] = {"allOf": [{"$ref": f"#/$defs/d{min(n - 1, i + 1)}"}, {"minimum": i}]}
            if i == n - 1:
                definitions[f"d{i}"] = {"type": "integer"}
        elif shape == "double":
            after = {"$ref": f"#/$defs/d{i + 1}"} if i + 1 < n else {"type": "null"}
            definitions[f"d{i}"] = {"type": "array", "prefixItems": [after, after], "minItems": 2}
        else:
            definitions[f"d{i}"] = {"type": "object", "properties": {"n": following}, "required": ["n"][: i % 2]}
    return {"$defs": definitions, "$ref": "#/$defs/d0"}


def dynamic(rng: Random, n: int) -> Any:
    n = min(n, 500)
    return {
        "$id": "http://a.b/0",
        "$dynamicAnchor": "x",
        "$ref": "r0",
        "$defs": {
            f"r{i}": {
                "$id": f"r{i}",
                "$dynamicAnchor": "x",
                "properties": {"a": {"$dynamicRef": "#x"}, "b": {"$ref": f"r{rng.randrange(n)}"}},
            }
            for i in range(n)
        },
    }


# ---------------------------------------------------------------------- JSON Schema: values, texts, numbers


def enumeration(rng: Random, n: int) -> Any:
    kinds: tuple[Callable[[int], Any], ...] = (
        lambda i: f"value {i}",
        lambda i: i * 1.5,
        lambda i: {"a": i, "b": [i]},
        lambda i: [i, i + 1],
        lambda i: "é" * (i % 9) + str(i),
    )
    make = rng.choice(kinds)
    values = [make(i) for i in range(min(n, 30_000))]
    schema: dict[str, Any] = {"enum": values}
    if rng.random() < 0.3:
        schema["not"] = {"enum": values[: len(values) // 2]}
    return schema


def long_text(rng: Random, n: int) -> Any:
    text = rng.choice(("a", "é", "ab", '"\\', "\u0001", "😀")) * n
    return rng.choice(
        (
            {"const": text},
            {"enum": [text, text + "b"]},
            {"properties": {text: {"type": "null"}}, "required": [text]},
            {"pattern": text.replace("\\", "\\\\")},
            {text: 1, "type": "null"},
            {"type": text},
            {"$ref": "#/" + text},
            {"format": text},
            {"patternProperties": {text.replace("\\", "\\\\"): {}}, "additionalProperties": False},
        )
    )


def numbers(rng: Random, n: int) -> str:
    digits = "".join(rng.choice("0123456789") for _ in range(min(n, 5_000)))
    literal = rng.choice((f"1{digits}", f"0.{digits}1", f"1e{n}", f"1e-{n}", f"1{digits}.{digits}", f"-1{digits}e-5"))
    key = rng.choice(("minimum", "maximum", "exclusiveMinimum", "multipleOf", "const", "minLength", "maxItems"))
    parts = [f'"{key}": {literal.lstrip("-") if key == "multipleOf" else literal}']
    if rng.random() < 0.5:
        parts.append(f'"multipleOf": {rng.choice(("7", "0.0003", "1e-9", "123456789", "3.7e5", "1e50", "0.37e-60"))}')
    if rng.random() < 0.5:
        parts.append('"type": "integer"')
    return "{" + ", ".join(parts) + "}"


def multiples(rng: Random, n: int) -> Any:
    primes = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53]
    chosen = [rng.choice(primes) * rng.choice((1, 0.1, 0.001, rng.randint(1, n + 1))) for _ in range(rng.randint(1, 8))]
    schema: dict[str, Any] = {"allOf": [{"multipleOf": value} for value in chosen if value > 0], "type": "number"}
    if rng.random() < 0.5:
        schema["not"] = {"multipleOf": rng.randint(2, n + 2)}
    return schema


def strings(rng: Random, n: int) -> Any:
    """Patterns, formats and lengths on one string."""
    m = min(n, 3_000)
    pool = (
        f"^(a|b)*a(a|b){{{m % 40}}}$",
        f"^.{{{m},{2 * m}}}$",
        "^[^x]*x[^x]*$",
        f"(?=.*a.{{{m % 30}}})",
        "(?i)" if rng.random() < 0.1 else "^\\p{L}+$",
        f"^(?!.*(ab){{{m % 20 + 1}}})",
        f"a{{{m}}}b|b{{{m}}}a",
        "^(a*b*c*)*$",
        f"\\b\\w{{{m % 60}}}\\b",
    )
    parts: list[Any] = [{"pattern": pattern} for pattern in rng.sample(pool, rng.randint(1, 4))]
    if rng.random() < 0.4:
        parts.append({"minLength": n, "maxLength": n + 5})
    if rng.random() < 0.3:
        parts.append({"format": rng.choice(("email", "uri", "date-time", "hostname", "idn-hostname", "ipv6", "regex"))})
    whole: dict[str, Any] = {"type": "string", rng.choice(("allOf", "allOf", "anyOf", "oneOf")): parts}
    if rng.random() < 0.3:
        whole["not"] = {"pattern": rng.choice(pool)}
    return whole


def unknown(rng: Random, n: int) -> Any:
    return {f"{_word(rng)}{i}": {"propertys": 1} for i in range(min(n, 20_000))}


SCHEMAS: Final[tuple[Family, ...]] = (
    *(count, contains, count_of_counts, indexed, unique, properties, patterns, names_with_patterns),
    *(choices_that_multiply, dependencies, conditions, union_of_records, tower, deep, references, dynamic),
    *(enumeration, long_text, numbers, multiples, strings, unknown),
)


# ---------------------------------------------------------------------- regular expressions


def repeats(rng: Random, n: int) -> str:
    unit = rng.choice(("a", "[ab]", ".", "\\w", "(?:ab?)", "(a|b|ab)", "\\p{L}", "(?:a*b)"))
    text = f"{unit}{{{rng.choice(('', '0', str(n)))},{n}}}"
    for _ in range(rng.randint(0, 3)):
        text = f"(?:{text}){{{rng.choice((2, 10, n))}}}"
    return text


def determinised(rng: Random, n: int) -> str:
    m = n % 500
    return rng.choice(
        (
            f"(a|b)*a(a|b){{{m}}}",
            f".*a.{{{m}}}b.{{{m}}}",
            f"(?:a?){{{m}}}a{{{m}}}",
            f"(x+x+)+y{{{m}}}",
            "(?:" + "|".join(f"(?:a{{{i + 1}}})*b" for i in range(m % 60)) + ")",
            f"(?=.*a.{{{m}}})(?=.*b.{{{m}}})(?!.*c.{{{m}}}).*",
            f"(?:.*a){{{m}}}",
            "".join(f"(?=(?:a{{{p}}})*$)" for p in (2, 3, 5, 7, 11, 13, 17, 19)[: 2 + m % 7]) + "a+",
            f"(?<=a.{{{m % 60}}})b|.*(?<!b.{{{m % 50}}})c",
        )
    )


def alternatives(rng: Random, n: int) -> str:
    return rng.choice(("|", "|x?")).join(f"{_word(rng)}{i}" for i in range(min(n, 60_000)))


def groups(rng: Random, n: int) -> str:
    depth = min(n, 200_000)
    opening = rng.choice(("(", "(?:a|", "(?=", "(?!", "(a*"))
    return opening * depth + "b" + ")" * depth + rng.choice(("", "*", "{2}"))


def classes(rng: Random, n: int) -> str:
    flag = rng.choice(("", "(?i)"))
    unit = rng.choice(("\\p{L}", "[^\\p{Lu}a-z]", "[\\u0100-\\uffff]", "\\W", "[\\s\\S]", "ſ", "[K-ſ]"))
    return flag + unit * min(n, 5_000)


def literal(rng: Random, n: int) -> str:
    return rng.choice(("a", "é", "ab?", "a*", "[ab]", "\\d+")) * min(n, 190_000)


REGEXES: Final[tuple[Family, ...]] = (repeats, determinised, alternatives, groups, classes, literal)


# ---------------------------------------------------------------------- GBNF


def doubling(rng: Random, n: int) -> str:
    """Rules that lead twice to the next one, so that the ways double with each."""
    n = min(n, 2_000)
    shape = rng.choice(
        ('r{0} "a" | r{0}', "r{0} r{0}", 'r{0} | "a" r{0}', "r{0}? r{0}?", 'r{0} "a" | r{0} "b"', "r{0}+")
    )
    rules = [f"r{i} ::= " + shape.format(i + 1) for i in range(n)]
    return "\n".join(["root ::= r0", *rules, f"r{n} ::= " + rng.choice(('"x"', '"x"?', "[a-z]*"))])


def web_of_rules(rng: Random, n: int) -> str:
    n = min(n, 5_000)
    rules = []
    for i in range(n):
        ways = []
        for _ in range(rng.randint(1, 3)):
            items = [
                rng.choice((f"r{rng.randrange(n)}", '"a"', '"b"', "[a-c]", f"r{rng.randrange(n)}?")) for _ in range(3)
            ]
            ways.append(" ".join(items[: rng.randint(1, 3)]))
        rules.append(f"r{i} ::= " + " | ".join([*ways, f'"c{i}"']))
    return "\n".join(["root ::= r0", *rules])


def ambiguous(rng: Random, n: int) -> str:
    m = n % 200
    return rng.choice(
        (
            'root ::= root root | "a" | root root root',
            'root ::= root "a" root | "" | root root',
            f'root ::= ("a" | "aa" | root){{1,{m + 1}}}',
            'root ::= a b\na ::= a b | "x" | b\nb ::= b a | "y" | a',
            "root ::= " + " | ".join(f'"a"{{{i + 1}}} root "b"' for i in range(m)) + ' | "c"',
            f'root ::= x{{{m}}}\nx ::= x x | "a" | ""',
        )
    )


def long_rules(rng: Random, n: int) -> str:
    body = rng.choice(
        (" | ".join(f'"w{i}"' for i in range(min(n, 60_000))), f'"{"a" * n}"', "[a-z] " * min(n, 100_000))
    )
    return "root ::= " + body


def nested_rules(rng: Random, n: int) -> str:
    depth = min(n, 100_000)
    return "root ::= " + "(" * depth + '"a"' + rng.choice((")", " | root)", ")*", ")?")) * depth


def rule_repeats(rng: Random, n: int) -> str:
    x = f'x ::= "a" | y{{{rng.randint(0, 300)}}}'
    y = f'y ::= "b" x? | [c-d]{{{n % 1000}}}'
    return f"root ::= x{{{rng.choice((0, n))},{n}}}\n{x}\n{y}"


def tokens(rng: Random, n: int) -> str:
    names = " | ".join(f"<[{rng.randrange(4_000)}]>" for _ in range(min(n, 20_000)))
    return rng.choice(
        (f"root ::= ({names})*", f"root ::= !<[1]> root | {names}", f"root ::= (<[5]> | [a-z])* ({names})")
    )


GBNFS: Final[tuple[Family, ...]] = (
    *(doubling, web_of_rules, ambiguous, long_rules, nested_rules, rule_repeats, tokens),
)

FAMILIES: Final[dict[str, tuple[str, Family]]] = {
    f"{notation} {family.__name__}": (notation, family)
    for notation, families in (("json_schema", SCHEMAS), ("regex", REGEXES), ("gbnf", GBNFS))
    for family in families
}


def heavy_input(seed: int) -> tuple[str, str, str]:
    """Return the family's name, the notation and the text that a seed stands for."""
    rng = Random(seed)
    names = list(FAMILIES)
    name = names[seed % len(names)]
    notation, family = FAMILIES[name]
    counts = name.endswith((" count", " contains", " count_of_counts", " repeats", " numbers"))
    most = 9.3 if counts else 5.9
    text = family(rng, int(10 ** rng.uniform(0.5, most)))
    if not isinstance(text, str):
        text = json.dumps(text)
    return name, notation, text if len(text) <= LONGEST else text[: LONGEST - len("...")] + "..."
