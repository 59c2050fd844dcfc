"""The lost mass of steps over rules, edges, parts and the complete automaton of small grammars."""

from math import log

import pytest

from engine.compile import compile_grammar
from engine.decoding.values import PackedMasses, StepMass
from engine.diagnosis.test_strings.coverage import WeighedUses, automata_of, uses_of, weighed_coverage
from engine.diagnosis.test_strings.values import TEXT_END, CountedText, EdgeKey, LostMass
from engine.export import offsets_without_white_space, without_white_space

GRAMMAR = 'root ::= "a" b\nb ::= "x" | "y"\n'
STEPS = (StepMass(0, 0.5, 0.5, b"no", 0.4), StepMass(1, 0.5, 0.75), StepMass(2, 0.0, 1.0, b"<end>", 0.2, True))


def weighed(text: bytes, steps: tuple[StepMass, ...], *, count: int = 1, is_whole: bool = True):
    automata = automata_of(compile_grammar("gbnf", GRAMMAR), 100)
    offsets = {step.start for step in steps}
    uses = uses_of(automata, text, is_whole=is_whole, offsets=offsets)
    return weighed_coverage(
        automata, [WeighedUses(CountedText(text, count, PackedMasses.of(steps)), uses)], has_whole=False
    )


def test_steps_are_packed_and_unpacked():
    assert tuple(PackedMasses.of(STEPS).unpack()) == STEPS


def test_each_step_is_at_the_edge_that_reads_its_first_byte():
    found = weighed(b"ax", STEPS, count=2)
    root, b = found.rules
    # the first step and the end are in `root`, the second in `b`; an unknown one is in no sum
    assert (root.lost.steps, root.lost.known, root.lost.least, root.lost.token) == (4, 2, 1.0, b"no")
    assert (b.lost.least, b.lost.most, b.lost.steps) == (0.5, 1.0, 2)
    assert b.lost.mean == (0.25, 0.5)
    ends = [key for key in found.lost if key.target == TEXT_END]
    assert [key.rule for key in ends] == [0]
    assert found.lost[ends[0]].mean is None
    nats = pytest.approx(2 * log(2) + 2 * log(4 / 3)), pytest.approx(4 * log(2))
    assert found.total == LostMass(6, 4, 1.5, 2.0, b"no", 0.4, *nats, 0.5, b"ax", 0)
    assert (b.lost.worst, b.lost.output[: b.lost.at]) == (0.25, b"a")
    parts = {GRAMMAR[part.span.start : part.span.end]: part for part in found.parts}
    assert '"y"' not in parts
    assert found.unknown == 0


def test_what_could_come_next_is_meant_where_a_text_was_cut_off():
    found = weighed(b"a", (StepMass(1, 0.75, 0.75),), is_whole=False)
    assert {key for key, lost in found.lost.items() if lost.steps} == {EdgeKey(1, 0, TEXT_END)}


@pytest.mark.parametrize("text", [b'{ "a" : 1 }', b'  {"a b": [1, 2]  ', b'"  '])
def test_offsets_are_those_in_the_text_without_white_space(text):
    offsets = offsets_without_white_space(text, range(len(text) + 1))
    short = without_white_space(text)
    assert offsets[len(text)] == len(short)
    for at, moved in offsets.items():
        assert short[:moved] == without_white_space(text[:at])
