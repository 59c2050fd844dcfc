"""How compile time, memory and mask time grow with the grammar's size and depth and with the vocabulary, as Markdown.

    python tests/benchmarks/growth.py [size] [depth] [vocabulary] [wide] [flat] [exponents]

Without names all tables are made, which takes some minutes. *Exponents* is the table of the manual's page of growth:
the slope of a line through the logarithms of number and time, by least squares, over the times from a millisecond on.
Each row is a process of its own, with the kernels loaded beforehand; times are of the processor. *Cancel* is the
longest time that a compile went without asking whether it should stop. Memory is what the process holds more after the
masks than before the compile. Masks are taken along a random walk; *mask* is the mean of those after the first, each
with its accept, and *worst* the longest of them.
"""

# ruff: noqa: T201 - a script for people

from __future__ import annotations

import json
import math
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "support")]

import heavy_grammars as heavy  # noqa: E402 - the path comes first
import psutil  # noqa: E402
from real_vocabularies import mistral  # noqa: E402

import engine  # noqa: E402
from engine.source import CancelToken  # noqa: E402

STEPS = 40
TOKENS = 100_000
SIZES = (1_000, 10_000, 100_000, 990_000)
DEPTHS = (10, 100, 1_000)
VOCABULARIES = (32_768, 65_536, 131_072, 262_144)
DEFAULT_VOCABULARY = 131_072
WIDTHS = {
    "regex, {0,n}": (100, 10_000, 100_000),
    "GBNF, mutual rules": (10, 100, 1_000),
    "GBNF, left recursion": (10, 30, 100),
    "schema, mutual definitions": (10, 100, 1_000),
    "schema, oneOf": (10, 30, 100),
}
NESTED: dict[str, tuple[str, Callable[[int], str], Callable[[int], bytes]]] = {
    "regex, groups": ("regex", heavy.nested_regex, lambda depth: b"a" + b"b" * depth),
    "GBNF, groups": ("gbnf", heavy.nested_gbnf, lambda depth: b"a" + b"b" * depth),
    "schema, objects": ("json_schema", heavy.nested_schema, lambda depth: b'{"a":' * depth + b"null" + b"}" * depth),
    "GBNF, text": ("gbnf", lambda _: heavy.RECURSIVE_GBNF, lambda depth: b"[" * depth + b"x" + b"]" * depth),
    "schema, text": (
        "json_schema",
        lambda _: heavy.RECURSIVE_SCHEMA,
        lambda depth: b'[{"a":' * (depth // 2) + b"null" + b"}]" * (depth // 2),
    ),
}
RECORDS = json.dumps({"type": "array", "items": json.loads(heavy.schema_of_properties(1_500))})
COMMON = {
    "regex": ("regex", r"[A-Z][a-z]+(?:, [a-z0-9]{1,12})*\.", "Paul, aged, 20, of, arrakis, rides, worms."),
    "GBNF": ("gbnf", 'root ::= e\ne ::= e "+" e | "(" e ")" | [a-z]+ ws\nws ::= " "*', "a +(b +(cde  +f))+gh +i"),
    "schema": ("json_schema", RECORDS, '[{"property_0": {"name": "ab", "value": 12, "tags": ["a", "b"]}}, {}]'),
}
FLAT = {
    "GBNF, ambiguous": ("gbnf", 'root ::= s\ns ::= s s | "a" | "" | "(" s ")"', b"", b"aa(a(a)a)a"),
    "GBNF, up and down": ("gbnf", heavy.RECURSIVE_GBNF, b"[", b"[[x],[[[x,{x}]]]],x,"),
    "regex, counted": ("regex", r"(?:(?:a|ab)(?:c|bcd)?){5,}", b"", b"aababcdac"),
    "schema, array": ("json_schema", "{}", b"[", b'{"a":{"b":[1,2]}},[[[]]],"x",'),
}


Case = tuple[int, str, str, dict[str, Any]]
"""A number, a notation, a grammar, and what else `measure` is told."""

LENGTHS = (1_000, 10_000, 100_000)
ALTERNATIVES = (100, 1_000, 10_000)


def _sized(name: str) -> list[Case]:
    notation, make = heavy.LARGE[name]
    return [(len(text), notation, text, {}) for text in map(make, SIZES)]


def _nested(name: str) -> list[Case]:
    notation, make, text = NESTED[name]
    return [(depth, notation, make(depth), {"along": text(depth).decode()}) for depth in DEPTHS]


def _wide(name: str) -> list[Case]:
    notation, make = heavy.WIDE[name]
    return [(count, notation, make(count), {}) for count in WIDTHS.get(name, ALTERNATIVES)]


def _over_vocabularies(name: str) -> list[Case]:
    notation, text, along = COMMON[name]
    return [(size, notation, text, {"along": along, "vocabulary": size}) for size in VOCABULARIES]


def _long(name: str) -> list[Case]:
    notation, text, opening, unit = FLAT[name]
    return [(length, notation, text, {"output": [opening.decode(), unit.decode(), length]}) for length in LENGTHS]


GROWING: dict[str, tuple[Callable[[str], list[Case]], tuple[str, ...]]] = {
    "characters": (_sized, ("schema, properties", "GBNF, rules")),
    "nesting": (_nested, ("schema, objects", "schema, text")),
    "alternatives": (_wide, ("schema, enum", "schema, oneOf", "GBNF, alternation")),
    "repetitions": (_wide, ("regex, {0,n}",)),
    "tokens": (_over_vocabularies, ("schema", "GBNF")),
    "bytes of output": (_long, ("schema, array", "regex, counted")),
}
"""The quantities that grow, with their cases and grammars."""


class Watched(CancelToken):
    """Remembers the longest time between two checks."""

    def __init__(self) -> None:
        super().__init__()
        self.longest = 0.0
        self._last = time.process_time()

    def check(self) -> None:
        now = time.process_time()
        self.longest, self._last = max(self.longest, now - self._last), now
        super().check()


def held() -> float:
    """Megabytes that the process holds."""
    return float(psutil.Process().memory_info().rss) / 1e6


def vocabulary(size: int) -> engine.Vocabulary:
    """A real one where there is one of that size, else one that is cut or padded with words of two of its tokens."""
    if size == 32_768:
        return mistral("mistral_instruct_tokenizer_240323.model.v3")
    real = mistral("tekken_240911.json")
    if size == real.size:
        return real
    tokens = list(real.tokens[:size])
    words = [token for token in tokens if token and len(token) > 2]
    choose = random.Random(size)
    known = set(tokens)
    while len(tokens) < size:
        token = choose.choice(words) + choose.choice(words)
        if token not in known:
            known.add(token)
            tokens.append(token)
    return engine.Vocabulary(tokens, [i for i in real.eos_ids if i < size])


def measure(task: dict[str, Any]) -> dict[str, float]:
    """One row, in a process of its own."""
    engine.warm(wait=True)
    tokens = vocabulary(task["vocabulary"])
    for notation, text in (("regex", "a"), ("gbnf", 'root ::= "a"'), ("json_schema", '{"type": "object"}')):
        engine.Matcher(engine.compile_grammar(notation, text), tokens).bitmask()  # what a first use loads
    before = held()
    watched = Watched()
    begun = time.process_time()
    grammar = engine.compile_grammar(task["notation"], task["text"], cancel=watched)
    row = {"compile": 1e3 * (time.process_time() - begun)}
    watched.check()
    if "flat" in task:
        return flat(grammar, task["flat"])
    if "output" in task:
        return output(engine.Matcher(grammar, tokens), *task["output"])
    begun = time.process_time()
    matcher = engine.Matcher(grammar, tokens)
    words = matcher.bitmask()
    row |= {"cancel": 1e3 * watched.longest, "first": 1e3 * (time.process_time() - begun)}
    times = [*(along(matcher, words, task["along"].encode()) if "along" in task else at_random(matcher, words))]
    return {**row, "mask": sum(times) / max(len(times), 1), "worst": max(times, default=0.0), "memory": held() - before}


def timed(matcher: engine.Matcher, words: Any, data: bytes) -> float:
    """Milliseconds of an accept and the mask after it."""
    begun = time.process_time()
    assert matcher.accept_bytes(data)
    matcher.fill_bitmask(words)
    return 1e3 * (time.process_time() - begun)


def along(matcher: engine.Matcher, words: Any, text: bytes) -> Iterator[float]:
    """Masks along a text, some hundred of them."""
    piece = max(1, len(text) // 200)
    for start in range(0, len(text), piece):
        yield timed(matcher, words, text[start : start + piece])


def at_random(matcher: engine.Matcher, words: Any) -> Iterator[float]:
    """Masks along a random walk."""
    choose = random.Random(1)
    for _ in range(STEPS):
        allowed = [
            32 * i + bit for i, word in enumerate(words.tolist()) if word for bit in range(32) if word >> bit & 1
        ]
        spelled = [matcher.vocabulary.tokens[token] for token in allowed]
        spelled = [token for token in spelled if token]
        if not spelled:
            return
        yield timed(matcher, words, choose.choice(spelled))


def output(matcher: engine.Matcher, opening: str, unit: str, length: int) -> dict[str, float]:
    """Milliseconds of all masks and accepts of an output of so many bytes, byte by byte."""
    words, data = matcher.bitmask(), (opening + unit * (length // len(unit) + 1)).encode()[:length]
    return {"all": sum(timed(matcher, words, data[at : at + 1]) for at in range(length))}


def flat(grammar: engine.CompiledGrammar, texts: tuple[str, str]) -> dict[str, float]:
    """Configurations and memory after a tenth of a long text, and after all of it."""
    automaton = grammar.automaton
    opening, unit = (text.encode() for text in texts)
    here = automaton.run(automaton.start, opening)
    row: dict[str, float] = {}
    begun = time.process_time()
    for part in range(10):
        for _ in range(TOKENS // 10 // len(unit)):
            here = automaton.run(here, unit)
        if part in (0, 9):
            row |= {f"size {part}": automaton.size, f"memory {part}": held()}
    assert here
    return {**row, "time": 1e6 * (time.process_time() - begun) / TOKENS}


# ---------------------------------------------------------------------- tables


def in_a_process(notation: str, text: str, **more: Any) -> dict[str, float]:
    """A row; empty where it does not come to an end."""
    task = {"notation": notation, "text": text, "vocabulary": DEFAULT_VOCABULARY, **more}
    done = subprocess.run(
        [sys.executable, __file__, "--row"],
        input=json.dumps(task),
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
    )
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return {}
    row: dict[str, float] = json.loads(done.stdout)
    return row


def show(title: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """A table, row by row as it is measured."""
    print(f"\n| {title} | {' | '.join(heads)} |", flush=True)
    print("|---" * (len(heads) + 1) + "|")
    for row in rows:
        print(
            "| " + " | ".join(f"{cell:,.4g}" if isinstance(cell, float) else str(cell) for cell in row) + " |",
            flush=True,
        )


COLUMNS = ("compile", "cancel", "first", "mask", "worst", "memory")
HEADS = ("compile ms", "cancel ms", "first mask ms", "mask ms", "worst ms", "memory MB")


def cells(row: dict[str, float]) -> list[object]:
    """The common columns."""
    return [float(row[name]) if name in row else "failed" for name in COLUMNS]


def size_table() -> None:
    """Grammars of growing length."""
    show(
        "grammar",
        ("characters", *HEADS),
        (
            (name, f"{len(text):,}", *cells(in_a_process(notation, text)))
            for name, (notation, make) in heavy.LARGE.items()
            for text in map(make, SIZES)
        ),
    )


def depth_table() -> None:
    """Grammars and texts of growing depth."""
    show(
        "nested",
        ("depth", *HEADS),
        (
            (name, f"{depth:,}", *cells(in_a_process(notation, make(depth), along=text(depth).decode())))
            for name, (notation, make, text) in NESTED.items()
            for depth in DEPTHS
        ),
    )


def vocabulary_table() -> None:
    """Common grammars under growing vocabularies."""
    show(
        "grammar",
        ("vocabulary", *HEADS),
        (
            (name, f"{size:,}", *cells(in_a_process(notation, text, vocabulary=size, along=along)))
            for name, (notation, text, along) in COMMON.items()
            for size in VOCABULARIES
        ),
    )


def wide_table() -> None:
    """Grammars with many of one thing."""
    show(
        "grammar",
        ("count", *HEADS),
        (
            (name, f"{count:,}", *cells(in_a_process(notation, make(count))))
            for name, (notation, make) in heavy.WIDE.items()
            for count in WIDTHS.get(name, (100, 1_000, 10_000))
        ),
    )


def flat_table() -> None:
    """Long ambiguous texts."""
    show(
        "text of 100,000 bytes",
        ("configurations after 10,000", "after 100,000", "memory MB after 10,000", "after 100,000", "µs per byte"),
        (
            (name, *(float(row[key]) for key in ("size 0", "size 9", "memory 0", "memory 9", "time")))
            for name, (notation, text, opening, unit) in FLAT.items()
            for row in [in_a_process(notation, text, flat=(opening.decode(), unit.decode()))]
        ),
    )


def exponent(points: Sequence[tuple[int, float]]) -> float | None:
    """Return the exponent of a power of the number, through the points of at least a millisecond; None for too few."""
    logarithms = [(math.log(number), math.log(value)) for number, value in points if value >= 1]
    return statistics.linear_regression(*zip(*logarithms, strict=True)).slope if len(logarithms) > 1 else None


def exponents_table() -> None:
    """The exponent of each measure in each number."""
    show("what grows", ("measure", "from … to", "ms", "exponent"), fitted_rows())


def fitted_rows() -> Iterator[tuple[str, ...]]:
    """Yield a row for each measure, as it is measured."""
    for what, (cases_of, names) in GROWING.items():
        for name in names:
            points = [(number, in_a_process(notation, text, **more)) for number, notation, text, more in cases_of(name)]
            for measure in ("compile", "first", "mask", "all"):
                known = [(number, row[measure]) for number, row in points if measure in row]
                if known:
                    slope = exponent(known)
                    values = f"{known[0][1]:,.3g} to {known[-1][1]:,.3g}"
                    numbers = f"{known[0][0]:,} to {known[-1][0]:,}"
                    fitted = "below a millisecond" if slope is None else f"{slope:.2f}"
                    yield f"{what}: {name}", MEASURES[measure], numbers, values, fitted


MEASURES = {"compile": "compile", "first": "first mask", "mask": "further mask", "all": "all masks of the output"}
TABLES = {
    "size": size_table,
    "depth": depth_table,
    "vocabulary": vocabulary_table,
    "wide": wide_table,
    "flat": flat_table,
    "exponents": exponents_table,
}


def main() -> None:
    """Print the tables that are named, or all."""
    if sys.argv[1:] == ["--row"]:
        print(json.dumps(measure(json.load(sys.stdin))))
        return
    for name in sys.argv[1:] or TABLES:
        TABLES[name]()


if __name__ == "__main__":
    main()
