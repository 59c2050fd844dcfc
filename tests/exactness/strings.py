"""The labelled strings of a corpus, with the properties of objects in any order."""

from __future__ import annotations

from typing import Literal

from engine import CompileOptions, GrammarError, compile_grammar
from tests.exactness.outcome import Outcome
from tests.exactness.subjects import Subject


def check_strings(subject: Subject, property_order: Literal["declared", "any"]) -> Outcome:
    """Hold a schema against its labels; what is refused is wrong too."""
    outcome = Outcome()
    if subject.notation != "json_schema":
        return outcome
    try:
        grammar = compile_grammar("json_schema", subject.source, CompileOptions(property_order=property_order))
    except GrammarError as error:
        outcome.wrong.append(f"{subject.corpus} {subject.id}: refused: {error}")
        return outcome
    for strings, wanted in ((subject.accept, True), (subject.reject, False)):
        for text in strings:
            if grammar.fullmatch(text) != wanted:
                outcome.wrong.append(f"{subject.corpus} {subject.id}: {'rejects' if wanted else 'accepts'} {text}")
    outcome.compared["strings"] += len(subject.accept) + len(subject.reject)
    outcome.compared["schemas"] += 1
    outcome.compared["schemas wholly right"] += not outcome.wrong
    return outcome
