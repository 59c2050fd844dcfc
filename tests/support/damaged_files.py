"""Files with something wrong in them, JSON values of other types or bytes turned over; a seed stands for a damage."""

from __future__ import annotations

import json
import os
from copy import deepcopy
from random import Random
from typing import Any

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "300"))
"""How many seeds a test tries; `FUZZ_EXAMPLES=20000` is the long run."""

_VALUES: tuple[Any, ...] = (
    *(None, True, False, -1, 0, 1.5, 2**31, 2**63, 10**400, "", "a", "\ud800", "1" * 5_000, "<0xZZ>"),
    *([], {}, [[]], {"a": 1}, [1, "a"], {"content": 1}, {"type": "Sequence"}),
)


def damaged_json(document: Any, rng: Random) -> str:
    """Replace, remove or wrap one to three parts of a JSON value."""
    whole = [deepcopy(document)]
    for _ in range(rng.randint(1, 3)):
        holder, key = rng.choice(_places(whole))
        match rng.randrange(4):
            case 0 if isinstance(holder, dict):
                del holder[key]
            case 1:
                holder[key] = [holder[key]]
            case _:
                holder[key] = deepcopy(rng.choice(_VALUES))
    text = json.dumps(whole[0])
    return text if rng.random() < 0.95 else text.replace("{", '{"deep":' + "[" * 100_000 + "]" * 100_000 + ",", 1)


def _places(value: Any) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    todo = [(value, 0)]
    while todo:
        part, depth = todo.pop()
        keys = list(part) if isinstance(part, dict) else list(range(len(part)))
        keys = keys if len(keys) <= 20 else keys[:10] + keys[-10:]
        for key in keys:
            found += [(part, key)] * (3 if depth < 4 else 1)
            if isinstance(part[key], dict | list):
                todo.append((part[key], depth + 1))
    return found


def damaged_bytes(data: bytes, rng: Random, within: int) -> bytes:
    """Change a few of the first bytes, with a preference for what makes a count enormous, or cut the end off."""
    changed = bytearray(data)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(min(within, len(changed)))
        match rng.randrange(4):
            case 0:
                changed[at] = rng.randrange(256)
            case 1:
                changed[at : at + 8] = b"\xff" * 8
            case 2:
                changed[at : at + 8] = rng.choice((1 << 40, 1 << 62, 9, 0)).to_bytes(8, "little")
            case _:
                del changed[at : at + rng.randint(1, 9)]
    return bytes(changed[: rng.randrange(len(changed) + 1)] if rng.random() < 0.1 else changed)
