"""Processors, the sampler, and the session: a tree of steps through a grammar.

What crosses to the window is here; `engine.decoding.session` and
`engine.decoding.generate` are imported by whoever runs a model.
"""

from engine.decoding.values import (
    Candidate,
    Chat,
    EosState,
    Finish,
    FormerBranch,
    Generation,
    Position,
    Replay,
    SampleOutcome,
    SamplerSettings,
    Step,
    StopRule,
    Trace,
    TraceNode,
)

__all__ = [
    "Candidate",
    "Chat",
    "EosState",
    "Finish",
    "FormerBranch",
    "Generation",
    "Position",
    "Replay",
    "SampleOutcome",
    "SamplerSettings",
    "Step",
    "StopRule",
    "Trace",
    "TraceNode",
]
