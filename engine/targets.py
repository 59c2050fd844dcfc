"""How other engines treat a JSON Schema: what each version refuses, drops or approximates.

The data are in `resources/targets`, a file for each engine; this module has their types and finds what applies to a
schema. A treatment applies where a subschema meets its condition, and to those of its keywords that the subschema has.

Rejected: conditions as JSON Schemas. They would be longer, and this package would need a validator, which is above it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from importlib import metadata
from importlib.resources import files
from typing import Any, Final

import msgspec

from engine.source import EngineError
from engine.source.json_pointer import NAMED_SUBSCHEMAS

ENGINES: Final = (
    "llama.cpp",
    "llguidance",
    "ollama",
    "openai",
    "outlines-core",
    "sglang",
    "vllm",
    "xgrammar",
)
"""The names of the files."""

_DATA: Final = frozenset({"enum", "const", "default", "examples"})


class TargetDataError(EngineError):
    """A file of engine data is not as the types here define it."""


class Effect(StrEnum):
    """The treatment of a keyword: an error, no effect without a message, another meaning, much time, or as written."""

    REFUSES = "refuses"
    DROPS = "drops"
    APPROXIMATES = "approximates"
    SLOWS = "slows"
    ENFORCES = "enforces"


class EvidenceSource(StrEnum):
    """The source of a statement about an engine: it was run, its source text was read, or its documentation."""

    RUN = "run"
    READ = "read"
    DOCUMENTED = "documented"


class SchemaCondition(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A condition on a subschema; all given parts must hold.

    Attributes:
        has: it has all of these keywords.
        has_any: it has one of these keywords.
        lacks: it has none of these keywords.
        types: it declares one of these types.
        not_types: its `type` is not exactly one of these.
        may_be: it declares no type, or this one among others.
        at_least_two: this keyword has two or more schemas.
        within: the parts of the condition with keywords are about the schema in this keyword.
        is_schema: this keyword has a schema that is not a boolean.
        is_restricted: this keyword is present and not `true`.
        is_list: this keyword has a list.
        is_unanchored: this keyword is a pattern that does not run from `^` to `$`.
        is_boolean: this keyword is a boolean.
        text_has: each of these keywords is a string that contains a match of this regular expression.
        at_least: each of these keywords is a number and has this value or more.
        has_unknown_format: its `format` is not in the engine's list.
        is_open: its `additionalProperties` is not `false`.
        has_optional_property: it declares a property that it does not require.
        is_root: it is the whole schema.
        one_of: one of these conditions holds, too.
    """

    has: tuple[str, ...] = ()
    has_any: tuple[str, ...] = ()
    lacks: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    not_types: tuple[str, ...] = ()
    may_be: str = ""
    at_least_two: str = ""
    within: str = ""
    is_schema: str = ""
    is_restricted: str = ""
    is_list: str = ""
    is_unanchored: str = ""
    is_boolean: str = ""
    text_has: dict[str, str] = {}
    at_least: dict[str, int] = {}
    has_unknown_format: bool = False
    is_open: bool = False
    has_optional_property: bool = False
    is_root: bool = False
    one_of: tuple[SchemaCondition, ...] = ()

    def holds(self, schema: Mapping[str, Any], *, formats: frozenset[str], is_root: bool) -> bool:
        """Return whether a subschema meets the condition.

        Args:
            schema: the subschema, as JSON data.
            formats: the formats that the engine knows.
            is_root: whether it is the whole schema.
        """
        if self.within:
            schema = schema.get(self.within, {})
            if not isinstance(schema, dict):
                return False
        declared = schema.get("type")
        types = {declared} if isinstance(declared, str) else set(declared) if isinstance(declared, list) else set()
        several, pattern, format_ = (
            schema.get(self.at_least_two),
            schema.get(self.is_unanchored),
            schema.get("format"),
        )
        return (
            schema.keys() >= set(self.has)
            and (not self.has_any or not schema.keys().isdisjoint(self.has_any))
            and schema.keys().isdisjoint(self.lacks)
            and (not self.types or not types.isdisjoint(self.types))
            and declared not in self.not_types
            and (not self.may_be or "type" not in schema or self.may_be in types)
            and (not self.at_least_two or (isinstance(several, list | dict) and len(several) > 1))
            and (not self.is_schema or isinstance(schema.get(self.is_schema), dict))
            and (not self.is_restricted or schema.get(self.is_restricted, True) is not True)
            and (not self.is_list or isinstance(schema.get(self.is_list), list))
            and (not self.is_boolean or isinstance(schema.get(self.is_boolean), bool))
            and all(_text_has(schema.get(keyword), expression) for keyword, expression in self.text_has.items())
            and all(_at_least(schema.get(keyword), bound) for keyword, bound in self.at_least.items())
            and (
                not self.is_unanchored
                or (isinstance(pattern, str) and not (pattern.startswith("^") and pattern.endswith("$")))
            )
            and (not self.has_unknown_format or (isinstance(format_, str) and format_ not in formats))
            and (not self.is_open or schema.get("additionalProperties") is not False)
            and (
                not self.has_optional_property
                or bool(set(schema.get("properties", ())) - set(schema.get("required", ())))
            )
            and (not self.is_root or is_root)
            and (not self.one_of or any(one.holds(schema, formats=formats, is_root=is_root) for one in self.one_of))
        )


class Treatment(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The treatment of some keywords, or of a subschema, by an engine.

    Attributes:
        effect: the kind of treatment.
        keywords: the keywords that it is about; empty if the note says all.
        when: where it applies.
        note: a sentence about it, with `{keywords}` for those found; empty for that of the effect.
        since: the first version that does it; empty for all before `until`.
        until: the first version that no longer does it; empty for none.
        in_exports: whether an export says it; other treatments are found by the lint of a target alone.
        source: where it is known from; None for that of the record.
    """

    effect: Effect
    keywords: tuple[str, ...] = ()
    when: SchemaCondition = SchemaCondition()
    note: str = ""
    since: str = ""
    until: str = ""
    in_exports: bool = True
    source: EvidenceSource | None = None

    def applies_to(self, version: str) -> bool:
        """Return whether a version of the engine does it; an empty version is the newest."""
        if not version:
            return not self.until
        order = version_order(version)
        return (not self.since or order >= version_order(self.since)) and (
            not self.until or order < version_order(self.until)
        )


class ProbedKeyword(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """The treatment of a keyword in one schema, as a run of the engine showed it.

    Attributes:
        case: the name of the schema: the keyword, and what is beside it.
        keyword: the keyword.
        effect: what follows from the instances.
        wrong: the instances that the engine judged otherwise than the standard, as JSON texts.
        reason: the error text of a refusal.
        source: where it is known from.
        version: the version of the engine.
        date: the day, as in ISO 8601.
    """

    case: str
    keyword: str
    effect: Effect
    wrong: tuple[str, ...] = ()
    reason: str = ""
    source: EvidenceSource = EvidenceSource.RUN
    version: str = ""
    date: str = ""


class EngineRecord(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The treatments of one engine.

    Attributes:
        engine: its name for users.
        version: the release that was examined; empty for a service without releases.
        source: the file, function or measurement that shows it.
        treatments: the treatments, in the order of the notes.
        formats: the values of `format` that it knows.
        evidence: the kind of source.
        date: the day on which it was examined, as in ISO 8601.
        base: the name of the engine that it uses, whose treatments it has, too; empty for none.
        probed: the keywords as a run of the engine showed them.
        distribution: the name of its Python package; empty if it has none.
    """

    engine: str
    version: str
    source: str
    treatments: tuple[Treatment, ...]
    formats: frozenset[str] = frozenset()
    evidence: EvidenceSource = EvidenceSource.RUN
    date: str = ""
    base: str = ""
    probed: tuple[ProbedKeyword, ...] = ()
    distribution: str = ""

    @property
    def installed_version(self) -> str:
        """Return the version of its package in this Python environment; empty if it is not installed."""
        try:
            return metadata.version(self.distribution) if self.distribution else ""
        except metadata.PackageNotFoundError:
            return ""

    @property
    def known_versions(self) -> tuple[str, ...]:
        """Return the versions that the data distinguish, the examined one first; empty for a service."""
        if not self.version:
            return ()
        changes = {one for treatment in self.treatments for one in (treatment.since, treatment.until) if one}
        return (self.version, *sorted(changes - {self.version}, key=version_order, reverse=True))

    def treatments_of(self, version: str = "") -> tuple[Treatment, ...]:
        """Return the treatments by a version, the examined one by default."""
        return tuple(one for one in self.treatments if one.applies_to(version or self.version))

    def found(self, schema: Any) -> Iterator[tuple[Treatment, tuple[str, ...]]]:
        """Yield the treatments that apply to a schema, each with the keywords that it finds there.

        Args:
            schema: the whole schema, as JSON data.
        """
        parts = list(_subschemas(schema))
        for treatment in self.treatments_of():
            if not treatment.in_exports:
                continue
            meeting = [
                part
                for number, part in enumerate(parts)
                if treatment.when.holds(part, formats=self.formats, is_root=number == 0)
            ]
            used = {keyword for part in meeting for keyword in part}
            keywords = tuple(keyword for keyword in treatment.keywords if keyword in used)
            if keywords or (meeting and not treatment.keywords):
                yield treatment, keywords


@cache
def engine_record(name: str) -> EngineRecord:
    """Return the data of an engine in `ENGINES`.

    Raises:
        TargetDataError: the file is damaged.
    """
    return read_record((files("resources") / "targets" / f"{name}.json").read_bytes(), name)


def read_record(content: bytes, name: str) -> EngineRecord:
    """Read the file of an engine.

    Args:
        content: the JSON text.
        name: its name, for the message.

    Raises:
        TargetDataError: it has a field of another name or type.
    """
    try:
        return msgspec.json.decode(content, type=EngineRecord)
    except msgspec.DecodeError as error:
        raise TargetDataError("errors.targets.unreadable", name=name, reason=str(error)) from error


def with_probed(content: str, rows: Sequence[ProbedKeyword]) -> str:
    """Return the text of an engine's file with other probed keywords, one a line; the rest stays as it is.

    Args:
        content: the text of the file.
        rows: the probed keywords.
    """
    rest = re.sub(r',\s*"probed": \[.*?\n  \](?=\s*\}\s*\Z)', "", content, flags=re.DOTALL)
    body = rest.rstrip().removesuffix("}").rstrip()
    lines = ",\n".join(f"    {json.dumps(msgspec.to_builtins(row), ensure_ascii=False)}" for row in rows)
    return f'{body},\n  "probed": [\n{lines}\n  ]\n}}\n'


def version_order(version: str) -> tuple[int, ...]:
    """Return a key that orders versions; a build of llama.cpp, such as `b11549`, is before all numbered releases."""
    numbers = tuple(int(number) for number in re.findall(r"\d+", version))
    return (0, *numbers) if version.startswith("b") or "." not in version else (1, *numbers)


def is_same_version(one: str, other: str) -> bool:
    """Return whether two texts name the same version; zeros at the end do not count."""
    return _without_zeros(version_order(one)) == _without_zeros(version_order(other))


def _without_zeros(order: tuple[int, ...]) -> tuple[int, ...]:
    end = len(order)
    while end and not order[end - 1]:
        end -= 1
    return order[:end]


def _text_has(value: Any, expression: str) -> bool:
    return isinstance(value, str) and re.search(expression, value) is not None


def _at_least(value: Any, bound: int) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and value >= bound


def _subschemas(value: Any) -> Iterator[dict[str, Any]]:
    """Yield a schema and all its subschemas, itself first; data and maps of names are not schemas."""
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, list):
            pending += part
        elif isinstance(part, dict):
            yield part
            for key, inner in part.items():
                if key in NAMED_SUBSCHEMAS and isinstance(inner, dict):
                    pending += inner.values()
                elif key not in _DATA:
                    pending.append(inner)
