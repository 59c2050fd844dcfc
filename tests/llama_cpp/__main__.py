"""GBNF exports in llama.cpp itself: its masks and ours, on random walks.

    python -m tests.llama_cpp LLAMA_CPP [--every N] [--walks N] [--hostile N]

LLAMA_CPP is a source tree of llama.cpp (the source distribution of `llama-cpp-python` carries one under `vendor`);
three of its files are compiled with the system's C++ compiler, no model is needed. What is exported are the
bundled examples and the corpora. The exit code is 1 where anything differs.

One difference is llama.cpp's own and is counted apart: behind a token that ends within a character it allows the
end of the text, since it looks at the rules alone.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from importlib import resources
from itertools import islice, product
from pathlib import Path

import numpy as np

from engine.compile import CompiledGrammar, compile_grammar
from engine.export.rules.llama_limits import within_llama_limits
from engine.export.target import ExportJob
from engine.export.targets import target
from engine.export.text.plain_grammar import plain_grammar
from engine.export.writing import make, refusal
from engine.grammar.print_gbnf import print_gbnf
from engine.matching import Matcher
from engine.source import EngineError
from engine.vocabulary import Vocabulary
from tests.support import hostile_grammars
from tests.support.corpora import cases

Case = tuple[str, str]

HERE = Path(__file__).parent
STEPS = 40
# Not NUL, which llama.cpp never allows, and no byte that begins no character, which it reads as one all the same.
TOKENS = [bytes([byte]) for byte in range(1, 128)]
TOKENS += [text.encode() for text in ("é", "ü", "€", "😀", "α", "日本")]
TOKENS += [b"\xc3", b"\xa9", b"\xe2\x82", b"\xac", b"\xf0\x9f", b"\x98\x80", b"a\xc3"]
TOKENS += [
    b"ab",
    b'{"',
    b'":',
    b'", "',
    b'": "',
    b"age",
    b"name",
    b"  ",
    b"12",
    b"true",
    b"\n  ",
    b"\\n",
    b"\\u00",
    b"00",
]
TOKENS += [b"<eos>"]
END = len(TOKENS) - 1
VOCABULARY = Vocabulary(TOKENS, [END], {END: "<eos>"})


class Llama:
    """llama.cpp's grammars, compiled from its sources, over a vocabulary whose last token ends the text."""

    def __init__(self, tree: Path, folder: Path, tokens: list[bytes] = TOKENS) -> None:
        library = folder / "masks.so"
        sources = [
            HERE / "masks.cpp",
            *(tree / "src" / f"{name}.cpp" for name in ("llama-grammar", "unicode", "unicode-data")),
        ]
        includes = [f"-I{tree / part}" for part in ("include", "src", "ggml/include")]
        command = ["c++", "-O1", "-std=c++17", "-fPIC", "-shared", *includes, *map(str, sources), "-o", str(library)]
        subprocess.run(command, check=True)
        self._library = ctypes.CDLL(str(library))
        self._library.open_grammar.restype = ctypes.c_void_p
        self._library.last_message.restype = ctypes.c_char_p
        count = len(tokens)
        self.ids = {token: token_id for token_id, token in enumerate(tokens)}
        self._library.set_vocabulary(
            (ctypes.c_char_p * count)(*tokens), (ctypes.c_int * count)(*map(len, tokens)), count, count - 1
        )
        self._mask = ctypes.create_string_buffer(count)

    def open(self, text: bytes) -> ctypes.c_void_p | None:
        """A grammar; None where it is refused."""
        found = self._library.open_grammar(text)
        return ctypes.c_void_p(found) if found else None

    @property
    def message(self) -> str:
        """What it said last."""
        return self._library.last_message().decode(errors="replace").strip()

    def close(self, grammar: ctypes.c_void_p) -> None:
        """Let go of a grammar."""
        self._library.close_grammar(grammar)

    def mask(self, grammar: ctypes.c_void_p) -> np.ndarray:
        """bool[V]: what may come next."""
        if not self._library.fill_mask(grammar, self._mask):
            raise RuntimeError(self.message)
        return np.frombuffer(self._mask.raw, np.uint8).astype(bool)

    def accept(self, grammar: ctypes.c_void_p, token_id: int) -> bool:
        """Take a token."""
        return bool(self._library.accept(grammar, token_id))

    def matches(self, text: bytes, output: str) -> bool:
        """Whether a grammar that is not refused takes an output, character by character, and allows it to end."""
        grammar = self.open(text)
        if grammar is None:
            raise RuntimeError(self.message)
        try:
            for character in output:
                token_id = self.ids[character.encode()]
                if not self.mask(grammar)[token_id] or not self.accept(grammar, token_id):
                    return False
            return bool(self.mask(grammar)[-1])
        finally:
            self.close(grammar)


def subjects() -> Iterator[tuple[str, Case]]:
    """Grammars by name."""
    for place in sorted(resources.files("resources").joinpath("examples").iterdir(), key=lambda place: place.name):
        if place.name.endswith(".json"):
            example = json.loads(place.read_text("utf-8"))
            yield place.name, (example["notation"], example["source"])
    for corpus in ("llama", "outlines", "regex", "xgrammar"):
        for case in cases(corpus):
            if case.get("dialect") != "xgrammar" and "remote" not in case.get("tags", ()):
                yield case["id"], (case["kind"], case["source"])
    for case in cases("maskbench"):
        yield case["id"], ("json_schema", json.dumps(case["schema"]))


def walk(llama: Llama, text: bytes, ours: CompiledGrammar, seed: int, counts: Counter[str]) -> str:
    """Follow both; how they differ, empty where they do not."""
    theirs = llama.open(text)
    if theirs is None:
        return f"llama.cpp refuses it: {llama.message}"
    chance, matcher, taken = random.Random(seed), Matcher(ours, VOCABULARY), b""
    try:
        for _ in range(STEPS):
            here = np.unpackbits(matcher.bitmask().view(np.uint8), bitorder="little")[: len(TOKENS)].astype(bool)
            there = llama.mask(theirs)
            if there[END] and not here[END] and taken.decode(errors="ignore").encode() != taken:
                there[END] = False
                counts["ends within a character"] += 1
            if (here != there).any():
                alone = [(TOKENS[one], "here" if here[one] else "there") for one in np.flatnonzero(here != there)[:5]]
                return f"behind {taken!r}: {alone}"
            going_on = [one for one in np.flatnonzero(here).tolist() if one != END]
            if not going_on:
                return ""
            telling = [one for one in going_on if len(TOKENS[one]) > 1 or TOKENS[one] in b'"{}[],:']
            chosen = chance.choice(telling if telling and chance.random() < 0.4 else going_on)
            taken += TOKENS[chosen]
            counts["steps"] += 1
            if not (matcher.accept(chosen) and llama.accept(theirs, chosen)):
                return f"behind {taken!r}: the last token is not taken"
    finally:
        llama.close(theirs)
    return ""


def compare(llama: Llama, case: Case, walks: int, counts: Counter[str]) -> str:
    """Export a grammar and follow it; how it differs, empty where it does not."""
    notation, source = case
    try:
        job = ExportJob(compile_grammar(notation, source))
        if job.compiled.automaton.token_elements or refusal(target("gbnf"), job):
            counts["not exportable"] += 1
            return ""
        text = make("gbnf", job).content
        # A schema's rules hold one spelling: they are what the text is held against.
        ours = (
            compile_grammar("gbnf", print_gbnf(plain_grammar(job).grammar))
            if notation == "json_schema"
            else job.compiled
        )
    except EngineError:
        counts["not compiled"] += 1
        return ""
    counts["grammars"] += 1
    return next(filter(None, (walk(llama, text, ours, seed, counts) for seed in range(walks))), "")


def compare_hostile(tree: Path, folder: Path, count: int, counts: Counter[str]) -> int:
    """Print random grammars over characters that GBNF treats specially; return how many llama.cpp reads otherwise."""
    drawn = [(grammar, texts) for grammar, texts in islice(hostile_grammars.cases(0), count)]
    characters = sorted({character for _, texts in drawn for text in texts for character in text})
    llama = Llama(tree, folder, [*(character.encode() for character in characters), b"<eos>"])
    wrong = 0
    for (grammar, texts), negates in product(drawn, (False, True)):
        text = print_gbnf(within_llama_limits(grammar), negates=negates)
        ours = compile_grammar("gbnf", text)
        for output in texts:
            counts["hostile texts"] += 1
            try:
                there = llama.matches(text.encode(), output)
            except RuntimeError as error:
                there = str(error)
            if there != ours.fullmatch(output):
                wrong += 1
                sys.stdout.write(f"WRONG {text!r} on {output!r}: {there} there\n")
    return wrong


def main() -> int:
    """Compare what the command line names."""
    parser = argparse.ArgumentParser(prog="python -m tests.llama_cpp", description=__doc__.partition("\n")[0])
    parser.add_argument("tree", type=Path, help="a source tree of llama.cpp")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only each N-th grammar (1)")
    parser.add_argument("--walks", type=int, default=4, metavar="N", help="follow each grammar N times (4)")
    parser.add_argument("--hostile", type=int, default=500, metavar="N", help="N random grammars besides (500)")
    arguments = parser.parse_args()
    counts: Counter[str] = Counter()
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        wrong += compare_hostile(arguments.tree, Path(folder), arguments.hostile, counts)
        llama = Llama(arguments.tree, Path(folder))
        for name, case in list(subjects())[:: arguments.every]:
            if found := compare(llama, case, arguments.walks, counts):
                wrong += 1
                sys.stdout.write(f"WRONG {name}: {found}\n")
    told = ", ".join(f"{count:,} {what}" for what, count in sorted(counts.items()))
    sys.stdout.write(f"{wrong} wrong; {told}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
