"""The work of compiles and steps, as counts that no machine makes larger or smaller, may not grow.

Each example of the gallery is compiled, in a process that compiles nothing else, and its test strings are read token by
token over the vocabulary of a bundled model. `tests/data/work_counts.json` has, for each, the configurations that were
built, and the walks of the vocabulary: one for each new mask, and one more for each row that was missing in it. A
change that makes a count larger says why, and one that makes it smaller is kept, by writing the file anew:

    python tests/engine/matching/test_work_counts.py > tests/data/work_counts.json
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[3]
KEPT = ROOT / "tests" / "data" / "work_counts.json"
LONGEST = 24  # bytes of a token


def counts() -> dict[str, dict[str, int]]:
    """Return the counts of every example, by the name of its file."""
    from engine.compile import CompileOptions, compile_grammar
    from engine.masking import jit, token_automaton
    from engine.matching import Matcher
    from engine.matching.warmup import warm
    from engine.vocabulary import Vocabulary

    warm()
    vocabulary = Vocabulary.from_tokenizer(ROOT / "resources" / "models" / "records" / "tokenizer.json")
    id_of = {token: index for index, token in reversed([*enumerate(vocabulary.tokens)]) if token}
    kernels, walks = jit.loaded_kernels(), 0
    assert kernels is not None

    def walk(*arguments: Any) -> int:
        nonlocal walks
        walks += 1
        return kernels.walk(*arguments)

    counting = replace(kernels, walk=walk)
    token_automaton.loaded_kernels = lambda: counting
    found: dict[str, dict[str, int]] = {}
    for path in sorted((ROOT / "resources" / "examples").glob("*.json")):
        example, walks, steps = json.loads(path.read_text("utf-8")), 0, 0
        options = CompileOptions(dialect=example.get("dialect", "python"))
        grammar = compile_grammar(example["notation"], example["source"], options)
        for one in example.get("test_strings", ()):
            matcher = Matcher(grammar, vocabulary)
            for token in spelled(one if isinstance(one, str) else one["text"], id_of):
                matcher.bitmask()
                if not matcher.accept(token):
                    break
                steps += 1
        found[path.stem] = {"configurations": grammar.automaton.size, "walks": walks, "steps": steps}
    return found


def spelled(text: str, id_of: dict[bytes, int]) -> list[int]:
    """Return the tokens that spell a text, the longest one at each byte, as far as there is one."""
    data, found = text.encode(), list[int]()
    while data:
        token = next((data[:size] for size in range(min(len(data), LONGEST), 0, -1) if data[:size] in id_of), b"")
        if not token:
            break
        found.append(id_of[token])
        data = data[len(token) :]
    return found


def test_no_count_grows() -> None:
    run = subprocess.run([sys.executable, __file__], capture_output=True, check=True, cwd=ROOT)
    now, kept = json.loads(run.stdout), json.loads(KEPT.read_text("utf-8"))
    assert now.keys() == kept.keys()
    grown = {
        name: (kept[name], now[name]) for name in kept if any(now[name][one] > kept[name][one] for one in now[name])
    }
    assert grown == {}
    assert now == kept, "some counts are smaller: write the file anew"


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    print(json.dumps(counts(), indent=1))  # noqa: T201 - the new file
