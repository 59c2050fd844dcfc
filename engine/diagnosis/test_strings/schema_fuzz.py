"""Fuzzing of a JSON Schema both ways: the `jsonschema` package judges generated texts, and both sides judge mutants.

The package is optional and is loaded by name. Both sides read a number exactly. What depends on more than the schema is
not compared: formats that the package leaves to other packages, texts with a repeated key, and an order of properties
that the grammar does not allow. A mutant is written in the order of the text that it comes from.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal, DecimalException
from importlib import import_module
from typing import Any, Final

from engine.compile import CompiledGrammar, CompileOptions, compile_grammar
from engine.diagnosis.test_strings.json_mutants import JsonMutator
from engine.diagnosis.test_strings.suggestions import random_texts, shortest_text
from engine.source import CancelToken, EngineError, LimitExceededError

FORMATS: Final = ("date", "email", "ipv4", "ipv6", "uuid")
"""The formats that `jsonschema` asserts without other packages, at least as strictly as the standard."""
_LONGEST: Final = 120  # bytes of a generated text before its end
_MUTANTS: Final = 4  # per legal text
_Judge = Callable[[str], str | None]


@dataclass(frozen=True, slots=True)
class FuzzDifference:
    """A text that one side accepts.

    Attributes:
        text: the text.
        is_accepted: whether our grammar accepts it, and `jsonschema` does not; otherwise the reverse.
        reason: the message of `jsonschema`; empty if it accepts the text.
    """

    text: str
    is_accepted: bool
    reason: str = ""


@dataclass(frozen=True, slots=True)
class FuzzReport:
    """The result of a run.

    Attributes:
        legal: the number of texts that the grammar generated.
        mutants: the number of mutants.
        refused: how many of them both sides refuse.
        unjudged: the number of texts that one side could not judge.
        differences: the texts on which the sides differ.
    """

    legal: int
    mutants: int
    refused: int
    unjudged: int
    differences: tuple[FuzzDifference, ...]


class _UnjudgedError(Exception):
    """A side cannot judge a text."""


def fuzz_schema(
    schema: str, count: int, seed: int = 0, options: CompileOptions | None = None, cancel: CancelToken | None = None
) -> FuzzReport:
    """Compare our grammar of a schema with `jsonschema` on generated texts and on mutants of them.

    Args:
        schema: the JSON Schema.
        count: the number of generated texts; each has four mutants.
        seed: the seed; the same seed gives the same texts.
        options: the options of the compile.
        cancel: cancels the run, and receives the number of texts as progress.

    Raises:
        GrammarError: the schema does not compile.
        EngineError: `jsonschema` is not installed, or refuses the schema.
        CancelledError: `cancel` was used.
    """
    cancel = cancel or CancelToken()
    grammar = compile_grammar("json_schema", schema, options, cancel=cancel)
    # any order and form of a value that the schema allows: only its keywords are compared
    lenient = replace(grammar.options, whitespace="any", escapes="any", numbers="any", property_order="any")
    judged = compile_grammar("json_schema", schema, lenient, cancel=cancel)
    judge = _judge(json.loads(schema, parse_float=Decimal))
    legal = [one.text for one in shortest_text(grammar, cancel)]
    legal += [one.text for one in random_texts(grammar, count - len(legal), seed, cancel, longest=_LONGEST)]
    mutants = list(dict.fromkeys(_mutants(json.loads(schema), legal, seed)))
    differences, refused, unjudged = [], 0, 0
    for number, text in enumerate([*legal, *mutants]):
        cancel.check()
        cancel.report("progress.checking", number, len(legal) + len(mutants))
        try:
            accepted, reason = _accepts(judged, text), judge(text)
        except _UnjudgedError:
            unjudged += 1
            continue
        if accepted is (reason is not None):
            differences.append(FuzzDifference(text, accepted, reason or ""))
        refused += not accepted and reason is not None
    return FuzzReport(len(legal), len(mutants), refused, unjudged, tuple(differences))


def _mutants(schema: Any, legal: list[str], seed: int) -> Iterator[str]:
    mutator = JsonMutator(schema, seed)
    for text in legal:
        yield from mutator.mutants(text, _MUTANTS)


def _accepts(grammar: CompiledGrammar, text: str) -> bool:
    try:
        return grammar.fullmatch(text.encode("utf-8", "surrogatepass"))
    except LimitExceededError as error:
        raise _UnjudgedError from error


def _judge(schema: Any) -> _Judge:
    """Return a function that returns the message of `jsonschema` about a text; None if it accepts it.

    Raises:
        EngineError: the package is not installed, or refuses the schema.
    """
    try:
        library = import_module("jsonschema")
    except ImportError as error:
        raise EngineError("errors.diagnosis.no_jsonschema") from error
    kind = library.validators.validator_for(schema, default=library.Draft202012Validator)
    try:
        kind.check_schema(schema)
    except library.SchemaError as error:
        raise EngineError("errors.diagnosis.jsonschema_refuses", reason=error.message) from error
    types = kind.TYPE_CHECKER.redefine("integer", _is_integer)
    validator = library.validators.extend(kind, type_checker=types)(
        schema, format_checker=library.FormatChecker(FORMATS)
    )

    def judge(text: str) -> str | None:
        try:
            value = json.loads(text, parse_float=Decimal, object_pairs_hook=_without_repeats)
            first = next(validator.iter_errors(value), None)
        except (ValueError, RecursionError, DecimalException, ArithmeticError, re.error) as error:
            raise _UnjudgedError from error
        return None if first is None else str(first.message) or "refused"

    return judge


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key is repeated")
    return made


def _is_integer(_: object, value: object) -> bool:
    """Return whether a value is an integer, as 1.0 is by the standard."""
    if isinstance(value, bool):
        return False
    return isinstance(value, int) or (isinstance(value, Decimal) and value == value.to_integral_value())
