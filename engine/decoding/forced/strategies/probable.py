"""The encoding that the model finds most probable: it saves nothing, and shows what the other strategies cost."""

from __future__ import annotations

from engine.decoding.forced.run_strategy import RunPosition, RunStrategy
from engine.decoding.forced.values import FastForwardRun


def _pick(position: RunPosition) -> FastForwardRun:
    from engine.decoding.forced.encodings import most_probable  # start-up time: numpy
    from engine.decoding.forced.run_tokens import continuable_lattice  # start-up time: numpy

    lattice = continuable_lattice(position)
    if lattice is None:
        return FastForwardRun(position.run)
    named = {token_id for edges in lattice.edges for _, token_id in edges}
    found = most_probable(lattice, position.query(named), position.most_calls)
    return FastForwardRun(position.run) if found is None else FastForwardRun(position.run, 0, found.ids, found.calls)


STRATEGY = RunStrategy("probable", _pick, queries_model=True)
