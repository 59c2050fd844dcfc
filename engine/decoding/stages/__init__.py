"""The logits processors of a pipeline: each module of this package declares one as `STAGE`.

The grammar and its budget are built by `engine.decoding.constraints.staged`, which knows the grammar. The values of the
sampler's stages are `SamplerSettings`; a pipeline only orders them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from engine.decoding.stage import Stage
from engine.source.registry import OTHERS, Registry

STAGES: Final = Registry[Stage](
    __name__,
    "STAGE",
    order=(
        *("grammar", "budget", "static", "pattern", "table", "suppress", "bias"),
        OTHERS,
        *("repetition-penalty", "frequency-penalty", "dry"),
        *("temperature", "top-k", "typical", "top-p", "min-p", "xtc", "mirostat"),
    ),
)
"""All stages, in their default order."""


def sampler_stages() -> Iterator[Stage]:
    """Yield the stages of the sampler, in their default order."""
    return (stage for stage in STAGES if stage.is_sampler)


def pipeline_stages() -> Iterator[Stage]:
    """Yield the stages whose values are `PipelineSettings`, in their default order."""
    return (stage for stage in STAGES if not stage.is_sampler)
