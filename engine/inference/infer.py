"""The inference of a grammar, and the check that it accepts every sample before anyone sees it."""

from __future__ import annotations

import json
from dataclasses import dataclass

from engine.compile import CompileOptions, compile_grammar
from engine.export.text.conversion import to_gbnf
from engine.export.text.print_regex import print_regex
from engine.grammar import Grammar, Rule
from engine.grammar.print_gbnf import print_gbnf
from engine.inference.expressions import expression_of
from engine.inference.samples import InferenceError, Samples, shortened
from engine.inference.schemas import schema_of
from engine.notations import NOTATIONS
from engine.source import CancelToken
from engine.source.catalogue import catalogue_text

_LENIENT = CompileOptions(whitespace="any", escapes="any", numbers="any", property_order="any")
"""Options for JSON as others write it: the samples need not have the form that a model is made to write."""


@dataclass(frozen=True, slots=True)
class InferredGrammar:
    """A grammar that accepts every sample.

    Attributes:
        notation: the id of its notation.
        text: its text.
        count: the number of samples, all of which it accepts.
        notes: sentences about samples that it accepts in another form only.
    """

    notation: str
    text: str
    count: int
    notes: tuple[str, ...] = ()


def likely_notation(samples: Samples) -> str:
    """Return the id of the notation that fits samples best: a schema for JSON, else an expression."""
    is_json = samples.values is not None
    return next(one.id for one in NOTATIONS.values() if (one.describes_json if is_json else one.is_expression))


def infer(notation: str, samples: Samples, *, cancel: CancelToken | None = None) -> InferredGrammar:
    """Infer a grammar.

    Args:
        notation: the id of its notation.
        samples: the samples.
        cancel: cancels the work, and receives its progress.

    Raises:
        InferenceError: the samples are no JSON, or one of them cannot be accepted.
        LimitExceededError: the grammar exceeds a limit.
        CancelledError: `cancel` was used.
    """
    cancel = cancel or CancelToken()
    with cancel.scope():
        wanted = NOTATIONS[notation]
        if wanted.describes_json:
            return _schema(notation, samples, cancel)
        if samples.values is not None and wanted.has_named_rules:
            return _rules_of_json(notation, samples, cancel)
        node = expression_of(dict(zip(samples.texts, samples.counts, strict=True)))
        is_rules = wanted.has_named_rules
        text = print_gbnf(Grammar((Rule("root", node),), "root")) if is_rules else print_regex(node)
        _check(notation, text, samples, CompileOptions(), cancel)
        return InferredGrammar(notation, text, samples.count)


def _schema(notation: str, samples: Samples, cancel: CancelToken) -> InferredGrammar:
    if samples.values is None:
        raise InferenceError("errors.inference.schema_of_texts")
    try:
        schema, has_order = schema_of(zip(samples.values, samples.counts, strict=True))
        text = json.dumps(schema, indent=2, ensure_ascii=False)
    except RecursionError as error:
        raise InferenceError("errors.inference.deep") from error
    _check(notation, text, samples, _LENIENT, cancel)
    notes = () if has_order else (catalogue_text("inference.note.order"),)
    return InferredGrammar(notation, text, samples.count, notes)


def _rules_of_json(notation: str, samples: Samples, cancel: CancelToken) -> InferredGrammar:
    """Infer a schema, and convert it: rules write JSON in one form, so the samples are accepted in that form."""
    found = _schema(likely_notation(samples), samples, cancel)
    compiled = compile_grammar(found.notation, found.text, cancel=cancel)
    text = to_gbnf(compiled, cancel=cancel).text
    rules = compile_grammar(notation, text, cancel=cancel)
    others = [one for one in samples.texts if not rules.fullmatch(one)]
    if others:
        note = catalogue_text("inference.note.other_form", count=len(others), sample=shortened(others[0]))
        return InferredGrammar(notation, text, samples.count, (*found.notes, note))
    return InferredGrammar(notation, text, samples.count, found.notes)


def _check(notation: str, text: str, samples: Samples, options: CompileOptions, cancel: CancelToken) -> None:
    """Compile a grammar and match every sample.

    Raises:
        InferenceError: one is not accepted.
    """
    grammar = compile_grammar(notation, text, options, cancel=cancel)
    refused = next((one for one in samples.texts if not grammar.fullmatch(one)), None)
    if refused is not None:
        raise InferenceError("errors.inference.refused", sample=shortened(refused))
