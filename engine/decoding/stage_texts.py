"""The texts of the catalogue about a stage of a pipeline, by the stage's name."""

from __future__ import annotations

from engine.source.catalogue import catalogue_text, has_text


def stage_key(stage: str) -> str:
    """Return the name of a stage as it is in keys of the catalogue."""
    return stage.replace("-", "_")


def stage_title(stage: str) -> str:
    """Return the title of a stage; its name if it has none, as the shape of a caller's own may."""
    name = stage_key(stage)
    return catalogue_text(f"generation.stage.{name}.name") if has_text(f"generation.stage.{name}.name") else stage
