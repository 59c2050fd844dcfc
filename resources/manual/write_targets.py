"""The manual's page of what engines enforce, from their data."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from engine.source.catalogue import catalogue_text
from engine.targets import ENGINES, EngineRecord, ProbedKeyword, SchemaCondition, Treatment, engine_record
from resources.manual.markdown import code, table

_OPENING: Final = """# What engines enforce

Engines that accept a JSON Schema do not all enforce it. This page has what Turnstile knows about each of them; the
window marks the same on the keywords of a schema once a target is chosen (*Edit › Target*, Ctrl+Shift+I), and
`turnstile check --target ENGINE` prints it.

Written by `python -m resources.manual targets` from `resources/targets`; not edited by hand.

## Keyword by keyword

Each row is a small schema that was compiled by the engine, and texts that it should accept or refuse were put to it
token by token. `turnstile probe-keywords --engine ENGINE` repeats this for an engine that is installed.

- **enforced**: every text was judged as the standard says
- **dropped**: the keyword has no effect, and no message says so
- **differs**: it is read otherwise than the standard says
- **refused**: the schema does not compile
"""
_WORDS: Final = {
    "enforces": "enforced",
    "drops": "**dropped**",
    "approximates": "**differs**",
    "refuses": "refused",
    "slows": "slow",
}


def targets_page() -> str:
    """Return the page, in Markdown."""
    records = [engine_record(name) for name in ENGINES]
    probed = [record for record in records if record.probed]
    return "\n".join([_OPENING, *_matrix(probed), "", *(line for record in records for line in _section(record))])


def _matrix(records: list[EngineRecord]) -> Iterator[str]:
    by_case = {record.engine: {row.case: row for row in record.probed} for record in records}
    cases = {row.case: None for record in records for row in record.probed}
    heads = [f"{record.engine} {record.version}" for record in records]
    yield from table(
        ("keyword", *heads),
        ((_case(case), *(_cell(by_case[record.engine].get(case)) for record in records)) for case in cases),
    )


def _case(case: str) -> str:
    keyword, _, rest = case.partition(" ")
    return f"`{keyword}` {rest}".rstrip()


def _cell(row: ProbedKeyword | None) -> str:
    if row is None:
        return ""
    wrong = f": {code(row.wrong[0])}" if row.wrong else ""
    return f"{_WORDS[row.effect]}{wrong}"


def _section(record: EngineRecord) -> Iterator[str]:
    yield f"## {record.engine}"
    yield ""
    about = f"{record.engine} {record.version}".strip()
    evidence = catalogue_text(f"targets.fragment.evidence.{record.evidence.value}", about=about)
    yield f"{evidence[:1].upper()}{evidence[1:]}{f', {record.date}' if record.date else ''}. Source: {record.source}."
    if record.base:
        yield f"It uses {record.base}, and has what is said of it, too."
    yield ""
    yield from (f"- {_sentence(record, treatment)}" for treatment in record.treatments)
    yield ""


def _sentence(record: EngineRecord, treatment: Treatment) -> str:
    keywords = ", ".join(f"`{keyword}`" for keyword in treatment.keywords)
    if treatment.note:
        only = " Only a format that it does not know is meant." if treatment.when.has_unknown_format else ""
        sentence = f"{treatment.note.replace('{keywords}', keywords)}{only}"
    else:
        subject = keywords or catalogue_text("targets.lint.fragment.schema")
        said = catalogue_text(f"targets.lint.{treatment.effect.value}", engine=record.engine, keyword=subject)
        where = _condition(treatment.when)
        sentence = f"{said}{f', {where}' if where else ''}."
    since = f" Since {treatment.since}." if treatment.since else ""
    until = f" Up to before {treatment.until}." if treatment.until else ""
    return f"{sentence}{since}{until}"


def _condition(when: SchemaCondition) -> str:
    """Return where a treatment applies, in words; empty for everywhere."""
    parts = [
        *(
            f"with {_words(keywords, joiner)}"
            for keywords, joiner in ((when.has, "and"), (when.has_any, "or"))
            if keywords
        ),
        *([f"without {_words(when.lacks, 'or')}"] if when.lacks else []),
        *([f"for the type {_words(when.types, 'or')}"] if when.types else []),
        *([f"where `type` is not {_words(when.not_types, 'or')}"] if when.not_types else []),
        *([f"where the value may be {code(when.may_be)}"] if when.may_be else []),
        *(f"where {code(keyword)} {fact}" for keyword, fact in _facts(when)),
        *(["in a format that it does not know"] if when.has_unknown_format else []),
        *(["where additional properties are allowed"] if when.is_open else []),
        *(["where a property is optional"] if when.has_optional_property else []),
        *(["at the root"] if when.is_root else []),
        *([f"if one of these holds: {'; '.join(map(_condition, when.one_of))}"] if when.one_of else []),
    ]
    return " ".join(parts)


def _facts(when: SchemaCondition) -> Iterator[tuple[str, str]]:
    facts = {
        "has two or more schemas": when.at_least_two,
        "has what follows": when.within,
        "is a schema, not a boolean": when.is_schema,
        "restricts something": when.is_restricted,
        "is a list": when.is_list,
        "does not run from `^` to `$`": when.is_unanchored,
        "is a boolean": when.is_boolean,
    }
    yield from ((keyword, fact) for fact, keyword in facts.items() if keyword)
    yield from ((keyword, f"matches {code(expression)}") for keyword, expression in when.text_has.items())
    yield from ((keyword, f"is {bound:,} or more") for keyword, bound in when.at_least.items())


def _words(names: Sequence[str], joiner: str) -> str:
    quoted = [code(name) for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} {joiner} {quoted[-1]}"
