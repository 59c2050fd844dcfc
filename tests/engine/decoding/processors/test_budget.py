"""The token budget, held against trying every token and every way on from it."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
from brute_force import Endings
from corpora import SHARED, cases
from error_keys import raises_key
from grammar_language import grammars
from hypothesis import given, settings
from hypothesis import strategies as st
from random_model import RandomModel

from engine import Matcher, Vocabulary, compile_grammar
from engine.analysis.token_graph import TokenGraph
from engine.analysis.token_successors import TokenSuccessors
from engine.decoding.errors import DeadEndError
from engine.decoding.generate import generate
from engine.decoding.pipeline_settings import PipelineSettings
from engine.decoding.processors import Context, Pipeline
from engine.decoding.processors.grammar_mask import TokenBudget
from engine.decoding.session import DecodeSession
from engine.decoding.values import Finish, SamplerSettings
from engine.grammar.print_gbnf import print_gbnf
from engine.source import GrammarError, LimitExceededError
from engine.source.catalogue import catalogue_text

BUDGET = PipelineSettings(budget=True)

SMALL = Vocabulary([b"a", b"b", b"c", b"ab", b"ba", b"abc", b"cc", None, b"a"], [7])
ENDLESS = Vocabulary([b"a", b"b", b"c", b"ab", b"bca"], [])
LACKING = Vocabulary([b"a", b"ab", b"bb", b"\xc3", b"\xa9", b"c\xc3", None], [6])  # no single b, é by halves
_TEXTS = [b'":', b'",', b'"}', b"{}", b"[]", b'{"', b'": "', b"true", b"null", b"12", b"ab", b"  ", b"\xc3\xa9", b'"]}']
BYTES = Vocabulary([*(bytes((byte,)) for byte in range(256)), *_TEXTS, b"a", None], [257 + len(_TEXTS)])

REGEXES = [
    "a*", "a{3}", "(ab|c)*", "(ab)*c", "a(b|cc)+", "(abc){2,4}", "[ab]*c{2}", "a|bb|ccc", "(a|ab)(c|bc)a?", "",
    "a{2,5}b{0,3}", "(?=.*c)[abc]{2,4}", "(a*b){3}", "c?(ab?)*c", "[abc]{4}", "(ba)*|c+b", "é|ab", "éa*",
    "(?:(?!a$)[abc])*", r"(?:b\B|ab|c\b)*", r"(?:[ab](?!\Z))*c?",
]  # fmt: skip
GBNF = [
    'root ::= "a" root "b" | "c"',
    'root ::= ("a" root)*',
    'root ::= x | y\nx ::= "a" x "a" | "b"\ny ::= "c" y | "cc"',
    'root ::= root "a" | "b"',
    'root ::= "(" | ("a" | "b" root "c")+',
    'root ::= "a" "b"? root? "c"',
]  # fmt: skip
SCHEMAS = [
    {"type": "boolean"},
    {"type": "array", "items": {"type": "null"}},
    {"type": "object", "properties": {"ab": {"type": "integer"}}, "required": ["ab"], "additionalProperties": False},
    {"type": "array", "items": {"$ref": "#"}, "minItems": 1, "maxItems": 2},
    {"enum": ["ab", "abab", 12, None]},
    {"type": "string", "maxLength": 6, "minLength": 2},
]


def compiled():
    """Pairs of notation and source."""
    texts = [("regex", text) for text in REGEXES] + [("gbnf", text) for text in GBNF]
    return texts + [("json_schema", json.dumps(schema)) for schema in SCHEMAS]


def walk_beside(grammar, vocabulary, tokens, seed):
    """A random walk within a budget; every mask is what the slow way says."""
    choose = random.Random(seed)
    budget, endings = TokenBudget(grammar, vocabulary, tokens), Endings(grammar, vocabulary)
    state, matcher = budget.start(), Matcher(grammar, vocabulary)
    while True:
        allowed, expected = budget.allowed(state), endings.allowed(matcher, state.tokens)
        report = budget.report(state)
        assert report.is_exact
        assert np.flatnonzero(allowed).tolist() == np.flatnonzero(expected).tolist()
        ids = [i for i in np.flatnonzero(allowed).tolist() if i not in vocabulary.eos_ids]
        if not ids:
            return matcher.is_accepting and (not vocabulary.eos_ids or bool(allowed.any()))
        token_id = choose.choice(ids)
        assert matcher.accept(token_id)
        state = budget.advance(state, token_id)


@pytest.mark.parametrize("vocabulary", [SMALL, ENDLESS, LACKING], ids=["end", "endless", "lacking"])
@pytest.mark.parametrize(("notation", "source"), [pair for pair in compiled() if pair[0] != "json_schema"])
def test_a_mask_is_what_trying_every_way_says(notation, source, vocabulary):
    grammar = compile_grammar(notation, source)
    least = Endings(grammar, vocabulary).minimum()
    for tokens in range(9):
        complete = walk_beside(grammar, vocabulary, tokens, seed=tokens)
        assert complete == (least is not None and tokens >= least)


@given(grammar=grammars(), tokens=st.integers(0, 6), seed=st.integers(0, 99))
@settings(max_examples=60, deadline=None)
def test_random_grammars_too(grammar, tokens, seed):
    compiled = compile_grammar("gbnf", print_gbnf(grammar))
    complete = walk_beside(compiled, SMALL, tokens, seed)
    least = Endings(compiled, SMALL).minimum(8)
    assert complete == (least is not None and tokens >= least)


def all_grammars():
    """Two hundred and more: ours, and those of the corpora that are not long."""
    found = compiled()
    for name, most in (("regex", 70), ("outlines", 40), ("llama", 50), ("xgrammar", 40), ("jsts_2020", 40)):
        texts = []
        for case in cases(name):
            text = case["source"] if "source" in case else json.dumps(case["schema"])
            if len(text) < 400:
                texts.append((case.get("kind", "json_schema"), text))
        found += sorted(set(texts))[: most if SHARED.is_dir() else 2 * most]
    return found


PARTS = 7


@pytest.mark.parametrize("part", range(PARTS))
def test_two_hundred_grammars_by_budgets_from_the_minimum_up_are_always_complete(part):
    tried = 0
    for notation, source in all_grammars()[part::PARTS]:
        if tried > 200 // PARTS:
            break
        try:
            grammar = compile_grammar(notation, source)
        except (GrammarError, LimitExceededError):
            continue
        if grammar.is_empty or grammar.automaton.token_elements:
            continue
        empty = TokenBudget(grammar, BYTES, 0)
        least = empty.report(empty.start()).at_most
        if least is None or least > 60:
            continue
        tried += 1
        more = (0, 1, 5)[tried % 3]
        made = generate(
            grammar,
            RandomModel(BYTES),
            sampler=SamplerSettings(seed=tried + more),
            max_tokens=least + more,
            pipeline=BUDGET,
        )
        assert grammar.fullmatch(made.output), (notation, source, least, more, made.output)
        assert len(made.steps) <= least + more
    assert tried >= 200 // PARTS


@pytest.mark.parametrize("schema", SCHEMAS[:3] + SCHEMAS[4:6])
def test_what_was_promised_outlives_what_is_forgotten(schema, monkeypatch):
    monkeypatch.setattr("engine.analysis.token_budget.MAX_STATES", 5)
    grammar = compile_grammar("json_schema", json.dumps(schema))
    budget = TokenBudget(grammar, BYTES, 0)
    least = budget.report(budget.start()).at_most
    for seed in range(6):
        made = generate(
            grammar,
            RandomModel(BYTES),
            sampler=SamplerSettings(seed=seed),
            max_tokens=least + seed,
            pipeline=BUDGET,
        )
        assert grammar.fullmatch(made.output)


def test_keys_that_may_not_come_twice_are_found_too():
    grammar = compile_grammar("json_schema", '{"type": "object", "minProperties": 2}')
    made = generate(grammar, RandomModel(BYTES), max_tokens=16, pipeline=BUDGET)
    assert grammar.fullmatch(made.output)


def test_one_token_less_than_the_minimum_is_told_at_once():
    grammar = compile_grammar("regex", "abcabcabc")
    budget = TokenBudget(grammar, SMALL, 3)
    assert budget.report(budget.start()) == (type(budget.report(budget.start())))(3, 4, 4, is_exact=True)
    session = DecodeSession(grammar, RandomModel(SMALL), max_tokens=3, pipeline=BUDGET)
    assert session.finish is Finish.DEAD_END
    with raises_key(DeadEndError, "errors.decoding.empty_mask"):
        session.step()
    session.set_max_tokens(4)
    while session.finish is None:
        session.step()
    assert (session.text, session.finish) == ("abcabcabc", Finish.STOP)


def test_the_end_token_counts_and_nothing_else_is_left_for_it():
    grammar = compile_grammar("regex", "a*")
    budget = TokenBudget(grammar, SMALL, 2)
    assert np.flatnonzero(budget.allowed(budget.start())).tolist() == [0, 7, 8]
    last = budget.advance(budget.start(), 0)
    assert np.flatnonzero(budget.allowed(last)).tolist() == [7]


def test_the_models_context_is_a_budget_too():
    model = RandomModel(BYTES, context_length=7)
    session = DecodeSession(compile_grammar("regex", "[xy]*z"), model, prompt="qq", max_tokens=100, pipeline=BUDGET)
    while session.finish is None:
        session.step()
    assert session.finish is Finish.STOP
    assert session.is_accepting


def test_a_budget_that_becomes_smaller_leaves_what_was_taken():
    session = DecodeSession(compile_grammar("regex", "[xy]*zzzz"), RandomModel(BYTES), max_tokens=20, pipeline=BUDGET)
    for letter in b"xyxy":
        session.take(letter)
    session.set_max_tokens(9)
    assert session.output == b"xyxy"
    assert [row.token for row in session.position().candidates if row.allowed] == [b"z"]
    session.set_max_tokens(7)
    assert session.finish is Finish.DEAD_END
    assert session.position().budget.at_least == 5
    assert session.back()
    session.set_max_tokens(9)
    assert session.finish is None


def test_why_a_token_is_held_back():
    session = DecodeSession(compile_grammar("regex", "x{0,9}zz"), RandomModel(BYTES), max_tokens=3, pipeline=BUDGET)
    stage, why = session.removed_by(ord("x"))
    assert stage == "budget"
    assert catalogue_text("decoding.expected.ending", wanted=3, left=2) in why
    assert session.removed_by(ord("z")) is None
    assert session.removed_by(ord("q")) is None  # that is the grammar's to say


def test_a_nested_grammar_beyond_the_search_has_a_sound_bound():
    grammar = compile_grammar("gbnf", 'root ::= "a"{70} y\ny ::= "c" y "c" | "ab"')
    lacking = Vocabulary([b"aa", b"aaa", b"ab", b"c", None], [4])
    made = generate(grammar, RandomModel(lacking), max_tokens=40, pipeline=BUDGET)
    assert grammar.fullmatch(made.output)


def test_suppressed_tokens_are_no_way_to_an_end():
    pipeline = PipelineSettings(budget=True, suppress=("b",))
    for seed in range(20):
        sampler = SamplerSettings(seed=seed)
        made = generate(
            compile_grammar("regex", "[ac]*(b|cc|aaa)"),
            RandomModel(SMALL),
            sampler=sampler,
            max_tokens=4,
            pipeline=pipeline,
        )
        assert made.finish is Finish.STOP
        assert b"b" not in made.output


def test_a_batch_within_a_pipeline():
    grammar = compile_grammar("regex", "(ab)*c")
    pipeline = Pipeline([("budget", TokenBudget(grammar, SMALL, 3))])
    rng = np.random.default_rng(1)
    state, histories = pipeline.init(3), [[], [], []]
    for _ in range(3):
        logits, state = pipeline.process(state, rng.normal(size=(3, SMALL.size)), Context.of(histories))
        assert not np.isnan(logits).any()
        for history, row in zip(histories, logits, strict=True):
            history.append(int(np.argmax(row)))
    for history in histories:
        text = b"".join(SMALL.tokens[token_id] or b"" for token_id in history)
        assert grammar.fullmatch(text)


@pytest.mark.parametrize(("notation", "source"), compiled())
@pytest.mark.parametrize("vocabulary", [SMALL, LACKING, BYTES], ids=["small", "lacking", "bytes"])
def test_the_graph_leads_where_single_steps_lead(notation, source, vocabulary):
    automaton = compile_grammar(notation, source).automaton
    graph, steps = TokenGraph(automaton, vocabulary), TokenSuccessors(automaton, vocabulary)
    number = graph.cursor(automaton.start)
    for _ in range(4):
        found = graph.steps(number)
        assert {graph.cursor_of(p) for p in found.targets} == set(steps.successors(graph.cursor_of(number)))
        for token_id, after in zip(found.tokens.tolist(), found.after.tolist(), strict=True):
            place = graph.cursor_of(number)
            for byte in vocabulary.tokens[token_id]:
                place = automaton.advance(place, byte)
            assert place == graph.cursor_of(after)
        if not found.targets:
            return
        number = found.targets[-1]
        assert automaton.cursor(graph.configuration(number)) == graph.cursor_of(number)
