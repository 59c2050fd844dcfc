"""Code that travels with an export: copied into it as it stands here, and tested here.

What is in this folder runs elsewhere, without Turnstile. So it imports the
standard library, its own siblings, and what it is written for (torch,
transformers, vLLM), never another room of the engine.

Rejected: templates filled with text. What is generated is data; code that is a
real module is linted, typed and tested like any other.
"""

from __future__ import annotations

from importlib.resources import files
from typing import Final

GUIDE: Final = ("guide/__init__.py", "guide/guide.py", "guide/pushdown.py", "guide/trie.py")
TRANSFORMERS: Final = ("masks.py", "transformers_generate.py")
VLLM: Final = (
    "masks.py",
    "vllm_batch.py",
    "vllm_plugin.py",
    "vllm_request.py",
    "vllm_requests.py",
    "vllm_slots.py",
)


def runtime_files(names: tuple[str, ...]) -> tuple[tuple[str, bytes], ...]:
    """Modules of this folder as files of an artifact: path and content."""
    return tuple((name, files(__name__).joinpath(*name.split("/")).read_bytes()) for name in names)
