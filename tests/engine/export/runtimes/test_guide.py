"""The guide that leaves with an export, held against the engine's matcher."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from catalogue_texts import text_pattern
from error_keys import raises_key
from exports import RULES, guide, job, vocabulary
from fuzzing import LIMITS, compiles_or_is_refused, fuzz
from hypothesis import example, given
from real_vocabularies import mistral
from schemas import SCHEMAS

from engine.compile import compile_grammar
from engine.export.checks import walk_tokens
from engine.export.runtimes.guide import ENDED, Guide, GuideError
from engine.export.runtimes.guide.pushdown import Pushdown
from engine.export.runtimes.guide.trie import Trie
from engine.export.tables.rule_tables import tables_document, tables_of
from engine.export.target import ExportJob, MismatchError, NotExportableError
from engine.matching import Matcher
from engine.source import GrammarError, LimitExceededError
from engine.vocabulary import Vocabulary

VOCABULARY = vocabulary()
GBNF = {
    "nested": 'root ::= "(" root ")" | x\nx ::= [é"]',
    "ambiguous": 'root ::= root "+" root | [0-9]+',
    "expressions": 'root ::= e\ne ::= e "+" t | t\nt ::= t "*" f | f\nf ::= "(" e ")" | [a-z]+',
    "a list to the right": 'root ::= l\nl ::= i l | i\ni ::= [a-z]+ ","?',
    "empty in the middle": 'root ::= a b a\na ::= "x"?\nb ::= a a root "z" | ""',
    "hidden left recursion": 'root ::= a root | "q"\na ::= b | ""\nb ::= a "c" | "d"',
    "everything empty": 'root ::= s s\ns ::= "a" s "b" | "" | s s',
    "a cycle of units": 'root ::= a | "x"\na ::= b\nb ::= a | root "y"',
    "mutual": 'root ::= a "." | b\na ::= b "1" | "x"\nb ::= a "2" | "y"',
    "dead parts": 'root ::= "a" dead | "b" [b-a] | "c"+\ndead ::= "x" dead',
    "one rule": 'root ::= "a"* "é"',
    "whole tokens": 'root ::= <think> "(" root ")" | !<[97]> "." | "ab"',
    "whole or spelled": 'root ::= (<[256]> | "a" "b" "c"?)* "!"',
}
REGEX = [r"[A-Z]+: [a-z]+\n", r"(?=.*b)[ab]{2,6}", "", r"\bab\b: .*", "é+|a{3,5}", "."]


@pytest.mark.parametrize("source", GBNF.values(), ids=GBNF)
def test_gbnf_has_the_masks_of_the_engine(source):
    of = job("gbnf", source, VOCABULARY)
    assert walk_tokens(of, guide(of), walks=30)[1] > 30


@pytest.mark.parametrize("source", REGEX)
def test_a_regex_has_the_masks_of_the_engine(source):
    of = job("regex", source, VOCABULARY)
    walk_tokens(of, guide(of), walks=30)


@pytest.mark.parametrize("whitespace", ["compact", "flexible"])
@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_a_schema_has_the_masks_of_the_engine(schema, whitespace):
    of = job("json_schema", json.dumps(schema), VOCABULARY, whitespace=whitespace)
    try:
        made = guide(of)
    except GrammarError as error:
        pytest.skip(f"it cannot be written as rules: {error.diagnostics[0].message}")
    walk_tokens(of, made, walks=8, holds_fewer=bool(made.about["notes"]))


def test_what_needs_a_memory_is_refused_with_its_place():
    of = job("json_schema", '{"type": "array", "items": {"type": "integer"}, "uniqueItems": true}', VOCABULARY)
    with pytest.raises(GrammarError, match=text_pattern("errors.export.rules.distinct")):
        tables_of(of.compiled)


@fuzz(150)
@given(RULES)
@example("root ::= a\na ::= b a | \nb ::= a b | root")
def test_any_grammar_has_the_masks_of_the_engine(source):
    compiled = compiles_or_is_refused("gbnf", source)
    if compiled is None:
        return
    of = ExportJob(compiled, VOCABULARY)
    try:
        walk_tokens(of, guide(of), walks=4, steps=8)
    except LimitExceededError:
        assert compiled.options.limits == LIMITS


def test_nesting_takes_no_python_stack():
    of = job("gbnf", 'root ::= "(" root ")" | "x"', VOCABULARY)
    made, matcher = guide(of), Matcher(of.compiled, VOCABULARY)
    opened, closed, x = (VOCABULARY.tokens.index(one) for one in (b"(", b")", b"x"))
    state = made.start
    for token_ids in ([opened] * 5_000, [x], [closed] * 4_999):
        for token_id in token_ids:
            state = made.advance(state, token_id)
            assert state is not None
            assert matcher.accept(token_id)
        assert made.mask(state) == matcher.bitmask().tobytes()
    assert not made.is_accepting(state)
    state = made.advance(state, closed)
    assert made.is_accepting(state)
    assert made.allowed(state) == [298]
    assert made.is_exhausted(state)


def test_what_repeats_stays_few_states():
    made = guide(job("gbnf", 'root ::= item root | item\nitem ::= [a-z] ","', VOCABULARY))
    state = made.run([97, 44] * 2)
    assert state is not None
    assert made.run([97, 44] * 1_000) == state


def test_a_state_can_be_kept_and_gone_back_to():
    made = guide(job("gbnf", GBNF["expressions"], VOCABULARY))
    a, plus = 97, 43
    kept = made.run([a, plus])
    before = made.mask(kept)
    assert made.run([a, plus, a], kept) is not None
    assert made.mask(kept) == before
    assert made.run([a, plus, a]) == made.advance(kept, a)


def test_an_end_ends_and_only_where_the_text_may():
    made = guide(job("regex", "ab?", VOCABULARY))
    assert made.advance(made.start, 298) is None
    state = made.advance(made.start, 97)
    assert not made.is_exhausted(state)
    assert made.advance(state, 298) == ENDED
    assert made.allowed(ENDED) == []
    assert made.is_accepting(ENDED)
    assert made.advance(ENDED, 298) is None
    assert [made.advance(made.start, one) for one in (-1, 300, 299)] == [None] * 3


def test_ids_that_share_bytes_are_allowed_together_and_holes_never():
    made = guide(job("regex", "(ab)+", VOCABULARY))
    shared = [number for number, token in enumerate(VOCABULARY.tokens) if token in (b"a", b"ab")]
    assert made.allowed(made.start) == shared
    assert len(shared) == 4


def test_an_empty_language_allows_nothing():
    of = job("gbnf", 'root ::= "a" root', VOCABULARY)
    made = guide(of)
    assert made.allowed(made.start) == []
    assert made.advance(made.start, 97) is None
    walk_tokens(of, made)


def test_a_token_element_is_ids_of_the_vocabulary():
    of = job("gbnf", "root ::= <think> [a-z]", VOCABULARY)
    made = guide(of)
    assert made.allowed(made.start) == [297]
    negated = guide(job("gbnf", "root ::= !<think>", VOCABULARY))
    assert negated.allowed(negated.start) == [one for one in range(300) if one not in (297, 298)]
    with pytest.raises(NotExportableError, match="no token <nothing>"):
        guide(job("gbnf", "root ::= <nothing>", VOCABULARY))


def test_the_file_says_where_it_comes_from():
    of = job("json_schema", '{"enum": ["a"]}', VOCABULARY, whitespace="compact")
    about = guide(of).about
    assert about["source"] == of.compiled.source.text
    assert about["options"]["whitespace"] == "compact"
    assert about["vocabulary"]["fingerprint"] == VOCABULARY.fingerprint
    assert about["generator"].startswith("Turnstile")


def test_another_file_is_refused():
    of = job("regex", "a", None)
    document = tables_document(of, tables_of(of.compiled))
    with pytest.raises(GuideError, match="without a vocabulary"):
        Guide(document)
    with pytest.raises(GuideError, match="version 2"):
        Guide({**document, "version": 1})


def test_the_trie_is_the_engines():
    for of in (VOCABULARY, Vocabulary([b"b", b"", b"abc", None, b"ab", b"b", b"\xff\x00", b"abd"], [])):
        ours, theirs = of.trie, Trie(of.tokens)
        assert (theirs.byte, theirs.depth, theirs.skip) == (
            ours.byte.tolist(),
            ours.depth.tolist(),
            ours.skip.tolist(),
        )
        starts = ours.token_start.tolist()
        assert [list(ids) for ids in theirs.ids] == [
            ours.token_ids[first:last].tolist() for first, last in pairwise(starts)
        ]
        assert theirs.height == ours.height
    assert Trie([None, b""]).byte == []


def test_a_walk_finds_one_wrong_bit_and_one_wrong_step():
    of = job("gbnf", GBNF["expressions"], VOCABULARY)

    class Lying(Guide):
        def mask(self, state: int) -> bytes:
            found = bytearray(super().mask(state))
            found[0] ^= 2
            return bytes(found)

    class Generous(Guide):
        def advance(self, state: int, token_id: int) -> int | None:
            return super().advance(state, token_id) or self.start

    document = tables_document(of, tables_of(of.compiled))
    with raises_key(MismatchError, "errors.export.checks.other_mask", count=1, who="the export", named="1 b'\\x01'"):
        walk_tokens(of, Lying(document))
    with raises_key(MismatchError, "errors.export.checks.taken"):
        walk_tokens(of, Generous(document))
    smaller = compile_grammar("gbnf", 'root ::= [a-z] "+" [a-z]')
    walk_tokens(of, Guide(tables_document(replace(of, compiled=smaller), tables_of(smaller))), holds_fewer=True)
    with raises_key(MismatchError, "errors.export.checks.other_mask", who="the engine"):
        walk_tokens(of, Guide(tables_document(replace(of, compiled=smaller), tables_of(smaller))))


def test_a_real_vocabulary(tekken_job):
    made = guide(tekken_job)
    assert walk_tokens(tekken_job, made, walks=3, steps=25)[1] > 20


@pytest.fixture
def tekken_job():
    schema = {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer"}}}
    return job("json_schema", json.dumps(schema), mistral("tekken_240911.json"))


def test_bytes_alone_can_be_run():
    of = job("gbnf", GBNF["nested"], None)
    machine = Pushdown(tables_document(of, tables_of(of.compiled))["rules"])
    for text in ("é", '"', "((é))", "((é)", "", "a", "()"):
        end = machine.run(machine.start, text.encode())
        assert machine.configurations[end].accepting == of.compiled.fullmatch(text)


def test_no_row_of_logits_is_wider_than_its_mask():
    made = guide(job("regex", ".*", VOCABULARY))
    flags = np.unpackbits(np.frombuffer(made.mask(made.start), np.uint8), bitorder="little")
    assert flags.shape == (320,)
    assert not flags[300:].any()
