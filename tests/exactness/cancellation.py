"""Cancelling heavy grammars: how many lines run between two looks at the cancel token.

    python -m tests.exactness.cancellation --size 3000              every wide input at that size
    python -m tests.exactness.cancellation --seed 0 --seconds 240   generated heavy inputs from that seed on

Lines are what Python's trace function reports: the same input gives the same count on every machine. Work within one
call of a C function is one line; `tests.exactness.heavy` reports the processor time between two looks instead.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any, Final

import engine
from engine import CancelToken, EngineError, Matcher, Vocabulary, compile_grammar
from tests.exactness.heavy_inputs import heavy_input

_LEAST: Final = 50_000
_PER_ITEM: Final = 50
_GENERATED: Final = 50_000  # items of the generated inputs, at most
ROOT: Final = Path(__file__).resolve().parents[2]
_ENGINE: Final = str(Path(engine.__file__).parent)


def most_lines(size: int) -> int:
    """Return how many lines may run between two looks at an input of a size.

    A short loop over all items may pass without a look: at 50,000 items these are 0.1 s of processor time.
    """
    return _LEAST + _PER_ITEM * size


class LineCounter(CancelToken):
    """Counts the lines of the engine between two looks.

    Attributes:
        looks: how often the work looked.
        longest: the most lines between two looks.
        location: the functions that ran most of these lines, as `file:function (lines)`.
    """

    def __init__(self, *, most: int | None = None, locate: bool = False) -> None:
        """Begin.

        Args:
            most: lines after which the counter cancels the work; None for any number.
            locate: whether to find out where the lines are, which takes twice the time.
        """
        super().__init__()
        self.looks = self.longest = 0
        self.location = ""
        self._lines = self._all = 0
        self._functions = Counter[str]()
        self._most, self._locate = most, locate

    def check(self) -> None:
        self.looks += 1
        self.restart()
        if self._most is not None and self._all > self._most:
            self.cancel()
        super().check()

    def restart(self) -> None:
        """Begin to count anew."""
        if self._lines > self.longest:
            self.longest = self._lines
            self.location = ", ".join(f"{name} ({lines:,})" for name, lines in self._functions.most_common(3))
        self._all += self._lines
        self._lines = 0
        self._functions.clear()

    def trace(self, frame: FrameType, _event: str, _argument: Any) -> Any:
        """Count the lines of a frame if it is the engine's."""
        code = frame.f_code
        if not code.co_filename.startswith(_ENGINE):
            return None
        return self._count_located(f"{Path(code.co_filename).name}:{code.co_name}") if self._locate else self._count

    def _count(self, _frame: FrameType, event: str, _argument: Any) -> Any:
        if event == "line":
            self._lines += 1
        return self._count

    def _count_located(self, name: str) -> Any:
        def count(_frame: FrameType, event: str, _argument: Any) -> Any:
            if event == "line":
                self._lines += 1
                self._functions[name] += 1
            return count

        return count


def wide_inputs(size: int) -> dict[str, tuple[str, str]]:
    """Return grammars that are wide in one way each, by name: a notation and a text that grows with `size`."""
    schemas: dict[str, Any] = {
        "properties": {
            "type": "object",
            "properties": {f"p{i}": {"type": "string"} for i in range(size)},
            "required": [f"p{i}" for i in range(0, size, 3)],
        },
        "closed properties": {
            "additionalProperties": False,
            "properties": {f"p{i}": {"type": "integer", "description": "x" * 99} for i in range(size)},
        },
        "enum of strings": {"enum": [f"value {i}" for i in range(size)]},
        "enum of integers": {"enum": [i * 7919 for i in range(size)]},
        "enum of decimals": {"enum": [i * 1.5 for i in range(size)]},
        "enum of objects": {"enum": [{"a": i, "b": [i, str(i)]} for i in range(size // 2)]},
        "enum of arrays": {"enum": [[i, i + 1] for i in range(size // 2)]},
        "const": {"const": {"a": ["é" * size, list(range(size))]}},
        "not enum of integers": {"not": {"enum": list(range(size))}},
        "not enum of strings": {"not": {"enum": [f"value {i}" for i in range(size)]}},
        "not anyOf": {
            "not": {
                "anyOf": [
                    {"type": "object", "properties": {f"p{i}": {"minLength": i}}, "required": [f"p{i}"]}
                    for i in range(size // 10)
                ]
            }
        },
        "oneOf of integers": {"oneOf": [{"multipleOf": i + 2} for i in range(size // 30)]},
        "oneOf of patterns": {"oneOf": [{"type": "string", "pattern": f"a{i}|b.*{i}$"} for i in range(size // 30)]},
        "oneOf of objects": {
            "oneOf": [
                {"type": "object", "properties": {f"a{i}": {"type": "string"}}, "required": [f"a{i % 7}"]}
                for i in range(size // 60)
            ]
        },
        "anyOf of records": {
            "anyOf": [
                {"properties": {"kind": {"const": i}, f"f{i % 99}": {"type": "null"}}, "required": ["kind"]}
                for i in range(size // 5)
            ]
        },
        "allOf of choices": {
            "allOf": [{"anyOf": [{"required": [f"r{i * j}"]} for j in range(30)]} for i in range(size // 100)]
        },
        "references": {
            "$ref": "#/$defs/d0",
            "$defs": {
                f"d{i}": {"$ref": f"#/$defs/d{i + 1}"} if i < size else {"type": "null"} for i in range(size + 1)
            },
        },
        "reference cycle": {
            "$ref": "#/$defs/d0",
            "$defs": {
                f"d{i}": {
                    "anyOf": [
                        {"$ref": f"#/$defs/d{(i + 1) % size}"},
                        {"type": "array", "items": {"$ref": f"#/$defs/d{i * 7 % size}"}},
                    ]
                }
                for i in range(size)
            },
        },
        "patternProperties": {
            "patternProperties": {
                f"{first}.*{second}": {"minimum": size} for first in "abcde" for second in "abcd"[: 1 + size // 1000]
            },
            "additionalProperties": False,
        },
        "propertyNames": {
            "propertyNames": {"anyOf": [{"pattern": f"^x{i}.*y{{{i % 9 + 1}}}$"} for i in range(size // 50)]},
            "minProperties": 3,
        },
        "dependentSchemas": {
            "dependentSchemas": {f"k{i}": {"required": [f"k{i + 1}"]} for i in range(size // 8)},
        },
        "dependentRequired": {"dependentRequired": {f"k{i}": [f"k{i + 1}", f"k{i * 7}"] for i in range(size // 15)}},
        "conditions": {
            "allOf": [
                {"if": {"properties": {f"a{i}": {"const": 1}}, "required": [f"a{i}"]}, "then": {"required": [f"b{i}"]}}
                for i in range(size // 80)
            ]
        },
        "lengths": {"type": "string", "minLength": size, "maxLength": 2 * size, "pattern": "^(ab)*c"},
        "pattern of alternatives": {"pattern": "|".join(f"^w{i}$" for i in range(size))},
        "multipleOf": {"type": "number", "allOf": [{"multipleOf": 9973}, {"multipleOf": 0.07}]},
        "multipleOf and not": {"type": "integer", "multipleOf": 991, "not": {"multipleOf": 101}},
        "bounds of many digits": {"minimum": int("7" * size), "maximum": int("8" * size)},
        "minProperties": {"minProperties": size},
        "minItems of objects": {"minItems": size, "items": {"type": "object", "minProperties": size // 100}},
        "prefixItems": {"prefixItems": [{"const": i} for i in range(size)], "minItems": size},
        "contains": {"allOf": [{"contains": {"multipleOf": i + 2}, "minContains": 3} for i in range(size // 200)]},
        "uniqueItems": {"uniqueItems": True, "minItems": size // 50, "items": {"enum": list(range(size // 10))}},
        "unevaluatedProperties": {
            "allOf": [
                {"anyOf": [{"properties": {f"a{i}{j}": {}}, "required": [f"a{i}{j}"]} for j in range(5)]}
                for i in range(size // 100)
            ],
            "unevaluatedProperties": False,
        },
        "formats": {"allOf": [{"format": name} for name in ("uri", "email", "hostname", "ipv6")], "type": "string"},
        "unknown keywords": {f"k{i}": 1 for i in range(size)},
        "unknown keyword": {"k" * (30 * size): 1},
    }
    rules = {
        "chain of rules": [f'r{i} ::= "a{i}" r{i + 1} | "b"' for i in range(size)],
        "nullable rules": [f"r{i} ::= r{i + 1}? r{i + 1}?" for i in range(size // 6)],
        "left recursion": [f'r{i} ::= r{i + 1} "a" | "b"' for i in range(size // 4)],
        "unit cycles": [
            f'r{i} ::= r{(i + 1) % (size // 10)} | r{i * 7 % (size // 10)} | "a"' for i in range(size // 10)
        ],
    }
    regexes = {
        "alternatives": "(" + "|".join(f"w{i}" for i in range(size)) + ")*",
        "literal": "ab?" * size,
        "classes": "[a-c]\\d" * (size // 2),
        "large classes": "\\p{L}[^\\p{Lu}a-z]" * (size // 100),
        "conditions": "(?:(?=[a-z]*x)(?!ab)[a-z]{1,30})*",
        "look-behind": f"(?:[a-z](?<=[a-m].{{{size // 150}}})|[n-z](?<!q.{{15}}))*",
        "counts": "(?:a{50}b?){40}",
    }
    return {
        **{f"schema, {name}": ("json_schema", json.dumps(schema)) for name, schema in schemas.items()},
        **{
            f"GBNF, {name}": ("gbnf", "\n".join(["root ::= r0", *lines, f'r{len(lines)} ::= "x" | r0 "y"']))
            for name, lines in rules.items()
        },
        **{f"regex, {name}": ("regex", text) for name, text in regexes.items()},
    }


@lru_cache(maxsize=1)
def small_vocabulary() -> Vocabulary:
    """Return the vocabulary of the demo model, with all that is computed once for it."""
    engine.warm(wait=True)
    vocabulary = Vocabulary.from_tokenizer(ROOT / "resources" / "models" / "records")
    for notation, text in (("json_schema", '{"minLength": 3}'), ("regex", "[a-z]+"), ("gbnf", 'root ::= "a"')):
        Matcher(compile_grammar(notation, text), vocabulary).bitmask()
    return vocabulary


def phases(notation: str, text: str) -> Iterator[tuple[str, Callable[[CancelToken], Any]]]:
    """Yield the compile, the first mask and the completion of an input; each is to be run before the next is taken."""
    matchers: list[Matcher] = []

    def compile_it(cancel: CancelToken) -> None:
        matchers.append(Matcher(compile_grammar(notation, text, cancel=cancel), small_vocabulary()))

    yield "compile", compile_it
    if matchers:
        yield "first mask", lambda _: matchers[0].bitmask()
        yield "completion", lambda cancel: matchers[0].shortest_completion(cancel=cancel)


def count_lines(work: Callable[[CancelToken], Any], *, most: int | None = None, locate: bool = False) -> LineCounter:
    """Run a piece of work until it ends, a limit stops it or it has run so many lines; return the counter."""
    counter, before = LineCounter(most=most, locate=locate), sys.gettrace()
    with counter.scope(), suppress(EngineError):
        sys.settrace(counter.trace)
        try:
            work(counter)
        finally:
            sys.settrace(before)
    counter.restart()
    return counter


def main() -> int:
    """Count the lines between two looks for the inputs that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m tests.exactness.cancellation", description=__doc__)
    parser.add_argument("--size", type=int, default=1_000, help="of the wide inputs")
    parser.add_argument("--only", default="", help="part of the name of a wide input")
    parser.add_argument("--seed", type=int, help="generated inputs from this seed on instead")
    parser.add_argument("--seconds", type=float, default=60.0, help="how long to generate inputs")
    parser.add_argument("--lines", type=int, help="how many may run between two looks; by default as in the suite")
    chosen = parser.parse_args()
    small_vocabulary()
    failures = count = 0
    most = chosen.lines or most_lines(chosen.size if chosen.seed is None else _GENERATED)
    end = time.monotonic() + chosen.seconds
    inputs: Iterator[tuple[str, str, str]]
    if chosen.seed is None:
        inputs = ((name, *case) for name, case in wide_inputs(chosen.size).items() if chosen.only in name)
    else:
        inputs = ((f"{seed} {name}", *case) for seed, (name, *case) in _generated(chosen.seed, end))
    for name, notation, text in inputs:
        count += 1
        for phase, work in phases(notation, text):
            counter = count_lines(work, locate=True)
            if counter.longest > most:
                failures += 1
                sys.stdout.write(f"{name}, {phase}: {counter.longest:,} lines: {counter.location}\n")
                sys.stdout.flush()
    sys.stdout.write(f"{count} inputs, {failures} stretches of more than {most:,} lines\n")
    return 1 if failures else 0


def _generated(seed: int, end: float) -> Iterator[tuple[int, tuple[str, str, str]]]:
    while time.monotonic() < end:
        yield seed, heavy_input(seed)
        seed += 1


if __name__ == "__main__":
    sys.exit(main())
