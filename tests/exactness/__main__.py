"""Exactness on the whole of the corpora.

    python -m tests.exactness --all                      every trial on every grammar
    python -m tests.exactness --masks --files regex llama --vocabulary PATH
    python -m tests.exactness --generate --only ID       one grammar again
    python -m tests.exactness --soundness --seconds 60   random grammars, without the corpora

Trials: `--masks` compares masks with brute force along random walks; `--generate`
has what the engine writes judged by `jsonschema` and `regex`; `--accept` compares
verdicts on instances with jsonschema's; `--any-order` holds schemas against their
labels with `property_order="any"`. Each grammar is tried in a child process that
is replaced when it takes too long or dies. The exit code is 1 where anything is
wrong. The same seed tries the same.

`--soundness` makes grammars at random and holds the engine against independent
oracles. Its generators run one after the other, each for `--seconds` seconds of
processor time or `--cases` cases. A difference is printed with the command that
tries it again, and the exit code is 1.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.exactness.child import Child
from tests.exactness.outcome import Outcome
from tests.exactness.soundness.command import fuzz
from tests.exactness.soundness.registry import GENERATORS
from tests.exactness.soundness.runner import Effort as SoundnessEffort
from tests.exactness.subjects import corpora, subjects
from tests.exactness.trials import TRIALS, Effort

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Run the trials that the command line names."""
    arguments = _parse()
    if arguments.soundness:
        return _soundness(arguments)
    trials = [name for name in TRIALS if arguments.all or getattr(arguments, name.replace("-", "_"))]
    if not trials:
        raise SystemExit("say which trial: " + ", ".join(f"--{name}" for name in ("all", *TRIALS)))
    files = arguments.files or corpora()
    numbers = (arguments.seed, arguments.walks, arguments.positions, arguments.texts, arguments.mutants)
    effort = Effort(*numbers, arguments.escapes)
    child, total = Child(arguments.vocabulary, effort, arguments.limit), Outcome()
    for trial in trials:
        for corpus in files:
            began, outcome = time.monotonic(), Outcome()
            for subject in subjects(corpus)[arguments.begin :][: arguments.count]:
                if not arguments.only or subject.id == arguments.only:
                    outcome.add(child.run(trial, subject))
            _tell(f"{trial} {corpus}", outcome, time.monotonic() - began)
            total.add(outcome)
    child.stop()
    sys.stdout.write(f"{len(total.wrong)} wrong, {len(total.limits)} outgrew a limit behind the compile\n")
    return 1 if total.wrong else 0


def _soundness(arguments: argparse.Namespace) -> int:
    cases, first = arguments.cases, 0
    if arguments.case is not None:
        cases, first = 1, arguments.case
    seconds = arguments.seconds if cases is None else None
    effort = SoundnessEffort(arguments.seed, seconds, cases, first, case_limit=arguments.limit)
    return fuzz(arguments.generators, effort, workers=arguments.workers)


def _tell(title: str, outcome: Outcome, seconds: float) -> None:
    counts = ", ".join(f"{count:,} {what}" for what, count in outcome.compared.items()) or "nothing to compare"
    skipped = "; ".join(f"{count:,} not: {why}" for why, count in outcome.skipped.items())
    sys.stdout.write(f"{title}: {counts}{'; ' if skipped else ''}{skipped} ({seconds:.0f} s)\n")
    for line in outcome.wrong:
        sys.stdout.write(f"  WRONG {line}\n")
    for line in outcome.limits:
        sys.stdout.write(f"  LIMIT {line}\n")
    sys.stdout.flush()


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m tests.exactness",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--all", action="store_true", help="every trial")
    for name in TRIALS:
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--soundness", action="store_true", help="random grammars against independent oracles")
    parser.add_argument(
        "--generators", nargs="+", choices=tuple(GENERATORS), default=tuple(GENERATORS), help="of --soundness (all)"
    )
    parser.add_argument("--seconds", type=float, default=60.0, metavar="N", help="for each generator and process (60)")
    parser.add_argument("--cases", type=int, metavar="N", help="for each generator, instead of --seconds")
    parser.add_argument("--case", type=int, metavar="N", help="one case again")
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="processes that share the cases (1)")
    parser.add_argument("--files", nargs="+", metavar="CORPUS", help="these corpora, by name (all)")
    parser.add_argument("--only", metavar="ID", help="one grammar")
    parser.add_argument("--begin", type=int, default=0, metavar="N", help="leave out the first N of each corpus")
    parser.add_argument("--count", type=int, default=None, metavar="N", help="try N of each corpus at most")
    parser.add_argument("--limit", type=float, default=60.0, metavar="S", help="seconds for a trial on a grammar (60)")
    parser.add_argument(
        "--vocabulary",
        type=Path,
        default=ROOT / "resources" / "models" / "records",
        metavar="PATH",
        help="a tokenizer's file or folder (the bundled one of 2,048 tokens)",
    )
    parser.add_argument(
        "--escapes",
        choices=("shortest", "any"),
        default="shortest",
        help="escapes of a schema's strings in `--masks` and `--generate` (shortest); `--accept` tries both",
    )
    for name, default in (("seed", 0), ("walks", 3), ("positions", 6), ("texts", 8), ("mutants", 40)):
        parser.add_argument(f"--{name}", type=int, default=default, metavar="N", help=f"see `Effort` ({default})")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
