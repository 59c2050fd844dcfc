"""A strategy for forced runs that takes the shortest token at each offset."""

from engine.decoding.forced.run_strategy import RunStrategy
from engine.decoding.forced.values import FastForwardRun


def _pick(position):
    from engine.decoding.forced.run_tokens import continuable_lattice

    lattice = continuable_lattice(position)
    ids, at = [], 0
    while lattice is not None and at < len(lattice.data):
        at, token_id = next((end, token_id) for end, token_id in lattice.edges[at] if lattice.ways[end])
        ids.append(token_id)
    return FastForwardRun(position.run, tokens=tuple(ids))


STRATEGY = RunStrategy("shortest-tokens", _pick)
