"""Packed masks on logits, against bits taken one by one."""

from __future__ import annotations

import random

import pytest
import torch

from engine.export.runtimes.masks import forbidden, mask_rows, masked

CPU = torch.device("cpu")


def bits(mask: bytes, width: int) -> list[bool]:
    return [at < 8 * len(mask) and bool(mask[at >> 3] >> (at & 7) & 1) for at in range(width)]


@pytest.mark.parametrize("width", [1, 31, 64, 65, 200])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_rows_are_masked_bit_by_bit(width, dtype):
    chance = random.Random(width)
    masks = [chance.randbytes(8) for _ in range(5)]
    logits = torch.randn(5, width).to(dtype)
    assert (~forbidden(masks, width, CPU)).tolist() == [bits(mask, width) for mask in masks]
    after = masked(logits, masks)
    assert after.dtype == dtype
    for row, old, mask in zip(after.tolist(), logits.tolist(), masks, strict=True):
        assert row == [one if allowed else float("-inf") for one, allowed in zip(old, bits(mask, width), strict=True)]


@pytest.mark.parametrize("rows", [[0, 1, 2, 3], [3, 1], [2], [1, 0, 2, 3]])
def test_only_the_rows_that_are_named_change(rows):
    masks = [bytes([1 << row] * 8) for row in rows]
    logits = torch.randn(4, 70)
    before = logits.clone()
    mask_rows(logits, rows, masks)
    for row in range(4):
        wanted = masked(before[row : row + 1], [masks[rows.index(row)]])[0] if row in rows else before[row]
        assert torch.equal(logits[row], wanted)
