"""Kills a window at random moments and measures how much work its autosave did not have.

    python tests/benchmarks/lost_work.py [--count 40] [--seed 0]

The window types, edits the prompt, runs or changes the processors without a pause. What counts is the time from the
oldest state that was lost to the kill: at most a second, whatever goes on.
"""

# ruff: noqa: T201 - a script for people

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "support"), str(Path(__file__).resolve().parents[2])]

from driven_window import State, kill, read, recovered, start  # noqa: E402 - after the path to it

WORK = {"type": "text", "prompt": "prompt", "run": "tokens", "pipeline": "pipeline"}


def lost(home: Path, what: str, seconds: float) -> tuple[float, State]:
    """Kill a window after some seconds of work; return the seconds of work that are lost, and what is recovered."""
    window = start(home, what)
    states = [read(window)]
    while what == "run" and not states[-1]["tokens"]:
        states = [read(window)]  # the model loads
    while time.monotonic() < states[0]["at"] + seconds:
        states.append(read(window))
    killed_at = time.monotonic()
    states += kill(window)
    after = recovered(home)
    key = WORK[what]
    known = [number for number, state in enumerate(states) if state[key] == after[key]]  # type: ignore[literal-required]
    if not known:
        return killed_at - states[0]["at"], after
    later = states[max(known) + 1 :]
    return (killed_at - later[0]["at"] if later else 0.0), after


def main() -> int:
    """Print the losses."""
    parser = argparse.ArgumentParser(description="Kill a window at random moments and measure the work that is lost.")
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    rng, losses = random.Random(options.seed), []
    for number in range(options.count):
        what = list(WORK)[number % len(WORK)]
        seconds = rng.uniform(1.5, 8)
        with tempfile.TemporaryDirectory(prefix="turnstile-lost-", ignore_cleanup_errors=True) as home:
            loss, after = lost(Path(home), what, seconds)
        losses.append(loss)
        print(f"{what:8} {seconds:4.1f} s  lost {loss:5.2f} s  {after['tokens']} tokens", flush=True)
    print(f"{len(losses)} kills: at most {max(losses):.2f} s lost, {sum(losses) / len(losses):.2f} s on average")
    return 0 if max(losses) <= 1 else 1


if __name__ == "__main__":
    sys.exit(main())
