"""Mutations of right outputs, each with the cause that a diagnosis must name.

A mutation is a function of a subject and a source of choices; it returns None if it cannot be made of that subject. The
labels follow the definitions of the causes alone. `jsonschema` and the form of the text decide whether a mutation fits;
the engine is not asked, so that the labels are independent of it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from jsonschema.protocols import Validator
from jsonschema.validators import validator_for

from tests.diagnosis_cases.instances import Sampler, Site, replaced, sites, spelled
from tests.diagnosis_cases.json_spans import structural_offsets, value_spans
from tests.diagnosis_cases.prose import prose

DETAIL_OF: Final = {
    "minimum": "range",
    "maximum": "range",
    "exclusiveMinimum": "range",
    "exclusiveMaximum": "range",
    "minLength": "length",
    "maxLength": "length",
    "pattern": "pattern",
    "enum": "enum",
    "type": "type",
    "required": "missing-required",
    "additionalProperties": "extra-property",
}
"""The detail of a violated keyword; the causes define none for the others."""

_ASSERTIONS: Final = frozenset(DETAIL_OF) | frozenset(
    "const multipleOf minItems maxItems uniqueItems minProperties maxProperties items".split()
)
_FREE: Final = frozenset(("pattern", "format", "maxLength", "enum", "const", "examples"))
_EXTRA_PROPERTIES: Final = ("note", "confidence_level", "reasoning", "metadata", "uid", "_comment", "additional_info")
_BAD_FORMATS: Final = {
    "date": ("2024-02-31", "18.03.2024", "March 3, 2024"),
    "date-time": ("2025-05-04 at 9:30", "tomorrow 9am"),
    "email": ("ada at example.org", "team"),
    "uuid": ("3f2504e0-4f89-11d3", "not-a-uuid"),
    "uri": ("not a link", "example page"),
}
_BLANKS: Final = (" ", "\n", "\t", "\n\n", " \n", "\r\n", "\n        ", "\t\t\n")


@dataclass(frozen=True)
class Subject:
    """A grammar with a right output.

    Attributes:
        name: the name of the grammar.
        notation: the notation of the grammar.
        source: its text.
        right: the right output.
        value: the right output as JSON; None if the grammar is no JSON Schema.
        schema: the schema; None if the grammar is none.
        style: the layout of the right output.
        prose: the texts to choose from.
    """

    name: str
    notation: str
    source: str
    right: str
    value: Any
    schema: Mapping[str, Any] | None
    style: str
    prose: tuple[str, ...]


@dataclass(frozen=True)
class Mutation:
    """A wrong output and its label; the fields are those of `WrongOutput`."""

    wrong: str
    finish: str | None
    causes: tuple[str, ...]
    detail: str | None = None
    pointer: str | None = None
    reason: str = ""
    budget: int | None = None


Mutate = Callable[[Subject, Random], Mutation | None]


def validator(schema: Mapping[str, Any], root: Mapping[str, Any] | None = None) -> Validator:
    """Return a validator of a schema whose references are relative to a root, by default the schema itself."""
    kind = validator_for(root or schema)
    if root is None or root is schema:
        return kind(schema)
    definitions = {name: root[name] for name in ("$schema", "$defs", "definitions") if name in root}
    return kind({**definitions, **schema})


def _holds(root: Mapping[str, Any]) -> Callable[[Any, Any], bool]:
    return lambda part, value: bool(validator(part, root).is_valid(value))


def _sites(subject: Subject) -> list[Site]:
    assert subject.schema is not None
    return list(sites(subject.value, subject.schema, _holds(subject.schema)))


# --------------------------------------------------------------------------------------------------- relaxed schemas


def without_keyword(schema: Any, pointer: str) -> Any:
    """Return a copy of a schema without the keyword that a JSON Pointer names."""
    first, _, rest = pointer.removeprefix("/").partition("/")
    if isinstance(schema, list):
        return [without_keyword(item, rest) if str(at) == first else item for at, item in enumerate(schema)]
    if not rest:
        return {name: item for name, item in schema.items() if name != first}
    return {name: without_keyword(item, rest) if name == first else item for name, item in schema.items()}


def assertions(schema: Any, pointer: str = "") -> Iterator[str]:
    """Yield the JSON Pointers of the keywords of a schema that judge a value without a subschema."""
    if not isinstance(schema, dict):
        return
    for keyword, item in schema.items():
        here = f"{pointer}/{keyword}"
        if keyword in ("properties", "$defs", "definitions"):
            for name, part in item.items():
                yield from assertions(part, f"{here}/{name}")
        elif keyword in ("anyOf", "prefixItems"):
            for index, part in enumerate(item):
                yield from assertions(part, f"{here}/{index}")
        elif isinstance(item, dict):
            yield from assertions(item, here)
        elif keyword in _ASSERTIONS:
            yield here


def relaxations(schema: Mapping[str, Any], value: Any) -> list[str]:
    """Return the pointers of all single keywords without which a value is valid."""
    return [pointer for pointer in assertions(schema) if validator(without_keyword(schema, pointer)).is_valid(value)]


# ------------------------------------------------------------------------------------------------- text and its end


def cut_off(subject: Subject, rng: Random) -> Mutation | None:
    """End the output before its end, by the token budget."""
    wrong = subject.right[: rng.randrange(2, len(subject.right))]
    budget = max(1, len(wrong.encode()) // 4) if rng.random() < 0.3 else None
    return Mutation(wrong, "length", ("cut-off",), budget=budget)


def whitespace_loop(subject: Subject, rng: Random) -> Mutation | None:
    """Insert hundreds of blanks where JSON allows them; the output ends there, or goes on."""
    offset = rng.choice(structural_offsets(subject.right))
    blanks = rng.choice(_BLANKS)
    head = subject.right[:offset] + blanks * (rng.randint(300, 1500) // len(blanks))
    if rng.random() < 0.6:
        return Mutation(head, "length", ("whitespace-loop",))
    return Mutation(head + subject.right[offset:].lstrip(), "stop", ("whitespace-loop",))


def repetition_loop(subject: Subject, rng: Random) -> Mutation | None:
    """Repeat a string's text, or the last item of an array, until the token budget is used up."""
    spans = {span.path: span for span in value_spans(subject.right) if not span.is_name}
    choices: list[str] = []
    for site in _sites(subject):
        if isinstance(site.value, str) and len(site.value) >= 12 and not _FREE & site.schema.keys():
            span = spans[site.path]
            body = subject.right[span.start + 1 : span.end - 1]
            choices.append(subject.right[: span.end - 1] + f" {body}" * rng.randint(30, 60) + " " + body[:6])
        elif isinstance(site.value, list) and site.value and not {"maxItems", "uniqueItems"} & site.schema.keys():
            if "prefixItems" in site.schema:
                continue
            span = spans[(*site.path, len(site.value) - 1)]
            before = subject.right[: span.start]
            blanks = before[len(before.rstrip()) :]
            item = "," + blanks + subject.right[span.start : span.end]
            choices.append(subject.right[: span.end] + item * rng.randint(30, 60) + item[: len(item) // 2])
    return Mutation(rng.choice(choices), "length", ("repetition-loop",)) if choices else None


def constraint_off(subject: Subject, rng: Random) -> Mutation | None:
    """Write prose, a list, a table or XML instead."""
    return Mutation(prose(subject.prose, subject.value, rng), _end(rng), ("constraint-off",))


# -------------------------------------------------------------------------------------------------- the form of JSON


def trailing_comma(subject: Subject, rng: Random) -> Mutation | None:
    """Put a comma after the last item of an object or array."""
    closers = [span.end - 1 for span in value_spans(subject.right) if subject.right[span.end - 1] in "}]"]
    heads = [subject.right[:closer].rstrip() for closer in closers]
    heads = [head for head in heads if head[-1] not in "{["]
    if not heads:
        return None
    head = rng.choice(heads)
    return _violation(head + "," + subject.right[len(head) :], "trailing-comma", rng)


def single_quotes(subject: Subject, rng: Random) -> Mutation | None:
    """Put all strings, all names, or one string of the output in single quotes."""
    spans = [span for span in value_spans(subject.right) if subject.right[span.start] == '"']
    names = [span for span in spans if span.is_name]
    plain = [span for span in spans if not span.is_name]
    if not names or not plain:
        return None
    wrong = subject.right
    for span in sorted(rng.choice((spans, names, [rng.choice(plain)])), key=lambda span: -span.start):
        body = wrong[span.start + 1 : span.end - 1].replace('\\"', '"').replace("'", "\\'")
        wrong = f"{wrong[: span.start]}'{body}'{wrong[span.end :]}"
    if wrong[1] != "'":
        return _violation(wrong, "single-quotes", rng)
    reason = "it leaves the language at its second byte, which is the evidence of constraint-off as well"
    return Mutation(wrong, _end(rng), ("constraint-off", "schema-violation"), "single-quotes", None, reason)


def nan(subject: Subject, rng: Random) -> Mutation | None:
    """Write NaN instead of a number."""
    numbers = {
        site.path
        for site in _sites(subject)
        if isinstance(site.value, int | float) and not isinstance(site.value, bool) and not _FREE & site.schema.keys()
    }
    spans = [span for span in value_spans(subject.right) if span.path in numbers and not span.is_name]
    if not spans:
        return None
    span = rng.choice(spans)
    return _violation(subject.right[: span.start] + "NaN" + subject.right[span.end :], "nan", rng)


def raw_newline(subject: Subject, rng: Random) -> Mutation | None:
    """Write the newlines of a string as they are, not as escapes."""
    strings = {site.path: site.value for site in _sites(subject) if isinstance(site.value, str) and "\n" in site.value}
    spans = [span for span in value_spans(subject.right) if span.path in strings and not span.is_name]
    if not spans:
        return None
    span = rng.choice(spans)
    lines = (json.dumps(line, ensure_ascii=False)[1:-1] for line in strings[span.path].split("\n"))
    wrong = subject.right[: span.start + 1] + "\n".join(lines) + subject.right[span.end - 1 :]
    return _violation(wrong, "raw-newline", rng)


def code_fence(subject: Subject, rng: Random) -> Mutation | None:
    """Put the right output in a code fence."""
    opening = rng.choice(("```json\n", "```json\n", "```\n", "```JSON\n"))
    return _violation(opening + subject.right + rng.choice(("\n```", "\n```\n")), "code-fence", rng)


def second_value(subject: Subject, rng: Random) -> Mutation | None:
    """Write another right output after the right one."""
    assert subject.schema is not None
    other = Sampler(subject.schema, rng).draw()
    if other == subject.value or not validator(subject.schema).is_valid(other):
        return None
    between = rng.choice(("\n", "\n\n", " ", "", ", ", ",\n"))
    return _violation(subject.right + between + spelled(other, subject.style), "second-value", rng)


def key_order(subject: Subject, rng: Random) -> Mutation | None:
    """Write the declared properties of an object in another order."""
    objects = [site for site in _sites(subject) if isinstance(site.value, dict)]
    objects = [site for site in objects if len(site.value.keys() & site.schema.get("properties", {}).keys()) >= 2]
    if not objects:
        return None
    site = rng.choice(objects)
    names = list(site.value)
    shuffled = rng.choice((names[::-1], sorted(names), rng.sample(names, len(names))))
    if shuffled == names:
        return None
    value = replaced(subject.value, site.path, {name: site.value[name] for name in shuffled})
    return Mutation(spelled(value, subject.style), _end(rng), ("key-order",))


def _end(rng: Random) -> str | None:
    return rng.choice(("stop", "stop", None))


def _violation(wrong: str, detail: str, rng: Random) -> Mutation:
    return Mutation(wrong, _end(rng), ("schema-violation",), detail)


# -------------------------------------------------------------------------------------------------------- keywords


def missing_required(subject: Subject, rng: Random) -> Mutation | None:
    """Leave out a required property."""
    choices = [
        (site, name)
        for site in _sites(subject)
        if isinstance(site.value, dict)
        for name in site.schema.get("required", ())
    ]
    if not choices:
        return None
    site, name = rng.choice(choices)
    rest = {key: item for key, item in site.value.items() if key != name}
    return _property_mutation(subject, site, rest, "required", rng)


def extra_property(subject: Subject, rng: Random) -> Mutation | None:
    """Add a property to an object that allows no others."""
    closed = [site for site in _sites(subject) if site.schema.get("additionalProperties") is False]
    if not closed:
        return None
    site, name = rng.choice(closed), rng.choice(_EXTRA_PROPERTIES)
    extra = rng.choice(("see above", 0.9, True, "generated", None))
    return _property_mutation(subject, site, {**site.value, name: extra}, "additionalProperties", rng)


def _property_mutation(subject: Subject, site: Site, new: Any, keyword: str, rng: Random) -> Mutation | None:
    value, pointer = replaced(subject.value, site.path, new), f"{site.pointer}/{keyword}"
    assert subject.schema is not None
    if relaxations(subject.schema, value) != [pointer]:
        return None
    reason = "one keyword was not enforced, so precedence names it; the aim names schema-violation for wrong keys"
    causes = ("keyword-not-enforced", "schema-violation")
    return Mutation(spelled(value, subject.style), _end(rng), causes, DETAIL_OF[keyword], pointer, reason)


def violation_of(keyword: str) -> Mutate:
    """Return the mutation that violates one keyword, and no other, of one subschema."""

    def mutate(subject: Subject, rng: Random) -> Mutation | None:
        assert subject.schema is not None
        found = [site for site in _sites(subject) if keyword in site.schema]
        for site in rng.sample(found, len(found)):
            candidates = list(_VIOLATIONS[keyword](site, rng, Sampler(subject.schema, rng)))
            pointer = f"{site.pointer}/{keyword}"
            for new in rng.sample(candidates, len(candidates)):
                value = replaced(subject.value, site.path, new)
                # Formats are annotations to `jsonschema`: the candidates are known to be wrong
                expected = [pointer] if keyword != "format" else [*assertions(subject.schema)]
                if relaxations(subject.schema, value) == expected:
                    wrong = spelled(value, subject.style)
                    return Mutation(wrong, _end(rng), ("keyword-not-enforced",), DETAIL_OF.get(keyword), pointer)
        return None

    return mutate


Violate = Callable[[Site, Random, Sampler], Iterator[Any]]


def _below(site: Site, rng: Random, sampler: Sampler) -> Iterator[Any]:
    bound = site.schema["minimum"]
    yield from (bound - 1, bound - rng.randint(1, 20)) if isinstance(bound, int) else (bound - 0.25,)
    step = site.schema.get("multipleOf")
    if step:
        yield bound - step


def _above(site: Site, rng: Random, sampler: Sampler) -> Iterator[Any]:
    bound, step = site.schema["maximum"], site.schema.get("multipleOf", 1)
    yield from (bound + step, bound + step * rng.randint(2, 40), bound * 10)


def _at_least(site: Site, rng: Random, sampler: Sampler) -> Iterator[Any]:
    bound = site.schema["exclusiveMinimum"]
    yield from (bound, bound - 1, bound - 5)


def _at_most(site: Site, rng: Random, sampler: Sampler) -> Iterator[Any]:
    bound = site.schema["exclusiveMaximum"]
    yield from (bound, bound + 1, bound * 3)


def _between_multiples(site: Site, rng: Random, sampler: Sampler) -> Iterator[Any]:
    step = site.schema["multipleOf"]
    if isinstance(step, int):
        yield from (site.value + 1, site.value + step // 2, site.value - 1)
    else:
        yield from (site.value + step / 2, site.value - step / 2)


def _shorter(site: Site, rng: Random, sampler: Sampler) -> Iterator[Any]:
    least = site.schema["minLength"]
    if least:
        yield from ("", site.value[: least - 1].strip())


def _longer(site: Site, rng: Random, sampler: Sampler) -> Iterator[Any]:
    most = site.schema["maxLength"]
    text = site.value
    while len(text) <= most:
        text += rng.choice((" and more", " (Österreich)", ", as discussed", " – version 2"))
    yield text
    yield text + ", which goes on for longer than anyone asked for"


def _off_pattern(site: Site, rng: Random, sampler: Sampler) -> Iterator[Any]:
    text = site.value
    yield from (text.lower(), text.upper(), text.replace("-", " "), text[:-1], text + "0", "No. " + text, text + "!")


def _off_format(site: Site, rng: Random, sampler: Sampler) -> Iterator[Any]:
    yield from _BAD_FORMATS[site.schema["format"]]


def _off_enumeration(site: Site, rng: Random, sampler: Sampler) -> Iterator[Any]:
    if isinstance(site.value, str):
        text = site.value
        yield from (text.upper(), text.title(), text + "s", "other", "unknown")
    elif isinstance(site.value, bool):
        yield not site.value
    elif isinstance(site.value, int):
        yield from (site.value + 100, 0, -1)


def _other_type(site: Site, rng: Random, sampler: Sampler) -> Iterator[Any]:
    match site.value:
        case bool():
            yield from ("true" if site.value else "false", "yes", int(site.value), None)
        case int() | float():
            yield from (str(site.value), f"{site.value} units", None)
        case str():
            yield from (42, None, [site.value], True)
        case list():
            yield from (", ".join(str(item) for item in site.value if isinstance(item, str)) or "none", None)
        case dict() if site.path:
            yield from ("none", None, [])


def _fewer_items(site: Site, rng: Random, sampler: Sampler) -> Iterator[Any]:
    least = site.schema["minItems"]
    if least:
        yield from (site.value[: least - 1], [])


def _more_items(site: Site, rng: Random, sampler: Sampler) -> Iterator[Any]:
    count = site.schema["maxItems"] + rng.randint(1, 3)
    yield [*site.value, *(sampler.draw(site.schema["items"], str((site.path or ("",))[-1]), 3) for _ in range(count))][
        :count
    ]


def _repeated_item(site: Site, rng: Random, sampler: Sampler) -> Iterator[Any]:
    if site.value:
        yield [*site.value, site.value[0]]
        yield [site.value[0], *site.value]


def _fewer_properties(site: Site, rng: Random, sampler: Sampler) -> Iterator[Any]:
    names = list(site.value)[: site.schema["minProperties"] - 1]
    yield {name: site.value[name] for name in names}


def _more_properties(site: Site, rng: Random, sampler: Sampler) -> Iterator[Any]:
    names = ("gpu", "network", "swap", "threads", "books", "gifts", "phone")
    added = {name: next(iter(site.value.values())) for name in names[: site.schema["maxProperties"]]}
    yield {**site.value, **added}


_VIOLATIONS: Final[dict[str, Violate]] = {
    "minimum": _below,
    "maximum": _above,
    "exclusiveMinimum": _at_least,
    "exclusiveMaximum": _at_most,
    "multipleOf": _between_multiples,
    "minLength": _shorter,
    "maxLength": _longer,
    "pattern": _off_pattern,
    "format": _off_format,
    "enum": _off_enumeration,
    "const": _off_enumeration,
    "type": _other_type,
    "minItems": _fewer_items,
    "maxItems": _more_items,
    "uniqueItems": _repeated_item,
    "minProperties": _fewer_properties,
    "maxProperties": _more_properties,
}

MUTATIONS: Final[dict[str, Mutate]] = {
    "cut-off": cut_off,
    "whitespace-loop": whitespace_loop,
    "repetition-loop": repetition_loop,
    "constraint-off": constraint_off,
    "trailing-comma": trailing_comma,
    "single-quotes": single_quotes,
    "nan": nan,
    "raw-newline": raw_newline,
    "code-fence": code_fence,
    "second-value": second_value,
    "key-order": key_order,
    "missing-required": missing_required,
    "extra-property": extra_property,
    **{f"keyword {keyword}": violation_of(keyword) for keyword in _VIOLATIONS},
}
"""The mutations by kind."""
