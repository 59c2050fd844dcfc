"""The answers of other engines to the cases: they differ on purpose in white space and escapes, so they are counted.

An engine runs in a child process that writes a line for each case: some grammars crash or hang an engine, and the next
child continues behind them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Final

from engine.peers.adapter import OWN, PeerMatcher, allows
from engine.peers.registry import PEERS
from tests.corpus.case import Case, byte_vocabulary, cases

_ROOT: Final = Path(__file__).parents[2]
_PATIENCE_S: Final = 60  # for one engine to answer all cases; a hanging one loses the case at which it hangs
_MOST_CHILDREN: Final = 8
_EOS: Final = 256


def installed_peers() -> list[str]:
    """Return the names of the other engines that are installed."""
    return [peer.name for peer in PEERS if peer.name != OWN and peer.version is not None]


def count_answers(name: str) -> dict[str, int]:
    """Return how many grammars an engine rejects or does not survive, and how many texts it judges as the corpus."""
    counts = {"grammars": len(_askable()), "rejected": 0, "crashed": 0, "texts": 0, "as the corpus": 0}
    first = 0
    for _ in range(_MOST_CHILDREN):
        answers = _answers(name, first)
        for answer in answers:
            counts["rejected"] += answer is None
            counts["texts"] += answer[0] if answer else 0
            counts["as the corpus"] += answer[1] if answer else 0
        first += len(answers)
        if first == counts["grammars"]:
            break
        counts["crashed"] += 1
        first += 1
    return counts


def _askable() -> list[Case]:
    return [case for case in cases() if case.texts and case.options.get("dialect") != "ecma"]


def _answers(name: str, first: int) -> list[tuple[int, int] | None]:
    command = [sys.executable, "-m", "tests.corpus", "--ask", name, str(first)]
    child = subprocess.Popen(command, cwd=_ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    timer = threading.Timer(_PATIENCE_S, child.kill)
    timer.start()
    try:
        output, _ = child.communicate()
    finally:
        timer.cancel()
    return [json.loads(line) for line in output.splitlines() if line.endswith(("]", "null"))]


def ask(name: str, first: int) -> None:
    """Ask an engine about the cases from a number on, and write a line for each: the texts, and those as expected."""
    results = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # engines write to the standard output too
    adapter = PEERS[name].adapter(byte_vocabulary())
    for case in _askable()[first:]:
        answer: tuple[int, int] | None = None
        try:
            follower = adapter.compile(case.notation, case.source)
            answer = len(case.texts), sum(_accepts(follower, text) == accepted for text, accepted in case.texts)
        except Exception:  # noqa: BLE001 - any exception of another engine means that it rejects the grammar
            pass
        results.write(json.dumps(answer) + "\n")
        results.flush()


def _accepts(follower: PeerMatcher, text: bytes) -> bool:
    follower.reset()
    for byte in text:
        follower.fill_mask()
        if not follower.accept(byte):
            return False
    follower.fill_mask()
    return bool(allows(follower.mask, _EOS) or follower.is_accepting())
