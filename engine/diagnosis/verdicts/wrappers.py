"""What stands around an output: a fence, a greeting, thoughts in front; a fence or a special token's text behind.

A model that was asked for JSON likes to say so first, and a server that is asked
for text hands all of it over. The grammar then fails at the first byte, which is
true and says nothing: so the part that was meant is looked for, and judged.
"""

from __future__ import annotations

import re

from engine.automata.byte_automaton import ByteAutomaton
from engine.diagnosis.verdicts.replay_walk import reach

_FENCE = re.compile(rb"\s*```[\w+.-]*[ \t]*\r?\n")
_THOUGHTS = re.compile(rb"\s*<(think|thinking|reasoning)>.*?</\1>\s*", re.DOTALL)
_BLANK = re.compile(rb"(?:\xef\xbb\xbf)?\s*")
_BEGINNING = re.compile(rb"(?m)(?<![^\s])\S|[{\[]")
_CLOSING_FENCE = re.compile(rb"\s*```\s*\Z")
_SPECIAL = re.compile(rb"<\|[^|<>]{1,40}\|>|</s>|<eos>|<end_of_turn>|\[/?INST\]")
MOST_BEGINNINGS = 200
LEAST_SHARE = 0.5  # so much of what is left must be legal, where it is not all of it
NEARLY_ALL = 0.8  # the same of words among words
MOST_FAILED_AT = 2  # what fails later began as it was meant


def beginning(automaton: ByteAutomaton, data: bytes, legal: int) -> int:
    """The byte at which what was meant begins: 0 where nothing speaks for another.

    Args:
        automaton: of the grammar.
        data: the output.
        legal: how many bytes of it begin a match.
    """
    if legal > MOST_FAILED_AT:
        return 0
    for pattern in (_FENCE, _THOUGHTS, _BLANK):
        found = pattern.match(data)
        if found and found.end() and _is_meant(automaton, data, found.end()):
            return found.end()
    starts = (found.start() for found in _BEGINNING.finditer(data))
    for _, start in zip(range(MOST_BEGINNINGS), starts, strict=False):
        if start > legal and _is_meant(automaton, data, start, whole=True):
            return start
    return 0


def tail_kind(rest: bytes) -> str:
    """What stands behind a complete output, in words."""
    if not rest.strip():
        return "white space"
    if _CLOSING_FENCE.fullmatch(rest):
        return "a code fence"
    if _SPECIAL.match(rest.lstrip()):
        return "the text of a special token"
    return "more text"


def front_kind(front: bytes) -> str:
    """What stands in front of what was meant, in words."""
    if front.startswith(b"\xef\xbb\xbf") and not front[3:].strip():
        return "a byte order mark"
    if not front.strip():
        return "white space"
    if _FENCE.fullmatch(front):
        return "a code fence"
    if _THOUGHTS.fullmatch(front):
        return "thoughts"
    return "other text"


def _is_meant(automaton: ByteAutomaton, data: bytes, start: int, *, whole: bool = False) -> bool:
    rest = data[start:]
    if not rest:
        return False
    legal = reach(automaton, rest)
    if legal == len(rest):
        return True
    behind = rest[legal:]
    if legal and automaton.accepts(automaton.run(automaton.start, rest[:legal])):
        # A word that happens to match in the midst of other words was hardly meant; an object was.
        return not whole or tail_kind(behind) != "more text" or rest[:1] in b"{[" or legal >= NEARLY_ALL * len(rest)
    return (not whole or rest[:1] in b"{[") and legal >= LEAST_SHARE * len(rest)
