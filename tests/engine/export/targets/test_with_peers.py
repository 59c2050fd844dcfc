r"""What is written for xgrammar and llguidance does there what it does here: their masks, on random walks, are ours.

Their quirks, as of the releases in `packaging/constraints.txt`:

- xgrammar's `[^a]` allows the bytes of surrogates, and `[^\uD800-\uDFFF]` loses tokens of several characters: no
  class is written as what it leaves out.
- xgrammar gets left recursion wrong, and may crash over it: it is rewritten, or refused.
- llguidance's GBNF reader makes tokens of rules, and its lexer takes the longest match: a recursive grammar may lose
  texts there.
- llguidance allows only its own spelling of bytes that are forced; `no_forcing` turns that off, and is set here alone.
"""

from __future__ import annotations

import json
import random
from importlib import import_module, resources
from itertools import islice

import hostile_grammars
import numpy as np
import pytest
from exports import GRAMMARS, job_of
from fuzzing import fuzz
from grammar_language import grammars
from hypothesis import given

from engine.compile import compile_grammar
from engine.export.rules.flatten import is_recursive
from engine.export.targets import target
from engine.export.text.plain_grammar import plain_grammar
from engine.export.writing import make, refusal
from engine.grammar.print_gbnf import print_gbnf
from engine.matching import Matcher
from engine.vocabulary import Vocabulary

pytest.importorskip("xgrammar", reason="xgrammar is not installed: pip install -e '.[engines]' brings it")
pytest.importorskip("llguidance", reason="llguidance is not installed: pip install -e '.[engines]' brings it")

from engine.peers.adapters.llguidance import LlguidanceAdapter, LlguidanceMatcher
from engine.peers.adapters.xgrammar import XgrammarAdapter

TOKENS = [bytes([byte]) for byte in range(256)]
TOKENS += [b"ab", b'{"', b'":', b'", "', b"age", b"  ", "é".encode(), b"\xe2\x82", b"12", b"true", b"<eos>"]
EOS = len(TOKENS) - 1
VOCABULARY = Vocabulary(TOKENS, [EOS], {EOS: "<eos>"})
EXAMPLES = {
    place.name: (example["notation"], example["source"])
    for place in sorted(resources.files("resources").joinpath("examples").iterdir(), key=lambda place: place.name)
    if place.name.endswith(".json")
    for example in [json.loads(place.read_text("utf-8"))]
}
TEST_STRINGS = {
    place.name: [one["text"] for one in json.loads(place.read_text("utf-8"))["test_strings"]]
    for place in resources.files("resources").joinpath("examples").iterdir()
    if place.name in EXAMPLES
}
WALKS, STEPS = 4, 40


@pytest.fixture(scope="module")
def xgrammar():
    return XgrammarAdapter(VOCABULARY)


@pytest.fixture(scope="module")
def llguidance():
    return LlguidanceAdapter(VOCABULARY)


def ids(mask) -> set[int]:
    words = np.asarray(mask).view(np.uint32)
    return {index for index in range(len(TOKENS)) if int(words[index >> 5]) >> (index & 31) & 1}


def lark_matcher(llguidance, text: str) -> LlguidanceMatcher:
    unforced = text.replace("%llguidance {}", '%llguidance {"no_forcing": true}')
    matcher = llguidance.library.LLMatcher(llguidance.tokenizer, unforced)
    assert not matcher.is_error(), matcher.get_error()
    return LlguidanceMatcher(matcher, VOCABULARY)


def gbnf_matcher(llguidance, text: str) -> LlguidanceMatcher:
    return lark_matcher(llguidance, import_module("llguidance.gbnf_to_lark").any_to_lark(text))


def walk(grammar, peer, seed: int) -> None:
    chance, ours, taken = random.Random(seed), Matcher(grammar, VOCABULARY), b""
    peer.reset()
    for _ in range(STEPS):
        peer.fill_mask()
        mine, theirs = ids(ours.bitmask()), ids(peer.mask)
        assert mine == theirs, taken
        going_on = sorted(mine - {EOS})
        if not going_on:
            return
        telling = [index for index in going_on if len(TOKENS[index]) > 1 or TOKENS[index] in b'"{}[],:']
        chosen = chance.choice(telling if telling and chance.random() < 0.4 else going_on)
        taken += TOKENS[chosen]
        assert ours.accept(chosen)
        assert peer.accept(chosen)


@pytest.mark.parametrize("case", [*GRAMMARS, *EXAMPLES])
@pytest.mark.parametrize("name", ["ebnf", "lark"])
def test_the_masks_are_ours(name, case, xgrammar, llguidance):
    job = job_of(GRAMMARS.get(case) or EXAMPLES[case])
    if refusal(target(name), job):
        assert case in ("hidden left recursion", "left by another way")
        return
    text = make(name, job).content.decode()
    grammar = compile_grammar("gbnf", print_gbnf(plain_grammar(job).grammar))
    peer = xgrammar.compile("gbnf", text) if name == "ebnf" else lark_matcher(llguidance, text)
    for seed in range(WALKS):
        walk(grammar, peer, seed)


@given(grammar=grammars())
@fuzz(25)
def test_the_masks_of_random_grammars_are_ours(grammar, xgrammar, llguidance):
    job = job_of(("gbnf", print_gbnf(grammar)))
    for name in ("ebnf", "lark"):
        if refusal(target(name), job):
            continue
        text = make(name, job).content.decode()
        peer = xgrammar.compile("gbnf", text) if name == "ebnf" else lark_matcher(llguidance, text)
        for seed in range(2):
            walk(job.compiled, peer, seed)


def accepts(peer, data: bytes) -> bool:
    peer.reset()
    for byte in data:
        peer.fill_mask()
        if not peer.accept(byte):
            return False
    peer.fill_mask()
    return bool(peer.is_accepting())


@pytest.mark.parametrize("negates", [False, True])
def test_hostile_characters_are_read_alike(negates, xgrammar, llguidance):
    """As one rule below the start rule, so that llguidance's lexer loses no text."""
    for grammar, texts in islice(hostile_grammars.cases(5), 100):
        text = print_gbnf(grammar, negates=negates)
        ours = compile_grammar("gbnf", text)
        readers = [xgrammar.compile("gbnf", text), gbnf_matcher(llguidance, text)]
        for output in texts:
            assert [accepts(reader, output.encode()) for reader in readers] == [ours.fullmatch(output)] * 2, text


@pytest.mark.parametrize("case", EXAMPLES)
@pytest.mark.parametrize("name", ["gbnf", "ebnf"])
def test_llguidance_reads_the_rules_of_every_example(name, case, llguidance):
    job = job_of(EXAMPLES[case])
    if job.compiled.automaton.token_elements:
        return
    text = make(name, job).content.decode()
    rules = compile_grammar("gbnf", text)
    reader = gbnf_matcher(llguidance, text)
    is_exact = name == "ebnf" and not is_recursive(plain_grammar(job).grammar)
    for output in TEST_STRINGS[case]:
        there = accepts(reader, output.encode())
        assert there <= rules.fullmatch(output)
        assert there == rules.fullmatch(output) or not is_exact


def test_llguidance_takes_the_text_as_it_is(llguidance):
    text = make("lark", job_of("person")).content.decode()
    assert not llguidance.library.LLMatcher(llguidance.tokenizer, text).is_error()


@pytest.mark.parametrize("case", ["person", "nested"])
def test_what_requests_carry_loads_there(case, xgrammar, llguidance):
    files = dict(make("requests", job_of(case)).files)
    for name, field in (("vllm.json", "structured_outputs"), ("sglang.json", "ebnf")):
        found = json.loads(files[name])[field]
        assert xgrammar.compile("gbnf", found["grammar"] if isinstance(found, dict) else found)
    lark = json.loads(files["openai.json"])["tools"][0]["format"]["definition"]
    assert not llguidance.library.LLMatcher(llguidance.tokenizer, lark).is_error()
