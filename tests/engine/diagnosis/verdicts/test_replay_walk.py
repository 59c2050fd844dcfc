import itertools
import re

import pytest

from engine.compile import compile_grammar
from engine.diagnosis.verdicts.replay_walk import output_loops, reach, walk

ALPHABET = "ab "
TEXTS = ["".join(letters) for length in range(6) for letters in itertools.product(ALPHABET, repeat=length)]


@pytest.mark.parametrize("pattern", ["a+b", "(ab|ba )*", "a{2,3} ?b", "(a|aa)b*"])
def test_what_is_legal_is_what_begins_a_match(pattern):
    grammar = compile_grammar("regex", pattern)
    longer = ["".join(letters) for length in range(9) for letters in itertools.product(ALPHABET, repeat=length)]
    language = [text for text in longer if re.fullmatch(pattern, text)]
    for text in TEXTS:
        beginnings = [
            length for length in range(len(text) + 1) if any(one.startswith(text[:length]) for one in language)
        ]
        walked = walk(grammar.automaton, text.encode())
        assert walked.legal == max(beginnings)
        assert reach(grammar.automaton, text.encode()) == walked.legal
        assert len(walked.configurations) == walked.legal + 1


def test_a_byte_is_forced_where_no_other_may_stand_and_no_end_either():
    grammar = compile_grammar("regex", "ab(cd)?x|aby")
    walked = walk(grammar.automaton, b"abcdx")
    # Behind "ab" there is a choice; "c" leads to "dx" alone.
    assert walked.forced == (True, True, False, True, True)
    assert walked.forced_ranges() == ((0, 2), (3, 5))


def test_an_end_is_a_choice():
    assert walk(compile_grammar("regex", "a*").automaton, b"aa").forced == (False, False)


@pytest.mark.parametrize(("blanks", "is_told"), [(3, False), (40, True)])
def test_blanks_that_change_nothing_are_told_of(blanks, is_told):
    grammar = compile_grammar("gbnf", 'root ::= "[" ws "1" ws "]"\nws ::= [ \\n]*')
    data = b"[" + b" " * blanks
    found = output_loops(grammar.automaton, data, walk(grammar.automaton, data))
    assert bool(found) is is_told
    if is_told:
        (circle,) = found
        assert (circle.range, circle.period, circle.blank, circle.at_end) == ((1, 41), 1, True, True)
        assert grammar.source.excerpt(circle.spans[0]) == "[ \\n]"


def test_blanks_that_are_counted_are_no_circle():
    grammar = compile_grammar("regex", "a {0,60}b")
    data = b"a" + b" " * 40
    assert output_loops(grammar.automaton, data, walk(grammar.automaton, data)) == ()


def test_text_that_comes_again_and_again_up_to_the_end_is_told_of():
    grammar = compile_grammar("gbnf", 'root ::= "[" ("1, ")* "]"')
    data = b"[" + b"1, " * 20
    (circle,) = output_loops(grammar.automaton, data, walk(grammar.automaton, data))
    assert (circle.range, circle.period, circle.blank, circle.at_end) == ((1, 61), 3, False, True)
