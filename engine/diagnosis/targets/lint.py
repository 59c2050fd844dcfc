"""The lint of a grammar for an engine: each keyword that the engine treats otherwise than the standard, with its place.

The treatments are data (`engine.targets`). A finding is about the keyword itself, not about the subschema that has it.
A rewrite is offered only if the engine treats it better and our own engine finds no difference (`rewrites`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Final

from engine.diagnosis.targets.findings import TargetFinding, TargetRewrite
from engine.diagnosis.targets.rewrites import (
    pattern_candidates,
    schema_rewrites,
    verified_expression,
    verified_pattern,
)
from engine.grammar.options import CompileOptions
from engine.notations import NOTATIONS
from engine.notations.editing import Edit
from engine.notations.json_schema.outline import Outline, OutlinePart, OutlineRole
from engine.notations.json_schema.targets import key_span, quoted
from engine.source import EngineError, GrammarError, SourceText, Span
from engine.source.catalogue import catalogue_text
from engine.source.json_pointer import escape_step
from engine.targets import ENGINES, Effect, EngineRecord, EvidenceSource, SchemaCondition, Treatment, engine_record

STANDARD_OPTIONS: Final = CompileOptions()
_GBNF_ENGINES: Final = frozenset(("llama.cpp", "ollama"))
_GBNF_CODES: Final = ("gbnf-compat-left-recursion", "gbnf-compat-repetition", "gbnf-compat-empty-loop")
_ALL: Final = frozenset(("xgrammar", "llguidance", "outlines-core", "vllm", "sglang"))
_XGRAMMAR: Final = frozenset(("xgrammar", "sglang"))  # vLLM falls back to llguidance
_UNANCHORED: Final = frozenset(("outlines-core",))
_ESCAPE: Final = r"(?<!\\)(?:\\\\)*\\"  # a backslash that is not escaped itself


@dataclass(frozen=True, slots=True)
class PatternConstruct:
    """A construct of regular expressions that engines treat otherwise.

    Attributes:
        id: its name in the catalogue.
        found: finds it in an expression.
        engines: the engines that refuse it in a regular expression by itself.
    """

    id: str
    found: re.Pattern[str]
    engines: frozenset[str] = frozenset()


PATTERN_CONSTRUCTS: Final = (
    PatternConstruct("lookaround", re.compile(r"\(\?<?[=!]"), _ALL),
    PatternConstruct("backreference", re.compile(rf"{_ESCAPE}[1-9]|\(\?P="), _ALL),
    PatternConstruct("word-boundary", re.compile(rf"{_ESCAPE}[bB](?![^\[]*\])"), _ALL),
    PatternConstruct("unicode-property", re.compile(rf"{_ESCAPE}[pP]\{{"), _XGRAMMAR),
    PatternConstruct("group-modifier", re.compile(r"\(\?(?:[aiLmsux-]+[:)]|P<)"), _XGRAMMAR),
    PatternConstruct("class-escape", re.compile(rf"{_ESCAPE}[dDwWsS]")),
    PatternConstruct("identity-escape", re.compile(rf"{_ESCAPE}[!@#%&=:;,<>'\"~` _-]")),
)
"""The constructs, the most particular first. The engines are from runs of xgrammar 0.2.8, llguidance 1.9.1 and
outlines-core 0.2.14; what they and llama.cpp do with a `pattern` of a schema is in `resources/targets`."""


class UnknownTargetError(EngineError):
    """There are no data on the engine."""


def parse_target(text: str) -> tuple[str, str]:
    """Return the engine and the version of a text `NAME` or `NAME@VERSION`; the version may be empty.

    Raises:
        UnknownTargetError: there are no data on the engine.
    """
    name, _, version = text.partition("@")
    if name not in ENGINES:
        raise UnknownTargetError("errors.diagnosis.target", name=name, names=", ".join(ENGINES))
    return name, version


def pattern_constructs(expression: str) -> Iterator[PatternConstruct]:
    """Yield the constructs of a regular expression that engines treat otherwise, the most particular first."""
    return (one for one in PATTERN_CONSTRUCTS if one.found.search(expression))


def lint_grammar(
    notation: str,
    text: str,
    engine: str,
    version: str = "",
    *,
    options: CompileOptions = STANDARD_OPTIONS,
    rewrites: bool = True,
) -> tuple[TargetFinding, ...]:
    """Find what an engine treats otherwise in a grammar; nothing if its notation is not read by the engine.

    Args:
        notation: the id of the notation.
        text: the grammar.
        engine: a name of `ENGINES`.
        version: the version of the engine; empty for the examined one.
        options: the compile options, of which a regular expression has its dialect.
        rewrites: whether to search for rewrites, which may take seconds.
    """
    described = NOTATIONS[notation]
    if described.describes_json:
        return lint_schema(text, engine, version, rewrites=rewrites)
    found: list[TargetFinding] = []
    if described.has_named_rules and engine in _GBNF_ENGINES:
        found += _gbnf_findings(text, engine, version)
    elif described.is_expression and engine in _ALL:
        found += _regex_findings(text, engine, version, options, rewrites=rewrites)
    return tuple(sorted(found, key=lambda finding: finding.span))


def lint_schema(text: str, engine: str, version: str = "", *, rewrites: bool = True) -> tuple[TargetFinding, ...]:
    """Find the keywords of a JSON Schema that an engine treats otherwise than the standard, in source order.

    Args:
        text: the schema's text; nothing is found in a text that is not JSON.
        engine: a name of `ENGINES`.
        version: the version of the engine; empty for the examined one.
        rewrites: whether to search for rewrites, which may take seconds.
    """
    lint = _schema_lint(text, rewrites=rewrites)
    if lint is None:
        return ()
    found = lint.by_backends(version) if engine == "vllm" else lint.by_record(engine, version)
    unique = {(finding.pointer, finding.effect, finding.sentence): finding for finding in found}
    return tuple(sorted(unique.values(), key=lambda finding: finding.span))


@lru_cache(maxsize=1)
def _schema_lint(text: str, *, rewrites: bool) -> _SchemaLint | None:
    """Return the lint of a schema, which serves all engines; None if the text is no JSON."""
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return None
    root = Outline(text).root
    return None if root is None else _SchemaLint(text, root, rewrites=rewrites)


@dataclass(frozen=True, slots=True)
class _Place:
    """A subschema: its part of the text, its JSON data and its JSON Pointer."""

    part: OutlinePart
    data: dict[str, Any]
    pointer: str


class _SchemaLint:
    """The lint of one schema."""

    def __init__(self, text: str, root: OutlinePart, *, rewrites: bool) -> None:
        self._text = text
        self._searches_rewrites = rewrites
        self._root = root
        self._places = [
            _Place(part, json.loads(text[part.span.start : part.span.end]), _pointer_of(part))
            for part in root.walk()
            if part.role is OutlineRole.SCHEMA and part.is_object
        ]

    def by_record(self, engine: str, version: str) -> list[TargetFinding]:
        """Return the findings by the data of an engine, and of the engine that it uses."""
        record = engine_record(engine)
        found = list(self._by_treatments(record, engine, version))
        if record.base:
            refused = {finding.pointer for finding in found if finding.effect is Effect.REFUSES}
            base = engine_record(record.base)
            found += [
                finding for finding in self._by_treatments(base, engine, "", record) if finding.pointer not in refused
            ]
        return found

    def by_backends(self, version: str) -> list[TargetFinding]:
        """Return the findings of vLLM, whose automatic backend is another for some keywords."""
        record = engine_record("vllm")
        dispatched = list(self._by_treatments(record, "vllm", version))
        leaves = [finding for finding in dispatched if finding.effect is Effect.REFUSES]
        if not leaves:
            return [*dispatched, *self._by_treatments(engine_record("xgrammar"), "vllm", "", record)]
        names = ", ".join(f"`{name}`" for name in dict.fromkeys(finding.keyword for finding in leaves))
        found = [finding for finding in dispatched if finding.effect is not Effect.REFUSES]
        for finding in self._by_treatments(engine_record("llguidance"), "vllm", "", record):
            sentence = catalogue_text("targets.lint.backend", keywords=names, sentence=finding.sentence)
            found.append(replace(finding, sentence=sentence))
        return found

    def _by_treatments(
        self, record: EngineRecord, engine: str, version: str, shown: EngineRecord | None = None
    ) -> Iterator[TargetFinding]:
        """Yield the findings by the treatments of a record.

        Args:
            record: the data.
            engine: the id of the engine that the findings name.
            version: the version of the record's engine; empty for the examined one.
            shown: the record of the engine that the findings name, if it uses that of `record`.
        """
        for treatment in record.treatments_of(version):
            for place in self._places:
                is_root = place.part is self._root
                if not treatment.when.holds(place.data, formats=record.formats, is_root=is_root):
                    continue
                for keyword in _keywords_at(treatment, place):
                    yield self._finding(treatment, place, keyword, record, engine, version, shown or record)

    def _finding(
        self,
        treatment: Treatment,
        place: _Place,
        keyword: str,
        record: EngineRecord,
        engine: str,
        version: str,
        shown: EngineRecord,
    ) -> TargetFinding:
        member = place.part.members.get(keyword)
        span = key_span(member) if member is not None else Span(place.part.span.start, place.part.span.start + 1)
        pointer = f"{place.pointer}/{escape_step(keyword)}" if member is not None else place.pointer
        named = f"`{keyword}`" if keyword else catalogue_text("targets.lint.fragment.schema")
        about = treatment.note.format(keywords=named).removesuffix(".")
        sentence = about or catalogue_text(f"targets.lint.{treatment.effect}", engine=record.engine, keyword=named)
        return TargetFinding(
            engine,
            version or shown.version,
            treatment.effect,
            keyword,
            pointer,
            span,
            sentence,
            treatment.source or record.evidence,
            record.engine,
            record.version,
            record.date,
            self._rewrite(record, version, treatment, place, keyword) if self._searches_rewrites else None,
            _construct_at(treatment, place, keyword),
        )

    def _rewrite(
        self, record: EngineRecord, version: str, treatment: Treatment, place: _Place, keyword: str
    ) -> TargetRewrite | None:
        """Return a rewrite to which no treatment of the keyword applies, and that is equivalent."""

        def is_taken(data: dict[str, Any]) -> bool:
            is_root = place.part is self._root
            return not any(
                one.when.holds(data, formats=record.formats, is_root=is_root)
                and (not one.keywords or not data.keys().isdisjoint(one.keywords))
                for one in record.treatments_of(version)
                if one is treatment or keyword in (one.when.is_unanchored, one.when.is_list) or one.when.text_has
            )

        pattern = place.data.get(keyword)
        if keyword == "pattern" and isinstance(pattern, str):
            for candidate in pattern_candidates(pattern):
                if is_taken({**place.data, "pattern": candidate}) and verified_pattern(pattern, candidate):
                    span = place.part.members["pattern"].span
                    title = catalogue_text("targets.rewrite.pattern", pattern=candidate)
                    return TargetRewrite(title, (Edit(span, quoted(candidate)),))
            return None
        return schema_rewrites(self._text, place.part, place.data, keyword, is_taken)


def _construct_at(treatment: Treatment, place: _Place, keyword: str) -> str:
    """Return the construct of a pattern that a treatment is about; empty if it is about the whole."""
    pattern = place.data.get(keyword)
    if keyword not in treatment.when.text_has or not isinstance(pattern, str):
        return ""
    about = re.compile(treatment.when.text_has[keyword])
    for one in pattern_constructs(pattern):
        if any(about.search(match[0]) for match in one.found.finditer(pattern)):
            return one.id
    return ""


def _keywords_at(treatment: Treatment, place: _Place) -> list[str]:
    """Return the keywords that a treatment is about in a subschema; one that is empty if it is about the whole."""
    if treatment.keywords:
        return [keyword for keyword in treatment.keywords if keyword in place.data]
    named = [keyword for keyword in _named_by(treatment.when) if keyword in place.data]
    return named or [""]


def _named_by(when: SchemaCondition) -> Iterator[str]:
    """Yield the keywords of a condition that a finding can be about, the most particular first."""
    particular = (when.is_unanchored, when.is_list, when.at_least_two, when.is_schema, when.is_restricted)
    for one in when.one_of:
        yield from _named_by(one)
    named = [*when.text_has, *when.at_least, *filter(None, particular)] or list(when.has_any or when.has)
    yield from named
    if when.not_types:
        yield "type"
    if when.is_open and not named:
        yield "additionalProperties"
    if when.has_optional_property:
        yield "properties"


def _pointer_of(part: OutlinePart) -> str:
    steps: list[str] = []
    here: OutlinePart | None = part
    while here is not None and here.holder is not None:
        steps.append(escape_step(str(here.name)))
        here = here.holder
    return "".join(f"/{step}" for step in reversed(steps))


# ---------------------------------------------------------------------- GBNF and regex


def _gbnf_findings(text: str, engine: str, version: str) -> Iterator[TargetFinding]:
    record = engine_record(engine)
    try:
        _, diagnostics = NOTATIONS["gbnf"].parse(SourceText(text), CompileOptions())
    except GrammarError as error:
        diagnostics = error.diagnostics
    for one in diagnostics:
        if one.severity == "error" or one.code.startswith(_GBNF_CODES):
            sentence = one.message
            if one.severity == "error":
                sentence = catalogue_text("targets.lint.gbnf", engine=record.engine, message=one.message)
            yield TargetFinding(
                engine,
                version or record.version,
                Effect.REFUSES,
                "",
                "",
                one.span,
                sentence,
                EvidenceSource.RUN,
                record.engine,
                record.version,
                record.date,
            )


def _regex_findings(
    text: str, engine: str, version: str, options: CompileOptions, *, rewrites: bool
) -> Iterator[TargetFinding]:
    record = engine_record(engine)

    def finding(span: Span, what: str, rewrite: TargetRewrite | None = None) -> TargetFinding:
        sentence = catalogue_text(f"targets.lint.{what}", engine=record.engine)
        return TargetFinding(
            engine,
            version or record.version,
            Effect.REFUSES,
            "",
            "",
            span,
            sentence,
            EvidenceSource.RUN,
            record.engine,
            record.version,
            record.date,
            rewrite,
            what,
        )

    def verified(candidates: Iterable[str]) -> TargetRewrite | None:
        for candidate in candidates if rewrites else ():
            is_taken = not any(engine in one.engines for one in pattern_constructs(candidate))
            if is_taken and verified_expression(text, candidate, options):
                title = catalogue_text("targets.rewrite.pattern", pattern=candidate)
                return TargetRewrite(title, (Edit(Span(0, len(text)), candidate),))
        return None

    found = list(_refused_constructs(text, engine))
    rewrite = verified(one[1:-1] for one in pattern_candidates(f"^(?:{text})$", options.dialect)) if found else None
    for name, span in found:
        yield finding(span, name, rewrite)
    if engine in _UNANCHORED and text.startswith("^"):
        yield finding(Span(0, 1), "anchor", verified((text.removeprefix("^").removesuffix("$"),)))


def _refused_constructs(text: str, engine: str) -> Iterator[tuple[str, Span]]:
    for one in pattern_constructs(text):
        if engine in one.engines:
            yield from ((one.id, Span(*match.span())) for match in one.found.finditer(text))
