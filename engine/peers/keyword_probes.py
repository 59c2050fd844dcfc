"""The probes of keywords: schemas with one keyword each, alone and beside what is known to silence it, with instances.

What an engine does with a keyword follows from its answers: it refuses the schema, accepts all instances (it drops the
keyword), judges all as the standard does (it enforces it), or something else (it approximates it).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

from engine.peers.adapter import BYTES, Peer, PeerAbsentError
from engine.peers.bench import run_bench
from engine.peers.bench_cases import BenchCase, LabelledText
from engine.peers.report import CaseMeasurement, CaseOutcome
from engine.source import CancelToken
from engine.targets import Effect, ProbedKeyword

_LONGEST_REASON: Final = 200

_TARGETS: Final = {"llama-cpp": "llama.cpp"}


@dataclass(frozen=True, slots=True)
class KeywordProbe:
    """A schema about one keyword.

    Attributes:
        case: the keyword, and what is beside it.
        keyword: the keyword.
        schema: the schema.
        valid, invalid: instances by the standard, which differ in the keyword alone.
    """

    case: str
    keyword: str
    schema: Mapping[str, Any]
    valid: tuple[Any, ...]
    invalid: tuple[Any, ...]


_AB: Final = {"properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}}
_CLOSED: Final = {**_AB, "additionalProperties": False}
_MAP: Final = {"additionalProperties": {"type": "integer"}}
_INTEGERS: Final = {"items": {"type": "integer"}}

# keyword, the type, the keywords of the schema, valid instances, invalid instances
_PROBES: Final[tuple[tuple[str, str, dict[str, Any], list[Any], list[Any]], ...]] = (
    ("minLength", "string", {"minLength": 2}, ["ab"], ["a"]),
    ("maxLength", "string", {"maxLength": 2}, ["ab"], ["abc"]),
    ("pattern", "string", {"pattern": "^[a-c]+$"}, ["ab"], ["x"]),
    ("minimum", "integer", {"minimum": 5}, [5, 12], [4]),
    ("maximum", "integer", {"maximum": 5}, [5, -3], [6]),
    ("exclusiveMinimum", "integer", {"exclusiveMinimum": 5}, [6], [5]),
    ("exclusiveMaximum", "integer", {"exclusiveMaximum": 5}, [4], [5]),
    ("multipleOf", "integer", {"multipleOf": 3}, [9], [10]),
    ("minItems", "array", {"minItems": 2}, [[1, 2]], [[1]]),
    ("maxItems", "array", {"maxItems": 2}, [[1, 2]], [[1, 2, 3]]),
    ("items", "array", {**_INTEGERS}, [[1]], [["a"]]),
    ("prefixItems", "array", {"prefixItems": [{"type": "integer"}]}, [[1], [1, "a"], []], [["a"]]),
    ("uniqueItems", "array", {"uniqueItems": True}, [[1, 2]], [[1, 1]]),
    ("contains", "array", {"contains": {"type": "string"}}, [["a"]], [[1]]),
    ("minContains", "array", {"contains": {"type": "string"}, "minContains": 2}, [["a", "b"]], [["a"]]),
    ("maxContains", "array", {"contains": {"type": "string"}, "maxContains": 1}, [["a"]], [["a", "b"]]),
    (
        "unevaluatedItems",
        "array",
        {"prefixItems": [{"type": "integer"}], "unevaluatedItems": False},
        [[1]],
        [[1, 2]],
    ),
    ("properties", "object", {**_AB}, [{"a": 1}], [{"a": "x"}]),
    ("required", "object", {"required": ["a"]}, [{"a": 1}], [{}]),
    ("additionalProperties", "object", {**_CLOSED}, [{"a": 1}], [{"c": 1}]),
    ("patternProperties", "object", {"patternProperties": {"^a": {"type": "integer"}}}, [{"ab": 1}], [{"ab": "x"}]),
    ("propertyNames", "object", {"propertyNames": {"pattern": "^a+$"}}, [{"aa": 1}], [{"b": 1}]),
    ("minProperties", "object", {"minProperties": 1}, [{"a": 1}], [{}]),
    ("maxProperties", "object", {"maxProperties": 1}, [{"a": 1}], [{"a": 1, "b": 2}]),
    ("dependentRequired", "object", {**_AB, "dependentRequired": {"a": ["b"]}}, [{"a": 1, "b": 2}], [{"a": 1}]),
    (
        "dependentSchemas",
        "object",
        {**_AB, "dependentSchemas": {"a": {"required": ["b"]}}},
        [{"a": 1, "b": 2}],
        [{"a": 1}],
    ),
    ("unevaluatedProperties", "object", {**_AB, "unevaluatedProperties": False}, [{"a": 1}], [{"c": 1}]),
    ("enum", "string", {"enum": ["x", "y"]}, ["x"], ["z"]),
    ("const", "string", {"const": "x"}, ["x"], ["z"]),
    ("not", "string", {"not": {"const": "x"}}, ["y"], ["x"]),
    ("if", "integer", {"if": {"minimum": 5}, "then": {"maximum": 7}}, [3, 6], [8]),
    ("else", "integer", {"if": {"minimum": 5}, "else": {"maximum": 3}}, [3, 6], [4]),
    ("allOf", "string", {"allOf": [{"type": "string", "maxLength": 2}]}, ["ab"], ["abc"]),
    ("anyOf", "string", {"anyOf": [{"const": "x"}, {"const": "y"}]}, ["x", "y"], ["z"]),
    ("oneOf", "string", {"oneOf": [{"enum": ["x", "y"]}, {"enum": ["y", "z"]}]}, ["x", "z"], ["y"]),
    ("$ref", "string", {"$ref": "#/$defs/s", "$defs": {"s": {"enum": ["x"]}}}, ["x"], ["z"]),
)

# the case, the keyword, the schema, valid instances, invalid instances
_BESIDE: Final[tuple[tuple[str, str, dict[str, Any], list[Any], list[Any]], ...]] = (
    ("beside pattern", "maxLength", {"type": "string", "pattern": "^a+$", "maxLength": 2}, ["aa"], ["aaa"]),
    ("beside pattern", "minLength", {"type": "string", "pattern": "^a+$", "minLength": 2}, ["aa"], ["a"]),
    (
        "beside format",
        "maxLength",
        {"type": "string", "format": "uri", "maxLength": 8},
        ["http://a"],
        ["http://abc"],
    ),
    (
        "beside format",
        "pattern",
        {"type": "string", "format": "date", "pattern": "^2020"},
        ["2020-01-02"],
        ["2021-01-02"],
    ),
    ("searched for", "pattern", {"type": "string", "pattern": "[0-9]"}, ["a1b", "1"], ["ab"]),
    ("with \\d", "pattern", {"type": "string", "pattern": "^\\d+$"}, ["12"], ["x"]),
    ("with \\b", "pattern", {"type": "string", "pattern": "^\\bfoo\\b$"}, ["foo"], ["fo"]),
    ("with look-ahead", "pattern", {"type": "string", "pattern": "^(?=.*[0-9])[a-z0-9]+$"}, ["a1"], ["aa"]),
    ("with look-behind", "pattern", {"type": "string", "pattern": "^[ab](?<=a)c$"}, ["ac"], ["bc"]),
    ("with a property", "pattern", {"type": "string", "pattern": "^\\p{L}$"}, ["a"], ["1"]),
    ("with an escaped letter", "pattern", {"type": "string", "pattern": "^a\\!$"}, ["a!"], ["a"]),
    ("of 10,000", "maxLength", {"type": "string", "maxLength": 10_000}, ["ab"], []),
    ("of 2,500", "minLength", {"type": "string", "minLength": 2_500}, ["a" * 2_500], ["a"]),
    ("of a number", "minimum", {"type": "number", "minimum": 5}, [5, 5.5], [4.5]),
    ("of a number", "maximum", {"type": "number", "maximum": 5}, [5, 4.5], [5.5]),
    ("of a number", "multipleOf", {"type": "number", "multipleOf": 0.5}, [1.5], [1.2]),
    ("of draft 4", "exclusiveMinimum", {"type": "integer", "minimum": 5, "exclusiveMinimum": True}, [6], [5]),
    ("as a list", "items", {"type": "array", "items": [{"type": "integer"}]}, [[1], [1, "a"], []], [["a"]]),
    (
        "after a list",
        "additionalItems",
        {"type": "array", "items": [{"type": "integer"}], "additionalItems": False},
        [[1]],
        [[1, 2]],
    ),
    ("beside items", "minItems", {"type": "array", **_INTEGERS, "minItems": 2}, [[1, 2]], [[1]]),
    ("beside items", "maxItems", {"type": "array", **_INTEGERS, "maxItems": 2}, [[1, 2]], [[1, 2, 3]]),
    ("beside items", "uniqueItems", {"type": "array", **_INTEGERS, "uniqueItems": True}, [[1, 2]], [[1, 1]]),
    ("beside properties", "required", {"type": "object", **_AB, "required": ["a"]}, [{"a": 1}], [{}]),
    (
        "beside properties",
        "patternProperties",
        {"type": "object", **_AB, "patternProperties": {"^x": {"type": "integer"}}},
        [{"a": 1, "x": 1}],
        [{"a": 1, "x": "s"}],
    ),
    (
        "beside additionalProperties",
        "minProperties",
        {"type": "object", **_MAP, "minProperties": 1},
        [{"a": 1}],
        [{}],
    ),
    (
        "beside additionalProperties",
        "maxProperties",
        {"type": "object", **_MAP, "maxProperties": 1},
        [{"a": 1}],
        [{"a": 1, "b": 2}],
    ),
    ("with other properties", "properties", {"type": "object", **_AB}, [{"a": 1, "c": 1}], []),
    ("of draft 7", "dependencies", {"type": "object", **_AB, "dependencies": {"a": ["b"]}}, [{"b": 2}], [{"a": 1}]),
    ("of two", "allOf", {"allOf": [{"type": "string"}, {"maxLength": 2}]}, ["ab"], ["abc", 1]),
    (
        "of two objects",
        "allOf",
        {
            "allOf": [
                {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]},
                {"type": "object", "properties": {"b": {"type": "integer"}}, "required": ["b"]},
            ]
        },
        [{"a": 1, "b": 1}],
        [{"a": 1}, {"b": 1}],
    ),
    (
        "beside anyOf",
        "properties",
        {"type": "object", **_CLOSED, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]},
        [{"a": 1}],
        [{"c": 1}, {"a": "x"}],
    ),
    (
        "beside $ref",
        "maxLength",
        {"$ref": "#/$defs/s", "maxLength": 2, "$defs": {"s": {"type": "string"}}},
        ["ab"],
        ["abc"],
    ),
    (
        "to an anchor",
        "$dynamicRef",
        {"$dynamicRef": "#s", "$defs": {"s": {"$dynamicAnchor": "s", "enum": ["x"]}}},
        ["x"],
        ["z"],
    ),
    ("recursive", "$ref", {"type": "array", "items": {"$ref": "#"}}, [[], [[]]], [[1]]),
    ("of types", "type", {"type": ["integer", "null"]}, [1, None], ["a"]),
)

_FORMATS: Final = {
    "date": ("2020-01-02", "2020-13-02"),
    "time": ("10:20:30Z", "x"),
    "date-time": ("2020-01-02T10:20:30Z", "x"),
    "duration": ("P1D", "x"),
    "email": ("a@b.co", "x"),
    "idn-email": ("a@b.co", "x"),
    "hostname": ("a.co", "-"),
    "idn-hostname": ("a.co", "-"),
    "ipv4": ("1.2.3.4", "1.2.3"),
    "ipv6": ("::1", "x"),
    "uri": ("http://a.co/b", "x y"),
    "uri-reference": ("/a", "\\"),
    "iri": ("http://a.co/b", "x y"),
    "uri-template": ("/a/{b}", "{"),
    "json-pointer": ("/a", "a"),
    "relative-json-pointer": ("0/a", "/a"),
    "uuid": ("123e4567-e89b-12d3-a456-426614174000", "123"),
    "regex": ("a+", "("),
}


def target_of(peer: str) -> str:
    """Return the name of the data of an engine (`engine.targets.ENGINES`) by the name of its adapter."""
    return _TARGETS.get(peer, peer)


def keyword_probes() -> tuple[KeywordProbe, ...]:
    """Return all probes: each keyword with and without `type`, beside others, and each format."""
    return tuple(_probes())


def _probes() -> Iterator[KeywordProbe]:
    for keyword, kind, schema, valid, invalid in _PROBES:
        for case, full in (("with type", {"type": kind, **schema}), ("without type", schema)):
            yield KeywordProbe(f"{keyword} {case}", keyword, full, tuple(valid), tuple(invalid))
    for case, keyword, schema, valid, invalid in _BESIDE:
        yield KeywordProbe(f"{keyword} {case}", keyword, schema, tuple(valid), tuple(invalid))
    for name, (valid_text, invalid_text) in _FORMATS.items():
        yield KeywordProbe(
            f"format {name}", "format", {"type": "string", "format": name}, (valid_text,), (invalid_text,)
        )


def probe_keywords(
    peer: Peer,
    probes: Sequence[KeywordProbe],
    *,
    limit_s: float = 10.0,
    cancel: CancelToken | None = None,
    today: str = "",
) -> tuple[ProbedKeyword, ...]:
    """Run an engine on probes; a crash or a timeout is a refusal with its text.

    Args:
        peer: the engine.
        probes: the schemas.
        limit_s: the time for a schema, in seconds.
        cancel: checked many times a second; receives the progress.
        today: the date of the rows; by default that of the clock.

    Raises:
        PeerAbsentError: the engine is not installed, or cannot be used.
    """
    cases = [
        BenchCase(
            probe.case,
            "json_schema",
            json.dumps(probe.schema),
            tuple(map(LabelledText, instances_of(probe))),
        )
        for probe in probes
    ]
    (measured,) = run_bench((peer,), BYTES, cases, limit_s=limit_s, cancel=cancel)
    if measured.absent is not None:
        raise PeerAbsentError("errors.peers.absent", name=peer.name, reason=measured.absent)
    day = today or date.today().isoformat()  # noqa: DTZ011 - the user's day
    version = measured.version or ""
    return tuple(_row(probe, case, version, day) for probe, case in zip(probes, measured.cases, strict=True))


def _row(probe: KeywordProbe, case: CaseMeasurement, version: str, day: str) -> ProbedKeyword:
    if case.ending is not CaseOutcome.DONE:
        effect = Effect.SLOWS if case.ending is CaseOutcome.TIMED_OUT else Effect.REFUSES
        return refused_row(probe, case.reason, version, day, effect)
    accepted = {text for text, verdict in zip(instances_of(probe), case.verdicts, strict=True) if verdict}
    return judged_row(probe, accepted, version, day)


def instances_of(probe: KeywordProbe) -> list[str]:
    """Return the instances of a probe as JSON texts, the valid ones first."""
    return [_compact(instance) for instance in (*probe.valid, *probe.invalid)]


def judged_row(probe: KeywordProbe, accepted: Collection[str], version: str, day: str) -> ProbedKeyword:
    """Return what an engine does with a keyword.

    Args:
        probe: the probe.
        accepted: the instances that the engine accepts.
        version: the version of the engine.
        day: the date of the row.
    """
    refused_valid = [text for text in map(_compact, probe.valid) if text not in accepted]
    accepted_invalid = [text for text in map(_compact, probe.invalid) if text in accepted]
    wrong = tuple(text if len(text) < _LONGEST_REASON else f"{text[:20]}…" for text in refused_valid + accepted_invalid)
    if not wrong:
        effect = Effect.ENFORCES
    elif not refused_valid and len(accepted_invalid) == len(probe.invalid):
        effect = Effect.DROPS
    else:
        effect = Effect.APPROXIMATES
    return ProbedKeyword(probe.case, probe.keyword, effect, wrong, version=version, date=day)


def refused_row(
    probe: KeywordProbe, reason: str, version: str, day: str, effect: Effect = Effect.REFUSES
) -> ProbedKeyword:
    """Return the row of an engine that refuses a schema, or takes too long for it.

    Args:
        probe: the probe.
        reason: the message of the engine.
        version: the version of the engine.
        day: the date of the row.
        effect: what it does.
    """
    shortened = " ".join(reason.split())[:_LONGEST_REASON]
    return ProbedKeyword(probe.case, probe.keyword, effect, (), shortened, version=version, date=day)


def _compact(instance: Any) -> str:
    return json.dumps(instance, ensure_ascii=False, separators=(",", ":"))
