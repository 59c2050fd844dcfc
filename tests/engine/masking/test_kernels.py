"""What kernels are given, and what they make of a mask."""

import numpy as np
import pytest

from engine.masking import kernels as interpreted
from engine.masking.kernels import address_of, array_at


@pytest.mark.parametrize("shape", [5, (2, 3), 0])
def test_an_array_is_found_again_by_its_address(shape):
    array = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    assert (array_at(address_of(array, np.int32), shape, np.int32) == array).all()


@pytest.mark.parametrize("array", [np.zeros(4, np.int64), np.zeros((4, 4), np.int32)[:, 1]], ids=["dtype", "strides"])
def test_an_array_that_is_not_what_a_walk_reads_is_refused(array):
    with pytest.raises(TypeError, match="a walk reads int32 in one piece"):
        address_of(array, np.int32)


def test_masks_that_differ_in_a_bit_have_other_digests(kernels):
    words = np.zeros(40, np.uint32)
    digests = {kernels.digest(words)}
    for bit in range(32 * len(words)):
        changed = words.copy()
        changed[bit >> 5] = 1 << (bit & 31)
        assert kernels.digest(changed) == kernels.digest(changed.copy())
        digests.add(kernels.digest(changed))
    assert len(digests) == 1 + 32 * len(words)


def test_digests_are_the_same_interpreted(kernels):
    words = np.arange(100, dtype=np.uint32) * np.uint32(40_000_003)
    assert (interpreted.digest(words) - kernels.digest(words)) % 2**64 == 0
