"""Lookahead proposals: SMC whose particles see on the DFA how likely the rest of the text is to be accepted.

A(s) is the probability that a text which is at the state s ends in the language, if the model had one distribution of
tokens for each state (`expected_acceptance`). A token is drawn in proportion to p(t) · A(state after t), and a particle
is weighed by p · A so far. At the end A is 1, so the target is that of SMC, and prefixes with few endings are not
entered in the first place.

Source: Dang et al., arXiv 2606.01926, who multiply automata with a hidden Markov model of the language model; here the
states of the automaton take the place of those of that model, and are learned from a few texts of local masking.
Guarantee: exact as N grows, whatever A is; fewer particles than SMC where A is a good guess.
Cost: as SMC, the calls of eight more texts, and a table of states by tokens. Only for regular grammars.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from engine.decoding.strategies.strategy import DecodingStrategy, Draw

if TYPE_CHECKING:
    import numpy as np

    from engine.decoding.strategies.prefix_tree import Inquiry


def _draw(inquiry: Inquiry, samples: int, rng: np.random.Generator) -> Iterator[Draw]:
    from engine.decoding.strategies.expected_acceptance import ExpectedAcceptance  # start-up time: numpy
    from engine.decoding.strategies.particles import draw_particles, systematic_points  # start-up time: numpy

    lookahead = ExpectedAcceptance(inquiry, rng)
    return draw_particles(inquiry, samples, rng, lookahead.advance, systematic_points)


STRATEGY = DecodingStrategy("lookahead", _draw)
