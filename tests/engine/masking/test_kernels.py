"""What kernels are given, and what they make of a mask."""

import numpy as np
import pytest

from engine.compile import compile_grammar
from engine.masking.kernels import address_of, array_at, digest
from engine.masking.token_automaton import token_automaton
from engine.matching import Matcher


@pytest.mark.parametrize("shape", [5, (2, 3), 0])
def test_an_array_is_found_again_by_its_address(shape):
    array = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    assert (array_at(address_of(array, np.int32), shape, np.int32) == array).all()


@pytest.mark.parametrize("array", [np.zeros(4, np.int64), np.zeros((4, 4), np.int32)[:, 1]], ids=["dtype", "strides"])
def test_an_array_that_is_not_what_a_walk_reads_is_refused(array):
    with pytest.raises(TypeError, match="a walk reads int32 in one piece"):
        address_of(array, np.int32)


def test_masks_that_differ_in_a_bit_have_other_digests():
    words = np.zeros(40, np.uint32)
    digests = {digest(words)}
    for bit in range(32 * len(words)):
        changed = words.copy()
        changed[bit >> 5] = 1 << (bit & 31)
        assert digest(changed) == digest(changed.copy())
        digests.add(digest(changed))
    assert len(digests) == 1 + 32 * len(words)


@pytest.mark.parametrize("schema", ["{}", '{"maxLength": 3, "pattern": "^[a-z]*$"}', '{"enum": ["ab", "abc", 12]}'])
def test_a_walk_leaves_the_digest_of_its_mask(walk, small, schema):
    matcher = Matcher(compile_grammar("json_schema", schema), small)
    for byte in b'"a':
        matcher.bitmask()
        left = token_automaton(matcher.grammar.automaton, small).walk
        if walk != "reference":  # which computes no digest
            assert left.digest == digest(left.words)
        matcher.accept(byte)
