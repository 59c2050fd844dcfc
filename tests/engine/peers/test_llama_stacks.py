"""The stacks that the cost of a grammar counts are those that the installed llama.cpp holds."""

import pytest

from engine.compile import compile_grammar
from engine.diagnosis.targets.llama_stacks import StackCounter, stack_growth
from engine.peers import PEERS
from engine.vocabulary import Vocabulary

BYTES = Vocabulary([bytes((byte,)) for byte in range(256)], eos_ids=[])
(LLAMA,) = (peer for peer in PEERS if peer.name == "llama-cpp")
GRAMMARS = [
    ('root ::= a? a? a? a? a? "x"\na ::= [0-9]', "123x"),
    ('root ::= a{0,5} "x"\na ::= [0-9]', "123x"),
    ('root ::= [0-9] (b? b? b? b? b? [0-9])*\nb ::= "b"', "1bb2b3"),
    ('root ::= e ("+" e)*\ne ::= [0-9]+ | "(" root ")"', "(1+2)+33"),
    ('root ::= "a" | "ab" | "abc" | [a-z]*', "abcd"),
    ('root ::= x x\nx ::= "(" x "1" | "(" x "2" | "a"', "((a12a"),
    ('root ::= "ä" [^"]{2,4} ("é" | "e")* | .+', "äöüée"),
]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("text", "sample"), GRAMMARS)
def test_llama_cpp_holds_as_many_stacks(text, sample):
    if LLAMA.version is None:
        pytest.skip(f"not installed: {LLAMA.hint}")
    matcher = LLAMA.adapter(BYTES).compile("gbnf", text)
    counts = [matcher.stack_count]
    for character in sample:
        for byte in character.encode():
            matcher.fill_mask()
            assert matcher.accept(byte)
        counts.append(matcher.stack_count)
    growth = stack_growth(compile_grammar("gbnf", text).grammar, sample.encode())
    assert (growth.text, growth.stacks) == (sample, tuple(counts))


@pytest.mark.parametrize(("text", "sample"), GRAMMARS)
def test_a_text_that_grows_has_the_same_stacks(text, sample):
    grammar = compile_grammar("gbnf", text).grammar
    counter = StackCounter(grammar)
    stacks = stack_growth(grammar, sample.encode()).stacks
    for length in range(len(sample) + 1):
        assert counter.counts(sample[:length]) == stacks[: length + 1]
    assert counter.counts("\0" + sample) == StackCounter(grammar).counts("\0" + sample)
    assert counter.counts(sample) == stacks
    assert counter.counts(sample + "\0" * 3)[: len(stacks)] == stacks


def test_a_text_with_too_many_stacks_has_no_numbers_from_there_on():
    grammar = compile_grammar("gbnf", 'root ::= x\nx ::= "(" x "1" | "(" x "2" | "a"').grammar
    counter = StackCounter(grammar)
    counts = counter.counts("(" * 30)
    assert counts[:4] == (3, 6, 12, 24)
    assert len(counts) < 30
    assert counter.counts("(" * 40) == StackCounter(grammar).counts("(" * 40) == counts
