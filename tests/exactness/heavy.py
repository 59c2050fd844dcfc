"""Time and memory of heavy grammars: what no limit stops in time is a failure.

    python -m tests.exactness.heavy --seconds 240 --seed 0         inputs from that seed on
    python -m tests.exactness.heavy --only 17                      one input again
    python -m tests.exactness.heavy --file SCHEMA.json             a text of one's own
    python -m tests.exactness.heavy --calibrate --seconds 240      how long a turn takes in each phase

Each input runs in a child process that may take so much processor time in each phase (compile, first mask, steps, a
first mask over 131,072 tokens, completion, explanation) and so much memory above that of the idle process. A
`GrammarError` or a `LimitExceededError` is a fine answer; a `MemoryError`, a signal or another exception is a failure.
The children are forked from a process that has loaded what every grammar shares.
"""

from __future__ import annotations

import argparse
import faulthandler
import multiprocessing
import os
import resource
import signal
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np

import engine
from engine import (
    CancelToken,
    CompiledGrammar,
    GrammarError,
    LimitExceededError,
    Limits,
    Matcher,
    Vocabulary,
    compile_grammar,
)
from engine.source import limited_work, work_turns
from engine.vocabulary import VocabularyError
from tests.exactness.heavy_inputs import FAMILIES, LONGEST, heavy_input

SECONDS: Final = 10
BYTES: Final = 1 << 30
_TOKENS: Final = 131_072
_STEPS: Final = 4
ROOT: Final = Path(__file__).resolve().parents[2]


@dataclass
class Report:
    """What became of an input.

    Attributes:
        failed: what went wrong, and in which phase; empty for nothing.
        seconds: processor time of each phase.
        refused: the limit or the finding that stopped it; empty for nothing.
        peak: bytes of resident memory above the idle process.
        unchecked: the longest processor time between two checks of the cancel token.
    """

    failed: str = ""
    seconds: dict[str, float] = field(default_factory=dict)
    refused: str = ""
    peak: int = 0
    unchecked: float = 0.0
    turns: dict[str, int] = field(default_factory=dict)  # where these are calibrated


def many_tokens() -> list[bytes | None]:
    """131,072 tokens: all bytes, words in several scripts with and without a blank, numbers and JSON's own runs."""
    rng = Random(0)
    tokens: dict[bytes, None] = dict.fromkeys(bytes((byte,)) for byte in range(256))
    structure = ['{"', '":', '": "', '",', '", "', '"}', "[]", "{}", "],", "}}", '"]', "\n  ", "\n    ", "true", "null"]
    tokens.update(dict.fromkeys(text.encode() for text in structure))
    syllables = "a e ing tion er st ab co de pro x 0 1 99 é 日 ж _ -".split()
    while len(tokens) < _TOKENS - 1:
        word = "".join(rng.choice(syllables) for _ in range(rng.randint(1, 7)))
        tokens[(rng.choice(("", " ")) + rng.choice((word, word.capitalize()))).encode()] = None
    return [*tokens, None]


class Trials:
    """Runs inputs, each in a process of its own."""

    def __init__(self, *, calibrate: bool = False) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, other = context.Pipe()
        self._process = context.Process(target=_serve, args=(other, calibrate), daemon=False)
        self._process.start()
        other.close()

    def run(self, notation: str, text: str, seed: int = 0) -> Report:
        """Try one input."""
        self._pipe.send((notation, text, seed))
        report: Report = self._pipe.recv()
        return report

    def stop(self) -> None:
        """End the process that the children come from."""
        self._pipe.close()
        self._process.join()


def _serve(pipe: Connection, calibrate: bool) -> None:
    engine.warm(wait=True)
    records = Vocabulary.from_tokenizer(ROOT / "resources" / "models" / "records")
    vocabularies = records, Vocabulary(many_tokens(), [_TOKENS - 1])
    for vocabulary in vocabularies:  # what is found once for each vocabulary belongs to the idle process
        for notation, text in (("json_schema", '{"minLength": 3}'), ("regex", "[a-z]+"), ("gbnf", 'root ::= "a"')):
            Matcher(compile_grammar(notation, text), vocabulary).bitmask()
    while True:
        try:
            notation, text, seed = pipe.recv()
        except EOFError:
            return
        pipe.send(_in_a_child(vocabularies, notation, text, seed, calibrate=calibrate))


def _in_a_child(
    vocabularies: tuple[Vocabulary, ...], notation: str, text: str, seed: int, *, calibrate: bool
) -> Report:
    receiving, sending = multiprocessing.Pipe(duplex=False)
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        receiving.close()
        try:
            sending.send(_try(vocabularies, notation, text, seed, sending, calibrate=calibrate))
        except BaseException as error:  # noqa: BLE001 - whatever comes is the finding
            frames = [
                f"{Path(one.filename).name}:{one.lineno}" for one in traceback.extract_tb(error.__traceback__)[-6:]
            ]
            sending.send(f"{type(error).__name__}: {str(error)[:200]} at {' < '.join(reversed(frames))}")
        finally:
            os._exit(0)
    sending.close()
    phase, report = "start", Report()
    while True:
        try:
            told = receiving.recv()
        except EOFError:
            break
        if isinstance(told, Report):
            report = told
            phase = ""
            break
        if told.startswith(">"):
            phase = told[1:]
            continue
        report.failed, phase = f"{phase}: {told}", ""
        break
    receiving.close()
    _, status = os.waitpid(child, 0)
    if phase:
        report.failed = f"{phase}: killed by signal {os.waitstatus_to_exitcode(status)}"
    return report


def _idle_bytes() -> tuple[int, int]:
    size, resident, *_ = Path("/proc/self/statm").read_text(encoding="ascii").split()
    page = resource.getpagesize()
    return int(size) * page, int(resident) * page


class _Watching(CancelToken):
    """Measures the processor time between two checks."""

    def __init__(self, report: Report) -> None:
        super().__init__()
        self.last = time.process_time()
        self._report = report

    def check(self) -> None:
        now = time.process_time()
        self._report.unchecked = max(self._report.unchecked, now - self.last)
        self.last = now


class _Phases:
    """Runs the phases of one input, each with its own bound of processor time."""

    def __init__(self, pipe: Connection, *, calibrate: bool) -> None:
        self.report = Report()
        self.token = _Watching(self.report)
        self._pipe, self._calibrate = pipe, calibrate
        idle, self._resident = _idle_bytes()
        resource.setrlimit(resource.RLIMIT_AS, (idle + BYTES, idle + BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        faulthandler.register(signal.SIGXCPU, all_threads=False, chain=True)  # where it was, on the standard error

    def run(self, name: str, work: Callable[..., Any], *arguments: object) -> Any:
        """Run a phase."""
        self._pipe.send(">" + name)
        report, began = self.report, time.process_time()
        resource.setrlimit(resource.RLIMIT_CPU, (int(began) + SECONDS + 1, resource.RLIM_INFINITY))
        self.token.last = began
        limit = limited_work(name, Limits().work) if self._calibrate else nullcontext()
        try:
            with self.token.scope(), limit:
                try:
                    return work(*arguments)
                finally:
                    report.turns[name] = work_turns()
        finally:
            self.token.check()
            report.seconds[name] = time.process_time() - began
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            report.peak = max(report.peak, peak - self._resident)


def _try(
    vocabularies: tuple[Vocabulary, ...], notation: str, text: str, seed: int, pipe: Connection, *, calibrate: bool
) -> Report:
    phases, rng = _Phases(pipe, calibrate=calibrate), Random(seed)
    try:
        grammar = phases.run("compile", lambda: compile_grammar(notation, text, cancel=phases.token))
        phases.run("findings", lambda: [one.render(grammar.source) for one in grammar.diagnostics])
        for name, vocabulary in zip(("", " over 131,072 tokens"), vocabularies, strict=True):
            _use(phases, grammar, vocabulary, name, rng)
    except GrammarError as refused:
        phases.report.refused = refused.diagnostics[0].code
        phases.run("findings", str, refused)
    except LimitExceededError as refused:
        phases.report.refused = str(refused)
    return phases.report


def _use(phases: _Phases, grammar: CompiledGrammar, vocabulary: Vocabulary, name: str, rng: Random) -> None:
    try:
        matcher = phases.run("matcher" + name, Matcher, grammar, vocabulary)
    except VocabularyError:
        return  # a token element that names no token
    phases.run("first mask" + name, matcher.bitmask)
    phases.run("completion" + name, matcher.shortest_completion)
    phases.run("explanation" + name, matcher.explain, b"\x00")
    for _ in range(_STEPS):
        phases.run("steps" + name, _step, matcher, vocabulary.size, rng)
    phases.run("completion behind steps" + name, matcher.shortest_completion)


def _step(matcher: Matcher, size: int, rng: Random) -> None:
    bits = np.unpackbits(matcher.bitmask().view(np.uint8), bitorder="little")[:size]
    allowed = np.flatnonzero(bits)
    if len(allowed):
        assert matcher.accept(int(allowed[rng.randrange(len(allowed))]))
        matcher.bitmask()


def trials(seed: int, seconds: float) -> Iterator[tuple[int, str, str]]:
    """Yield inputs for so many seconds."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        yield seed, *heavy_input(seed)[1:]
        seed += 1


def main() -> int:
    """Run the trials that the command line names."""
    parser = argparse.ArgumentParser(prog="python -m tests.exactness.heavy", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int)
    parser.add_argument("--family", help="part of a family's name")
    parser.add_argument("--file", type=Path)
    parser.add_argument("--notation", default="json_schema")
    parser.add_argument("--calibrate", action="store_true")
    parser.add_argument("--verbose", action="store_true", help="a line for every input")
    chosen = parser.parse_args()
    running, failures, heaviest, counts = Trials(calibrate=chosen.calibrate), 0, 0.0, Counter[str]()
    if chosen.file is not None:
        todo: Iterator[tuple[int, str, str]] = iter([(0, chosen.notation, chosen.file.read_text(encoding="utf-8"))])
    elif chosen.only is not None:
        todo = iter([(chosen.only, *heavy_input(chosen.only)[1:])])
    else:
        todo = trials(chosen.seed, chosen.seconds)
    names = list(FAMILIES)
    for seed, notation, text in todo:
        name = names[seed % len(names)]
        if chosen.family and chosen.family not in name:
            continue
        assert len(text) <= LONGEST or chosen.file
        report = running.run(notation, text, seed)
        counts["stopped by a limit or refused" if report.refused else "ran"] += 1
        total = max(report.seconds.values(), default=0.0)
        heaviest = max(heaviest, total)
        is_slow = total > SECONDS or report.peak > BYTES
        failures += bool(report.failed) or is_slow
        if report.failed or is_slow or chosen.verbose or report.unchecked > 1:
            slowest = max(report.seconds, key=report.seconds.__getitem__, default="")
            sys.stdout.write(
                f"{'FAILED ' if report.failed or is_slow else ''}{seed} {name} ({len(text):,}): {report.failed} "
                f"{slowest} {total:.1f} s, {report.peak / 1e6:.0f} MB, unchecked {report.unchecked:.2f} s; "
                f"{report.refused[:150]}\n"
            )
        for what, turns in report.turns.items() if chosen.calibrate else ():
            spent = report.seconds[what]
            if spent > 0.2:
                sys.stdout.write(f"    {what}: {spent:.2f} s, {turns:,} turns, {1e6 * spent / max(turns, 1):.1f} us\n")
            sys.stdout.flush()
    running.stop()
    sys.stdout.write(f"{sum(counts.values())} inputs, {dict(counts)}, {failures} failures, at most {heaviest:.1f} s\n")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
