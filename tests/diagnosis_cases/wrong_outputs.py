"""Wrong outputs made from right ones, with the causes that a diagnosis must name.

`cases(SEED)` has 200, from the grammars in `schemas.json` and `grammars.toml`; `held_out_cases(HELD_OUT_SEED)` has
100, from schemas that `random_schemas` generates, with other prose, by the same mutations and with strings of the same
pools. Both were written from the definitions of the causes, after the first verdicts but without reading them. A digest
of them is in `test_wrong_outputs.py`: an improvement of the verdicts must not change the cases. The held-out ones are
for measuring, not for development.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from random import Random
from typing import Any, Final

from tests.diagnosis_cases.instances import STYLES, Sampler, spelled
from tests.diagnosis_cases.mutations import MUTATIONS, Subject, validator
from tests.diagnosis_cases.prose import FIRST_POOL, SECOND_POOL
from tests.diagnosis_cases.random_schemas import random_schema

SEED: Final = 20261
HELD_OUT_SEED: Final = 77003

COUNTS: Final = {
    "cut-off": 24,
    "cut-off of a grammar": 10,
    "whitespace-loop": 18,
    "repetition-loop": 6,
    "constraint-off": 16,
    "constraint-off of a grammar": 6,
    "trailing-comma": 8,
    "single-quotes": 8,
    "nan": 6,
    "raw-newline": 6,
    "code-fence": 6,
    "second-value": 6,
    "key-order": 10,
    "missing-required": 7,
    "extra-property": 7,
    "keyword minimum": 5,
    "keyword maximum": 5,
    "keyword exclusiveMinimum": 2,
    "keyword exclusiveMaximum": 1,
    "keyword multipleOf": 3,
    "keyword minLength": 3,
    "keyword maxLength": 6,
    "keyword pattern": 5,
    "keyword format": 2,
    "keyword enum": 6,
    "keyword const": 2,
    "keyword type": 5,
    "keyword minItems": 3,
    "keyword maxItems": 4,
    "keyword uniqueItems": 2,
    "keyword minProperties": 1,
    "keyword maxProperties": 1,
}
"""The number of cases of each kind: 200."""

HELD_OUT_COUNTS: Final = {
    "cut-off": 18,
    "whitespace-loop": 9,
    "repetition-loop": 3,
    "constraint-off": 11,
    "trailing-comma": 4,
    "single-quotes": 4,
    "nan": 3,
    "raw-newline": 3,
    "code-fence": 3,
    "second-value": 3,
    "key-order": 5,
    "missing-required": 4,
    "extra-property": 4,
    "keyword minimum": 3,
    "keyword maximum": 3,
    "keyword multipleOf": 2,
    "keyword minLength": 2,
    "keyword maxLength": 3,
    "keyword pattern": 3,
    "keyword enum": 3,
    "keyword const": 1,
    "keyword type": 3,
    "keyword minItems": 1,
    "keyword maxItems": 2,
}
"""The number of held-out cases of each kind: 100."""

_FOLDER: Final = Path(__file__).parent
_OF_A_GRAMMAR: Final = " of a grammar"
_ATTEMPTS: Final = 5000
_VARIED_ATTEMPTS: Final = 300
"""The number of attempts in which a kind takes no grammar for the second time."""


@dataclass(frozen=True)
class WrongOutput:
    """A right output, a wrong one made from it, and what a diagnosis of the wrong one must say.

    Attributes:
        name: unique; begins with the kind.
        kind: a key of `COUNTS`.
        notation: the notation of the grammar: `json_schema`, `gbnf` or `regex`.
        grammar: its text.
        right: an output in its language, whose cause is `complete`.
        wrong: the wrong output.
        finish: the reason for which the server ended the wrong output; None if it is not known.
        budget: the token budget of the request; None if it is not known.
        causes: all acceptable causes; the first is the primary one, by the precedence of causes.
        detail: the detail; None if any will do.
        pointer: the JSON Pointer of the keyword that was not enforced; None if any place will do.
        reason: the reason for which more than one cause is acceptable; empty if one is.
    """

    name: str
    kind: str
    notation: str
    grammar: str
    right: str
    wrong: str
    finish: str | None
    budget: int | None
    causes: tuple[str, ...]
    detail: str | None
    pointer: str | None
    reason: str

    @property
    def cause(self) -> str:
        """Return the primary cause."""
        return self.causes[0]


@cache
def cases(seed: int = SEED) -> tuple[WrongOutput, ...]:
    """Return `COUNTS[kind]` wrong outputs of each kind, the same ones for the same seed."""
    schemas: dict[str, Any] = json.loads((_FOLDER / "schemas.json").read_text("utf-8"))
    grammars = tomllib.loads((_FOLDER / "grammars.toml").read_text("utf-8"))["grammar"]
    of_grammars = [(grammar, right) for grammar in grammars for right in grammar["outputs"]]

    def draw(kind: str, rng: Random) -> Subject:
        if kind.endswith(_OF_A_GRAMMAR):
            grammar, right = rng.choice(of_grammars)
            name, notation, source = grammar["name"], grammar["notation"], grammar["source"]
            return Subject(name, notation, source, right, None, None, "", FIRST_POOL)
        name = rng.choice(list(schemas))
        return _schema_subject(name, schemas[name], rng, FIRST_POOL)

    return _make(seed, COUNTS, draw)


@cache
def held_out_cases(seed: int = HELD_OUT_SEED) -> tuple[WrongOutput, ...]:
    """Return `HELD_OUT_COUNTS[kind]` wrong outputs of each kind, each of a generated schema of its own."""

    def draw(kind: str, rng: Random) -> Subject:
        schema = random_schema(rng)
        return _schema_subject("-".join(schema.get("properties", ("array",))), schema, rng, SECOND_POOL)

    return _make(seed, HELD_OUT_COUNTS, draw)


def _schema_subject(name: str, schema: Mapping[str, Any], rng: Random, prose: tuple[str, ...]) -> Subject:
    checker = validator(schema)
    value = next(value for value in (Sampler(schema, rng).draw() for _ in count()) if checker.is_valid(value))
    style = rng.choice(STYLES)
    source = json.dumps(schema, ensure_ascii=False, indent=rng.choice((None, 2)))
    return Subject(name, "json_schema", source, spelled(value, style), value, schema, style, prose)


def _make(seed: int, counts: Mapping[str, int], draw: Callable[[str, Random], Subject]) -> tuple[WrongOutput, ...]:
    made: list[WrongOutput] = []
    outputs: set[str] = set()
    pairs: set[tuple[str, str]] = set()
    for kind, wanted in counts.items():
        mutate = MUTATIONS[kind.removesuffix(_OF_A_GRAMMAR)]
        for index in range(wanted):
            for attempt in range(_ATTEMPTS):
                # A seed of its own for each case: a change of one kind leaves the others as they are
                rng = Random(f"{seed}/{kind}/{index}/{attempt}")
                subject = draw(kind, rng)
                mutation = mutate(subject, rng)
                repeats = (kind, subject.name) in pairs and attempt < _VARIED_ATTEMPTS
                if mutation is not None and not repeats and not {subject.right, mutation.wrong} & outputs:
                    break
            else:
                raise AssertionError(f"no subject lends itself to {kind} {index + 1}")
            outputs |= {subject.right, mutation.wrong}
            pairs.add((kind, subject.name))
            made.append(
                WrongOutput(
                    name=f"{kind} {index + 1}, {subject.name}",
                    kind=kind,
                    notation=subject.notation,
                    grammar=subject.source,
                    right=subject.right,
                    wrong=mutation.wrong,
                    finish=mutation.finish,
                    budget=mutation.budget,
                    causes=mutation.causes,
                    detail=mutation.detail,
                    pointer=mutation.pointer,
                    reason=mutation.reason,
                )
            )
    return tuple(made)
