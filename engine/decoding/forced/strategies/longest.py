"""The longest token at each offset: the fewest calls, but often an encoding that the model has never seen."""

from __future__ import annotations

from engine.decoding.forced.run_strategy import RunPosition, RunStrategy
from engine.decoding.forced.values import FastForwardRun


def _pick(position: RunPosition) -> FastForwardRun:
    from engine.decoding.forced.run_tokens import continuable_lattice  # start-up time: numpy

    lattice = continuable_lattice(position)
    return FastForwardRun(position.run, tokens=() if lattice is None else lattice.longest() or ())


STRATEGY = RunStrategy("longest", _pick)
