"""What exactness is tried on: every grammar of the corpora that compiles in our dialect."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import Any

from tests.support.corpora import cases, names


@dataclass(frozen=True, slots=True)
class Subject:
    """A grammar of a corpus, and strings that its label says it accepts and rejects."""

    corpus: str
    id: str
    notation: str
    source: str
    accept: tuple[str, ...]
    reject: tuple[str, ...]


def corpora() -> list[str]:
    """The names of the corpora."""
    return names()


def subjects(corpus: str) -> list[Subject]:
    """The grammars of a corpus. Those that must not compile, other dialects and remote references are left out."""
    found = []
    for case in cases(corpus):
        if "schema" in case:  # MaskBench's form
            accept, reject = (
                tuple(dump(test["data"]) for test in case["tests"] if test["valid"] == valid) for valid in (True, False)
            )
            found.append(Subject(corpus, case["id"], "json_schema", dump(case["schema"]), accept, reject))
        elif not (case["compile_error"] or case.get("dialect", "gbnf") != "gbnf" or "remote" in case.get("tags", ())):
            accept, reject = tuple(case["accept"]), tuple(case["reject"])
            found.append(Subject(corpus, case["id"], case["kind"], case["source"], accept, reject))
    return found


def sample(corpus: str, count: int, seed: int) -> list[Subject]:
    """Some of the grammars of a corpus, the same for the same seed."""
    everything = subjects(corpus)
    return random.Random(f"{corpus} {seed}").sample(everything, min(count, len(everything)))


def dump(value: Any) -> str:
    """A value as MaskBench's runner writes it."""
    return json.dumps(value, ensure_ascii=False)
