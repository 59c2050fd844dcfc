"""What the engine writes under a grammar, and what independent judges say of it.

A text is a random walk of some tokens, then the shortest way to an end. A regex's
is held against the `regex` package, a schema's against `jsonschema`. A grammar
whose notation has no judge is held against a fresh compile.
"""

from __future__ import annotations

import random

import numpy as np

from engine import CompileOptions, GrammarError, Matcher, Vocabulary, compile_grammar
from tests.exactness.masks import random_token
from tests.exactness.oracles import UnjudgedError, Verdict, read_json, regex_verdict, schema_verdict
from tests.exactness.outcome import Outcome
from tests.exactness.subjects import Subject

STEPS = 30
"""The longest walk before the text is brought to its end, in tokens."""


def check_generation(
    subject: Subject, vocabulary: Vocabulary, *, seed: int, texts: int, options: CompileOptions | None = None
) -> Outcome:
    """Write some texts and have each judged."""
    outcome = Outcome()
    try:
        grammar, fresh = (compile_grammar(subject.notation, subject.source, options) for _ in range(2))
    except GrammarError:
        outcome.skipped["refused"] += 1
        return outcome
    if grammar.is_empty:
        outcome.skipped["matches nothing"] += 1
        return outcome
    if grammar.automaton.token_elements:
        outcome.skipped["not made of text alone"] += 1
        return outcome
    for number in range(texts):
        data = write(Matcher(grammar, vocabulary), random.Random(f"{subject.id} {seed} {number}"))
        if data is None:
            outcome.skipped["no end was found"] += 1
            continue
        outcome.compared["texts"] += 1
        name = f"{subject.corpus} {subject.id} text {number}, {data!r}"
        if not fresh.fullmatch(data):
            outcome.wrong.append(f"{name}: a fresh compile does not accept it")
        try:
            is_right = _judge(subject)
            if is_right is None:
                continue
            if not is_right(data.decode("utf-8", "surrogatepass")):
                outcome.wrong.append(f"{name}: the judge does not accept it")
            outcome.compared["texts judged"] += 1
        except UnjudgedError as error:
            outcome.skipped[str(error)] += 1
    return outcome


def write(matcher: Matcher, chance: random.Random) -> bytes | None:
    """A text of the language; None where the search for its end outgrew its effort."""
    vocabulary, text = matcher.vocabulary, b""
    for _ in range(chance.randint(0, STEPS)):
        mask = np.unpackbits(matcher.bitmask().astype("<i4").view(np.uint8), bitorder="little")
        ids = [i for i in np.flatnonzero(mask).tolist() if i not in vocabulary.eos_ids]
        if not ids:
            break
        chosen = random_token(ids, vocabulary.tokens, chance)
        assert matcher.accept(chosen), "the mask allowed it"
        text += vocabulary.tokens[chosen] or b""
    end = matcher.shortest_completion()
    assert not end.is_impossible, f"behind {text!r} nothing leads to an end, although the mask allowed it"
    if end.text is None:
        return None
    assert matcher.accept_bytes(end.text), f"{end.text!r} is no completion of {text!r}"
    assert matcher.is_accepting, f"{end.text!r} does not complete {text!r}"
    return text + end.text


def _judge(subject: Subject) -> Verdict | None:
    if subject.notation == "json_schema":
        return schema_verdict(read_json(subject.source))
    return regex_verdict(subject.source) if subject.notation == "regex" else None
