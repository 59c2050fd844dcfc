"""Runs the corpus on all paths and prints the counts:  python -m tests.corpus [--raise [--lower]] [--peers]"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from tests.corpus import ratchet
from tests.corpus.case import cases
from tests.corpus.paths import PATHS
from tests.corpus.peers import ask, count_answers, installed_peers


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.corpus")
    parser.add_argument("--raise", dest="raises", action="store_true", help="write the counts to the ratchet")
    parser.add_argument("--lower", action="store_true", help="let the ratchet fall, after cases were removed")
    parser.add_argument("--peers", action="store_true", help="count the answers of other engines that are installed")
    parser.add_argument("--ask", nargs=2, metavar=("PEER", "FIRST"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.ask:
        ask(arguments.ask[0], int(arguments.ask[1]))
        return 0
    texts = sum(len(case.texts) + len(case.dead) for case in cases())
    sources = len({(case.notation, case.source) for case in cases()})
    sys.stdout.write(f"{len(cases())} cases of {sources} grammars, {texts} texts\n")
    found: dict[str, dict[str, int]] = {}
    wrong = 0
    for path in PATHS:
        tallies = {group: ratchet.run(path, group) for group in ratchet.groups()}
        found[path] = {group: tally.passed for group, tally in tallies.items() if tally.passed}
        problems = [problem for tally in tallies.values() for problem in tally.wrong]
        refused = sum(len(tally.refused) for tally in tallies.values())
        wrong += len(problems)
        sys.stdout.write(
            f"{path:12} passed {sum(found[path].values()):4}, refused {refused:3}, wrong {len(problems)}\n"
        )
        sys.stdout.writelines(f"    {problem}\n" for problem in problems)
    content = ratchet.read()
    if arguments.peers:
        for name in installed_peers():
            content.setdefault("peers", {})[name] = counts = count_answers(name)
            sys.stdout.write(f"{name}: {counts}\n")
    fallen = ratchet.fallen(found)
    sys.stdout.writelines(f"fallen: {line}\n" for line in fallen)
    if arguments.raises and not wrong and (arguments.lower or not fallen):
        ratchet.write(content | {"passed": found})
    return int(bool(wrong or (fallen and not arguments.lower)))


if __name__ == "__main__":
    raise SystemExit(main())
