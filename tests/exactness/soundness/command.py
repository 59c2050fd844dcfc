"""Prints what the soundness fuzzer finds."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from tests.exactness.soundness.runner import Effort, run
from tests.exactness.soundness.tally import Difference, Tally


def fuzz(names: Sequence[str], effort: Effort, *, workers: int) -> int:
    """Run generators one after the other and print their results.

    Returns:
        The exit code: 1 where a difference is unexplained.
    """
    tallies = [run(name, effort, workers=workers) for name in names]
    for tally in tallies:
        for difference in (*tally.differences, *tally.oracle_differences):
            _print(_case(difference))
    _print(f"{'generator':<24} {'inputs':>10} {'texts':>12} {'seconds':>9} {'differences':>12}  oracles differ\n")
    for tally in tallies:
        _print(_row(tally))
        for title, counts in (("as intended", tally.known), ("not judged", tally.skipped)):
            for reason, count in sorted(counts.items()):
                _print(f"    {title}: {count:,} ({reason})\n")
    total = Tally("all")
    for tally in tallies:
        total.add(tally)
    _print(_row(total))
    return 1 if total.differences else 0


def _row(tally: Tally) -> str:
    return (
        f"{tally.generator:<24} {tally.inputs:>10,} {tally.texts:>12,} {tally.seconds:>9.0f} "
        f"{len(tally.differences):>12,} {len(tally.oracle_differences):>15,}\n"
    )


def _case(difference: Difference) -> str:
    title = "ORACLES DIFFER" if difference.kind == "oracles" else f"DIFFERENCE ({difference.kind})"
    again = f"--soundness --generators {difference.generator} --seed {difference.seed} --case {difference.case}"
    return (
        f"{title}: {difference.detail}\n  {difference.notation}: {difference.grammar}\n  text: {difference.text!r}\n"
        f"  again: python -m tests.exactness {again}\n"
    )


def _print(text: str) -> None:
    sys.stdout.write(text)
    sys.stdout.flush()
