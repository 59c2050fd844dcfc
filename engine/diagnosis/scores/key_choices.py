"""The keys of an output: which ones the model would have written, and which optional ones became impossible.

A grammar with an order of properties takes a key away for good once a later one is written, and a model that writes
keys in another order then leaves out what it knows. So each key of the output is compared with the one that the model
would write there without a mask, token by token, each time the most probable. The probability of a key is the product
of those of its tokens, up to its closing quote.
"""

from __future__ import annotations

import json
import math
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from engine.automata.byte_automaton import DEAD
from engine.decoding.answer import Answer
from engine.decoding.processors.logits import log_sum_exp, sanitise
from engine.diagnosis.failures.tolerant_json import OutputValue, read_output
from engine.diagnosis.scores.token_scores import JudgedGrammar, TokenScore
from engine.models.source import LogitSource
from engine.source import CancelToken

MOST_KEYS: Final = 64
"""The number of keys for which a model is asked."""
_LONGEST_KEY: Final = 24  # tokens


@dataclass(frozen=True, slots=True)
class LostKey:
    """An optional property that an object lacks.

    Attributes:
        key: the property.
        start: the byte of the output at which it became impossible.
        by: the key that was written there; empty if the object ended.
    """

    key: str
    start: int
    by: str = ""


@dataclass(frozen=True, slots=True)
class KeyChoice:
    """A key of an output where the model wanted another.

    Attributes:
        start: the byte of the output at which the key begins.
        key: the key; empty if the object ended.
        p: its probability; None if unknown.
        wanted: the key that the model would have written.
        wanted_p: the probability of that key.
        is_allowed: whether the grammar allowed it; None without a grammar, or if the output left the grammar before.
    """

    start: int
    key: str
    p: float | None
    wanted: str
    wanted_p: float
    is_allowed: bool | None = None


@dataclass(frozen=True, slots=True)
class _KeyPosition:
    """A key, or the end of an object, in bytes of the output."""

    start: int
    end: int
    key: str = ""


def _positions(text: bytes) -> list[list[_KeyPosition]]:
    """Return the keys of each object of a JSON text, with its end if it is complete."""
    readable = text.decode("utf-8", "surrogateescape")
    root = read_output(readable).root
    if root is None:
        return []

    def byte_of(at: int) -> int:
        return len(readable[:at].encode("utf-8", "surrogateescape"))

    found = []
    for value in _objects(root):
        keys = [_KeyPosition(byte_of(start), byte_of(end), key) for key, (start, end) in value.keys.items()]
        if not value.is_open:
            keys.append(_KeyPosition(byte_of(value.end) - 1, byte_of(value.end)))
        found.append(keys)
    return found


def _objects(value: OutputValue) -> Iterator[OutputValue]:
    if isinstance(value.value, dict):
        yield value
        for member in value.value.values():
            yield from _objects(member)
    elif isinstance(value.value, list):
        for item in value.value:
            yield from _objects(item)


def lost_keys(text: bytes, judged: JudgedGrammar) -> tuple[LostKey, ...]:
    """Return the optional properties that the objects of an output lack, in the order in which they became impossible.

    Args:
        text: the output.
        judged: the grammar and where it begins.
    """
    automaton, inner = judged.grammar.automaton, judged.lead + text[judged.start :]
    shift = judged.start - len(judged.lead)
    lost = []
    for keys in _positions(inner):
        possible: set[str] = set()
        last: _KeyPosition | None = None
        for position in keys:
            at = automaton.run(automaton.start, inner[: position.start])
            if at == DEAD:
                break
            now = set(automaton.next_properties(at).names)
            written = {one.key for one in keys}
            if last is not None:
                lost += [LostKey(key, last.start + shift, last.key) for key in sorted(possible - now - written)]
            if not position.key:
                lost += [LostKey(key, position.start + shift) for key in sorted(now - written)]
            possible, last = now, position
    return tuple(sorted(lost, key=lambda one: one.start))


def key_choices(
    scores: Sequence[TokenScore],
    source: LogitSource,
    before: Sequence[int],
    judged: JudgedGrammar | None,
    cancel: CancelToken | None = None,
) -> tuple[KeyChoice, ...]:
    """Return where a model wanted another key than the output has, of its first 64 keys.

    Args:
        scores: the scores of the output under the model.
        source: the model.
        before: the ids of the prompt.
        judged: the grammar and where it begins; None if there is none.
        cancel: checked before each token.

    Raises:
        CancelledError: `cancel` was used.
    """
    text = b"".join(one.data for one in scores)
    start, lead = (0, b"") if judged is None else (judged.start, judged.lead)
    inner, shift = lead + text[start:], start - len(lead)
    starts = [one.start for one in scores]
    found = []
    positions = sorted((one for keys in _positions(inner) for one in keys), key=lambda one: one.start)
    for position in positions[:MOST_KEYS]:
        at = position.start + shift
        first = bisect_right(starts, at) - 1
        if at < 0 or first < 0:
            continue
        ids = [*before, *(one.token_id for one in scores[:first] if one.token_id is not None)]
        prefix = text[starts[first] : at]
        wanted, wanted_p = _wanted_key(source, ids, prefix, ends=not position.key, cancel=cancel)
        if not wanted or wanted == position.key:
            continue
        last = bisect_right(starts, position.end + shift - 1) - 1
        logprobs = [one.logprob for one in scores[first : last + 1]]
        known = [one for one in logprobs if one is not None]
        is_allowed = None
        if judged is not None:
            automaton = judged.grammar.automaton
            before_key = automaton.run(automaton.start, inner[: position.start])
            written = b"" if position.key else b","
            written += json.dumps(wanted, ensure_ascii=False).encode("utf-8", "surrogatepass")
            if before_key != DEAD:
                is_allowed = automaton.run(before_key, written) != DEAD
        found.append(
            KeyChoice(
                at,
                position.key,
                math.exp(sum(known)) if len(known) == len(logprobs) else None,
                wanted,
                wanted_p,
                is_allowed,
            )
        )
    return tuple(found)


def _wanted_key(
    source: LogitSource, ids: list[int], prefix: bytes, *, ends: bool, cancel: CancelToken | None
) -> tuple[str, float]:
    """Return the key that a model writes after some ids, and its probability; empty if it writes something else.

    Args:
        source: the model.
        ids: the ids before the token in which the key begins.
        prefix: the part of that token before the key.
        ends: whether the object ends there in the output, so that a comma comes before the key.
        cancel: checked before each token.
    """
    signs = [bytes((byte,)) for byte in prefix if byte not in b" \t\r\n"] + [b","] * ends
    pattern = re.compile(rb"\s*" + b"".join(re.escape(sign) + rb"\s*" for sign in signs) + rb'("(?:[^"\\]|\\.)*")')
    written, total, given = b"", 0.0, list(ids)
    for _ in range(_LONGEST_KEY):
        if cancel is not None:
            cancel.check()
        if source.context_length is not None and len(given) > source.context_length:
            break
        answer = Answer.of(source.logits(given))
        logits = sanitise(answer.logits, source.vocabulary.size)  # an unknown token is not the most probable one
        token_id = int(np.argmax(logits))
        piece = source.vocabulary.token_bytes(token_id)
        if not piece:
            break
        total += float(logits[token_id]) - (log_sum_exp(logits) if answer.most is None else 0.0)
        written += piece
        given.append(token_id)
        match = pattern.match(written)
        if match is not None:
            try:
                return str(json.loads(match[1])), math.exp(total)
            except ValueError:
                break
    return "", 0.0
