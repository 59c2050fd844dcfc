"""The price of a grammar: what local masking pays for an output, -ln Z in nats, by the keyword or rule that asks it.

A step has one cause, so the prices of all causes sum up to that of the output. For a schema, the causes of the most
expensive steps are proved: the keyword without which the token would be allowed that the model wanted most, as for
*Why not?* (`refusal_of`); if several are, the innermost. The other steps belong to the keyword that reads next, or to
the value around all that may read next. In other notations, a step belongs to the innermost rule, or the part, that
reads next.

-Σ ln Z is what local masking pays for a text beyond its own improbability: the "projection tax" of DCCD (arXiv
2603.03305).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from engine.automata.byte_automaton import DEAD
from engine.compile import CompiledGrammar
from engine.decoding.values import Bounds, StepMass
from engine.diagnosis.failures.refusal import refusal_of
from engine.diagnosis.failures.violations import spans_at
from engine.diagnosis.scores.price_values import GrammarPrice, PriceCause, PricedPart, PricedStep
from engine.diagnosis.test_strings.values import CountedText
from engine.matching.explanation import RefusalKind
from engine.notations.json_schema.json_tree import pointers
from engine.source import CancelToken, Span
from engine.source.text import common_length

MOST_SEARCHED: Final = 24
"""The steps whose causes are proved: the most expensive ones, each of which takes up to seconds in a large schema."""
_MOST_PARTS: Final = 500
_LEAST: Final = 1e-9  # nats: a step below is one at which everything was allowed


class _Found(NamedTuple):
    """A step with its cause; `number` is the index of its output, and `configuration` the one before it."""

    number: int
    step: int
    mass: StepMass
    configuration: int


class _Cause(NamedTuple):
    """A cause by which steps are summed, and whether it is proved."""

    kind: PriceCause
    name: str
    span: Span | None
    is_proved: bool = False


def grammar_price(
    grammar: CompiledGrammar, outputs: Sequence[CountedText], cancel: CancelToken | None = None
) -> GrammarPrice:
    """Return the price of a grammar for outputs that it masked.

    Args:
        grammar: the grammar.
        outputs: the outputs, each with the allowed masses of its steps.
        cancel: cancels the search for causes.

    Raises:
        CancelledError: `cancel` was used.
    """
    steps = [found for number, output in enumerate(outputs) for found in _steps(grammar, number, output)]
    total = sum(output.count for output in outputs)
    unknown = sum(output.count * (not step.is_known) for output in outputs for step in output.masses.unpack())
    priced = sorted((one for one in steps if one.mass.nats.high > _LEAST), key=lambda one: -one.mass.nats.low)
    causes = _proved_causes(grammar, priced, outputs, cancel)
    sums: dict[tuple[PriceCause, str], list[tuple[_Found, _Cause]]] = {}
    for one in priced:
        cause = causes.get(_question(one, outputs)) or _cause_in_force(grammar, one.configuration)
        sums.setdefault((cause.kind, cause.name), []).append((one, cause))
    parts = [_part(found, outputs, total) for found in sums.values()]
    parts.sort(key=lambda part: (-part.nats.low, -part.nats.high, part.name))
    nats = Bounds(sum(part.nats.low for part in parts), sum(part.nats.high for part in parts))
    return GrammarPrice(total, nats, tuple(parts[:_MOST_PARTS]), unknown)


def _steps(grammar: CompiledGrammar, number: int, output: CountedText) -> Iterator[_Found]:
    """Yield the steps of an output of which anything is known, as far as the grammar allows the output."""
    automaton, configuration, at = grammar.automaton, grammar.automaton.start, 0
    for index, mass in enumerate(output.masses.unpack()):
        configuration, at = automaton.run(configuration, output.data[at : mass.start]), mass.start
        if configuration == DEAD:
            return
        if mass.is_known:
            yield _Found(number, index, mass, configuration)


def _question(one: _Found, outputs: Sequence[CountedText]) -> tuple[bytes, bytes]:
    """Return the text before a step and the token that the model wanted."""
    return outputs[one.number].data[: one.mass.start], one.mass.token


def _proved_causes(
    grammar: CompiledGrammar, steps: Sequence[_Found], outputs: Sequence[CountedText], cancel: CancelToken | None
) -> dict[tuple[bytes, bytes], _Cause]:
    """Return the proved causes of the most expensive steps of a schema, by text and token."""
    if not grammar.describes_json:
        return {}
    spans = grammar.automaton.spans
    asked = dict.fromkeys(
        _question(one, outputs)
        for one in steps
        if one.mass.token and not one.mass.is_special and spans(one.configuration)
    )
    found = {}
    for text, token in list(asked)[:MOST_SEARCHED]:
        if cancel is not None:
            cancel.check()
        refusal = refusal_of(grammar, text, token, cancel)
        if refusal.keywords:
            keyword = refusal.keywords[0]
            found[text, token] = _Cause(PriceCause.PART, keyword.pointer, keyword.span, is_proved=True)
        elif refusal.kind is RefusalKind.OPTION:
            found[text, token] = _Cause(PriceCause.OPTION, refusal.option, None, is_proved=True)
        elif refusal.kind is RefusalKind.NOT_JSON:
            found[text, token] = _Cause(PriceCause.FORM, "", None, is_proved=True)
    return found


def _cause_in_force(grammar: CompiledGrammar, configuration: int) -> _Cause:
    """Return the keyword, rule or part that reads next, or the value around all that may read next."""
    spans = tuple(dict.fromkeys(grammar.automaton.spans(configuration)))
    if not spans:
        return _Cause(PriceCause.END, "", None)
    if grammar.describes_json:
        named = pointers(grammar.source, spans)
        if len(named) == 1:
            return _Cause(PriceCause.PART, named[0], spans[0])
        return _value_around(grammar, named)
    rules = grammar.automaton.open_rules(configuration) if grammar.has_named_rules else ()
    if rules:
        return _Cause(PriceCause.RULE, rules[0], spans[0])
    line, column = grammar.source.line_column(spans[0].start)
    return _Cause(PriceCause.PART, f"{line}:{column}  {grammar.source.excerpt(spans[0])}", spans[0])


def _value_around(grammar: CompiledGrammar, named: Sequence[str]) -> _Cause:
    """Return the schema around keywords."""
    around = [one.split("/")[:-1] for one in named]
    pointer = "/".join(around[0][: min(common_length(around[0], one) for one in around)]) if around else ""
    return _Cause(PriceCause.PART, pointer, spans_at(grammar.source.text, (pointer,)).get(pointer))


def _part(found: Sequence[tuple[_Found, _Cause]], outputs: Sequence[CountedText], total: int) -> PricedPart:
    """Return the sum of steps with one cause, the most expensive first."""
    low, high = (
        sum(outputs[one.number].count * one.mass.nats[bound] for one, _ in found) / total for bound in range(2)
    )
    worst, cause = found[0]
    mass = worst.mass
    return PricedPart(
        cause.kind,
        cause.name,
        cause.span,
        Bounds(low, high),
        sum(outputs[one.number].count for one, _ in found),
        PricedStep(worst.number, worst.step, mass.nats, mass.token, mass.p, cause.is_proved),
    )
