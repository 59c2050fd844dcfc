"""The proposal of AWRS: tokens are drawn and checked one by one; see `decoders.awrs` for the method and its proof."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from engine.decoding.processors.logits import sanitise, softmax
from engine.decoding.strategies.particles import Moved
from engine.decoding.strategies.prefix_tree import Inquiry, TokenPrefix, drawn_index
from engine.matching import Matcher


@dataclass(frozen=True, slots=True)
class CheckedToken:
    """A token that was drawn among the legal ones.

    Attributes:
        token_id: the token; -1 if no legal token has mass.
        p: its probability before the mask.
        z: an unbiased estimate of the allowed mass; 0 with no token.
        checks: the number of tokens that were checked.
    """

    token_id: int
    p: float
    z: float
    checks: int


def draw_checked(p: NDArray[np.float64], matcher: Matcher, rng: np.random.Generator) -> CheckedToken:
    """Draw a legal token by checking drawn ones.

    Args:
        p: float64[W], the model's probabilities.
        matcher: the grammar's state; ids beyond its vocabulary are not legal.
        rng: the random generator.
    """
    left = p.copy()
    found, inverses, checks = -1, 1.0, 0
    while (mass := float(left.sum())) > 0:
        drawn = drawn_index(left, rng.random())
        checks += 1
        if drawn < matcher.vocabulary.size and matcher.is_allowed(drawn):
            if found >= 0:
                return CheckedToken(found, float(p[found]), 1.0 / inverses, checks)
            found = drawn
        else:
            left[drawn] = 0.0
            mass = float(left.sum())
            inverses += 1.0 / mass if mass > 0 else np.inf
    return CheckedToken(-1, 0.0, 0.0, checks)


def advance_by_checks(inquiry: Inquiry, prefixes: Sequence[TokenPrefix], rng: np.random.Generator) -> Moved:
    """Draw the next token of each open prefix by checks; the factor is an unbiased estimate of the allowed mass.

    A prefix with no token that has mass stays, with the factor 0.

    Args:
        inquiry: the run's access to the tree.
        prefixes: the open prefixes.
        rng: the random generator.
    """
    moved: Moved = []
    for prefix, allowed in zip(prefixes, inquiry.allowed_of_all(prefixes), strict=True):
        assert allowed.row is not None
        token = draw_checked(softmax(sanitise(allowed.row, 0)), prefix.matcher, rng)
        inquiry.checks += token.checks
        if token.token_id < 0:
            moved.append((prefix, -np.inf))
        else:
            child = inquiry.tree.child(prefix, token.token_id, float(np.log(token.p)))
            moved.append((child, float(np.log(token.z))))
    return moved
