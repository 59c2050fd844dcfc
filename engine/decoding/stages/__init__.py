"""The logits processors of a pipeline: each module of this package declares one as `STAGE`.

The grammar and its budget are built by `engine.decoding.constraints.staged`, which knows the grammar.
"""

from __future__ import annotations

from typing import Final

from engine.decoding.stage import Stage
from engine.source.registry import Registry

STAGES: Final = Registry[Stage](
    __name__, "STAGE", order=("grammar", "budget", "static", "pattern", "table", "suppress", "bias")
)
"""All stages but those of the sampler, in their default order."""

SAMPLER_STAGES: Final = ("repetition penalty", "temperature", "top-k", "top-p", "min-p")
"""The stages whose values are `SamplerSettings`; a pipeline only orders them."""


def default_order() -> tuple[str, ...]:
    """Return the names of all stages in their default order."""
    return *STAGES.names, *SAMPLER_STAGES
