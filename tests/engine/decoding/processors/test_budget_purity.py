"""What a token budget allows depends on the text and the tokens left, never on earlier questions."""

from __future__ import annotations

import json
import random
from pathlib import Path

import numpy as np
import pytest
from random_model import RandomModel

import resources
from engine import Vocabulary, compile_grammar
from engine.decoding.fast_forward import FastForward
from engine.decoding.generate import generate, generate_fast_forward
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.processors.grammar_mask import TokenBudget
from engine.decoding.session import DecodeSession
from engine.decoding.values import SamplerSettings

RECORDS = Vocabulary.from_tokenizer(Path(next(iter(resources.__path__))) / "models" / "records" / "tokenizer.json")
FEWER = Vocabulary(RECORDS.tokens[:400], [one for one in RECORDS.eos_ids if one < 400])
SHEET = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 40},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "role": {"enum": ["admin", "editor", "viewer"]},
        "tags": {"type": "array", "items": {"type": "string"}},
    },
    "required": ["name", "age", "role"],
    "additionalProperties": False,
}
RECURSIVE = {
    "type": "object",
    "properties": {
        "a": {"type": "array", "items": {"$ref": "#"}, "maxItems": 3},
        "b": {"type": "string", "pattern": "^[a-z]{3,30}[0-9]$"},
        "c": {"type": "string", "format": "email"},
    },
    "required": ["b", "c"],
}
SOURCES = {
    "sheet": ("json_schema", json.dumps(SHEET)),
    "distinct keys": ("json_schema", '{"type": "object", "minProperties": 2}'),
    "recursive": ("json_schema", json.dumps(RECURSIVE)),
    "tree": ("json_schema", '{"type": "array", "items": {"$ref": "#"}, "maxItems": 3}'),
    "nested": ("gbnf", 'root ::= "[" (root ("," root)*)? "]" | [0-9]{1,5} | "\\"" [a-z ]* "\\""'),
    "ambiguous": ("gbnf", 'root ::= "a" root "b" | root "c" | "aa"'),
    "looks": ("regex", "(?=.*[0-9])(?=.*[A-Z])[a-zA-Z0-9]{4,20}"),
    "counts": ("regex", "(?:[a-z]{3,10} ){2,40}[0-9]{3}"),
}

SMALLER = {  # each question takes long
    "distinct keys": {"walks": 1, "steps": 3},
    "counts": {"walks": 2, "steps": 4},
    "recursive": {"walks": 2, "steps": 5},
}


def vocabulary_for(name):
    """Return the vocabulary that a grammar is asked about: where it tells all keys apart, a mask takes long."""
    return RECORDS if name in ("sheet", "recursive") else FEWER


def answers(budget, tokens, path):
    """Return the mask and the report behind a path, as values that can be compared."""
    budget = budget.with_tokens(tokens)
    state = budget.start()
    for token_id in path:
        state = budget.advance(state, token_id)
    return np.flatnonzero(budget.allowed(state)).tolist(), budget.report(state)


def questions(name, seed, walks=2, steps=8):
    """Return budgets and paths: random walks within budgets that are close to what the grammar needs."""
    choose, found = random.Random(seed), []
    vocabulary = vocabulary_for(name)
    budget = TokenBudget(compile_grammar(*SOURCES[name]), vocabulary, 0)
    least = budget.report(budget.start()).at_most or 10
    for walk in range(walks):
        within = budget.with_tokens(least + 3 * walk)
        state, path = within.start(), ()
        for _ in range(steps):
            found.append((within.tokens, path))
            ids = [one for one in np.flatnonzero(within.allowed(state)).tolist() if one not in vocabulary.eos_ids]
            if not ids:
                break
            path += (choose.choice(ids),)
            state = within.advance(state, path[-1])
    return found


@pytest.mark.parametrize("name", SOURCES)
def test_questions_in_any_order_on_fresh_and_used_objects_have_the_same_answers(name, monkeypatch):
    notation, source = SOURCES[name]
    asked = questions(name, seed=1, **SMALLER.get(name, {}))
    expected = {}
    for question in asked[::3]:
        expected[question] = answers(TokenBudget(compile_grammar(notation, source), vocabulary_for(name), 0), *question)
    for seed in range(1 if name in SMALLER else 2):
        choose = random.Random(seed)
        order, dropped = [*asked, *expected], name if seed or name == "distinct keys" else ""
        choose.shuffle(order)
        used = TokenBudget(compile_grammar(notation, source), vocabulary_for(name), 0)
        for question in order:
            kept = 200 if name == dropped and choose.random() < 0.3 else 30_000
            monkeypatch.setattr("engine.analysis.token_budget.MAX_STATES", kept)
            found = answers(used, *question)
            assert found == expected.setdefault(question, found), (question, seed)


@pytest.mark.parametrize(
    ("tokens", "path"),
    [(19, [b'{"', b"a", b'"', b":"]), (18, [b'{"', b"a", b'":', b"["])],
)
def test_an_object_that_is_asked_for_the_first_time_allows_the_same_tokens(tokens, path):
    ids = [RECORDS.tokens.index(token) for token in path]
    used = TokenBudget(compile_grammar(*SOURCES["recursive"]), RECORDS, 0)
    for taken in range(len(ids) + 1):
        fresh = TokenBudget(compile_grammar(*SOURCES["recursive"]), RECORDS, 0)
        assert answers(used, tokens, ids[:taken]) == answers(fresh, tokens, ids[:taken])


@pytest.mark.parametrize("name", SOURCES)
def test_every_state_within_a_budget_has_a_token_or_accepts(name):
    notation, source = SOURCES[name]
    grammar = compile_grammar(notation, source)
    vocabulary = vocabulary_for(name)
    budget = TokenBudget(grammar, vocabulary, 0)
    least = budget.report(budget.start()).at_most
    for seed in range(1 if name == "distinct keys" else 3):
        choose = random.Random(seed)
        within = budget.with_tokens(least + seed)
        state, text = within.start(), b""
        while True:
            ids = np.flatnonzero(within.allowed(state)).tolist()
            assert ids, (seed, text)
            token_id = choose.choice(ids)
            if token_id in vocabulary.eos_ids:
                break
            text += vocabulary.tokens[token_id]
            state = within.advance(state, token_id)
        assert grammar.fullmatch(text)


def look_around(session, choose):
    """Ask what a user's window asks: lookups, why a token is held back, a run ahead that is taken back."""
    for token_id in choose.sample(range(RECORDS.size), 5):
        session.removed_by(token_id)
    session.position()
    taken = 0
    while taken < choose.randrange(4) and session.finish is None:
        session.step()
        taken += 1
    for _ in range(taken):
        assert session.back()


@pytest.mark.parametrize("strategy", ["none", "longest"])
@pytest.mark.parametrize("name", ["sheet", "nested"])
def test_the_same_seed_gives_the_same_tokens_however_much_is_asked_between(name, strategy):
    notation, source = SOURCES[name]
    pipeline = PipelineSettings(budget=True, forced=strategy)
    settings = {"sampler": SamplerSettings(seed=3), "max_tokens": 34, "pipeline": pipeline}
    grammar = compile_grammar(notation, source)
    alone = generate_fast_forward(grammar, RandomModel(RECORDS), strategy, **settings).generation
    assert grammar.fullmatch(alone.output)
    if strategy == "none":
        assert generate(compile_grammar(notation, source), RandomModel(RECORDS), **settings).steps == alone.steps
    for seed in range(3):
        choose, model = random.Random(seed), RandomModel(RECORDS)
        session = DecodeSession(compile_grammar(notation, source), model, **settings)
        fast_forward = FastForward(model, strategy, encode=None)
        while session.finish is None:
            if choose.random() < 0.5:
                look_around(session, choose)
            fast_forward.advance(session)
        assert [step.token_id for step in session.steps] == [step.token_id for step in alone.steps]


def test_a_trace_that_is_restored_goes_on_with_the_same_tokens():
    notation, source = SOURCES["sheet"]
    settings = {"sampler": SamplerSettings(seed=5), "max_tokens": 30, "pipeline": PipelineSettings(budget=True)}
    whole = DecodeSession(compile_grammar(notation, source), RandomModel(RECORDS), **settings)
    choose, expected = random.Random(5), []
    while whole.finish is None:
        look_around(whole, choose)
        expected.append(whole.step().token_id)
    for taken in range(3, len(expected), 12):
        before = DecodeSession(compile_grammar(notation, source), RandomModel(RECORDS), **settings)
        for _ in range(taken):
            before.step()
        after = DecodeSession(compile_grammar(notation, source), RandomModel(RECORDS), **settings)
        after.restore(before.trace)
        while after.finish is None:
            after.step()
        assert [step.token_id for step in after.steps] == expected
