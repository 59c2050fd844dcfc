"""Whether the engine says of instances what `jsonschema` says of them.

The instances are those of the corpus, and others one or two changes away from
them. Order is tried twice: where any order is allowed, the verdicts are the same;
where the declared one is, a valid instance is accepted in some order. `format` is
left out on both sides: jsonschema lacks most of them. So are escapes: with `any`, every
text is judged; with `shortest`, what is accepted is accepted with `any`, too, and so is
every valid instance in its shortest spelling.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

from engine import CompileOptions, GrammarError, compile_grammar
from tests.exactness.instances import OrderSearch, mutated, spell
from tests.exactness.oracles import UnjudgedError, read_json, schema_verdict, without_formats
from tests.exactness.outcome import Outcome
from tests.exactness.subjects import Subject


def check_acceptance(subject: Subject, *, seed: int, mutants: int) -> Outcome:
    """Hold verdicts on the corpus' instances and on so many changed ones against jsonschema's."""
    outcome = Outcome()
    if subject.notation != "json_schema":
        return outcome
    try:
        schema = without_formats(read_json(subject.source))
        source = spell(schema, blank="", ascii_only=False)
        any_order, declared, shortest = (
            compile_grammar("json_schema", source, CompileOptions(property_order=order, escapes=escapes))
            for order, escapes in (("any", "any"), ("declared", "any"), ("any", "shortest"))
        )
        is_valid = schema_verdict(schema)
    except (GrammarError, UnjudgedError) as error:
        outcome.skipped["refused" if isinstance(error, GrammarError) else str(error)] += 1
        return outcome
    search = OrderSearch(declared)
    for instance, text in _instances(subject, random.Random(f"{subject.id} {seed}"), mutants):
        try:
            valid = is_valid(text)
        except UnjudgedError as error:
            outcome.skipped[str(error)] += 1
            continue
        outcome.compared["valid" if valid else "invalid"] += 1
        name = f"{subject.corpus} {subject.id}, {text}"
        if any_order.fullmatch(text) != valid:
            outcome.wrong.append(f"{name}: {'false reject' if valid else 'false accept'} in any order")
        if shortest.fullmatch(text) and not valid:
            outcome.wrong.append(f"{name}: false accept with the shortest escapes")
        if valid and not shortest.fullmatch(spell(instance, blank="", ascii_only=False)):
            outcome.wrong.append(f"{name}: its shortest spelling is rejected")
        if not valid:
            if declared.fullmatch(text):
                outcome.wrong.append(f"{name}: false accept in declared order")
            continue
        found = search.accepts(instance)
        if found is None:
            outcome.skipped["the search for an order outgrew its effort"] += 1
        elif not found:
            outcome.wrong.append(f"{name}: accepted in no order that is declared")
    return outcome


def _instances(subject: Subject, chance: random.Random, mutants: int) -> Iterator[tuple[Any, str]]:
    """Instances, each with its text; those of the corpus first."""
    given = []
    for text in (*subject.accept, *subject.reject):
        try:
            given.append(read_json(text))
        except (ValueError, UnjudgedError):
            continue  # a string that is no JSON at all: the corpus' own verdict on it is enough
    for number in range(len(given) + mutants):
        value = given[number] if number < len(given) else chance.choice(given or [{}])
        for _ in range(0 if number < len(given) else chance.randint(1, 2)):
            value = mutated(value, chance)
        yield value, spell(value, blank=chance.choice(("", " ")), ascii_only=chance.random() < 0.5)
