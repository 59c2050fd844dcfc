"""Masks as packed bits, put on logits: nothing here runs once for each token in Python."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import torch


def forbidden(masks: Sequence[bytes], width: int, device: torch.device, *, pin: bool = False) -> torch.Tensor:
    """What masks of bits do not allow.

    Args:
        masks: n masks of the same length; bit `i & 7` of byte `i >> 3` is that of token `i`.
        width: the width of the logits. Tokens that the masks do not know are forbidden.
        device: where the logits are.
        pin: whether the bytes go there by pinned memory.

    Returns:
        bool[n, width].
    """
    packed = torch.frombuffer(bytearray(b"".join(masks)), dtype=torch.uint8)
    if pin:
        packed = packed.pin_memory()
    packed = packed.to(device, non_blocking=pin)
    flags = _eight_flags(device).index_select(0, packed.int()).view(torch.bool).view(len(masks), -1)
    missing = width - flags.shape[1]
    return torch.nn.functional.pad(flags, (0, missing), value=True) if missing > 0 else flags[:, :width]


@cache
def _eight_flags(device: torch.device) -> torch.Tensor:
    """int64[256]: for each byte of a mask, the eight booleans of the tokens that it forbids, side by side in memory."""
    bits = torch.arange(256).unsqueeze(1) >> torch.arange(8)
    return (bits & 1 == 0).contiguous().view(torch.int64).flatten().to(device)


def masked(logits: torch.Tensor, masks: Sequence[bytes]) -> torch.Tensor:
    """Logits with minus infinity where a mask does not allow; what it allows stays as it is.

    Args:
        logits: float[n, width], one row for each mask.
        masks: as for `forbidden`.
    """
    return logits.masked_fill(forbidden(masks, logits.shape[-1], logits.device), float("-inf"))


def mask_rows(logits: torch.Tensor, rows: Sequence[int], masks: Sequence[bytes], *, pin: bool = False) -> None:
    """The same in place, for some rows of a batch.

    Args:
        logits: float[batch, width].
        rows: which rows, each once.
        masks: one for each of them.
        pin: as for `forbidden`.
    """
    flags = forbidden(masks, logits.shape[-1], logits.device, pin=pin)
    if list(rows) == list(range(logits.shape[0])):
        logits.masked_fill_(flags, float("-inf"))
        return
    where = torch.tensor(rows, dtype=torch.long, device=logits.device)
    logits[where] = logits[where].masked_fill_(flags, float("-inf"))
