"""Compares the speed of the engine with that of another commit, by turns, with a verdict that knows the noise.

    python tests/benchmarks/by_turns.py [COMMIT] [--rounds 12] [--folder SCHEMAS]

Without a commit it is the one in `baseline.txt`, the last that was measured. Each round runs both in processes of their
own, in alternating order; a process takes the least of three passes of each measure, in processor time. The verdict
comes from the ratios of the rounds: *slower* or *faster* if the 95% interval of their median excludes 1 by more than
3%, *same* if it lies within 3% of 1, and *unknown* if it is too wide to tell. Beside it is a loop that does nothing but
count, timed in the same processes: where its spread exceeds 10%, the machine is not quiet, and a line says so.

The grammars are the examples and the corpus of the repository, and the schemas of a folder, each read by both commits.
"""

# ruff: noqa: T201 - a script for people, which calls git

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BASELINE = Path(__file__).with_name("baseline.txt")
TOLERANCE = 0.03
QUIET = 0.1
RESAMPLES = 2_000
WORK = """
import json, random, sys, time
from pathlib import Path
from engine.compile import CompileOptions, compile_grammar
from engine.matching import Matcher
from engine.matching.warmup import warm
from engine.source import EngineError
from engine.vocabulary import Vocabulary

def loop():
    total = 0
    for number in range(2_000_000):
        total += number & 7
    return total

def timed(work):
    start = time.thread_time()
    result = work()
    return time.thread_time() - start, result

def walk(grammar, steps):
    matcher, drawn = Matcher(grammar, vocabulary), random.Random(0)
    first, mask = timed(matcher.bitmask)
    rest = 0.0
    for _ in range(steps):
        allowed = [index for index in drawn.sample(range(size), 400) if mask[index // 32] >> (index % 32) & 1]
        if not allowed or not matcher.accept(drawn.choice(allowed)):
            break
        took, mask = timed(matcher.bitmask)
        rest += took
    return first, rest

warm()
cases = json.loads(Path(sys.argv[1]).read_text())
vocabulary = Vocabulary.from_tokenizer(Path(sys.argv[2]))
size = vocabulary.size
least = {}
for _ in range(3):
    times = {"loop": timed(loop)[0], "compile": 0.0, "first mask": 0.0, "further masks": 0.0}
    for notation, text, dialect in cases:
        try:
            took, grammar = timed(lambda: compile_grammar(notation, text, CompileOptions(dialect=dialect)))
            first, rest = walk(grammar, 40)
        except EngineError:
            continue
        times["compile"] += took
        times["first mask"] += first
        times["further masks"] += rest
    least = {name: min(value, least.get(name, value)) for name, value in times.items()}
print(json.dumps(least))
"""


def cases_in(folder: Path | None) -> list[tuple[str, str, str]]:
    """Return the notation, the text and the dialect of each grammar."""
    found = []
    for path in sorted((ROOT / "resources" / "examples").glob("*.json")):
        example = json.loads(path.read_text("utf-8"))
        found.append((example["notation"], example["source"], example.get("dialect", "python")))
    if folder is not None:
        found += [("json_schema", path.read_text("utf-8"), "python") for path in sorted(folder.rglob("*.json"))]
    return found


def measured(checkout: Path, cases: Path) -> dict[str, float]:
    """Return the seconds of each measure in a process that imports the engine of a checkout."""
    tokenizer = ROOT / "resources" / "models" / "records" / "tokenizer.json"
    run = subprocess.run(
        [sys.executable, "-c", WORK, str(cases), str(tokenizer)],
        env={**os.environ, "PYTHONPATH": str(checkout)},
        cwd=checkout,
        capture_output=True,
        check=True,
    )
    return dict(json.loads(run.stdout))


def interval(ratios: list[float]) -> tuple[float, float]:
    """Return a 95% interval of the median, by resampling."""
    drawn = random.Random(0)
    medians = sorted(statistics.median(drawn.choices(ratios, k=len(ratios))) for _ in range(RESAMPLES))
    return medians[RESAMPLES // 40], medians[-RESAMPLES // 40]


def verdict(low: float, high: float) -> str:
    """Return what an interval of the ratio of now to before says."""
    if low > 1 + TOLERANCE:
        return "slower"
    if high < 1 - TOLERANCE:
        return "faster"
    return "same" if low >= 1 - TOLERANCE and high <= 1 + TOLERANCE else "unknown"


def main() -> int:
    """Measure, print a table, and return 1 if something is slower."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("commit", nargs="?", default=BASELINE.read_text("utf-8").strip())
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--keep", action="store_true", help="make the present commit the baseline")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        before, cases = Path(folder) / "before", Path(folder) / "cases.json"
        archived = subprocess.run(["git", "archive", chosen.commit], check=False, cwd=ROOT, capture_output=True)
        if archived.returncode:
            parser.error(f"{archived.stderr.decode().strip()} (a clone with its history has the commit)")
        before.mkdir()
        subprocess.run(["tar", "-x", "-C", str(before)], input=archived.stdout, check=True)
        cases.write_text(json.dumps(cases_in(chosen.folder)), "utf-8")
        rounds: list[tuple[dict[str, float], dict[str, float]]] = []
        for number in range(chosen.rounds):
            order = (before, ROOT) if number % 2 else (ROOT, before)
            times = {checkout: measured(checkout, cases) for checkout in order}
            rounds.append((times[before], times[ROOT]))
    loops = [times["loop"] for both in rounds for times in both]
    spread = (max(loops) - min(loops)) / min(loops)
    print(f"\n{chosen.commit} and the checkout, {len(rounds)} rounds")
    print(f"the loop took {min(loops) * 1e3:.1f} ms, spread {spread:.0%}", "" if spread < QUIET else "(not quiet)")
    print("| | before, ms | now, ms | ratio | 95% interval | verdict |\n|---|---|---|---|---|---|")
    verdicts = []
    for name in rounds[0][0]:
        if name != "loop":
            ratios = [after[name] / earlier[name] for earlier, after in rounds]
            low, high = interval(ratios)
            verdicts.append(verdict(low, high))
            least = [min(times[name] for times in side) * 1e3 for side in zip(*rounds, strict=True)]
            row = f"{least[0]:.1f} | {least[1]:.1f} | {statistics.median(ratios):.3f} | {low:.3f} to {high:.3f}"
            print(f"| {name} | {row} | {verdicts[-1]} |")
    if chosen.keep:
        head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, check=True, text=True)
        BASELINE.write_text(head.stdout, "utf-8")
    return int("slower" in verdicts)


if __name__ == "__main__":
    sys.exit(main())
