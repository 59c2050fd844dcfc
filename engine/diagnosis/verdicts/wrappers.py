"""Wrappers around an output: code fences, greetings, thoughts, and special tokens written as text.

A model that is asked for JSON often announces it first, and a server returns the complete text. The grammar then fails
at the first byte, which is true but useless: so the intended part is located and judged.
"""

from __future__ import annotations

import re
from enum import StrEnum

from engine.automata.byte_automaton import ByteAutomaton
from engine.diagnosis.verdicts.replay_walk import reach

_FENCE = re.compile(rb"\s*```[\w+.-]*[ \t]*\r?\n")
_THOUGHTS = re.compile(rb"\s*<(think|thinking|reasoning)>.*?</\1>\s*", re.DOTALL)
_BLANK = re.compile(rb"(?:\xef\xbb\xbf)?\s*")
_BEGINNING = re.compile(rb"(?m)(?<![^\s])\S|[{\[]")
_CLOSING_FENCE = re.compile(rb"\s*```\s*\Z")
_SPECIAL = re.compile(rb"<\|[^|<>]{1,40}\|>|</s>|<eos>|<end_of_turn>|\[/?INST\]")
MOST_BEGINNINGS = 200
LEAST_SHARE = 0.5  # this share of the rest must be legal, if not all of it is
NEARLY_ALL = 0.8  # the same share for words among words
MOST_FAILED_AT = 2  # an output that fails later began as intended


class SurroundingText(StrEnum):
    """The kind of text before or after an output; the value is its name in the catalogue."""

    BLANKS = "blanks"
    BYTE_ORDER_MARK = "byte_order_mark"
    FENCE = "fence"
    THOUGHTS = "thoughts"
    SPECIAL = "special"
    MORE = "more"
    OTHER = "other"


def output_start(automaton: ByteAutomaton, data: bytes, legal: int) -> int:
    """Return the byte at which the intended output begins: 0 without evidence for another.

    Args:
        automaton: the grammar's automaton.
        data: the output.
        legal: the number of bytes that begin a match.
    """
    if legal > MOST_FAILED_AT:
        return 0
    for pattern in (_FENCE, _THOUGHTS, _BLANK):
        found = pattern.match(data)
        if found and found.end() and _is_intended(automaton, data, found.end()):
            return found.end()
    starts = (found.start() for found in _BEGINNING.finditer(data))
    for _, start in zip(range(MOST_BEGINNINGS), starts, strict=False):
        if start > legal and _is_intended(automaton, data, start, whole=True):
            return start
    return 0


def suffix_kind(rest: bytes) -> SurroundingText:
    """Return the kind of text that follows a complete output."""
    if not rest.strip():
        return SurroundingText.BLANKS
    if _CLOSING_FENCE.fullmatch(rest):
        return SurroundingText.FENCE
    if _SPECIAL.match(rest.lstrip()):
        return SurroundingText.SPECIAL
    return SurroundingText.MORE


def prefix_kind(front: bytes) -> SurroundingText:
    """Return the kind of text that precedes the intended output."""
    if front.startswith(b"\xef\xbb\xbf") and not front[3:].strip():
        return SurroundingText.BYTE_ORDER_MARK
    if not front.strip():
        return SurroundingText.BLANKS
    if _FENCE.fullmatch(front):
        return SurroundingText.FENCE
    if _THOUGHTS.fullmatch(front):
        return SurroundingText.THOUGHTS
    return SurroundingText.OTHER


def _is_intended(automaton: ByteAutomaton, data: bytes, start: int, *, whole: bool = False) -> bool:
    rest = data[start:]
    if not rest:
        return False
    legal = reach(automaton, rest)
    if legal == len(rest):
        return True
    behind = rest[legal:]
    if legal and automaton.accepts(automaton.run(automaton.start, rest[:legal])):
        # A word that matches among other words was probably not intended; an object was.
        is_word = suffix_kind(behind) is SurroundingText.MORE and rest[:1] not in b"{["
        return not whole or not is_word or legal >= NEARLY_ALL * len(rest)
    return (not whole or rest[:1] in b"{[") and legal >= LEAST_SHARE * len(rest)
