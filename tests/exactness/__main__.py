"""Exactness on the whole of the corpora.

    python -m tests.exactness --all                      every trial on every grammar
    python -m tests.exactness --masks --files regex llama --vocabulary PATH
    python -m tests.exactness --generate --only ID       one grammar again

Trials: `--masks` compares masks with brute force along random walks; `--generate`
has what the engine writes judged by `jsonschema` and `regex`; `--accept` compares
verdicts on instances with jsonschema's; `--any-order` holds schemas against their
labels with `property_order="any"`. Each grammar is tried in a child process that
is replaced when it takes too long or dies. The exit code is 1 where anything is
wrong. The same seed tries the same.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tests.exactness.child import Child
from tests.exactness.outcome import Outcome
from tests.exactness.subjects import corpora, subjects
from tests.exactness.trials import TRIALS, Effort

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Run the trials that the command line names."""
    arguments = _parse()
    trials = [name for name in TRIALS if arguments.all or getattr(arguments, name.replace("-", "_"))]
    if not trials:
        raise SystemExit("say which trial: " + ", ".join(f"--{name}" for name in ("all", *TRIALS)))
    files = arguments.files or corpora()
    if not files:
        raise SystemExit("there are no corpora: they lie in the folder `shared` beside the checkout")
    effort = Effort(arguments.seed, arguments.walks, arguments.positions, arguments.texts, arguments.mutants)
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
    for name, default in (("seed", 0), ("walks", 3), ("positions", 6), ("texts", 8), ("mutants", 40)):
        parser.add_argument(f"--{name}", type=int, default=default, metavar="N", help=f"see `Effort` ({default})")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
