"""The stacks that the cost of a grammar counts are those that the installed llama.cpp holds."""

import pytest

from engine.compile import compile_grammar
from engine.diagnosis.targets.llama_stacks import stack_growth
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
