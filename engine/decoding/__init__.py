"""Logits processors, the sampler, and the decode session: a tree of steps through a grammar.

Exports the values that the window receives. Exports the processors too, but imports them at their first use, since they
need numpy. Import `engine.decoding.session` and `engine.decoding.generate` directly to run a model.

    >>> import numpy as np
    >>> from engine import Vocabulary
    >>> from engine.decoding import Context, Pipeline, Suppress, compile_pattern
    >>> vocabulary = Vocabulary([b"A", b"a", b":", b"e"], eos_ids=[])
    >>> guide = compile_pattern(vocabulary, 'UPPER ":" LOWER+')
    >>> pipeline = Pipeline([("pattern", guide), ("suppress", Suppress(vocabulary, ["e"]))])
    >>> state, history = pipeline.init(rows=1), [[]]
    >>> for _ in range(3):
    ...     logits, state = pipeline.process(state, np.ones((1, 4)), Context.of(history))
    ...     history[0].append(int(logits.argmax()))
    >>> b"".join(vocabulary.tokens[token_id] for token_id in history[0])
    b'A:a'
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from engine.decoding.pipeline_settings import (
    Afterwards,
    OtherZone,
    PipelineSettings,
    TableSettings,
    ZoneSettings,
)
from engine.decoding.values import (
    ArchivedBranch,
    BudgetState,
    Candidate,
    Chat,
    EosState,
    Finish,
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

if TYPE_CHECKING:
    from engine.decoding.constraints.zones import Zone, zoned
    from engine.decoding.processors import (
        Bias,
        Context,
        DfaTable,
        FiniteStateGuide,
        GrammarMask,
        MinP,
        Pipeline,
        Processor,
        RepetitionPenalty,
        StaticMask,
        Suppress,
        Temperature,
        TokenBudget,
        TopK,
        TopP,
        compile_pattern,
        token_set,
    )

_PROCESSORS = (
    "Bias",
    "Context",
    "DfaTable",
    "FiniteStateGuide",
    "GrammarMask",
    "MinP",
    "OtherZone",
    "Pipeline",
    "Processor",
    "RepetitionPenalty",
    "StaticMask",
    "Suppress",
    "Temperature",
    "TokenBudget",
    "TopK",
    "TopP",
    "compile_pattern",
    "token_set",
)
_MODULE_OF = {
    **dict.fromkeys(_PROCESSORS, "engine.decoding.processors"),
    "Zone": "engine.decoding.constraints.zones",
    "zoned": "engine.decoding.constraints.zones",
}

__all__ = [
    "Afterwards",
    "ArchivedBranch",
    "Bias",
    "BudgetState",
    "Candidate",
    "Chat",
    "Context",
    "DfaTable",
    "EosState",
    "Finish",
    "FiniteStateGuide",
    "Generation",
    "GrammarMask",
    "MinP",
    "OtherZone",
    "Pipeline",
    "PipelineSettings",
    "Position",
    "Processor",
    "RepetitionPenalty",
    "Replay",
    "SampleOutcome",
    "SamplerSettings",
    "StaticMask",
    "Step",
    "StopRule",
    "Suppress",
    "TableSettings",
    "Temperature",
    "TokenBudget",
    "TopK",
    "TopP",
    "Trace",
    "TraceNode",
    "Zone",
    "ZoneSettings",
    "compile_pattern",
    "token_set",
    "zoned",
]


def __getattr__(name: str) -> object:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value
