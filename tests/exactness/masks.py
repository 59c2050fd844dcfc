"""Random walks through a grammar: at every step compared, the mask is what brute force over the vocabulary gives."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from engine import CompileOptions, GrammarError, Matcher, Vocabulary, compile_grammar
from tests.exactness.brute_force import BruteForce
from tests.exactness.outcome import Outcome
from tests.exactness.subjects import Subject

STEPS = 40
"""The longest walk, in tokens."""

_ASTRAY = 0.1  # how often a walk along a string of the corpus leaves it for good
_ASKED = 20  # tokens that are asked for one by one


def compare_masks(
    subject: Subject,
    brute: BruteForce,
    *,
    seed: int,
    walks: int,
    positions: int,
    options: CompileOptions | None = None,
) -> Outcome:
    """Walk some times, and compare at some positions of each walk, the first and the last among them."""
    outcome = Outcome()
    try:
        grammar, fresh = (compile_grammar(subject.notation, subject.source, options) for _ in range(2))
    except GrammarError:
        outcome.skipped["refused"] += 1
        return outcome
    names = {name for tokens in grammar.automaton.token_elements for name in tokens.names}
    if names:
        brute = BruteForce(_with_special(brute.vocabulary, names))
    for number in range(walks):
        chance = random.Random(f"{subject.id} {seed} {number}")
        matcher = Matcher(grammar, brute.vocabulary)
        path = _walk(matcher, _target(subject, chance), chance)
        chosen = {0, len(path), *chance.sample(range(len(path) + 1), min(positions, len(path) + 1))}
        for position in sorted(chosen, key=lambda at: (at not in (0, len(path)), at))[:positions]:
            matcher = Matcher(grammar, brute.vocabulary)
            taken = all(matcher.accept(token_id) for token_id in path[:position])
            expected = brute.allowed(fresh, brute.after(fresh, path[:position]))
            outcome.compared["masks"] += 1
            wrong = _difference(matcher, expected, chance) if taken else "a token that the mask allowed is not taken"
            if wrong:
                text = b"".join(brute.vocabulary.tokens[i] or b"<special>" for i in path[:position])
                outcome.wrong.append(f"{subject.corpus} {subject.id} walk {number}, behind {text!r}: {wrong}")
    return outcome


def _walk(matcher: Matcher, target: bytes, chance: random.Random) -> list[int]:
    """The ids of a walk. It follows the target as long as it can, with the longest tokens, and then chance."""
    path: list[int] = []
    tokens = matcher.vocabulary.tokens
    astray = False
    while len(path) < STEPS:
        ids = np.flatnonzero(_bits(matcher)).tolist()
        ids = [i for i in ids if i not in matcher.vocabulary.eos_ids]
        if not ids:
            break
        astray = astray or chance.random() < _ASTRAY
        fitting = [] if astray else [i for i in ids if (token := tokens[i]) and target.startswith(token)]
        chosen = max(fitting, key=lambda i: len(tokens[i] or b"")) if fitting else random_token(ids, tokens, chance)
        target = target[len(tokens[chosen] or b"") :] if fitting else b""
        if not matcher.accept(chosen):
            return [*path, chosen]
        path.append(chosen)
    return path


def random_token(ids: Sequence[int], tokens: Sequence[bytes | None], chance: random.Random) -> int:
    """An id by chance: first a kind of byte, then a token that begins with it, or letters would be all that comes."""
    of_kind: dict[bytes, list[int]] = {}
    for token_id in ids:
        of_kind.setdefault(_kind(tokens[token_id] or b""), []).append(token_id)
    return chance.choice(of_kind[chance.choice(sorted(of_kind))])


def _kind(token: bytes) -> bytes:
    """Of what kind a token is: a digit or a letter stands for all of them, and so does a byte beyond ASCII."""
    first = token[:1]
    if first.isdigit():
        return b"0"
    return b"a" if first.isalpha() else min(first, b"\x80")


def _target(subject: Subject, chance: random.Random) -> bytes:
    strings = [*subject.accept, *subject.reject]
    return chance.choice(strings).encode("utf-8", "surrogatepass") if strings else b""


def _difference(matcher: Matcher, expected: set[int], chance: random.Random) -> str:
    """What is wrong with a matcher's mask; nothing is the empty text."""
    vocabulary = matcher.vocabulary
    found = set(np.flatnonzero(_bits(matcher)).tolist())
    if found != expected:
        names = [
            f"{what} {len(ids)} tokens such as {[(i, vocabulary.tokens[i]) for i in sorted(ids)[:3]]}"
            for what, ids in (("allows wrongly", found - expected), ("lacks", expected - found))
            if ids
        ]
        return " and ".join(names)
    for token_id in chance.sample(range(vocabulary.size), min(_ASKED, vocabulary.size)):
        if matcher.is_allowed(token_id) != (token_id in expected):
            return f"is_allowed({token_id}) is not what the mask says"
    return ""


def _bits(matcher: Matcher) -> np.ndarray:
    return np.unpackbits(matcher.bitmask().astype("<i4").view(np.uint8), bitorder="little")


def _with_special(vocabulary: Vocabulary, names: set[str]) -> Vocabulary:
    """The vocabulary with special tokens of these names, where it lacks them."""
    missing = sorted(names - set(vocabulary.special.values()))
    special = dict(vocabulary.special) | {vocabulary.size + i: name for i, name in enumerate(missing)}
    return Vocabulary([*vocabulary.tokens, *[None] * len(missing)], vocabulary.eos_ids, special)
