"""The corpora of the folder `shared` beside the checkout: independent cases that belong to no one here.

They are read where they lie and never copied. Without the folder there are no
cases, and the fixture `shared` skips what needs it.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

SHARED = Path(__file__).resolve().parents[3] / "shared"


@cache
def cases(name: str) -> tuple[dict[str, Any], ...]:
    """The cases of `corpora/NAME.jsonl`, in the order of the file; none where the folder is missing."""
    path = SHARED / "corpora" / f"{name}.jsonl"
    if not path.is_file():
        return ()
    return tuple(json.loads(line) for line in path.read_text("utf-8").splitlines() if line)
